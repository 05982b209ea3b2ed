//! The command lines of `power-profiles` and `power-smoothing`.

use super::admin::{invalid, refused};
use super::watch::{HELP, ID, Subcommand, opt};
use crate::error::Error;
use crate::nvml::HIGHEST_PROFILE;
use crate::spelling::options::{Opt, Takes};
use crate::spelling::subcommand::Line;
use crate::spelling::uint;

use Takes::{MaybeText, Nothing, Text};

/// What `power-profiles` asks for.
#[derive(Debug, PartialEq)]
pub enum Profiles {
    /// `-l`: the profiles that there are; `-ld`: with what is known of them.
    List {
        /// `-ld`.
        detailed: bool,
    },
    /// `-gr`: those asked for.
    Requested,
    /// `-ge`: those in force.
    Enforced,
    /// `-sr`: ask for these too.
    Request(Vec<u32>),
    /// `-cr`: ask for these no longer, or for none.
    Clear(Option<Vec<u32>>),
}

/// What `power-smoothing` asks for.
#[derive(Debug, PartialEq)]
pub enum Smoothing {
    /// `-ppd`: the preset profiles.
    Definitions,
    /// `-s`: on or off.
    State(bool),
    /// `-spp`: put a profile in force.
    Activate(u32),
    /// `-p` with values for the profile.
    Update {
        /// The profile.
        profile: u32,
        /// Values by the word of their option, in the option's unit.
        values: Vec<(&'static str, f64)>,
    },
}

const DRY_RUN: Opt = opt(
    "--dry-run",
    Nothing,
    "",
    "Say what would be changed, and change nothing",
);

pub(super) const POWER_PROFILES: Subcommand = Subcommand {
    name: "power-profiles",
    about: "Workload power profiles: settings made for a kind of work. One thing at a time.",
    options: &[
        ID,
        opt("-l --list", Nothing, "", "The profiles that the GPUs have"),
        opt(
            "-ld --list-detailed",
            Nothing,
            "",
            "The same with their priorities and conflicts",
        ),
        opt(
            "-gr --get-requested",
            Nothing,
            "",
            "The profiles that were asked for",
        ),
        opt(
            "-sr --set-requested",
            Text,
            "NUMBERS",
            "Ask for these profiles too, with commas between them",
        ),
        opt(
            "-cr --clear-requested",
            MaybeText,
            "NUMBERS",
            "Ask for these profiles no longer; for none without\na number",
        ),
        opt(
            "-ge --get-enforced",
            Nothing,
            "",
            "The profiles that are in force",
        ),
        DRY_RUN,
        HELP,
    ],
};

/// The options that set a value of a profile.
const VALUES: &[&str] = &[
    PERCENT,
    "ramp-up-rate",
    "ramp-down-rate",
    "ramp-down-hysteresis",
    "secondary-power-floor",
    "primary-floor-act-win-mult",
    "primary-floor-tar-win-mult",
    "primary-floor-act-offset",
];
const PERCENT: &str = "percent-tmp-floor";

pub(super) const POWER_SMOOTHING: Subcommand = Subcommand {
    name: "power-smoothing",
    about: "Power smoothing, which keeps the draw from jumping. Beside -p any number of its\nvalues, else one thing at a time.",
    options: &[
        ID,
        opt(
            "-p --profile",
            Text,
            "N",
            "The preset profile that the values are for",
        ),
        opt(
            "-spp --set-preset-profile",
            Text,
            "N",
            "Put this preset profile in force",
        ),
        opt(
            "-ptf --percent-tmp-floor",
            Text,
            "PERCENT",
            "Floor, in percent of the TMP, as 55.44",
        ),
        opt("-rur --ramp-up-rate", Text, "RATE", "Ramp up rate, mW/s"),
        opt(
            "-rdr --ramp-down-rate",
            Text,
            "RATE",
            "Ramp down rate, mW/s",
        ),
        opt(
            "-rdh --ramp-down-hysteresis",
            Text,
            "MS",
            "How long until it ramps down, ms",
        ),
        opt(
            "-ppd --print-profile-definitions",
            Nothing,
            "",
            "The values of the preset profiles",
        ),
        opt("-s --state", Text, "STATE", "0/DISABLED, 1/ENABLED"),
        opt(
            "-spf --secondary-power-floor",
            Text,
            "MW",
            "Secondary power floor, mW",
        ),
        opt(
            "-pfawm --primary-floor-act-win-mult",
            Text,
            "FACTOR",
            "Window multiplier for going up to the primary floor",
        ),
        opt(
            "-pftwm --primary-floor-tar-win-mult",
            Text,
            "FACTOR",
            "Window multiplier for the primary floor's target",
        ),
        opt(
            "-pfao --primary-floor-act-offset",
            Text,
            "MW",
            "Offset at which the primary floor begins, mW",
        ),
        DRY_RUN,
        HELP,
    ],
};

/// Reads a line of `power-profiles` that asks for something.
pub(super) fn profiles(line: &Line, asked: &[&'static str]) -> Result<Profiles, Error> {
    let [word] = *asked else {
        return Err(one_at_a_time());
    };
    let numbers = || match line.text(word) {
        Some(text) => profile_numbers(text)
            .map(Some)
            .ok_or_else(|| invalid(text, line.spelt(word))),
        None => Ok(None),
    };
    Ok(match word {
        "list" => Profiles::List { detailed: false },
        "list-detailed" => Profiles::List { detailed: true },
        "get-requested" => Profiles::Requested,
        "get-enforced" => Profiles::Enforced,
        "set-requested" => Profiles::Request(numbers()?.unwrap_or_default()),
        _ => Profiles::Clear(numbers()?),
    })
}

fn profile_numbers(text: &str) -> Option<Vec<u32>> {
    let number = |text| uint(text).filter(|&number| number <= HIGHEST_PROFILE);
    let mut numbers: Vec<u32> = text.split(',').map(number).collect::<Option<_>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// Reads a line of `power-smoothing` that asks for something.
pub(super) fn smoothing(line: &Line, asked: &[&'static str]) -> Result<Smoothing, Error> {
    let number = |word| {
        let text = line.text(word).unwrap_or_default();
        uint(text).ok_or_else(|| invalid(text, line.spelt(word)))
    };
    let values: Vec<&'static str> = asked
        .iter()
        .filter(|word| VALUES.contains(word))
        .copied()
        .collect();
    let others: Vec<&'static str> = asked
        .iter()
        .filter(|word| !VALUES.contains(word) && **word != "profile")
        .copied()
        .collect();
    match (&*others, line.has("profile")) {
        ([], true) if !values.is_empty() => Ok(Smoothing::Update {
            profile: number("profile")?,
            values: values
                .into_iter()
                .map(|word| Ok((word, value(line, word)?)))
                .collect::<Result<_, Error>>()?,
        }),
        ([], true) => Err(refused("Nothing to set for the profile of -p.\n")),
        ([], false) => Err(refused("Must specify -p with this option.\n")),
        (["print-profile-definitions"], false) if values.is_empty() => Ok(Smoothing::Definitions),
        (["set-preset-profile"], false) if values.is_empty() => {
            Ok(Smoothing::Activate(number("set-preset-profile")?))
        }
        (["state"], false) if values.is_empty() => match number("state")? {
            state @ (0 | 1) => Ok(Smoothing::State(state == 1)),
            _ => Err(invalid(
                line.text("state").unwrap_or_default(),
                line.spelt("state"),
            )),
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
        _ => Err(invalid(text, line.spelt(word))),
    }
}

fn one_at_a_time() -> Error {
    refused("Only one of these options can be used at a time.\n")
}

#[cfg(test)]
mod tests {
    use super::super::admin::{Admin, read};
    use super::*;
    use std::ffi::OsString;

    fn line(text: &str) -> Result<Option<Admin>, Error> {
        let mut words = text.split(' ').map(OsString::from);
        let name = words.next().unwrap_or_default();
        let arguments: Vec<OsString> = words.collect();
        read(&name.to_string_lossy(), &arguments, |_| String::new())
    }

    #[test]
    fn profiles_are_numbers_with_commas() {
        assert_eq!(profile_numbers("6,0x1,6"), Some(vec![1, 6]));
        for text in ["", "1,", "-1", "255", "1 2", "Max-Q"] {
            assert_eq!(profile_numbers(text), None, "{text:?}");
        }
    }

    #[test]
    fn values_need_their_profile() {
        let update = Smoothing::Update {
            profile: 2,
            values: vec![("percent-tmp-floor", 55.44), ("ramp-up-rate", 1000.0)],
        };
        assert_eq!(
            line("power-smoothing -rur 1000 -p 2 -ptf 55.44 -i 0"),
            Ok(Some(Admin::Smoothing {
                asked: update,
                ids: Some("0".to_owned()),
                dry_run: false
            }))
        );
        for text in [
            "power-smoothing -ptf 50",
            "power-smoothing -p 1",
            "power-smoothing -p 1 -ptf 100.01",
            "power-smoothing -p 1 -ptf nan",
            "power-smoothing -p 1 -rur -5",
            "power-smoothing -p 1 -rur inf",
            "power-smoothing -p x -rur 5",
            "power-smoothing -s 2",
            "power-smoothing -s on",
            "power-smoothing -s 1 -spp 1",
            "power-smoothing -p 1 -spp 1",
            "power-smoothing -ppd -rur 5",
            "power-smoothing -l",
            "power-profiles -l -ld",
            "power-profiles -sr",
            "power-profiles -sr x",
            "power-profiles -sr 1 -cr 2",
        ] {
            assert!(line(text).is_err(), "{text}");
        }
    }
}
