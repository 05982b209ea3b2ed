//! What the GPU is doing: state, throttling, memory, utilization.

use super::board::word;
use crate::fields::{Group, Row, field};
use crate::nvml::{Missing, Reading};
use crate::value::Unit::{Mebibytes, Microseconds, None as Plain, Percent};
use crate::value::{Value, active};

pub const STATE: Group<()> = Group {
    about: "Fan and performance",
    fields: &[
        field(
            &["fan.speed"],
            Percent,
            "Speed that the fan should have, of its highest; it may be blocked.",
            |row| row.gpu.fan_speed().map(Value::from),
        ),
        field(
            &["pstate"],
            Plain,
            "Performance state, P0 (fastest) to P15.",
            |row| {
                row.gpu
                    .performance_state()
                    .and_then(|state| word(state, PERFORMANCE_STATES))
            },
        ),
    ],
};

const PERFORMANCE_STATES: &[&str] = &[
    "P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13", "P14",
    "P15",
];

/// Whether a reason holds the clocks down; [N/A] where the board cannot report it.
fn reason(row: &Row<()>, bit: u64) -> Reading<Value> {
    let supported = row.gpu.supported_clocks_reasons()?;
    match supported & bit {
        0 => Err(Missing::NotSupported),
        _ => row.gpu.clocks_reasons().map(|now| active(now & bit != 0)),
    }
}

pub const REASONS: Group<()> = Group {
    about: "Why the clocks are not as high as they could be",
    fields: &[
        field(
            &[
                "clocks_event_reasons.supported",
                "clocks_throttle_reasons.supported",
            ],
            Plain,
            "Bits of the reasons that this GPU can report, in hex.",
            |row| {
                row.gpu
                    .supported_clocks_reasons()
                    .map(|bits| Value::Hex(bits, 16))
            },
        ),
        field(
            &[
                "clocks_event_reasons.active",
                "clocks_throttle_reasons.active",
            ],
            Plain,
            "Bits of the reasons at work now, in hex.",
            |row| row.gpu.clocks_reasons().map(|bits| Value::Hex(bits, 16)),
        ),
        field(
            &[
                "clocks_event_reasons.gpu_idle",
                "clocks_throttle_reasons.gpu_idle",
            ],
            Plain,
            "Nothing runs on the GPU.",
            |row| reason(row, 0x1),
        ),
        field(
            &[
                "clocks_event_reasons.applications_clocks_setting",
                "clocks_throttle_reasons.applications_clocks_setting",
            ],
            Plain,
            "Somebody set applications clocks.",
            |row| reason(row, 0x2),
        ),
        field(
            &[
                "clocks_event_reasons.sw_power_cap",
                "clocks_throttle_reasons.sw_power_cap",
            ],
            Plain,
            "The GPU draws as much power as its limit lets it.",
            |row| reason(row, 0x4),
        ),
        field(
            &[
                "clocks_event_reasons.hw_slowdown",
                "clocks_throttle_reasons.hw_slowdown",
            ],
            Plain,
            "The hardware halves the clocks or worse: too hot, or power is short.",
            |row| reason(row, 0x8),
        ),
        field(
            &[
                "clocks_event_reasons.hw_thermal_slowdown",
                "clocks_throttle_reasons.hw_thermal_slowdown",
            ],
            Plain,
            "The hardware slows down because it is too hot.",
            |row| reason(row, 0x40),
        ),
        field(
            &[
                "clocks_event_reasons.hw_power_brake_slowdown",
                "clocks_throttle_reasons.hw_power_brake_slowdown",
            ],
            Plain,
            "The hardware slows down because the power supply says so.",
            |row| reason(row, 0x80),
        ),
        field(
            &[
                "clocks_event_reasons.sw_thermal_slowdown",
                "clocks_throttle_reasons.sw_thermal_slowdown",
            ],
            Plain,
            "The driver slows down because the GPU or its memory is too hot.",
            |row| reason(row, 0x20),
        ),
        field(
            &[
                "clocks_event_reasons.sync_boost",
                "clocks_throttle_reasons.sync_boost",
            ],
            Plain,
            "The GPU keeps step with the others of its sync boost group.",
            |row| reason(row, 0x10),
        ),
    ],
};

fn reason_time(row: &Row<()>, which: usize) -> Reading<Value> {
    row.gpu.clocks_reason_times()?[which].map(Value::microseconds)
}

pub const REASON_TIMES: Group<()> = Group {
    about: "For how long, since the driver was loaded, a reason has held the clocks down",
    fields: &[
        field(
            &["clocks_event_reasons_counters.sw_power_cap"],
            Microseconds,
            "By the power limit.",
            |row| reason_time(row, 0),
        ),
        field(
            &["clocks_event_reasons_counters.sync_boost"],
            Microseconds,
            "By the sync boost group.",
            |row| reason_time(row, 1),
        ),
        field(
            &["clocks_event_reasons_counters.sw_thermal_slowdown"],
            Microseconds,
            "By the driver, because of heat.",
            |row| reason_time(row, 2),
        ),
        field(
            &["clocks_event_reasons_counters.hw_thermal_slowdown"],
            Microseconds,
            "By the hardware, because of heat.",
            |row| reason_time(row, 3),
        ),
        field(
            &["clocks_event_reasons_counters.hw_power_brake_slowdown"],
            Microseconds,
            "By the hardware, because of the power supply.",
            |row| reason_time(row, 4),
        ),
    ],
};

pub const MEMORY: Group<()> = Group {
    about: "The GPU's memory (frame buffer), whose reserved, used and free add up to the total, and computing",
    fields: &[
        field(&["memory.total"], Mebibytes, "All of it.", |row| {
            row.gpu
                .memory()
                .map(|memory| Value::mebibytes(memory.total))
        }),
        field(
            &["memory.reserved"],
            Mebibytes,
            "Kept by the driver and the firmware.",
            |row| {
                row.gpu
                    .memory()?
                    .reserved
                    .map(Value::mebibytes)
                    .ok_or(Missing::FUNCTION_NOT_FOUND)
            },
        ),
        field(&["memory.used"], Mebibytes, "Allocated.", |row| {
            row.gpu.memory().map(|memory| Value::mebibytes(memory.used))
        }),
        field(&["memory.free"], Mebibytes, "Free.", |row| {
            row.gpu.memory().map(|memory| Value::mebibytes(memory.free))
        }),
        field(
            &["compute_mode"],
            Plain,
            "How many processes may compute on it at once.",
            |row| {
                row.gpu.compute_mode().and_then(|mode| {
                    word(
                        mode,
                        &[
                            "Default",
                            "Exclusive_Thread",
                            "Prohibited",
                            "Exclusive_Process",
                        ],
                    )
                })
            },
        ),
        field(&["compute_cap"], Plain, "CUDA compute capability.", |row| {
            row.gpu
                .compute_capability()
                .map(|(major, minor)| format!("{major}.{minor}").into())
        }),
    ],
};

pub const UTILIZATION: Group<()> = Group {
    about: "How busy the GPU was in the last sample, which is between 1/6 s and 1 s long",
    fields: &[
        field(
            &["utilization.gpu"],
            Percent,
            "Share of the time in which a kernel ran.",
            |row| row.gpu.utilization().map(|busy| busy.gpu.into()),
        ),
        field(
            &["utilization.memory"],
            Percent,
            "Share of the time in which memory was read or written.",
            |row| row.gpu.utilization().map(|busy| busy.memory.into()),
        ),
        field(
            &["utilization.encoder"],
            Percent,
            "Share of the video encoders.",
            |row| row.gpu.encoder_utilization().map(Value::from),
        ),
        field(
            &["utilization.decoder"],
            Percent,
            "Share of the video decoders.",
            |row| row.gpu.decoder_utilization().map(Value::from),
        ),
        field(
            &["utilization.jpeg"],
            Percent,
            "Share of the JPEG engines.",
            |row| row.gpu.jpeg_utilization().map(Value::from),
        ),
        field(
            &["utilization.ofa"],
            Percent,
            "Share of the optical flow engines.",
            |row| row.gpu.ofa_utilization().map(Value::from),
        ),
    ],
};

pub const ENCODER: Group<()> = Group {
    about: "Video encoding sessions",
    fields: &[
        field(
            &["encoder.stats.sessionCount"],
            Plain,
            "How many there are.",
            |row| row.gpu.encoder_stats().map(|stats| stats.sessions.into()),
        ),
        field(
            &["encoder.stats.averageFps"],
            Plain,
            "Frames a second, averaged over them.",
            |row| {
                row.gpu
                    .encoder_stats()
                    .map(|stats| stats.average_fps.into())
            },
        ),
        field(
            &["encoder.stats.averageLatency"],
            Plain,
            "Microseconds a frame, averaged over them.",
            |row| {
                row.gpu
                    .encoder_stats()
                    .map(|stats| stats.average_latency.into())
            },
        ),
    ],
};
