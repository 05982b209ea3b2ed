//! The signals that end a loop: with status 0, as the real tool ends on them. At
//! once, but for an answer that is being written: that is finished, unless a
//! second signal comes. What whoever started it has it ignore, as nohup does, it
//! goes on ignoring.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};

struct State {
    /// No answer is being written.
    idle: Arc<AtomicBool>,
    /// The end is near.
    ending: Arc<AtomicBool>,
}

static STATE: LazyLock<State> = LazyLock::new(|| State {
    idle: Arc::new(true.into()),
    ending: Arc::default(),
});

/// Has signals end the process so; to ask twice is to ask once. Without it they
/// end it as they do.
pub fn end_loops_well() -> io::Result<()> {
    static ASKED: AtomicBool = AtomicBool::new(false);
    if ASKED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let State { idle, ending } = &*STATE;
    let ignored = ignored();
    let heeded = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
        .into_iter()
        .filter(heeded)
    {
        flag::register_conditional_shutdown(signal, 0, Arc::clone(idle))?;
        flag::register_conditional_shutdown(signal, 0, Arc::clone(ending))?;
        flag::register(signal, Arc::clone(ending))?;
    }
    Ok(())
}

/// The signals that are ignored, one bit each from that of signal 1 on. Where the
/// kernel does not tell, none.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

/// Writes an answer, which an end should not cut in half.
pub fn undisturbed<T>(write: impl FnOnce() -> T) -> T {
    STATE.idle.store(false, Ordering::SeqCst);
    let written = write();
    STATE.idle.store(true, Ordering::SeqCst);
    if STATE.ending.load(Ordering::SeqCst) {
        low_level::exit(0);
    }
    written
}

/// Ends the process as a signal does.
pub fn end() {
    STATE.ending.store(true, Ordering::SeqCst);
    if STATE.idle.load(Ordering::SeqCst) {
        low_level::exit(0);
    }
}
