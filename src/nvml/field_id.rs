//! The numbers of the fields of `nvmlDeviceGetFieldValues`.

use super::raw::library::Device;
use super::reading::{Missing, Reading};

/// The id that the driver knows a field by. `id` is the number of the R580.82
/// header and later.
///
/// The header of R570 and early R580 numbered 251 to 273 differently: clocks
/// event reasons at 251 to 255, power smoothing from 256. Which of the two a
/// driver has, its version tells; where there is none, a number would be that of
/// another field.
pub fn field_id(device: Device, id: u32) -> Reading<u32> {
    if id < 251 || is_renumbered(&device.library().driver_version()?) {
        return Ok(id);
    }
    match id {
        ..=268 => Ok(id + 5),
        269..=273 => Ok(id - 18),
        274.. => Err(Missing::NotSupported),
    }
}

/// Whether a driver of this version is R580.82 or later.
fn is_renumbered(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next()) >= (580, 82)
}

#[cfg(test)]
mod tests {
    use super::is_renumbered;

    #[test]
    fn fields_are_renumbered_from_r580_82_on() {
        for version in ["580.82", "580.82.07", "580.159.04", "581.0", "610.43.02"] {
            assert!(is_renumbered(version), "{version}");
        }
        for version in ["580.65.06", "580", "575.90.01", "90.99", "", "unknown"] {
            assert!(!is_renumbered(version), "{version}");
        }
    }
}
