//! `--query-retired-pages` and `--query-remapped-rows`.

use jiff::Timestamp;

use super::common::Identity;
use super::gpu::REMAPPED;
use super::{Group, Table, field};
use crate::clock;
use crate::nvml::Reading;
use crate::value::{self, Unit, Value};

/// A page of GPU memory that was retired.
pub struct RetiredPage {
    /// Address, or why there is none.
    pub address: Reading<u64>,
    /// Seconds since 1970, or why there is none.
    pub time: Reading<u64>,
    /// "Single Bit ECC" or "Double Bit ECC".
    pub cause: &'static str,
}

impl Identity for RetiredPage {}
impl Identity for () {}

/// The fields of `--query-retired-pages`.
pub const RETIRED_PAGES: &Table<RetiredPage> = &[&RetiredPage::IDENTITY, &PAGE];

const PAGE: Group<RetiredPage> = Group {
    about: "Pages of GPU memory that the driver no longer uses",
    fields: &[
        field(
            &["retired_pages.address"],
            Unit::None,
            "Address of the page; it depends on the ECC mode.",
            |row| {
                row.item
                    .address
                    .map(|address| format!("{address:#018x}").into())
            },
        ),
        field(
            &["retired_pages.timestamp"],
            Unit::None,
            "When the page was retired.",
            |row| row.item.time.and_then(date),
        ),
        field(
            &["retired_pages.cause"],
            Unit::None,
            "Why: Single Bit ECC (several at one address) or Double Bit ECC.",
            |row| Ok(Value::word(row.item.cause)),
        ),
    ],
};

/// A time as the real tool writes it, local; one out of this world as it came.
/// 0, which a page has whose time is not known, is a word: nothing failed here.
fn date(seconds: u64) -> Reading<Value> {
    if seconds == 0 {
        return Ok(Value::word("N/A"));
    }
    let time = i64::try_from(seconds)
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok());
    Ok(match time {
        Some(time) => value::date(&time.to_zoned_datetime(clock::zone())).into(),
        None => seconds.into(),
    })
}

/// The fields of `--query-remapped-rows`.
pub const REMAPPED_ROWS: &Table<()> = &[&<()>::IDENTITY, &REMAPPED];
