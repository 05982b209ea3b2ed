//! What the NVLinks counted: `-e`, `-ec` and `-gt`.

use crate::cli::Line;
use crate::commands::dry_run::name;
use crate::commands::present::count;
use crate::error::{Error, Status};
use crate::nvml::{Gpu, Missing, Reading, field, if_any};
use crate::render::put;

use super::Links;
use super::modes::no_device_type;

/// The counters of `-e` up to Hopper.
const ERRORS: &[(&str, u32)] = &[
    ("Replay Errors", field::NVLINK_ERROR_DL_REPLAY),
    ("Recovery Errors", field::NVLINK_ERROR_DL_RECOVERY),
    ("CRC Errors", field::NVLINK_ERROR_DL_CRC),
];

/// The counters of `-e` from Blackwell on, before those of FEC.
const COUNTERS: &[(&str, u32)] = &[
    ("Tx packets", 201),
    ("Tx bytes", 202),
    ("Rx packets", 203),
    ("Rx bytes", 204),
    ("Malformed packet Errors", 206),
    ("Buffer overrun Errors", 207),
    ("Rx Errors", 208),
    ("Rx remote Errors", 209),
    ("Rx General Errors", 210),
    ("Local link integrity Errors", 211),
    ("Tx discards", 212),
    ("Link recovery successful events", 213),
    ("Link recovery failed events", 214),
    ("Total link recovery events", 215),
    ("Effective Errors", 219),
    (EFFECTIVE_BER, 220),
    ("Symbol Errors", 221),
    (SYMBOL_BER, 222),
];
const EFFECTIVE_BER: &str = "Effective BER";
const SYMBOL_BER: &str = "Symbol BER";

/// Symbols that FEC has corrected in a block, 0 to 15: the field of 0.
const FEC_HISTORY: u32 = 235;
const FEC_HISTORIES: u32 = 16;

/// Counters whose field ids no public header has yet.
const NO_FIELD: [&str; 2] = ["PLR Xmit Blocks", "PLR Xmit Retry Blocks"];

/// `-e`.
pub fn errors(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    if !links.any_up("NVLink errors", out)? {
        return Ok(());
    }
    let newer = is_blackwell(links.gpu)?;
    let rows = if newer { COUNTERS } else { ERRORS };
    let mut fields: Vec<u32> = rows.iter().map(|&(_, field)| field).collect();
    if newer {
        fields.extend((0..FEC_HISTORIES).map(|place| FEC_HISTORY + place));
    }
    for (link, values) in links.ask_shown(&fields)? {
        let mut values = values.into_iter();
        let mut row =
            |name: &str, value: String| put(out, &format!("\t Link {link}: {name}: {value}\n"));
        for ((name, _), value) in rows.iter().zip(&mut values) {
            let rate = [EFFECTIVE_BER, SYMBOL_BER].contains(name);
            row(
                name,
                if rate {
                    error_rate(value)
                } else {
                    count(value)
                },
            );
        }
        for (place, value) in values.enumerate() {
            row(&format!("FEC Errors - {place}"), count(value));
        }
        for name in NO_FIELD.iter().filter(|_| newer) {
            row(name, count(Err(Missing::NotSupported)));
        }
        put(out, "\n");
    }
    Ok(())
}

/// A bit error rate: the mantissa in bits 8 to 11, the negative power of ten in
/// bits 0 to 7 (`NVML_NVLINK_BER_*`).
fn error_rate(reading: Reading<i64>) -> String {
    match reading {
        Ok(rate) => format!("{}e-{}", rate >> 8 & 0xf, rate & 0xff),
        missing => count(missing),
    }
}

/// Blackwell in the numbers of `nvmlDeviceGetArchitecture`.
pub const BLACKWELL: u32 = 10;

fn is_blackwell(gpu: &Gpu) -> Result<bool, Error> {
    let architecture = if_any(gpu.architecture()).map_err(no_device_type)?;
    Ok(architecture >= BLACKWELL)
}

/// `-ec`: NVML has no public question for lanes, and newer GPUs have none at all.
/// Either ends the answer, the latter without a failure.
pub fn lane_errors(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    if is_blackwell(links.gpu)? {
        return Err(Error::new(Status::Success, "Device not supported\n"));
    }
    if !links.any_up("NVLink errors", out)? {
        return Ok(());
    }
    let missing = Missing::NotSupported;
    links.shown_up()?.first().map_or(Ok(()), |link| {
        let words = missing.words();
        let message =
            format!("NVML: Unable to retrieve NvLink ECC error counter for link {link}: {words}\n");
        Err(Error::unread(missing, message))
    })
}

/// `-re`: link by link, up to the first failure.
pub fn reset_errors(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    for link in links.shown() {
        if !links.state(link)? {
            put(
                out,
                &format!("\t Link {link}: skipping error counter reset on inactive link\n"),
            );
            continue;
        }
        if links.dry_run {
            let name = name(links.gpu);
            put(
                out,
                &format!("\t Link {link}: would reset the error counters for GPU {name}\n"),
            );
            continue;
        }
        links.gpu.reset_link_errors(link).map_err(|missing| {
            let words = missing.words();
            let message = format!(
                "NVML: Unable to reset NvLink link error counters for link {link}: {words}\n"
            );
            Error::unread(missing, message)
        })?;
        put(out, &format!("\t Link {link}: error counters reset\n"));
    }
    Ok(())
}

/// A kind of traffic: its letter, its name, and the fields of what was sent and
/// received.
type Traffic = (char, &'static str, [u32; 2]);

const TRAFFIC: &[Traffic] = &[
    (
        'd',
        "Data",
        [
            field::NVLINK_THROUGHPUT_DATA_TX,
            field::NVLINK_THROUGHPUT_DATA_RX,
        ],
    ),
    (
        'r',
        "Raw",
        [
            field::NVLINK_THROUGHPUT_RAW_TX,
            field::NVLINK_THROUGHPUT_RAW_RX,
        ],
    ),
];

/// The kinds of traffic that `-gt` names, in the table's order.
pub fn kinds(line: &Line) -> Result<Vec<&'static Traffic>, Error> {
    let asked = line.text("getthroughput").unwrap_or_default();
    let known = |letter| TRAFFIC.iter().any(|(kind, _, _)| *kind == letter);
    if !asked.chars().all(known) {
        return Err(Error::refused("Failed to get throughput counters\n"));
    }
    let kinds = TRAFFIC.iter();
    Ok(kinds.filter(|(kind, _, _)| asked.contains(*kind)).collect())
}

/// `-gt`.
pub fn throughput(links: &Links, line: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let kinds = kinds(line)?;
    let fields: Vec<u32> = kinds.iter().flat_map(|(_, _, fields)| *fields).collect();
    for (link, values) in links.ask_shown(&fields)? {
        let mut values = values.into_iter();
        for (_, name, _) in &kinds {
            for (way, value) in ["Tx", "Rx"].into_iter().zip(&mut values) {
                let unit = if value.is_ok() { " KiB" } else { "" };
                let value = count(value);
                put(
                    out,
                    &format!("\t Link {link}: {name} {way}: {value}{unit}\n"),
                );
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_rates_are_mantissa_and_power() {
        assert_eq!(error_rate(Ok(0xfff)), "15e-255");
        assert_eq!(error_rate(Err(Missing::NotSupported)), "N/A");
    }
}
