//! The scrolling views: a line a sample, headed again every so many lines.

use std::borrow::Cow;
use std::io::Write;

use jiff::ZonedDateTime as Time;

use super::{csv, width};
use crate::nvml::Reading;
use crate::value::{Value, printable};

/// The two lines above a column, and its width in characters.
#[derive(Clone)]
pub struct Heading {
    /// The upper line.
    pub name: Cow<'static, str>,
    /// The lower line.
    pub unit: Cow<'static, str>,
    /// How wide the column is, the blank before it not counted; what is wider
    /// moves what follows.
    pub width: usize,
}

/// A heading.
pub const fn heading(name: &'static str, unit: &'static str, width: usize) -> Heading {
    Heading {
        name: Cow::Borrowed(name),
        unit: Cow::Borrowed(unit),
        width,
    }
}

/// What tells one view from another.
pub struct Style {
    /// What the column of the GPU's index is headed.
    pub index: &'static str,
    /// When the heading lines come again.
    pub again: Again,
    /// How a line ends.
    pub end: End,
}

/// When the heading lines come again.
#[derive(Clone, Copy)]
pub enum Again {
    /// After so many lines, in the middle of a sample if need be.
    Lines(u32),
    /// After so many samples.
    Samples(u32),
}

/// How a line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With the last column.
    Bare,
    /// With a blank.
    Blank,
    /// With what a process is called.
    Command,
}

/// What each line begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// The date, YYYYMMDD.
    pub date: bool,
    /// The time, HH:MM:SS.
    pub time: bool,
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
}

/// How many places a process's name takes.
const COMMAND: usize = 15;

/// A view on its way down the screen.
pub struct Scroll {
    style: Style,
    headings: Vec<Heading>,
    stamps: Stamps,
    layout: Layout,
    since_headed: u32,
}

impl Scroll {
    /// A view with these columns between the GPU's index and the end.
    pub fn new(style: Style, headings: Vec<Heading>, stamps: Stamps, layout: Layout) -> Self {
        Self {
            style,
            headings,
            stamps,
            layout,
            since_headed: 0,
        }
    }

    /// Begins a sample.
    pub fn sample(&mut self, out: &mut Vec<u8>) {
        if let Again::Samples(most) = self.style.again {
            self.head_after(most, out);
        }
    }

    /// One line: a GPU's index, its columns, and the name of a process where
    /// the style has one, or why there is no process to tell of.
    pub fn line(
        &mut self,
        time: &Time,
        gpu: u32,
        cells: &[Reading<Value>],
        command: Reading<&str>,
        out: &mut Vec<u8>,
    ) {
        if let Again::Lines(most) = self.style.again {
            self.head_after(most, out);
        }
        let cells = cells.iter().map(|reading| match reading {
            Ok(value) => value.to_string().into(),
            Err(_) => "-".into(),
        });
        let date = || time.strftime("%Y%m%d").to_string();
        let clock = || time.strftime("%H:%M:%S").to_string();
        let line = Line {
            mark: ' ',
            stamps: [self.stamps.date.then(date), self.stamps.time.then(clock)],
            index: gpu.to_string(),
            command: match command {
                Ok(name) => width::cut(&printable(name), COMMAND),
                Err(missing) => missing.words().to_owned(),
            },
        };
        self.write(line, cells, out);
    }

    fn head_after(&mut self, most: u32, out: &mut Vec<u8>) {
        if self.since_headed.is_multiple_of(most) {
            self.since_headed = 0;
            if self.layout.names {
                let name = |heading: &Heading| heading.name.clone();
                let words = ["Date", "Time", self.style.index, "command "];
                self.heading(words, name, out);
            }
            if self.layout.units {
                let unit = |heading: &Heading| heading.unit.clone();
                self.heading(["YYYYMMDD", "HH:MM:SS", "Idx", "name "], unit, out);
            }
        }
        self.since_headed += 1;
    }

    fn heading(
        &self,
        [date, time, index, command]: [&str; 4],
        of: fn(&Heading) -> Cow<'static, str>,
        out: &mut Vec<u8>,
    ) {
        let line = Line {
            mark: '#',
            stamps: [
                self.stamps.date.then(|| date.to_owned()),
                self.stamps.time.then(|| time.to_owned()),
            ],
            index: index.to_owned(),
            command: command.to_owned(),
        };
        self.write(line, self.headings.iter().map(of), out);
    }

    fn write(&self, line: Line, cells: impl Iterator<Item = Cow<'static, str>>, out: &mut Vec<u8>) {
        let Line {
            mark,
            stamps,
            index,
            command,
        } = line;
        let stamps: Vec<String> = stamps.into_iter().flatten().collect();
        if self.layout.csv {
            let mut all = stamps.into_iter().chain([index]).map(Cow::from);
            let first = all.next().map(|first| format!("{mark}{first}").into());
            return csv::line(first.into_iter().chain(all).chain(cells), out);
        }
        // Writing to memory does not fail.
        let _ = if stamps.is_empty() {
            write!(out, "{mark}{index:>4}")
        } else {
            let stamps: Vec<String> = stamps.iter().map(|stamp| format!("{stamp:<8}")).collect();
            write!(out, "{mark}{}{index:>8}", stamps.join("    "))
        };
        for (cell, heading) in cells.zip(&self.headings) {
            let _ = write!(out, " {cell:>width$}", width = heading.width);
        }
        let _ = match self.style.end {
            End::Bare => writeln!(out),
            End::Blank => writeln!(out, " "),
            End::Command => writeln!(out, "    {command}"),
        };
    }
}

/// What is in a line besides its columns.
struct Line {
    mark: char,
    stamps: [Option<String>; 2],
    index: String,
    command: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(again: Again, samples: u32, gpus: u32) -> Vec<usize> {
        let style = Style {
            index: "gpu",
            again,
            end: End::Blank,
        };
        let mut scroll = Scroll::new(style, Vec::new(), Stamps::default(), Layout::PLAIN);
        let mut out = Vec::new();
        for _ in 0..samples {
            scroll.sample(&mut out);
            for gpu in 0..gpus {
                scroll.line(&Time::now(), gpu, &[], Ok(""), &mut out);
            }
        }
        let text = String::from_utf8_lossy(&out).into_owned();
        let lines = text.lines().enumerate();
        lines
            .filter(|(_, line)| *line == "# gpu ")
            .map(|(place, _)| place + 1)
            .collect()
    }

    #[test]
    fn headings_come_again_where_the_real_tool_has_them() {
        assert_eq!(shown(Again::Lines(44), 20, 8), [1, 47, 93, 139]);
        assert_eq!(shown(Again::Lines(44), 44, 1), [1]);
        assert_eq!(shown(Again::Samples(10), 21, 2), [1, 23, 45]);
    }
}
