//! Memory errors: modes and counts, in the layout of each generation.

use std::ops::RangeInclusive;

use super::row::{Asked, Row, group, line};
use super::words::{AMPERE, TURING};
use crate::nvml::{Missing, Reading, Sram};
use crate::value::{Value, enabled, yes};

pub const ENCRYPTION: &[Row<()>] = &[group(
    "DRAM Encryption Mode",
    "dram_encryption_mode",
    &[
        line("Current", "current_dram_encryption", |asked| {
            asked
                .gpu
                .dram_encryption()
                .map(|(current, _)| enabled(current))
        }),
        line("Pending", "pending_dram_encryption", |asked| {
            asked
                .gpu
                .dram_encryption()
                .map(|(_, pending)| enabled(pending))
        }),
    ],
)];

pub const ECC: &[Row<()>] = &[
    group(
        "ECC Mode",
        "ecc_mode",
        &[
            line("Current", "current_ecc", |asked| {
                asked.gpu.ecc().map(|(current, _)| enabled(current))
            }),
            line("Pending", "pending_ecc", |asked| {
                asked.gpu.ecc().map(|(_, pending)| enabled(pending))
            }),
        ],
    ),
    group(
        "ECC Errors",
        "ecc_errors",
        &[
            group("Volatile", "volatile", VOLATILE),
            group("Aggregate", "aggregate", AGGREGATE),
            group(
                "Aggregate Uncorrectable SRAM Sources",
                "aggregate_uncorrectable_sram_sources",
                SOURCES,
            )
            .on(since_ampere),
            line(
                "Channel Repair Pending",
                "channel_repair_pending",
                |asked| asked.gpu.repairs_pending().map(|(channel, _)| yes(channel)),
            )
            .on(since_ampere),
            line("TPC Repair Pending", "tpc_repair_pending", |asked| {
                asked.gpu.repairs_pending().map(|(_, tpc)| yes(tpc))
            })
            .on(since_ampere),
            line("Unrepairable Memory", "unrepairable_memory", |asked| {
                asked.gpu.unrepairable_memory().map(yes)
            })
            .on(since_ampere),
        ],
    )
    // Which layout it has is not known otherwise.
    .on(|asked| asked.gpu.architecture().is_ok()),
];

fn before_turing(asked: &Asked<()>) -> bool {
    asked.gpu.architecture().is_ok_and(|number| number < TURING)
}

fn since_turing(asked: &Asked<()>) -> bool {
    !before_turing(asked)
}

fn turing(asked: &Asked<()>) -> bool {
    since_turing(asked) && !since_ampere(asked)
}

fn since_ampere(asked: &Asked<()>) -> bool {
    asked
        .gpu
        .architecture()
        .is_ok_and(|number| number >= AMPERE)
}

/// A count; error 0 corrected, 1 not; period 0 volatile, 1 aggregate; location
/// as in `NVML_MEMORY_LOCATION_*`.
fn count(asked: &Asked<()>, error: u32, period: u32, location: u32) -> Reading<Value> {
    asked
        .gpu
        .memory_errors(error, period, location)
        .map(Value::from)
}

/// The locations before Turing, `NVML_MEMORY_LOCATION_*`.
const LOCATIONS: RangeInclusive<u32> = 0..=6;

/// The counts of all locations that this board has; one that cannot be read
/// leaves none. NVML's own total is of what it counted, in whatever places.
fn sum(asked: &Asked<()>, error: u32, period: u32) -> Reading<Value> {
    let counts: Vec<u64> = LOCATIONS
        .map(|location| asked.gpu.memory_errors(error, period, location))
        .filter(|count| *count != Err(Missing::NotSupported))
        .collect::<Reading<_>>()?;
    match counts.is_empty() {
        true => Err(Missing::NotSupported),
        false => Ok(counts.iter().sum::<u64>().into()),
    }
}

fn sram(asked: &Asked<()>, pick: fn(Sram) -> u64) -> Reading<Value> {
    asked.gpu.sram_errors().map(|errors| pick(errors).into())
}

/// The rows of one error of one period on boards before Turing.
macro_rules! by_location {
    ($error:literal, $period:literal) => {
        &[
            line("Device Memory", "device_memory", |asked| {
                count(asked, $error, $period, 2)
            }),
            line("Register File", "register_file", |asked| {
                count(asked, $error, $period, 3)
            }),
            line("L1 Cache", "l1_cache", |asked| {
                count(asked, $error, $period, 0)
            }),
            line("L2 Cache", "l2_cache", |asked| {
                count(asked, $error, $period, 1)
            }),
            line("Texture Memory", "texture_memory", |asked| {
                count(asked, $error, $period, 4)
            }),
            line("Texture Shared", "texture_shm", |asked| {
                count(asked, $error, $period, 5)
            }),
            line("CBU", "cbu", |asked| count(asked, $error, $period, 6)),
            line("Total", "total", |asked| sum(asked, $error, $period)),
        ]
    };
}

/// The rows of one period, of which each generation has its own.
macro_rules! counts {
    ($period:literal, $parity:ident, $secded:ident $(, $more:expr)?) => {
        &[
            group("Single Bit            ", "single_bit", by_location!(0, $period)).on(before_turing),
            group("Double Bit            ", "double_bit", by_location!(1, $period)).on(before_turing),
            line("SRAM Correctable", "sram_correctable", |asked| count(asked, 0, $period, 7))
                .on(since_turing),
            line("SRAM Uncorrectable", "sram_uncorrectable", |asked| count(asked, 1, $period, 7))
                .on(turing),
            line("SRAM Uncorrectable Parity", "sram_uncorrectable_parity", |asked| {
                sram(asked, |errors| errors.$parity)
            })
            .on(since_ampere),
            line("SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", |asked| {
                sram(asked, |errors| errors.$secded)
            })
            .on(since_ampere),
            line("DRAM Correctable", "dram_correctable", |asked| count(asked, 0, $period, 2))
                .on(since_turing),
            line("DRAM Uncorrectable", "dram_uncorrectable", |asked| count(asked, 1, $period, 2))
                .on(since_turing),
            $($more)?
        ]
    };
}

const VOLATILE: &[Row<()>] = counts!(0, volatileUncParity, volatileUncSecDed);

const AGGREGATE: &[Row<()>] = counts!(
    1,
    aggregateUncParity,
    aggregateUncSecDed,
    line(
        "SRAM Threshold Exceeded",
        "sram_threshold_exceeded",
        |asked| {
            let errors = asked.gpu.sram_errors()?;
            Ok(yes(errors.bThresholdExceeded != 0))
        }
    )
    .on(since_ampere)
);

const SOURCES: &[Row<()>] = &[
    line("SRAM L2", "sram_l2", |asked| {
        sram(asked, |errors| errors.aggregateUncBucketL2)
    }),
    line("SRAM SM", "sram_sm", |asked| {
        sram(asked, |errors| errors.aggregateUncBucketSm)
    }),
    line("SRAM Microcontroller", "sram_microcontroller", |asked| {
        sram(asked, |errors| errors.aggregateUncBucketMcu)
    }),
    line("SRAM PCIE", "sram_pcie", |asked| {
        sram(asked, |errors| errors.aggregateUncBucketPcie)
    }),
    line("SRAM Other", "sram_other", |asked| {
        sram(asked, |errors| errors.aggregateUncBucketOther)
    }),
];
