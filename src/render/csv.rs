//! Comma separated values as nvidia-smi writes them: `, ` between fields, a unit
//! in the header and behind each number, `[N/A]` where there is no value.

use std::borrow::Cow;

use crate::nvml::{Missing, Reading};
use crate::value::{Unit, Value, printable};

/// The line that names the fields: `memory.used [MiB]`.
pub fn header(fields: impl Iterator<Item = (&'static str, Unit)>, out: &mut Vec<u8>) {
    let names = fields.map(|(name, unit)| match unit {
        Unit::None => name.into(),
        unit => format!("{name} [{}]", unit.sign()).into(),
    });
    line(names, out);
}

/// One line about one thing. Numbers carry their unit if `units` says so.
pub fn row(values: Vec<(Reading<Value>, Unit)>, units: bool, out: &mut Vec<u8>) {
    let values = values.into_iter();
    line(
        values.map(|(value, unit)| cell(value, unit, units).into()),
        out,
    );
}

/// A value with its unit, or the reason why there is none, in brackets.
pub(super) fn cell(reading: Reading<Value>, unit: Unit, units: bool) -> String {
    match reading {
        Ok(Value::Text(text)) => printable(&text).into_owned(),
        Ok(number) if units && unit != Unit::None => format!("{number} {}", unit.sign()),
        Ok(number) => number.to_string(),
        Err(Missing::NotSupported) => "[N/A]".to_owned(),
        Err(missing) => format!("[{}]", missing.words()),
    }
}

/// Writes one record with the bytes that nvidia-smi writes. Only a field that holds a
/// comma is quoted, the blank before it included: a csv reader can then read it.
pub fn line(cells: impl Iterator<Item = Cow<'static, str>>, out: &mut Vec<u8>) {
    let cells = cells.enumerate().map(|(place, cell)| {
        let cell = if place == 0 {
            cell
        } else {
            format!(" {cell}").into()
        };
        if !cell.contains(',') {
            return cell;
        }
        format!("\"{}\"", cell.replace('"', "\"\"")).into()
    });
    let cells: Vec<Cow<str>> = cells.collect();
    // The csv crate writes a pair of quotes for a record without a character.
    if cells.iter().all(|cell| cell.is_empty()) {
        return out.push(b'\n');
    }
    let mut writer = csv::WriterBuilder::new()
        .quote_style(csv::QuoteStyle::Never)
        .buffer_capacity(256)
        .from_writer(out);
    // Writing to memory does not fail.
    let _ = writer.write_record(cells.iter().map(|cell| cell.as_bytes()));
    let _ = writer.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(cells: &[&'static str]) -> String {
        let mut out = Vec::new();
        line(cells.iter().map(|&cell| cell.into()), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn fields_are_told_apart_by_a_comma_and_a_blank() {
        assert_eq!(written(&["0", "NVIDIA H200", ""]), "0, NVIDIA H200, \n");
        assert_eq!(written(&["[N/A]"]), "[N/A]\n");
    }

    #[test]
    fn a_field_with_a_comma_is_quoted_whole() {
        assert_eq!(written(&["0", "a, b"]), "0,\" a, b\"\n");
        assert_eq!(written(&["a \"b\", c"]), "\"a \"\"b\"\", c\"\n");
    }

    #[test]
    fn a_quote_alone_quotes_nothing() {
        assert_eq!(written(&["say \"hi\"", "\""]), "say \"hi\", \"\n");
    }

    #[test]
    fn a_record_without_a_character_is_an_empty_line() {
        assert_eq!(written(&[]), "\n");
        assert_eq!(written(&[""]), "\n");
    }

    #[test]
    fn a_reading_that_failed_shows_its_reason_and_no_unit() {
        let shown = |reading| cell(reading, Unit::Watts, true);
        assert_eq!(shown(Ok(Value::watts(690_250))), "690.25 W");
        assert_eq!(shown(Err(Missing::NotSupported)), "[N/A]");
        assert_eq!(shown(Err(Missing::GPU_IS_LOST)), "[GPU is lost]");
        assert_eq!(shown(Err(Missing::from_code(12345))), "[Unknown Error]");
    }
}
