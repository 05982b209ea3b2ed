//! The modes that the NVLinks run in: `-gLowPwrInfo`, `-gLWidth` and `-gBwMode`.

use crate::commands::present::count;
use crate::error::Error;
use crate::nvml::{Driver, Missing, field};
use crate::render::put;
use crate::spelling::subcommand::Line;

use super::Links;
use super::counters::BLACKWELL;

/// `-gLowPwrInfo`, of `nvmlDeviceGetFieldValues`.
pub fn low_power(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    const HOPPER: u32 = 9;
    match links.gpu.architecture() {
        Ok(HOPPER..) => {}
        Ok(_) => return Err(Error::unread(Missing::NotSupported, "Not supported\n")),
        Err(missing) => {
            let words = missing.words();
            let message = format!("NVML: Unable to retrieve NvLink low power info {words}\n");
            return Err(Error::unread(missing, message));
        }
    }
    if !links.any_up("NvLink low power info", out)? {
        return Ok(());
    }
    let limits = [
        field::NVLINK_GET_POWER_THRESHOLD_UNITS,
        field::NVLINK_GET_POWER_THRESHOLD_MIN,
        field::NVLINK_GET_POWER_THRESHOLD_MAX,
    ];
    // A threshold counts in these, microseconds; 100 where nothing is said.
    let mut unit = 100;
    match links.gpu.numbers(&limits.map(|field| (field, 0)))[..] {
        [Ok(units), Ok(least), Ok(most)] => {
            unit = if units == 0 { 100 } else { 50 };
            put(
                out,
                &format!("\t Low Power Threshold are in units of {unit} us\n"),
            );
            put(
                out,
                &format!("\t Range of Low Power Threshold values are {least} to {most}\n\n"),
            );
        }
        [Err(missing), ..] | [_, Err(missing), _] | [.., Err(missing)] => {
            let words = missing.words();
            put(
                out,
                &format!("NVML: Unable to retrieve NvLink low power info {words}\n\n"),
            );
        }
        _ => {}
    }
    let fields = [
        field::NVLINK_GET_POWER_STATE,
        field::NVLINK_GET_POWER_THRESHOLD,
    ];
    for (link, values) in links.ask_shown(&fields) {
        let mode = match values[0] {
            Ok(0) => "High Speed State",
            Ok(1) => "Low Power State",
            Ok(_) => "Unknown",
            Err(missing) => missing.words_or_not_available(),
        };
        let threshold = match values[1] {
            Ok(units) => format!("{} us", units.saturating_mul(unit)),
            Err(missing) => count(Err(missing)),
        };
        put(out, &format!("\t Link {link}: Low Power Mode: {mode}\n"));
        put(
            out,
            &format!("\t Link {link}: Low Power Threshold: {threshold}\n\n"),
        );
    }
    Ok(())
}

/// `-gLWidth`: NVML has no public question for the width, and nvidia-smi does
/// not ask boards before Blackwell.
pub fn width(links: &Links, _: &Line, _: &mut Vec<u8>) -> Result<(), Error> {
    let missing = match links.gpu.architecture() {
        Ok(BLACKWELL..) => Missing::NotSupported,
        Ok(_) => return Err(Error::unread(Missing::NotSupported, "Not supported\n")),
        Err(missing) => missing,
    };
    let words = missing.words();
    let message =
        format!("NVML: Unable to retrieve Nvlink Link Width {words}\nUnable to get Link Width\n");
    Err(Error::unread(missing, message))
}

/// `-gBwMode`: one for all GPUs, `nvmlSystemGetNvlinkBwMode`.
pub fn bandwidth_mode(driver: &Driver, out: &mut Vec<u8>) -> Result<(), Error> {
    const MODES: [&str; 5] = ["FULL", "OFF", "MIN", "HALF", "3QUARTER"];
    let mode = driver.nvlink_bandwidth_mode().map_err(|missing| {
        let message = match missing {
            Missing::NotSupported => "Getting nvlink bandwidth mode is not supported\n",
            _ => "Unable to read nvlink bandwidth mode\n",
        };
        Error::unread(missing, message)
    })?;
    let mode = MODES.get(mode as usize).unwrap_or(&"Unknown");
    put(out, &format!("GPU NVLINK bandwidth mode: {mode}\n"));
    Ok(())
}
