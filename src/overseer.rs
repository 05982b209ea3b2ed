//! A process beside the one that asks.
//!
//! A question that hangs in the kernel keeps its process from ending, whatever
//! is done to it. So with `--timeout` a second process asks, and the first, which
//! the shell waits for, can end without it. The one that asks shows that it is
//! alive: a question may hang in such a way that all its threads wait.

use std::env;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::nvml;
use crate::signals;

/// Set for the process that asks; its stdin leads to the overseer.
const VARIABLE: &str = "NVSMI_OVERSEEN";

/// How often the process that asks shows that it is alive.
const BEAT: Duration = Duration::from_millis(500);

/// It is given up after so much silence at the least.
const SILENCE: Duration = Duration::from_secs(5);

/// What the process that asks says: what it is, and a status.
type Message = [u8; 2];

const ALIVE: Message = [0, 0];

/// It has said all, and ends; what it had open may keep it from that.
const ENDS: u8 = 1;

/// It has said all, and cannot end.
const ABANDONED: u8 = 2;

/// Whether this is the process that asks. The variable alone does not make it that:
/// it may have been left in somebody's environment.
fn is_overseen() -> bool {
    env::var_os(VARIABLE).is_some() && overseer().is_ok_and(|stdin| stdin.local_addr().is_ok())
}

/// The way to the overseer, in the process that asks.
fn overseer() -> io::Result<UnixStream> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(UnixStream::from(stdin))
}

/// Has a second process do what this one was told, and returns its status. In
/// that process, and where none can be started, there is nothing to return.
pub fn oversee(limit: Duration, endless: bool) -> Option<u8> {
    if is_overseen() {
        if let Ok(overseer) = overseer() {
            // Where no thread is to be had, it ends with its answer.
            let _ = thread::Builder::new().spawn(|| show_that_it_lives(overseer));
        }
        return None;
    }
    let (ours, theirs) = UnixStream::pair().ok()?;
    ours.set_read_timeout(Some(BEAT)).ok()?;
    let mut arguments = env::args_os();
    let overseen = Command::new("/proc/self/exe")
        .arg0(arguments.next().unwrap_or_default())
        .args(arguments)
        .env(VARIABLE, "1")
        .stdin(OwnedFd::from(theirs))
        .spawn()
        .ok()?;
    if endless {
        let _ = signals::end_in_peace();
    }
    wait_for(overseen, ours, limit.max(SILENCE))
}

/// Ends when the overseer does.
fn show_that_it_lives(mut overseer: UnixStream) {
    let waits = overseer.set_read_timeout(Some(BEAT)).is_ok();
    while waits && overseer.write_all(&ALIVE).is_ok() {
        match overseer.read(&mut [0]) {
            Err(error) if is_pause(&error) => {}
            _ => break,
        }
    }
    signals::end();
}

fn is_pause(error: &io::Error) -> bool {
    // A time that is over is one or the other, by the system.
    let pauses = [
        ErrorKind::WouldBlock,
        ErrorKind::TimedOut,
        ErrorKind::Interrupted,
    ];
    pauses.contains(&error.kind())
}

/// The status of the process that asks: what it ends with, or says that it would
/// end with, or that of a timeout where it is as good as dead.
fn wait_for(mut overseen: Child, mut messages: UnixStream, patience: Duration) -> Option<u8> {
    // Counted in beats, so that no time passes while both processes are stopped;
    // not before the first, for it may have no thread to spare.
    let mut silence = None;
    let mut ends: Option<(u8, Instant)> = None;
    loop {
        let mut message = Message::default();
        match messages.read(&mut message) {
            Ok(0) => break,
            Ok(_) if message[0] == ABANDONED => return Some(message[1]),
            Ok(_) if message[0] == ENDS => ends = Some((message[1], Instant::now())),
            Ok(_) => silence = Some(Duration::ZERO),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if is_pause(&error) => silence = silence.map(|silence| silence + BEAT),
            Err(_) => break,
        }
        if let Some((status, since)) = ends {
            if since.elapsed() >= SILENCE {
                return Some(status);
            }
            continue;
        }
        if silence.is_some_and(|silence| silence >= patience) {
            let error = Error::silent(patience);
            let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("{error}"));
            let _ = overseen.kill();
            return Some(error.status() as u8);
        }
    }
    let status = overseen.wait().ok()?;
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    Some(u8::try_from(code.unwrap_or(1)).unwrap_or(1))
}

/// Tells the overseer, if there is one, that this process ends with a status.
pub fn tell(status: u8) {
    say(ENDS, status);
}

/// Ends with a status, whatever questions still hang.
pub fn abandon(status: u8) -> ! {
    say(ABANDONED, status);
    signals::leave(status)
}

/// Says its last word, and lets go of what readers wait for the end of.
fn say(what: u8, status: u8) {
    if is_overseen() {
        nvml::let_go_of_output();
        if let Ok(mut overseer) = overseer() {
            let _ = overseer.write_all(&[what, status]);
        }
    }
}
