//! `c2c`: the links between a GPU and the CPU on its module.

use crate::commands::begin;
use crate::error::Error;
use crate::nvml::{Driver, Gpu, Missing, Reading, field, if_any};

use super::nvlink::gigabytes;
use super::present::{Present, both, count, heading, of_each, tell};
use crate::cli::Takes::{Long, Nothing};
use crate::cli::{ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::output;
use crate::render::put;

/// `c2c`.
#[rustfmt::skip]
pub static C2C: Subcommand = Subcommand {
    name: "c2c",
    about: "State of the chip-to-chip links",
    notes: "",
    options: &[
        ID,
        opt("-l --link", Long, "N", "Only this link"),
        opt("-s --status", Nothing, "", "Whether the links are up, and how fast"),
        opt("-e --errorCounters", Nothing, "", "The error counters"),
        opt("-gLowPwrInfo -getLowPowerInfo", Nothing, "", "The power states"),
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Option,
    run: Run::Once(c2c),
};

type View = fn(&Links, &mut Vec<u8>) -> Result<(), Error>;

/// What is shown of a GPU, in this order.
const VIEWS: &[(&str, View)] = &[
    ("status", status),
    ("errorCounters", errors),
    ("gLowPwrInfo", low_power),
];

/// The counters of `-e`.
const ERRORS: &[(&str, u32)] = &[
    ("Error Interrupt Count", field::C2C_LINK_ERROR_INTR),
    ("Error Replay Count", field::C2C_LINK_ERROR_REPLAY),
    (
        "Error Back-to-Back Replay Count",
        field::C2C_LINK_ERROR_REPLAY_B2B,
    ),
];

/// The words for `C2C_LINK_POWER_STATE`.
const POWER_STATES: [&str; 2] = ["Full Power State", "Low Power State"];

fn c2c(line: &Line) -> anyhow::Result<()> {
    let driver = begin::open()?;
    output::answer(|out| run(&driver, line, out))
}

fn run(driver: &Driver, line: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let gpus = Present::named(driver, line)?;
    let mut unread = Ok(());
    let mut linked = false;
    for told in of_each(&gpus, false, |gpu| of_gpu(gpu, line)) {
        match told {
            Ok(None) => {}
            Ok(Some((text, shown))) => {
                linked = true;
                out.extend(text);
                match shown {
                    // Told under the heading of its GPU; the status tells of it at the end.
                    Err(failure) if failure.is_of_one_gpu() => {
                        unread = both(unread, tell(&failure, out));
                    }
                    done => done?,
                }
            }
            Err(uncounted) => unread = both(unread, Err(uncounted)),
        }
    }
    let all = both(unread, gpus.none_left_out());
    if linked {
        all
    } else {
        all.and(Err(Error::no_c2c()))
    }
}

/// What is told of a GPU, and how that ended; nothing of one without C2C links.
type Told = Option<(Vec<u8>, Result<(), Error>)>;

fn of_gpu(gpu: &Gpu, line: &Line) -> Result<Told, Error> {
    let count = match if_any(gpu.c2c_link_count()) {
        Ok(0) => return Ok(None),
        count => count.map_err(|missing| Error::uncounted("C2C links", gpu.index(), missing))?,
    };
    let mut out = heading(gpu).into_bytes();
    let mut views = VIEWS
        .iter()
        .filter(|(option, _)| line.has(option))
        .peekable();
    if views.peek().is_none() {
        return Ok(Some((out, Ok(()))));
    }
    let only = line
        .number("link")
        .and_then(|link| u32::try_from(link).ok());
    let links = Links::of(gpu, count, only);
    let shown = match links.any_up(&mut out) {
        true => links
            .known()
            .and_then(|()| views.try_for_each(|(_, view)| view(&links, &mut out))),
        false => Ok(()),
    };
    Ok(Some((out, shown)))
}

/// The C2C links of a GPU.
struct Links<'g, 'd> {
    gpu: &'g Gpu<'d>,
    count: u32,
    /// The one that `-l` names.
    only: Option<u32>,
    /// Whether each is up.
    up: Vec<Reading<i64>>,
}

impl<'g, 'd> Links<'g, 'd> {
    fn of(gpu: &'g Gpu<'d>, count: u32, only: Option<u32>) -> Self {
        let ids: Vec<(u32, u32)> = (0..count)
            .map(|link| (field::C2C_LINK_GET_STATUS, link))
            .collect();
        let up = gpu.numbers(&ids);
        Self {
            gpu,
            count,
            only,
            up,
        }
    }

    /// Whether a link is up.
    fn state(&self, link: u32) -> Reading<bool> {
        let state = self.up.get(link as usize).copied();
        let state = state.unwrap_or(Err(Missing::UNKNOWN))?;
        Ok(state == 1)
    }

    /// Refuses to tell of links one of whose states could not be read.
    fn known(&self) -> Result<(), Error> {
        for link in self.shown() {
            self.state(link).map_err(|missing| {
                let words = missing.words();
                let message = format!(
                    "NVML: Unable to retrieve C2C Link information for link {link}: {words}\n"
                );
                Error::unread(missing, message)
            })?;
        }
        Ok(())
    }

    /// The links to show.
    fn shown(&self) -> impl Iterator<Item = u32> {
        let only = self.only;
        (0..self.count).filter(move |link| only.is_none_or(|only| only == *link))
    }

    /// Several fields of each link to show, one call of `nvmlDeviceGetFieldValues`.
    fn ask_shown(&self, fields: &[u32]) -> Vec<(u32, Vec<Reading<i64>>)> {
        let ids: Vec<(u32, u32)> = self
            .shown()
            .flat_map(|link| fields.iter().map(move |&field| (field, link)))
            .collect();
        let values = self.gpu.numbers(&ids);
        let each = values.chunks(fields.len().max(1)).map(<[_]>::to_vec);
        self.shown().zip(each).collect()
    }

    /// Says that nothing can be said where no link to show is up. One whose state
    /// cannot be read may be.
    fn any_up(&self, out: &mut Vec<u8>) -> bool {
        if self.shown().any(|link| self.state(link) != Ok(false)) {
            return true;
        }
        let message = match self.only {
            Some(link) => format!(
                "NVML: Unable to retrieve C2C link information for link {link} - inActive\n"
            ),
            None => "NVML: Unable to retreive C2C Link information as all links are inActive\n"
                .to_owned(),
        };
        put(out, &message);
        false
    }
}

/// `-s`.
fn status(links: &Links, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut unread = Ok(());
    for (link, values) in links.ask_shown(&[field::C2C_LINK_GET_MAX_BW]) {
        if links.state(link) == Ok(false) {
            put(out, &format!("\t C2C Link {link}: <inactive>\n"));
            continue;
        }
        for speed in values {
            match speed {
                Ok(speed) => put(out, &format!("\t C2C Link {link}: {}\n", gigabytes(speed))),
                Err(missing) => {
                    let words = missing.words();
                    let message = format!(
                        "NVML: Unable to retrieve C2C link speed for link {link}: {words}\n"
                    );
                    unread = both(unread, tell(&Error::unread(missing, message), out));
                }
            }
        }
    }
    unread
}

/// `-e`.
fn errors(links: &Links, out: &mut Vec<u8>) -> Result<(), Error> {
    let fields: Vec<u32> = ERRORS.iter().map(|&(_, field)| field).collect();
    for (link, values) in links.ask_shown(&fields) {
        for ((name, _), value) in ERRORS.iter().zip(values) {
            let value = count(value);
            put(out, &format!("\t C2C Link {link}: {name}: {value}\n"));
        }
        put(out, "\n");
    }
    Ok(())
}

/// `-gLowPwrInfo`.
fn low_power(links: &Links, out: &mut Vec<u8>) -> Result<(), Error> {
    for (link, values) in links.ask_shown(&[field::C2C_LINK_POWER_STATE]) {
        for value in values {
            let mode = power_state(value);
            put(
                out,
                &format!("\t C2C Link {link}: Low Power Mode: {mode}\n"),
            );
        }
    }
    Ok(())
}

fn power_state(reading: Reading<i64>) -> &'static str {
    match reading {
        Ok(state) => usize::try_from(state)
            .ok()
            .and_then(|state| POWER_STATES.get(state).copied())
            .unwrap_or("Unknown"),
        Err(missing) => missing.words_or_not_available(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_states_have_words() {
        let cases = [
            (Ok(0), "Full Power State"),
            (Ok(1), "Low Power State"),
            (Ok(2), "Unknown"),
            (Ok(-1), "Unknown"),
            (Err(Missing::NotSupported), "N/A"),
        ];
        for (state, words) in cases {
            assert_eq!(power_state(state), words);
        }
    }
}
