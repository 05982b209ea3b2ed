//! For a program started with this library in `LD_PRELOAD` a sleep is over at once: a loop that takes a
//! sample a second takes as many as it can. Clocks go as ever.
#![allow(
    unsafe_code,
    reason = "functions that take the place of the C library's keep its names"
)]

use std::ffi::{c_int, c_void};

/// As `nanosleep`, without the wait.
// SAFETY: it has this signature, and nothing is read or written.
#[unsafe(no_mangle)]
pub extern "C" fn nanosleep(_wanted: *const c_void, _left: *mut c_void) -> c_int {
    0
}

/// As `clock_nanosleep`, without the wait.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn clock_nanosleep(
    _clock: c_int,
    _flags: c_int,
    _wanted: *const c_void,
    _left: *mut c_void,
) -> c_int {
    0
}
