//! nvsmi: nvidia-smi's command lines, output and exit codes, over NVML.
//!
//! The way of a command: argv -> [`args`] -> a command of [`commands`], which
//! asks [`nvml`], builds typed facts and has [`render`] print them -> exit status.

mod args;
mod clock;
mod commands;
mod document;
mod error;
mod fields;
mod help;
mod kernel;
mod nvml;
mod output;
mod render;
mod sections;
mod spelling;
mod value;
mod watch;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use crate::args::admin;
use crate::args::{Admin, Args, Change, Command, Interval};
use crate::commands::modify::reset::{Facts, Reset};
use crate::commands::repeat::repeat;
use crate::commands::{
    confidential, dmon, drain, gpm, led, list, log, modify, pmon, power, query, sessions,
    subcommand, summary, version,
};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::nvml::{Driver, Gpu};
use crate::output::Output;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

fn run() -> anyhow::Result<()> {
    let args = Args::read(std::env::args_os().skip(1))?;
    if !args.warnings.is_empty() {
        Output::stdout()?.write(args.warnings.as_bytes())?;
    }
    let mut answer = Vec::new();
    match &args.command {
        Command::Help => help::usage(&mut answer),
        Command::HelpQuery(list) => help::fields(*list, &mut answer),
        Command::ListGpus => return list_gpus(&mut answer),
        Command::ListExcluded => list::excluded(&open()?, &mut answer)?,
        Command::Version => version::version(&open()?, &mut answer),
        Command::Summary { columns } => {
            let every = interval(&args)?;
            let driver = open()?;
            let mut gpus = select(&driver, &args)?;
            let columns = args::columns(*columns)?;
            let mut output = Output::open(args.file.as_deref(), Error::log_file)?;
            repeat(every, &mut gpus, &mut output, answer, |gpus, time, out| {
                summary::summary(&driver, gpus, columns, time, out);
            })?;
            return Ok(all_there(&gpus)?);
        }
        Command::Query {
            list,
            fields,
            format,
        } => {
            let driver = open()?;
            let query = query::prepare(*list, fields, format.as_deref())?;
            let every = interval(&args)?;
            let mut gpus = select(&driver, &args)?;
            let mut output = Output::open(args.file.as_deref(), Error::query_file)?;
            repeat(
                every,
                &mut gpus,
                &mut output,
                query.header,
                |gpus, time, out| {
                    (query.sample)(&driver, gpus, time, out);
                },
            )?;
            return Ok(all_there(&gpus)?);
        }
        Command::Log {
            display,
            xml,
            dtd,
            unit,
        } => {
            let every = interval(&args)?;
            let driver = open()?;
            let report = log::Report::new(display.as_deref(), *xml, *dtd)?;
            let mut gpus = match unit {
                true => log::no_units(&driver, args.ids.as_deref()).map(|()| Vec::new()),
                false => select(&driver, &args),
            }?;
            let mut output = Output::open(args.file.as_deref(), Error::log_file)?;
            repeat(
                every,
                &mut gpus,
                &mut output,
                answer,
                |gpus, time, out| match unit {
                    true => report.units(&driver, time, out),
                    false => report.gpus(&driver, gpus, time, out),
                },
            )?;
            return Ok(all_there(&gpus)?);
        }
        Command::Dtd { unit } => {
            log::dtd(*unit, &mut answer);
            Output::open(args.file.as_deref(), Error::log_file)?.write(&answer)?;
            return Ok(());
        }
        Command::Subcommand { name: "dmon", args } => return dmon::dmon(args),
        Command::Subcommand { name: "pmon", args } => return pmon::pmon(args),
        Command::Subcommand {
            name: "encodersessions",
            args,
        } => return sessions::encoder(args),
        Command::Subcommand {
            name: "fbcsessions",
            args,
        } => return sessions::capture(args),
        Command::Subcommand { name: "gpm", args } => gpm::gpm(args, &mut answer)?,
        Command::Modify(asked) => {
            let driver = open()?;
            if let Some(Change::GpuReset { kind }) = &asked.change {
                return reset(driver, &args, kind.as_deref(), asked.dry_run);
            }
            return modify::modify(&select(&driver, &args)?, asked, Output::stdout()?);
        }
        Command::Led { color, dry_run } => {
            let told = led::led(&open()?, args.ids.as_deref(), *color, *dry_run)?;
            answer.extend(told.into_bytes());
        }
        Command::Subcommand { name, args } => {
            if let Some(asked) = admin::read(name, args, help::subcommand)? {
                return administer(asked);
            }
            let command = subcommand::find(name).ok_or_else(|| Error::not_built(name))?;
            let given = command.read(args)?;
            let mut done = Ok(());
            if command.asks_for_usage(&given) {
                command.usage(&mut answer);
            } else {
                let driver = open()?;
                done = (command.run)(&driver, &given, &mut answer)
                    .and_then(|()| none_left_out(&driver, &given));
            }
            Output::stdout()?.write(&answer)?;
            return Ok(done?);
        }
    }
    Output::stdout()?.write(&answer)?;
    Ok(())
}

/// `-r`: NVML is closed before the reset, for it has the GPUs open too.
fn reset(driver: Driver, args: &Args, kind: Option<&str>, dry_run: bool) -> anyhow::Result<()> {
    let gpus = select(&driver, args)?;
    let facts: Vec<Facts> = modify::named(&gpus)?.iter().map(Facts::of).collect();
    let reset = Reset {
        method: modify::reset::method(kind)?,
        kernel: &Kernel::of_this_machine(),
        root: modify::is_root(),
        dry_run,
    };
    drop(gpus);
    driver.close();
    as_it_happens(|say| reset.run(&facts, say))
}

/// Writes what is said when it is said. A change goes on where that fails, and
/// the failure is told at the end.
fn as_it_happens(
    act: impl FnOnce(&mut dyn FnMut(&str)) -> Result<(), Error>,
) -> anyhow::Result<()> {
    let mut output = Output::stdout()?;
    let mut written = Ok(());
    act(&mut |text| {
        let result = output.write(text.as_bytes());
        if written.is_ok() {
            written = result;
        }
    })?;
    Ok(written?)
}

/// `drain`, `conf-compute` and the like.
fn administer(asked: Admin) -> anyhow::Result<()> {
    let mut output = Output::stdout()?;
    match asked {
        Admin::Usage(screen) => output.write(screen.as_bytes())?,
        Admin::OutOfReach(what) => return Err(Error::out_of_reach(what).into()),
        Admin::Drain(asked) => {
            let driver = open()?;
            as_it_happens(|say| drain::drain(&driver, &asked, say))?;
        }
        Admin::Profiles {
            asked,
            ids,
            dry_run,
        } => {
            let driver = open()?;
            let gpus = select(&driver, &Args::of(ids))?;
            as_it_happens(|say| power::profiles::profiles(&gpus, &asked, dry_run, say))?;
        }
        Admin::Smoothing {
            asked,
            ids,
            dry_run,
        } => {
            let driver = open()?;
            let gpus = select(&driver, &Args::of(ids))?;
            as_it_happens(|say| power::smoothing::smoothing(&gpus, &asked, dry_run, say))?;
        }
        Admin::Confidential { word, value, ids } => {
            let driver = open()?;
            let args = Args {
                ids,
                ..Args::default()
            };
            let gpus = select(&driver, &args)?;
            let mut text = String::new();
            let done = confidential::confidential(&driver, &gpus, word, value, &mut text);
            output.write(text.as_bytes())?;
            done?;
        }
    }
    Ok(())
}

/// `-L` prints what it has before it fails.
fn list_gpus(answer: &mut Vec<u8>) -> anyhow::Result<()> {
    let listed = list::gpus(&open()?, answer);
    Output::stdout()?.write(answer)?;
    Ok(listed?)
}

fn open() -> Result<Driver, Error> {
    Driver::open().map_err(Error::open)
}

fn interval(args: &Args) -> Result<Option<Duration>, Error> {
    args.every.as_ref().map(Interval::read).transpose()
}

/// The GPUs that `-i` names, or all.
fn select<'d>(driver: &'d Driver, args: &Args) -> Result<Vec<Gpu<'d>>, Error> {
    let count = driver.gpu_count().map_err(Error::count)?;
    let gpus = match args.ids.as_deref() {
        Some(ids) if count > 0 && ids.chars().all(|c| c == ',') => return Err(Error::empty_ids()),
        Some(ids) => driver.select(ids).map_err(|gpu| Error::unanswered(&gpu))?,
        None => driver.gpus().map_err(Error::count)?,
    };
    match gpus {
        gpus if gpus.is_empty() => Err(Error::no_devices()),
        gpus => Ok(gpus),
    }
}

/// A GPU without a handle has no place in the answers of subcommands, so that it
/// is told of after them.
fn none_left_out(driver: &Driver, given: &subcommand::Given) -> Result<(), Error> {
    let gpus = match given.has("-i") {
        true => Vec::new(),
        false => driver.gpus().map_err(Error::count)?,
    };
    match gpus
        .iter()
        .find_map(|gpu| Some((gpu.index(), gpu.device().err()?)))
    {
        None => Ok(()),
        Some((index, missing)) => Err(Error::no_handle(index, missing)),
    }
}

/// A GPU that NVML gives no handle for has its row with the reason; the exit
/// status tells of it too.
fn all_there(gpus: &[Gpu]) -> Result<(), Error> {
    match gpus.iter().find_map(|gpu| gpu.device().err()) {
        None => Ok(()),
        Some(missing) => Err(Error::new(missing.into(), "")),
    }
}

/// Says what went wrong where the real tool says it, on stdout. A reader that
/// has gone away has seen enough; any other failure to write is told on stderr.
fn report(failure: &anyhow::Error) -> ExitCode {
    if let Some(error) = failure.downcast_ref::<Error>() {
        // There is nowhere else to say it if this fails; the status says enough.
        let _ = Output::stdout().and_then(|mut output| output.write(error.to_string().as_bytes()));
        return error.status().into();
    }
    if let Some(error) = failure.downcast_ref::<io::Error>()
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        return ExitCode::SUCCESS;
    }
    let _ = io::Write::write_fmt(
        &mut io::stderr(),
        format_args!("nvsmi: cannot write the answer: {failure}\n"),
    );
    error::Status::Other.into()
}
