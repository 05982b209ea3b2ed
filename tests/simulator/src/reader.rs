//! Whoever reads what a program prints.

/// Has this program end when its reader is gone, as programs do unless they are asked not to; those in
/// Rust are, and then panic.
pub fn end_with_it() {
    // SAFETY: nothing of ours handles this signal, or depends on its being ignored.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}
