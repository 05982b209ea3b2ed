//! The command lines of the subcommands that administer GPUs: `drain`,
//! `conf-compute` and those of [`super::power`], and those that NVML has no
//! public functions for.

use std::ffi::OsString;

use super::power::{self, Profiles, Smoothing};
use super::watch::{HELP, ID, Subcommand, opt};
use crate::error::{Error, Status};
use crate::spelling::options::{Opt, Takes};
use crate::spelling::subcommand::Line;
use crate::spelling::{number, uint};

use Takes::{Nothing, Text};

/// What one of these lines asks for.
#[derive(Debug, PartialEq)]
pub enum Admin {
    /// The usage screen, as text.
    Usage(String),
    /// `drain`.
    Drain(Drain),
    /// `conf-compute`: the word of the option, its value, and `-i`.
    Confidential {
        /// The option.
        word: &'static str,
        /// Its number, where it takes one.
        value: u64,
        /// `-i`, as written.
        ids: Option<String>,
    },
    /// `power-profiles`.
    Profiles {
        /// What it asks for.
        asked: Profiles,
        /// `-i`, as written.
        ids: Option<String>,
        /// `--dry-run`: say what would be changed.
        dry_run: bool,
    },
    /// `power-smoothing`.
    Smoothing {
        /// What it asks for.
        asked: Smoothing,
        /// `-i`, as written.
        ids: Option<String>,
        /// `--dry-run`: say what would be changed.
        dry_run: bool,
    },
    /// What only private functions of NVML can do.
    OutOfReach(&'static str),
}

/// A place on the PCI bus: domain, bus and device.
pub type Place = (u32, u32, u32);

/// `drain`, in the order in which it is done.
#[derive(Debug, Default, PartialEq)]
pub struct Drain {
    /// `-p`.
    pub place: Option<Place>,
    /// `-m`: whether the GPU is to be drained.
    pub modify: Option<bool>,
    /// `-q`.
    pub query: bool,
    /// `-r`.
    pub remove: bool,
    /// `-d`.
    pub discover: bool,
}

const DRAIN: Subcommand = Subcommand {
    name: "drain",
    about: "Takes a GPU out of use, so that no new client gets it, and back.",
    options: &[
        opt(
            "-p --pciid",
            Text,
            "PLACE",
            "The GPU, as domain:bus:device.function in hex:\n0000:3B:00.0",
        ),
        opt(
            "-m --modify",
            Text,
            "STATE",
            "1 to drain the GPU, 0 to end that; persistence mode\nmust be off",
        ),
        opt(
            "-q --query",
            Nothing,
            "",
            "Whether the GPU is being drained",
        ),
        opt(
            "-r --remove",
            Nothing,
            "",
            "Remove the drained GPU from the system",
        ),
        opt(
            "-d --discover",
            Nothing,
            "",
            "Find the GPUs that were removed",
        ),
        HELP,
    ],
};

const CONF_COMPUTE: Subcommand = Subcommand {
    name: "conf-compute",
    about: "State and settings of confidential computing, one at a time.",
    options: &[
        ID,
        opt(
            "-gc --get-cpu-caps",
            Nothing,
            "",
            "What the CPU can do for it",
        ),
        opt(
            "-gg --get-gpus-caps",
            Nothing,
            "",
            "Whether the GPUs can do it",
        ),
        opt(
            "-d --get-devtools-mode",
            Nothing,
            "",
            "Whether developer tools may look inside",
        ),
        opt("-e --get-environment", Nothing, "", "The environment"),
        opt("-f --get-cc-feature", Nothing, "", "Whether it is on"),
        opt(
            "-gm --get-mem-size-info",
            Nothing,
            "",
            "Protected and unprotected memory of the GPUs",
        ),
        opt(
            "-sm --set-unprotected-mem-size",
            Text,
            "KIB",
            "Leave so much memory of the GPUs unprotected",
        ),
        opt(
            "-srs --set-gpus-ready-state",
            Text,
            "STATE",
            "Whether the GPUs accept work: 0, 1",
        ),
        opt(
            "-grs --get-gpus-ready-state",
            Nothing,
            "",
            "Whether the GPUs accept work",
        ),
        opt(
            "-skr --set-key-rotation-max-attacker-advantage",
            Text,
            "N",
            "Rotate keys before an attacker gains 2^N",
        ),
        opt(
            "-gkr --get-key-rotation-threshold-info",
            Nothing,
            "",
            "When keys are rotated",
        ),
        opt(
            "-mgm --get-multigpu-mode",
            Nothing,
            "",
            "How several GPUs work together",
        ),
        opt("-q --query-conf-compute", Nothing, "", "All of the state"),
        HELP,
    ],
};

const CLOCKS: Subcommand = Subcommand {
    name: "clocks",
    about: "Boost groups and sparse operation. NVML has no public functions for these:\nwhat is asked for is refused.",
    options: &[
        ID,
        opt(
            "--sync-boost-list",
            Nothing,
            "",
            "The groups of GPUs that boost together",
        ),
        opt(
            "--sync-boost-add",
            Nothing,
            "",
            "Make the GPUs of -i such a group",
        ),
        opt("--sync-boost-remove", Text, "GROUP", "Dissolve a group"),
        opt(
            "-som --sparse-operation-mode",
            Text,
            "MODE",
            "Sparse operation: 0/DISABLED, 1/ENABLED",
        ),
        HELP,
    ],
};

const COMPUTE_POLICY: Subcommand = Subcommand {
    name: "compute-policy",
    about: "Time slices of compute work. NVML has no public functions for these:\nwhat is asked for is refused.",
    options: &[
        ID,
        opt("-l --list", Nothing, "", "The policies of the GPUs"),
        opt(
            "--set-timeslice",
            Text,
            "SLICE",
            "0 default, 1 short, 2 medium, 3 long",
        ),
        HELP,
    ],
};

const BOOST_SLIDER: Subcommand = Subcommand {
    name: "boost-slider",
    about: "Boost sliders. NVML has no public functions for these: what is asked for is\nrefused.",
    options: &[
        ID,
        opt("-l --list", Nothing, "", "The sliders of the GPUs"),
        opt(
            "--vboost",
            Text,
            "N",
            "The video boost slider: 0 to its highest value",
        ),
        HELP,
    ],
};

const POWER_HINT: Subcommand = Subcommand {
    name: "power-hint",
    about: "Estimated power at given clocks. NVML has no public functions for this: what is\nasked for is refused.",
    options: &[
        ID,
        opt(
            "-l --list-info",
            Nothing,
            "",
            "What the other options may be",
        ),
        opt("-gc --graphics-clock", Text, "MHZ", "The graphics clock"),
        opt("-mc --memory-clock", Text, "MHZ", "The memory clock"),
        opt(
            "-t --temperature",
            Text,
            "CELSIUS",
            "The temperature; n before it for one below zero",
        ),
        opt("-p --profile", Text, "N", "The profile"),
        HELP,
    ],
};

/// What none of these options asks for: how and where.
const BESIDE: &[&str] = &["help", "id", "dry-run"];

/// Reads what follows the word of one of these subcommands; `None` where it is
/// another's.
pub fn read(
    name: &str,
    arguments: &[OsString],
    usage: fn(&Subcommand) -> String,
) -> Result<Option<Admin>, Error> {
    let all = [
        &DRAIN,
        &CONF_COMPUTE,
        &power::POWER_PROFILES,
        &power::POWER_SMOOTHING,
        &CLOCKS,
        &COMPUTE_POLICY,
        &BOOST_SLIDER,
        &POWER_HINT,
    ];
    let Some(subcommand) = all.into_iter().find(|subcommand| subcommand.name == name) else {
        return Ok(None);
    };
    let line = Line::read(subcommand.options, arguments);
    if let Some(complaint) = line.complaint() {
        return Err(refused(complaint));
    }
    let asked = subcommand
        .options
        .iter()
        .filter(|option| !BESIDE.contains(&option.word()) && line.has(option.word()));
    let asked: Vec<&'static str> = asked.map(Opt::word).collect();
    if asked.is_empty() || line.has("help") {
        return Ok(Some(Admin::Usage(usage(subcommand))));
    }
    let ids = line.text("id").map(str::to_owned);
    let dry_run = line.has("dry-run");
    Ok(Some(match name {
        "drain" => Admin::Drain(drain(&line)?),
        "conf-compute" => confidential(&line, &asked)?,
        "power-profiles" => Admin::Profiles {
            asked: power::profiles(&line, &asked)?,
            ids,
            dry_run,
        },
        "power-smoothing" => Admin::Smoothing {
            asked: power::smoothing(&line, &asked)?,
            ids,
            dry_run,
        },
        "boost-slider" => Admin::OutOfReach("boost sliders"),
        "power-hint" => Admin::OutOfReach("power hints"),
        "clocks" => Admin::OutOfReach("boost groups and sparse operation"),
        _ => Admin::OutOfReach("compute policies"),
    }))
}

fn drain(line: &Line) -> Result<Drain, Error> {
    let place = match line.text("pciid") {
        Some(text) => Some(
            place(text)
                .ok_or_else(|| refused("Failed to parse device specified at the command-line\n"))?,
        ),
        None => None,
    };
    let modify = match line.text("modify").map(|text| (text, uint(text))) {
        Some((_, Some(state @ (0 | 1)))) => Some(state == 1),
        Some((text, _)) => return Err(invalid(text, line.spelt("modify"))),
        None => None,
    };
    let drain = Drain {
        place,
        modify,
        query: line.has("query"),
        remove: line.has("remove"),
        discover: line.has("discover"),
    };
    if place.is_none() && (modify.is_some() || drain.query || drain.remove) {
        return Err(refused("Must specify -p with this option.\n"));
    }
    if modify.is_some() && drain.remove {
        return Err(refused("Cannot specify both -m and -r.\n"));
    }
    Ok(drain)
}

/// `domain:bus:device.0`, hex. The real tool takes seven digits for the domain,
/// not the eight that it prints, and numbers with junk after them, which are
/// refused here: the GPU might be another.
fn place(text: &str) -> Option<Place> {
    let (domain, rest) = text.split_once(':')?;
    let (bus, rest) = rest.split_once(':')?;
    let (device, function) = rest.split_once('.')?;
    if domain.len() > 7 || hex(function)? != 0 {
        return None;
    }
    Some((hex(domain)?, hex(bus)?, hex(device)?))
}

fn hex(digits: &str) -> Option<u32> {
    let whole = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    whole.then(|| u32::from_str_radix(digits, 16).ok())?
}

fn confidential(line: &Line, asked: &[&'static str]) -> Result<Admin, Error> {
    let [word] = *asked else {
        return Err(refused(
            "One, and only one, conf-compute command allowed at a time\n",
        ));
    };
    let value = match line.text(word) {
        Some(text) => number::whole(text).ok_or_else(|| invalid(text, line.spelt(word)))?,
        None => 0,
    };
    if word == "set-gpus-ready-state" && value > 1 {
        return Err(invalid(
            line.text(word).unwrap_or_default(),
            line.spelt(word),
        ));
    }
    Ok(Admin::Confidential {
        word,
        value,
        ids: line.text("id").map(str::to_owned),
    })
}

pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::new(Status::InvalidArgument, message)
}

pub(super) fn invalid(value: &str, spelt: &str) -> Error {
    refused(format!("Option \"{value}\" is invalid for \"{spelt}\".\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Result<Option<Admin>, Error> {
        let mut words = text.split(' ').map(OsString::from);
        let name = words.next().unwrap_or_default();
        let arguments: Vec<OsString> = words.collect();
        read(&name.to_string_lossy(), &arguments, |_| String::new())
    }

    #[test]
    fn places_are_whole() {
        assert_eq!(place("0000:19:00.0"), Some((0, 0x19, 0)));
        assert_eq!(place("a:0Ff:01f.00"), Some((10, 0xff, 0x1f)));
        for text in [
            "",
            "19:00.0",
            "00000000:19:00.0",
            "0000:19:00",
            "0000:19:00.0x",
            "0000:19:00.1",
            "0000:1g:00.0",
            "0x0:19:00.0",
            "0000:ffffffffff:00.0",
            "0000:+9:00.0",
            "0000::00.0",
            "x",
        ] {
            assert_eq!(place(text), None, "{text}");
        }
    }

    #[test]
    fn a_state_is_0_or_1() {
        let drained = Drain {
            place: Some((0, 0x19, 0)),
            modify: Some(true),
            ..Drain::default()
        };
        assert_eq!(
            line("drain -m 1 -p 0000:19:00.0"),
            Ok(Some(Admin::Drain(drained)))
        );
        for text in [
            "drain -p 0000:19:00.0 -m 2",
            "drain -p 0000:19:00.0 -m x",
            "drain -m 1",
            "drain -p 0000:19:00.0 -m",
            "drain -p 0000:19:00.0 -m on",
            "drain -p 0000:19:00.0 -m -1",
            "drain -p 0000:19:00.0 -m 1 -r",
            "conf-compute -srs 2",
            "conf-compute -sm -1",
            "conf-compute -sm 1e3",
            "conf-compute -skr 99999999999999999999",
            "conf-compute -gc -f",
        ] {
            assert_eq!(
                line(text).map_err(|error| error.status()),
                Err(Status::InvalidArgument),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_asked_is_a_question_for_help() {
        for text in [
            "drain",
            "conf-compute -i 0",
            "clocks -h",
            "compute-policy -l -h",
        ] {
            assert_eq!(line(text), Ok(Some(Admin::Usage(String::new()))), "{text}");
        }
        assert_eq!(line("topo -m"), Ok(None));
    }
}
