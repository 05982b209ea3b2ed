//! nvsmi: nvidia-smi's command lines, output and exit codes, over NVML.
//!
//! The way of a command: argv -> what is asked ([`cli`]) -> a command of
//! [`commands`], which asks [`nvml`], builds typed facts and has [`render`] print
//! them -> exit status.

mod cli;
mod commands;
mod error;
mod facts;
mod fields;
mod help;
mod host;
mod nvml;
mod output;
mod overseer;
mod render;
mod sections;
mod value;
mod watch;
mod words;

use std::io;

use crate::error::{Error, Status};
use crate::host::signals;
use crate::nvml::process;
use crate::output::Output;

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
    signals::leave(status);
}

/// Does what the command line asks for; the status to exit with.
fn answer() -> u8 {
    let request = match cli::read(std::env::args_os().skip(1), commands::SUBCOMMANDS) {
        Ok(request) => request,
        Err(error) => return report(&error.into()),
    };
    let limit = request.timeout;
    if request.is_uncounted() {
        // A signal ends a loop well also while the driver wakes up. If that cannot be
        // arranged, the loop reports it.
        let _ = signals::end_loops();
    }
    if let Some(limit) = limit {
        if let Some(status) = overseer::oversee(limit, request.is_endless()) {
            return status;
        }
        nvml::wait_at_most(limit);
    }
    let status = match commands::run(&request) {
        Ok(status) => status as u8,
        Err(failure) => report(&failure),
    };
    match (nvml::stuck(), limit) {
        (stuck, Some(limit)) if !stuck.is_empty() => overseer::abandon(&stuck, limit),
        _ => status,
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
