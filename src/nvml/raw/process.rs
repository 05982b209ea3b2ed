//! What is asked of the C library about this process: who runs it, and memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::Write;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// The memory of this program. Where there is no more of it, it says so and ends
/// with status 255; without this, Rust aborts, which shells and services take for
/// a crash. Memory that NVML asks for is its own affair.
#[global_allocator]
static MEMORY: OrTheEnd = OrTheEnd;

struct OrTheEnd;

// SAFETY: every call is handed to the system's allocator, whose contract it is;
// what is added never returns, unwinds or asks for memory.
unsafe impl GlobalAlloc for OrTheEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        had(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        had(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        had(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn had(memory: *mut u8) -> *mut u8 {
    match memory.is_null() {
        false => memory,
        true => out_of_memory(),
    }
}

#[cold]
fn out_of_memory() -> ! {
    static SAID: AtomicBool = AtomicBool::new(false);
    // Threads run out of it together; the first one ends them all.
    while SAID.swap(true, Ordering::SeqCst) {
        // SAFETY: it takes nothing, and waits.
        unsafe { libc::pause() };
    }
    // SAFETY: written to only, and never closed here. Rust's own stderr may be
    // locked by whoever asks for memory.
    let mut stderr = ManuallyDrop::new(unsafe { File::from_raw_fd(2) });
    let _ = stderr.write_all(b"nvsmi: out of memory\n");
    // SAFETY: ends the process, which answers in one go: nothing is half written.
    unsafe { libc::_exit(255) }
}

/// Where address space is limited (`ulimit -v`), threads share one heap: glibc
/// sets 64 MiB apart for that of each, and nothing is left for the others.
/// Without a limit, heaps of their own are the faster.
pub fn save_address_space() {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: room for one limit, which the call fills in where it returns 0.
    let limit = unsafe {
        match libc::getrlimit(libc::RLIMIT_AS, limit.as_mut_ptr()) {
            0 => limit.assume_init().rlim_cur,
            _ => return,
        }
    };
    if limit != libc::RLIM_INFINITY {
        #[cfg(target_env = "gnu")]
        // SAFETY: numbers; called before there are threads.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    }
}

/// Whether this process runs as root, whom the driver lets change GPUs. Asked of
/// the kernel and not of `/proc`, which is not everywhere.
pub fn is_root() -> bool {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}
