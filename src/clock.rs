//! Local time, by the rules of C's `localtime`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use jiff::ZonedDateTime;
use jiff::tz::TimeZone;

/// Now.
pub fn now() -> ZonedDateTime {
    jiff::Timestamp::now().to_zoned_datetime(zone())
}

/// The time zone that `TZ` names, or the system's.
pub fn zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let zone = || area(std::env::var_os("TZ")?, std::env::var_os("TZDIR"));
    ZONE.get_or_init(|| zone().unwrap_or_else(TimeZone::system))
        .clone()
}

/// The zone of an area, such as `Asia/Tokyo`: its file, and not all the files
/// there are, which is what jiff looks through to find one by name.
fn area(name: OsString, folder: Option<OsString>) -> Option<TimeZone> {
    let name = name.into_string().ok()?;
    let name = name.strip_prefix(':').unwrap_or(&name);
    let folder = folder.map_or_else(|| PathBuf::from("/usr/share/zoneinfo"), PathBuf::from);
    let inside = !name.is_empty() && !name.contains("..") && !Path::new(name).is_absolute();
    let rules = std::fs::read(folder.join(name)).ok().filter(|_| inside)?;
    TimeZone::tzif(name, &rules).ok()
}
