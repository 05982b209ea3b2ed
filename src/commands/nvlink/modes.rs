//! The modes that the NVLinks run in: `-gLowPwrInfo`, `-gLWidth` and `-gBwMode`.

use std::ops::RangeInclusive;

use crate::cli::Line;
use crate::commands::dry_run::{by_root, name, would_change};
use crate::commands::links::{Links, Row, Stop, count, state};
use crate::commands::present::failed;
use crate::error::{Error, Outcome};
use crate::nvml::{Driver, Missing, Reading, field};

/// In the numbers of `nvmlDeviceGetArchitecture`.
const HOPPER: u32 = 9;
pub const BLACKWELL: u32 = 10;

/// Refuses GPUs that are older than an architecture.
fn from(first: u32, links: &Links, unknown: impl Fn(Missing) -> Error) -> Result<(), Error> {
    if links.gpu.architecture().map_err(unknown)? >= first {
        Ok(())
    } else {
        Err(Error::unread(Missing::NotSupported, "Not supported\n"))
    }
}

/// The GPU does not tell its architecture.
pub fn no_device_type(missing: Missing) -> Error {
    Error::unread(missing, "Unable to get device type\n")
}

/// `-gLowPwrInfo`, of `nvmlDeviceGetFieldValues`.
pub fn low_power(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    let no_info = |missing: Missing| {
        let words = missing.words();
        format!("NVML: Unable to retrieve NvLink low power info {words}\n")
    };
    from(HOPPER, links, |missing| {
        Error::unread(missing, no_info(missing))
    })?;
    if !links.any_up(["retrieve NvLink low power info"; 2], out)? {
        return Ok(());
    }
    let limits = Limits::of(links);
    match (limits.unit, limits.least, limits.most) {
        (Ok(unit), Ok(least), Ok(most)) => {
            out.text += &format!("\t Low Power Threshold are in units of {unit} us\n");
            out.text +=
                &format!("\t Range of Low Power Threshold values are {least} to {most}\n\n");
        }
        (Err(missing), ..) | (_, Err(missing), _) | (.., Err(missing)) => {
            out.text += &no_info(missing);
            out.text += "\n";
        }
    }
    let mode = state(["High Speed State", "Low Power State"]);
    let threshold = |units: Reading<i64>| match units.and_then(|units| limits.microseconds(units)) {
        Ok(time) => format!("{time} us"),
        missing => count(missing),
    };
    let rows: &[Row] = &[
        ("Low Power Mode", field::NVLINK_GET_POWER_STATE, &mode),
        (
            "Low Power Threshold",
            field::NVLINK_GET_POWER_THRESHOLD,
            &threshold,
        ),
    ];
    links.rows(links.shown_up()?, rows, "\n", out);
    Ok(())
}

/// What `-sLowPwrThres` asks for.
pub enum Threshold<'l> {
    /// NVML's own threshold.
    Default,
    /// A number of units, in decimal digits.
    Units(&'l str),
}

/// Reads the value of `-sLowPwrThres`. Each GPU has its own bounds for it.
pub fn threshold(line: &Line) -> Result<Threshold<'_>, Error> {
    let text = line.text("setLowPowerThreshold").unwrap_or_default();
    if text == "default" {
        return Ok(Threshold::Default);
    }
    let text = text.trim_start();
    let digits = text.strip_prefix('+').unwrap_or(text);
    if digits.bytes().all(|digit| digit.is_ascii_digit()) {
        Ok(Threshold::Units(digits))
    } else {
        Err(Error::refused("Invalid argument\n"))
    }
}

/// `-sLowPwrThres`: so many units, or `default`.
pub fn set_low_power(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    from(HOPPER, links, no_device_type)?;
    let limits = Limits::of(links);
    let dry_run = links.line.has("dry-run");
    let threshold = match threshold(links.line)? {
        Threshold::Default => None,
        Threshold::Units(digits) => {
            // What is beyond 32 bits, and NVML's own number for the default, is none.
            let units = digits.parse().ok().filter(|&units| units < u32::MAX);
            let fits = units.filter(|&units| limits.allow(units));
            Some(fits.ok_or_else(|| limits.refuse())?)
        }
    };
    let set = if dry_run {
        by_root()
    } else {
        links.gpu.set_low_power_threshold(threshold)
    };
    set.map_err(|missing| match missing {
        Missing::INVALID_ARGUMENT => limits.refuse(),
        Missing::NO_PERMISSION => Error::unread(
            missing,
            "\t Low Power Threshold: Insufficient permissions \n",
        ),
        _ => failed("NVML: Unable to set Low Power Threshold")(missing),
    })?;
    let wanted = threshold.map(|units| match limits.microseconds(units.into()) {
        Ok(time) => format!("{time} us"),
        Err(_) => format!("{units} units"),
    });
    out.text += &match (dry_run, wanted) {
        (true, wanted) => {
            let wanted = wanted.as_deref().unwrap_or("the default");
            let name = name(links.gpu);
            format!("\t Would set the Low Power Threshold to {wanted} for GPU {name}\n")
        }
        (false, Some(time)) => format!("\t Low Power Threshold set to {time}\n"),
        (false, None) => "\t Low Power Threshold reset successfully\n".to_owned(),
    };
    Ok(())
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
pub fn width(links: &Links, _: &mut Outcome) -> Result<(), Stop> {
    let no_width = |missing: Missing| {
        let words = missing.words();
        let message = format!(
            "NVML: Unable to retrieve Nvlink Link Width {words}\nUnable to get Link Width\n"
        );
        Error::unread(missing, message)
    };
    from(BLACKWELL, links, no_width)?;
    Err(no_width(Missing::NotSupported).into())
}

/// `-sLWidth`, likewise.
pub fn set_width(links: &Links, _: &mut Outcome) -> Result<(), Stop> {
    from(BLACKWELL, links, no_device_type)?;
    Err(Error::out_of_reach("the width of NVLinks").into())
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
    let done = if dry_run {
        by_root().and_then(|()| {
            let now = driver.nvlink_bandwidth_mode();
            let now = now.map(|mode| mode_word(mode).to_owned());
            would_change("the nvlink bandwidth mode", now, word).map(|change| change + ".\n")
        })
    } else {
        driver
            .set_nvlink_bandwidth_mode(mode)
            .map(|()| format!("Successfully set nvlink bandwidth mode to {word}\n"))
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
