//! The modes that the NVLinks run in: `-gLowPwrInfo`, `-gLWidth` and `-gBwMode`.

use std::ops::RangeInclusive;

use crate::cli::Line;
use crate::commands::dry_run::{by_root, name, would_change};
use crate::commands::present::count;
use crate::error::Error;
use crate::nvml::{Driver, Missing, Reading, field};
use crate::render::put;

use super::Links;
use super::counters::BLACKWELL;

/// In the numbers of `nvmlDeviceGetArchitecture`.
const HOPPER: u32 = 9;

/// `-gLowPwrInfo`, of `nvmlDeviceGetFieldValues`.
pub fn low_power(links: &Links, _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
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
    let limits = Limits::of(links);
    match (limits.unit, limits.least, limits.most) {
        (Ok(unit), Ok(least), Ok(most)) => {
            put(
                out,
                &format!("\t Low Power Threshold are in units of {unit} us\n"),
            );
            put(
                out,
                &format!("\t Range of Low Power Threshold values are {least} to {most}\n\n"),
            );
        }
        (Err(missing), ..) | (_, Err(missing), _) | (.., Err(missing)) => {
            let words = missing.words();
            put(
                out,
                &format!("NVML: Unable to retrieve NvLink low power info {words}\n\n"),
            );
        }
    }
    let fields = [
        field::NVLINK_GET_POWER_STATE,
        field::NVLINK_GET_POWER_THRESHOLD,
    ];
    for (link, values) in links.ask_shown(&fields)? {
        let mode = match values[0] {
            Ok(0) => "High Speed State",
            Ok(1) => "Low Power State",
            Ok(_) => "Unknown",
            Err(missing) => missing.words_or_not_available(),
        };
        let threshold = match values[1].and_then(|units| limits.microseconds(units)) {
            Ok(time) => format!("{time} us"),
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

/// What `-sLowPwrThres` asks for.
pub enum Wish<'l> {
    /// NVML's own threshold.
    Default,
    /// A number of units, in decimal digits.
    Units(&'l str),
}

/// Reads the value of `-sLowPwrThres`. Whether a number fits, each GPU knows.
pub fn wish(line: &Line) -> Result<Wish<'_>, Error> {
    let text = line.text("setLowPowerThreshold").unwrap_or_default();
    if text == "default" {
        return Ok(Wish::Default);
    }
    let text = text.trim_start();
    let digits = text.strip_prefix('+').unwrap_or(text);
    match digits.bytes().all(|digit| digit.is_ascii_digit()) {
        true => Ok(Wish::Units(digits)),
        false => Err(Error::refused("Invalid argument\n")),
    }
}

/// `-sLowPwrThres`: so many units, or `default`.
pub fn set_low_power(links: &Links, line: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    match links.gpu.architecture() {
        Ok(HOPPER..) => {}
        Ok(_) => return Err(Error::unread(Missing::NotSupported, "Not supported\n")),
        Err(missing) => return Err(no_device_type(missing)),
    }
    let limits = Limits::of(links);
    let wish = match wish(line)? {
        Wish::Default => None,
        Wish::Units(digits) => {
            // What is beyond 32 bits, and NVML's own number for the default, is none.
            let threshold = digits.parse().ok().filter(|&known| known < u32::MAX);
            let fits = threshold.filter(|&known| limits.allow(known));
            Some(fits.ok_or_else(|| limits.refuse())?)
        }
    };
    let set = match links.dry_run {
        true => by_root(),
        false => links.gpu.set_low_power_threshold(wish),
    };
    set.map_err(|missing| match missing {
        Missing::INVALID_ARGUMENT => limits.refuse(),
        Missing::NO_PERMISSION => Error::unread(
            missing,
            "\t Low Power Threshold: Insufficient permissions \n",
        ),
        _ => {
            let words = missing.words();
            let message = format!("NVML: Unable to set Low Power Threshold: {words}\n");
            Error::unread(missing, message)
        }
    })?;
    let spelt = |threshold: i64| match limits.microseconds(threshold) {
        Ok(time) => format!("{time} us"),
        Err(_) => format!("{threshold} units"),
    };
    if links.dry_run {
        let wanted = wish.map_or("the default".to_owned(), |wish| spelt(wish.into()));
        let name = name(links.gpu);
        put(
            out,
            &format!("\t Would set the Low Power Threshold to {wanted} for GPU {name}\n"),
        );
        return Ok(());
    }
    match wish {
        Some(threshold) => {
            let set = spelt(threshold.into());
            put(out, &format!("\t Low Power Threshold set to {set}\n"));
        }
        None => put(out, "\t Low Power Threshold reset successfully\n"),
    }
    Ok(())
}

/// The GPU does not tell its architecture.
pub fn no_device_type(missing: Missing) -> Error {
    Error::unread(missing, "Unable to get device type\n")
}

/// The bounds of the low power threshold, and the unit that it counts in.
struct Limits {
    /// Microseconds.
    unit: Reading<i64>,
    least: Reading<i64>,
    most: Reading<i64>,
}

impl Limits {
    /// What NVML says of it, one call of `nvmlDeviceGetFieldValues`.
    fn of(links: &Links) -> Self {
        let fields = [
            field::NVLINK_GET_POWER_THRESHOLD_UNITS,
            field::NVLINK_GET_POWER_THRESHOLD_MIN,
            field::NVLINK_GET_POWER_THRESHOLD_MAX,
        ];
        let mut values = links
            .gpu
            .numbers(&fields.map(|field| (field, 0)))
            .into_iter();
        let mut next = || values.next().unwrap_or(Err(Missing::UNKNOWN));
        Self {
            unit: next().map(|unit| if unit == 0 { 100 } else { 50 }),
            least: next(),
            most: next(),
        }
    }

    /// The bounds; those of the API where the GPU tells none.
    fn range(&self) -> RangeInclusive<i64> {
        self.least.unwrap_or(1)..=self.most.unwrap_or(0x1fff)
    }

    /// Whether a threshold may be tried; NVML judges where the GPU tells no bounds.
    fn allow(&self, threshold: u32) -> bool {
        match (self.least, self.most) {
            (Ok(least), Ok(most)) => (least..=most).contains(&threshold.into()),
            _ => true,
        }
    }

    /// A threshold in microseconds.
    fn microseconds(&self, threshold: i64) -> Reading<i64> {
        self.unit.map(|unit| threshold.saturating_mul(unit))
    }

    fn refuse(&self) -> Error {
        let (least, most) = self.range().into_inner();
        Error::refused(format!(
            "\t Invalid Low Power Threshold value. Please enter 'default' or a value in the range of {least} to {most}\n"
        ))
    }
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

/// `-sLWidth`, likewise.
pub fn set_width(links: &Links, _: &Line, _: &mut Vec<u8>) -> Result<(), Error> {
    match links.gpu.architecture() {
        Ok(BLACKWELL..) => Err(Error::out_of_reach("the width of NVLinks")),
        Ok(_) => Err(Error::unread(Missing::NotSupported, "Not supported\n")),
        Err(missing) => Err(no_device_type(missing)),
    }
}

/// The modes of `-gBwMode` and `-sBwMode`, by NVML's number.
const MODES: [&str; 5] = ["FULL", "OFF", "MIN", "HALF", "3QUARTER"];

fn mode_word(mode: u32) -> &'static str {
    MODES.get(mode as usize).copied().unwrap_or("Unknown")
}

/// `-sBwMode`: one for all GPUs.
pub fn set_bandwidth_mode(driver: &Driver, word: &str, dry_run: bool) -> Result<String, Error> {
    let unable = format!("Unable to set nvlink bandwidth mode {word}\n");
    let mode = (0..).zip(MODES).find(|(_, known)| *known == word);
    let Some((mode, _)) = mode else {
        return Err(Error::refused(format!("Option {word} not found\n{unable}")));
    };
    let done = match dry_run {
        true => by_root().and_then(|()| {
            let now = driver.nvlink_bandwidth_mode();
            let now = now.map(|mode| mode_word(mode).to_owned());
            would_change("the nvlink bandwidth mode", now, word).map(|change| change + ".\n")
        }),
        false => driver
            .set_nvlink_bandwidth_mode(mode)
            .map(|()| format!("Successfully set nvlink bandwidth mode to {word}\n")),
    };
    done.map_err(|missing| Error::unread(missing, unable))
}

/// `-gBwMode`: one for all GPUs, `nvmlSystemGetNvlinkBwMode`.
pub fn bandwidth_mode(driver: &Driver) -> Result<String, Error> {
    let mode = driver.nvlink_bandwidth_mode().map_err(|missing| {
        let message = match missing {
            Missing::NotSupported => "Getting nvlink bandwidth mode is not supported\n",
            _ => "Unable to read nvlink bandwidth mode\n",
        };
        Error::unread(missing, message)
    })?;
    let mode = mode_word(mode);
    Ok(format!("GPU NVLINK bandwidth mode: {mode}\n"))
}
