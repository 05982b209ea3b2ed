//! Names that drivers from 470 to 610 have or had but R580 has not: accepted,
//! with a value where NVML still has one.

use crate::facts::smoothing::{CURRENT_PROFILE, rate, real};
use crate::facts::words::word;
use crate::facts::{board, power};
use crate::fields::{Field, Group, field};
use crate::nvml::FieldNumber;
use crate::value::Unit::{
    Milliseconds, None as Plain, Percent, SecondsInFull, Watts, WattsPerSecond,
};
use crate::value::{Value, enabled, yes};

pub const FIELDS: Group<()> = Group {
    about: "Names from older and newer drivers",
    fields: ROWS,
};

/// `NVML_FI_PWR_SMOOTHING_*` with its numbers of R580.82 and later.
macro_rules! smoothing {
    ($name:literal, $unit:ident, $help:literal, $id:literal, $show:expr) => {
        field(
            &[concat!("power_smoothing.", $name)],
            $unit,
            $help,
            |context| {
                let show: fn(FieldNumber) -> Value = $show;
                power::since(context.gpu.field($id, CURRENT_PROFILE)).map(show)
            },
        )
    };
}

fn whole(number: FieldNumber) -> Value {
    Value::Whole(real(number) as i128)
}

fn hundredths(number: FieldNumber) -> Value {
    Value::Hundredths(real(number))
}

fn on(number: FieldNumber) -> Value {
    enabled(real(number) != 0.0)
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
        "Highest peak power, in percent of the limit.",
        power::edpp_multiplier,
    ),
    field(
        &["bbx.time_run"],
        SecondsInFull,
        "How long a driver has run the board, all in all.",
        board::time_run,
    ),
    field(
        &["gpu.base.current"],
        Watts,
        "Base power in force.",
        power::base_current,
    ),
    field(
        &["gpu.base.default"],
        Watts,
        "Base power that the board starts with.",
        power::base_default,
    ),
    field(
        &["gpu.base.max"],
        Watts,
        "Highest base power that can be asked for.",
        power::base_max,
    ),
    field(
        &["gpu.base.min"],
        Watts,
        "Lowest base power that can be asked for.",
        power::base_min,
    ),
    field(
        &["gpu.base.requested"],
        Watts,
        "Base power that was asked for.",
        power::base_requested,
    ),
    smoothing!(
        "soc_power_smoothing_enabled",
        Plain,
        "Whether power is smoothed by the state of charge.",
        300,
        on
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
    smoothing!("tmp_ceil", Watts, "Highest draw in force.", 254, hundredths),
    smoothing!("tmp_floor", Watts, "Lowest draw in force.", 255, hundredths),
    smoothing!(
        "max_percent_tmp_floor",
        Percent,
        "Highest floor that can be asked for.",
        256,
        hundredths
    ),
    smoothing!(
        "min_percent_tmp_floor",
        Percent,
        "Lowest floor that can be asked for.",
        257,
        hundredths
    ),
    smoothing!(
        "hw_lifetime_remaining_percent",
        Percent,
        "What is left of the circuit's life.",
        258,
        hundredths
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
        hundredths
    ),
    smoothing!(
        "curr_profile.ramp_up_rate",
        WattsPerSecond,
        "How fast power may rise.",
        261,
        rate
    ),
    smoothing!(
        "curr_profile.ramp_down_rate",
        WattsPerSecond,
        "How fast power may fall.",
        262,
        rate
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
        hundredths
    ),
    smoothing!(
        "admin_override.ramp_up_rate",
        WattsPerSecond,
        "Rise that an administrator set.",
        266,
        rate
    ),
    smoothing!(
        "admin_override.ramp_down_rate",
        WattsPerSecond,
        "Fall that an administrator set.",
        267,
        rate
    ),
    smoothing!(
        "admin_override.ramp_down_hysteresis",
        Milliseconds,
        "Wait that an administrator set.",
        268,
        whole
    ),
];
