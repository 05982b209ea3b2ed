//! nvsmi, the binary, on simulated boxes.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may stop where it stands, and say why"
)]

mod common;

mod bad_gpu;
mod boxes;
mod calls;
mod drivers;
mod floors;
mod golden;
mod hostile;
mod links;
mod modify;
mod modify_faults;
mod modify_reset;
mod odd;
mod report;
mod scale;
mod scarce;
mod shell;
mod steady;
mod sweep;
mod timeout;
mod watch;
