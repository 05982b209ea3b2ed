//! What the GPU is doing: state, throttling, memory, utilization.

use crate::facts::{board, clocks, load, memory, modes};
use crate::fields::{Group, field};
use crate::value::Unit::{Mebibytes, Microseconds, None as Plain, Percent};

pub const STATE: Group<()> = Group {
    about: "Fan and performance",
    fields: &[
        field(
            &["fan.speed"],
            Percent,
            "Speed that the fan should have, of its highest; it may be blocked.",
            load::fan_speed,
        ),
        field(
            &["pstate"],
            Plain,
            "Performance state, P0 (fastest) to P15.",
            clocks::performance_state,
        ),
    ],
};

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
            clocks::supported_reasons,
        ),
        field(
            &[
                "clocks_event_reasons.active",
                "clocks_throttle_reasons.active",
            ],
            Plain,
            "Bits of the reasons at work now, in hex.",
            clocks::active_reasons,
        ),
        field(
            &[
                "clocks_event_reasons.gpu_idle",
                "clocks_throttle_reasons.gpu_idle",
            ],
            Plain,
            "Nothing runs on the GPU.",
            clocks::idle,
        ),
        field(
            &[
                "clocks_event_reasons.applications_clocks_setting",
                "clocks_throttle_reasons.applications_clocks_setting",
            ],
            Plain,
            "Somebody set applications clocks.",
            clocks::application_clocks_setting,
        ),
        field(
            &[
                "clocks_event_reasons.sw_power_cap",
                "clocks_throttle_reasons.sw_power_cap",
            ],
            Plain,
            "The GPU draws as much power as its limit lets it.",
            clocks::sw_power_cap,
        ),
        field(
            &[
                "clocks_event_reasons.hw_slowdown",
                "clocks_throttle_reasons.hw_slowdown",
            ],
            Plain,
            "The hardware halves the clocks or worse: too hot, or power is short.",
            clocks::hw_slowdown,
        ),
        field(
            &[
                "clocks_event_reasons.hw_thermal_slowdown",
                "clocks_throttle_reasons.hw_thermal_slowdown",
            ],
            Plain,
            "The hardware slows down because it is too hot.",
            clocks::hw_thermal_slowdown,
        ),
        field(
            &[
                "clocks_event_reasons.hw_power_brake_slowdown",
                "clocks_throttle_reasons.hw_power_brake_slowdown",
            ],
            Plain,
            "The hardware slows down because the power supply says so.",
            clocks::hw_power_brake_slowdown,
        ),
        field(
            &[
                "clocks_event_reasons.sw_thermal_slowdown",
                "clocks_throttle_reasons.sw_thermal_slowdown",
            ],
            Plain,
            "The driver slows down because the GPU or its memory is too hot.",
            clocks::sw_thermal_slowdown,
        ),
        field(
            &[
                "clocks_event_reasons.sync_boost",
                "clocks_throttle_reasons.sync_boost",
            ],
            Plain,
            "The GPU keeps step with the others of its sync boost group.",
            clocks::sync_boost,
        ),
    ],
};

pub const REASON_TIMES: Group<()> = Group {
    about: "For how long, since the driver was loaded, a reason has held the clocks down",
    fields: &[
        field(
            &["clocks_event_reasons_counters.sw_power_cap"],
            Microseconds,
            "By the power limit.",
            clocks::sw_power_cap_time,
        ),
        field(
            &["clocks_event_reasons_counters.sync_boost"],
            Microseconds,
            "By the sync boost group.",
            clocks::sync_boost_time,
        ),
        field(
            &["clocks_event_reasons_counters.sw_thermal_slowdown"],
            Microseconds,
            "By the driver, because of heat.",
            clocks::sw_thermal_slowdown_time,
        ),
        field(
            &["clocks_event_reasons_counters.hw_thermal_slowdown"],
            Microseconds,
            "By the hardware, because of heat.",
            clocks::hw_thermal_slowdown_time,
        ),
        field(
            &["clocks_event_reasons_counters.hw_power_brake_slowdown"],
            Microseconds,
            "By the hardware, because of the power supply.",
            clocks::hw_power_brake_time,
        ),
    ],
};

pub const MEMORY: Group<()> = Group {
    about: "The GPU's memory (frame buffer), whose reserved, used and free add up to the total, and computing",
    fields: &[
        field(&["memory.total"], Mebibytes, "All of it.", memory::total),
        field(
            &["memory.reserved"],
            Mebibytes,
            "Kept by the driver and the firmware.",
            memory::reserved,
        ),
        field(&["memory.used"], Mebibytes, "Allocated.", memory::used),
        field(&["memory.free"], Mebibytes, "Free.", memory::free),
        field(
            &["compute_mode"],
            Plain,
            "How many processes may compute on it at once.",
            modes::compute,
        ),
        field(
            &["compute_cap"],
            Plain,
            "CUDA compute capability.",
            board::compute_capability,
        ),
    ],
};

pub const UTILIZATION: Group<()> = Group {
    about: "How busy the GPU was in the last sample, which is between 1/6 s and 1 s long",
    fields: &[
        field(
            &["utilization.gpu"],
            Percent,
            "Share of the time in which a kernel ran.",
            load::gpu,
        ),
        field(
            &["utilization.memory"],
            Percent,
            "Share of the time in which memory was read or written.",
            load::memory,
        ),
        field(
            &["utilization.encoder"],
            Percent,
            "Share of the video encoders.",
            load::encoder,
        ),
        field(
            &["utilization.decoder"],
            Percent,
            "Share of the video decoders.",
            load::decoder,
        ),
        field(
            &["utilization.jpeg"],
            Percent,
            "Share of the JPEG engines.",
            load::jpeg,
        ),
        field(
            &["utilization.ofa"],
            Percent,
            "Share of the optical flow engines.",
            load::ofa,
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
            load::encoder_sessions,
        ),
        field(
            &["encoder.stats.averageFps"],
            Plain,
            "Frames a second, averaged over them.",
            load::encoder_fps,
        ),
        field(
            &["encoder.stats.averageLatency"],
            Plain,
            "Microseconds a frame, averaged over them.",
            load::encoder_latency,
        ),
    ],
};
