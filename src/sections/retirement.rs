//! Memory taken out of use: pages on boards before Ampere, rows since.

use super::row::{Empty, List, Row, group, group_or_word, line, list, number};
use crate::facts::retirement::{self, RetiredPage};
use crate::value::Unit::Banks;

pub const PAGES: &[Row<()>] = &[group(
    "Retired Pages",
    "retired_pages",
    &[
        line("Single Bit ECC", "", retirement::single_bit_count),
        group(
            "",
            "multiple_single_bit_retirement",
            &[
                line("", "retired_count", retirement::single_bit_count),
                list("", "retired_pagelist", &SINGLE_BIT_PAGES),
            ],
        ),
        line("Double Bit ECC", "", retirement::double_bit_count),
        group(
            "",
            "double_bit_retirement",
            &[
                line("", "retired_count", retirement::double_bit_count),
                list("", "retired_pagelist", &DOUBLE_BIT_PAGES),
            ],
        ),
        line(
            "Pending Page Blacklist",
            "pending_blacklist",
            retirement::pending,
        ),
        line("", "pending_retirement", retirement::pending),
    ],
)];

const SINGLE_BIT_PAGES: List<(), RetiredPage> = List {
    items: |context| retirement::pages(context.gpu, retirement::SINGLE_BIT),
    empty: Empty::Heading,
    row: PAGE,
};

const DOUBLE_BIT_PAGES: List<(), RetiredPage> = List {
    items: |context| retirement::pages(context.gpu, retirement::DOUBLE_BIT),
    empty: Empty::Heading,
    row: PAGE,
};

const PAGE: Row<RetiredPage> = group(
    "",
    "retired_page",
    &[
        line("", "retired_page_address", retirement::address),
        line("", "retired_page_timestamp", retirement::time)
            // The driver does not know it of every page.
            .on(|context| context.item.time != Ok(0)),
    ],
);

pub const ROWS: &[Row<()>] = &[group_or_word(
    "Remapped Rows",
    "remapped_rows",
    retirement::has_rows,
    &[
        line(
            "Correctable Error",
            "remapped_row_corr",
            retirement::correctable_rows,
        ),
        line(
            "Inactive Correctable Error",
            "remapped_row_corr_inactive",
            retirement::inactive_correctable_rows,
        ),
        line(
            "Uncorrectable Error",
            "remapped_row_unc",
            retirement::uncorrectable_rows,
        ),
        line(
            "Inactive Uncorrectable Error",
            "remapped_row_unc_inactive",
            retirement::inactive_uncorrectable_rows,
        ),
        line("Pending", "remapped_row_pending", retirement::rows_pending),
        line(
            "Remapping Failure Occurred",
            "remapped_row_failure",
            retirement::rows_failure,
        ),
        group(
            "Bank Remap Availability Histogram",
            "row_remapper_histogram",
            HISTOGRAM,
        ),
    ],
)];

const HISTOGRAM: &[Row<()>] = &[
    number(
        "Max",
        "row_remapper_histogram_max",
        Banks,
        retirement::banks_max,
    ),
    number(
        "High",
        "row_remapper_histogram_high",
        Banks,
        retirement::banks_high,
    ),
    number(
        "Partial",
        "row_remapper_histogram_partial",
        Banks,
        retirement::banks_partial,
    ),
    number(
        "Low",
        "row_remapper_histogram_low",
        Banks,
        retirement::banks_low,
    ),
    number(
        "None",
        "row_remapper_histogram_none",
        Banks,
        retirement::banks_none,
    ),
];
