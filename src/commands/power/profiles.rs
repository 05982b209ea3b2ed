//! `power-profiles`: settings made for a kind of work.

use super::{Change, end, failed, list, one_at_a_time};
use crate::cli::Takes::{MaybeAny, Nothing, Text};
use crate::cli::number::uint;
use crate::cli::{DRY_RUN, ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::commands::begin;
use crate::commands::modify::{Named, named};
use crate::commands::present::there;
use crate::error::{Error, Status};
use crate::facts::words::power_profile;
use crate::nvml::{Gpu, HIGHEST_PROFILE, Missing, Reading, profiles_of};
use crate::output::{self, Say};

/// `power-profiles`.
#[rustfmt::skip]
pub static POWER_PROFILES: Subcommand = Subcommand {
    name: "power-profiles",
    about: "Workload power profiles",
    notes: "Settings made for a kind of work. One change at a time.",
    options: &[
        ID,
        opt("-l --list", Nothing, "", "The profiles that the GPUs have"),
        opt("-ld --list-detailed", Nothing, "", "The same with their priorities and conflicts"),
        opt("-gr --get-requested", Nothing, "", "The profiles that were asked for"),
        opt("-sr --set-requested", Text, "NUMBERS", "Ask for these profiles too, with commas between them"),
        opt("-cr --clear-requested", MaybeAny, "NUMBERS", "Ask for these profiles no longer; for none without\na number"),
        opt("-ge --get-enforced", Nothing, "", "The profiles that are in force"),
        DRY_RUN,
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Command,
    run: Run::Once(power_profiles),
};

/// What `power-profiles` asks for.
#[derive(Debug, PartialEq)]
enum Profiles {
    /// `-l`, `-ld`, `-gr`, `-ge`: the words of those that the line has.
    Show(Vec<&'static str>),
    /// `-sr`: ask for these too.
    Request(Vec<u32>),
    /// `-cr`: ask for these no longer, or for none.
    Clear(Option<Vec<u32>>),
}

const UNSUPPORTED: &str = "Workload Power Profiles feature is not supported on this device.\n";

fn power_profiles(line: &Line) -> anyhow::Result<Status> {
    let dry_run = line.dry_run(&["set-requested", "clear-requested"])?;
    let asked = read(line)?;
    let driver = begin::open()?;
    let gpus = begin::select(&driver, line.text("id"))?;
    output::as_it_happens(|say| profiles(&gpus, &asked, dry_run, say))
}

fn read(line: &Line) -> Result<Profiles, Error> {
    let words = line.commands();
    if words.iter().all(|word| SHOWN.contains(word)) {
        return Ok(Profiles::Show(words));
    }
    let [word] = words[..] else {
        return Err(one_at_a_time());
    };
    let numbers = || match line.text(word) {
        Some(text) => profile_numbers(text)
            .map(Some)
            .ok_or_else(|| line.invalid(word)),
        None => Ok(None),
    };
    Ok(match word {
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

/// Does what the line asks for.
fn profiles(gpus: &[Gpu], asked: &Profiles, dry_run: bool, say: Say) -> Result<(), Error> {
    match asked {
        Profiles::Show(words) => show(gpus, words, say),
        Profiles::Request(wanted) => {
            request(&named(gpus)?, wanted, dry_run, say)?;
            end(dry_run, say);
            Ok(())
        }
        Profiles::Clear(wanted) => {
            clear(&named(gpus)?, wanted.as_deref(), dry_run, say)?;
            end(dry_run, say);
            Ok(())
        }
    }
}

/// The options that change nothing; a line may have several.
const SHOWN: &[&str] = &["list", "list-detailed", "get-requested", "get-enforced"];

/// Tells what each GPU answers.
fn show(gpus: &[Gpu], words: &[&str], say: Say) -> Result<(), Error> {
    for gpu in gpus {
        there(gpu)?;
        for word in words {
            let answer = match *word {
                "list" => supported(gpu, false),
                "list-detailed" => supported(gpu, true),
                "get-requested" => current(gpu, |(requested, _)| requested, NONE_REQUESTED),
                _ => current(gpu, |(_, enforced)| enforced, NONE_ENFORCED),
            };
            say(&answer.map_err(unread)?);
        }
    }
    Ok(())
}

const NONE_REQUESTED: &str = "No profiles are currently requested.\n";
const NONE_ENFORCED: &str = "No profiles are currently engaged.\n";

fn unread(why: Missing) -> Error {
    failed(
        why,
        "Unable to get Workload Power Profiles information",
        UNSUPPORTED,
    )
}

fn line(profile: u32) -> String {
    let name = power_profile(profile).unwrap_or("N/A");
    format!("{profile}. {name}\n")
}

fn supported(gpu: &Gpu, detailed: bool) -> Reading<String> {
    let mut text = String::new();
    for profile in gpu.supported_power_profiles()? {
        text += &line(profile.id);
        if detailed {
            let Some(rank) = profile.rank else {
                text += "\tPriority: N/A\n\tConflicts with: N/A\n";
                continue;
            };
            text += &format!("\tPriority: {}\n\tConflicts with:\n", rank.priority);
            for conflict in rank.conflicts {
                text += &format!("\t\t{}", line(conflict));
            }
        }
    }
    Ok(text)
}

type Masks = ([u32; 8], [u32; 8]);

fn current(gpu: &Gpu, which: fn(Masks) -> [u32; 8], none: &str) -> Reading<String> {
    let profiles = profiles_of(&which(gpu.power_profiles()?));
    Ok(if profiles.is_empty() {
        none.to_owned()
    } else {
        profiles.into_iter().map(line).collect()
    })
}

/// Those asked for now, in a few words.
fn requested(gpu: &Gpu) -> Reading<String> {
    let profiles = profiles_of(&gpu.power_profiles()?.0);
    Ok(if profiles.is_empty() {
        "none are requested".to_owned()
    } else {
        format!("{} are requested", list(&profiles))
    })
}

/// Asks all the GPUs for the profiles, if each of them has them all.
fn request(gpus: &[Named], wanted: &[u32], dry_run: bool, say: Say) -> Result<(), Error> {
    for (gpu, bus_id) in gpus {
        let there = gpu.supported_power_profiles().map_err(unread)?;
        let missing = |id: &&u32| !there.iter().any(|profile| profile.id == **id);
        if let Some(profile) = wanted.iter().find(missing) {
            let message = format!("There is no power profile {profile} for GPU {bus_id}\n");
            return Err(Error::new(Status::InvalidArgument, message));
        }
    }
    let change = Change {
        wish: format!("request power profiles {}", list(wanted)),
        done: format!("Requested power profiles {}", list(wanted)),
        now: &requested,
        // NVML tells of no permission that this takes.
        by_root: false,
        unsupported: UNSUPPORTED,
        set: &|gpu| gpu.request_power_profiles(wanted),
    };
    change.make(gpus, dry_run, say)
}

/// Asks for the profiles no longer; without a list for none.
fn clear(gpus: &[Named], wanted: Option<&[u32]>, dry_run: bool, say: Say) -> Result<(), Error> {
    let which = wanted.map_or("all requested power profiles".to_owned(), |wanted| {
        format!("requested power profiles {}", list(wanted))
    });
    let change = Change {
        wish: format!("clear {which}"),
        done: format!("Cleared {which}"),
        now: &requested,
        by_root: false,
        unsupported: UNSUPPORTED,
        set: &|gpu| match wanted {
            Some(wanted) => gpu.clear_power_profiles(wanted),
            None => gpu.clear_power_profiles(&profiles_of(&gpu.power_profiles()?.0)),
        },
    };
    change.make(gpus, dry_run, say)
}

#[cfg(test)]
mod tests {
    use super::super::tests::refused;
    use super::*;

    #[test]
    fn profiles_are_numbers_with_commas() {
        assert_eq!(profile_numbers("6,0x1,6"), Some(vec![1, 6]));
        for text in ["", "1,", "-1", "255", "1 2", "Max-Q"] {
            assert_eq!(profile_numbers(text), None, "{text:?}");
        }
    }

    #[test]
    fn one_thing_is_asked_for() {
        for text in ["-l -sr 1", "-sr", "-sr x", "-sr 1 -cr 2"] {
            assert!(refused(&POWER_PROFILES, text, read), "{text}");
        }
    }
}
