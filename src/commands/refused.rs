//! `clocks`, `compute-policy`, `boost-slider` and `power-hint`, which only NVML's
//! private functions can do.

use crate::cli::Takes::{Long, Nothing, Text};
use crate::cli::{ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::commands::begin;
use crate::error::{Error, Status};

/// `clocks`.
#[rustfmt::skip]
pub static CLOCKS: Subcommand = Subcommand {
    name: "clocks",
    about: "Boost groups and sparse operation",
    notes: "NVML has no public functions for these: what is asked for is refused.",
    options: &[
        ID,
        opt("--sync-boost-list", Nothing, "", "The groups of GPUs that boost together"),
        opt("--sync-boost-add", Nothing, "", "Make the GPUs of -i such a group"),
        opt("--sync-boost-remove", Long, "GROUP", "Dissolve a group"),
        opt("-som --sparse-operation-mode", Long, "MODE", "Sparse operation: 0/DISABLED, 1/ENABLED"),
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Command,
    run: Run::Refused(|line| refuse(line, "boost groups and sparse operation")),
};

/// `compute-policy`.
#[rustfmt::skip]
pub static COMPUTE_POLICY: Subcommand = Subcommand {
    name: "compute-policy",
    about: "Time slices of compute work",
    notes: "NVML has no public functions for these: what is asked for is refused.",
    options: &[
        ID,
        opt("-l --list", Nothing, "", "The policies of the GPUs"),
        opt("--set-timeslice", Long, "SLICE", "0 default, 1 short, 2 medium, 3 long"),
    ],
    refuses: Refuses::Tersely,
    needs: Needs::OneCommand,
    run: Run::Refused(|line| refuse(line, "compute policies")),
};

/// `boost-slider`.
#[rustfmt::skip]
pub static BOOST_SLIDER: Subcommand = Subcommand {
    name: "boost-slider",
    about: "Boost sliders",
    notes: "NVML has no public functions for these: what is asked for is refused.",
    options: &[
        ID,
        opt("-l --list", Nothing, "", "The sliders of the GPUs"),
        opt("--vboost", Long, "N", "The video boost slider: 0 to its highest value"),
    ],
    refuses: Refuses::Tersely,
    needs: Needs::OneCommand,
    run: Run::Refused(|line| refuse(line, "boost sliders")),
};

/// `power-hint`.
#[rustfmt::skip]
pub static POWER_HINT: Subcommand = Subcommand {
    name: "power-hint",
    about: "Estimated power at given clocks",
    notes: "NVML has no public functions for this: what is asked for is refused.",
    options: &[
        ID,
        opt("-l --list-info", Nothing, "", "What the other options may be"),
        opt("-gc --graphics-clock", Long, "MHZ", "The graphics clock"),
        opt("-mc --memory-clock", Long, "MHZ", "The memory clock"),
        opt("-t --temperature", Text, "CELSIUS", "The temperature; n before it for one below zero"),
        opt("-p --profile", Long, "N", "The profile"),
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Command,
    run: Run::Refused(|line| refuse(line, "power hints")),
};

/// Refuses what a line asks for; without the driver or the GPUs, those come first.
fn refuse(line: &Line, what: &str) -> anyhow::Result<Status> {
    let driver = begin::open()?;
    begin::select(&driver, line.text("id"))?;
    Err(Error::out_of_reach(what).into())
}
