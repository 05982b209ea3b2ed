//! What the command lines of `dmon` and `pmon` have in common.

use std::path::Path;
use std::time::Duration;

use super::repeat::Pace;
use crate::cli::Takes::Text;
use crate::cli::number::{nearest, signed};
use crate::cli::{Line, Opt, Subcommand, opt};
use crate::error::{Error, Status};
use crate::help;
use crate::output::Output;
use crate::render::scroll::{Layout, Stamps};

/// `-c`.
pub const COUNT: Opt = opt("-c --count", Text, "N", "Take N samples, then end");
/// `-o`.
pub const OPTIONS: Opt = opt(
    "-o --options",
    Text,
    "LETTERS",
    "Begin each line with: D the date, T the time",
);
/// `-f`.
pub const FILE: Opt = opt(
    "-f --filename",
    Text,
    "FILE",
    "Write to FILE instead of the terminal",
);

/// What `-d` and `-c` say, or what is wrong with it; the delay is `longest` at most,
/// seconds.
pub fn pace(line: &Line, longest: i32) -> Result<Pace, String> {
    let delay = line.text("delay").map_or(Some(1), signed);
    let delay = delay.filter(|delay| (1..=longest).contains(delay));
    let delay = delay.ok_or_else(|| {
        format!("Collection delay/interval should be between 1 second and {longest} seconds\n")
    })?;
    let count = match line.text("count").map(nearest) {
        Some(None | Some(0)) => {
            return Err("Invalid value for number of samples to be displayed\n".to_owned());
        }
        // Less than none is no end, nor is more than anybody waits for.
        None | Some(Some(i32::MAX)) => None,
        Some(Some(count)) => u32::try_from(count).ok(),
    };
    Ok(Pace {
        every: Duration::from_secs(delay.unsigned_abs().into()),
        count,
    })
}

/// Says what is wrong with a line, above the options; nvidia-smi ends with status 0
/// all the same.
pub fn refuse(of: &Subcommand, complaint: &str) -> anyhow::Result<Status> {
    Output::stdout()?.write(help::below(complaint, of).as_bytes())?;
    Ok(Status::Success)
}

/// The file of `dmon -f` or `pmon -f` cannot be written to.
pub fn no_file(_: &Path) -> Error {
    Error::watch("")
}

/// The letters of `-o`: what each line begins with.
pub fn stamps(letters: Option<&str>) -> Result<Stamps, Error> {
    let mut stamps = Stamps::default();
    for letter in letters.unwrap_or_default().chars() {
        match letter {
            'D' => stamps.date = true,
            'T' => stamps.time = true,
            _ => return Err(wrong_options()),
        }
    }
    if letters == Some("") {
        return Err(wrong_options());
    }
    Ok(stamps)
}

/// The list of `--format`: how lines are laid out.
pub fn layout(list: Option<&str>) -> Result<Layout, Error> {
    let mut layout = Layout::PLAIN;
    if list == Some("") {
        return Err(wrong_format(None));
    }
    let items = list.unwrap_or_default().split(',');
    for item in items.filter(|item| !item.is_empty()) {
        match item {
            "csv" => layout.csv = true,
            "noheader" => layout.names = false,
            "nounit" => layout.units = false,
            _ => return Err(wrong_format(Some(item))),
        }
    }
    Ok(layout)
}

/// A letter of `-o` that is none.
fn wrong_options() -> Error {
    Error::watch("Error in parsing options\n")
}

/// A word of `dmon --format` that is none, or no word.
fn wrong_format(word: Option<&str>) -> Error {
    let word = word.map(|word| format!("{word} is not a recognized format option\n"));
    Error::watch(&format!(
        "{}Error parsing format options\n",
        word.unwrap_or_default()
    ))
}
