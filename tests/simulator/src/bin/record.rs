//! `record NVIDIA-SMI [AREA...]`: runs a real nvidia-smi on the boxes and writes what it answers to
//! `tests/golden/<area>/<box>.toml`, below the folder that holds `lines.toml` (the variable
//! `GOLDEN`, or `tests/golden`). Each file begins with the version of that nvidia-smi.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use simulator::golden::{self, Case};

fn main() -> ExitCode {
    simulator::reader::end_with_it();
    let mut arguments = env::args().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("usage: record NVIDIA-SMI [AREA...]");
        return ExitCode::from(2);
    };
    match record(Path::new(&program), &arguments.collect::<Vec<_>>()) {
        Ok(count) => {
            println!("{count} answers recorded");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("record: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn record(program: &Path, wanted: &[String]) -> Result<usize, String> {
    let folder = env::var_os("GOLDEN").map_or_else(|| PathBuf::from("tests/golden"), PathBuf::from);
    let about = format!(
        "What nvidia-smi{} answers on this box, recorded.",
        version(program)?
    );
    let mut count = 0;
    for area in golden::areas(&folder.join("lines.toml"))? {
        if !wanted.is_empty() && !wanted.contains(&area.name) {
            continue;
        }
        let mut files: BTreeMap<String, Vec<Case>> = BTreeMap::new();
        for case in area.cases {
            let output = case
                .command(program)?
                .output()
                .map_err(|e| format!("{}: {e}", program.display()))?;
            if output.status.code().is_none() {
                eprintln!("left out, it crashed: {}", case.line());
                continue;
            }
            files
                .entry(case.simulated.clone())
                .or_default()
                .push(case.answered(&output));
            count += 1;
        }
        for (simulated, cases) in files {
            let path = folder.join(&area.name).join(format!("{simulated}.toml"));
            golden::write(&path, &about, &cases)?;
        }
    }
    Ok(count)
}

/// A space and the version that the program says it has; nothing if it says none.
fn version(program: &Path) -> Result<String, String> {
    const BOX: &str = "h200";
    let output = simulator::command(BOX, program)?
        .arg("--version")
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text
        .lines()
        .find(|line| line.starts_with("NVIDIA-SMI version"));
    let version = line.and_then(|line| line.split(':').nth(1));
    Ok(version.map_or_else(String::new, |version| format!(" {}", version.trim())))
}
