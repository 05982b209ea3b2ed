//! Printers: typed facts in, bytes out. None of them asks NVML anything.

pub mod csv;
pub mod document;
pub mod dtd;
mod frame;
#[cfg(test)]
mod hostile;
pub mod listing;
pub mod matrix;
pub mod scroll;
pub mod summary;
pub mod text;
mod width;
pub mod xml;

use crate::nvml::Reading;
use crate::value::{Unit, Value, printable};

/// Appends text.
pub fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// A reading of the report: its number with the unit, or why there is none.
pub fn spelt(reading: &Reading<Value>, unit: Unit) -> String {
    match reading {
        Ok(Value::Text(text)) => printable(text).into_owned(),
        Ok(number) if unit != Unit::None => format!("{number} {}", unit.sign()),
        Ok(number) => number.to_string(),
        Err(missing) => missing.words_or_not_available().to_owned(),
    }
}
