//! What the operating system knows and does: processes and PCI devices, time, signals.

pub mod clock;
pub mod kernel;
pub mod signals;
pub mod sysfs;
