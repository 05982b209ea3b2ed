//! `pci`: what the PCI links counted.

use crate::error::Error;
use crate::nvml::{Driver, Gpu, Missing, Reading, field};

use super::subcommand::{Given, Opt, Subcommand, Takes, heading, put};

/// The subcommand.
pub const PCI: Subcommand = Subcommand {
    name: "pci",
    about: "Counters of the GPUs' PCIe links.",
    options: &[
        Opt::new(
            "-i --id",
            Takes::Text,
            "Only these GPUs: index, UUID or PCI bus id.",
        ),
        Opt::new(
            "-gErrCnt --getErrorCounters",
            Takes::Nothing,
            "Show the error counters.",
        ),
        Opt::new(
            "-cErrCnt --clearErrorCounters",
            Takes::Nothing,
            "Set the error counters to zero.",
        ),
        Opt::new(
            "-gCnt --getCounters",
            Takes::Nothing,
            "Show the bytes sent and received.",
        ),
    ],
    run,
};

const ERRORS: &[(&str, u32)] = &[
    ("REPLAY_COUNTER", field::PCIE_REPLAY_COUNTER),
    (
        "REPLAY_ROLLOVER_COUNTER",
        field::PCIE_REPLAY_ROLLOVER_COUNTER,
    ),
    ("L0_TO_RECOVERY_COUNTER", field::PCIE_L0_TO_RECOVERY_COUNTER),
    ("CORRECTABLE_ERRORS", field::PCIE_COUNT_CORRECTABLE_ERRORS),
    ("NAKS_RECEIVED", field::PCIE_COUNT_NAKS_RECEIVED),
    ("RECEIVER_ERROR", field::PCIE_COUNT_RECEIVER_ERROR),
    ("BAD_TLP", field::PCIE_COUNT_BAD_TLP),
    ("NAKS_SENT", field::PCIE_COUNT_NAKS_SENT),
    ("BAD_DLLP", field::PCIE_COUNT_BAD_DLLP),
    ("NON_FATAL_ERROR", field::PCIE_COUNT_NON_FATAL_ERROR),
    ("FATAL_ERROR", field::PCIE_COUNT_FATAL_ERROR),
    ("UNSUPPORTED_REQ", field::PCIE_COUNT_UNSUPPORTED_REQ),
    ("LCRC_ERROR", field::PCIE_COUNT_LCRC_ERROR),
];

const BYTES: &[(&str, u32)] = &[
    ("TX_BYTES", field::PCIE_COUNT_TX_BYTES),
    ("RX_BYTES", field::PCIE_COUNT_RX_BYTES),
];

/// nvidia-smi shows so many lanes, whatever the link's width.
const LANES: u32 = 13;

fn run(driver: &Driver, given: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    if given.has("-cErrCnt") {
        return Err(Error::not_built("pci -cErrCnt"));
    }
    for gpu in &given.gpus(driver)? {
        heading(gpu, out);
        if given.has("-gErrCnt") {
            counters(gpu, ERRORS, out);
            let lanes: Vec<(u32, u32)> = (0..LANES)
                .map(|lane| (field::PCIE_COUNT_LANE_ERROR, lane))
                .collect();
            line("LANE_ERROR", "", out);
            for (lane, errors) in gpu.numbers(&lanes).into_iter().enumerate() {
                put(out, &format!("\t lane {lane:>2}: {}\n", shown(errors)));
            }
        }
        if given.has("-gCnt") {
            counters(gpu, BYTES, out);
        }
    }
    Ok(())
}

fn counters(gpu: &Gpu, rows: &[(&str, u32)], out: &mut Vec<u8>) {
    let ids: Vec<(u32, u32)> = rows.iter().map(|&(_, id)| (id, 0)).collect();
    for ((label, _), value) in rows.iter().zip(gpu.numbers(&ids)) {
        line(label, &shown(value), out);
    }
}

fn line(label: &str, value: &str, out: &mut Vec<u8>) {
    put(out, &format!("    {:<25}{value}\n", format!("{label}:")));
}

fn shown(value: Reading<i64>) -> String {
    match value {
        Ok(number) => number.to_string(),
        Err(Missing::NotSupported) => "N/A".to_owned(),
        Err(missing) => format!("error return {}", missing.code()),
    }
}
