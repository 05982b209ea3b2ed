//! What a test does that cannot run here: it says so where people see it.

use std::{
    env,
    io::{self, Write},
    thread,
};

/// Build services set this variable. Where it is set, every program that can be installed must be.
const BUILD_SERVICE: &str = "CI";

/// Says that a test, or a part of it, does not run, and why. The test harness hides what a test prints
/// with `println!` or `eprintln!` unless the test fails; this line it does not hide.
pub fn skipped(why: &str) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!("SKIPPED {test}: {why}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Whether a program is installed. If not, the test is skipped, or fails on a build service.
pub fn has_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let there = env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !there {
        let must = env::var_os(BUILD_SERVICE).is_some();
        assert!(!must, "{name} is not installed");
        skipped(&format!("{name} is not installed"));
    }
    there
}
