//! The command lines of the scrolling views, each with a few options of its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, Status};
use crate::help;
use crate::spelling::options::{Opt, Takes};
use crate::spelling::signed;
use crate::spelling::subcommand::Line;

use Takes::{MaybeText, Nothing, Text};

/// A subcommand with its options.
pub struct Subcommand {
    /// The word that asks for it.
    pub name: &'static str,
    /// What it does, for its usage screen.
    pub about: &'static str,
    /// The options, in the order shown.
    pub options: &'static [Opt],
}

pub(super) const fn opt(
    names: &'static str,
    takes: Takes,
    value: &'static str,
    help: &'static str,
) -> Opt {
    Opt {
        names,
        takes,
        forms: &[],
        value,
        help,
    }
}

pub(super) const HELP: Opt = opt("-h --help", Nothing, "", "Show this screen");
pub(super) const ID: Opt = opt(
    "-i --id",
    Text,
    "IDS",
    "Only these GPUs: index, UUID, serial or PCI bus id,\nseveral with commas between them",
);
const COUNT: Opt = opt("-c --count", Text, "N", "Take N samples, then end");
const OPTIONS: Opt = opt(
    "-o --options",
    Text,
    "LETTERS",
    "Begin each line with: D the date, T the time",
);
const FILE: Opt = opt(
    "-f --filename",
    Text,
    "FILE",
    "Write to FILE instead of the terminal",
);
const LOOP: Opt = opt(
    "-l --loop",
    MaybeText,
    "SEC",
    "A sample every SEC seconds, 1 to 10; every 5 without a\nnumber, every second without this option",
);

/// `dmon`.
pub const DMON: Subcommand = Subcommand {
    name: "dmon",
    about: "Watches the GPUs, at most 16 of them: one line a GPU and sample, until\ninterrupted. A value that is not to be had is shown as -.",
    options: &[
        ID,
        opt(
            "-d --delay",
            Text,
            "SEC",
            "A sample every SEC seconds, 1 to 600 (1)",
        ),
        COUNT,
        opt(
            "-s --select",
            Text,
            "LETTERS",
            "Columns (puc): p power and temperatures,\nu utilization of the engines, c clocks,\nv time lost to power and thermal limits,\nm memory: frame buffer, BAR1, protected,\ne ECC errors and PCIe replays, t PCIe traffic",
        ),
        opt(
            "--gpm-metrics",
            Text,
            "NUMBERS",
            "Also these performance counters, see below",
        ),
        opt(
            "--gpm-options",
            Text,
            "LETTERS",
            "Counters (d) of: d whole GPUs, m their MIG devices,\ndm or md both",
        ),
        OPTIONS,
        FILE,
        opt(
            "--format",
            Text,
            "LIST",
            "csv: commas between values; noheader: no line with the\nnames; nounit: no line with the units",
        ),
        HELP,
    ],
};

/// `pmon`.
pub const PMON: Subcommand = Subcommand {
    name: "pmon",
    about: "Watches the processes on the GPUs, at most 16 of them: one line a process and\nsample, until interrupted.",
    options: &[
        ID,
        opt(
            "-d --delay",
            Text,
            "SEC",
            "A sample every SEC seconds, 1 to 10 (1)",
        ),
        COUNT,
        opt(
            "-s --select",
            Text,
            "LETTERS",
            "Columns (u): u utilization of the engines,\nm memory: frame buffer, protected",
        ),
        OPTIONS,
        FILE,
        HELP,
    ],
};

/// `encodersessions`.
pub const ENCODERSESSIONS: Subcommand = Subcommand {
    name: "encodersessions",
    about: "Watches the video encoding sessions, until interrupted.",
    options: &[ID, LOOP, HELP],
};

/// `fbcsessions`.
pub const FBCSESSIONS: Subcommand = Subcommand {
    name: "fbcsessions",
    about: "Watches the frame buffer capture sessions, until interrupted.",
    options: &[ID, LOOP, HELP],
};

/// `gpm`.
pub const GPM: Subcommand = Subcommand {
    name: "gpm",
    about: "Shows or changes whether the performance counters stream.",
    options: &[
        ID,
        opt(
            "-g --get-stream-state",
            Nothing,
            "",
            "Show whether they stream",
        ),
        opt(
            "-s --set-stream-state",
            Text,
            "STATE",
            "0 ends the stream, 1 begins it",
        ),
        HELP,
    ],
};

impl Subcommand {
    fn read(&self, arguments: &[OsString]) -> Line {
        Line::read(self.options, arguments)
    }

    /// Its usage screen, below what is wrong with the line; nvidia-smi ends with
    /// status 0 all the same.
    fn usage(&self, complaint: &str) -> Error {
        let usage = help::subcommand_usage(self);
        Error::new(Status::Success, format!("{complaint}{usage}"))
    }

    /// What it does, and its usage screen.
    fn help(&self) -> Error {
        Error::new(Status::Success, help::subcommand(self))
    }

    /// As the views refuse a line.
    fn known(&self, line: &Line) -> Result<(), Error> {
        if line.has("help") {
            return Err(self.help());
        }
        line.complaint()
            .map_or(Ok(()), |complaint| Err(self.usage(&complaint)))
    }

    /// As the other subcommands refuse a line: with a line, and status 2.
    fn known_tersely(&self, line: &Line) -> Result<(), Error> {
        if let Some(complaint) = line.complaint() {
            return Err(Error::new(Status::InvalidArgument, complaint));
        }
        match line.has("help") {
            true => Err(self.help()),
            false => Ok(()),
        }
    }
}

/// A command line of `dmon` or `pmon`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watch {
    /// `-i`, as written; without it the first 16 GPUs are meant.
    pub ids: Option<String>,
    /// `-f`: where to write instead of stdout.
    pub file: Option<PathBuf>,
    /// `-d`: how long from one sample to the next.
    pub every: Duration,
    /// `-c`: how many samples; without it there is no end.
    pub count: Option<u32>,
    /// `-s`, as written.
    pub select: Option<String>,
    /// `-o`, as written; [`Stamps::read`] understands it.
    pub stamps: Option<String>,
    /// `--gpm-metrics`, as written.
    pub gpm_metrics: Option<String>,
    /// `--gpm-options`, as written; [`Levels::read`] understands it.
    pub gpm_options: Option<String>,
    /// `--format`, as written; [`Layout::read`] understands it.
    pub format: Option<String>,
}

impl Watch {
    /// Reads what follows `dmon` or `pmon`; the delay is `longest` at most.
    pub fn read(
        subcommand: &Subcommand,
        longest: u32,
        arguments: &[OsString],
    ) -> Result<Self, Error> {
        let line = subcommand.read(arguments);
        subcommand.known(&line)?;
        let delay = line.text("delay").map_or(Some(1), unsigned);
        let every = delay
            .filter(|delay| (1..=longest).contains(delay))
            .ok_or_else(|| {
                subcommand.usage(&format!(
                    "Collection delay/interval should be between 1 second and {longest} seconds\n"
                ))
            })?;
        let count = line.text("count").map(|text| match signed(text) {
            None | Some(0) => {
                Err(subcommand.usage("Invalid value for number of samples to be displayed\n"))
            }
            // Less than none is no end.
            Some(count) => Ok(u32::try_from(count).ok()),
        });
        let text = |word| line.text(word).map(str::to_owned);
        Ok(Self {
            ids: text("id"),
            file: line.text("filename").map(PathBuf::from),
            every: Duration::from_secs(every.into()),
            count: count.transpose()?.flatten(),
            select: text("select"),
            stamps: text("options"),
            gpm_metrics: text("gpm-metrics"),
            gpm_options: text("gpm-options"),
            format: text("format"),
        })
    }
}

/// A number that is not below 0.
fn unsigned(text: &str) -> Option<u32> {
    u32::try_from(signed(text)?).ok()
}

/// What each line begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// The date, YYYYMMDD.
    pub date: bool,
    /// The time, HH:MM:SS.
    pub time: bool,
}

impl Stamps {
    /// Reads the letters of `-o`.
    pub fn read(letters: Option<&str>) -> Result<Self, Error> {
        let mut stamps = Self::default();
        for letter in letters.unwrap_or_default().chars() {
            match letter {
                'D' => stamps.date = true,
                'T' => stamps.time = true,
                _ => return Err(Error::watch_options()),
            }
        }
        match letters {
            Some("") => Err(Error::watch_options()),
            _ => Ok(stamps),
        }
    }
}

/// How lines are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Commas between the values, instead of columns.
    pub csv: bool,
    /// The heading line with the names.
    pub names: bool,
    /// The heading line with the units.
    pub units: bool,
}

impl Layout {
    /// What there is without `--format`.
    pub const PLAIN: Self = Self {
        csv: false,
        names: true,
        units: true,
    };

    /// Reads the list of `--format`.
    pub fn read(list: Option<&str>) -> Result<Self, Error> {
        let mut layout = Self::PLAIN;
        let Some(list) = list else {
            return Ok(layout);
        };
        if list.is_empty() {
            return Err(Error::watch_format(None));
        }
        for item in list.split(',').filter(|item| !item.is_empty()) {
            match item {
                "csv" => layout.csv = true,
                "noheader" => layout.names = false,
                "nounit" => layout.units = false,
                _ => return Err(Error::watch_format(Some(item))),
            }
        }
        Ok(layout)
    }
}

/// What performance counters are shown of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Whole GPUs.
    pub gpu: bool,
    /// MIG devices.
    pub mig: bool,
}

impl Levels {
    /// Reads `--gpm-options`; nvidia-smi has nothing to say about a bad one
    /// but its usage.
    pub fn read(letters: Option<&str>) -> Result<Self, Error> {
        let (gpu, mig) = match letters {
            None | Some("d") => (true, false),
            Some("m") => (false, true),
            Some("dm" | "md") => (true, true),
            Some(_) => return Err(DMON.usage("")),
        };
        Ok(Self { gpu, mig })
    }
}

/// A command line of `encodersessions` or `fbcsessions`.
pub struct Sessions {
    /// `-i`, as written.
    pub ids: Option<String>,
    /// `-l`: how long from one sample to the next; without it a second. Empty
    /// for the default, 5 s.
    interval: Option<String>,
}

impl Sessions {
    /// Reads what follows the subcommand.
    pub fn read(subcommand: &Subcommand, arguments: &[OsString]) -> Result<Self, Error> {
        let line = subcommand.read(arguments);
        subcommand.known_tersely(&line)?;
        Ok(Self {
            ids: line.text("id").map(str::to_owned),
            interval: line
                .has("loop")
                .then(|| line.text("loop").unwrap_or_default().to_owned()),
        })
    }

    /// How long from one sample to the next.
    pub fn every(&self) -> Result<Duration, Error> {
        let seconds = match self.interval.as_deref() {
            None => 1,
            Some("") => 5,
            Some(text) => unsigned(text)
                .filter(|seconds| (1..=10).contains(seconds))
                .ok_or_else(Error::sessions_loop)?,
        };
        Ok(Duration::from_secs(seconds.into()))
    }
}

/// A command line of `gpm`.
pub struct Gpm {
    /// `-i`, as written.
    pub ids: Option<String>,
    /// `-s`: the state to set; without it the state is shown.
    pub set: Option<u32>,
}

impl Gpm {
    /// Reads what follows `gpm`.
    pub fn read(arguments: &[OsString]) -> Result<Self, Error> {
        let line = GPM.read(arguments);
        if let Some(complaint) = line.complaint() {
            return Err(Error::new(Status::InvalidArgument, complaint));
        }
        let set = line.text("set-stream-state").map(|text| {
            let number = text.parse::<i32>().map(i32::cast_unsigned);
            number.map_err(|_| {
                let message = format!(
                    "Option \"{text}\" is invalid for \"{}\".\n",
                    line.spelt("set-stream-state")
                );
                Error::new(Status::InvalidArgument, message)
            })
        });
        let set = set.transpose()?;
        if line.has("help") {
            return Err(GPM.help());
        }
        match line.count("get-stream-state") + line.count("set-stream-state") {
            0 => Err(GPM.help()),
            1 => Ok(Self {
                ids: line.text("id").map(str::to_owned),
                set,
            }),
            _ => Err(Error::new(
                Status::InvalidArgument,
                "One, and only one, gpm command allowed at a time\n",
            )),
        }
    }
}
