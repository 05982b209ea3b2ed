//! Numbers as nvidia-smi reads them: C's `strtol`, `strtoul` and `strtof`,
//! with the words that stand for numbers.

/// The words that nvidia-smi accepts wherever it accepts a whole number,
/// whatever the option: `-c ENABLED` is `-c 1`.
const WORDS: &[(&str, u32)] = &[
    ("DISABLED", 0),
    ("ENABLED", 1),
    ("VOLATILE", 0),
    ("AGGREGATE", 1),
    ("DEFAULT", 0),
    ("EXCLUSIVE_THREAD", 1),
    ("PROHIBITED", 2),
    ("EXCLUSIVE_PROCESS", 3),
    ("ALL_ON", 0),
    ("COMPUTE", 1),
    ("LOW_DP", 2),
    ("GREEN", 0),
    ("AMBER", 1),
    ("UNRESTRICTED", 0),
    ("RESTRICTED", 1),
    ("WDDM", 0),
    ("TCC", 1),
    ("RESTORE_DEFAULT", 0),
    ("OVERRIDE", 1),
];

/// A signed 32-bit number or a word, kept as its bits: -1 is `u32::MAX`.
pub fn int(text: &str) -> Option<u32> {
    word(text).or_else(|| signed(text).map(i32::cast_unsigned))
}

/// A signed 32-bit number.
pub fn signed(text: &str) -> Option<i32> {
    let value = match text.trim_start().strip_prefix('-') {
        Some(digits) => -magnitude(digits)?,
        None => unsigned(text)?,
    };
    i32::try_from(value).ok()
}

/// A signed number of any size: one that does not fit is the nearest that does.
pub fn nearest(text: &str) -> Option<i32> {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, radix) = self::digits(digits)?;
    // Valid digits fail only by being too many.
    let value = i64::from_str_radix(digits, radix).unwrap_or(i64::MAX);
    i32::try_from((sign * value).clamp(i32::MIN.into(), i32::MAX.into())).ok()
}

/// An unsigned 32-bit number or a word; not even `-0` may have a sign.
pub fn uint(text: &str) -> Option<u32> {
    word(text).or_else(|| u32::try_from(unsigned(text)?).ok())
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

/// A whole number as subcommands read it: no words, nothing at all is zero, and
/// what does not fit loses its upper bits.
pub fn long(text: &str) -> Option<i32> {
    if text.is_empty() {
        return Some(0);
    }
    let value = match text.trim_start().strip_prefix('-') {
        Some(digits) => -magnitude(digits)?,
        None => unsigned(text)?,
    };
    Some(value as i32)
}

/// The same in 64 bits, without a sign.
pub fn wide(text: &str) -> Option<u64> {
    match text {
        "" => Some(0),
        text => u64::try_from(unsigned(text)?).ok(),
    }
}

fn unsigned(text: &str) -> Option<i64> {
    let text = text.trim_start();
    magnitude(text.strip_prefix('+').unwrap_or(text))
}

/// Digits in C's notation.
fn magnitude(text: &str) -> Option<i64> {
    let (digits, radix) = digits(text)?;
    i64::from_str_radix(digits, radix).ok()
}

/// `0x` makes digits hexadecimal, a leading 0 octal.
fn digits(text: &str) -> Option<(&str, u32)> {
    let (digits, radix) = match text.strip_prefix('0') {
        Some(rest) if rest.starts_with(['x', 'X']) => (&rest[1..], 16),
        Some(rest) if !rest.is_empty() => (rest, 8),
        _ => (text, 10),
    };
    let known = digits.chars().all(|c| c.is_digit(radix));
    (known && !digits.is_empty()).then_some((digits, radix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ints_follow_strtol() {
        for (text, value) in [
            ("0", 0),
            ("+1", 1),
            (" 1", 1),
            ("0x1F", 31),
            ("010", 8),
            ("-0", 0),
            ("-1", u32::MAX),
            ("EXCLUSIVE_PROCESS", 3),
        ] {
            assert_eq!(int(text), Some(value), "{text:?}");
        }
        for text in [
            "",
            " ",
            "1 ",
            "1x",
            "1.5",
            "08",
            "0x",
            "--1",
            "+-1",
            "-+1",
            "- 1",
            "0x-1",
            "enabled",
            "2147483648",
        ] {
            assert_eq!(int(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_nearest_is_taken_for_what_does_not_fit() {
        for (text, value) in [
            ("0", 0),
            ("+1", 1),
            (" -0x10", -16),
            ("2147483648", i32::MAX),
            ("99999999999999999999", i32::MAX),
            ("-99999999999999999999", i32::MIN),
        ] {
            assert_eq!(nearest(text), Some(value), "{text:?}");
        }
        for text in ["", "-", "--1", "+-1", "1x", "99999999999999999999x"] {
            assert_eq!(nearest(text), None, "{text:?}");
        }
    }

    #[test]
    fn longs_are_cut_to_size() {
        for (text, value) in [
            ("", 0),
            ("0x10", 16),
            ("-1", -1),
            ("99999999999", 1_215_752_191),
        ] {
            assert_eq!(long(text), Some(value), "{text:?}");
        }
        for text in ["ENABLED", "1.5", "1x"] {
            assert_eq!(long(text), None, "{text:?}");
        }
    }

    #[test]
    fn wide_numbers_have_no_sign() {
        assert_eq!(wide("0x100000000"), Some(1 << 32));
        assert_eq!(wide(""), Some(0));
        assert_eq!(wide("-1"), None);
    }

    #[test]
    fn uints_have_no_sign() {
        assert_eq!(uint("4294967295"), Some(u32::MAX));
        assert_eq!(uint("OVERRIDE"), Some(1));
        for text in ["-0", "-1", "4294967296", "", "1,2"] {
            assert_eq!(uint(text), None, "{text:?}");
        }
    }

    #[test]
    fn floats_are_read_as_far_as_they_go() {
        for (text, value) in [
            ("", 0.0),
            ("300", 300.0),
            ("1.5W", 1.5),
            ("1e1", 10.0),
            ("1,2", 1.0),
            ("0x12c", 300.0),
            ("+0X12C", 300.0),
            ("-0x1", -1.0),
            ("0x12cp", 300.0),
            ("0x1.8p8W", 384.0),
            ("0x.8p+9", 256.0),
            ("0x0", 0.0),
            ("0x1p999", f32::INFINITY),
        ] {
            assert_eq!(float(text), Some(value), "{text:?}");
        }
        for text in [
            "W", "--1", "- 1", "+", "=", "0W", " ", "0x", "0xg", "0x0W", "0x.p1",
        ] {
            assert_eq!(float(text), None, "{text:?}");
        }
    }
}
