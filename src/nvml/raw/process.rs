//! What the C library is asked about this process: who runs it, its memory, how it
//! ends, and a second process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
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
    if memory.is_null() {
        out_of_memory()
    } else {
        memory
    }
}

#[cold]
fn out_of_memory() -> ! {
    fail(format_args!("out of memory"))
}

/// Prints one line to stderr and ends the process with status 255. It asks for no
/// memory. If several threads fail together, only the first one is heard.
pub fn fail(why: fmt::Arguments) -> ! {
    static SAID: AtomicBool = AtomicBool::new(false);
    while SAID.swap(true, Ordering::SeqCst) {
        // SAFETY: it takes nothing, and waits.
        unsafe { libc::pause() };
    }
    // SAFETY: written to only, and never closed here. Rust's own stderr may be
    // locked by the thread that fails.
    let mut stderr = ManuallyDrop::new(unsafe { File::from_raw_fd(2) });
    // In one go: another thread may end the process meanwhile.
    let mut line = [0; 512];
    let mut room = &mut line[..];
    let _ = room.write_fmt(format_args!("nvsmi: {why}\n"));
    let left = room.len();
    let written = line.len() - left;
    let _ = stderr.write_all(&line[..written]);
    // SAFETY: ends the process, which answers in one go: nothing is half written.
    unsafe { libc::_exit(255) }
}

/// Makes an `exit` that is not ours a failure: nvsmi itself ends with `_exit`, so
/// that only NVML calls `exit`, or ends the main thread, which comes to the same.
pub fn refuse_foreign_exit() {
    extern "C" fn exits() {
        fail(format_args!("NVML ended the process"))
    }
    // Threads that call `exit` at once take a handler each; the one that finds none
    // left would end the process with its own status.
    for _ in 0..32 {
        // SAFETY: a function that lives as long as the program.
        unsafe { libc::atexit(exits) };
    }
}

/// Runs before `main`, where Rust opens `/dev/null` in place of a standard stream
/// that is closed, and aborts if it cannot. Without `/dev/null`, a pipe that nobody
/// reads takes its place: to write to it fails as to any closed pipe.
#[used]
#[unsafe(link_section = ".init_array")]
static REPLACE_CLOSED_STREAMS: extern "C" fn() = {
    extern "C" fn replace_closed_streams() {
        for stream in 0..3 {
            let mut ends = [-1; 2];
            // SAFETY: numbers, a NUL-ended path, and room for two descriptors. A new
            // descriptor is the lowest that is free, and the lower ones are in use:
            // it is `stream`, as is the end of the pipe that `dup2` replaces.
            unsafe {
                if libc::fcntl(stream, libc::F_GETFD) == -1
                    && libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) == -1
                    && libc::pipe(ends.as_mut_ptr()) == 0
                {
                    libc::dup2(ends[1], stream);
                    libc::close(ends[1]);
                }
            }
        }
    }
    replace_closed_streams
};

/// A process that [`fork`] started.
pub struct Child(libc::pid_t);

/// Starts a second process, a copy of this one, with `fork`. In the copy there is no
/// `Child`. Fails where the user or the system may have no more processes.
///
/// To be called before there are threads: the copy has only the one that calls, and
/// a lock that another one holds would never be released there.
pub fn fork() -> io::Result<Option<Child>> {
    // SAFETY: there are no other threads, see above.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        id => Ok(Some(Child(id))),
    }
}

impl Child {
    /// How it ended; `None` while it runs.
    pub fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        let mut status = 0;
        // SAFETY: numbers, and room for one.
        match unsafe { libc::waitpid(self.0, &mut status, libc::WNOHANG) } {
            -1 => Err(io::Error::last_os_error()),
            0 => Ok(None),
            _ => Ok(Some(ExitStatus::from_raw(status))),
        }
    }

    /// Kills it. Its number is its own until `try_wait` has told its end.
    pub fn kill(&self) {
        // SAFETY: numbers.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }
}

/// Closes stdout and stderr: a process that cannot end while a question hangs in the
/// kernel would keep their readers waiting.
pub fn close_output() {
    for fd in [1, 2] {
        // SAFETY: nothing is written any more: the process is about to end.
        drop(unsafe { OwnedFd::from_raw_fd(fd) });
    }
}

/// Where address space is limited (`ulimit -v`), threads share one heap: glibc
/// sets 64 MiB apart for that of each, and nothing is left for the others.
/// Without a limit, heaps of their own are the faster.
///
/// The stack takes its share at once as well. Where it cannot grow later, the
/// kernel kills the process without a word; memory that is short later is a line
/// and a status.
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
        grow_stack();
    }
}

/// Writes to as much of the stack as any command uses, several times over.
#[inline(never)]
fn grow_stack() {
    std::hint::black_box([0_u8; 512 << 10]);
}

/// Whether this process runs as root, whom the driver lets change GPUs. Asked of
/// the kernel and not of `/proc`, which is not everywhere.
pub fn is_root() -> bool {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}
