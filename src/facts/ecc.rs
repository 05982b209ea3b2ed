//! Memory errors: modes and counts.

use std::ops::RangeInclusive;

use super::{Context, facts, words};
use crate::nvml::{Missing, Reading, Sram};
use crate::value::{Value, enabled, yes};

/// `nvmlMemoryErrorType_t`.
pub const CORRECTED: u32 = 0;
/// The other one.
pub const UNCORRECTED: u32 = 1;

/// `nvmlEccCounterType_t`: since the driver was loaded.
pub const VOLATILE: u32 = 0;
/// In the board's life.
pub const AGGREGATE: u32 = 1;

/// The locations before Turing, `NVML_MEMORY_LOCATION_*`.
const LOCATIONS: RangeInclusive<u32> = 0..=6;

facts! {
    /// Whether errors are corrected.
    mode(context) = context.gpu.ecc().map(|(current, _)| enabled(current));
    /// Whether they will be after the next reset.
    pending_mode(context) = context.gpu.ecc().map(|(_, pending)| enabled(pending));
    /// Whether so many SRAM errors could not be corrected that the board should be replaced.
    threshold_exceeded(context) =
        context.gpu.sram_errors().map(|errors| yes(errors.bThresholdExceeded != 0));
    /// Whether a memory channel waits to be repaired.
    channel_repair_pending(context) =
        context.gpu.repairs_pending().map(|(channel, _)| yes(channel));
    /// Whether a texture processing cluster waits to be repaired.
    tpc_repair_pending(context) = context.gpu.repairs_pending().map(|(_, tpc)| yes(tpc));
    /// Whether memory has failed beyond repair.
    unrepairable_memory(context) = context.gpu.unrepairable_memory().map(yes);
}

/// Errors in one memory: [`CORRECTED`] or not, [`VOLATILE`] or [`AGGREGATE`], and
/// `NVML_MEMORY_LOCATION_*`.
pub fn errors<T>(context: &Context<T>, kind: u32, period: u32, location: u32) -> Reading<Value> {
    let count = context.gpu.memory_errors(kind, period, location)?;
    Ok(count.into())
}

/// Errors in all memories, as NVML adds them up.
pub fn total<T>(context: &Context<T>, kind: u32, period: u32) -> Reading<Value> {
    Ok(context.gpu.total_errors(kind, period)?.into())
}

/// The sum over all memories that a board before Turing has. If one cannot be read,
/// there is no sum.
pub fn sum<T>(context: &Context<T>, kind: u32, period: u32) -> Reading<Value> {
    let counts: Vec<u64> = LOCATIONS
        .map(|location| context.gpu.memory_errors(kind, period, location))
        .filter(|count| *count != Err(Missing::NotSupported))
        .collect::<Reading<_>>()?;
    if counts.is_empty() {
        return Err(Missing::NotSupported);
    }
    Ok(counts.iter().sum::<u64>().into())
}

/// One of the counts of SRAM errors that could not be corrected.
pub fn sram<T>(context: &Context<T>, pick: fn(Sram) -> u64) -> Reading<Value> {
    Ok(pick(context.gpu.sram_errors()?).into())
}

/// Corrected errors in SRAM. Boards before Ampere, and older libraries, count them only as
/// those of one memory among others.
pub fn sram_corrected<T>(context: &Context<T>, period: u32) -> Reading<Value> {
    const SRAM: u32 = 7;
    let parts = if is_since_ampere(context) {
        context.gpu.sram_errors()
    } else {
        Err(Missing::FUNCTION_NOT_FOUND)
    };
    match parts {
        Err(Missing::FUNCTION_NOT_FOUND) => errors(context, CORRECTED, period, SRAM),
        parts if period == VOLATILE => Ok(parts?.volatileCor.into()),
        parts => Ok(parts?.aggregateCor.into()),
    }
}

/// A count in a report, where nvidia-smi shows none unless ECC is on, whatever NVML counts.
pub fn if_enabled<T>(
    context: &Context<T>,
    count: impl FnOnce(&Context<T>) -> Reading<Value>,
) -> Reading<Value> {
    match context.gpu.ecc() {
        Ok((true, _)) => count(context),
        _ => Err(Missing::NotSupported),
    }
}

/// Whether the board counts by cache and register file.
pub fn is_before_turing<T>(context: &Context<T>) -> bool {
    context
        .gpu
        .architecture()
        .is_ok_and(|number| number < words::TURING)
}

/// Whether the board counts by SRAM and DRAM.
pub fn is_since_turing<T>(context: &Context<T>) -> bool {
    !is_before_turing(context)
}

/// Whether the board counts by SRAM and DRAM, but does not tell the SRAM's parts.
pub fn is_turing<T>(context: &Context<T>) -> bool {
    is_since_turing(context) && !is_since_ampere(context)
}

/// Whether the board tells the SRAM's parts.
pub fn is_since_ampere<T>(context: &Context<T>) -> bool {
    context
        .gpu
        .architecture()
        .is_ok_and(|number| number >= words::AMPERE)
}
