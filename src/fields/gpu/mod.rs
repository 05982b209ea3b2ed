//! `--query-gpu`: every field, in the order of `--help-query-gpu`.

mod board;
mod ecc;
mod fabric;
mod load;
mod other_drivers;
mod power;

use super::Table;

pub use ecc::REMAPPED;

/// The fields of `--query-gpu`.
pub const GPU: &Table<()> = &[
    &board::IDENTITY,
    &board::VGPU,
    &board::PCIE,
    &board::MODES,
    &board::INFOROM,
    &load::STATE,
    &load::REASONS,
    &load::REASON_TIMES,
    &load::MEMORY,
    &load::UTILIZATION,
    &load::ENCODER,
    &ecc::MODES,
    &ecc::CORRECTED_VOLATILE,
    &ecc::CORRECTED_AGGREGATE,
    &ecc::UNCORRECTED_VOLATILE,
    &ecc::UNCORRECTED_AGGREGATE,
    &ecc::SRAM,
    &ecc::RETIRED,
    &REMAPPED,
    &power::TEMPERATURE,
    &power::POWER,
    &power::MODULE_POWER,
    &power::SMOOTHING,
    &power::CLOCKS,
    &fabric::MODES,
    &fabric::FABRIC,
    &fabric::PLATFORM,
    &other_drivers::FIELDS,
];
