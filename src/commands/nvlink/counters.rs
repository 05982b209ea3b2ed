//! What the NVLinks counted: `-e`, `-ec`, `-re` and `-gt`.

use crate::cli::Line;
use crate::commands::dry_run::name;
use crate::commands::links::{Links, NO_FIELD, Row, Stop, count};
use crate::commands::present::failed;
use crate::error::{Error, Outcome};
use crate::nvml::{Gpu, Missing, Reading, field, if_any};

use super::modes::{BLACKWELL, no_device_type};

/// The counters of `-e` up to Hopper.
const ERRORS: &[Row] = &[
    ("Replay Errors", field::NVLINK_ERROR_DL_REPLAY, &count),
    ("Recovery Errors", field::NVLINK_ERROR_DL_RECOVERY, &count),
    ("CRC Errors", field::NVLINK_ERROR_DL_CRC, &count),
];

/// The counters of `-e` from Blackwell on, before those of FEC.
const COUNTERS: &[Row] = &[
    ("Tx packets", 201, &count),
    ("Tx bytes", 202, &count),
    ("Rx packets", 203, &count),
    ("Rx bytes", 204, &count),
    ("Malformed packet Errors", 206, &count),
    ("Buffer overrun Errors", 207, &count),
    ("Rx Errors", 208, &count),
    ("Rx remote Errors", 209, &count),
    ("Rx General Errors", 210, &count),
    ("Local link integrity Errors", 211, &count),
    ("Tx discards", 212, &count),
    ("Link recovery successful events", 213, &count),
    ("Link recovery failed events", 214, &count),
    ("Total link recovery events", 215, &count),
    ("Effective Errors", 219, &count),
    ("Effective BER", 220, &error_rate),
    ("Symbol Errors", 221, &count),
    ("Symbol BER", 222, &error_rate),
];

/// The field of the blocks without a symbol that FEC has corrected. Those of the blocks
/// with 1 to 15 such symbols follow.
const FEC_HISTORY: u32 = 235;
const FEC_HISTORIES: u32 = 16;

/// The counters of `-e` from Blackwell on, after those of FEC.
const LAST_COUNTERS: &[Row] = &[
    ("PLR Xmit Blocks", NO_FIELD, &count),
    ("PLR Xmit Retry Blocks", NO_FIELD, &count),
];

const NVLINK_ERRORS: [&str; 2] = ["retrieve NVLink errors"; 2];

/// `-e`.
pub fn errors(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    if !links.any_up(NVLINK_ERRORS, out)? {
        return Ok(());
    }
    let fec: Vec<String> = (0..FEC_HISTORIES)
        .map(|symbols| format!("FEC Errors - {symbols}"))
        .collect();
    let mut rows = ERRORS.to_vec();
    if is_blackwell(links.gpu)? {
        rows = COUNTERS.to_vec();
        rows.extend(
            fec.iter()
                .zip(FEC_HISTORY..)
                .map(|(name, field)| (&**name, field, &count as _)),
        );
        rows.extend(LAST_COUNTERS);
    }
    links.rows(links.shown_up()?, &rows, "\n", out);
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

fn is_blackwell(gpu: &Gpu) -> Result<bool, Error> {
    let architecture = if_any(gpu.architecture()).map_err(no_device_type)?;
    Ok(architecture >= BLACKWELL)
}

/// `-ec`: NVML has no public question for lanes, and newer GPUs have none at all.
/// Either ends the answer, the latter without a failure.
pub fn lane_errors(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    if is_blackwell(links.gpu)? {
        out.text += "Device not supported\n";
        return Err(Stop::End);
    }
    if !links.any_up(NVLINK_ERRORS, out)? {
        return Ok(());
    }
    links.shown_up()?.first().map_or(Ok(()), |link| {
        let what = format!("NVML: Unable to retrieve NvLink ECC error counter for link {link}");
        Err(failed(&what)(Missing::NotSupported).into())
    })
}

/// `-re`: link by link, up to the first failure.
pub fn reset_errors(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    for link in links.shown() {
        let done = if !links.state(link)? {
            "skipping error counter reset on inactive link".to_owned()
        } else if links.line.has("dry-run") {
            let name = name(links.gpu);
            format!("would reset the error counters for GPU {name}")
        } else {
            let what = format!("NVML: Unable to reset NvLink link error counters for link {link}");
            links.gpu.reset_link_errors(link).map_err(failed(&what))?;
            "error counters reset".to_owned()
        };
        out.text += &links.line(link, &done);
    }
    Ok(())
}

/// What `-gt` shows, each kind of traffic under its letter.
const TRAFFIC: &[(char, [Row; 2])] = &[
    (
        'd',
        [
            ("Data Tx", field::NVLINK_THROUGHPUT_DATA_TX, &kibibytes),
            ("Data Rx", field::NVLINK_THROUGHPUT_DATA_RX, &kibibytes),
        ],
    ),
    (
        'r',
        [
            ("Raw Tx", field::NVLINK_THROUGHPUT_RAW_TX, &kibibytes),
            ("Raw Rx", field::NVLINK_THROUGHPUT_RAW_RX, &kibibytes),
        ],
    ),
];

fn kibibytes(reading: Reading<i64>) -> String {
    let unit = if reading.is_ok() { " KiB" } else { "" };
    count(reading) + unit
}

/// The rows of the kinds of traffic that `-gt` names, in the table's order.
pub fn traffic(line: &Line) -> Result<Vec<Row<'static>>, Error> {
    let asked = line.text("getthroughput").unwrap_or_default();
    let known = |letter| TRAFFIC.iter().any(|(kind, _)| *kind == letter);
    if !asked.chars().all(known) {
        return Err(Error::refused("Failed to get throughput counters\n"));
    }
    let kinds = TRAFFIC.iter().filter(|(kind, _)| asked.contains(*kind));
    Ok(kinds.flat_map(|(_, rows)| *rows).collect())
}

/// `-gt`.
pub fn throughput(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    let rows = traffic(links.line)?;
    links.rows(links.shown_up()?, &rows, "", out);
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
