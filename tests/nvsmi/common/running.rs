//! Programs that run until they are told to end.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::skipped;

/// A loop that has shown its first line; the others are to be read, by so many bytes at a time.
pub fn begun(command: &mut Command, at_a_time: usize) -> (Child, BufReader<ChildStdout>) {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let stdout = child.stdout.take().expect("a pipe");
    let mut lines = BufReader::with_capacity(at_a_time, stdout);
    lines.read_line(&mut String::new()).expect("a line");
    (child, lines)
}

/// How much a reader takes that does not care.
pub const AS_IT_COMES: usize = 8192;

/// Sends a signal to a process.
pub fn send(signal: &str, process: u32) {
    let id = process.to_string();
    let sent = Command::new("kill").args(["-s", signal, &id]).status();
    assert!(sent.expect("kill runs").success());
}

/// Whether what is started here heeds a signal: what this program was told to ignore, as a script does in
/// its background, it ignores too.
pub fn heeds(signal: &str) -> bool {
    let listed = Command::new("bash").args(["-c", "trap"]).output();
    let listed = listed.expect("bash runs").stdout;
    let ignored = String::from_utf8_lossy(&listed).contains(&format!("SIG{signal}\n"));
    if ignored {
        skipped(&format!("this program was told to ignore SIG{signal}"));
    }
    !ignored
}
