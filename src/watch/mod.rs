//! The columns of the scrolling views: what each is headed, how wide it is,
//! and where its value comes from.

mod device;
mod gpm;
mod process;
mod sessions;

use crate::error::Error;
use crate::facts::Context;
use crate::nvml::Reading;
use crate::render::scroll::{Heading, heading};
use crate::value::Value;

pub use device::{DEVICE, PowerViolation};
pub use gpm::{MIG_DEVICE, metric, metric_ids, metrics};
pub use process::{PROCESS, PROCESS_ID, Process};
pub use sessions::{CAPTURE, ENCODER};

/// A column of a view whose lines are about `T`s.
pub struct Column<T> {
    /// What it is headed.
    pub heading: Heading,
    /// Asks NVML for it.
    pub get: fn(&Context<T>) -> Reading<Value>,
}

/// Columns that one letter of `-s` chooses.
pub type Set<T> = (char, &'static [Column<T>]);

/// The columns that the letters of `-s` choose, in the letters' order; a letter
/// counts once.
pub fn select<T>(sets: &[Set<T>], letters: &str) -> Result<Vec<&'static Column<T>>, Error> {
    let mut chosen = Vec::new();
    let mut seen = String::new();
    for letter in letters.chars() {
        let (_, columns) = sets
            .iter()
            .find(|(known, _)| *known == letter)
            .ok_or_else(no_metric)?;
        if !seen.contains(letter) {
            seen.push(letter);
            chosen.extend(columns.iter());
        }
    }
    if chosen.is_empty() {
        Err(no_metric())
    } else {
        Ok(chosen)
    }
}

/// A row of a column table.
const fn column<T>(
    name: &'static str,
    unit: &'static str,
    width: usize,
    get: fn(&Context<T>) -> Reading<Value>,
) -> Column<T> {
    Column {
        heading: heading(name, unit, width),
        get,
    }
}

/// A letter of `-s` that chooses no columns, or no letter.
fn no_metric() -> Error {
    Error::watch("Failed to find any metric to display\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(letters: &str) -> Option<Vec<String>> {
        let columns = select(DEVICE, letters).ok()?;
        let name = |column: &&Column<_>| column.heading.name.to_string();
        Some(columns.iter().map(name).collect())
    }

    #[test]
    fn letters_choose_in_their_order_and_count_once() {
        let expected = ["mclk", "pclk", "pwr", "gtemp", "mtemp"];
        assert_eq!(names("cpcc"), Some(expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn no_letter_and_a_strange_letter_choose_nothing() {
        assert_eq!(names(""), None);
        assert_eq!(names("pz"), None);
    }
}
