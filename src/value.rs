//! Readings as text: all number formatting is here.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use jiff::ZonedDateTime;

/// What a field of a query shows, before its unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Words.
    Text(Cow<'static, str>),
    /// A whole number.
    Whole(i128),
    /// A number with two decimals.
    Hundredths(f64),
    /// Hex digits after 0x, at least so many.
    Hex(u64, usize),
}

impl Value {
    /// Words known beforehand.
    pub const fn word(word: &'static str) -> Self {
        Self::Text(Cow::Borrowed(word))
    }

    /// A number without its fraction; none for what is no number.
    pub fn cut(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self::Whole(number as i128))
    }

    /// Bytes as whole mebibytes; a begun one counts.
    pub fn mebibytes(bytes: u64) -> Self {
        Self::Whole(mebibytes(bytes).into())
    }

    /// Milliwatts as watts, with the precision that nvidia-smi has: 65535 mW are 65.54 W.
    pub fn watts(milliwatts: impl Into<f64>) -> Self {
        let watts = milliwatts.into() as f32 / 1000.0;
        Self::Hundredths(watts.into())
    }

    /// Nanoseconds as whole microseconds.
    pub fn microseconds(nanoseconds: u64) -> Self {
        Self::Whole(i128::from(nanoseconds) / 1000)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

macro_rules! whole {
    ($($number:ty),*) => {$(
        impl From<$number> for Value {
            fn from(number: $number) -> Self {
                Self::Whole(number as i128)
            }
        }
    )*};
}
whole!(u8, u32, i32, u64, i64, usize);

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Whole(number) => number.fmt(f),
            Self::Hundredths(number) => write!(f, "{number:.2}"),
            Self::Hex(number, digits) => write!(f, "0x{number:0digits$X}"),
        }
    }
}

/// A time as C's `ctime` writes it: `Mon Nov 30 23:43:58 2026`.
pub fn date(time: &ZonedDateTime) -> String {
    time.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// Bytes as whole mebibytes; a begun one counts, as nvidia-smi counts it.
pub fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// Bytes as whole mebibytes; a begun one does not count, as nvidia-smi counts
/// the memory of processes.
pub fn whole_mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}

/// "Enabled" or "Disabled".
pub const fn enabled(on: bool) -> Value {
    Value::word(if on { "Enabled" } else { "Disabled" })
}

/// "Yes" or "No".
pub const fn yes(yes: bool) -> Value {
    Value::word(if yes { "Yes" } else { "No" })
}

/// "Active" or "Not Active".
pub const fn active(active: bool) -> Value {
    Value::word(if active { "Active" } else { "Not Active" })
}

/// "Supported" or "Not Supported".
pub const fn supported(can: bool) -> Value {
    Value::word(if can { "Supported" } else { "Not Supported" })
}

/// The GUID in a fabric, the first eight of its bytes, as text.
pub fn guid([a, b, c, d, e, f, g, h, ..]: [u8; 16]) -> String {
    format!("{:#018x}", u64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

/// A UUID's 16 bytes as text.
pub fn uuid(bytes: [u8; 16]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

/// Text that cannot disturb a terminal or break a line: control characters, and
/// those that are invisible or turn the direction, are shown as escapes.
pub fn printable(text: &str) -> Cow<'_, str> {
    let disturbing = |c: char| c.is_control() || INVISIBLE.iter().any(|range| range.contains(&c));
    if !text.contains(disturbing) {
        return Cow::Borrowed(text);
    }
    text.chars()
        .fold(String::new(), |mut shown, c| {
            if disturbing(c) {
                shown.extend(c.escape_default())
            } else {
                shown.push(c)
            }
            shown
        })
        .into()
}

/// Line and paragraph separators, and what Unicode lets a display leave out
/// (`Default_Ignorable_Code_Point`) but for the variants of characters.
const INVISIBLE: &[RangeInclusive<char>] = &[
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// The units that readings have; a header shows them in brackets, a value after
/// a blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No unit, or none shown.
    None,
    /// Percent.
    Percent,
    /// Mebibytes, 2^20 bytes.
    Mebibytes,
    /// Watts.
    Watts,
    /// Watts a second.
    WattsPerSecond,
    /// Megahertz.
    Megahertz,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Degrees Celsius.
    Celsius,
    /// Kilobytes, 2^10 bytes, a second.
    KilobytesPerSecond,
    /// Seconds.
    Seconds,
    /// Seconds, written out.
    SecondsInFull,
    /// Banks of memory.
    Banks,
}

impl Unit {
    /// The unit's sign; empty where there is none.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Percent => "%",
            Self::Mebibytes => "MiB",
            Self::Watts => "W",
            Self::WattsPerSecond => "W/s",
            Self::Megahertz => "MHz",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Celsius => "C",
            Self::KilobytesPerSecond => "KB/s",
            Self::Seconds => "sec",
            Self::SecondsInFull => "seconds",
            Self::Banks => "bank(s)",
        }
    }
}
