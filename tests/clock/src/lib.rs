//! A clock that stands still, but for waits: whoever sleeps goes on at once, and finds that the time has
//! come. A program that has this library preloaded runs through hours of a loop in a second, and its
//! samples are stamped alike in every run.
//!
//! Threads that sleep at once may do so side by side or one after the other. What waits for another
//! thread waits as ever; where it has a limit, for ever: the kernel's clock does not come that far.

use std::{
    env,
    sync::{
        LazyLock,
        atomic::{AtomicI64, Ordering},
    },
};

use libc::{CLOCK_MONOTONIC, CLOCK_REALTIME, TIMER_ABSTIME, c_int, clockid_t, timespec};

/// When the program starts, in seconds since 1970.
const BEGINS_VARIABLE: &str = "NVSMI_CLOCK_BEGINS";

const SECOND: i64 = 1_000_000_000;

/// In seconds since 1970. The monotonic clock shows the same.
static BEGINS: LazyLock<i64> = LazyLock::new(|| {
    let begins = env::var(BEGINS_VARIABLE).ok();
    begins.and_then(|text| text.parse().ok()).unwrap_or(0)
});

/// The nanoseconds that have passed since then.
static PASSED: AtomicI64 = AtomicI64::new(0);

/// What time it is.
///
/// # Safety
/// As the C library's: `time` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    if ![CLOCK_REALTIME, CLOCK_MONOTONIC].contains(&clock) {
        // SAFETY: the call that this stands for, with what it was called with.
        return unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) as c_int };
    }
    let passed = PASSED.load(Ordering::SeqCst);
    let now = timespec {
        tv_sec: BEGINS.saturating_add(passed / SECOND),
        tv_nsec: passed % SECOND,
    };
    // SAFETY: the caller's, to be written to.
    unsafe { time.write(now) };
    0
}

/// Waits, which takes no time, for a while or until a moment.
///
/// # Safety
/// As the C library's: `wait` may be read. What is left of the wait is not told: no signal ends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    _: clockid_t,
    flags: c_int,
    wait: *const timespec,
    _left: *mut timespec,
) -> c_int {
    // SAFETY: the caller's, to be read.
    let wait = unsafe { wait.read() };
    let (seconds, of_passed) = match flags & TIMER_ABSTIME {
        0 => (wait.tv_sec, PASSED.load(Ordering::SeqCst)),
        _ => (wait.tv_sec.saturating_sub(*BEGINS), 0),
    };
    let until = seconds.saturating_mul(SECOND).saturating_add(wait.tv_nsec);
    PASSED.fetch_max(until.saturating_add(of_passed), Ordering::SeqCst);
    0
}
