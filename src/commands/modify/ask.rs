//! What the rows of the table ask of a GPU before they change it, and the words for it.

use super::row::{Refusal, Wish, fill};
use crate::nvml::{Clock, Gpu, Missing, Reading};

const UNKNOWN: &str = "unknown";

/// The word for a switch.
pub fn on(on: bool) -> String {
    ["Disabled", "Enabled"][usize::from(on)].to_owned()
}

/// A word for a number, or [`UNKNOWN`].
pub fn word(words: &[&str], number: u32) -> String {
    (*words.get(number as usize).unwrap_or(&UNKNOWN)).to_owned()
}

/// A GPU's bus id, for sentences. (The command does not begin where a GPU does
/// not tell it.)
pub fn bus_id(gpu: &Gpu) -> String {
    gpu.pci().map(|pci| pci.bus_id).unwrap_or_default()
}

/// Whether MIG mode is in force.
pub fn in_mig_mode(gpu: &Gpu) -> bool {
    matches!(gpu.mig(), Ok((true, _)))
}

/// A mode that is neither 0 nor 1, refused as NVML would refuse it.
pub fn switch(gpu: &Gpu, wish: &Wish, failed: &str) -> Result<(), Refusal> {
    let why = [("why", Missing::INVALID_ARGUMENT.words())];
    match wish.numbers[0] {
        0 | 1 => Ok(()),
        _ => Err(Refusal::of_value(fill(failed, &bus_id(gpu), wish, &why))),
    }
}

/// The applications clocks, as the real tool writes a pair.
pub fn applications_clocks(gpu: &Gpu) -> Reading<String> {
    let memory = gpu.application_clock(Clock::Memory)?;
    let graphics = gpu.application_clock(Clock::Graphics)?;
    Ok(format!("(MEM {memory}, SM {graphics})"))
}

/// The power limit, and the lowest and the highest that it can be, milliwatts,
/// of the GPU (0) or of the module that it is on (1).
pub fn power_limits(gpu: &Gpu, scope: u32) -> Reading<(u32, u32, u32)> {
    const REQUESTED_LIMIT: u32 = 192;
    const LOWEST_LIMIT: u32 = 187;
    const HIGHEST_LIMIT: u32 = 188;
    if scope == 0 {
        let limit = gpu.power_limit()?;
        let (min, max) = gpu.power_limit_range()?;
        return Ok((limit, min, max));
    }
    let field = |id| {
        let milliwatts = gpu.field_number(id, scope)?;
        u32::try_from(milliwatts).map_err(|_| Missing::UNKNOWN)
    };
    Ok((
        field(REQUESTED_LIMIT)?,
        field(LOWEST_LIMIT)?,
        field(HIGHEST_LIMIT)?,
    ))
}

/// Milliwatts as watts.
pub fn watts(milliwatts: u32) -> String {
    format!("{:.2}", f64::from(milliwatts) / 1000.0)
}
