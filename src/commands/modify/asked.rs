//! How the value of a change is read: what is asked, or why it cannot be.

use super::row::Refusal;
use crate::cli::{Given, Modify};
use crate::error::Status;
use crate::nvml::{HOSTNAME_LENGTH, Missing};

/// What NVML takes for clocks that have a name, as (name, number).
const NAMED_CLOCKS: &[(&str, u32)] = &[("tdp", 0xffff_ff01), ("unlimited", 0xffff_ff02)];

/// What a change asks for, its value understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The numbers for NVML: a mode, or the two clocks, or a limit and its scope.
    pub numbers: [u32; 2],
    /// The same in words: `{a}` and `{b}` of the sentences.
    pub shown: [String; 2],
}

impl Asked {
    /// Of an option without a value.
    pub const NOTHING: Self = Self {
        numbers: [0; 2],
        shown: [String::new(), String::new()],
    };

    /// Two numbers, shown as they are.
    pub fn pair(numbers: [u32; 2]) -> Self {
        Self {
            numbers,
            shown: numbers.map(|number| number.to_string()),
        }
    }

    /// One number, shown as it is.
    pub fn number(number: u32) -> Self {
        Self::word(number, number.to_string())
    }

    /// One number and its word.
    pub fn word(number: u32, word: impl Into<String>) -> Self {
        Self {
            numbers: [number, 0],
            shown: [word.into(), String::new()],
        }
    }
}

/// A mode that has a word, or the complaint and the number.
pub fn named(given: &Given, words: &[&str], invalid: &str) -> Result<Asked, Refusal> {
    let mode = given.bits();
    match words.get(mode as usize) {
        Some(word) => Ok(Asked::word(mode, *word)),
        None => Err(Refusal::of_value(format!("{invalid}: {mode}"))),
    }
}

/// 0 or 1.
pub fn switch(given: &Given, invalid: &str) -> Result<Asked, Refusal> {
    named(given, &["Disabled", "Enabled"], invalid)
}

/// A switch whose `{b}` is the verb.
pub fn mig_mode(given: &Given) -> Result<Asked, Refusal> {
    let mut asked = switch(given, "Invalid MIG Mode")?;
    asked.shown[1] = ["disable", "enable"][usize::from(asked.numbers[0] != 0)].to_owned();
    Ok(asked)
}

/// A switch that NVML refuses where it is neither 0 nor 1. `{b}` is the verb.
pub fn auto_boost(given: &Given) -> Asked {
    let mode = given.bits();
    let [word, verb] = match mode {
        0 => ["Disabled", "DISABLE"],
        _ => ["Enabled", "ENABLE"],
    };
    Asked {
        numbers: [mode, 0],
        shown: [word.to_owned(), verb.to_owned()],
    }
}

/// NVML's public functions do not reach what the real tool reaches by private
/// ones.
pub fn out_of_reach(what: &str) -> Refusal {
    Refusal {
        status: Status::NotSupported,
        ..Refusal::of_value(format!(
            "NVML has no public function that changes {what}: nothing was changed."
        ))
    }
}

/// What no longer changes anything, said of each GPU.
pub fn obsolete(text: &str) -> Refusal {
    Refusal::by_nvml(Missing::NotSupported, text.to_owned())
}

/// Milliwatts, and what they limit: 0 the GPU, 1 the module that it is on.
pub fn power_limit(watts: f32, scope: u32) -> Result<Asked, Refusal> {
    const MODULE: u32 = 1;
    if scope > MODULE {
        return Err(Refusal::of_value(
            "Failed to set power management limit. Invalid device type.".to_owned(),
        ));
    }
    let watts = f64::from(watts);
    // Cut off, as the real tool does. What is too much for a u32 is too much for every GPU.
    let milliwatts = (watts * 1000.0) as u32;
    Ok(Asked {
        numbers: [milliwatts, scope],
        shown: [format!("{watts:.2}"), String::new()],
    })
}

/// A name of 1 to 63 bytes.
pub fn hostname(name: &str) -> Result<Asked, Refusal> {
    match name.len() {
        1..=HOSTNAME_LENGTH => Ok(Asked::word(0, name)),
        _ => Err(Refusal::of_value(format!(
            "Invalid hostname: \"{name}\" does not have 1 to {HOSTNAME_LENGTH} bytes"
        ))),
    }
}

/// `-lgc`: clocks, MHz or by name.
pub fn gpu_clocks(given: &Given, modify: &Modify) -> Result<Asked, Refusal> {
    let clocks = given.text();
    let asked = locked_clocks(clocks, NAMED_CLOCKS).ok_or_else(|| wrong_gpu_clocks(clocks))?;
    precise(modify.mode)?;
    Ok(asked)
}

/// `-m`: 0 is what NVML does by itself.
fn precise(mode: Option<u32>) -> Result<(), Refusal> {
    match mode {
        None | Some(0) => Ok(()),
        Some(1) => Err(out_of_reach("the mode of --lock-gpu-clocks")),
        Some(mode) => Err(Refusal::of_value(format!(
            "Invalid mode for --lock-gpu-clocks: {mode}"
        ))),
    }
}

/// `-lmc`: clocks, MHz.
pub fn memory_clocks(clocks: &str) -> Result<Asked, Refusal> {
    locked_clocks(clocks, &[]).ok_or_else(|| {
        Refusal::of_value(format!(
            "Specified clocks \"{clocks}\" are not valid. Please format input as 'memClkMin,memClkMax' or 'memClkVal' e.g. --lock-memory-clocks=5100,5100 or --lock-memory-clocks=5100"
        ))
    })
}

/// `-ac`: two clocks, MHz.
pub fn applications_clocks(clocks: &str) -> Result<Asked, Refusal> {
    pair(clocks).map(Asked::pair).ok_or_else(|| {
        Refusal::of_value(format!(
            "Specified clocks \"{clocks}\" are not valid. Please format input as memClk,smClk e.g. --applications-clocks=2000,300"
        ))
    })
}

/// `MIN,MAX` or one for both, MHz; or two names, or one for both.
fn locked_clocks(text: &str, names: &[(&str, u32)]) -> Option<Asked> {
    let named = |name| {
        names
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, number)| *number)
    };
    let (min, max) = text.split_once(',').unwrap_or((text, text));
    match (named(min), named(max)) {
        (Some(low), Some(high)) => Some(Asked {
            numbers: [low, high],
            shown: [min.to_owned(), max.to_owned()],
        }),
        _ => Some(Asked::pair([clock(min)?, clock(max)?])),
    }
}

/// Two clocks, MHz.
fn pair(text: &str) -> Option<[u32; 2]> {
    let (first, second) = text.split_once(',')?;
    Some([clock(first)?, clock(second)?])
}

/// A clock, MHz: decimal digits, blanks before them. The highest numbers have a
/// meaning of their own to NVML.
fn clock(text: &str) -> Option<u32> {
    let digits = text.trim_start();
    let clock: u32 = digits.strip_prefix('+').unwrap_or(digits).parse().ok()?;
    (!digits.starts_with("++") && clock <= i32::MAX.cast_unsigned()).then_some(clock)
}

/// The real tool shows the clocks up to the comma that it has cut them at.
fn wrong_gpu_clocks(clocks: &str) -> Refusal {
    let begin = clocks.len() - clocks.trim_start_matches(',').len();
    let end = clocks[begin..]
        .find(',')
        .map_or(clocks.len(), |comma| begin + comma);
    Refusal::of_value(format!(
        "Specified clocks \"{}\" are not valid. Please format input as 'gpuClkMin,gpuClkMax' or 'gpuClkVal' e.g. '--lock-gpu-clocks=1500,1500', '--lock-gpu-clocks=1500', or '--lock-gpu-clocks=tdp,unlimited'",
        &clocks[..end]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_whole_megahertz() {
        for (text, clocks) in [("5,6", [5, 6]), (" 5, 6", [5, 6]), ("+5,0", [5, 0])] {
            assert_eq!(pair(text), Some(clocks), "{text:?}");
        }
        for text in [
            "",
            ",",
            "5",
            "5,",
            ",5",
            "5,,6",
            "5,6,7",
            "5,6 ",
            "5;6",
            "-5,6",
            "++5,6",
            "0x10,5",
            "5.0,6",
            "2147483648,5",
            "99999999999,5",
            "tdp,unlimited",
        ] {
            assert_eq!(pair(text), None, "{text:?}");
        }
    }

    #[test]
    fn gpu_clocks_have_names_too() {
        let numbers = |text| locked_clocks(text, NAMED_CLOCKS).map(|asked| asked.numbers);
        assert_eq!(numbers("1410"), Some([1410, 1410]));
        assert_eq!(numbers("tdp"), Some([0xffff_ff01, 0xffff_ff01]));
        assert_eq!(numbers("tdp,unlimited"), Some([0xffff_ff01, 0xffff_ff02]));
        for text in ["tdp,500", "500,unlimited", "TDP", "4294967041", ""] {
            assert_eq!(numbers(text), None, "{text:?}");
        }
        assert_eq!(locked_clocks("tdp", &[]), None);
    }

    #[test]
    fn no_limit_wraps_around() {
        let milliwatts = |watts| power_limit(watts, 0).map(|asked| asked.numbers[0]);
        assert_eq!(milliwatts(300.5), Ok(300_500));
        assert_eq!(milliwatts(700.001), Ok(700_000));
        for watts in [4_294_967.5, 1e20, f32::INFINITY] {
            assert_eq!(milliwatts(watts), Ok(u32::MAX), "{watts}");
        }
    }

    #[test]
    fn hostnames_fit() {
        assert!(hostname("gpu-0").is_ok() && hostname(&"x".repeat(63)).is_ok());
        assert!(hostname("").is_err() && hostname(&"x".repeat(64)).is_err());
    }
}
