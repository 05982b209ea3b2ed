//! Memory errors: modes and counts, in the layout of each generation.

use super::row::{Row, group, line};
use crate::facts::{Context, ecc, memory};
use crate::nvml::{Reading, Sram};
use crate::value::Value;

pub const ENCRYPTION: &[Row<()>] = &[group(
    "DRAM Encryption Mode",
    "dram_encryption_mode",
    &[
        line("Current", "current_dram_encryption", memory::encryption),
        line(
            "Pending",
            "pending_dram_encryption",
            memory::pending_encryption,
        ),
    ],
)];

pub const ECC: &[Row<()>] = &[
    group(
        "ECC Mode",
        "ecc_mode",
        &[
            line("Current", "current_ecc", ecc::mode),
            line("Pending", "pending_ecc", ecc::pending_mode),
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
            .on(ecc::is_since_ampere),
            line(
                "Channel Repair Pending",
                "channel_repair_pending",
                ecc::channel_repair_pending,
            )
            .on(ecc::is_since_ampere),
            line(
                "TPC Repair Pending",
                "tpc_repair_pending",
                ecc::tpc_repair_pending,
            )
            .on(ecc::is_since_ampere),
            line(
                "Unrepairable Memory",
                "unrepairable_memory",
                ecc::unrepairable_memory,
            )
            .on(ecc::is_since_ampere),
        ],
    )
    // Which layout it has is not known otherwise.
    .on(|context| context.gpu.architecture().is_ok()),
];

fn errors(context: &Context<()>, kind: u32, period: u32, location: u32) -> Reading<Value> {
    ecc::if_enabled(context, |context| {
        ecc::errors(context, kind, period, location)
    })
}

fn sram(context: &Context<()>, pick: fn(Sram) -> u64) -> Reading<Value> {
    ecc::if_enabled(context, |context| ecc::sram(context, pick))
}

/// The rows of one error of one period on boards before Turing.
macro_rules! by_location {
    ($error:expr, $period:expr) => {
        &[
            line("Device Memory", "device_memory", |context| {
                errors(context, $error, $period, 2)
            }),
            line("Register File", "register_file", |context| {
                errors(context, $error, $period, 3)
            }),
            line("L1 Cache", "l1_cache", |context| {
                errors(context, $error, $period, 0)
            }),
            line("L2 Cache", "l2_cache", |context| {
                errors(context, $error, $period, 1)
            }),
            line("Texture Memory", "texture_memory", |context| {
                errors(context, $error, $period, 4)
            }),
            line("Texture Shared", "texture_shm", |context| {
                errors(context, $error, $period, 5)
            }),
            line("CBU", "cbu", |context| errors(context, $error, $period, 6)),
            line("Total", "total", |context| {
                ecc::if_enabled(context, |context| ecc::sum(context, $error, $period))
            }),
        ]
    };
}

/// The rows of one period, of which each generation has its own.
macro_rules! counts {
    ($period:expr, $parity:ident, $secded:ident $(, $more:expr)?) => {
        &[
            group("Single Bit            ", "single_bit", by_location!(ecc::CORRECTED, $period)).on(ecc::is_before_turing),
            group("Double Bit            ", "double_bit", by_location!(ecc::UNCORRECTED, $period)).on(ecc::is_before_turing),
            line("SRAM Correctable", "sram_correctable", |context| {
                ecc::if_enabled(context, |context| ecc::sram_corrected(context, $period))
            })
            .on(ecc::is_since_turing),
            line("SRAM Uncorrectable", "sram_uncorrectable", |context| errors(context, ecc::UNCORRECTED, $period, 7))
                .on(ecc::is_turing),
            line("SRAM Uncorrectable Parity", "sram_uncorrectable_parity", |context| {
                sram(context, |errors| errors.$parity)
            })
            .on(ecc::is_since_ampere),
            line("SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", |context| {
                sram(context, |errors| errors.$secded)
            })
            .on(ecc::is_since_ampere),
            line("DRAM Correctable", "dram_correctable", |context| errors(context, ecc::CORRECTED, $period, 2))
                .on(ecc::is_since_turing),
            line("DRAM Uncorrectable", "dram_uncorrectable", |context| errors(context, ecc::UNCORRECTED, $period, 2))
                .on(ecc::is_since_turing),
            $($more)?
        ]
    };
}

const VOLATILE: &[Row<()>] = counts!(ecc::VOLATILE, volatileUncParity, volatileUncSecDed);

const AGGREGATE: &[Row<()>] = counts!(
    ecc::AGGREGATE,
    aggregateUncParity,
    aggregateUncSecDed,
    line(
        "SRAM Threshold Exceeded",
        "sram_threshold_exceeded",
        |context| ecc::if_enabled(context, ecc::threshold_exceeded)
    )
    .on(ecc::is_since_ampere)
);

const SOURCES: &[Row<()>] = &[
    line("SRAM L2", "sram_l2", |context| {
        sram(context, |errors| errors.aggregateUncBucketL2)
    }),
    line("SRAM SM", "sram_sm", |context| {
        sram(context, |errors| errors.aggregateUncBucketSm)
    }),
    line("SRAM Microcontroller", "sram_microcontroller", |context| {
        sram(context, |errors| errors.aggregateUncBucketMcu)
    }),
    line("SRAM PCIE", "sram_pcie", |context| {
        sram(context, |errors| errors.aggregateUncBucketPcie)
    }),
    line("SRAM Other", "sram_other", |context| {
        sram(context, |errors| errors.aggregateUncBucketOther)
    }),
];
