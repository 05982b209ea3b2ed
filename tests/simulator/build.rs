//! Embeds the scenario files, so that `simulate` works from any folder.

use std::{env, fmt::Write, fs, io, path::Path};

fn main() -> io::Result<()> {
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let scenarios = Path::new(&manifest).join("../scenarios");
    let mut source = String::new();
    for (list, folder) in [
        ("BOXES", "."),
        ("BOARDS", "boards"),
        ("LATENCIES", "latencies"),
    ] {
        let folder = scenarios.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files: Vec<_> = fs::read_dir(&folder)?
            .filter_map(|entry| entry.ok().map(|e| e.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "toml"))
            .collect();
        files.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
        let _ = writeln!(source, "pub static {list}: &[(&str, &str)] = &[");
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let _ = writeln!(source, "    ({name:?}, include_str!({file:?})),");
        }
        source.push_str("];\n");
    }
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("scenarios.rs"), source)
}
