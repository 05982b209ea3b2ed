//! Memory taken out of use: pages on boards before Ampere, rows since.

use jiff::Timestamp;

use super::row::{Asked, Empty, List, Row, group, group_or_word, line, list, number};
use crate::clock;
use crate::nvml::{Missing, Reading, RemappedRows, RemappedRowsByUse};
use crate::value::Unit::Banks;
use crate::value::{Value, date, yes};

const SINGLE_BIT: u32 = 0;
const DOUBLE_BIT: u32 = 1;

/// A page: its address, and when it was retired, seconds since 1970.
struct Page {
    address: u64,
    time: u64,
}

pub const PAGES: &[Row<()>] = &[group(
    "Retired Pages",
    "retired_pages",
    &[
        line("Single Bit ECC", "", |asked| count(asked, SINGLE_BIT)),
        group(
            "",
            "multiple_single_bit_retirement",
            &[
                line("", "retired_count", |asked| count(asked, SINGLE_BIT)),
                list("", "retired_pagelist", &SINGLE_BIT_PAGES),
            ],
        ),
        line("Double Bit ECC", "", |asked| count(asked, DOUBLE_BIT)),
        group(
            "",
            "double_bit_retirement",
            &[
                line("", "retired_count", |asked| count(asked, DOUBLE_BIT)),
                list("", "retired_pagelist", &DOUBLE_BIT_PAGES),
            ],
        ),
        line("Pending Page Blacklist", "pending_blacklist", |asked| {
            asked.gpu.retirement_pending().map(yes)
        }),
        line("", "pending_retirement", |asked| {
            asked.gpu.retirement_pending().map(yes)
        }),
    ],
)];

fn count(asked: &Asked<()>, cause: u32) -> Reading<Value> {
    let pages = asked.gpu.retired_pages(cause)?;
    Ok(pages.len().into())
}

fn pages(asked: &Asked<()>, cause: u32) -> Reading<Vec<Page>> {
    let pages = asked.gpu.retired_pages(cause)?;
    Ok(pages
        .into_iter()
        .map(|(address, time)| Page { address, time })
        .collect())
}

const SINGLE_BIT_PAGES: List<(), Page> = List {
    items: |asked| pages(asked, SINGLE_BIT),
    empty: Empty::Heading,
    row: PAGE,
};

const DOUBLE_BIT_PAGES: List<(), Page> = List {
    items: |asked| pages(asked, DOUBLE_BIT),
    empty: Empty::Heading,
    row: PAGE,
};

const PAGE: Row<Page> = group(
    "",
    "retired_page",
    &[
        line("", "retired_page_address", |asked| {
            Ok(format!("{:#018x}", asked.item.address).into())
        }),
        line::<Page>("", "retired_page_timestamp", |asked| {
            Ok(retired_on(asked.item.time))
        })
        // The driver does not know it of every page.
        .on(|asked| asked.item.time != 0),
    ],
);

/// A local time; one out of this world as it came.
fn retired_on(seconds: u64) -> Value {
    let time = i64::try_from(seconds)
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok());
    match time {
        Some(time) => date(&time.to_zoned_datetime(clock::zone())).into(),
        None => seconds.into(),
    }
}

pub const ROWS: &[Row<()>] = &[group_or_word(
    "Remapped Rows",
    "remapped_rows",
    |asked| rows(asked, |_| (), |_| ()),
    &[
        line("Correctable Error", "remapped_row_corr", |asked| {
            let count = rows(asked, |rows| rows.correctable, |rows| rows.correctable)?;
            Ok(count.into())
        }),
        line(
            "Inactive Correctable Error",
            "remapped_row_corr_inactive",
            |asked| {
                let rows = asked.gpu.remapped_rows_by_use()?;
                Ok(rows.correctable_inactive.into())
            },
        ),
        line("Uncorrectable Error", "remapped_row_unc", |asked| {
            let count = rows(asked, |rows| rows.uncorrectable, |rows| rows.uncorrectable)?;
            Ok(count.into())
        }),
        line(
            "Inactive Uncorrectable Error",
            "remapped_row_unc_inactive",
            |asked| {
                let rows = asked.gpu.remapped_rows_by_use()?;
                Ok(rows.uncorrectable_inactive.into())
            },
        ),
        line("Pending", "remapped_row_pending", |asked| {
            rows(asked, |rows| rows.pending != 0, |rows| rows.pending).map(yes)
        }),
        line(
            "Remapping Failure Occurred",
            "remapped_row_failure",
            |asked| rows(asked, |rows| rows.failure != 0, |rows| rows.failure).map(yes),
        ),
        group(
            "Bank Remap Availability Histogram",
            "row_remapper_histogram",
            HISTOGRAM,
        ),
    ],
)];

/// A fact about remapped rows; drivers before R580 do not tell apart what is in use.
fn rows<T>(
    asked: &Asked<()>,
    by_use: fn(RemappedRowsByUse) -> T,
    all: fn(RemappedRows) -> T,
) -> Reading<T> {
    match asked.gpu.remapped_rows_by_use() {
        Err(Missing::FUNCTION_NOT_FOUND) => asked.gpu.remapped_rows().map(all),
        rows => rows.map(by_use),
    }
}

const HISTOGRAM: &[Row<()>] = &[
    number("Max", "row_remapper_histogram_max", Banks, |asked| {
        asked.gpu.remapper_histogram().map(|banks| banks.max.into())
    }),
    number("High", "row_remapper_histogram_high", Banks, |asked| {
        asked
            .gpu
            .remapper_histogram()
            .map(|banks| banks.high.into())
    }),
    number(
        "Partial",
        "row_remapper_histogram_partial",
        Banks,
        |asked| {
            let banks = asked.gpu.remapper_histogram()?;
            Ok(banks.partial.into())
        },
    ),
    number("Low", "row_remapper_histogram_low", Banks, |asked| {
        asked.gpu.remapper_histogram().map(|banks| banks.low.into())
    }),
    number("None", "row_remapper_histogram_none", Banks, |asked| {
        asked
            .gpu
            .remapper_histogram()
            .map(|banks| banks.none.into())
    }),
];
