//! Temperatures, degrees Celsius, and those at which something happens.

use super::{Context, facts};
use crate::nvml::Missing;

/// `NVML_FI_DEV_MEMORY_TEMP`.
const MEMORY: u32 = 82;
/// `NVML_FI_DEV_TEMPERATURE_*_TLIMIT`: degrees left to a limit.
const SHUTDOWN_MARGIN: u32 = 193;
const SLOWDOWN_MARGIN: u32 = 194;
const MEMORY_MAX_MARGIN: u32 = 195;
const GPU_MAX_MARGIN: u32 = 196;

/// The fields of temperature, which a report asks for at once.
pub const FIELDS: &[(u32, u32)] = &[
    (SHUTDOWN_MARGIN, 0),
    (SLOWDOWN_MARGIN, 0),
    (GPU_MAX_MARGIN, 0),
    (MEMORY, 0),
    (MEMORY_MAX_MARGIN, 0),
];

/// `NVML_TEMPERATURE_THRESHOLD_*`: the limits themselves.
const SHUTDOWN: u32 = 0;
const SLOWDOWN: u32 = 1;
const MEMORY_MAX: u32 = 2;
const GPU_MAX: u32 = 3;
const ACOUSTIC_MIN: u32 = 4;
const ACOUSTIC_CURRENT: u32 = 5;
const ACOUSTIC_MAX: u32 = 6;
const GPS_CURRENT: u32 = 7;

facts! {
    /// Of the GPU.
    gpu(context) = context.gpu.temperature();
    /// Degrees left before the GPU slows down.
    margin(context) = context.gpu.temperature_margin();
    /// Of the memory.
    memory(context) = context.gpu.field_number(MEMORY, 0);
    /// From where the GPU shuts down to where it slows down.
    shutdown_margin(context) = context.gpu.field_number(SHUTDOWN_MARGIN, 0);
    /// The same to where it slows down.
    slowdown_margin(context) = context.gpu.field_number(SLOWDOWN_MARGIN, 0);
    /// The same to the highest that it should work at.
    gpu_max_margin(context) = context.gpu.field_number(GPU_MAX_MARGIN, 0);
    /// The same for its memory.
    memory_max_margin(context) = context.gpu.field_number(MEMORY_MAX_MARGIN, 0);
    /// Where the GPU shuts down.
    shutdown(context) = context.gpu.temperature_threshold(SHUTDOWN);
    /// Where it slows down.
    slowdown(context) = context.gpu.temperature_threshold(SLOWDOWN);
    /// The highest that it should work at.
    gpu_max(context) = context.gpu.temperature_threshold(GPU_MAX);
    /// The highest that its memory should work at.
    memory_max(context) = context.gpu.temperature_threshold(MEMORY_MAX);
    /// The lowest target that can be set.
    target_min(context) = context.gpu.temperature_threshold(ACOUSTIC_MIN);
    /// The highest target that can be set.
    target_max(context) = context.gpu.temperature_threshold(ACOUSTIC_MAX);
    /// The target that was set in either of two ways. If the board does not have the
    /// second, the error of the first counts.
    target(context) = context.gpu.temperature_threshold(ACOUSTIC_CURRENT).or_else(|failed| {
        match context.gpu.temperature_threshold(GPS_CURRENT) {
            Err(Missing::NotSupported) => Err(failed),
            target => target,
        }
    });
}

/// Whether the board tells its limits as degrees, and not as degrees that are left
/// (Ada, Hopper and later).
pub fn has_thresholds<T>(context: &Context<T>) -> bool {
    matches!(
        context.gpu.field_number(SHUTDOWN_MARGIN, 0),
        Err(Missing::NotSupported | Missing::INVALID_ARGUMENT)
    )
}

/// The opposite of [`has_thresholds`].
pub fn has_margins<T>(context: &Context<T>) -> bool {
    !has_thresholds(context)
}
