//! Heat, power and clocks.

use crate::facts::smoothing::{self, CURRENT_PROFILE};
use crate::facts::{clocks, power, temperature};
use crate::fields::{Group, field};
use crate::nvml::Missing;
use crate::value::Unit::{Megahertz, Milliseconds, None as Plain, Watts};
use crate::value::{Value, yes};

pub const TEMPERATURE: Group<()> = Group {
    about: "Degrees Celsius",
    fields: &[
        field(
            &["temperature.gpu"],
            Plain,
            "Temperature of the GPU.",
            temperature::gpu,
        ),
        field(
            &["temperature.gpu.tlimit"],
            Plain,
            "Degrees left before the GPU slows down.",
            temperature::margin,
        ),
        field(
            &["temperature.memory"],
            Plain,
            "Temperature of the memory (HBM).",
            |context| match temperature::memory(context) {
                Err(Missing::NotSupported) => Ok(Value::word("N/A")),
                reading => reading,
            },
        ),
    ],
};

pub const POWER: Group<()> = Group {
    about: "Power of the GPU",
    fields: &[
        field(
            &["power.management"],
            Plain,
            "Whether the GPU manages its power.",
            power::management,
        ),
        field(
            &["power.draw"],
            Watts,
            "Draw of the whole board; averaged over a second since Ampere.",
            power::draw,
        ),
        field(
            &["power.draw.average", "gpu.power.draw.average"],
            Watts,
            "Draw, averaged over a second.",
            power::average,
        ),
        field(
            &["power.draw.instant", "gpu.power.draw.instant"],
            Watts,
            "Draw at this instant.",
            power::instant,
        ),
        field(
            &["power.limit", "gpu.power.requested_limit"],
            Watts,
            "Limit that was asked for, with -pl.",
            power::limit,
        ),
        field(
            &["enforced.power.limit", "gpu.power.current_limit"],
            Watts,
            "Limit in force, the lowest of all.",
            power::enforced_limit,
        ),
        field(
            &["power.default_limit", "gpu.power.default_limit"],
            Watts,
            "Limit that the board starts with.",
            power::default_limit,
        ),
        field(
            &["power.min_limit", "gpu.power.min_limit"],
            Watts,
            "Lowest limit that can be asked for.",
            power::min_limit,
        ),
        field(
            &["power.max_limit", "gpu.power.max_limit"],
            Watts,
            "Highest limit that can be asked for.",
            power::max_limit,
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
            power::module_average,
        ),
        field(
            &["module.power.draw.instant"],
            Watts,
            "Draw at this instant.",
            power::module_instant,
        ),
        field(
            &["module.power.limit", "module.power.requested_limit"],
            Watts,
            "Limit that was asked for.",
            power::module_requested_limit,
        ),
        field(
            &["module.enforced.power.limit", "module.power.current_limit"],
            Watts,
            "Limit in force.",
            power::module_current_limit,
        ),
        field(
            &["module.power.default_limit"],
            Watts,
            "Limit that the module starts with.",
            power::module_default_limit,
        ),
        field(
            &["module.power.min_limit"],
            Watts,
            "Lowest limit that can be asked for.",
            power::module_min_limit,
        ),
        field(
            &["module.power.max_limit"],
            Watts,
            "Highest limit that can be asked for.",
            power::module_max_limit,
        ),
    ],
};

/// One row a number: name, unit, `NVML_FI_PWR_SMOOTHING_*`, scope.
macro_rules! smoothing {
    ($name:literal, $unit:ident, $help:literal, $id:literal, $scope:expr) => {
        field(
            &[concat!("power_smoothing.", $name)],
            $unit,
            $help,
            |context| context.gpu.field($id, $scope).map(smoothing::plain),
        )
    };
}

pub const SMOOTHING: Group<()> = Group {
    about: "Power smoothing, which keeps the draw from jumping (Blackwell and later)",
    fields: &[
        field(
            &["power_smoothing.delayed_power_smoothing_supported"],
            Plain,
            "Whether smoothing with a delay is possible.",
            |context| context.gpu.field_number(280, 0).map(|can| yes(can != 0)),
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
            clocks::graphics,
        ),
        field(
            &["clocks.current.sm", "clocks.sm"],
            Megahertz,
            "Streaming multiprocessors.",
            clocks::sm,
        ),
        field(
            &["clocks.current.memory", "clocks.mem"],
            Megahertz,
            "Memory.",
            clocks::memory,
        ),
        field(
            &["clocks.current.video", "clocks.video"],
            Megahertz,
            "Video encoders and decoders.",
            clocks::video,
        ),
        field(
            &["clocks.applications.graphics", "clocks.applications.gr"],
            Megahertz,
            "Graphics, for applications.",
            clocks::application_graphics,
        ),
        field(
            &["clocks.applications.memory", "clocks.applications.mem"],
            Megahertz,
            "Memory, for applications.",
            clocks::application_memory,
        ),
        field(
            &[
                "clocks.default_applications.graphics",
                "clocks.default_applications.gr",
            ],
            Megahertz,
            "Graphics, for applications by default.",
            clocks::default_application_graphics,
        ),
        field(
            &[
                "clocks.default_applications.memory",
                "clocks.default_applications.mem",
            ],
            Megahertz,
            "Memory, for applications by default.",
            clocks::default_application_memory,
        ),
        field(
            &["clocks.max.graphics", "clocks.max.gr"],
            Megahertz,
            "Graphics, at most.",
            clocks::max_graphics,
        ),
        field(
            &["clocks.max.sm"],
            Megahertz,
            "Streaming multiprocessors, at most.",
            clocks::max_sm,
        ),
        field(
            &["clocks.max.memory", "clocks.max.mem"],
            Megahertz,
            "Memory, at most.",
            clocks::max_memory,
        ),
    ],
};
