//! Executable files for tests.

#![allow(clippy::expect_used, reason = "a test may panic")]

use std::path::Path;
use std::process::Command;

/// Makes a file that can be executed out of another one, with `install`. A test that
/// wrote it itself would have it open for a while, and so would a process that
/// another test starts meanwhile; Linux does not execute what is open for writing.
pub fn install(from: &Path, to: &Path) {
    let install = Command::new("install")
        .args(["-m", "755"])
        .args([from, to])
        .status();
    assert!(install.is_ok_and(|status| status.success()), "{to:?}");
}

/// The same of a text.
pub fn script(text: &str, to: &Path) {
    let source = to.with_extension("source");
    std::fs::write(&source, text).expect("a file of our own");
    install(&source, to);
}
