//! A process that does not end: it stays where it wants to end, as one does of which a thread hangs in
//! the kernel. It does so in a program that has this library preloaded, in a process that it forked, as nvsmi
//! does its worker, and writes its number to a file. Only SIGKILL ends it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use libc::c_int;

/// The file for its number.
const FILE: &str = "NVSMI_LINGERS";

/// The process that the program was started in.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE_START: extern "C" fn() = {
    extern "C" fn note_start() {
        STARTED.store(process::id(), Ordering::Relaxed);
    }
    note_start
};

/// Does not end the process, or does so.
#[unsafe(no_mangle)]
pub extern "C" fn _exit(status: c_int) -> ! {
    let is_forked = process::id() != STARTED.load(Ordering::Relaxed);
    if let (true, Some(file)) = (is_forked, env::var_os(FILE)) {
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
