//! `nvlink`: state and counters of the NVLinks.

use crate::error::Error;
use crate::nvml::{Driver, Gpu, LINK_CAPABILITIES, Missing, Reading, field};

use super::subcommand::{Given, Opt, Subcommand, Takes, heading, put};

mod counters;
mod modes;

use counters::{errors, lane_errors, throughput};
use modes::{bandwidth_mode, low_power, width};

use Takes::{Nothing, Number, Text};

/// The subcommand.
pub const NVLINK: Subcommand = Subcommand {
    name: "nvlink",
    about: "State and counters of the NVLinks.",
    options: &[
        Opt::new(
            "-i --id",
            Text,
            "Only these GPUs: index, UUID or PCI bus id.",
        ),
        Opt::new("-l --link", Number, "Only this link."),
        Opt::new(
            "-s --status",
            Nothing,
            "Show whether the links are up, and how fast.",
        ),
        Opt::new("-c --capabilities", Nothing, "Show what the links can do."),
        Opt::new(
            "-p --pcibusid",
            Nothing,
            "Show the PCI bus id of what the links lead to.",
        ),
        Opt::new(
            "-R --remotelinkinfo",
            Nothing,
            "Show the device and the link that the links lead to.",
        ),
        Opt::new(
            "-sc --setcontrol",
            Nothing,
            "Gone; the driver no longer has it.",
        ),
        Opt::new(
            "-gc --getcontrol",
            Nothing,
            "Gone; the driver no longer has it.",
        ),
        Opt::new(
            "-g --getcounters",
            Nothing,
            "Gone; -gt has taken its place.",
        ),
        Opt::new(
            "-r --resetcounters",
            Nothing,
            "Gone; the driver no longer has it.",
        ),
        Opt::new("-e --errorcounters", Nothing, "Show the error counters."),
        Opt::new(
            "-ec --crcerrorcounters",
            Nothing,
            "Show the error counters of each lane.",
        ),
        Opt::new(
            "-re --reseterrorcounters",
            Nothing,
            "Set the error counters to zero.",
        ),
        Opt::new(
            "-gt --getthroughput",
            Text,
            "Show what went over the links, KiB:\nd = data   r = data and protocol",
        ),
        Opt::new(
            "-sLowPwrThres --setLowPowerThreshold",
            Text,
            "Set how long a link idles before it saves power.",
        ),
        Opt::new(
            "-gLowPwrInfo --getLowPowerInfo",
            Nothing,
            "Show whether links save power, and when.",
        ),
        Opt::new(
            "-sBwMode --setBandwidthMode",
            Text,
            "Set how much bandwidth the links may use.",
        ),
        Opt::new(
            "-gBwMode --getBandwidthMode",
            Nothing,
            "Show how much bandwidth the links may use.",
        ),
        Opt::new(
            "-cBridge --checkBridge",
            Nothing,
            "Check the bridges between boards.",
        ),
        Opt::new(
            "-sLWidth --setLinkWidth",
            Text,
            "Set the width of the links.",
        ),
        Opt::new(
            "-gLWidth --getLinkWidth",
            Nothing,
            "Show the width of the links.",
        ),
        Opt::new(
            "-info --info",
            Nothing,
            "Show what the GPU says of its links.",
        ),
    ],
    run,
};

/// Not built: what changes a GPU, and what no recording shows.
const NOT_BUILT: &[(&str, &str)] = &[
    ("-re", "nvlink -re"),
    ("-sLowPwrThres", "nvlink -sLowPwrThres"),
    ("-sBwMode", "nvlink -sBwMode"),
    ("-sLWidth", "nvlink -sLWidth"),
];

type View = fn(&Links, &Given, &mut Vec<u8>) -> Result<(), Error>;

/// What is shown of a GPU, in this order.
const VIEWS: &[(&str, View)] = &[
    ("-s", status),
    ("-c", capabilities),
    ("-p", remote_ids),
    ("-R", remote_links),
    ("-sc", |_, _, _| {
        Err(Error::deprecated(
            "Warning: Setting counter control is deprecated!\n\n",
        ))
    }),
    ("-gc", |_, _, _| {
        Err(Error::deprecated(
            "Warning: Getting counter control is deprecated!\n\n",
        ))
    }),
    ("-g", |_, _, _| {
        Err(Error::deprecated(
            "Warning: Getting counters using option -g is deprecated. \nPlease use option -gt instead.\n\n",
        ))
    }),
    ("-r", |_, _, _| {
        Err(Error::deprecated(
            "Warning: Resetting throughput counters is deprecated!\n\n",
        ))
    }),
    ("-e", errors),
    ("-ec", lane_errors),
    ("-gt", throughput),
    ("-gLowPwrInfo", low_power),
    ("-cBridge", bridges),
    ("-gLWidth", width),
    ("-info", info),
];

fn run(driver: &Driver, given: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let gpus = given.gpus(driver)?;
    if let Some((_, name)) = NOT_BUILT.iter().find(|(option, _)| given.has(option)) {
        return Err(Error::not_built(name));
    }
    if given.has("-gBwMode") {
        return bandwidth_mode(driver, out);
    }
    for gpu in &gpus {
        // A GPU without NVLinks is passed over.
        let Some(links) = Links::of(gpu, given) else {
            continue;
        };
        heading(gpu, out);
        for (_, view) in VIEWS.iter().filter(|(option, _)| given.has(option)) {
            view(&links, given, out)?;
        }
    }
    Ok(())
}

/// The NVLinks of a GPU.
struct Links<'g, 'd> {
    gpu: &'g Gpu<'d>,
    count: u32,
    /// The one that `-l` names.
    only: Option<u32>,
    /// Whether each is up.
    up: Vec<Reading<i64>>,
}

impl<'g, 'd> Links<'g, 'd> {
    fn of(gpu: &'g Gpu<'d>, given: &Given) -> Option<Self> {
        let count = gpu.link_count().ok().filter(|&count| count > 0)?;
        let mut links = Self {
            gpu,
            count,
            only: given.number("-l").and_then(|link| u32::try_from(link).ok()),
            up: Vec::new(),
        };
        if VIEWS.iter().any(|(option, _)| given.has(option)) {
            links.up = links.ask(field::NVLINK_GET_STATE);
        }
        Some(links)
    }

    /// A field of every link, one call.
    fn ask(&self, field: u32) -> Vec<Reading<i64>> {
        let ids: Vec<(u32, u32)> = (0..self.count).map(|link| (field, link)).collect();
        self.gpu.numbers(&ids)
    }

    /// Several fields of each link to show that is up, one call.
    fn ask_shown(&self, fields: &[u32]) -> Vec<(u32, Vec<Reading<i64>>)> {
        let links = || self.shown_up();
        let ids: Vec<(u32, u32)> = links()
            .flat_map(|link| fields.iter().map(move |&field| (field, link)))
            .collect();
        let values = self.gpu.numbers(&ids);
        let each = values.chunks(fields.len().max(1)).map(<[_]>::to_vec);
        links().zip(each).collect()
    }

    /// The links to show.
    fn shown(&self) -> impl Iterator<Item = u32> {
        let only = self.only;
        (0..self.count).filter(move |link| only.is_none_or(|only| only == *link))
    }

    fn is_up(&self, link: u32) -> bool {
        self.up.get(link as usize) == Some(&Ok(1))
    }

    /// Those to show that are up.
    fn shown_up(&self) -> impl Iterator<Item = u32> {
        self.shown().filter(|&link| self.is_up(link))
    }

    /// Whether `-l` names a link that the GPU does not have.
    fn invalid(&self) -> bool {
        self.only.is_some_and(|link| link >= self.count)
    }

    /// Says that nothing can be said where no link to show is up: `what`, "for
    /// link" or "as all links are". A state that could not be read is told.
    fn any_up(&self, what: &str, out: &mut Vec<u8>) -> Result<bool, Error> {
        for link in self.shown() {
            if let Err(missing) = self.up[link as usize] {
                let words = missing.words();
                let message = format!(
                    "NVML: Unable to retrieve NvLink link state for link {link}: {words}\n"
                );
                return Err(Error::unread(missing, message));
            }
        }
        if self.shown_up().next().is_some() {
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
fn status(links: &Links, _: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    if links.invalid() {
        put(out, "\t Invalid Link\n");
        return Ok(());
    }
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
fn capabilities(links: &Links, _: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    const NAMES: [&str; LINK_CAPABILITIES as usize] = [
        "P2P is supported",
        "Access to system memory supported",
        "P2P atomics supported",
        "System memory atomics supported",
        "SLI is supported",
        "Link is supported",
    ];
    for link in links.shown_up() {
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
fn remote_ids(links: &Links, _: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    for link in links.shown_up() {
        let remote = links.gpu.link_remote(link).map_err(|missing| {
            let words = missing.words();
            let message = format!(
                "NVML: Unable to retrieve NvLink remote PCI information for link {link}: {words}\n"
            );
            Error::unread(missing, message)
        })?;
        put(out, &format!("\t Link {link}: {}\n", remote.bus_id));
    }
    Ok(())
}

/// `-R`.
fn remote_links(links: &Links, _: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let remote_links = links.ask(field::NVLINK_REMOTE_NVLINK_ID);
    for link in links.shown() {
        match (links.gpu.link_remote(link), remote_links[link as usize]) {
            // Nothing is at the other end.
            (Err(Missing::NotSupported), _) => {}
            (Ok(remote), Ok(id)) => {
                put(
                    out,
                    &format!(
                        "\t Link {link}: Remote Device {}: Link {id}\n",
                        remote.bus_id
                    ),
                );
            }
            (Err(missing), _) | (_, Err(missing)) => {
                put(out, &format!("\t Link {link}: {}\n", missing.words()));
            }
        }
    }
    Ok(())
}

/// `-cBridge`: GPUs on one base board have no bridges, nor has one whose links
/// lead to nothing.
fn bridges(links: &Links, _: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let to_switches = links.gpu.switch_link_count().unwrap_or(0) > 0;
    if !to_switches
        && links
            .shown_up()
            .any(|link| links.gpu.link_remote(link).is_ok())
    {
        return Err(Error::not_built("nvlink -cBridge for linked boards"));
    }
    put(out, "Not enough NVLinks\n");
    Ok(())
}

/// `-info`.
fn info(links: &Links, _: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
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
