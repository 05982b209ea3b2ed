//! What the tests share: nvsmi on a simulated box.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod calls;
pub mod changes;
pub mod running;
pub mod trials;

pub use simulator::skip::{has_program, skipped};

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The binary under test.
pub const NVSMI: &str = env!("CARGO_BIN_EXE_nvsmi");

/// nvsmi on a box, ready for arguments.
pub fn nvsmi(simulated: &str) -> Command {
    let mut command = simulator::command(simulated, Path::new(NVSMI)).expect("a simulated box");
    command.env("TZ", "UTC");
    command
}

/// nvsmi on a box, with a clock on which waiting takes no time. It begins at this second since 1970.
pub fn hurried(simulated: &str, begins: i64) -> Command {
    let test = std::env::current_exe().expect("a test");
    let library = test.with_file_name("libclock.so");
    assert!(library.is_file(), "{} is not there", library.display());
    let mut command = nvsmi(simulated);
    command
        .env("LD_PRELOAD", library)
        .env("NVSMI_CLOCK_BEGINS", begins.to_string());
    command
}

/// Tuesday, 2026-12-01 00:00:00 UTC.
pub const BEGINS: i64 = 1_796_083_200;

/// Runs nvsmi on a box.
pub fn run(simulated: &str, args: &[&str]) -> Output {
    nvsmi(simulated).args(args).output().expect("nvsmi runs")
}

/// What it printed.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A bash script on a box where nvsmi is installed as nvidia-smi.
pub fn script(simulated: &str, script: &str) -> Output {
    let mut command = simulator::command(simulated, Path::new("bash")).expect("a simulated box");
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PATH", format!("{}:{path}", installed().display()))
        .env("TZ", "UTC")
        .args(["-c", script])
        .output()
        .expect("bash runs")
}

/// A folder in which nvsmi is called nvidia-smi.
fn installed() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
    let name = folder.join("nvidia-smi");
    // A copied target folder has a link to another one's nvsmi. Tests that make it together make the same.
    if std::fs::read_link(&name).is_ok_and(|to| to == Path::new(NVSMI)) {
        return folder;
    }
    std::fs::create_dir_all(&folder).expect("a folder");
    let thread = std::thread::current().id();
    let link = folder.join(format!("{}-{thread:?}", std::process::id()));
    std::os::unix::fs::symlink(NVSMI, &link).expect("a link");
    std::fs::rename(&link, &name).expect("a link");
    folder
}

/// A file of this test's own, empty or not there.
pub fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}
