//! `gpm`: whether the performance counters of GPUs stream.

use super::dry_run::{NOTHING_CHANGED, name, would_change};
use super::present::{able, all_there, there};
use crate::cli::Takes::{Long, Nothing};
use crate::cli::{DRY_RUN, ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::commands::begin;
use crate::error::{Error, Outcome, Status};
use crate::nvml::{Gpu, Missing, each};
use crate::output;
use crate::render::put;

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
        DRY_RUN,
    ],
    refuses: Refuses::Tersely,
    needs: Needs::OneCommand,
    run: Run::Once(gpm),
};

/// Shows or changes whether they stream.
fn gpm(line: &Line) -> anyhow::Result<Status> {
    let dry_run = line.dry_run(&["set-stream-state"])?;
    let state = line.exact("set-stream-state")?;
    let driver = begin::open()?;
    let gpus = begin::select(&driver, line.text("id"))?;
    output::answer(|out| match state {
        Some(state) if dry_run => would_set(&gpus, state.cast_unsigned(), out).map(Outcome::from),
        Some(state) => set(&gpus, state.cast_unsigned()).map(Outcome::from),
        None => show(&gpus, out),
    })
}

const NONE: &str = "No GPM capable devices found.\n";

fn set(gpus: &[Gpu], state: u32) -> Result<(), Error> {
    all_there(gpus)?;
    for gpu in able(gpus, Gpu::has_gpm, NONE)? {
        gpu.set_gpm_streaming(state)
            .map_err(|missing| streaming_failed("set", missing))?;
    }
    Ok(())
}

fn would_set(gpus: &[Gpu], state: u32, out: &mut Vec<u8>) -> Result<(), Error> {
    all_there(gpus)?;
    let wanted = streaming(state != 0);
    for gpu in able(gpus, Gpu::has_gpm, NONE)? {
        let now = gpu.gpm_streaming().map(|on| streaming(on).to_owned());
        let change = would_change("the GPM stream state", now, wanted)
            .map_err(|missing| streaming_failed("set", missing))?;
        put(out, &format!("{change} for GPU {}.\n", name(gpu)));
    }
    put(out, NOTHING_CHANGED);
    Ok(())
}

fn streaming(on: bool) -> &'static str {
    ["DISABLED", "ENABLED"][usize::from(on)]
}

/// nvidia-smi tells of the first GPU alone. So do we while all agree; where they
/// do not, each GPU has its line. One that cannot say is told of after the others.
fn show(gpus: &[Gpu], out: &mut Vec<u8>) -> Result<Outcome, Error> {
    let mut states = Vec::new();
    let mut left = Outcome::default();
    let told = each(gpus, |gpu| {
        there(gpu)?;
        if !gpu.has_gpm().map_err(Error::no_architecture)? {
            return Ok(None);
        }
        let state = gpu.gpm_streaming();
        let state = state.map_err(|missing| streaming_failed("display", missing))?;
        Ok(Some((gpu.index(), state)))
    });
    for told in told {
        match told {
            Ok(state) => states.extend(state),
            Err(failure) => left.note(Err(failure)),
        }
    }
    let Some(&(_, first)) = states.first() else {
        left.into_result()?;
        return Err(Error::new(Status::NotFound, NONE));
    };
    let agree = states.iter().all(|(_, on)| *on == first);
    states.truncate(if agree { 1 } else { states.len() });
    for (gpu, on) in states {
        let word = streaming(on);
        let which = if agree {
            String::new()
        } else {
            format!("GPU {gpu}: ")
        };
        put(out, &format!("{which}GPM stream state: {word}\n"));
    }
    Ok(left)
}

/// A GPU does not tell whether its performance counters stream (`display`),
/// or does not change that (`set`).
fn streaming_failed(verb: &str, missing: Missing) -> Error {
    let words = missing.words();
    let message = format!("Failed to {verb} GPU performance monitoring stream state: {words}\n");
    Error::new(missing.into(), message)
}
