//! Memory errors: modes, counts, and what was taken out of use for them.

use crate::facts::{ecc, memory, retirement};
use crate::fields::{Group, field};
use crate::value::Unit::None as Plain;

pub const MODES: Group<()> = Group {
    about: "Modes of the memory, now and after the next reset",
    fields: &[
        field(
            &["dramEncryption.mode.current"],
            Plain,
            "Whether memory is encrypted.",
            memory::encryption,
        ),
        field(
            &["dramEncryption.mode.pending"],
            Plain,
            "Whether memory will be encrypted.",
            memory::pending_encryption,
        ),
        field(
            &["ecc.mode.current"],
            Plain,
            "Whether errors are corrected (ECC).",
            ecc::mode,
        ),
        field(
            &["ecc.mode.pending"],
            Plain,
            "Whether errors will be corrected (ECC).",
            ecc::pending_mode,
        ),
    ],
};

/// A group of error counts: one row a location, `nvmlMemoryLocation_t`. Boards
/// before Ampere count by cache and register file, later ones by SRAM and DRAM.
macro_rules! counts {
    ($about:literal, $kind:literal, $error:expr, $period:expr) => {
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
                    |context| ecc::total(context, $error, $period),
                ),
            ],
        }
    };
    ($kind:literal, $place:literal, $help:literal, $error:expr, $period:expr, $location:literal) => {
        field(
            &[concat!("ecc.errors.", $kind, ".", $place)],
            Plain,
            $help,
            |context| ecc::errors(context, $error, $period, $location),
        )
    };
}

pub const CORRECTED_VOLATILE: Group<()> = counts!(
    "Errors that ECC corrected since the driver was loaded",
    "corrected.volatile",
    ecc::CORRECTED,
    ecc::VOLATILE
);
pub const CORRECTED_AGGREGATE: Group<()> = counts!(
    "Errors that ECC corrected in the board's life",
    "corrected.aggregate",
    ecc::CORRECTED,
    ecc::AGGREGATE
);
pub const UNCORRECTED_VOLATILE: Group<()> = counts!(
    "Errors that ECC could not correct since the driver was loaded",
    "uncorrected.volatile",
    ecc::UNCORRECTED,
    ecc::VOLATILE
);
pub const UNCORRECTED_AGGREGATE: Group<()> = counts!(
    "Errors that ECC could not correct in the board's life",
    "uncorrected.aggregate",
    ecc::UNCORRECTED,
    ecc::AGGREGATE
);

macro_rules! sram {
    ($name:literal, $help:literal, $member:ident) => {
        field(
            &[concat!("ecc.errors.uncorrected.", $name)],
            Plain,
            $help,
            |context| ecc::sram(context, |errors| errors.$member),
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
            ecc::threshold_exceeded,
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

pub const RETIRED: Group<()> = Group {
    about: "Pages of memory that are no longer used, on boards before Ampere",
    fields: &[
        field(
            &["retired_pages.single_bit_ecc.count", "retired_pages.sbe"],
            Plain,
            "Retired for several single-bit errors.",
            retirement::single_bit_count,
        ),
        field(
            &["retired_pages.double_bit.count", "retired_pages.dbe"],
            Plain,
            "Retired for a double-bit error.",
            retirement::double_bit_count,
        ),
        field(
            &["retired_pages.pending"],
            Plain,
            "Whether pages wait for a reboot to be retired.",
            retirement::pending,
        ),
    ],
};

pub const REMAPPED: Group<()> = Group {
    about: "Rows of memory that spare rows stand in for, since Ampere",
    fields: &[
        field(
            &["remapped_rows.correctable", "remapped_rows.sbe"],
            Plain,
            "Remapped for errors that could be corrected.",
            retirement::correctable_rows,
        ),
        field(
            &["remapped_rows.correctable_inactive"],
            Plain,
            "Of these, how many are not in use.",
            retirement::inactive_correctable_rows,
        ),
        field(
            &["remapped_rows.uncorrectable", "remapped_rows.dbe"],
            Plain,
            "Remapped for errors that could not be corrected.",
            retirement::uncorrectable_rows,
        ),
        field(
            &["remapped_rows.uncorrectable_inactive"],
            Plain,
            "Of these, how many are not in use.",
            retirement::inactive_uncorrectable_rows,
        ),
        field(
            &["remapped_rows.pending"],
            Plain,
            "Whether a row waits for a reset to be remapped.",
            retirement::rows_pending,
        ),
        field(
            &["remapped_rows.failure"],
            Plain,
            "Whether a row could not be remapped: replace the board.",
            retirement::rows_failure,
        ),
        field(
            &["remapped_rows.histogram.max"],
            Plain,
            "Banks that have all their spare rows.",
            retirement::banks_max,
        ),
        field(
            &["remapped_rows.histogram.high"],
            Plain,
            "Banks that have most of them.",
            retirement::banks_high,
        ),
        field(
            &["remapped_rows.histogram.partial"],
            Plain,
            "Banks that have some of them.",
            retirement::banks_partial,
        ),
        field(
            &["remapped_rows.histogram.low"],
            Plain,
            "Banks that have few of them.",
            retirement::banks_low,
        ),
        field(
            &["remapped_rows.histogram.none"],
            Plain,
            "Banks that have none left.",
            retirement::banks_none,
        ),
    ],
};
