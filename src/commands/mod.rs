//! One file per command: ask, build, render. And what begins each of them.

mod begin;
mod c2c;
mod confidential;
mod dmon;
mod drain;
mod dry_run;
mod gpm;
mod hostname;
mod led;
mod links;
mod list;
mod log;
mod mig;
pub mod modify;
mod nvlink;
mod pci;
mod pmon;
mod power;
mod present;
mod query;
mod refused;
mod repeat;
mod sessions;
mod summary;
mod topo;
mod version;
mod vgpu;
mod watching;

use std::path::Path;

use crate::cli::{Command, Request, Subcommand};
use crate::error::{Error, Status};
use crate::help;
use crate::host::kernel::Kernel;
use crate::nvml::{self, Driver, Gpu};
use crate::output::{self, Output};
use crate::render::put;
use begin::{open, select};
use modify::reset::{Facts, Reset};
use repeat::repeat;

/// The words that may stand first on a command line, in the order of the usage
/// screen. What follows one is its own business.
pub static SUBCOMMANDS: &[&Subcommand] = &[
    &dmon::DMON,
    &Subcommand::not_built("daemon", "Record the GPUs in the background"),
    &Subcommand::not_built("replay", "Show what the daemon recorded"),
    &pmon::PMON,
    &topo::TOPO,
    &drain::DRAIN,
    &nvlink::NVLINK,
    &c2c::C2C,
    &refused::CLOCKS,
    &sessions::ENCODERSESSIONS,
    &sessions::FBCSESSIONS,
    &vgpu::VGPU,
    &mig::MIG,
    &refused::COMPUTE_POLICY,
    &refused::BOOST_SLIDER,
    &refused::POWER_HINT,
    &Subcommand::not_built("base-clocks", "Base clocks"),
    &confidential::CONF_COMPUTE,
    &gpm::GPM,
    &pci::PCI,
    &power::smoothing::POWER_SMOOTHING,
    &power::profiles::POWER_PROFILES,
    &Subcommand::not_built("prm", "PRM registers"),
];

/// Does what is asked; the status to end with.
pub fn run(request: &Request) -> anyhow::Result<Status> {
    if !request.warnings.is_empty() {
        // Where there is no driver, that is all that is said.
        drop(open()?);
        Output::stdout()?.write(request.warnings.as_bytes())?;
    }
    let ids = request.ids.as_deref();
    let file = request.file.as_deref();
    let every = request.every.clone().transpose();
    let mut answer = Vec::new();
    match &request.command {
        Command::Help => help::usage(SUBCOMMANDS, &mut answer),
        Command::HelpQuery(list) => help::fields(*list, &mut answer),
        Command::Usage(of, complaint) => put(
            &mut answer,
            &match complaint {
                None => help::subcommand(of),
                Some(complaint) => help::below(complaint, of),
            },
        ),
        Command::ListGpus => return output::answer(|_| list::gpus(&open()?)),
        Command::ListExcluded => return output::answer(|out| list::excluded(&open()?, out)),
        Command::Version => version::version(&open()?, &mut answer),
        Command::Summary { columns } => {
            let every = every?;
            let driver = open()?;
            let mut gpus = select(&driver, ids)?;
            let columns = columns.clone()?;
            let mut output = Output::open(file, no_log_file)?;
            repeat(every, &mut gpus, &mut output, answer, |gpus, time, out| {
                summary::summary(&driver, gpus, columns, time, out);
            })?;
            return Ok(begin::all(&gpus, Gpu::is_known));
        }
        Command::Query {
            list,
            fields,
            format,
        } => {
            let driver = open()?;
            let query = query::prepare(*list, fields, format.as_deref())?;
            let every = every?;
            let mut gpus = select(&driver, ids)?;
            let mut output = Output::open(file, no_query_file)?;
            repeat(
                every,
                &mut gpus,
                &mut output,
                query.header,
                |gpus, time, out| {
                    (query.sample)(&driver, gpus, time, out);
                },
            )?;
            return Ok(begin::all_answer(&gpus));
        }
        Command::Log {
            display,
            xml,
            dtd,
            unit,
        } => {
            let every = every?;
            let driver = open()?;
            let report = log::Report::new(display.as_deref(), *xml, *dtd)?;
            let mut gpus = match unit {
                true => log::no_units(&driver, ids).map(|()| Vec::new()),
                false => select(&driver, ids),
            }?;
            let mut output = Output::open(file, no_log_file)?;
            repeat(every, &mut gpus, &mut output, answer, |gpus, time, out| {
                if *unit {
                    report.units(&driver, time, out)
                } else {
                    report.gpus(&driver, gpus, time, out)
                }
            })?;
            // Without its place on the bus a GPU's part of the report has no heading.
            return Ok(begin::all(&gpus, Gpu::has_place));
        }
        Command::Dtd { unit } => {
            log::dtd(*unit, &mut answer);
            Output::open(file, no_log_file)?.write(&answer)?;
            return Ok(Status::Success);
        }
        Command::Modify(asked) => {
            let driver = open()?;
            let gpus = select(&driver, ids)?;
            return output::as_it_happens(|say| modify::modify(&gpus, asked, say));
        }
        Command::Reset { kind, dry_run } => return reset(open()?, ids, kind.as_deref(), *dry_run),
        Command::Hostnames => {
            return output::answer(|_| hostname::hostnames(&select(&open()?, ids)?));
        }
        Command::Led { color, dry_run } => {
            let told = led::led(&open()?, ids, *color, *dry_run)?;
            answer.extend(told.into_bytes());
        }
        Command::Subcommand(known, line) => return known.run(line),
    }
    Output::stdout()?.write(&answer)?;
    Ok(Status::Success)
}

/// `-r`: NVML is closed before the reset, for it has the GPUs open too.
fn reset(
    driver: Driver,
    ids: Option<&str>,
    kind: Option<&str>,
    dry_run: bool,
) -> anyhow::Result<Status> {
    let gpus = select(&driver, ids)?;
    let facts: Result<Vec<Facts>, Error> = gpus.iter().map(|gpu| Facts::of(&driver, gpu)).collect();
    let facts = facts?;
    let reset = Reset {
        method: modify::reset::method(kind)?,
        kernel: &Kernel::of_this_machine(),
        root: nvml::is_root(),
        dry_run,
    };
    drop(gpus);
    driver.close().map_err(modify::reset::still_open)?;
    output::as_it_happens(|say| reset.run(&facts, say))
}

/// The file of `-f` cannot be written to.
fn no_log_file(path: &Path) -> Error {
    let message = format!("Failed to create the log file {}\n\n", path.display());
    Error::new(Status::Other, message)
}

/// The file of `-f` cannot be written to, as the `--query-*` options put it.
fn no_query_file(path: &Path) -> Error {
    let message = format!("Failed to create log file {}\n\n", path.display());
    Error::new(Status::Other, message)
}

#[cfg(test)]
mod random;
