//! `power-smoothing`: settings of what keeps the draw from jumping.

use super::{Change, Say, end, failed};
use crate::args::Smoothing;
use crate::commands::modify::{Named, named};
use crate::error::{Error, Status};
use crate::nvml::{FieldNumber, Gpu, Missing, Reading};
use crate::render::spelt;
use crate::value::{Unit, Value};

/// A value of a preset profile.
struct Parameter {
    /// The word of its option.
    word: &'static str,
    label: &'static str,
    /// `NVML_POWER_SMOOTHING_PROFILE_PARAM_*`.
    id: u32,
    /// How many of the option's units are one of NVML's.
    scale: f64,
    /// `NVML_FI_PWR_SMOOTHING_PROFILE_*`, which tells it.
    field: u32,
    /// The unit of the field.
    unit: Unit,
}

#[rustfmt::skip]
const PARAMETERS: &[Parameter] = &[
    Parameter { word: "percent-tmp-floor", label: "% TMP Floor", id: 0, scale: 1.0, field: 260, unit: Unit::Percent },
    Parameter { word: "ramp-up-rate", label: "Ramp Up Rate", id: 1, scale: 1000.0, field: 261, unit: Unit::MilliwattsPerSecond },
    Parameter { word: "ramp-down-rate", label: "Ramp Down Rate", id: 2, scale: 1000.0, field: 262, unit: Unit::MilliwattsPerSecond },
    Parameter { word: "ramp-down-hysteresis", label: "Ramp Down Hysteresis", id: 3, scale: 1.0, field: 263, unit: Unit::Milliseconds },
    Parameter { word: "secondary-power-floor", label: "Secondary Power Floor", id: 4, scale: 1000.0, field: 281, unit: Unit::Watts },
    Parameter { word: "primary-floor-act-win-mult", label: "Primary Floor Activation Window Multiplier", id: 5, scale: 1.0, field: 282, unit: Unit::None },
    Parameter { word: "primary-floor-tar-win-mult", label: "Primary Floor Target Window Multiplier", id: 6, scale: 1.0, field: 283, unit: Unit::None },
    Parameter { word: "primary-floor-act-offset", label: "Primary Floor Activation Offset", id: 7, scale: 1000.0, field: 284, unit: Unit::Watts },
];

/// Whether smoothing is on.
const ENABLED: u32 = 251;
/// How many preset profiles there are.
const PROFILES: u32 = 259;
/// Which of them is in force.
const ACTIVE_PROFILE: u32 = 264;

const UNSUPPORTED: &str = "Power Smoothing feature is not supported on this device.\n";

/// Does what the line asks for.
pub fn smoothing(gpus: &[Gpu], asked: &Smoothing, dry_run: bool, say: Say) -> Result<(), Error> {
    let gpus = named(gpus)?;
    if *asked == Smoothing::Definitions {
        return definitions(&gpus, say);
    }
    set(&gpus, asked, dry_run, say)?;
    end(dry_run, say);
    Ok(())
}

fn set(gpus: &[Named], asked: &Smoothing, dry_run: bool, say: Say) -> Result<(), Error> {
    match asked {
        Smoothing::Definitions => Ok(()),
        Smoothing::State(on) => {
            let [wish, done] = match on {
                true => ["enable power smoothing", "Enabled power smoothing"],
                false => ["disable power smoothing", "Disabled power smoothing"],
            };
            let now = |gpu: &Gpu| {
                gpu.field_number(ENABLED, 0)
                    .map(|state| on_or_off(state != 0))
            };
            change(wish, done, &now, &|gpu| gpu.set_power_smoothing(*on)).make(gpus, dry_run, say)
        }
        Smoothing::Activate(profile) => {
            there(gpus, *profile)?;
            let wish = format!("activate power smoothing profile {profile}");
            let done = format!("Activated power smoothing profile {profile}");
            let now = |gpu: &Gpu| {
                let active = gpu.field_number(ACTIVE_PROFILE, 0)?;
                Ok(format!("{active} is active"))
            };
            change(wish, done, &now, &|gpu| {
                gpu.activate_smoothing_profile(*profile)
            })
            .make(gpus, dry_run, say)
        }
        Smoothing::Update { profile, values } => {
            there(gpus, *profile)?;
            for (word, value) in values {
                let Some(parameter) = PARAMETERS.iter().find(|known| known.word == *word) else {
                    continue;
                };
                let what = format!("{word} of power smoothing profile {profile} to {value}");
                let (wish, done) = (format!("set {what}"), format!("Set {what}"));
                let now = |gpu: &Gpu| {
                    let value = preset(gpu, parameter, *profile);
                    Ok(format!("it is {}", spelt(&value, parameter.unit)))
                };
                change(wish, done, &now, &|gpu| {
                    let value = value / parameter.scale;
                    gpu.update_smoothing_profile(*profile, parameter.id, value)
                })
                .make(gpus, dry_run, say)?;
            }
            Ok(())
        }
    }
}

fn change<'c>(
    wish: impl Into<String>,
    done: impl Into<String>,
    now: &'c dyn Fn(&Gpu) -> Reading<String>,
    set: &'c dyn Fn(&Gpu) -> Reading<()>,
) -> Change<'c> {
    Change {
        wish: wish.into(),
        done: done.into(),
        now,
        by_root: true,
        unsupported: UNSUPPORTED,
        set,
    }
}

fn unread(why: Missing) -> Error {
    failed(
        why,
        "Unable to get Power Smoothing information",
        UNSUPPORTED,
    )
}

/// Refuses a profile that one of the GPUs does not have. A GPU that does not
/// tell how many it has is left to NVML.
fn there(gpus: &[Named], profile: u32) -> Result<(), Error> {
    for (gpu, bus_id) in gpus {
        match gpu.field_number(PROFILES, 0) {
            Ok(count) if i64::from(profile) >= count => {
                let message =
                    format!("There is no power smoothing profile {profile} for GPU {bus_id}\n");
                return Err(Error::new(Status::InvalidArgument, message));
            }
            _ => {}
        }
    }
    Ok(())
}

fn on_or_off(on: bool) -> String {
    ["it is disabled", "it is enabled"][usize::from(on)].to_owned()
}

/// A value of a preset profile.
fn preset(gpu: &Gpu, parameter: &Parameter, profile: u32) -> Reading<Value> {
    Ok(match gpu.field(parameter.field, profile)? {
        FieldNumber::Whole(number) => Value::from(number),
        FieldNumber::Real(number) => Value::Hundredths(number),
    })
}

/// The preset profiles of each GPU.
fn definitions(gpus: &[Named], say: Say) -> Result<(), Error> {
    for (gpu, bus_id) in gpus {
        let count = gpu.field_number(PROFILES, 0).map_err(unread)?;
        let mut text = format!("GPU {bus_id}\n");
        for profile in 0..u32::try_from(count).unwrap_or(0) {
            text += &format!("    Profile {profile}\n");
            for parameter in PARAMETERS {
                let value = spelt(&preset(gpu, parameter, profile), parameter.unit);
                text += &format!("        {:<43}: {value}\n", parameter.label);
            }
        }
        say(&text);
    }
    Ok(())
}
