//! Local time, by the rules of C's `localtime`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};

/// Now. A clock beyond the years that jiff knows, -9999 to 9999, shows the last of
/// them, or the first.
pub fn now() -> ZonedDateTime {
    let now = SystemTime::now();
    let limit = if now < UNIX_EPOCH {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    let now = Timestamp::try_from(now).unwrap_or(limit);
    now.to_zoned_datetime(zone())
}

/// A time to the millisecond, as nvidia-smi stamps queries: `2026/12/01 00:00:00.000`.
pub fn stamp(time: &ZonedDateTime) -> String {
    time.strftime("%Y/%m/%d %H:%M:%S%.3f").to_string()
}

/// Seconds since 1970 as local time; `None` if no calendar has it.
pub fn from_seconds(seconds: u64) -> Option<ZonedDateTime> {
    let time = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    Some(time.to_zoned_datetime(zone()))
}

/// Microseconds since 1970 as local time; `None` if no calendar has it.
pub fn from_microseconds(microseconds: u64) -> Option<ZonedDateTime> {
    let time = Timestamp::from_microsecond(i64::try_from(microseconds).ok()?).ok()?;
    Some(time.to_zoned_datetime(zone()))
}

/// The time zone that `TZ` names, or the system's.
pub fn zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let zone = || {
        let name = std::env::var_os("TZ")?;
        if is_no_file(&name) {
            return Some(TimeZone::UTC);
        }
        area(name, std::env::var_os("TZDIR"))
    };
    ZONE.get_or_init(|| zone().unwrap_or_else(TimeZone::system))
        .clone()
}

/// Whether `TZ` leads to something that is no file, and may have no end.
fn is_no_file(name: &OsStr) -> bool {
    let path = name.as_bytes();
    let path = Path::new(OsStr::from_bytes(path.strip_prefix(b":").unwrap_or(path)));
    path.is_absolute() && path.metadata().is_ok_and(|found| !found.is_file())
}

/// The zone of an area, such as `Asia/Tokyo`: its file, and not all the files
/// there are, which is what jiff looks through to find one by name.
fn area(name: OsString, folder: Option<OsString>) -> Option<TimeZone> {
    let name = name.into_string().ok()?;
    let name = name.strip_prefix(':').unwrap_or(&name);
    let folder = folder.map_or_else(|| PathBuf::from("/usr/share/zoneinfo"), PathBuf::from);
    let inside = !name.is_empty() && !name.contains("..") && !Path::new(name).is_absolute();
    if !inside {
        return None;
    }
    TimeZone::tzif(name, &std::fs::read(folder.join(name)).ok()?).ok()
}
