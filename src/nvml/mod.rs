//! NVML, thinly: opens the driver, finds GPUs, and answers in NVML's own units.
//! Nothing here knows a label, a layout or an exit status.

mod confidential;
mod driver;
mod facts;
mod field_id;
mod gpm;
mod gpu;
mod links;
mod mig;
mod parallel;
mod power;
mod processes;
mod raw;
mod reading;
mod report;
mod set;
mod slices;
mod slot;
mod topology;

pub use driver::{Driver, OpenError, Unanswered};
pub use facts::*;
pub use gpm::Meter;
pub use gpu::{FieldNumber, Gpu};
pub use links::{LINK_CAPABILITIES, field};
pub use mig::MigDevice;
pub use parallel::each;
pub use power::{HIGHEST_PROFILE, profiles_of};
pub use processes::{Running, unread};
pub use raw::RemappedRows as RemappedRowsByUse;
pub use raw::Sample;
pub use raw::process::{self, is_root};
pub use raw::time_limit::{Stuck, begin_sample, stuck, wait_at_most};
pub use reading::{Missing, Reading, if_any};
pub use report::{License, LicenseExpiry};
pub use set::{Effect, HOSTNAME_LENGTH, Peer};
pub use slices::{GpuInstance, Placement, Profile};
pub use topology::{P2pCapability, P2pStatus};

pub use nvml_wrapper::enum_wrappers::device::Clock;
