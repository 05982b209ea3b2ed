//! What the GPU is doing: state, what slows it down, memory, utilization.

use super::row::{Row, group, group_or_word, line, number};
use crate::facts::{clocks, load, memory, modes};
use crate::value::Unit::{Mebibytes, Microseconds, Percent};

pub const FAN: &[Row<()>] = &[number("Fan Speed", "fan_speed", Percent, load::fan_speed)];

pub const PERFORMANCE: &[Row<()>] = &[
    line(
        "Performance State",
        "performance_state",
        clocks::performance_state,
    ),
    group_or_word(
        "Clocks Event Reasons",
        "clocks_event_reasons",
        |context| {
            context.gpu.supported_clocks_reasons()?;
            context.gpu.clocks_reasons()?;
            Ok(())
        },
        REASONS,
    ),
    group_or_word(
        "Clocks Event Reasons Counters",
        "clocks_event_reasons_counters",
        |context| context.gpu.clocks_reason_times().map(|_| ()),
        REASON_TIMES,
    ),
    line(
        "Sparse Operation Mode",
        "sparse_operation_mode",
        clocks::sparse_operation_mode,
    ),
];

const REASONS: &[Row<()>] = &[
    line("Idle", "clocks_event_reason_gpu_idle", clocks::idle),
    line(
        "Applications Clocks Setting",
        "clocks_event_reason_applications_clocks_setting",
        clocks::application_clocks_setting,
    ),
    line(
        "SW Power Cap",
        "clocks_event_reason_sw_power_cap",
        clocks::sw_power_cap,
    ),
    line(
        "HW Slowdown",
        "clocks_event_reason_hw_slowdown",
        clocks::hw_slowdown,
    ),
    line(
        "    HW Thermal Slowdown",
        "clocks_event_reason_hw_thermal_slowdown",
        clocks::hw_thermal_slowdown,
    ),
    line(
        "    HW Power Brake Slowdown",
        "clocks_event_reason_hw_power_brake_slowdown",
        clocks::hw_power_brake_slowdown,
    ),
    line(
        "Sync Boost",
        "clocks_event_reason_sync_boost",
        clocks::sync_boost,
    ),
    line(
        "SW Thermal Slowdown",
        "clocks_event_reason_sw_thermal_slowdown",
        clocks::sw_thermal_slowdown,
    ),
    line(
        "Display Clock Setting",
        "clocks_event_reason_display_clocks_setting",
        clocks::display_clocks_setting,
    ),
];

const REASON_TIMES: &[Row<()>] = &[
    number(
        "SW Power Capping",
        "clocks_event_reasons_counters_sw_power_cap",
        Microseconds,
        clocks::sw_power_cap_time,
    ),
    number(
        "Sync Boost",
        "clocks_event_reasons_counters_sync_boost",
        Microseconds,
        clocks::sync_boost_time,
    ),
    number(
        "SW Thermal Slowdown",
        "clocks_event_reasons_counters_sw_therm_slowdown",
        Microseconds,
        clocks::sw_thermal_slowdown_time,
    ),
    number(
        "HW Thermal Slowdown",
        "clocks_event_reasons_counters_hw_therm_slowdown",
        Microseconds,
        clocks::hw_thermal_slowdown_time,
    ),
    number(
        "HW Power Braking",
        "clocks_event_reasons_counters_hw_power_brake",
        Microseconds,
        clocks::hw_power_brake_time,
    ),
];

pub const MEMORY: &[Row<()>] = &[
    group("FB Memory Usage", "fb_memory_usage", FRAME_BUFFER),
    group("BAR1 Memory Usage", "bar1_memory_usage", BAR1),
    group(
        "Conf Compute Protected Memory Usage",
        "cc_protected_memory_usage",
        PROTECTED,
    ),
];

const FRAME_BUFFER: &[Row<()>] = &[
    number("Total", "total", Mebibytes, memory::total),
    number("Reserved", "reserved", Mebibytes, memory::reserved),
    number("Used", "used", Mebibytes, memory::used),
    number("Free", "free", Mebibytes, memory::free),
];

const BAR1: &[Row<()>] = &[
    number("Total", "total", Mebibytes, memory::bar1_total),
    number("Used", "used", Mebibytes, memory::bar1_used),
    number("Free", "free", Mebibytes, memory::bar1_free),
];

const PROTECTED: &[Row<()>] = &[
    number("Total", "total", Mebibytes, memory::protected_total),
    number("Used", "used", Mebibytes, memory::protected_used),
    number("Free", "free", Mebibytes, memory::protected_free),
];

pub const COMPUTE_MODE: &[Row<()>] = &[line("Compute Mode", "compute_mode", modes::compute)];

pub const UTILIZATION: &[Row<()>] = &[group(
    "Utilization",
    "utilization",
    &[
        number("GPU", "gpu_util", Percent, load::gpu),
        number("Memory", "memory_util", Percent, load::memory),
        number("Encoder", "encoder_util", Percent, load::encoder),
        number("Decoder", "decoder_util", Percent, load::decoder),
        number("JPEG", "jpeg_util", Percent, load::jpeg),
        number("OFA", "ofa_util", Percent, load::ofa),
    ],
)];

/// A group about sessions that encode or capture.
macro_rules! sessions {
    ($label:literal, $tag:literal, $sessions:path, $fps:path, $latency:path) => {
        group(
            $label,
            $tag,
            &[
                line("Active Sessions", "session_count", $sessions),
                line("Average FPS", "average_fps", $fps),
                line("Average Latency", "average_latency", $latency),
            ],
        )
    };
}

pub const ENCODER: &[Row<()>] = &[sessions!(
    "Encoder Stats",
    "encoder_stats",
    load::encoder_sessions,
    load::encoder_fps,
    load::encoder_latency
)];

pub const FRAME_CAPTURE: &[Row<()>] = &[sessions!(
    "FBC Stats",
    "fbc_stats",
    load::capture_sessions,
    load::capture_fps,
    load::capture_latency
)];
