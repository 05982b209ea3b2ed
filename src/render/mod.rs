//! Printers: typed facts in, bytes out. None of them asks NVML anything.

pub mod csv;
mod frame;
pub mod summary;
mod width;
