//! `pci`: what the PCI links counted.

use crate::commands::begin;
use crate::error::{Error, Outcome, Status};
use crate::nvml::{Driver, Gpu, Missing, Reading, field};

use super::dry_run::{NOTHING_CHANGED, name};
use super::present::{Present, failed, heading, of_each};
use crate::cli::Takes::Nothing;
use crate::cli::{DRY_RUN, ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::output::{self, Say};

/// `pci`.
#[rustfmt::skip]
pub static PCI: Subcommand = Subcommand {
    name: "pci",
    about: "PCIe errors and counters",
    notes: "",
    options: &[
        ID,
        opt("-gErrCnt --getErrorCounters", Nothing, "", "The error counters"),
        opt("-cErrCnt --clearErrorCounters", Nothing, "", "Set the error counters to zero"),
        opt("-gCnt --getCounters", Nothing, "", "The bytes sent and received"),
        DRY_RUN,
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Option,
    run: Run::Once(pci),
};

const ERRORS: &[(&str, u32)] = &[
    ("REPLAY_COUNTER", field::PCIE_REPLAY_COUNTER),
    (
        "REPLAY_ROLLOVER_COUNTER",
        field::PCIE_REPLAY_ROLLOVER_COUNTER,
    ),
    ("L0_TO_RECOVERY_COUNTER", field::PCIE_L0_TO_RECOVERY_COUNTER),
    ("CORRECTABLE_ERRORS", field::PCIE_COUNT_CORRECTABLE_ERRORS),
    ("NAKS_RECEIVED", field::PCIE_COUNT_NAKS_RECEIVED),
    ("RECEIVER_ERROR", field::PCIE_COUNT_RECEIVER_ERROR),
    ("BAD_TLP", field::PCIE_COUNT_BAD_TLP),
    ("NAKS_SENT", field::PCIE_COUNT_NAKS_SENT),
    ("BAD_DLLP", field::PCIE_COUNT_BAD_DLLP),
    ("NON_FATAL_ERROR", field::PCIE_COUNT_NON_FATAL_ERROR),
    ("FATAL_ERROR", field::PCIE_COUNT_FATAL_ERROR),
    ("UNSUPPORTED_REQ", field::PCIE_COUNT_UNSUPPORTED_REQ),
    ("LCRC_ERROR", field::PCIE_COUNT_LCRC_ERROR),
];

const LANE_ERROR: &str = "LANE_ERROR";

const BYTES: &[(&str, u32)] = &[
    ("TX_BYTES", field::PCIE_COUNT_TX_BYTES),
    ("RX_BYTES", field::PCIE_COUNT_RX_BYTES),
];

/// nvidia-smi shows so many lanes, whatever the link's width.
const LANES: u32 = 13;

fn pci(line: &Line) -> anyhow::Result<Status> {
    let dry_run = line.dry_run(&["clearErrorCounters"])?;
    let driver = begin::open()?;
    output::as_it_happens(|say| run(&driver, line, dry_run, say))
}

fn run(driver: &Driver, line: &Line, dry_run: bool, say: Say) -> Result<Outcome, Error> {
    let gpus = Present::named(driver, line)?;
    let changes = line.has("clearErrorCounters");
    if changes {
        // Nothing is cleared without one of the GPUs.
        gpus.none_left_out()?;
    }
    let mut left = Outcome::default();
    for (part, cleared) in of_each(&gpus, changes, |gpu| of_gpu(gpu, line, dry_run)) {
        say(&part.text);
        left.fail(part.status);
        cleared?;
    }
    if dry_run {
        say(NOTHING_CHANGED);
    }
    left.note(gpus.none_left_out());
    Ok(left)
}

/// The part of a GPU, and whether its counters were cleared.
fn of_gpu(gpu: &Gpu, line: &Line, dry_run: bool) -> (Outcome, Result<(), Error>) {
    let mut part = Outcome {
        text: heading(gpu),
        ..Outcome::default()
    };
    if line.has("getErrorCounters") {
        counters(gpu, ERRORS, &mut part);
        part.text += &row(LANE_ERROR, "");
        for (lane, errors) in gpu.numbers(&lanes()).into_iter().enumerate() {
            part.text += &format!("\t lane {lane:>2}: {}\n", shown(errors));
        }
    }
    if line.has("getCounters") {
        counters(gpu, BYTES, &mut part);
    }
    let mut cleared = Ok(());
    if dry_run {
        part.text += &format!("Would clear all error counters for GPU {}.\n", name(gpu));
    } else if line.has("clearErrorCounters") {
        cleared = clear(gpu, &mut part.text);
    }
    (part, cleared)
}

fn lanes() -> Vec<(u32, u32)> {
    (0..LANES)
        .map(|lane| (field::PCIE_COUNT_LANE_ERROR, lane))
        .collect()
}

/// `-cErrCnt`. A lane beside the first that is not supported is one that the
/// link does not have.
fn clear(gpu: &Gpu, out: &mut String) -> Result<(), Error> {
    let mut ids: Vec<(u32, u32)> = ERRORS.iter().map(|&(_, id)| (id, 0)).collect();
    ids.extend(lanes());
    let cleared = gpu.clear_numbers(&ids);
    let cleared = cleared.map_err(failed("Unable to clear error counters"))?;
    let (counters, lanes) = cleared.split_at(ERRORS.len().min(cleared.len()));
    let lane = |(lane, &cleared): (usize, &Reading<()>)| match cleared {
        Err(Missing::NotSupported) if lane > 0 => None,
        cleared => cleared.err(),
    };
    let outcomes = counters.iter().map(|cleared| cleared.err());
    let outcomes = outcomes.chain([lanes.iter().enumerate().find_map(lane)]);
    let labels = ERRORS.iter().map(|(label, _)| *label).chain([LANE_ERROR]);
    let mut first = None;
    for (label, missing) in labels.zip(outcomes) {
        if let Some(missing) = missing {
            *out += &row(label, "fail to clear");
            first.get_or_insert(missing);
        }
    }
    match first {
        Some(missing) => Err(Error::unread(missing, "")),
        None => {
            *out += "Successfully cleared all error counters\n";
            Ok(())
        }
    }
}

/// A row for each counter, which tells of what failed; where NVML answers for none,
/// so does the status.
fn counters(gpu: &Gpu, rows: &[(&str, u32)], part: &mut Outcome) {
    let ids: Vec<(u32, u32)> = rows.iter().map(|&(_, id)| (id, 0)).collect();
    let values = gpu.numbers_or_none(&ids);
    if let Err(missing) = values {
        part.fail(missing.into());
    }
    let values = values.unwrap_or_else(|missing| vec![Err(missing); rows.len()]);
    for ((label, _), value) in rows.iter().zip(values) {
        part.text += &row(label, &shown(value));
    }
}

fn row(label: &str, value: &str) -> String {
    format!("    {:<25}{value}\n", format!("{label}:"))
}

fn shown(value: Reading<i64>) -> String {
    match value {
        Ok(number) => number.to_string(),
        Err(Missing::NotSupported) => "N/A".to_owned(),
        Err(missing) => format!("error return {}", missing.code()),
    }
}
