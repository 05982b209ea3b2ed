//! Two processes for `--timeout`.
//!
//! A question that hangs in the kernel keeps its process from ending, even on
//! SIGKILL. So a second process, the worker, asks NVML and answers. The first one,
//! the overseer, is the one that the shell waits for, and can always end. Every half
//! second the worker shows that it is alive: a question may hang in such a way that
//! all its threads wait.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::SIGCHLD;
use signal_hook::low_level::signal_name;

use crate::error::{Error, Status};
use crate::host::signals;
use crate::nvml::Stuck;
use crate::nvml::process::{self, Child};
use crate::output;

/// How often the worker shows that it is alive.
const BEAT: Duration = Duration::from_millis(500);

/// The overseer gives up a worker that was silent for so long, or for the limit of
/// `--timeout` if that is longer; and one that said its last word so long ago.
const SILENCE: Duration = Duration::from_secs(5);

/// How long a worker without an overseer may go on writing its answer.
const GRACE: Duration = Duration::from_secs(1);

/// What the worker says: a word and an exit status.
type Message = [u8; 2];

const ALIVE: Message = [0, 0];

/// The worker has answered and ends. What it has open may keep it from that.
const ENDS: u8 = 1;

/// The worker has answered, but a question still hangs: it may not be able to end.
const HANGS: u8 = 2;

/// The worker's way to the overseer.
static OVERSEER: OnceLock<UnixStream> = OnceLock::new();

/// Starts the worker. In the overseer this returns the exit status, once it is known;
/// it returns `None` in the worker, and if no second process can be started.
///
/// To be called before there are threads.
pub fn oversee(limit: Duration, endless: bool) -> Option<u8> {
    let (ours, theirs) = UnixStream::pair().ok()?;
    ours.set_read_timeout(Some(BEAT)).ok()?;
    // While SIGCHLD is ignored, the kernel does not tell how a child ended.
    let _ = signal_hook::flag::register(SIGCHLD, Arc::default());
    let Some(worker) = process::fork().ok()? else {
        drop(ours);
        begin_work(theirs);
        return None;
    };
    drop(theirs);
    if endless {
        let _ = signals::end_loops();
    }
    Some(watch(&worker, ours, limit.max(SILENCE)))
}

/// Begins to show the overseer that the worker is alive. The first sign comes before
/// NVML is asked anything: it may stop the process before the thread has run. If no
/// thread can be started, the overseer waits for the last word alone.
fn begin_work(mut overseer: UnixStream) {
    if let Ok(own) = overseer.try_clone()
        && thread::Builder::new().spawn(|| show_life(own)).is_ok()
    {
        // If this fails there is no overseer, which the thread notices.
        let _ = overseer.write_all(&ALIVE);
    }
    let _ = OVERSEER.set(overseer);
}

/// Tells the overseer that the worker is alive, and ends the worker after it.
fn show_life(mut overseer: UnixStream) {
    let waits = overseer.set_read_timeout(Some(BEAT)).is_ok();
    while waits && overseer.write_all(&ALIVE).is_ok() {
        match overseer.read(&mut [0]) {
            Err(error) if is_pause(&error) => {}
            _ => break,
        }
    }
    signals::end();
    // Nobody may ever read the answer that is being written.
    thread::sleep(GRACE);
    signals::leave(0);
}

/// Whether a read only took too long, which systems report in two ways, or was
/// interrupted.
fn is_pause(error: &io::Error) -> bool {
    use ErrorKind::{Interrupted, TimedOut, WouldBlock};
    [WouldBlock, TimedOut, Interrupted].contains(&error.kind())
}

/// Waits for the worker's last word, its end, or a silence of this length.
fn watch(worker: &Child, mut messages: UnixStream, longest: Duration) -> u8 {
    // Counted in beats, so that no time passes while both processes are stopped, and
    // from the first message on: the worker may have no thread to send any.
    let mut silence = None;
    // The last word may still wait to be read when the worker has ended.
    let mut ended = None;
    loop {
        let mut message = Message::default();
        match messages.read(&mut message) {
            Ok(0) => return end_of(worker, ended, None),
            Ok(_) => match message {
                [HANGS, status] => return status,
                [ENDS, status] => return end_of(worker, ended, Some(status)),
                _ => silence = Some(Duration::ZERO),
            },
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                ended = ended.or_else(|| worker.try_wait().ok().flatten());
            }
            Err(error) if is_pause(&error) => {
                // A process that NVML left behind may keep the socket open.
                if ended.is_some() {
                    return end_of(worker, ended, None);
                }
                ended = worker.try_wait().ok().flatten();
                silence = silence.map(|silence| silence + BEAT);
            }
            Err(_) => return end_of(worker, ended, None),
        }
        if silence.is_some_and(|silence| silence >= longest) {
            worker.kill();
            return failed(silent(longest));
        }
    }
}

/// The exit status of a worker that ends: the one that it said, if it takes too long.
fn end_of(worker: &Child, ended: Option<ExitStatus>, said: Option<u8>) -> u8 {
    const PAUSE: Duration = Duration::from_millis(1);
    if let Some(status) = ended {
        return status_of(status, said);
    }
    let began = Instant::now();
    while began.elapsed() < SILENCE {
        match worker.try_wait() {
            Ok(Some(status)) => return status_of(status, said),
            Ok(None) => thread::sleep(PAUSE),
            Err(_) => break,
        }
    }
    said.unwrap_or_else(|| failed(silent(SILENCE)))
}

/// The exit status as a shell gives it: a signal's number is added to 128. Only a worker
/// that said its last word may have succeeded.
fn status_of(status: ExitStatus, said: Option<u8>) -> u8 {
    let Some(signal) = status.signal() else {
        return match status.code() {
            Some(0) if said.is_none() => failed(ended()),
            code => code.map_or(Status::Other as u8, |code| code as u8),
        };
    };
    output::note(&killed(signal).to_string());
    128 + signal as u8
}

fn failed(error: Error) -> u8 {
    output::note(&error.to_string());
    error.status() as u8
}

/// Tells the overseer, if there is one, that this process ends with a status.
pub fn tell(status: u8) {
    say(ENDS, status);
}

/// Says which questions still hang after this limit, and ends without their answers.
pub fn abandon(questions: &[Stuck], limit: Duration) -> ! {
    let status = failed(stuck(questions, limit));
    say(HANGS, status);
    signals::leave(status)
}

/// Says the last word, and closes what readers wait for the end of.
fn say(word: u8, status: u8) {
    if let Some(mut overseer) = OVERSEER.get() {
        process::close_output();
        let _ = overseer.write_all(&[word, status]);
    }
}

/// What nobody knows where the process that asks NVML was given up.
const CHANGE: &str = "A change that was asked for may have been made or not.";

/// Where to look when NVML does not come back.
const KERNEL_LOG: &str =
    "The kernel log may say why: look for lines with Xid or NVRM, dmesg | grep -E 'Xid|NVRM'.\n";

/// Questions that NVML did not answer within `--timeout`; told on stderr,
/// beside the answer.
fn stuck(stuck: &[Stuck], limit: Duration) -> Error {
    let mut message = String::new();
    for question in stuck {
        let who = match question.gpu {
            Some(index) => format!("GPU {index}"),
            None => "The driver".to_owned(),
        };
        let (function, limit) = (&question.function, limit.as_secs_f64());
        message += &format!("{who} did not answer {function} within {limit} s.\n");
    }
    if stuck.iter().any(Stuck::changes) {
        message += "The change that was asked for may have been made or not, or may yet be.\n";
    }
    message += KERNEL_LOG;
    Error::new(Status::TimedOut, message)
}

/// With `--timeout`, the process that asks NVML has shown no sign of life for so
/// long: all its threads wait in the kernel. For stderr.
fn silent(silence: Duration) -> Error {
    let silence = silence.as_secs_f64();
    let message = format!(
        "The process that asks NVML has stood still for {silence} s. {CHANGE}\n{KERNEL_LOG}"
    );
    Error::new(Status::TimedOut, message)
}

/// With `--timeout`, a signal ended the process that asks NVML. For stderr.
fn killed(signal: i32) -> Error {
    use signal_hook::consts::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    let crashes = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP];
    let how = if crashes.contains(&signal) {
        "crashed"
    } else {
        "was killed"
    };
    let name = signal_name(signal).unwrap_or("signal");
    let message = format!("The process that asks NVML {how} ({name}, {signal}). {CHANGE}\n");
    Error::new(Status::Other, message)
}

/// With `--timeout`, NVML ended the process that asks it. For stderr.
fn ended() -> Error {
    let message = format!("NVML ended the process that asks it. {CHANGE}\n");
    Error::new(Status::Other, message)
}
