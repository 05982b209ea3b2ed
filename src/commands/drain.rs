//! `drain`: takes a GPU out of use, and back.

use super::dry_run::{NOTHING_CHANGED, by_root, name, would_change};
use crate::cli::Takes::{Long, Nothing, Text};
use crate::cli::{DRY_RUN, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::commands::begin;
use crate::error::{Error, Status};
use crate::nvml::{Driver, Reading};
use crate::output;

/// `drain`.
#[rustfmt::skip]
pub static DRAIN: Subcommand = Subcommand {
    name: "drain",
    about: "Take a GPU out of use, and back",
    notes: "No new client gets a GPU that is drained.",
    options: &[
        opt("-p --pciid", Text, "PLACE", "The GPU, as domain:bus:device.function in hex:\n0000:3B:00.0"),
        opt("-m --modify", Long, "STATE", "1 to drain the GPU, 0 to end that; persistence mode\nmust be off"),
        opt("-q --query", Nothing, "", "Whether the GPU is being drained"),
        opt("-r --remove", Nothing, "", "Remove the drained GPU from the system"),
        opt("-d --discover", Nothing, "", "Find the GPUs that were removed"),
        DRY_RUN,
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Command,
    run: Run::Once(drain),
};

/// A place on the PCI bus: domain, bus and device.
type Place = (u32, u32, u32);

/// What a line asks for, in the order in which it is done.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    place: Option<Place>,
    /// Whether the GPU is to be drained.
    modify: Option<bool>,
    query: bool,
    remove: bool,
    discover: bool,
    dry_run: bool,
}

impl Asked {
    fn read(line: &Line) -> Result<Self, Error> {
        let place = line.text("pciid").map(|text| {
            let message = "Failed to parse device specified at the command-line\n";
            place(text).ok_or_else(|| Error::refused(message))
        });
        let modify = line.exact("modify")?.map(|state| match state {
            0 | 1 => Ok(state == 1),
            _ => Err(line.invalid("modify")),
        });
        let asked = Self {
            place: place.transpose()?,
            modify: modify.transpose()?,
            query: line.has("query"),
            remove: line.has("remove"),
            discover: line.has("discover"),
            dry_run: line.dry_run(&["modify", "remove", "discover"])?,
        };
        if asked.place.is_none() && line.has_any(&["modify", "query", "remove"]) {
            return Err(Error::refused("Must specify -p with this option.\n"));
        }
        if asked.modify.is_some() && asked.remove {
            return Err(Error::refused("Cannot specify both -m and -r.\n"));
        }
        Ok(asked)
    }
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

fn drain(line: &Line) -> anyhow::Result<Status> {
    let asked = Asked::read(line)?;
    let driver = begin::open()?;
    output::as_it_happens(|say| run(&driver, &asked, say))
}

/// Does what the line asks for, in the real tool's order, up to the first failure.
/// What was done is told by `say` as it is done; a dry run tells what would be.
fn run(driver: &Driver, asked: &Asked, mut say: impl FnMut(&str)) -> Result<(), Error> {
    let mut done = |step: Reading<String>, failed: &str| match step {
        Ok(text) => {
            say(&text);
            Ok(())
        }
        // The real tool gives no reason here, and this status whatever it is.
        Err(_) => Err(Error::failed(failed)),
    };
    let dry = asked.dry_run;
    if let Some(place) = asked.place {
        let (domain, bus, device) = place;
        let mut gpu = format!("{domain:08X}:{bus:02X}:{device:02X}.0");
        if dry && let Ok([known]) = driver.select(&gpu).as_deref() {
            gpu = name(known);
        }
        let state = || {
            driver
                .is_draining(place)
                .map(|state| word(state).to_owned())
        };
        if let Some(wish) = asked.modify {
            let wanted = word(wish);
            let step = if dry {
                by_root()
                    .and_then(|()| would_change("the drain state", state(), wanted))
                    .map(|change| format!("{change} for GPU {gpu}.\n"))
            } else {
                driver
                    .set_draining(place, wish)
                    .map(|()| format!("Successfully set GPU {gpu} drain state to: {wanted}.\n"))
            };
            done(step, "Failed to modify the GPU drain state.\n")?;
        }
        if asked.query {
            let text = |state| format!("The current drain state of GPU {gpu} is: {state}.\n");
            done(state().map(text), "Failed to query the GPU drain state.\n")?;
        }
        if asked.remove {
            let step = if dry {
                by_root().map(|()| format!("Would remove GPU {gpu} from the system.\n"))
            } else {
                driver
                    .remove(place)
                    .map(|()| format!("GPU {gpu} successfully removed.\n"))
            };
            done(step, "Failed to remove the specified GPU.\n")?;
        }
    }
    if asked.discover {
        let step = if dry {
            by_root().map(|()| "Would look for GPUs that were removed.\n")
        } else {
            driver.discover().map(|()| DISCOVERED)
        };
        done(
            step.map(str::to_owned),
            "Failed to perform a PCI discover for GPUs.\n",
        )?;
    }
    if dry {
        say(NOTHING_CHANGED);
    }
    Ok(())
}

const DISCOVERED: &str = "Discovery completed successfully.  Any discovered GPUs will now appear in the enumeration list and device count.\n";

fn word(draining: bool) -> &'static str {
    ["not draining", "draining"][usize::from(draining)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::line;

    fn read(text: &str) -> Result<Asked, Error> {
        Asked::read(&line(&DRAIN, text)?)
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
        let drained = Asked {
            place: Some((0, 0x19, 0)),
            modify: Some(true),
            ..Asked::default()
        };
        assert_eq!(read("-m 1 -p 0000:19:00.0"), Ok(drained));
        for text in [
            "-p 0000:19:00.0 -m 2",
            "-p 0000:19:00.0 -m on",
            "-p 0000:19:00.0 -m -1",
            "-p 0000:19:00.0 -m 1 -r",
            "-p 0000:19:00.0 -m x",
            "-p 0000:19:00.0 -m ",
            "-p 0000:19:00.0 -m 4294967297",
            "-m 1",
            "-p 0000:19:00.0 -m",
        ] {
            let status = read(text).map_err(|error| error.status());
            assert_eq!(status, Err(Status::InvalidArgument), "{text}");
        }
    }
}
