//! NVML, thinly: opens the driver, finds GPUs, and answers in NVML's own units.
//! Nothing here knows a label, a layout or an exit status.

mod driver;
mod facts;
mod gpu;
mod links;
mod mig;
mod parallel;
mod raw;
mod reading;
mod slot;
mod sysfs;
mod topology;

pub use driver::{Driver, OpenError, Unanswered};
pub use facts::*;
pub use gpu::{FieldNumber, Gpu};
pub use links::{LINK_CAPABILITIES, field};
pub use mig::MigDevice;
pub use parallel::each;
pub use raw::RemappedRows as RemappedRowsByUse;
pub use reading::{Missing, Reading};
pub use sysfs::{Place, Sysfs};
pub use topology::{Level, P2pCapability, P2pStatus};

pub use nvml_wrapper::enum_wrappers::device::Clock;
