//! The modules of src stand on floors, and none imports from its own floor or from above.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// From the top down. Modules on one floor do not import each other.
const FLOORS: &[&[&str]] = &[
    &["main"],
    &["commands", "overseer"],
    &["help"],
    &["cli"],
    &["fields", "sections", "watch"],
    &["render"],
    &["facts"],
    &["output"],
    &["error", "words"],
    &["nvml"],
    &["host"],
    &["value"],
];

/// Tests stand beside what they test and may look anywhere.
const TESTS: &str = "#[cfg(test)]\n";

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// The Rust files below a folder, and their text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).expect("src can be listed");
    let paths = entries.map(|entry| entry.expect("src can be listed").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false if path.extension().is_none_or(|end| end != "rs") => Vec::new(),
            false => {
                let text = fs::read_to_string(&path).expect("source is text");
                vec![(path, text)]
            }
        })
        .collect()
}

#[test]
fn no_module_imports_from_above() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources = sources(&src);
    let test_modules: Vec<&str> = sources
        .iter()
        .flat_map(|(_, text)| text.split(TESTS).skip(1))
        .filter_map(|after| after.strip_prefix("mod ")?.split_once(";\n"))
        .map(|(name, _)| name)
        .collect();
    let mut wrong = BTreeSet::new();
    for (path, text) in &sources {
        let inside = path.strip_prefix(&src).expect("a file of src");
        let stem = |path: &Path| {
            path.file_stem()
                .and_then(|name| name.to_str())
                .map(str::to_owned)
        };
        let top = inside.iter().next().map(Path::new);
        let module = top.and_then(stem).expect("a name");
        if stem(inside).is_some_and(|name| test_modules.contains(&&*name)) {
            continue;
        }
        let from = floor(&module).unwrap_or_else(|| panic!("{module} has no floor"));
        let text = text
            .split(&format!("{TESTS}mod tests {{"))
            .next()
            .unwrap_or_default();
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
