//! A process beside the one that asks.
//!
//! A question that hangs in the kernel keeps its process from ending, whatever
//! is done to it. So with `--timeout` a second process asks, and the first, which
//! the shell waits for, can end without it.

use std::env;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::thread;

use crate::nvml;
use crate::signals;

/// Set for the process that asks; its stdin leads to the overseer.
const VARIABLE: &str = "NVSMI_OVERSEEN";

/// Whether this is the process that asks.
fn is_overseen() -> bool {
    env::var_os(VARIABLE).is_some()
}

/// Has a second process do what this one was told, and returns its status. In
/// that process, and where none can be started, there is nothing to return.
pub fn oversee(endless: bool) -> Option<u8> {
    if is_overseen() {
        // Where no thread is to be had, it ends with its answer.
        let _ = thread::Builder::new().spawn(|| {
            // It ends when the overseer does.
            let _ = io::stdin().read(&mut [0]);
            signals::end();
        });
        return None;
    }
    let (mut ours, theirs) = UnixStream::pair().ok()?;
    let mut arguments = env::args_os();
    let mut overseen = Command::new("/proc/self/exe")
        .arg0(arguments.next().unwrap_or_default())
        .args(arguments)
        .env(VARIABLE, "1")
        .stdin(OwnedFd::from(theirs))
        .spawn()
        .ok()?;
    if endless {
        let _ = signals::end_in_peace();
    }
    let mut status = [0];
    if ours.read_exact(&mut status).is_ok() {
        return Some(status[0]);
    }
    let status = overseen.wait().ok()?;
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    Some(u8::try_from(code.unwrap_or(1)).unwrap_or(1))
}

/// Ends with a status, whatever questions still hang.
pub fn abandon(status: u8) -> ! {
    if is_overseen() {
        nvml::let_go_of_output();
        if let Ok(overseer) = io::stdin().as_fd().try_clone_to_owned() {
            let _ = File::from(overseer).write_all(&[status]);
        }
    }
    crate::leave(status)
}
