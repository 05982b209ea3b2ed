//! `gpm`: whether the performance counters of GPUs stream.

use std::io::Write;

use super::present::{all_there, ids};
use crate::error::Error;
use crate::nvml::{Gpu, Missing};
use crate::output;
use crate::spelling::options::Takes::{Long, Nothing};
use crate::spelling::subcommand::{ID, Line, Needs, Refuses, Subcommand, opt};

/// `gpm`.
#[rustfmt::skip]
pub static GPM: Subcommand = Subcommand {
    name: "gpm",
    about: "Performance monitoring counters",
    notes: "Shows or changes whether they stream.",
    options: &[
        ID,
        opt("-g --get-stream-state", Nothing, "", "Show whether they stream"),
        opt("-s --set-stream-state", Long, "STATE", "0 ends the stream, 1 begins it"),
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Command,
    run: Some(gpm),
};

/// Shows or changes whether they stream.
fn gpm(line: &Line) -> anyhow::Result<()> {
    line.one_command()?;
    let state = line.exact("set-stream-state")?;
    let driver = crate::open()?;
    let gpus = crate::select(&driver, &ids(line))?;
    output::answer(|out| match state {
        Some(state) => set(&gpus, state.cast_unsigned()),
        None => show(&gpus, out),
    })
}

fn set(gpus: &[Gpu], state: u32) -> Result<(), Error> {
    all_there(gpus)?;
    let mut capable = false;
    for gpu in gpus {
        match gpu.set_gpm_streaming(state) {
            Ok(()) => capable = true,
            Err(Missing::NotSupported) => {}
            Err(missing) => return Err(Error::gpm_streaming("set", missing)),
        }
    }
    capable.then_some(()).ok_or_else(Error::no_gpm_device)
}

/// nvidia-smi tells of the first GPU alone. So do we while all agree; where they
/// do not, each GPU has its line. One that cannot say is told of after the others.
fn show(gpus: &[Gpu], out: &mut Vec<u8>) -> Result<(), Error> {
    let mut states = Vec::new();
    let mut unread = Ok(());
    for gpu in gpus {
        match gpu.gpm_streaming() {
            Ok(on) => states.push((gpu.index(), on)),
            Err(Missing::NotSupported) => {}
            Err(missing) => {
                let failure = match gpu.device() {
                    Ok(_) => Error::gpm_streaming("display", missing),
                    Err(why) => Error::no_handle(gpu.index(), why),
                };
                unread = unread.and(Err(failure));
            }
        }
    }
    let Some(&(_, first)) = states.first() else {
        return unread.and(Err(Error::no_gpm_device()));
    };
    let agree = states.iter().all(|(_, on)| *on == first);
    states.truncate(if agree { 1 } else { states.len() });
    for (gpu, on) in states {
        let word = if on { "ENABLED" } else { "DISABLED" };
        let which = if agree {
            String::new()
        } else {
            format!("GPU {gpu}: ")
        };
        // Writing to memory does not fail.
        let _ = writeln!(out, "{which}GPM stream state: {word}");
    }
    unread
}
