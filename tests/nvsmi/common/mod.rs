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
    simulator::launcher::install(Path::new(NVSMI), &mut command).expect("a path");
    command
        .env("TZ", "UTC")
        .args(["-c", script])
        .output()
        .expect("bash runs")
}

/// A file of this test's own, empty or not there.
pub fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}
