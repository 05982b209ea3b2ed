//! `power-profiles`: settings made for a kind of work.

use super::{Change, Say, end, failed, list};
use crate::args::Profiles;
use crate::commands::modify::{Named, named};
use crate::error::{Error, Status};
use crate::nvml::{Gpu, Missing, Reading, profiles_of};

/// The names of NVML's `NVML_POWER_PROFILE_*`, by number.
const NAMES: &[&str] = &[
    "Max-P",
    "Max-Q",
    "Compute",
    "Memory Bound",
    "Network",
    "Balanced",
    "LLM Inference",
    "LLM Training",
    "RBM",
    "DCPCIE",
    "HMMA Sparse",
    "HMMA Dense",
    "Sync Balanced",
    "HPC",
    "MIG",
];

const UNSUPPORTED: &str = "Workload Power Profiles feature is not supported on this device.\n";

/// Does what the line asks for.
pub fn profiles(gpus: &[Gpu], asked: &Profiles, dry_run: bool, say: Say) -> Result<(), Error> {
    match asked {
        Profiles::List { detailed } => ask(gpus, say, |gpu| supported(gpu, *detailed)),
        Profiles::Requested => ask(gpus, say, |gpu| {
            current(gpu, |(requested, _)| requested, NONE_REQUESTED)
        }),
        Profiles::Enforced => ask(gpus, say, |gpu| {
            current(gpu, |(_, enforced)| enforced, NONE_ENFORCED)
        }),
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

/// Tells what each GPU answers.
fn ask(gpus: &[Gpu], say: Say, question: impl Fn(&Gpu) -> Reading<String>) -> Result<(), Error> {
    for gpu in gpus {
        gpu.device()
            .map_err(|why| Error::no_handle(gpu.index(), why))?;
        say(&question(gpu).map_err(unread)?);
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
    let name = NAMES.get(profile as usize).unwrap_or(&"Unknown");
    format!("{profile}. {name}\n")
}

fn supported(gpu: &Gpu, detailed: bool) -> Reading<String> {
    let mut text = String::new();
    for profile in gpu.supported_power_profiles()? {
        text += &line(profile.id);
        if detailed {
            text += &format!("\tPriority: {}\n", profile.priority);
            if !profile.conflicts.is_empty() {
                text += "\tConflicts with:\n";
            }
            for conflict in profile.conflicts {
                text += &format!("\t\t{}", line(conflict));
            }
        }
    }
    Ok(text)
}

type Masks = ([u32; 8], [u32; 8]);

fn current(gpu: &Gpu, which: fn(Masks) -> [u32; 8], none: &str) -> Reading<String> {
    let profiles = profiles_of(&which(gpu.power_profiles()?));
    Ok(match profiles.is_empty() {
        true => none.to_owned(),
        false => profiles.into_iter().map(line).collect(),
    })
}

/// Those asked for now, in a few words.
fn requested(gpu: &Gpu) -> Reading<String> {
    let profiles = profiles_of(&gpu.power_profiles()?.0);
    Ok(match profiles.is_empty() {
        true => "none are requested".to_owned(),
        false => format!("{} are requested", list(&profiles)),
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
