//! The command line, typed. [`crate::spelling`] sorts the line first, then clap
//! reads it.

mod change;
mod lines;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::commands;
use crate::error::{Error, Status};
use crate::spelling::subcommand::Run;
use crate::spelling::{self, Form, Line};

pub use change::{Change, Modify};
pub use watch::{COUNT, FILE, Layout, Levels, OPTIONS, Sessions, Stamps, Watch};

/// A command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Args {
    /// What to do.
    pub command: Command,
    /// `-i`, as written; without it every GPU is meant.
    pub ids: Option<String>,
    /// `-f`: where to write instead of stdout.
    pub file: Option<PathBuf>,
    /// `-l` and `-lms`: how long until the next time; without them there is none.
    pub every: Option<Interval>,
    /// `--timeout`: how long NVML is waited for; without it as long as it takes.
    pub timeout: Option<Duration>,
    /// What is to be said before anything else.
    pub warnings: String,
}

/// How long from one sample to the next, as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    /// `-l`.
    Seconds(String),
    /// `-lms`.
    Milliseconds(String),
}

impl Interval {
    /// The time it stands for, above zero.
    pub fn read(&self) -> Result<Duration, Error> {
        let (text, unit) = match self {
            Self::Seconds(text) => (text, 1.0),
            Self::Milliseconds(text) => (text, 0.001),
        };
        let number = spelling::uint(text)
            .map(f64::from)
            .or_else(|| text.parse().ok());
        let interval = number.and_then(|number| Duration::try_from_secs_f64(number * unit).ok());
        match interval {
            Some(Duration::ZERO) => Err(refused(
                "Provided [-l(ms) | --loop(-ms)=] value is incorrect. Loop frequency must be greater than 0.\n\n",
            )),
            Some(interval) => Ok(interval),
            None => Err(refused(format!(
                "Provided [-l(ms) | --loop(-ms)=] value \"{text}\" is not a number greater than 0.\n\n"
            ))),
        }
    }
}

/// How many GPUs stand side by side in the summary: what `-col` says, 1 to 64.
pub fn columns(asked: Option<u32>) -> Result<usize, Error> {
    match asked {
        None => Ok(1),
        Some(count @ 1..=64) => Ok(count as usize),
        Some(_) => Err(refused(
            "Invalid number of columns. Please provide a value between 1 and 64.\n",
        )),
    }
}

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// The table of GPUs and processes.
    Summary {
        /// `-col`: GPUs side by side, as written; [`columns`] bounds it.
        columns: Option<u32>,
    },
    /// `-L`.
    ListGpus,
    /// `-B`.
    ListExcluded,
    /// `--version`.
    Version,
    /// `-h`.
    Help,
    /// `--help-query-*`.
    HelpQuery(List),
    /// `--query-*`.
    Query {
        /// What there is one line of.
        list: List,
        /// The field names, as written.
        fields: String,
        /// `--format`, as written; [`Format::read`] understands it.
        format: Option<String>,
    },
    /// `-q`.
    Log {
        /// `-d`: the section names, as written.
        display: Option<String>,
        /// `-x`.
        xml: bool,
        /// `--dtd`: inside the XML.
        dtd: bool,
        /// `-u`: units instead of GPUs.
        unit: bool,
    },
    /// `--dtd` by itself.
    Dtd {
        /// `-u`: that of the units' report.
        unit: bool,
    },
    /// `-pm`, `-pl`, ...: one change to the GPUs.
    Modify(Modify),
    /// `-t`: the LED of a unit.
    Led {
        /// 0 green, 1 amber.
        color: u32,
        /// `--dry-run`: say what would be changed.
        dry_run: bool,
    },
    /// `topo`, `nvlink`, `dmon`, ..., and what follows it, untouched.
    Subcommand {
        /// The name of one of [`commands::SUBCOMMANDS`].
        name: &'static str,
        /// What follows it.
        args: Vec<OsString>,
    },
}

impl Default for Command {
    fn default() -> Self {
        Self::Summary { columns: None }
    }
}

/// The lists that `--query-*` can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `--query-gpu`.
    Gpu,
    /// `--query-supported-clocks`.
    SupportedClocks,
    /// `--query-compute-apps`.
    ComputeApps,
    /// `--query-accounted-apps`.
    AccountedApps,
    /// `--query-retired-pages`.
    RetiredPages,
    /// `--query-remapped-rows`.
    RemappedRows,
}

impl List {
    /// The option that asks for it, as `--help-query-*` names it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Gpu => "--query-gpu",
            Self::SupportedClocks => "--query-supported-clocks",
            Self::ComputeApps => "--query-compute-apps",
            Self::AccountedApps => "--query-accounted-apps",
            Self::RetiredPages => "--query-retired-pages",
            Self::RemappedRows => "--query-remapped-rows",
        }
    }
}

/// `--format`, understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Whether a heading line comes first (no `noheader`).
    pub header: bool,
    /// Whether numbers carry their unit (no `nounits`).
    pub units: bool,
}

impl Format {
    /// Reads the list; `csv` says nothing, empty items are dropped.
    pub fn read(list: &str) -> Result<Self, Error> {
        let mut format = Self {
            header: true,
            units: true,
        };
        for item in list.split(',').filter(|item| !item.is_empty()) {
            match item {
                "csv" => {}
                "noheader" => format.header = false,
                "nounits" => format.units = false,
                _ => return Err(refused("Format modifier is not recognized.\n")),
            }
        }
        Ok(format)
    }
}

impl Args {
    /// Reads what follows the program's name.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        let arguments = arguments.into_iter().collect();
        let (arguments, timeout) = spelling::timeout::without(arguments)?;
        Ok(Self {
            timeout,
            ..Self::read_real(arguments)?
        })
    }

    /// Reads what nvidia-smi knows too.
    fn read_real(arguments: Vec<OsString>) -> Result<Self, Error> {
        let mut arguments = spelling::without_debug(arguments)?;
        let text: Vec<String> = arguments
            .iter()
            .map(|raw| raw.clone().into_string().map_err(not_text))
            .collect::<Result<_, _>>()?;
        if let Some(name) = text.first().and_then(|first| subcommand(first)) {
            let args = arguments.split_off(1);
            return Ok(Command::Subcommand { name, args }.into());
        }
        let line = spelling::read(&text)?;
        match Self::of_line(&line) {
            Ok(args) => Ok(Self {
                warnings: line.warnings,
                ..args
            }),
            Err(error) => Err(error.after(&line.warnings)),
        }
    }

    fn of_line(line: &Line) -> Result<Self, Error> {
        match line.form {
            Form::Help => line.known().map(|()| Command::Help.into()),
            Form::Version => alone(line, Command::Version),
            Form::List if line.has("list-gpus") => alone(line, Command::ListGpus),
            Form::List => alone(line, Command::ListExcluded),
            Form::Modify => Modify::read(line),
            Form::Unit => lines::unit(line),
            Form::Dtd => lines::dtd(line),
            Form::Query => lines::query(line),
            Form::Log => lines::log(line),
        }
    }
}

impl Args {
    /// Whether it goes on until it is interrupted.
    pub fn is_endless(&self) -> bool {
        match &self.command {
            Command::Subcommand { name, .. } => commands::subcommand(name)
                .is_some_and(|known| matches!(known.run, Run::Endlessly(_))),
            _ => self.every.is_some(),
        }
    }

    /// Whether not even a number of samples (`-c`) ends it.
    pub fn is_uncounted(&self) -> bool {
        let counted = |name, args: &[OsString]| {
            let line = commands::subcommand(name).and_then(|known| known.read(args).ok());
            line.is_none_or(|line| line.commands().contains(&"count"))
        };
        self.is_endless()
            && match &self.command {
                Command::Subcommand { name, args } => !counted(name, args),
                _ => true,
            }
    }
}

impl From<Command> for Args {
    fn from(command: Command) -> Self {
        Self {
            command,
            ..Self::default()
        }
    }
}

/// The subcommand that a first argument names; `-dmon` and `-pmon` are old
/// spellings that guides still teach.
fn subcommand(argument: &str) -> Option<&'static str> {
    let name = match argument {
        "-dmon" | "-pmon" => &argument[1..],
        _ => argument,
    };
    commands::subcommand(name).map(|known| known.name)
}

/// An argument that is no text would be taken for another: a file for its neighbour.
fn not_text(argument: OsString) -> Error {
    refused(format!(
        "ERROR: Option {} is not UTF-8.\n\n",
        argument.display()
    ))
}

/// A command that stands alone.
fn alone(line: &Line, command: Command) -> Result<Args, Error> {
    if line.given.len() > 1 {
        return Err(refused(
            "ERROR: Only one command can be run at a time. Please run 'nvidia-smi -h' for help.\n\n",
        ));
    }
    line.known()?;
    Ok(command.into())
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(Status::InvalidArgument, message)
}

/// Clap sees canonical words only, so it refuses none; were a row of the
/// option table at odds with its definition, this would say so.
impl From<clap::Error> for Error {
    fn from(error: clap::Error) -> Self {
        refused(error.to_string())
    }
}

#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;
