//! What the GPU is doing: state, what slows it down, memory, utilization.

use super::row::{Asked, Row, group, group_or_word, line, number};
use super::words::{self, word};
use crate::nvml::{EncoderStats, Missing, Reading};
use crate::value::Unit::{Mebibytes, Microseconds, Percent};
use crate::value::{Value, active, whole_mebibytes};

pub const FAN: &[Row<()>] = &[number("Fan Speed", "fan_speed", Percent, |asked| {
    asked.gpu.fan_speed().map(Value::from)
})];

pub const PERFORMANCE: &[Row<()>] = &[
    line("Performance State", "performance_state", |asked| {
        word(asked.gpu.performance_state()?, words::PERFORMANCE_STATES)
    }),
    group_or_word(
        "Clocks Event Reasons",
        "clocks_event_reasons",
        |asked| {
            asked.gpu.supported_clocks_reasons()?;
            asked.gpu.clocks_reasons()?;
            Ok(())
        },
        REASONS,
    ),
    group_or_word(
        "Clocks Event Reasons Counters",
        "clocks_event_reasons_counters",
        |asked| asked.gpu.clocks_reason_times().map(|_| ()),
        REASON_TIMES,
    ),
    // NVML has no question for it.
    line("Sparse Operation Mode", "sparse_operation_mode", |asked| {
        asked.reachable().and(Err(Missing::NotSupported))
    }),
];

/// Whether a reason holds the clocks down; N/A where the board cannot report it.
fn reason(asked: &Asked<()>, bit: u64) -> Reading<Value> {
    let supported = asked.gpu.supported_clocks_reasons()?;
    match supported & bit {
        0 => Err(Missing::NotSupported),
        _ => asked.gpu.clocks_reasons().map(|now| active(now & bit != 0)),
    }
}

const REASONS: &[Row<()>] = &[
    line("Idle", "clocks_event_reason_gpu_idle", |asked| {
        reason(asked, 0x1)
    }),
    line(
        "Applications Clocks Setting",
        "clocks_event_reason_applications_clocks_setting",
        |asked| reason(asked, 0x2),
    ),
    line(
        "SW Power Cap",
        "clocks_event_reason_sw_power_cap",
        |asked| reason(asked, 0x4),
    ),
    line("HW Slowdown", "clocks_event_reason_hw_slowdown", |asked| {
        reason(asked, 0x8)
    }),
    line(
        "    HW Thermal Slowdown",
        "clocks_event_reason_hw_thermal_slowdown",
        |asked| reason(asked, 0x40),
    ),
    line(
        "    HW Power Brake Slowdown",
        "clocks_event_reason_hw_power_brake_slowdown",
        |asked| reason(asked, 0x80),
    ),
    line("Sync Boost", "clocks_event_reason_sync_boost", |asked| {
        reason(asked, 0x10)
    }),
    line(
        "SW Thermal Slowdown",
        "clocks_event_reason_sw_thermal_slowdown",
        |asked| reason(asked, 0x20),
    ),
    line(
        "Display Clock Setting",
        "clocks_event_reason_display_clocks_setting",
        |asked| reason(asked, 0x100),
    ),
];

fn reason_time(asked: &Asked<()>, which: usize) -> Reading<Value> {
    asked.gpu.clocks_reason_times()?[which].map(Value::microseconds)
}

const REASON_TIMES: &[Row<()>] = &[
    number(
        "SW Power Capping",
        "clocks_event_reasons_counters_sw_power_cap",
        Microseconds,
        |asked| reason_time(asked, 0),
    ),
    number(
        "Sync Boost",
        "clocks_event_reasons_counters_sync_boost",
        Microseconds,
        |asked| reason_time(asked, 1),
    ),
    number(
        "SW Thermal Slowdown",
        "clocks_event_reasons_counters_sw_therm_slowdown",
        Microseconds,
        |asked| reason_time(asked, 2),
    ),
    number(
        "HW Thermal Slowdown",
        "clocks_event_reasons_counters_hw_therm_slowdown",
        Microseconds,
        |asked| reason_time(asked, 3),
    ),
    number(
        "HW Power Braking",
        "clocks_event_reasons_counters_hw_power_brake",
        Microseconds,
        |asked| reason_time(asked, 4),
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
    number("Total", "total", Mebibytes, |asked| {
        asked
            .gpu
            .memory()
            .map(|memory| Value::mebibytes(memory.total))
    }),
    number("Reserved", "reserved", Mebibytes, |asked| {
        asked
            .gpu
            .memory()?
            .reserved
            .map(Value::mebibytes)
            .ok_or(Missing::FUNCTION_NOT_FOUND)
    }),
    number("Used", "used", Mebibytes, |asked| {
        asked
            .gpu
            .memory()
            .map(|memory| Value::mebibytes(memory.used))
    }),
    number("Free", "free", Mebibytes, |asked| {
        asked
            .gpu
            .memory()
            .map(|memory| Value::mebibytes(memory.free))
    }),
];

const BAR1: &[Row<()>] = &[
    number("Total", "total", Mebibytes, |asked| {
        asked
            .gpu
            .bar1()
            .map(|bar1| whole_mebibytes(bar1.bar1Total).into())
    }),
    number("Used", "used", Mebibytes, |asked| {
        asked
            .gpu
            .bar1()
            .map(|bar1| whole_mebibytes(bar1.bar1Used).into())
    }),
    number("Free", "free", Mebibytes, |asked| {
        asked.gpu.bar1().map(|bar1| {
            let [total, used] = [bar1.bar1Total, bar1.bar1Used].map(whole_mebibytes);
            total.saturating_sub(used).into()
        })
    }),
];

const PROTECTED: &[Row<()>] = &[
    number("Total", "total", Mebibytes, |asked| {
        let memory = asked.gpu.protected_memory()?;
        Ok(Value::mebibytes(memory.total))
    }),
    number("Used", "used", Mebibytes, |asked| {
        let memory = asked.gpu.protected_memory()?;
        Ok(Value::mebibytes(memory.used))
    }),
    number("Free", "free", Mebibytes, |asked| {
        let memory = asked.gpu.protected_memory()?;
        Ok(Value::mebibytes(memory.free))
    }),
];

pub const COMPUTE_MODE: &[Row<()>] = &[line("Compute Mode", "compute_mode", |asked| {
    word(asked.gpu.compute_mode()?, words::COMPUTE_MODES)
})];

pub const UTILIZATION: &[Row<()>] = &[group(
    "Utilization",
    "utilization",
    &[
        number("GPU", "gpu_util", Percent, |asked| {
            asked.gpu.utilization().map(|busy| busy.gpu.into())
        }),
        number("Memory", "memory_util", Percent, |asked| {
            asked.gpu.utilization().map(|busy| busy.memory.into())
        }),
        number("Encoder", "encoder_util", Percent, |asked| {
            asked.gpu.encoder_utilization().map(Value::from)
        }),
        number("Decoder", "decoder_util", Percent, |asked| {
            asked.gpu.decoder_utilization().map(Value::from)
        }),
        number("JPEG", "jpeg_util", Percent, |asked| {
            asked.gpu.jpeg_utilization().map(Value::from)
        }),
        number("OFA", "ofa_util", Percent, |asked| {
            asked.gpu.ofa_utilization().map(Value::from)
        }),
    ],
)];

/// A group about sessions that encode or capture.
macro_rules! sessions {
    ($label:literal, $tag:literal, $question:ident) => {
        group(
            $label,
            $tag,
            &[
                line("Active Sessions", "session_count", |asked| {
                    let stats: EncoderStats = asked.gpu.$question()?;
                    Ok(stats.sessions.into())
                }),
                line("Average FPS", "average_fps", |asked| {
                    Ok(asked.gpu.$question()?.average_fps.into())
                }),
                line("Average Latency", "average_latency", |asked| {
                    Ok(asked.gpu.$question()?.average_latency.into())
                }),
            ],
        )
    };
}

pub const ENCODER: &[Row<()>] = &[sessions!("Encoder Stats", "encoder_stats", encoder_stats)];

pub const FRAME_CAPTURE: &[Row<()>] = &[sessions!("FBC Stats", "fbc_stats", capture_stats)];
