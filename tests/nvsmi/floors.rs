//! The modules of src stand on floors, and none imports from its own floor or from above.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// From the top down; modules on one floor do not know each other.
const FLOORS: &[&[&str]] = &[
    &["main"],
    &["commands", "overseer"],
    &["help"],
    &["cli", "sections", "watch"],
    &["render"],
    &["fields"],
    &["facts"],
    &["clock", "kernel", "output"],
    &["error", "signals"],
    &["nvml"],
    &["value"],
];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("src can be listed");
    let paths = entries.map(|entry| entry.expect("src can be listed").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

#[test]
fn no_module_imports_from_above() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = BTreeSet::new();
    for path in files(&src) {
        let inside = path.strip_prefix(&src).expect("a file of src");
        let top = inside
            .iter()
            .next()
            .and_then(|top| Path::new(top).file_stem());
        let module = top.and_then(|name| name.to_str()).expect("a name");
        if module == "build" {
            continue;
        }
        let from = floor(module).unwrap_or_else(|| panic!("{module} has no floor"));
        let text = fs::read_to_string(&path).expect("source is text");
        for after in text.split("crate::").skip(1) {
            let name = after
                .split(|c: char| !c.is_ascii_lowercase() && c != '_')
                .next();
            let to = name.unwrap_or_default();
            if to != module && floor(to).is_none_or(|to| to <= from) {
                wrong.insert(format!("{} imports {to}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
