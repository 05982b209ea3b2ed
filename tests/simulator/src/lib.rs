//! A simulated NVML library (`libsimulator.so`), and what puts a program on a simulated box.
//!
//! A box is data: a file of `tests/scenarios`. The launcher resolves it ([`scenario`]), lays out a
//! folder that looks like an installed driver ([`launcher`]) and starts the program with that folder
//! first on the loader's path. In the program, the library reads the box ([`machine`]) and answers
//! every NVML call from it ([`exports`]), through one gate that injects faults, takes the time that a
//! real driver takes, and logs the call ([`gate`]).

mod answer;
mod crowd;
mod data;
mod drivers;
mod elf;
mod exports;
mod gate;
pub mod golden;
mod handle;
mod keys;
pub mod launcher;
mod machine;
pub mod reader;
pub mod scenario;
pub mod skip;
mod sysfs;
pub mod trial;

pub use crowd::crowd;
pub use launcher::{can_replace_sysfs, command, require_simulator};
