//! `c2c`: the links between a GPU and the CPU on its module.

use crate::commands::begin;
use crate::error::{Error, Outcome, Status};
use crate::nvml::{Driver, field};

use super::links::{self, Act, Family, Links, Stop, count, speeds, state};
use super::present::Present;
use crate::cli::Takes::{Long, Nothing};
use crate::cli::{ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::output::{self, Say};
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

static FAMILY: Family = Family {
    name: "C2C links",
    label: "C2C Link",
    count: field::C2C_LINK_COUNT,
    state: (field::C2C_LINK_GET_STATUS, "C2C Link information"),
    speed: (field::C2C_LINK_GET_MAX_BW, "C2C link speed"),
    all_speeds: false,
    names: false,
};

/// What is shown of a GPU, in this order.
const VIEWS: &[(&str, Act)] = &[
    ("status", speeds),
    ("errorCounters", errors),
    ("gLowPwrInfo", low_power),
];

fn c2c(line: &Line) -> anyhow::Result<Status> {
    let driver = begin::open()?;
    output::answer(|out| run(&driver, line, &mut |text| put(out, text)))
}

fn run(driver: &Driver, line: &Line, say: Say) -> Result<Outcome, Error> {
    let gpus = Present::named(driver, line)?;
    let views: Vec<_> = VIEWS.iter().filter(|(word, _)| line.has(word)).collect();
    let view = |links: &Links, out: &mut Outcome| {
        // The second one is spelt as nvidia-smi spells it.
        let what = [
            "retrieve C2C link information",
            "retreive C2C Link information",
        ];
        if views.is_empty() || !links.any_up(what, out)? {
            return Ok(());
        }
        views.iter().try_for_each(|(_, view)| view(links, out))
    };
    match links::list(&FAMILY, &gpus, line, false, view, say)? {
        (false, outcome) if outcome.status == Status::Success => Err(Error::new(
            Status::NotSupported,
            "No Devices support C2C.\n",
        )),
        (_, outcome) => Ok(outcome),
    }
}

/// `-e`.
fn errors(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    let rows: &[links::Row] = &[
        ("Error Interrupt Count", field::C2C_LINK_ERROR_INTR, &count),
        ("Error Replay Count", field::C2C_LINK_ERROR_REPLAY, &count),
        (
            "Error Back-to-Back Replay Count",
            field::C2C_LINK_ERROR_REPLAY_B2B,
            &count,
        ),
    ];
    links.rows(links.shown(), rows, "\n", out);
    Ok(())
}

/// `-gLowPwrInfo`.
fn low_power(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    let mode = state(["Full Power State", "Low Power State"]);
    let rows: &[links::Row] = &[("Low Power Mode", field::C2C_LINK_POWER_STATE, &mode)];
    links.rows(links.shown(), rows, "", out);
    Ok(())
}
