//! `nvlink`: state and counters of the NVLinks.

use crate::commands::begin;
use crate::error::Error;
use crate::nvml::{Driver, Gpu, LINK_CAPABILITIES, Missing, Reading, field, if_any};

use super::dry_run::NOTHING_CHANGED;
use super::present::{Present, both, heading, named, of_each, tell};
use crate::cli::Takes::{Long, Nothing, Text};
use crate::cli::{DRY_RUN, ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::output;
use crate::render::put;
use crate::value::printable;

mod counters;
mod modes;

use counters::{errors, kinds, lane_errors, reset_errors, throughput};
use modes::{bandwidth_mode, low_power, set_bandwidth_mode, set_low_power, set_width, width, wish};

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

type View = fn(&Links, &Line, &mut Vec<u8>) -> Result<(), Error>;

/// What a view does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It shows: there is nothing to say of a link that there is not.
    Look,
    /// It changes: the first one that fails ends the command.
    Change,
}

/// What is shown of a GPU, in this order.
const VIEWS: &[(&str, Kind, View)] = &[
    ("status", Kind::Look, status),
    ("capabilities", Kind::Look, capabilities),
    ("pcibusid", Kind::Look, remote_ids),
    ("remotelinkinfo", Kind::Look, remote_links),
    ("setcontrol", Kind::Look, |_, _, _| {
        Err(Error::deprecated(
            "Warning: Setting counter control is deprecated!\n\n",
        ))
    }),
    ("getcontrol", Kind::Look, |_, _, _| {
        Err(Error::deprecated(
            "Warning: Getting counter control is deprecated!\n\n",
        ))
    }),
    ("getcounters", Kind::Look, |_, _, _| {
        Err(Error::deprecated(
            "Warning: Getting counters using option -g is deprecated.\n       Please use option -gt instead.\n\n",
        ))
    }),
    ("resetcounters", Kind::Look, |_, _, _| {
        Err(Error::deprecated(
            "Warning: Resetting throughput counters is deprecated!\n\n",
        ))
    }),
    ("errorcounters", Kind::Look, errors),
    ("crcerrorcounters", Kind::Look, lane_errors),
    ("reseterrorcounters", Kind::Change, reset_errors),
    ("getthroughput", Kind::Look, throughput),
    ("setLowPowerThreshold", Kind::Change, set_low_power),
    ("getLowPowerInfo", Kind::Look, low_power),
    ("checkBridge", Kind::Look, bridges),
    ("setLinkWidth", Kind::Change, set_width),
    ("getLinkWidth", Kind::Look, width),
    ("info", Kind::Look, info),
];

fn nvlink(line: &Line) -> anyhow::Result<()> {
    let changes = VIEWS.iter().filter(|row| row.1 == Kind::Change);
    let mut changes: Vec<&str> = changes.map(|row| row.0).collect();
    changes.push("setBandwidthMode");
    let dry_run = line.dry_run(&changes)?;
    let driver = begin::open()?;
    output::as_it_happens(|say| {
        run(&driver, line, dry_run, say)?;
        if dry_run {
            say(NOTHING_CHANGED);
        }
        Ok(())
    })
}

fn run(
    driver: &Driver,
    line: &Line,
    dry_run: bool,
    say: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    let gpus = Present::named(driver, line)?;
    let views: Vec<_> = VIEWS.iter().filter(|row| line.has(row.0)).collect();
    let mode = line.text("setBandwidthMode");
    let looks = views.is_empty() || views.iter().any(|row| row.1 == Kind::Look);
    let changes = mode.is_some() || views.iter().any(|row| row.1 == Kind::Change);
    if changes {
        // Nothing is changed without one of the GPUs.
        gpus.none_left_out()?;
    }
    if line.has_any(&["reseterrorcounters", "setBandwidthMode"]) {
        // Other values of the line would be refused too late, or not at all.
        kinds(line)?;
        wish(line)?;
        if line.exact("link")?.is_some_and(i32::is_negative) {
            return Err(line.invalid("link"));
        }
    }
    // These two are of the system, and the other options are passed over.
    if let Some(mode) = mode {
        say(&set_bandwidth_mode(driver, mode, dry_run)?);
        return Ok(());
    }
    if line.has("getBandwidthMode") {
        say(&bandwidth_mode(driver)?);
        return gpus.none_left_out();
    }
    let mut unread = Ok(());
    let ask = |gpu: &Gpu| of_gpu(gpu, line, dry_run, &views, looks);
    for told in of_each(&gpus, changes, ask) {
        say(&told.text);
        unread = both(unread, told.unread);
        match told.shown {
            // Told under the heading of its GPU; the status tells of it at the end.
            Err(failure) if failure.is_of_one_gpu() && !changes => {
                say(&failure.to_string());
                unread = both(unread, Err(Error::told(failure.status())));
            }
            done => done?,
        }
    }
    both(unread, gpus.none_left_out())
}

/// What there is to tell of a GPU.
struct Told {
    text: String,
    /// What is told at the end.
    unread: Result<(), Error>,
    /// How the views ended.
    shown: Result<(), Error>,
}

/// The views of a GPU, none of one without NVLinks.
fn of_gpu(
    gpu: &Gpu,
    line: &Line,
    dry_run: bool,
    views: &[&(&str, Kind, View)],
    looks: bool,
) -> Told {
    let mut told = Told {
        text: String::new(),
        unread: Ok(()),
        shown: Ok(()),
    };
    let links = match Links::of(gpu, line, dry_run) {
        Ok(Some(links)) => links,
        Ok(None) => return told,
        Err(missing) => {
            told.unread = Err(Error::uncounted("NVLinks", gpu.index(), missing));
            return told;
        }
    };
    let mut out = heading(gpu).into_bytes();
    told.unread = named(gpu);
    if links.invalid() && looks {
        put(&mut out, "\t Invalid Link\n");
    } else {
        let mut views = views.iter();
        told.shown = views.try_for_each(|row| row.2(&links, line, &mut out));
    }
    told.text = String::from_utf8_lossy(&out).into_owned();
    told
}

/// A link, and its answers.
type OfLink = (u32, Vec<Reading<i64>>);

/// The NVLinks of a GPU.
struct Links<'g, 'd> {
    gpu: &'g Gpu<'d>,
    count: u32,
    /// The one that `-l` names.
    only: Option<u32>,
    /// Whether each is up.
    up: Vec<Reading<i64>>,
    /// Whether changes are only told.
    dry_run: bool,
}

impl<'g, 'd> Links<'g, 'd> {
    fn of(gpu: &'g Gpu<'d>, line: &Line, dry_run: bool) -> Reading<Option<Self>> {
        let count = if_any(gpu.link_count())?;
        if count == 0 {
            return Ok(None);
        }
        let mut links = Self {
            gpu,
            count,
            only: line
                .number("link")
                .and_then(|link| u32::try_from(link).ok()),
            up: Vec::new(),
            dry_run,
        };
        if VIEWS.iter().any(|(option, ..)| line.has(option)) {
            links.up = links.ask(field::NVLINK_GET_STATE);
        }
        Ok(Some(links))
    }

    /// A field of every link, one call.
    fn ask(&self, field: u32) -> Vec<Reading<i64>> {
        self.gpu.numbers(&self.each(field))
    }

    /// A field, and each link to ask for it.
    fn each(&self, field: u32) -> Vec<(u32, u32)> {
        (0..self.count).map(|link| (field, link)).collect()
    }

    /// Several fields of each link to show that is up, one call.
    fn ask_shown(&self, fields: &[u32]) -> Result<Vec<OfLink>, Error> {
        let links = self.shown_up()?;
        let ids: Vec<(u32, u32)> = links
            .iter()
            .flat_map(|&link| fields.iter().map(move |&field| (field, link)))
            .collect();
        let values = self.gpu.numbers(&ids);
        let each = values.chunks(fields.len().max(1)).map(<[_]>::to_vec);
        Ok(links.into_iter().zip(each).collect())
    }

    /// The links to show.
    fn shown(&self) -> impl Iterator<Item = u32> {
        let only = self.only;
        (0..self.count).filter(move |link| only.is_none_or(|only| only == *link))
    }

    fn is_up(&self, link: u32) -> bool {
        self.up.get(link as usize) == Some(&Ok(1))
    }

    /// Whether a link is up; a state that could not be read is told.
    fn state(&self, link: u32) -> Result<bool, Error> {
        let state = self.up.get(link as usize).copied();
        match state.unwrap_or(Err(Missing::UNKNOWN)) {
            Ok(state) => Ok(state == 1),
            Err(missing) => {
                let words = missing.words();
                let message = format!(
                    "NVML: Unable to retrieve NvLink link state for link {link}: {words}\n"
                );
                Err(Error::unread(missing, message))
            }
        }
    }

    /// Those to show that are up; one that does not know such a state is not.
    fn shown_up(&self) -> Result<Vec<u32>, Error> {
        let mut links = Vec::new();
        for link in self.shown() {
            let unknown = self.up.get(link as usize) == Some(&Err(Missing::NotSupported));
            if !unknown && self.state(link)? {
                links.push(link);
            }
        }
        Ok(links)
    }

    /// Whether `-l` names a link that the GPU does not have.
    fn invalid(&self) -> bool {
        self.only.is_some_and(|link| link >= self.count)
    }

    /// Says that nothing can be said where no link to show is up: `what`, "for
    /// link" or "as all links are". A state that could not be read is told.
    fn any_up(&self, what: &str, out: &mut Vec<u8>) -> Result<bool, Error> {
        for link in self.shown() {
            self.state(link)?;
        }
        if !self.shown_up()?.is_empty() {
            return Ok(true);
        }
        match self.only {
            Some(link) => put(
                out,
                &format!("NVML: Unable to retrieve {what} for link {link} - inActive\n"),
            ),
            None => put(
                out,
                &format!("NVML: Unable to retrieve {what} as all links are inActive\n"),
            ),
        }
        Ok(false)
    }
}

/// MB/s as GB/s, without zeros at the end.
pub fn gigabytes(megabytes: i64) -> String {
    format!("{} GB/s", megabytes as f64 / 1000.0)
}

/// `-s`.
fn status(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    if !links.any_up("NVLink information", out)? {
        return Ok(());
    }
    let speeds = links.ask(field::NVLINK_GET_SPEED);
    for link in links.shown() {
        if !links.is_up(link) {
            put(out, &format!("\t Link {link}: <inactive>\n"));
            continue;
        }
        let speed = speeds[link as usize].map_err(|missing| {
            let words = missing.words();
            let message =
                format!("NVML: Unable to retrieve NVLink speed for link {link}: {words}\n");
            Error::unread(missing, message)
        })?;
        put(out, &format!("\t Link {link}: {}\n", gigabytes(speed)));
    }
    Ok(())
}

/// `-c`.
fn capabilities(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    const NAMES: [&str; LINK_CAPABILITIES as usize] = [
        "P2P is supported",
        "Access to system memory supported",
        "P2P atomics supported",
        "System memory atomics supported",
        "SLI is supported",
        "Link is supported",
    ];
    for link in links.shown_up()? {
        for (capability, name) in (0..).zip(NAMES) {
            let can = links
                .gpu
                .link_capability(link, capability)
                .map_err(|missing| {
                    let words = missing.words();
                    let message = format!(
                        "NVML: Unable to get the NvLink link capability for link {link}: {words}\n"
                    );
                    Error::unread(missing, message)
                })?;
            put(out, &format!("\t Link {link}, {name}: {can}\n"));
        }
    }
    Ok(())
}

/// `-p`.
fn remote_ids(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut unread = Ok(());
    for link in links.shown_up()? {
        match links.gpu.link_remote(link) {
            Ok(remote) => put(
                out,
                &format!("\t Link {link}: {}\n", printable(&remote.bus_id)),
            ),
            Err(missing) => {
                let failure = no_remote(&format!("link {link}"), missing);
                if !failure.is_of_one_gpu() {
                    return Err(failure);
                }
                unread = both(unread, tell(&failure, out));
            }
        }
    }
    unread
}

/// What is at the other end of a link cannot be read.
fn no_remote(link: &str, missing: Missing) -> Error {
    let words = missing.words();
    let message =
        format!("NVML: Unable to retrieve NvLink remote PCI information for {link}: {words}\n");
    Error::unread(missing, message)
}

/// `-R`.
fn remote_links(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let gpu = links.gpu;
    let ids = links.each(field::NVLINK_REMOTE_NVLINK_ID);
    let remote_links = gpu.numbers_or_none(&ids).map_err(|missing| {
        let (index, words) = (gpu.index(), missing.words());
        let message = format!(
            "NVML: Unable to retrieve NvLink remote Nvlink IDs for device {index}: {words}\n"
        );
        Error::unread(missing, message)
    })?;
    for link in links.shown() {
        let remote = match gpu.link_remote(link) {
            // Nothing is at the other end.
            Err(Missing::NotSupported) => continue,
            remote => remote.map_err(|missing| {
                let link = format!("device {} link {link}", gpu.index());
                no_remote(&link, missing)
            })?,
        };
        let told = match remote_links[link as usize] {
            Ok(id) => format!("Remote Device {}: Link {id}", printable(&remote.bus_id)),
            Err(missing) => missing.words().to_owned(),
        };
        put(out, &format!("\t Link {link}: {told}\n"));
    }
    Ok(())
}

/// `-cBridge`: nothing is said of a board with a bridge to its neighbour. GPUs
/// on one base board have none, nor has one whose links lead to nothing.
fn bridges(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let bridged = || {
        if if_any(links.gpu.switch_link_count())? > 0 {
            return Ok(false);
        }
        for link in (0..links.count).filter(|&link| links.is_up(link)) {
            match links.gpu.link_remote(link) {
                Err(Missing::NotSupported) => {}
                remote => return remote.map(|_| true),
            }
        }
        Ok(false)
    };
    match bridged() {
        Ok(true) => {}
        Ok(false) => put(out, "Not enough NVLinks\n"),
        Err(missing) => return Err(Error::uncounted("NVLinks", links.gpu.index(), missing)),
    }
    Ok(())
}

/// `-info`.
fn info(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let encrypted = links.gpu.links_encrypted().map_err(|missing| {
        let words = missing.words();
        let message = format!(
            "NVML: Unable to retrieve NvLink device info {words}\nUnable to get device info\n"
        );
        Error::unread(missing, message)
    })?;
    let encrypted = crate::value::enabled(encrypted);
    put(out, &format!("\t NVLink encryption: {encrypted}\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_have_no_zeros_at_the_end() {
        let cases = [
            (26562, "26.562 GB/s"),
            (50000, "50 GB/s"),
            (25781, "25.781 GB/s"),
        ];
        for (megabytes, shown) in cases {
            assert_eq!(gigabytes(megabytes), shown);
        }
    }
}
