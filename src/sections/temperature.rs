//! Temperatures, and those at which something happens.

use super::row::{Asked, Row, group, number};
use crate::nvml::{Missing, Reading};
use crate::value::Unit::Celsius;
use crate::value::Value;

/// Fields: degrees from here to where the GPU shuts down, slows down, must not
/// go beyond, and the same for memory.
const SHUTDOWN_T_LIMIT: u32 = 193;
const SLOWDOWN_T_LIMIT: u32 = 194;
const MEMORY_MAX_T_LIMIT: u32 = 195;
const GPU_MAX_T_LIMIT: u32 = 196;
const MEMORY_TEMPERATURE: u32 = 82;

/// Thresholds in degrees, `NVML_TEMPERATURE_THRESHOLD_*`.
const SHUTDOWN: u32 = 0;
const SLOWDOWN: u32 = 1;
const MEMORY_MAX: u32 = 2;
const GPU_MAX: u32 = 3;
const ACOUSTIC_MIN: u32 = 4;
const ACOUSTIC_CURRENT: u32 = 5;
const ACOUSTIC_MAX: u32 = 6;
const GPS_CURRENT: u32 = 7;

pub const TEMPERATURE: &[Row<()>] = &[group(
    "Temperature",
    "temperature",
    &[
        number("GPU Current Temp", "gpu_temp", Celsius, |asked| {
            asked.gpu.temperature().map(Value::from)
        }),
        number("GPU T.Limit Temp", "gpu_temp_tlimit", Celsius, |asked| {
            asked.gpu.temperature_margin().map(Value::from)
        }),
        number(
            "GPU Shutdown T.Limit Temp",
            "gpu_temp_max_tlimit_threshold",
            Celsius,
            |asked| field(asked, SHUTDOWN_T_LIMIT),
        )
        .on(relative),
        number(
            "GPU Shutdown Temp",
            "gpu_temp_max_threshold",
            Celsius,
            |asked| threshold(asked, SHUTDOWN),
        )
        .on(absolute),
        number(
            "GPU Slowdown T.Limit Temp",
            "gpu_temp_slow_tlimit_threshold",
            Celsius,
            |asked| field(asked, SLOWDOWN_T_LIMIT),
        )
        .on(relative),
        number(
            "GPU Slowdown Temp",
            "gpu_temp_slow_threshold",
            Celsius,
            |asked| threshold(asked, SLOWDOWN),
        )
        .on(absolute),
        number(
            "GPU Max Operating T.Limit Temp",
            "gpu_temp_max_gpu_tlimit_threshold",
            Celsius,
            |asked| field(asked, GPU_MAX_T_LIMIT),
        )
        .on(relative),
        number(
            "GPU Max Operating Temp",
            "gpu_temp_max_gpu_threshold",
            Celsius,
            |asked| threshold(asked, GPU_MAX),
        )
        .on(absolute),
        number(
            "GPU Target Temperature",
            "gpu_target_temperature",
            Celsius,
            target,
        ),
        number("Memory Current Temp", "memory_temp", Celsius, |asked| {
            field(asked, MEMORY_TEMPERATURE)
        }),
        number(
            "Memory Max Operating T.Limit Temp",
            "gpu_temp_max_mem_tlimit_threshold",
            Celsius,
            |asked| field(asked, MEMORY_MAX_T_LIMIT),
        )
        .on(relative),
        number(
            "Memory Max Operating Temp",
            "gpu_temp_max_mem_threshold",
            Celsius,
            |asked| threshold(asked, MEMORY_MAX),
        )
        .on(absolute),
    ],
)];

/// All of this section's fields come with the first of them.
fn field(asked: &Asked<()>, id: u32) -> Reading<Value> {
    asked.gpu.ask_fields(
        [
            SHUTDOWN_T_LIMIT,
            SLOWDOWN_T_LIMIT,
            GPU_MAX_T_LIMIT,
            MEMORY_TEMPERATURE,
            MEMORY_MAX_T_LIMIT,
        ]
        .map(|id| (id, 0)),
    );
    asked.gpu.field_number(id, 0).map(Value::from)
}

fn threshold(asked: &Asked<()>, which: u32) -> Reading<Value> {
    asked.gpu.temperature_threshold(which).map(Value::from)
}

/// Boards say how far it is to their limits (Ada, Hopper and later), or what the
/// limits are.
fn relative(asked: &Asked<()>) -> bool {
    !absolute(asked)
}

fn absolute(asked: &Asked<()>) -> bool {
    matches!(
        field(asked, SHUTDOWN_T_LIMIT),
        Err(Missing::NotSupported | Missing::INVALID_ARGUMENT)
    )
}

/// What was asked for by either of two ways; a board without the second says why
/// the first failed.
fn target(asked: &Asked<()>) -> Reading<Value> {
    threshold(asked, ACOUSTIC_CURRENT).or_else(|failed| match threshold(asked, GPS_CURRENT) {
        Err(Missing::NotSupported) => Err(failed),
        target => target,
    })
}

pub const TARGETS: &[Row<()>] = &[group(
    "Supported GPU_TARGET_TEMP",
    "supported_gpu_target_temp",
    &[
        number("Min", "gpu_target_temp_min", Celsius, |asked| {
            threshold(asked, ACOUSTIC_MIN)
        }),
        number("Max", "gpu_target_temp_max", Celsius, |asked| {
            threshold(asked, ACOUSTIC_MAX)
        }),
    ],
)];
