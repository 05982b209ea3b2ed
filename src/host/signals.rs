//! The signals that end a loop, with status 0 as in nvidia-smi. They end the process at
//! once, except while it writes an answer: that is finished first, unless a second
//! signal comes. A signal that the parent had ignored, as nohup does, stays ignored.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};

struct State {
    /// No answer is being written.
    idle: Arc<AtomicBool>,
    /// The process ends when the answer is written.
    ending: Arc<AtomicBool>,
}

static STATE: LazyLock<State> = LazyLock::new(|| State {
    idle: Arc::new(true.into()),
    ending: Arc::default(),
});

/// From now on, signals end the process in this way. Without it, each does what it does
/// by default.
pub fn end_loops() -> io::Result<()> {
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

/// The signals that are ignored: bit 0 is signal 1. None, if the kernel does not tell.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

/// Writes an answer, which a signal does not cut in half.
pub fn finish<T>(write: impl FnOnce() -> T) -> T {
    STATE.idle.store(false, Ordering::SeqCst);
    let written = write();
    STATE.idle.store(true, Ordering::SeqCst);
    if STATE.ending.load(Ordering::SeqCst) {
        low_level::exit(0);
    }
    written
}

/// Ends at once, without the libraries' exit handlers: they give back what the kernel
/// takes back anyway, and NVML's takes about 1 ms.
pub fn leave(status: u8) -> ! {
    low_level::exit(status.into())
}

/// Ends the process as a signal would.
pub fn end() {
    STATE.ending.store(true, Ordering::SeqCst);
    if STATE.idle.load(Ordering::SeqCst) {
        low_level::exit(0);
    }
}
