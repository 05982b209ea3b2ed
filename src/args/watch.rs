//! The command lines of the scrolling views, each with a few options of its own.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::Error;
use crate::spelling::options::{Opt, Takes};
use crate::spelling::subcommand::{Line, opt};
use crate::spelling::{nearest, signed};

use Takes::Text;

/// `-c` of `dmon` and `pmon`.
pub const COUNT: Opt = opt("-c --count", Text, "N", "Take N samples, then end");
/// `-o` of both.
pub const OPTIONS: Opt = opt(
    "-o --options",
    Text,
    "LETTERS",
    "Begin each line with: D the date, T the time",
);
/// `-f` of both.
pub const FILE: Opt = opt(
    "-f --filename",
    Text,
    "FILE",
    "Write to FILE instead of the terminal",
);
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
}

impl Watch {
    /// Reads a line of `dmon` or `pmon`; the delay is `longest` at most.
    pub fn read(line: &Line, longest: u32) -> Result<Self, Error> {
        let delay = line.text("delay").map_or(Some(1), unsigned);
        let every = delay
            .filter(|delay| (1..=longest).contains(delay))
            .ok_or_else(|| {
                line.refuse(&format!(
                    "Collection delay/interval should be between 1 second and {longest} seconds\n"
                ))
            })?;
        let count = line.text("count").map(|text| match nearest(text) {
            None | Some(0) => {
                Err(line.refuse("Invalid value for number of samples to be displayed\n"))
            }
            // Less than none is no end, nor is more than anybody waits for.
            Some(i32::MAX) => Ok(None),
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
    /// Reads the letters of `--gpm-options`; nvidia-smi has nothing to say about
    /// bad ones but its usage.
    pub fn read(letters: Option<&str>) -> Option<Self> {
        let (gpu, mig) = match letters {
            None | Some("d") => (true, false),
            Some("m") => (false, true),
            Some("dm" | "md") => (true, true),
            Some(_) => return None,
        };
        Some(Self { gpu, mig })
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
    /// Reads a line of either.
    pub fn read(line: &Line) -> Self {
        let interval = || line.text("loop").unwrap_or_default().to_owned();
        Self {
            ids: line.text("id").map(str::to_owned),
            interval: line.has("loop").then(interval),
        }
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
