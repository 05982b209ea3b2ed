//! What a GPU says: each fact is asked, decoded and worded in one place.
//!
//! A view (a field of a query, a line of `-q`, a column of dmon) is a row that names
//! a fact and says how it is labelled and laid out. A fact that could not be read is
//! the reason for that, never 0.

pub mod board;
pub mod clocks;
pub mod ecc;
pub mod fabric;
pub mod load;
pub mod memory;
pub mod modes;
pub mod pcie;
pub mod platform;
pub mod power;
pub mod processes;
pub mod retirement;
pub mod smoothing;
pub mod temperature;
pub mod words;

use jiff::ZonedDateTime;

use crate::nvml::{Driver, Gpu, Missing, Reading};

/// What a fact is about.
pub struct Context<'a, T> {
    /// When the sample began, local time.
    pub time: &'a ZonedDateTime,
    /// The driver.
    pub driver: &'a Driver,
    /// The GPU.
    pub gpu: &'a Gpu<'a>,
    /// The process, the page, the session; `()` if the fact is about the GPU.
    pub item: &'a T,
}

impl<T> Context<'_, T> {
    /// The same, about something on the GPU.
    pub fn about<'b, U>(&'b self, item: &'b U) -> Context<'b, U> {
        Context {
            time: self.time,
            driver: self.driver,
            gpu: self.gpu,
            item,
        }
    }

    /// The error of a GPU that is lost or requires a reset. Facts that NVML has no
    /// question for have it too.
    pub fn reachable(&self) -> Reading<()> {
        match self.gpu.performance_state() {
            Err(gone @ (Missing::GPU_IS_LOST | Missing::RESET_REQUIRED)) => Err(gone),
            _ => Ok(()),
        }
    }
}

/// One function a fact about a GPU, for lines about whatever is on it: its name, the
/// context, and the reading.
macro_rules! facts {
    ($($(#[$about:meta])* $name:ident($context:ident) = $read:expr;)*) => {$(
        $(#[$about])*
        pub fn $name<T>($context: &$crate::facts::Context<T>) -> $crate::nvml::Reading<$crate::value::Value> {
            let reading: $crate::nvml::Reading<_> = $read;
            reading.map(Into::into)
        }
    )*};
}
pub(crate) use facts;
