//! Names that drivers from 470 to 610 have or had but R580 has not: accepted,
//! with a value where NVML still has one.

use crate::facts::words::word;
use crate::facts::{Context, board};
use crate::fields::{Field, Group, field};
use crate::nvml::{FieldNumber, Missing, Reading};
use crate::value::Unit::{Megahertz, Milliseconds, None as Plain, Percent, Watts};
use crate::value::{Value, enabled, yes};

pub const FIELDS: Group<()> = Group {
    about: "Names from older and newer drivers",
    fields: ROWS,
};

/// What NVML no longer or never answered.
fn gone(_: &Context<()>) -> Reading<Value> {
    Err(Missing::NotSupported)
}

/// `NVML_FI_PWR_SMOOTHING_*` with its numbers of R580.82 and later.
macro_rules! smoothing {
    ($name:literal, $unit:ident, $help:literal, $id:literal, $show:expr) => {
        field(
            &[concat!("power_smoothing.", $name)],
            $unit,
            $help,
            |context| {
                let show: fn(f64) -> Value = $show;
                context.gpu.field($id, 5).map(|number| {
                    show(match number {
                        FieldNumber::Whole(number) => number as f64,
                        FieldNumber::Real(number) => number,
                    })
                })
            },
        )
    };
}

fn whole(number: f64) -> Value {
    Value::Whole(number as i128)
}

fn on(number: f64) -> Value {
    enabled(number != 0.0)
}

const ROWS: &[Field<()>] = &[
    field(
        &["kmd_version"],
        Plain,
        "Version of the kernel driver.",
        board::driver_version,
    ),
    field(
        &["reset_status.reset_required"],
        Plain,
        "Whether the GPU has to be reset.",
        |context| {
            context
                .gpu
                .field_number(226, 0)
                .map(|needed| yes(needed != 0))
        },
    ),
    field(
        &["reset_status.drain_and_reset_recommended"],
        Plain,
        "Whether the GPU should be reset once its work is done.",
        |context| {
            context
                .gpu
                .field_number(227, 0)
                .map(|needed| yes(needed != 0))
        },
    ),
    field(
        &["edpp_multiplier"],
        Percent,
        "Peak power in percent of the limit.",
        gone,
    ),
    field(
        &["bbx.time_run"],
        Plain,
        "How long the board has been running.",
        gone,
    ),
    field(&["gpu.base.current"], Megahertz, "Base clock now.", gone),
    field(
        &["gpu.base.default"],
        Megahertz,
        "Base clock by default.",
        gone,
    ),
    field(&["gpu.base.max"], Megahertz, "Base clock at most.", gone),
    field(&["gpu.base.min"], Megahertz, "Base clock at least.", gone),
    field(
        &["gpu.base.requested"],
        Megahertz,
        "Base clock that was asked for.",
        gone,
    ),
    field(
        &["power_smoothing.soc_power_smoothing_enabled"],
        Plain,
        "Whether power smoothing of the whole module is on.",
        gone,
    ),
    smoothing!("enabled", Plain, "Whether power smoothing is on.", 251, on),
    field(
        &["power_smoothing.priv_level"],
        Plain,
        "Who may change it.",
        |context| {
            word(
                context.gpu.field_number(252, 5)? as u32,
                &["None", "User", "Admin"],
            )
        },
    ),
    smoothing!(
        "imm_ramp_down",
        Plain,
        "Whether power may drop at once.",
        253,
        on
    ),
    smoothing!(
        "tmp_ceil",
        Watts,
        "Highest draw in force.",
        254,
        Value::Hundredths
    ),
    smoothing!(
        "tmp_floor",
        Watts,
        "Lowest draw in force.",
        255,
        Value::Hundredths
    ),
    smoothing!(
        "max_percent_tmp_floor",
        Percent,
        "Highest floor that can be asked for.",
        256,
        Value::Hundredths
    ),
    smoothing!(
        "min_percent_tmp_floor",
        Percent,
        "Lowest floor that can be asked for.",
        257,
        Value::Hundredths
    ),
    smoothing!(
        "hw_lifetime_remaining_percent",
        Percent,
        "What is left of the circuit's life.",
        258,
        Value::Hundredths
    ),
    smoothing!(
        "num_preset_profiles",
        Plain,
        "How many profiles there are.",
        259,
        whole
    ),
    smoothing!("active_profile", Plain, "Profile in use.", 264, whole),
    smoothing!(
        "curr_profile.percent_tmp_floor",
        Percent,
        "Floor of the profile in use.",
        260,
        Value::Hundredths
    ),
    smoothing!(
        "curr_profile.ramp_up_rate",
        Plain,
        "How fast power may rise, mW/s.",
        261,
        whole
    ),
    smoothing!(
        "curr_profile.ramp_down_rate",
        Plain,
        "How fast power may fall, mW/s.",
        262,
        whole
    ),
    smoothing!(
        "curr_profile.ramp_down_hysteresis",
        Milliseconds,
        "Wait before power falls.",
        263,
        whole
    ),
    smoothing!(
        "admin_override.percent_tmp_floor",
        Percent,
        "Floor that an administrator set.",
        265,
        Value::Hundredths
    ),
    smoothing!(
        "admin_override.ramp_up_rate",
        Plain,
        "Rise that an administrator set, mW/s.",
        266,
        whole
    ),
    smoothing!(
        "admin_override.ramp_down_rate",
        Plain,
        "Fall that an administrator set, mW/s.",
        267,
        whole
    ),
    smoothing!(
        "admin_override.ramp_down_hysteresis",
        Milliseconds,
        "Wait that an administrator set.",
        268,
        whole
    ),
];
