//! nvsmi: nvidia-smi's command lines, output and exit codes, over NVML.
//!
//! The way of a command: argv -> [`args`] -> a command of [`commands`], which
//! asks [`nvml`], builds typed facts and has [`render`] print them -> exit status.

mod args;
mod clock;
mod commands;
mod document;
mod error;
mod facts;
mod fields;
mod help;
mod kernel;
mod nvml;
mod output;
mod overseer;
mod render;
mod sections;
mod signals;
mod spelling;
mod value;
mod watch;

use std::io;
use std::time::Duration;

use signal_hook::low_level;

use crate::args::{Args, Change, Command, Interval};
use crate::commands::modify::reset::{Facts, Reset};
use crate::commands::repeat::repeat;
use crate::commands::{led, list, log, modify, query, summary, version};
use crate::error::{Error, Status};
use crate::kernel::Kernel;
use crate::nvml::{Driver, Gpu, Reading, process};
use crate::output::Output;
use crate::spelling::timeout;

fn main() {
    std::panic::set_hook(Box::new(|panic| {
        let why = panic.payload_as_str().unwrap_or("panic");
        match panic
            .location()
            .filter(|place| place.file().starts_with("src/"))
        {
            Some(place) => process::fail(format_args!("{why} ({place})")),
            None => process::fail(format_args!("{why}")),
        }
    }));
    process::refuse_foreign_exit();
    process::save_address_space();
    let status = answer();
    overseer::tell(status);
    leave(status);
}

/// Ends at once, without the libraries' exit handlers: they give back what the kernel
/// takes back anyway, and NVML's takes about 1 ms.
fn leave(status: u8) -> ! {
    low_level::exit(status.into())
}

/// Does what the command line asks for; the status to exit with.
fn answer() -> u8 {
    let (args, limit) = match read() {
        Ok(line) => line,
        Err(error) => return report(&error.into()),
    };
    if args.is_uncounted() {
        // A signal ends a loop well also while the driver wakes up. If that cannot be
        // arranged, the loop reports it.
        let _ = signals::end_loops();
    }
    if let Some(limit) = limit {
        if let Some(status) = overseer::oversee(limit, args.is_endless()) {
            return status;
        }
        nvml::wait_at_most(limit);
    }
    let status = match run(&args) {
        Ok(()) => Status::Success as u8,
        Err(failure) => report(&failure),
    };
    match (nvml::stuck(), limit) {
        (stuck, Some(limit)) if !stuck.is_empty() => {
            let error = Error::stuck(&stuck, limit);
            output::note(&error.to_string());
            overseer::abandon(error.status() as u8)
        }
        _ => status,
    }
}

/// The command line, and how long it lets NVML take.
fn read() -> Result<(Args, Option<Duration>), Error> {
    let args = Args::read(std::env::args_os().skip(1))?;
    let limit = match args.timeout {
        None => timeout::from_variable(std::env::var_os(timeout::VARIABLE))?,
        limit => limit,
    };
    Ok((args, limit))
}

fn run(args: &Args) -> anyhow::Result<()> {
    if !args.warnings.is_empty() {
        // Where there is no driver, that is all that is said.
        drop(open()?);
        Output::stdout()?.write(args.warnings.as_bytes())?;
    }
    let mut answer = Vec::new();
    match &args.command {
        Command::Help => help::usage(&mut answer),
        Command::HelpQuery(list) => help::fields(*list, &mut answer),
        Command::ListGpus => return output::answer(|out| list::gpus(&open()?, out)),
        Command::ListExcluded => list::excluded(&open()?, &mut answer)?,
        Command::Version => version::version(&open()?, &mut answer),
        Command::Summary { columns } => {
            let every = interval(args)?;
            let driver = open()?;
            let mut gpus = select(&driver, args.ids.as_deref())?;
            let columns = args::columns(*columns)?;
            let mut output = Output::open(args.file.as_deref(), Error::log_file)?;
            repeat(every, &mut gpus, &mut output, answer, |gpus, time, out| {
                summary::summary(&driver, gpus, columns, time, out);
            })?;
            return Ok(all(&gpus, Gpu::is_known)?);
        }
        Command::Query {
            list,
            fields,
            format,
        } => {
            let driver = open()?;
            let query = query::prepare(*list, fields, format.as_deref())?;
            let every = interval(args)?;
            let mut gpus = select(&driver, args.ids.as_deref())?;
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
            let every = interval(args)?;
            let driver = open()?;
            let report = log::Report::new(display.as_deref(), *xml, *dtd)?;
            let mut gpus = match unit {
                true => log::no_units(&driver, args.ids.as_deref()).map(|()| Vec::new()),
                false => select(&driver, args.ids.as_deref()),
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
            // Without its place on the bus a GPU's part of the report has no heading.
            return Ok(all(&gpus, Gpu::has_place)?);
        }
        Command::Dtd { unit } => {
            log::dtd(*unit, &mut answer);
            Output::open(args.file.as_deref(), Error::log_file)?.write(&answer)?;
            return Ok(());
        }
        Command::Modify(asked) => {
            let driver = open()?;
            if let Some(Change::GpuReset { kind }) = &asked.change {
                return reset(driver, args, kind.as_deref(), asked.dry_run);
            }
            return modify::modify(
                &select(&driver, args.ids.as_deref())?,
                asked,
                Output::stdout()?,
            );
        }
        Command::Led { color, dry_run } => {
            let told = led::led(&open()?, args.ids.as_deref(), *color, *dry_run)?;
            answer.extend(told.into_bytes());
        }
        Command::Subcommand { name, args } => return commands::run(name, args),
    }
    Output::stdout()?.write(&answer)?;
    Ok(())
}

/// `-r`: NVML is closed before the reset, for it has the GPUs open too.
fn reset(driver: Driver, args: &Args, kind: Option<&str>, dry_run: bool) -> anyhow::Result<()> {
    let gpus = select(&driver, args.ids.as_deref())?;
    let facts: Vec<Facts> = modify::named(&gpus)?.iter().map(Facts::of).collect();
    let reset = Reset {
        method: modify::reset::method(kind)?,
        kernel: &Kernel::of_this_machine(),
        root: process::is_root(),
        dry_run,
    };
    drop(gpus);
    driver.close().map_err(modify::reset::still_open)?;
    output::as_it_happens(|say| reset.run(&facts, say))
}

fn open() -> Result<Driver, Error> {
    Driver::open().map_err(Error::open)
}

fn interval(args: &Args) -> Result<Option<Duration>, Error> {
    args.every.as_ref().map(Interval::read).transpose()
}

/// The GPUs that `-i` names, or all.
fn select<'d>(driver: &'d Driver, ids: Option<&str>) -> Result<Vec<Gpu<'d>>, Error> {
    let count = driver.gpu_count().map_err(Error::count)?;
    let gpus = match ids {
        Some(ids) if count > 0 && ids.chars().all(|c| c == ',') => return Err(Error::empty_ids()),
        Some(ids) => driver.select(ids).map_err(|gpu| Error::unanswered(&gpu))?,
        None => driver.gpus().map_err(Error::count)?,
    };
    match gpus {
        gpus if gpus.is_empty() => Err(Error::no_devices()),
        gpus => Ok(gpus),
    }
}

/// A GPU that NVML gives no handle for has its row with the reason; the exit
/// status tells of it too.
fn all_there(gpus: &[Gpu]) -> Result<(), Error> {
    all(gpus, |gpu| gpu.device().map(drop))
}

/// The status of the first GPU that does not have what it takes.
fn all<'d>(gpus: &[Gpu<'d>], has: impl Fn(&Gpu<'d>) -> Reading<()>) -> Result<(), Error> {
    match gpus.iter().find_map(|gpu| has(gpu).err()) {
        None => Ok(()),
        Some(missing) => Err(Error::told(missing.into())),
    }
}

/// Says what went wrong where the real tool says it, on stdout. A reader that
/// has gone away has seen enough; any other failure to write is told on stderr.
fn report(failure: &anyhow::Error) -> u8 {
    if let Some(error) = failure.downcast_ref::<Error>() {
        // There is nowhere else to say it if this fails; the status says enough.
        let _ = Output::stdout().and_then(|mut output| output.write(error.to_string().as_bytes()));
        return error.status() as u8;
    }
    if let Some(error) = failure.downcast_ref::<io::Error>()
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        return Status::Success as u8;
    }
    output::note(&format!("nvsmi: cannot write the answer: {failure}\n"));
    Status::Other as u8
}
