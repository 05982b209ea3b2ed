//! Temperatures, and those at which something happens.

use super::row::{Row, group, number};
use crate::facts::temperature;
use crate::value::Unit::Celsius;

pub const TEMPERATURE: &[Row<()>] = &[group(
    "Temperature",
    "temperature",
    &[
        number("GPU Current Temp", "gpu_temp", Celsius, temperature::gpu),
        number(
            "GPU T.Limit Temp",
            "gpu_temp_tlimit",
            Celsius,
            temperature::margin,
        ),
        number(
            "GPU Shutdown T.Limit Temp",
            "gpu_temp_max_tlimit_threshold",
            Celsius,
            temperature::shutdown_margin,
        )
        .on(temperature::has_margins),
        number(
            "GPU Shutdown Temp",
            "gpu_temp_max_threshold",
            Celsius,
            temperature::shutdown,
        )
        .on(temperature::has_thresholds),
        number(
            "GPU Slowdown T.Limit Temp",
            "gpu_temp_slow_tlimit_threshold",
            Celsius,
            temperature::slowdown_margin,
        )
        .on(temperature::has_margins),
        number(
            "GPU Slowdown Temp",
            "gpu_temp_slow_threshold",
            Celsius,
            temperature::slowdown,
        )
        .on(temperature::has_thresholds),
        number(
            "GPU Max Operating T.Limit Temp",
            "gpu_temp_max_gpu_tlimit_threshold",
            Celsius,
            temperature::gpu_max_margin,
        )
        .on(temperature::has_margins),
        number(
            "GPU Max Operating Temp",
            "gpu_temp_max_gpu_threshold",
            Celsius,
            temperature::gpu_max,
        )
        .on(temperature::has_thresholds),
        number(
            "GPU Target Temperature",
            "gpu_target_temperature",
            Celsius,
            temperature::target,
        ),
        number(
            "Memory Current Temp",
            "memory_temp",
            Celsius,
            temperature::memory,
        ),
        number(
            "Memory Max Operating T.Limit Temp",
            "gpu_temp_max_mem_tlimit_threshold",
            Celsius,
            temperature::memory_max_margin,
        )
        .on(temperature::has_margins),
        number(
            "Memory Max Operating Temp",
            "gpu_temp_max_mem_threshold",
            Celsius,
            temperature::memory_max,
        )
        .on(temperature::has_thresholds),
    ],
)];

pub const TARGETS: &[Row<()>] = &[group(
    "Supported GPU_TARGET_TEMP",
    "supported_gpu_target_temp",
    &[
        number(
            "Min",
            "gpu_target_temp_min",
            Celsius,
            temperature::target_min,
        ),
        number(
            "Max",
            "gpu_target_temp_max",
            Celsius,
            temperature::target_max,
        ),
    ],
)];
