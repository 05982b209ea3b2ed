//! The command line: what is asked, or what is wrong with it.

mod aside;
mod forms;
mod line;
pub mod number;
mod options;
mod subcommand;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Error;

pub use forms::Modify;
pub use line::{Given, Line};
pub use options::{GROUPS, Opt, Takes, opt};
pub use subcommand::{DRY_RUN, ID, Needs, Refuses, Run, Subcommand};
#[cfg(test)]
pub use {options::all as all_options, subcommand::line};

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What to do.
    pub command: Command,
    /// `-i`, as written; without it every GPU is meant.
    pub ids: Option<String>,
    /// `-f`: where to write instead of stdout.
    pub file: Option<PathBuf>,
    /// `-l` and `-lms`: how long until the next time, above zero, or what is wrong
    /// with the number. Without them there is no next time.
    pub every: Option<Result<Duration, Error>>,
    /// How long NVML is waited for; without it as long as it takes.
    pub timeout: Option<Duration>,
    /// What is to be said before anything else.
    pub warnings: String,
}

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// The table of GPUs and processes.
    Summary {
        /// `-col`: how many GPUs stand side by side, 1 to 64, or what is wrong
        /// with the number.
        columns: Result<usize, Error>,
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
        /// `--format`, as written.
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
    /// `-r`: reset the GPUs.
    Reset {
        /// The kind of reset, if named (`bus`).
        kind: Option<String>,
        /// `--dry-run`: say what would be reset.
        dry_run: bool,
    },
    /// `--get-hostname`.
    Hostnames,
    /// `-t`: the LED of a unit.
    Led {
        /// 0 green, 1 amber.
        color: u32,
        /// `--dry-run`: say what would be changed.
        dry_run: bool,
    },
    /// `topo`, `nvlink`, `dmon`, ...
    Subcommand(&'static Subcommand, Line),
    /// The usage screen of a subcommand, or its part below what is wrong with the
    /// line.
    Usage(&'static Subcommand, Option<String>),
}

impl Default for Command {
    fn default() -> Self {
        Self::Summary { columns: Ok(1) }
    }
}

/// The lists that `--query-*` can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// All of them, in the order in which nvidia-smi looks for them.
    pub const ALL: &[Self] = &[
        Self::Gpu,
        Self::SupportedClocks,
        Self::ComputeApps,
        Self::AccountedApps,
        Self::RetiredPages,
        Self::RemappedRows,
    ];

    /// The option that asks for it, without dashes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gpu => "query-gpu",
            Self::SupportedClocks => "query-supported-clocks",
            Self::ComputeApps => "query-compute-apps",
            Self::AccountedApps => "query-accounted-apps",
            Self::RetiredPages => "query-retired-pages",
            Self::RemappedRows => "query-remapped-rows",
        }
    }
}

/// Reads what follows the program's name. A subcommand is one of those given.
pub fn read(
    arguments: impl IntoIterator<Item = OsString>,
    subcommands: &[&'static Subcommand],
) -> Result<Request, Error> {
    let text = |argument: OsString| {
        // An argument that is not text would be taken for another: a file for its neighbour.
        let not_text = |raw: OsString| format!("ERROR: Option {} is not UTF-8.\n\n", raw.display());
        let text = argument.into_string();
        text.map_err(|raw| Error::refused(not_text(raw)))
    };
    let arguments = arguments.into_iter().map(text).collect::<Result<_, _>>()?;
    let (arguments, timeout) = aside::without_timeout(arguments)?;
    let arguments = aside::without_debug(arguments)?;
    let name = match arguments.first().map(String::as_str) {
        // Old spellings that guides still teach.
        Some("-dmon") => "dmon",
        Some("-pmon") => "pmon",
        first => first.unwrap_or_default(),
    };
    let request = match subcommands.iter().find(|known| known.name == name) {
        Some(known) => known.read(&arguments[1..])?.into(),
        None => forms::read(&arguments)?,
    };
    let timeout = timeout.map_or_else(aside::timeout_from_environment, |it| Ok(Some(it)))?;
    Ok(Request { timeout, ..request })
}

impl Request {
    /// Whether it goes on until it is interrupted.
    pub fn is_endless(&self) -> bool {
        match &self.command {
            Command::Subcommand(known, _) => matches!(known.run, Run::Endlessly(_)),
            _ => self.every.is_some(),
        }
    }

    /// Whether not even a number of samples (`-c`) ends it.
    pub fn is_uncounted(&self) -> bool {
        let counted = match &self.command {
            Command::Subcommand(_, line) => line.commands().contains(&"count"),
            _ => false,
        };
        self.is_endless() && !counted
    }
}

impl From<Command> for Request {
    fn from(command: Command) -> Self {
        Self {
            command,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests;
