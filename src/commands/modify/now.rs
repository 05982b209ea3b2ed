//! What a GPU says before it is changed, and the words for it.

use super::asked::Asked;
use crate::nvml::{Clock, Gpu, Missing, Reading};
use crate::value::Value;

const UNKNOWN: &str = "unknown";

/// The word for a switch.
pub fn on(on: bool) -> String {
    ["Disabled", "Enabled"][usize::from(on)].to_owned()
}

/// A word for a number, or [`UNKNOWN`].
pub fn word(words: &[&str], number: u32) -> String {
    (*words.get(number as usize).unwrap_or(&UNKNOWN)).to_owned()
}

/// Whether MIG mode is in force.
pub fn in_mig_mode(gpu: &Gpu) -> bool {
    matches!(gpu.mig(), Ok((true, _)))
}

/// The applications clocks of memory and graphics, MHz.
pub fn applications_clocks(gpu: &Gpu) -> Reading<[u32; 2]> {
    Ok([
        gpu.application_clock(Clock::Memory)?,
        gpu.application_clock(Clock::Graphics)?,
    ])
}

/// What they are by default, MHz.
pub fn default_applications_clocks(gpu: &Gpu) -> Reading<[u32; 2]> {
    Ok([
        gpu.default_application_clock(Clock::Memory)?,
        gpu.default_application_clock(Clock::Graphics)?,
    ])
}

/// A pair of clocks as the real tool writes it.
pub fn clocks_in_words([memory, graphics]: [u32; 2]) -> String {
    format!("(MEM {memory}, SM {graphics})")
}

/// The power limit of the GPU (0) or of the module that it is on (1), milliwatts.
pub fn power_limit(gpu: &Gpu, scope: u32) -> Reading<u32> {
    const REQUESTED_LIMIT: u32 = 192;
    match of_gpu(scope, || gpu.power_limit()) {
        Some(limit) => Ok(limit),
        None => milliwatts(gpu, REQUESTED_LIMIT, scope),
    }
}

/// The lowest and the highest that it can be, milliwatts.
pub fn power_range(gpu: &Gpu, scope: u32) -> Reading<(u32, u32)> {
    const LOWEST_LIMIT: u32 = 187;
    const HIGHEST_LIMIT: u32 = 188;
    match of_gpu(scope, || gpu.power_limit_range()) {
        Some(range) => Ok(range),
        None => Ok((
            milliwatts(gpu, LOWEST_LIMIT, scope)?,
            milliwatts(gpu, HIGHEST_LIMIT, scope)?,
        )),
    }
}

/// What the functions tell that older drivers have too, but of the GPU only.
fn of_gpu<T>(scope: u32, ask: impl FnOnce() -> Reading<T>) -> Option<T> {
    const GPU: u32 = 0;
    (scope == GPU).then(ask)?.ok()
}

fn milliwatts(gpu: &Gpu, field: u32, scope: u32) -> Reading<u32> {
    let milliwatts = gpu.field_number(field, scope)?;
    u32::try_from(milliwatts).map_err(|_| Missing::UNKNOWN)
}

/// What NVML would say to clocks, by the list of those that there are.
pub fn listed(clocks: Reading<Vec<u32>>, fits: impl FnOnce(&[u32]) -> bool) -> Reading<()> {
    match clocks {
        Ok(clocks) if fits(&clocks) => Ok(()),
        // There is no list.
        Err(Missing::NotSupported) => Ok(()),
        // NVML answers NOT_FOUND for a memory clock that there is not.
        Ok(_) | Err(Missing::NOT_FOUND) => Err(Missing::INVALID_ARGUMENT),
        Err(why) => Err(why),
    }
}

/// As [`listed`], of a range, the lower clock first. Clocks that have a name
/// are always there.
pub fn range_listed(clocks: Reading<Vec<u32>>, asked: &Asked) -> Reading<()> {
    let [low, high] = asked.numbers;
    if asked.shown != asked.numbers.map(|clock| clock.to_string()) {
        return Ok(());
    }
    listed(clocks, |clocks| {
        let (min, max) = (clocks.iter().min(), clocks.iter().max());
        low <= high && min <= Some(&low) && Some(&high) <= max
    })
}

/// Milliwatts as watts.
pub fn watts(milliwatts: u32) -> String {
    Value::watts(milliwatts).to_string()
}
