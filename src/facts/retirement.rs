//! Memory that is no longer used: pages on boards before Ampere, rows since.

use super::{Context, facts};
use crate::host::clock;
use crate::nvml::{Gpu, Missing, Reading, RemappedRows, RemappedRowsByUse};
use crate::value::{Value, date, yes};

/// `nvmlPageRetirementCause_t`: several single-bit errors at one address.
pub const SINGLE_BIT: u32 = 0;
/// A double-bit error.
pub const DOUBLE_BIT: u32 = 1;

/// A page of memory that was retired.
#[derive(Clone, Copy, Debug)]
pub struct RetiredPage {
    /// Address.
    pub address: Reading<u64>,
    /// Seconds since 1970; 0 if NVML does not know.
    pub time: Reading<u64>,
    /// Why it was retired.
    pub cause: &'static str,
}

/// Why pages are retired, by cause.
pub const CAUSES: [&str; 2] = ["Single Bit ECC", "Double Bit ECC"];

/// The pages retired for a cause.
pub fn pages(gpu: &Gpu, cause: u32) -> Reading<Vec<RetiredPage>> {
    let pages = gpu.retired_pages(cause)?;
    let page = |(address, time)| RetiredPage {
        address: Ok(address),
        time: Ok(time),
        cause: CAUSES[cause as usize],
    };
    Ok(pages.into_iter().map(page).collect())
}

facts! {
    /// Pages retired for single-bit errors.
    single_bit_count(context) = context.gpu.retired_pages(SINGLE_BIT).map(|pages| pages.len());
    /// Pages retired for double-bit errors.
    double_bit_count(context) = context.gpu.retired_pages(DOUBLE_BIT).map(|pages| pages.len());
    /// Whether pages wait for a reboot to be retired.
    pending(context) = context.gpu.retirement_pending().map(yes);

    /// Rows remapped for errors that could be corrected; in use, if the driver tells.
    correctable_rows(context) = rows(context, |rows| rows.correctable, |rows| rows.correctable);
    /// Of these, how many are not in use.
    inactive_correctable_rows(context) =
        context.gpu.remapped_rows_by_use().map(|rows| rows.correctable_inactive);
    /// Rows remapped for errors that could not be corrected; in use, if the driver tells.
    uncorrectable_rows(context) =
        rows(context, |rows| rows.uncorrectable, |rows| rows.uncorrectable);
    /// Of these, how many are not in use.
    inactive_uncorrectable_rows(context) =
        context.gpu.remapped_rows_by_use().map(|rows| rows.uncorrectable_inactive);
    /// Whether a row waits for a reset to be remapped.
    rows_pending(context) =
        rows(context, |rows| rows.pending != 0, |rows| rows.pending).map(yes);
    /// Whether a row could not be remapped.
    rows_failure(context) =
        rows(context, |rows| rows.failure != 0, |rows| rows.failure).map(yes);
    /// Banks that have all their spare rows.
    banks_max(context) = context.gpu.remapper_histogram().map(|banks| banks.max);
    /// Banks that have most of them.
    banks_high(context) = context.gpu.remapper_histogram().map(|banks| banks.high);
    /// Banks that have some of them.
    banks_partial(context) = context.gpu.remapper_histogram().map(|banks| banks.partial);
    /// Banks that have few of them.
    banks_low(context) = context.gpu.remapper_histogram().map(|banks| banks.low);
    /// Banks that have none left.
    banks_none(context) = context.gpu.remapper_histogram().map(|banks| banks.none);
}

/// A fact about remapped rows; drivers before R580 do not tell which are in use.
fn rows<T, U>(
    context: &Context<T>,
    by_use: fn(RemappedRowsByUse) -> U,
    all: fn(RemappedRows) -> U,
) -> Reading<U> {
    match context.gpu.remapped_rows_by_use() {
        Err(Missing::FUNCTION_NOT_FOUND) => context.gpu.remapped_rows().map(all),
        rows => rows.map(by_use),
    }
}

/// Whether the GPU tells of remapped rows.
pub fn has_rows<T>(context: &Context<T>) -> Reading<()> {
    rows(context, |_| (), |_| ())
}

/// Address of the page.
pub fn address(context: &Context<RetiredPage>) -> Reading<Value> {
    let address = context.item.address?;
    Ok(format!("{address:#018x}").into())
}

/// When the page was retired, local time. A time that no calendar has is shown as its
/// number.
pub fn time(context: &Context<RetiredPage>) -> Reading<Value> {
    let seconds = context.item.time?;
    Ok(match clock::from_seconds(seconds) {
        Some(time) => date(&time).into(),
        None => seconds.into(),
    })
}
