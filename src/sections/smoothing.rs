//! Power smoothing, which keeps the draw from jumping (Blackwell and later).

use super::row::{Row, group, group_or_word, line, number};
use crate::facts::Context;
use crate::facts::smoothing::{CURRENT_PROFILE, is_on, percent, plain, rate};
use crate::nvml::{FieldNumber, Reading};
use crate::value::Unit::{Milliseconds, Watts, WattsPerSecond};
use crate::value::{Unit, enabled, yes};

const PLAIN: Unit = Unit::None;

/// `NVML_FI_PWR_SMOOTHING_ENABLED`.
const ENABLED: u32 = 251;

fn field(context: &Context<()>, id: u32) -> Reading<FieldNumber> {
    context.gpu.field(id, CURRENT_PROFILE)
}

/// One row a number: label, tag, unit and how it is read, `NVML_FI_PWR_SMOOTHING_*`.
macro_rules! rows {
    ($($label:literal, $tag:literal, $kind:ident, $id:literal;)*) => {
        &[$(row!($label, concat!("power_smoothing_", $tag), $kind, $id),)*]
    };
}

macro_rules! row {
    ($label:literal, $tag:expr, Percent, $id:literal) => {
        line($label, $tag, |context| {
            field(context, $id).map(|number| percent(number, 2))
        })
    };
    ($label:literal, $tag:expr, FinePercent, $id:literal) => {
        line($label, $tag, |context| {
            field(context, $id).map(|number| percent(number, 12))
        })
    };
    ($label:literal, $tag:expr, Rate, $id:literal) => {
        number($label, $tag, WattsPerSecond, |context| {
            field(context, $id).map(rate)
        })
    };
    ($label:literal, $tag:expr, $unit:ident, $id:literal) => {
        number($label, $tag, $unit, |context| {
            field(context, $id).map(plain)
        })
    };
}

pub const SMOOTHING: &[Row<()>] = &[group_or_word(
    "Power Smoothing",
    "power_smoothing",
    // A board without it, and a user who may not know, have one line.
    |context| field(context, ENABLED).map(|_| ()),
    &[
        line("Enabled", "power_smoothing_enabled", |context| {
            is_on(context, ENABLED).map(yes)
        }),
        line(
            "Delayed Power Smoothing Supported",
            "power_smoothing_delayed_power_smoothing_supported",
            |context| is_on(context, 280).map(yes),
        ),
        line("Privilege Level", "power_smoothing_priv_level", |context| {
            field(context, 252).map(plain)
        }),
        line(
            "Immediate Ramp Down",
            "power_smoothing_imm_ramp_down",
            |context| is_on(context, 253).map(enabled),
        ),
        group("", "", LIMITS),
        group(
            "Current Profile",
            "power_smoothing_current_profile",
            CURRENT,
        ),
        line(
            "Active Preset Profile Number",
            "power_smoothing_active_profile",
            |context| field(context, 264).map(plain),
        ),
        group(
            "Admin Overrides",
            "power_smoothing_admin_overrides",
            OVERRIDES,
        ),
    ],
)];

const LIMITS: &[Row<()>] = rows! {
    "Current TMP", "curr_tmp", Watts, 254;
    "Current TMP Floor", "curr_tmp_floor", Watts, 255;
    "Max % TMP Floor", "max_percent_tmp_floor", Percent, 256;
    "Min % TMP Floor", "min_percent_tmp_floor", Percent, 257;
    "HW Lifetime % Remaining", "hw_circuitry_percent_lifetime_remaining", FinePercent, 258;
    "Current Primary Power Floor", "curr_primary_power_floor", Watts, 275;
    "Current Secondary Power Floor", "curr_secondary_power_floor", Watts, 276;
    "Min Primary Floor Activation Offset", "min_primary_floor_activation_offset", Watts, 277;
    "Min Primary Floor Activation Point", "min_primary_floor_activation_point", Watts, 278;
    "Window Multiplier", "window_multiplier", Milliseconds, 279;
    "Number of Preset Profiles", "num_preset_profiles", PLAIN, 259;
};

const CURRENT: &[Row<()>] = rows! {
    "% TMP Floor", "curr_profile_percent_tmp_floor", Percent, 260;
    "Ramp Up Rate", "curr_profile_ramp_up_rate", Rate, 261;
    "Ramp Down Rate", "curr_profile_ramp_down_rate", Rate, 262;
    "Ramp Down Hysteresis", "curr_profile_ramp_down_hysteresis", Milliseconds, 263;
    "Secondary Power Floor", "curr_profile_secondary_power_floor", Watts, 281;
    "Primary Floor Activation Window Multiplier", "curr_profile_primary_floor_activation_window_multiplier", PLAIN, 282;
    "Primary Floor Target Window Multiplier", "curr_profile_primary_floor_target_window_multiplier", PLAIN, 283;
    "Primary Floor Activation Offset", "curr_profile_primary_floor_activatin_offset", Watts, 284;
};

const OVERRIDES: &[Row<()>] = rows! {
    "% TMP Floor", "admin_override_percent_tmp_floor", Percent, 265;
    "Ramp Up Rate", "admin_override_ramp_up_rate", Rate, 266;
    "Ramp Down Rate", "admin_override_ramp_down_rate", Rate, 267;
    "Ramp Down Hysteresis", "admin_override_ramp_down_hysteresis", Milliseconds, 268;
    "Secondary Power Floor", "admin_override_secondary_power_floor", Watts, 285;
    "Primary Floor Activation Window Multiplier", "admin_override_primary_floor_activation_window_multiplier", PLAIN, 286;
    "Primary Floor Target Window Multiplier", "admin_override_primary_floor_target_window_multiplier", PLAIN, 287;
    "Primary Floor Activation Offset", "admin_override_primary_floor_activation_offset", Watts, 288;
};
