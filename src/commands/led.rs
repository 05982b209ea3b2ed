//! `-t`: the LED of S-class units.

use super::dry_run::NOTHING_CHANGED;
use super::log::unit_index;
use super::modify::ALL_DONE;
use crate::error::{Error, Status};
use crate::nvml::{Driver, Missing, is_root};

const COLORS: &[&str] = &["Green", "Amber"];

/// The two LEDs of a unit, and those of all units of today, change together.
const NOTE: &str = "\
Please Note: Current S-Class products don't provide unique LEDs for each unit.
             As such, both front and back LEDs will be toggled in unison
             regardless of which unit is specified with this command

";

/// Sets the colour of the LEDs of the units named, or of all; a dry run tells
/// which would be set.
pub fn led(driver: &Driver, ids: Option<&str>, color: u32, dry_run: bool) -> Result<String, Error> {
    let units = match ids {
        Some(id) => vec![unit_index(id)?],
        None => (0..driver.unit_count().map_err(uncounted)?).collect(),
    };
    if units.is_empty() {
        return Err(Error::new(Status::NotFound, "No units found in system\n"));
    }
    let mut text = NOTE.to_owned();
    if COLORS.get(color as usize).is_none() {
        text += &format!("Invalid LED state: {}\n", color.cast_signed());
        return Err(terminated(text, Status::InvalidArgument));
    }
    for unit in units {
        let outcome = change(driver, unit, color, dry_run, &mut text);
        match outcome {
            Ok(()) => {}
            Err(Missing::NotSupported) => text += "Treating as warning and moving on.\n",
            Err(why) => return Err(terminated(text, why.into())),
        }
    }
    Ok(text + if dry_run { NOTHING_CHANGED } else { ALL_DONE })
}

fn change(
    driver: &Driver,
    unit: u32,
    color: u32,
    dry_run: bool,
    text: &mut String,
) -> Result<(), Missing> {
    let mut told = |what: &str, why: Missing| {
        *text += &format!("Unable to {what} for unit {unit}: {}\n", why.words());
        why
    };
    let word = |color: u32| COLORS.get(color as usize).copied().unwrap_or("unknown");
    driver
        .unit(unit)
        .map_err(|why| told("determine unit handle", why))?;
    let now = match driver.led(unit) {
        Err(Missing::NotSupported) => {
            *text +=
                &format!("Setting led state is not supported for unit {unit} on this platform.\n");
            return Err(Missing::NotSupported);
        }
        now => now.map_err(|why| told("determine current led state", why))?,
    };
    if now == color {
        *text += &format!("LED state is already {} for unit {unit}.\n", word(color));
        return Ok(());
    }
    if dry_run {
        if !is_root() {
            return Err(told("set led state", Missing::NO_PERMISSION));
        }
        *text += &format!(
            "Would change the LED state from {} to {} for unit {unit}.\n",
            word(now),
            word(color)
        );
        return Ok(());
    }
    driver
        .set_led(unit, color)
        .map_err(|why| told("set led state", why))?;
    *text += &format!("LED state for unit {unit} is now {}.\n", word(color));
    Ok(())
}

fn uncounted(why: Missing) -> Error {
    let words = why.words_or_not_available();
    let message = format!("Unable to determine the number of available units: {words}\n");
    Error::new(why.into(), message)
}

fn terminated(text: String, status: Status) -> Error {
    Error::new(status, text + "Terminating early due to previous errors.\n")
}
