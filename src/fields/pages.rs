//! `--query-retired-pages` and `--query-remapped-rows`.

use super::common::Identity;
use super::gpu::REMAPPED;
use super::{Group, Table, field};
use crate::facts::retirement::{self, RetiredPage};
use crate::value::{Unit, Value};

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
            retirement::address,
        ),
        field(
            &["retired_pages.timestamp"],
            Unit::None,
            "When the page was retired.",
            |context| match context.item.time {
                Ok(0) => Ok(Value::word("N/A")),
                _ => retirement::time(context),
            },
        ),
        field(
            &["retired_pages.cause"],
            Unit::None,
            "Why: Single Bit ECC (several at one address) or Double Bit ECC.",
            |context| Ok(Value::word(context.item.cause)),
        ),
    ],
};

/// The fields of `--query-remapped-rows`.
pub const REMAPPED_ROWS: &Table<()> = &[&<()>::IDENTITY, &REMAPPED];
