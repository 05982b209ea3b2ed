//! Every reader of a number on the command line. nvidia-smi reads them as C's
//! `strtol`, `strtoul` and `strtof` do, and knows words that stand for numbers.

use std::time::Duration;

/// The words that nvidia-smi accepts wherever it accepts a whole number,
/// whatever the option: `-c ENABLED` is `-c 1`.
#[rustfmt::skip]
const WORDS: &[(&str, u32)] = &[
    ("DISABLED", 0), ("ENABLED", 1),
    ("VOLATILE", 0), ("AGGREGATE", 1),
    ("DEFAULT", 0), ("EXCLUSIVE_THREAD", 1), ("PROHIBITED", 2), ("EXCLUSIVE_PROCESS", 3),
    ("ALL_ON", 0), ("COMPUTE", 1), ("LOW_DP", 2),
    ("GREEN", 0), ("AMBER", 1),
    ("UNRESTRICTED", 0), ("RESTRICTED", 1),
    ("WDDM", 0), ("TCC", 1),
    ("RESTORE_DEFAULT", 0), ("OVERRIDE", 1),
];

/// A signed 32-bit number or a word, kept as its bits: -1 is `u32::MAX`.
pub fn int(text: &str) -> Option<u32> {
    word(text).or_else(|| signed(text).map(i32::cast_unsigned))
}

/// An unsigned 32-bit number or a word; not even `-0` may have a sign.
pub fn uint(text: &str) -> Option<u32> {
    word(text).or_else(|| u32::try_from(without_sign(text)?).ok())
}

/// A signed 32-bit number.
pub fn signed(text: &str) -> Option<i32> {
    i32::try_from(whole(text)?).ok()
}

/// A signed number of any size; one that does not fit 32 bits becomes the nearest
/// that does.
pub fn nearest(text: &str) -> Option<i32> {
    let range = i128::from(i32::MIN)..=i128::from(i32::MAX);
    i32::try_from(whole(text)?.clamp(*range.start(), *range.end())).ok()
}

/// A signed 64-bit number, cut to its lower 32 bits; nothing at all is zero.
pub fn long(text: &str) -> Option<i32> {
    match text {
        "" => Some(0),
        text => Some(i64::try_from(whole(text)?).ok()? as i32),
    }
}

/// A 64-bit number without a sign, up to 2^63 - 1; nothing at all is zero.
pub fn wide(text: &str) -> Option<u64> {
    match text {
        "" => Some(0),
        text => i64::try_from(without_sign(text)?).ok()?.try_into().ok(),
    }
}

/// A number of seconds or, by the unit, of parts of one: `0.5`, `1e-3`. Zero is a
/// number too.
pub fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

/// A number with a fraction, read as far as it goes: `300W` is 300. A zero
/// must be all there is, and nothing at all is zero.
pub fn float(text: &str) -> Option<f32> {
    let digits = text.trim_start();
    let prefix = |end| Some((decimal_or_hexadecimal(digits.get(..end)?)?, end));
    let longest = (1..=digits.len()).rev().find_map(prefix);
    match longest {
        Some((number, end)) if number != 0.0 || end == digits.len() => Some(number),
        None if text.is_empty() => Some(0.0),
        _ => None,
    }
}

/// The warning that a word brings with it where it stands for a number.
pub fn warning(text: &str) -> &'static str {
    match text {
        "EXCLUSIVE_THREAD" => {
            "Warning: EXCLUSIVE_THREAD mode is deprecated and will be removed in future releases.\n"
        }
        _ => "",
    }
}

fn decimal_or_hexadecimal(text: &str) -> Option<f32> {
    text.parse().ok().or_else(|| hexadecimal(text))
}

/// C's `0x1.8p3`.
fn hexadecimal(text: &str) -> Option<f32> {
    let (sign, number) = match text.strip_prefix('-') {
        Some(number) => (-1.0, number),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let number = number
        .strip_prefix("0x")
        .or_else(|| number.strip_prefix("0X"))?;
    let (digits, exponent) = match number.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let places = i32::try_from(fraction.len()).ok()?.saturating_mul(4);
    Some((sign * value * 2f64.powi(exponent.saturating_sub(places))) as f32)
}

fn word(text: &str) -> Option<u32> {
    let (_, value) = WORDS.iter().find(|(word, _)| *word == text)?;
    Some(*value)
}

fn without_sign(text: &str) -> Option<i128> {
    let signed = text.trim_start().starts_with('-');
    if signed { None } else { whole(text) }
}

/// A whole number in C's notation: blanks, one sign, then digits, which `0x` makes
/// hexadecimal and a leading 0 octal.
fn whole(text: &str) -> Option<i128> {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, radix) = match digits.strip_prefix('0') {
        Some(rest) if rest.starts_with(['x', 'X']) => (&rest[1..], 16),
        Some(rest) if !rest.is_empty() => (rest, 8),
        _ => (digits, 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    // Valid digits fail only if there are too many.
    Some(sign * i128::from_str_radix(digits, radix).unwrap_or(i128::MAX))
}

#[cfg(test)]
#[rustfmt::skip] // tables
mod tests {
    use super::*;

    /// Asserts what a reader makes of texts.
    fn check<T: Copy + PartialEq + std::fmt::Debug>(
        read: fn(&str) -> Option<T>,
        numbers: &[(&str, T)],
        refused: &[&str],
    ) {
        for &(text, number) in numbers {
            assert_eq!(read(text), Some(number), "{text:?}");
        }
        for text in refused {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn ints_follow_strtol() {
        check(
            int,
            &[("0", 0), ("+1", 1), (" 1", 1), ("0x1F", 31), ("010", 8), ("-0", 0), ("-1", u32::MAX), ("EXCLUSIVE_PROCESS", 3)],
            &["", " ", "1 ", "1x", "1.5", "08", "0x", "--1", "+-1", "-+1", "- 1", "0x-1", "enabled", "2147483648"],
        );
    }

    #[test]
    fn the_nearest_is_taken_for_what_does_not_fit() {
        check(
            nearest,
            &[("0", 0), ("+1", 1), (" -0x10", -16), ("2147483648", i32::MAX), ("99999999999999999999", i32::MAX), ("-99999999999999999999", i32::MIN)],
            &["", "-", "--1", "+-1", "1x", "99999999999999999999x"],
        );
    }

    #[test]
    fn longs_are_cut_to_size() {
        check(
            long,
            &[("", 0), ("0x10", 16), ("-1", -1), ("99999999999", 1_215_752_191)],
            &["ENABLED", "1.5", "1x", "9223372036854775808"],
        );
    }

    #[test]
    fn some_numbers_have_no_sign() {
        check(wide, &[("0x100000000", 1 << 32), ("", 0)], &["-1", "-0", "9223372036854775808"]);
        check(uint, &[("4294967295", u32::MAX), ("OVERRIDE", 1)], &["-0", "-1", "4294967296", "", "1,2"]);
    }

    #[test]
    fn floats_are_read_as_far_as_they_go() {
        check(
            float,
            &[
                ("", 0.0), ("300", 300.0), ("1.5W", 1.5), ("1e1", 10.0), ("1,2", 1.0), ("0x12c", 300.0), ("+0X12C", 300.0), ("-0x1", -1.0),
                ("0x12cp", 300.0), ("0x1.8p8W", 384.0), ("0x.8p+9", 256.0), ("0x0", 0.0), ("0x1p999", f32::INFINITY),
            ],
            &["W", "--1", "- 1", "+", "=", "0W", " ", "0x", "0xg", "0x0W", "0x.p1"],
        );
    }
}
