//! From the command line to a row of the table and what is asked; what is wrong with a
//! value is told before any GPU is touched.

use super::row::{Asked, Refusal, Row};
use super::table as rows;
use crate::cli::{Change, Modify};
use crate::error::Status;
use crate::nvml::HOSTNAME_LENGTH;

/// What NVML takes for clocks that have a name, as (name, number).
const NAMED_CLOCKS: &[(&str, u32)] = &[("tdp", 0xffff_ff01), ("unlimited", 0xffff_ff02)];

const OBSOLETE_EXCLUSIVE_THREAD: &str =
    "Exclusive_Thread was deprecated! Use value 3:Exclusive_Process instead.";
const OBSOLETE_PERMISSION: &str =
    "Warning: This option is deprecated and will be removed in future releases";

/// The row for a change and what it asks. (Resets and questions have no row.)
pub fn plan(modify: &Modify, change: &Change) -> Result<(&'static Row, Asked), Refusal> {
    let switch = |mode: u32, invalid: &str| named(mode, &["Disabled", "Enabled"], invalid);
    Ok(match change {
        Change::PersistenceMode { mode } => (
            &rows::PERSISTENCE,
            switch(*mode, "Invalid persistence mode")?,
        ),
        Change::EccConfig { mode } => {
            (&rows::ECC, switch(*mode, "Invalid ECC configuration code")?)
        }
        Change::ResetEccErrors { counter } => (
            &rows::ECC_ERRORS,
            named(*counter, &["volatile", "aggregate"], "Invalid ECC type")?,
        ),
        Change::ComputeMode { mode: 1 } => {
            (&rows::OBSOLETE, Asked::word(1, OBSOLETE_EXCLUSIVE_THREAD))
        }
        Change::ComputeMode { mode } => (
            &rows::COMPUTE_MODE,
            named(*mode, rows::COMPUTE_MODES, "Invalid compute mode")?,
        ),
        Change::DriverModel { model } | Change::ForceDriverModel { model } => (
            &rows::DRIVER_MODEL,
            named(
                *model,
                rows::DRIVER_MODELS,
                "Invalid driver model specified",
            )?,
        ),
        Change::Gom { mode } => (
            &rows::OPERATION_MODE,
            named(*mode, rows::OPERATION_MODES, "Invalid GOM")?,
        ),
        Change::VirtMode { mode } => (
            &rows::VIRTUALIZATION,
            Asked::word(*mode, mode.cast_signed().to_string()),
        ),
        Change::LockGpuClocks { clocks } => {
            let asked =
                locked_clocks(clocks, NAMED_CLOCKS).ok_or_else(|| wrong_gpu_clocks(clocks))?;
            precise(modify.mode)?;
            (&rows::GPU_CLOCKS, asked)
        }
        Change::ResetGpuClocks => (&rows::GPU_CLOCKS_RESET, Asked::default()),
        Change::LockMemoryClocks { clocks } => {
            let asked = locked_clocks(clocks, &[]).ok_or_else(|| wrong_memory_clocks(clocks))?;
            (&rows::MEMORY_CLOCKS, asked)
        }
        Change::ResetMemoryClocks => (&rows::MEMORY_CLOCKS_RESET, Asked::default()),
        Change::LockMemoryClocksDeferred { .. } | Change::ResetMemoryClocksDeferred => {
            return Err(out_of_reach("a deferred memory clock"));
        }
        Change::ApplicationsClocks { clocks } => {
            let asked = pair(clocks)
                .map(Asked::pair)
                .ok_or_else(|| wrong_applications_clocks(clocks))?;
            (&rows::APPLICATIONS_CLOCKS, asked)
        }
        Change::ResetApplicationsClocks => (&rows::APPLICATIONS_CLOCKS_RESET, Asked::default()),
        Change::ApplicationsClocksPermission { mode } => {
            (&rows::OBSOLETE, Asked::word(*mode, OBSOLETE_PERMISSION))
        }
        Change::PowerLimit { watts } => (
            &rows::POWER_LIMIT,
            power_limit(*watts, modify.scope.unwrap_or(0))?,
        ),
        Change::CudaClocks { mode: 0 | 1 } => return Err(out_of_reach("the CUDA clocks")),
        Change::CudaClocks { .. } => {
            return Err(Refusal::of_value(
                "Input should be 0 or 1. See nvidia-smi -h.".to_owned(),
            ));
        }
        Change::AccountingMode { mode } => {
            (&rows::ACCOUNTING, switch(*mode, "Invalid accounting mode")?)
        }
        Change::ClearAccountedApps => (&rows::ACCOUNTED, Asked::default()),
        Change::AutoBoostDefault { mode } => (&rows::AUTO_BOOST, boost(*mode)),
        Change::AutoBoostPermission { mode } => {
            let word = rows::RESTRICTIONS.get(*mode as usize).copied();
            (
                &rows::AUTO_BOOST_PERMISSION,
                Asked::word(*mode, word.unwrap_or_default()),
            )
        }
        Change::MultiInstanceGpu { mode } => {
            let mut asked = switch(*mode, "Invalid MIG Mode")?;
            asked.shown[1] = ["disable", "enable"][usize::from(*mode != 0)].to_owned();
            (&rows::MIG, asked)
        }
        Change::GpuTargetTemp { celsius } => (
            &rows::TARGET_TEMPERATURE,
            Asked::word(*celsius, celsius.to_string()),
        ),
        Change::DramEncryption { mode } => (
            &rows::DRAM_ENCRYPTION,
            switch(*mode, "Invalid DRAM encryption mode")?,
        ),
        Change::SetHostname { name } => (&rows::HOSTNAME, hostname(name)?),
        Change::GpuReset { .. } | Change::GetHostname => (&rows::OBSOLETE, Asked::default()),
    })
}

/// A mode that has a word, or the complaint and the number.
fn named(mode: u32, words: &[&str], invalid: &str) -> Result<Asked, Refusal> {
    match words.get(mode as usize) {
        Some(word) => Ok(Asked::word(mode, *word)),
        None => Err(Refusal::of_value(format!("{invalid}: {mode}"))),
    }
}

fn boost(mode: u32) -> Asked {
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
fn out_of_reach(what: &str) -> Refusal {
    Refusal {
        status: Status::NotSupported,
        ..Refusal::of_value(format!(
            "NVML has no public function that changes {what}: nothing was changed."
        ))
    }
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

fn power_limit(watts: f32, scope: u32) -> Result<Asked, Refusal> {
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

fn hostname(name: &str) -> Result<Asked, Refusal> {
    match name.len() {
        1..=HOSTNAME_LENGTH => Ok(Asked::word(0, name)),
        _ => Err(Refusal::of_value(format!(
            "Invalid hostname: \"{name}\" does not have 1 to {HOSTNAME_LENGTH} bytes"
        ))),
    }
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

fn wrong_memory_clocks(clocks: &str) -> Refusal {
    Refusal::of_value(format!(
        "Specified clocks \"{clocks}\" are not valid. Please format input as 'memClkMin,memClkMax' or 'memClkVal' e.g. --lock-memory-clocks=5100,5100 or --lock-memory-clocks=5100"
    ))
}

fn wrong_applications_clocks(clocks: &str) -> Refusal {
    Refusal::of_value(format!(
        "Specified clocks \"{clocks}\" are not valid. Please format input as memClk,smClk e.g. --applications-clocks=2000,300"
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
