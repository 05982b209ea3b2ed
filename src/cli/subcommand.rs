//! The command lines of subcommands: a row each, with a table of options. Where the
//! families of nvidia-smi differ, the row says so.

use std::fmt;

use super::Command;
use super::line::{Check, Fault, Line};
use super::options::{Opt, Takes, opt};
use crate::error::{Error, Status};

/// A subcommand: what its lines look like, and what they do.
pub struct Subcommand {
    /// The word that asks for it.
    pub name: &'static str,
    /// What it is for, in a line.
    pub about: &'static str,
    /// What else its usage screen says before the options.
    pub notes: &'static str,
    /// Its options but for `-h`, in the order shown.
    pub options: &'static [Opt],
    /// How it takes a bad line.
    pub refuses: Refuses,
    /// What a line must have; without it, the usage screen is the answer.
    pub needs: Needs,
    /// What a line does.
    pub run: Run,
}

/// What the line of a subcommand does.
#[derive(Clone, Copy)]
pub enum Run {
    /// Nothing yet: that is not built.
    NotBuilt,
    /// It refuses what it asks for: NVML has no public function.
    Refused(Action),
    /// What it asks for, and then it ends.
    Once(Action),
    /// What it asks for, again and again until it is interrupted.
    Endlessly(Action),
}

/// Does what a line asks for; the status to end with.
pub type Action = fn(&Line) -> anyhow::Result<Status>;

/// How a subcommand takes a line that it cannot read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Refuses {
    /// It says what is wrong, with status 2, even to a line that asks for help.
    Tersely,
    /// It helps who asks for it, and else says what is wrong above its options,
    /// with status 0.
    WithUsage,
}

/// What a line must have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// An option.
    Option,
    /// An option besides `-i`.
    Command,
    /// Exactly one option besides `-i`. Several are refused, and so is one that is
    /// given twice, even `-i`.
    OneCommand,
}

/// `-h`, which every subcommand has.
pub const HELP: Opt = opt("-h --help", Takes::Nothing, "", "Show this screen");

/// `-i`, for several subcommands.
pub const ID: Opt = opt(
    "-i --id",
    Takes::Text,
    "IDS",
    "Only these GPUs: index, UUID, serial or PCI bus id,\nseveral with commas between them",
);

/// `--dry-run`, for subcommands that change something.
pub const DRY_RUN: Opt = opt(
    "--dry-run",
    Takes::Nothing,
    "",
    "Say what would be changed, and change nothing",
);

/// What is said of a value that its option cannot have.
pub const INVALID: &str = "Option \"{}\" is invalid for \"{}\".\n";

/// What is wrong with a line, in nvidia-smi's order.
#[rustfmt::skip]
const CHECKS: &[Check] = &[
    Check::Word(Fault::Invalid, Status::InvalidArgument, INVALID),
    Check::Word(Fault::Unknown, Status::InvalidArgument, "Option \"{}\" is not recognized.\n"),
    Check::Word(Fault::Missing, Status::InvalidArgument, "Option \"{}\" is missing its value.\n"),
];

impl Subcommand {
    /// One that nvidia-smi has and nvsmi does not.
    pub const fn not_built(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            notes: "",
            options: &[],
            refuses: Refuses::Tersely,
            needs: Needs::Nothing,
            run: Run::NotBuilt,
        }
    }

    /// Its options, `-h` after them.
    pub fn all_options(&self) -> impl Iterator<Item = &'static Opt> + use<> {
        self.options.iter().chain([&HELP])
    }

    /// Reads what follows the subcommand's name.
    pub fn read(&'static self, arguments: &[String]) -> Result<Command, Error> {
        if let Run::NotBuilt = self.run {
            return Err(Error::not_built(self.name));
        }
        let usage = |complaint| Command::Usage(self, complaint);
        let line = Line::scan(self.all_options(), arguments);
        let help = line.has(HELP.word());
        match (line.check(CHECKS), self.refuses) {
            (Ok(()), _) => {}
            (Err(complaint), Refuses::Tersely) => return Err(complaint),
            (Err(_), Refuses::WithUsage) if help => return Ok(usage(None)),
            (Err(complaint), _) if complaint == Error::dry_run() => return Err(complaint),
            (Err(complaint), Refuses::WithUsage) => return Ok(usage(Some(complaint.to_string()))),
        }
        let lacks = match self.needs {
            Needs::Nothing => false,
            Needs::Option => line.given.is_empty(),
            // With --dry-run, a command was meant.
            Needs::Command | Needs::OneCommand => line
                .given
                .iter()
                .all(|given| ["help", "id"].contains(&given.option.word())),
        };
        if lacks || help {
            return Ok(usage(None));
        }
        if self.needs == Needs::OneCommand && line.count_beside(&[ID.word(), DRY_RUN.word()]) > 1 {
            let name = self.name;
            return Err(Error::refused(format!(
                "One, and only one, {name} command allowed at a time\n"
            )));
        }
        Ok(Command::Subcommand(self, line))
    }
}

impl Subcommand {
    /// Does what a line asks for; the status to end with.
    pub fn run(&self, line: &Line) -> anyhow::Result<Status> {
        match self.run {
            Run::NotBuilt => Err(Error::not_built(self.name).into()),
            Run::Refused(run) | Run::Once(run) | Run::Endlessly(run) => run(line),
        }
    }
}

/// There is one of each name.
impl PartialEq for Subcommand {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Subcommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The line that a subcommand makes of a text.
#[cfg(test)]
pub fn line(subcommand: &'static Subcommand, text: &str) -> Result<Line, Error> {
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    match subcommand.read(&words)? {
        Command::Subcommand(_, line) => Ok(line),
        _ => Err(Error::failed("It asks for the usage screen.")),
    }
}
