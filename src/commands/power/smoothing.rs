//! `power-smoothing`: settings of what keeps the draw from jumping.

use super::{Change, end, failed, one_at_a_time};
use crate::cli::Takes::{Nothing, Text};
use crate::cli::number::uint;
use crate::cli::{DRY_RUN, ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::commands::begin;
use crate::commands::modify::{Named, named};
use crate::error::{Error, Status};
use crate::facts::smoothing::{percent, plain, rate};
use crate::nvml::{FieldNumber, Gpu, Missing, Reading};
use crate::output::{self, Say};
use crate::render::spelt;
use crate::value::Unit;

/// `power-smoothing`.
#[rustfmt::skip]
pub static POWER_SMOOTHING: Subcommand = Subcommand {
    name: "power-smoothing",
    about: "Power smoothing",
    notes: "It keeps the draw from jumping. Beside -p any number of its values, else one change\nor question at a time.",
    options: &[
        ID,
        opt("-p --profile", Text, "N", "The preset profile that the values are for"),
        opt("-spp --set-preset-profile", Text, "N", "Put this preset profile in force"),
        opt("-ptf --percent-tmp-floor", Text, "PERCENT", "Floor, in percent of the TMP, as 55.44"),
        opt("-rur --ramp-up-rate", Text, "RATE", "Ramp up rate, mW/s"),
        opt("-rdr --ramp-down-rate", Text, "RATE", "Ramp down rate, mW/s"),
        opt("-rdh --ramp-down-hysteresis", Text, "MS", "How long until it ramps down, ms"),
        opt("-ppd --print-profile-definitions", Nothing, "", "The values of the preset profiles"),
        opt("-s --state", Text, "STATE", "0/DISABLED, 1/ENABLED"),
        opt("-spf --secondary-power-floor", Text, "MW", "Secondary power floor, mW"),
        opt("-pfawm --primary-floor-act-win-mult", Text, "FACTOR", "Window multiplier for going up to the primary floor"),
        opt("-pftwm --primary-floor-tar-win-mult", Text, "FACTOR", "Window multiplier for the primary floor's target"),
        opt("-pfao --primary-floor-act-offset", Text, "MW", "Offset at which the primary floor begins, mW"),
        DRY_RUN,
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Command,
    run: Run::Once(power_smoothing),
};

/// What `power-smoothing` asks for.
#[derive(Debug, PartialEq)]
enum Smoothing {
    /// `-ppd`: the preset profiles.
    Definitions,
    /// A setting.
    Set(Setting),
}

/// What `power-smoothing` can set.
#[derive(Debug, PartialEq)]
enum Setting {
    /// `-s`: on or off.
    State(bool),
    /// `-spp`: put a profile in force.
    Activate(u32),
    /// `-p` with values for the profile.
    Update {
        /// The profile.
        profile: u32,
        /// Values in the units of their options.
        values: Vec<(&'static Parameter, f64)>,
    },
}

/// A value of a preset profile.
#[derive(Debug)]
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
    /// How it is spelt.
    spell: fn(Reading<FieldNumber>) -> String,
}

impl PartialEq for Parameter {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

#[rustfmt::skip]
static PARAMETERS: &[Parameter] = &[
    Parameter { word: PERCENT, label: "% Tmp Floor", id: 0, scale: 1.0, field: 260, spell: share },
    Parameter { word: "ramp-up-rate", label: "Ramp Up Rate", id: 1, scale: 1000.0, field: 261, spell: pace },
    Parameter { word: "ramp-down-rate", label: "Ramp Down Rate", id: 2, scale: 1000.0, field: 262, spell: pace },
    Parameter { word: "ramp-down-hysteresis", label: "Ramp Down Hysteresis", id: 3, scale: 1.0, field: 263, spell: milliseconds },
    Parameter { word: "secondary-power-floor", label: "Secondary Power Floor", id: 4, scale: 1000.0, field: 281, spell: watts },
    Parameter { word: "primary-floor-act-win-mult", label: "Primary Floor Activation Window Multiplier", id: 5, scale: 1.0, field: 282, spell: factor },
    Parameter { word: "primary-floor-tar-win-mult", label: "Primary Floor Target Window Multiplier", id: 6, scale: 1.0, field: 283, spell: factor },
    Parameter { word: "primary-floor-act-offset", label: "Primary Floor Activation Offset", id: 7, scale: 1000.0, field: 284, spell: watts },
];

/// Whether smoothing is on.
const ENABLED: u32 = 251;
/// How many preset profiles there can be.
const PRESETS: u32 = 5;
/// How many there are.
const PROFILES: u32 = 259;
/// Which of them is in force.
const ACTIVE_PROFILE: u32 = 264;

const UNSUPPORTED: &str = "Power Smoothing is not supported on this device.\n";

/// The option that sets a share.
const PERCENT: &str = "percent-tmp-floor";

fn power_smoothing(line: &Line) -> anyhow::Result<Status> {
    let mut changes = vec!["state", "set-preset-profile", "profile"];
    changes.extend(PARAMETERS.iter().map(|known| known.word));
    let dry_run = line.dry_run(&changes)?;
    let asked = read(line)?;
    let driver = begin::open()?;
    let gpus = begin::select(&driver, line.text("id"))?;
    output::as_it_happens(|say| smoothing(&gpus, &asked, dry_run, say))
}

fn read(line: &Line) -> Result<Smoothing, Error> {
    let asked = line.commands();
    let number = |word| {
        let text = line.text(word).unwrap_or_default();
        uint(text).ok_or_else(|| line.invalid(word))
    };
    let has = |parameter: &&Parameter| asked.contains(&parameter.word);
    let values: Vec<&'static Parameter> = PARAMETERS.iter().filter(has).collect();
    let others: Vec<&'static str> = asked
        .iter()
        .filter(|word| PARAMETERS.iter().all(|known| known.word != **word))
        .filter(|word| **word != "profile")
        .copied()
        .collect();
    match (&*others, line.has("profile")) {
        ([], true) if !values.is_empty() => Ok(Smoothing::Set(Setting::Update {
            profile: number("profile")?,
            values: values
                .into_iter()
                .map(|known| Ok((known, value(line, known.word)?)))
                .collect::<Result<_, Error>>()?,
        })),
        ([], true) => Err(Error::refused("Nothing to set for the profile of -p.\n")),
        ([], false) => Err(Error::refused("Must specify -p with this option.\n")),
        (["print-profile-definitions"], false) if values.is_empty() => Ok(Smoothing::Definitions),
        (["set-preset-profile"], false) if values.is_empty() => Ok(Smoothing::Set(
            Setting::Activate(number("set-preset-profile")?),
        )),
        (["state"], false) if values.is_empty() => match number("state")? {
            state @ (0 | 1) => Ok(Smoothing::Set(Setting::State(state == 1))),
            _ => Err(line.invalid("state")),
        },
        _ => Err(one_at_a_time()),
    }
}

/// A number of 0 or above; a share of at most 100.
fn value(line: &Line, word: &str) -> Result<f64, Error> {
    let text = line.text(word).unwrap_or_default();
    let most = if word == PERCENT { 100.0 } else { f64::MAX };
    match text.parse() {
        Ok(value) if (0.0..=most).contains(&value) => Ok(value),
        _ => Err(line.invalid(word)),
    }
}

/// Does what the line asks for.
fn smoothing(gpus: &[Gpu], asked: &Smoothing, dry_run: bool, say: Say) -> Result<(), Error> {
    let gpus = named(gpus)?;
    match asked {
        Smoothing::Definitions => definitions(&gpus, say),
        Smoothing::Set(setting) => {
            set(&gpus, setting, dry_run, say)?;
            end(dry_run, say);
            Ok(())
        }
    }
}

fn set(gpus: &[Named], setting: &Setting, dry_run: bool, say: Say) -> Result<(), Error> {
    match setting {
        Setting::State(on) => {
            let [wish, done] = if *on {
                ["enable power smoothing", "Enabled power smoothing"]
            } else {
                ["disable power smoothing", "Disabled power smoothing"]
            };
            let now = |gpu: &Gpu| {
                gpu.field_number(ENABLED, 0)
                    .map(|state| on_or_off(state != 0))
            };
            change(wish, done, &now, &|gpu| gpu.set_power_smoothing(*on)).make(gpus, dry_run, say)
        }
        Setting::Activate(profile) => {
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
        Setting::Update { profile, values } => {
            there(gpus, *profile)?;
            for (parameter, value) in values {
                let word = parameter.word;
                let what = format!("{word} of power smoothing profile {profile} to {value}");
                let (wish, done) = (format!("set {what}"), format!("Set {what}"));
                let now = |gpu: &Gpu| {
                    let value = gpu.field(parameter.field, *profile);
                    Ok(format!("it is {}", (parameter.spell)(value)))
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

fn share(number: Reading<FieldNumber>) -> String {
    spelt(&number.map(|number| percent(number, 2)), Unit::None)
}

fn pace(number: Reading<FieldNumber>) -> String {
    spelt(&number.map(rate), Unit::WattsPerSecond)
}

fn milliseconds(number: Reading<FieldNumber>) -> String {
    spelt(&number.map(plain), Unit::Milliseconds)
}

fn watts(number: Reading<FieldNumber>) -> String {
    spelt(&number.map(plain), Unit::Watts)
}

fn factor(number: Reading<FieldNumber>) -> String {
    spelt(&number.map(plain), Unit::None)
}

/// The preset profiles of each GPU, those that it does not have too.
fn definitions(gpus: &[Named], say: Say) -> Result<(), Error> {
    for (gpu, _) in gpus {
        match gpu.field_number(PROFILES, 0) {
            Ok(_) => {}
            // As the real one ends.
            Err(Missing::NotSupported) => {
                say(UNSUPPORTED);
                return Ok(());
            }
            Err(missing) => return Err(unread(missing)),
        }
        let mut text = String::new();
        for profile in 0..PRESETS {
            text += &format!("    Preset Profile {profile} Definition\n");
            for parameter in PARAMETERS {
                let value = (parameter.spell)(gpu.field(parameter.field, profile));
                text += &format!("            {:<43}: {value}\n", parameter.label);
            }
        }
        say(&text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::refused;
    use super::*;
    use crate::cli::line;

    #[test]
    fn values_need_their_profile() {
        let update = Smoothing::Set(Setting::Update {
            profile: 2,
            values: vec![(&PARAMETERS[0], 55.44), (&PARAMETERS[1], 1000.0)],
        });
        let asked = line(&POWER_SMOOTHING, "-rur 1000 -p 2 -ptf 55.44 -i 0");
        assert_eq!(asked.and_then(|line| read(&line)), Ok(update));
        for text in [
            "-ptf 50",
            "-p 1",
            "-p 1 -ptf 100.01",
            "-p 1 -ptf nan",
            "-p 1 -rur -5",
            "-p 1 -rur inf",
            "-p x -rur 5",
            "-s 2",
            "-s on",
            "-s 1 -spp 1",
            "-p 1 -spp 1",
            "-ppd -rur 5",
            "-l",
        ] {
            assert!(refused(&POWER_SMOOTHING, text, read), "{text}");
        }
    }
}
