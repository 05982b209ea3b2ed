//! `nvlink`: state and counters of the NVLinks.

use crate::commands::begin;
use crate::error::{Error, Outcome, Status};
use crate::nvml::{Driver, LINK_CAPABILITIES, Missing, field, if_any};

use super::dry_run::NOTHING_CHANGED;
use super::links::{self, Act, Family, Links, Stop, speeds};
use super::present::{Present, failed};
use crate::cli::Takes::{Long, Nothing, Text};
use crate::cli::{DRY_RUN, ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::output::{self, Say};
use crate::value::{enabled, printable};

mod counters;
mod modes;

use counters::{errors, lane_errors, reset_errors, throughput, traffic};
use modes::{
    bandwidth_mode, low_power, set_bandwidth_mode, set_low_power, set_width, threshold, width,
};

/// `nvlink`.
#[rustfmt::skip]
pub static NVLINK: Subcommand = Subcommand {
    name: "nvlink",
    about: "State and counters of the NVLinks",
    notes: "",
    options: &[
        ID,
        opt("-l --link", Long, "N", "Only this link"),
        opt("-s --status", Nothing, "", "Whether the links are up, and how fast"),
        opt("-c --capabilities", Nothing, "", "What the links can do"),
        opt("-p --pcibusid", Nothing, "", "The PCI bus id of what the links lead to"),
        opt("-R --remotelinkinfo", Nothing, "", "The device and the link that the links lead to"),
        opt("-sc --setcontrol", Nothing, "", "Gone; the driver no longer has it"),
        opt("-gc --getcontrol", Nothing, "", "Gone; the driver no longer has it"),
        opt("-g --getcounters", Nothing, "", "Gone; -gt has taken its place"),
        opt("-r --resetcounters", Nothing, "", "Gone; the driver no longer has it"),
        opt("-e --errorcounters", Nothing, "", "The error counters"),
        opt("-ec --crcerrorcounters", Nothing, "", "The error counters of each lane"),
        opt("-re --reseterrorcounters", Nothing, "", "Set the error counters to zero"),
        opt("-gt --getthroughput", Text, "LETTERS", "What went over the links, KiB: d data,\nr data and protocol"),
        opt("-sLowPwrThres --setLowPowerThreshold", Text, "N", "How long a link idles before it saves power, in the\nunits that -gLowPwrInfo tells"),
        opt("-gLowPwrInfo --getLowPowerInfo", Nothing, "", "Whether links save power, and when"),
        opt("-sBwMode --setBandwidthMode", Text, "MODE", "How much bandwidth the links may use: FULL, OFF, MIN,\nHALF, 3QUARTER"),
        opt("-gBwMode --getBandwidthMode", Nothing, "", "How much bandwidth the links may use"),
        opt("-cBridge --checkBridge", Nothing, "", "Check the bridges between boards"),
        opt("-sLWidth --setLinkWidth", Text, "WIDTH", "Set the width of the links"),
        opt("-gLWidth --getLinkWidth", Nothing, "", "The width of the links"),
        opt("-info --info", Nothing, "", "What the GPU says of its links"),
        DRY_RUN,
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Option,
    run: Run::Once(nvlink),
};

static FAMILY: Family = Family {
    name: "NVLinks",
    label: "Link",
    count: field::NVLINK_LINK_COUNT,
    state: (field::NVLINK_GET_STATE, "NvLink link state"),
    speed: (field::NVLINK_GET_SPEED, "NVLink speed"),
    all_speeds: true,
    names: true,
};

/// What an option does.
enum View {
    /// It shows something, unless `-l` names a link that the GPU does not have.
    Look(Act),
    /// It changes something: the first failure ends the command.
    Change(Act),
    /// It says that NVML can no longer do it.
    Gone(&'static str),
}

use View::{Change, Gone, Look};

/// What is shown of a GPU, in this order.
const VIEWS: &[(&str, View)] = &[
    ("status", Look(status)),
    ("capabilities", Look(capabilities)),
    ("pcibusid", Look(remote_ids)),
    ("remotelinkinfo", Look(remote_links)),
    (
        "setcontrol",
        Gone("Warning: Setting counter control is deprecated!\n\n"),
    ),
    (
        "getcontrol",
        Gone("Warning: Getting counter control is deprecated!\n\n"),
    ),
    (
        "getcounters",
        Gone(
            "Warning: Getting counters using option -g is deprecated.\n       Please use option -gt instead.\n\n",
        ),
    ),
    (
        "resetcounters",
        Gone("Warning: Resetting throughput counters is deprecated!\n\n"),
    ),
    ("errorcounters", Look(errors)),
    ("crcerrorcounters", Look(lane_errors)),
    ("reseterrorcounters", Change(reset_errors)),
    ("getthroughput", Look(throughput)),
    ("setLowPowerThreshold", Change(set_low_power)),
    ("getLowPowerInfo", Look(low_power)),
    ("checkBridge", Look(bridges)),
    ("setLinkWidth", Change(set_width)),
    ("getLinkWidth", Look(width)),
    ("info", Look(info)),
];

fn is_change((_, view): &&(&str, View)) -> bool {
    matches!(view, Change(_))
}

fn nvlink(line: &Line) -> anyhow::Result<Status> {
    let changes = VIEWS.iter().filter(is_change).map(|(word, _)| *word);
    let changes: Vec<&str> = changes.chain(["setBandwidthMode"]).collect();
    let dry_run = line.dry_run(&changes)?;
    let driver = begin::open()?;
    output::as_it_happens(|say| {
        let mut outcome = run(&driver, line, line.has_any(&changes), say)?;
        if dry_run {
            outcome.text += NOTHING_CHANGED;
        }
        Ok(outcome)
    })
}

fn run(driver: &Driver, line: &Line, changes: bool, say: Say) -> Result<Outcome, Error> {
    let gpus = Present::named(driver, line)?;
    if changes {
        // Nothing is changed without one of the GPUs.
        gpus.none_left_out()?;
    }
    if line.has_any(&["reseterrorcounters", "setBandwidthMode"]) {
        // Other values of the line would be refused too late, or not at all.
        traffic(line)?;
        threshold(line)?;
        if line.exact("link")?.is_some_and(i32::is_negative) {
            return Err(line.invalid("link"));
        }
    }
    // These two are of the system, and the other options are passed over.
    if let Some(mode) = line.text("setBandwidthMode") {
        say(&set_bandwidth_mode(driver, mode, line.has("dry-run"))?);
        return Ok(Outcome::default());
    }
    if line.has("getBandwidthMode") {
        say(&bandwidth_mode(driver)?);
        let mut outcome = Outcome::default();
        outcome.note(gpus.none_left_out());
        return Ok(outcome);
    }
    let views: Vec<_> = VIEWS.iter().filter(|(word, _)| line.has(word)).collect();
    let only_changes = !views.is_empty() && views.iter().all(is_change);
    let show = |links: &Links, out: &mut Outcome| {
        if !only_changes && links.named().is_some_and(|link| link >= links.count) {
            out.text += "\t Invalid Link\n";
            return Ok(());
        }
        views.iter().try_for_each(|(_, view)| match view {
            Look(act) | Change(act) => act(links, out),
            Gone(warning) => Err(Error::new(Status::NotSupported, *warning).into()),
        })
    };
    let (_, outcome) = links::list(&FAMILY, &gpus, line, changes, show, say)?;
    Ok(outcome)
}

/// `-s`.
fn status(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    if links.any_up(["retrieve NVLink information"; 2], out)? {
        speeds(links, out)
    } else {
        Ok(())
    }
}

/// `-c`.
fn capabilities(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    const NAMES: [&str; LINK_CAPABILITIES as usize] = [
        "P2P is supported",
        "Access to system memory supported",
        "P2P atomics supported",
        "System memory atomics supported",
        "SLI is supported",
        "Link is supported",
    ];
    for link in links.shown_up()? {
        let what = format!("NVML: Unable to get the NvLink link capability for link {link}");
        for (capability, name) in (0..).zip(NAMES) {
            let can = links.gpu.link_capability(link, capability);
            let can = can.map_err(failed(&what))?;
            out.text += &format!("\t Link {link}, {name}: {can}\n");
        }
    }
    Ok(())
}

/// `-p`.
fn remote_ids(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    for link in links.shown_up()? {
        match links.gpu.link_remote(link) {
            Ok(remote) => out.text += &links.line(link, &printable(&remote.bus_id)),
            Err(missing) => {
                let failure = no_remote(&format!("link {link}"), missing);
                if !links::is_of_one_gpu(&failure) {
                    return Err(failure.into());
                }
                out.note(Err(failure));
            }
        }
    }
    Ok(())
}

/// NVML does not tell what is at the other end of a link.
fn no_remote(link: &str, missing: Missing) -> Error {
    let what = format!("NVML: Unable to retrieve NvLink remote PCI information for {link}");
    failed(&what)(missing)
}

/// `-R`.
fn remote_links(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    let gpu = links.gpu;
    let index = gpu.index();
    let ids: Vec<_> = links
        .shown()
        .map(|link| (field::NVLINK_REMOTE_NVLINK_ID, link))
        .collect();
    let no_ids = format!("NVML: Unable to retrieve NvLink remote Nvlink IDs for device {index}");
    let remote_links = gpu.numbers_or_none(&ids).map_err(failed(&no_ids))?;
    for ((_, link), remote_link) in ids.into_iter().zip(remote_links) {
        let remote = match gpu.link_remote(link) {
            // Nothing is at the other end.
            Err(Missing::NotSupported) => continue,
            remote => remote
                .map_err(|missing| no_remote(&format!("device {index} link {link}"), missing))?,
        };
        let text = match remote_link {
            Ok(id) => format!("Remote Device {}: Link {id}", printable(&remote.bus_id)),
            Err(missing) => missing.words().to_owned(),
        };
        out.text += &links.line(link, &text);
    }
    Ok(())
}

/// `-cBridge`: nothing is said of a board with a bridge to its neighbour. GPUs
/// on one base board have none, nor has one whose links lead to nothing.
fn bridges(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    let bridged = || {
        if if_any(links.gpu.link_count(field::NVSWITCH_CONNECTED_LINK_COUNT))? > 0 {
            return Ok(false);
        }
        for link in (0..links.count).filter(|&link| links.is_up(link) == Ok(true)) {
            match links.gpu.link_remote(link) {
                Err(Missing::NotSupported) => {}
                remote => return remote.map(|_| true),
            }
        }
        Ok(false)
    };
    match bridged() {
        Ok(true) => {}
        Ok(false) => out.text += "Not enough NVLinks\n",
        Err(missing) => {
            return Err(Error::uncounted("NVLinks", links.gpu.index(), missing).into());
        }
    }
    Ok(())
}

/// `-info`.
fn info(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    let encrypted = links.gpu.links_encrypted().map_err(|missing| {
        let words = missing.words();
        let message = format!(
            "NVML: Unable to retrieve NvLink device info {words}\nUnable to get device info\n"
        );
        Error::unread(missing, message)
    })?;
    out.text += &format!("\t NVLink encryption: {}\n", enabled(encrypted));
    Ok(())
}
