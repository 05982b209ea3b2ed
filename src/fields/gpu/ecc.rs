//! Memory errors: modes, counts, and what was taken out of use for them.

use crate::fields::{Group, Row, field};
use crate::nvml::{Missing, Reading, RemappedRows, RemappedRowsByUse};
use crate::value::Unit::None as Plain;
use crate::value::{Value, enabled, yes};

pub const MODES: Group<()> = Group {
    about: "Modes of the memory, now and after the next reset",
    fields: &[
        field(
            &["dramEncryption.mode.current"],
            Plain,
            "Whether memory is encrypted.",
            |row| {
                row.gpu
                    .dram_encryption()
                    .map(|(current, _)| enabled(current))
            },
        ),
        field(
            &["dramEncryption.mode.pending"],
            Plain,
            "Whether memory will be encrypted.",
            |row| {
                row.gpu
                    .dram_encryption()
                    .map(|(_, pending)| enabled(pending))
            },
        ),
        field(
            &["ecc.mode.current"],
            Plain,
            "Whether errors are corrected (ECC).",
            |row| row.gpu.ecc().map(|(current, _)| enabled(current)),
        ),
        field(
            &["ecc.mode.pending"],
            Plain,
            "Whether errors will be corrected (ECC).",
            |row| row.gpu.ecc().map(|(_, pending)| enabled(pending)),
        ),
    ],
};

/// A group of error counts: one row a location, `nvmlMemoryLocation_t`. Boards
/// before Ampere count by cache and register file, later ones by SRAM and DRAM.
macro_rules! counts {
    ($about:literal, $kind:literal, $error:literal, $period:literal) => {
        Group {
            about: $about,
            fields: &[
                counts!(
                    $kind,
                    "device_memory",
                    "In device memory.",
                    $error,
                    $period,
                    2
                ),
                counts!(
                    $kind,
                    "dram",
                    "In DRAM, the same memory by its newer name.",
                    $error,
                    $period,
                    2
                ),
                counts!(
                    $kind,
                    "register_file",
                    "In register files.",
                    $error,
                    $period,
                    3
                ),
                counts!($kind, "l1_cache", "In L1 caches.", $error, $period, 0),
                counts!($kind, "l2_cache", "In the L2 cache.", $error, $period, 1),
                counts!(
                    $kind,
                    "texture_memory",
                    "In texture memory.",
                    $error,
                    $period,
                    4
                ),
                counts!(
                    $kind,
                    "cbu",
                    "In the convergence barrier unit.",
                    $error,
                    $period,
                    6
                ),
                counts!($kind, "sram", "In SRAM.", $error, $period, 7),
                field(
                    &[concat!("ecc.errors.", $kind, ".total")],
                    Plain,
                    "In all memories.",
                    |row| row.gpu.total_errors($error, $period).map(Value::from),
                ),
            ],
        }
    };
    ($kind:literal, $place:literal, $help:literal, $error:literal, $period:literal, $location:literal) => {
        field(
            &[concat!("ecc.errors.", $kind, ".", $place)],
            Plain,
            $help,
            |row| {
                row.gpu
                    .memory_errors($error, $period, $location)
                    .map(Value::from)
            },
        )
    };
}

pub const CORRECTED_VOLATILE: Group<()> = counts!(
    "Errors that ECC corrected since the driver was loaded",
    "corrected.volatile",
    0,
    0
);
pub const CORRECTED_AGGREGATE: Group<()> = counts!(
    "Errors that ECC corrected in the board's life",
    "corrected.aggregate",
    0,
    1
);
pub const UNCORRECTED_VOLATILE: Group<()> = counts!(
    "Errors that ECC could not correct since the driver was loaded",
    "uncorrected.volatile",
    1,
    0
);
pub const UNCORRECTED_AGGREGATE: Group<()> = counts!(
    "Errors that ECC could not correct in the board's life",
    "uncorrected.aggregate",
    1,
    1
);

macro_rules! sram {
    ($name:literal, $help:literal, $member:ident) => {
        field(
            &[concat!("ecc.errors.uncorrected.", $name)],
            Plain,
            $help,
            |row| row.gpu.sram_errors().map(|errors| errors.$member.into()),
        )
    };
}

pub const SRAM: Group<()> = Group {
    about: "SRAM errors that ECC could not correct, by how they were seen and, in the board's life, where",
    fields: &[
        sram!(
            "volatile.sram.parity",
            "By parity, since the driver was loaded.",
            volatileUncParity
        ),
        sram!(
            "volatile.sram.secded",
            "By a code that corrects one bit and detects two, likewise.",
            volatileUncSecDed
        ),
        sram!(
            "aggregate.sram.parity",
            "By parity, in the board's life.",
            aggregateUncParity
        ),
        sram!(
            "aggregate.sram.secded",
            "By a code that corrects one bit and detects two, likewise.",
            aggregateUncSecDed
        ),
        field(
            &["ecc.errors.uncorrected.aggregate.sram.thresholdExceeded"],
            Plain,
            "Whether there were so many that the board should be replaced.",
            |row| {
                row.gpu
                    .sram_errors()
                    .map(|errors| yes(errors.bThresholdExceeded != 0))
            },
        ),
        sram!(
            "aggregate.sram.l2",
            "In the L2 cache.",
            aggregateUncBucketL2
        ),
        sram!(
            "aggregate.sram.sm",
            "In streaming multiprocessors.",
            aggregateUncBucketSm
        ),
        sram!(
            "aggregate.sram.mcu",
            "In microcontrollers.",
            aggregateUncBucketMcu
        ),
        sram!(
            "aggregate.sram.pcie",
            "In the PCI Express unit.",
            aggregateUncBucketPcie
        ),
        sram!(
            "aggregate.sram.other",
            "Elsewhere.",
            aggregateUncBucketOther
        ),
    ],
};

fn retired(row: &Row<()>, cause: u32) -> Reading<Value> {
    row.gpu.retired_pages(cause).map(|pages| pages.len().into())
}

pub const RETIRED: Group<()> = Group {
    about: "Pages of memory that are no longer used, on boards before Ampere",
    fields: &[
        field(
            &["retired_pages.single_bit_ecc.count", "retired_pages.sbe"],
            Plain,
            "Retired for several single-bit errors.",
            |row| retired(row, 0),
        ),
        field(
            &["retired_pages.double_bit.count", "retired_pages.dbe"],
            Plain,
            "Retired for a double-bit error.",
            |row| retired(row, 1),
        ),
        field(
            &["retired_pages.pending"],
            Plain,
            "Whether pages wait for a reboot to be retired.",
            |row| row.gpu.retirement_pending().map(yes),
        ),
    ],
};

/// A count of the rows in use; older drivers have only one count for all.
fn active(
    row: &Row<()>,
    in_use: fn(RemappedRowsByUse) -> u32,
    all: fn(RemappedRows) -> u32,
) -> Reading<Value> {
    match row.gpu.remapped_rows_by_use() {
        Err(Missing::FUNCTION_NOT_FOUND) => row.gpu.remapped_rows().map(|rows| all(rows).into()),
        rows => rows.map(|rows| in_use(rows).into()),
    }
}

pub const REMAPPED: Group<()> = Group {
    about: "Rows of memory that spare rows stand in for, since Ampere",
    fields: &[
        field(
            &["remapped_rows.correctable", "remapped_rows.sbe"],
            Plain,
            "Remapped for errors that could be corrected.",
            |row| active(row, |rows| rows.correctable, |rows| rows.correctable),
        ),
        field(
            &["remapped_rows.correctable_inactive"],
            Plain,
            "Of these, how many are not in use.",
            |row| {
                row.gpu
                    .remapped_rows_by_use()
                    .map(|rows| rows.correctable_inactive.into())
            },
        ),
        field(
            &["remapped_rows.uncorrectable", "remapped_rows.dbe"],
            Plain,
            "Remapped for errors that could not be corrected.",
            |row| active(row, |rows| rows.uncorrectable, |rows| rows.uncorrectable),
        ),
        field(
            &["remapped_rows.uncorrectable_inactive"],
            Plain,
            "Of these, how many are not in use.",
            |row| {
                row.gpu
                    .remapped_rows_by_use()
                    .map(|rows| rows.uncorrectable_inactive.into())
            },
        ),
        field(
            &["remapped_rows.pending"],
            Plain,
            "Whether a row waits for a reset to be remapped.",
            |row| row.gpu.remapped_rows().map(|rows| yes(rows.pending)),
        ),
        field(
            &["remapped_rows.failure"],
            Plain,
            "Whether a row could not be remapped: replace the board.",
            |row| row.gpu.remapped_rows().map(|rows| yes(rows.failure)),
        ),
        field(
            &["remapped_rows.histogram.max"],
            Plain,
            "Banks that have all their spare rows.",
            |row| row.gpu.remapper_histogram().map(|banks| banks.max.into()),
        ),
        field(
            &["remapped_rows.histogram.high"],
            Plain,
            "Banks that have most of them.",
            |row| row.gpu.remapper_histogram().map(|banks| banks.high.into()),
        ),
        field(
            &["remapped_rows.histogram.partial"],
            Plain,
            "Banks that have some of them.",
            |row| {
                row.gpu
                    .remapper_histogram()
                    .map(|banks| banks.partial.into())
            },
        ),
        field(
            &["remapped_rows.histogram.low"],
            Plain,
            "Banks that have few of them.",
            |row| row.gpu.remapper_histogram().map(|banks| banks.low.into()),
        ),
        field(
            &["remapped_rows.histogram.none"],
            Plain,
            "Banks that have none left.",
            |row| row.gpu.remapper_histogram().map(|banks| banks.none.into()),
        ),
    ],
};
