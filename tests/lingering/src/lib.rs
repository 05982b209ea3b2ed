//! A process that does not end: it stays where it wants to end, as one does of which a thread hangs in
//! the kernel. It does so in a program that has this library preloaded, where the variable that it waits
//! for is set, and writes its number to a file. Only SIGKILL ends it.

use std::{env, fs, process};

use libc::c_int;

/// Lingers only where this is set: in nvsmi's process that asks.
const WHERE: &str = "NVSMI_OVERSEEN";

/// The file for its number.
const FILE: &str = "NVSMI_LINGERS";

/// Does not end the process, or does so.
#[unsafe(no_mangle)]
pub extern "C" fn _exit(status: c_int) -> ! {
    if let (Some(_), Some(file)) = (env::var_os(WHERE), env::var_os(FILE)) {
        let _ = fs::write(file, process::id().to_string());
        loop {
            // SAFETY: it takes nothing; a handler of the program's may run.
            unsafe { libc::pause() };
        }
    }
    // SAFETY: the call that this stands for.
    unsafe {
        libc::syscall(libc::SYS_exit_group, status);
    }
    process::abort()
}
