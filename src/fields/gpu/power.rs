//! Heat, power and clocks.

use crate::fields::{Group, Row, field};
use crate::nvml::{Clock, FieldNumber, Missing, Reading};
use crate::value::Unit::{Megahertz, Milliseconds, None as Plain, Watts};
use crate::value::{Value, enabled, yes};

/// `NVML_FI_DEV_MEMORY_TEMP`.
const MEMORY_TEMP: u32 = 82;
/// `NVML_FI_DEV_POWER_*`; scope 0 is the GPU, 1 the module it sits on.
const POWER_AVERAGE: u32 = 185;
const POWER_INSTANT: u32 = 186;
const POWER_MIN_LIMIT: u32 = 187;
const POWER_MAX_LIMIT: u32 = 188;
const POWER_DEFAULT_LIMIT: u32 = 189;
const POWER_CURRENT_LIMIT: u32 = 190;
const POWER_REQUESTED_LIMIT: u32 = 192;
const GPU: u32 = 0;
const MODULE: u32 = 1;

pub const TEMPERATURE: Group<()> = Group {
    about: "Degrees Celsius",
    fields: &[
        field(
            &["temperature.gpu"],
            Plain,
            "Temperature of the GPU.",
            |row| row.gpu.temperature().map(Value::from),
        ),
        field(
            &["temperature.gpu.tlimit"],
            Plain,
            "Degrees left before the GPU slows down.",
            |row| row.gpu.temperature_margin().map(Value::from),
        ),
        field(
            &["temperature.memory"],
            Plain,
            "Temperature of the memory (HBM).",
            |row| match row.gpu.field_number(MEMORY_TEMP, 0) {
                Err(Missing::NotSupported) => Ok(Value::word("N/A")),
                reading => reading.map(Value::from),
            },
        ),
    ],
};

fn watts(row: &Row<()>, id: u32, scope: u32) -> Reading<Value> {
    row.gpu
        .field_number(id, scope)
        .map(|milliwatts| Value::watts(milliwatts as f64))
}

pub const POWER: Group<()> = Group {
    about: "Power of the GPU",
    fields: &[
        field(
            &["power.management"],
            Plain,
            "Whether the GPU manages its power.",
            |row| row.gpu.power_management().map(enabled),
        ),
        field(
            &["power.draw"],
            Watts,
            "Draw of the whole board; averaged over a second since Ampere.",
            |row| row.gpu.power_usage().map(Value::watts),
        ),
        field(
            &["power.draw.average", "gpu.power.draw.average"],
            Watts,
            "Draw, averaged over a second.",
            |row| watts(row, POWER_AVERAGE, GPU),
        ),
        field(
            &["power.draw.instant", "gpu.power.draw.instant"],
            Watts,
            "Draw at this instant.",
            |row| watts(row, POWER_INSTANT, GPU),
        ),
        field(
            &["power.limit", "gpu.power.requested_limit"],
            Watts,
            "Limit that was asked for, with -pl.",
            |row| row.gpu.power_limit().map(Value::watts),
        ),
        field(
            &["enforced.power.limit", "gpu.power.current_limit"],
            Watts,
            "Limit in force, the lowest of all.",
            |row| row.gpu.enforced_power_limit().map(Value::watts),
        ),
        field(
            &["power.default_limit", "gpu.power.default_limit"],
            Watts,
            "Limit that the board starts with.",
            |row| row.gpu.default_power_limit().map(Value::watts),
        ),
        field(
            &["power.min_limit", "gpu.power.min_limit"],
            Watts,
            "Lowest limit that can be asked for.",
            |row| {
                row.gpu
                    .power_limit_range()
                    .map(|(low, _)| Value::watts(low))
            },
        ),
        field(
            &["power.max_limit", "gpu.power.max_limit"],
            Watts,
            "Highest limit that can be asked for.",
            |row| {
                row.gpu
                    .power_limit_range()
                    .map(|(_, high)| Value::watts(high))
            },
        ),
    ],
};

pub const MODULE_POWER: Group<()> = Group {
    about: "Power of the module, the CPU beside the GPU included (Grace Hopper and later)",
    fields: &[
        field(
            &["module.power.draw.average"],
            Watts,
            "Draw, averaged over a second.",
            |row| watts(row, POWER_AVERAGE, MODULE),
        ),
        field(
            &["module.power.draw.instant"],
            Watts,
            "Draw at this instant.",
            |row| watts(row, POWER_INSTANT, MODULE),
        ),
        field(
            &["module.power.limit", "module.power.requested_limit"],
            Watts,
            "Limit that was asked for.",
            |row| watts(row, POWER_REQUESTED_LIMIT, MODULE),
        ),
        field(
            &["module.enforced.power.limit", "module.power.current_limit"],
            Watts,
            "Limit in force.",
            |row| watts(row, POWER_CURRENT_LIMIT, MODULE),
        ),
        field(
            &["module.power.default_limit"],
            Watts,
            "Limit that the module starts with.",
            |row| watts(row, POWER_DEFAULT_LIMIT, MODULE),
        ),
        field(
            &["module.power.min_limit"],
            Watts,
            "Lowest limit that can be asked for.",
            |row| watts(row, POWER_MIN_LIMIT, MODULE),
        ),
        field(
            &["module.power.max_limit"],
            Watts,
            "Highest limit that can be asked for.",
            |row| watts(row, POWER_MAX_LIMIT, MODULE),
        ),
    ],
};

/// The profile in use, as the scope of a power smoothing question.
const CURRENT_PROFILE: u32 = 5;

/// A power smoothing number: watts come as floating-point numbers.
fn smoothing(row: &Row<()>, id: u32, scope: u32) -> Reading<Value> {
    row.gpu.field(id, scope).map(|number| match number {
        FieldNumber::Whole(number) => number.into(),
        FieldNumber::Real(number) => Value::Hundredths(number),
    })
}

/// One row a number: name, unit, `NVML_FI_PWR_SMOOTHING_*`, scope.
macro_rules! smoothing {
    ($name:literal, $unit:ident, $help:literal, $id:literal, $scope:expr) => {
        field(&[concat!("power_smoothing.", $name)], $unit, $help, |row| {
            smoothing(row, $id, $scope)
        })
    };
}

pub const SMOOTHING: Group<()> = Group {
    about: "Power smoothing, which keeps the draw from jumping (Blackwell and later)",
    fields: &[
        field(
            &["power_smoothing.delayed_power_smoothing_supported"],
            Plain,
            "Whether smoothing with a delay is possible.",
            |row| row.gpu.field_number(280, 0).map(|can| yes(can != 0)),
        ),
        smoothing!("primary_power_floor", Watts, "First power floor.", 275, 0),
        smoothing!(
            "secondary_power_floor",
            Watts,
            "Second power floor.",
            276,
            0
        ),
        smoothing!(
            "min_primary_floor_activation_offset",
            Watts,
            "Lowest offset that activates the first floor.",
            277,
            0
        ),
        smoothing!(
            "min_primary_floor_activation_point",
            Watts,
            "Lowest draw that activates the first floor.",
            278,
            0
        ),
        smoothing!(
            "window_multiplier",
            Milliseconds,
            "Length that windows are multiples of.",
            279,
            0
        ),
        smoothing!(
            "curr_profile.secondary_power_floor",
            Watts,
            "Second floor of the profile in use.",
            281,
            CURRENT_PROFILE
        ),
        smoothing!(
            "curr_profile.primary_floor_act_window_multiplier",
            Plain,
            "Windows before the profile's first floor is activated.",
            282,
            CURRENT_PROFILE
        ),
        smoothing!(
            "curr_profile.primary_floor_tar_window_multiplier",
            Plain,
            "Windows over which the profile's first floor is aimed at.",
            283,
            CURRENT_PROFILE
        ),
        smoothing!(
            "curr_profile.primary_floor_act_offset",
            Watts,
            "Activation offset of the profile's first floor.",
            284,
            CURRENT_PROFILE
        ),
        smoothing!(
            "admin_override.secondary_power_floor",
            Watts,
            "Second floor that an administrator set.",
            285,
            0
        ),
        smoothing!(
            "admin_override.primary_floor_act_window_multiplier",
            Plain,
            "Windows that an administrator set before the first floor is activated.",
            286,
            0
        ),
        smoothing!(
            "admin_override.primary_floor_tar_window_multiplier",
            Plain,
            "Windows that an administrator set for aiming at the first floor.",
            287,
            0
        ),
        smoothing!(
            "admin_override.primary_floor_act_offset",
            Watts,
            "Activation offset that an administrator set.",
            288,
            0
        ),
    ],
};

pub const CLOCKS: Group<()> = Group {
    about: "Clocks: now, as set for applications, as set by default, and at most",
    fields: &[
        field(
            &["clocks.current.graphics", "clocks.gr"],
            Megahertz,
            "Graphics (shaders).",
            |row| row.gpu.clock(Clock::Graphics).map(Value::from),
        ),
        field(
            &["clocks.current.sm", "clocks.sm"],
            Megahertz,
            "Streaming multiprocessors.",
            |row| row.gpu.clock(Clock::SM).map(Value::from),
        ),
        field(
            &["clocks.current.memory", "clocks.mem"],
            Megahertz,
            "Memory.",
            |row| row.gpu.clock(Clock::Memory).map(Value::from),
        ),
        field(
            &["clocks.current.video", "clocks.video"],
            Megahertz,
            "Video encoders and decoders.",
            |row| row.gpu.clock(Clock::Video).map(Value::from),
        ),
        field(
            &["clocks.applications.graphics", "clocks.applications.gr"],
            Megahertz,
            "Graphics, for applications.",
            |row| row.gpu.application_clock(Clock::Graphics).map(Value::from),
        ),
        field(
            &["clocks.applications.memory", "clocks.applications.mem"],
            Megahertz,
            "Memory, for applications.",
            |row| row.gpu.application_clock(Clock::Memory).map(Value::from),
        ),
        field(
            &[
                "clocks.default_applications.graphics",
                "clocks.default_applications.gr",
            ],
            Megahertz,
            "Graphics, for applications by default.",
            |row| {
                row.gpu
                    .default_application_clock(Clock::Graphics)
                    .map(Value::from)
            },
        ),
        field(
            &[
                "clocks.default_applications.memory",
                "clocks.default_applications.mem",
            ],
            Megahertz,
            "Memory, for applications by default.",
            |row| {
                row.gpu
                    .default_application_clock(Clock::Memory)
                    .map(Value::from)
            },
        ),
        field(
            &["clocks.max.graphics", "clocks.max.gr"],
            Megahertz,
            "Graphics, at most.",
            |row| row.gpu.max_clock(Clock::Graphics).map(Value::from),
        ),
        field(
            &["clocks.max.sm"],
            Megahertz,
            "Streaming multiprocessors, at most.",
            |row| row.gpu.max_clock(Clock::SM).map(Value::from),
        ),
        field(
            &["clocks.max.memory", "clocks.max.mem"],
            Megahertz,
            "Memory, at most.",
            |row| row.gpu.max_clock(Clock::Memory).map(Value::from),
        ),
    ],
};
