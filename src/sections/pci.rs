//! Where the GPU sits, and the link that it hangs on.

use super::row::{Asked, Form, Row, group, line, number};
use super::words::word;
use crate::nvml::{Missing, Pci, Reading};
use crate::value::Unit::KilobytesPerSecond;
use crate::value::Value;

pub const PCI: &[Row<()>] = &[
    group(
        "IBMNPU",
        "ibmnpu",
        // Of POWER9's NVLink to the CPU, which no driver since 535 serves.
        &[line(
            "Relaxed Ordering Mode",
            "relaxed_ordering_mode",
            |_| Err(Missing::NotSupported),
        )],
    ),
    group("PCI", "pci", ROWS),
];

/// A number of the PCI address, hex: text has 0x before it, XML has not.
fn hex(number: Reading<u32>, digits: usize) -> Reading<Value> {
    number.map(|number| Value::Hex(number.into(), digits))
}

/// As [`hex`], bare.
fn bare(number: Reading<u32>, digits: usize) -> Reading<Value> {
    number.map(|number| format!("{number:0digits$X}").into())
}

fn pci(asked: &Asked<()>, pick: fn(Pci) -> u32) -> Reading<u32> {
    asked.gpu.pci().map(pick)
}

fn class(asked: &Asked<()>, pick: fn((u32, u32)) -> u32) -> Reading<u32> {
    asked.gpu.pci_class().map(pick)
}

const ROWS: &[Row<()>] = &[
    line("Bus", "", |asked| hex(pci(asked, |pci| pci.bus), 2)),
    line("", "pci_bus", |asked| bare(pci(asked, |pci| pci.bus), 2)),
    line("Device", "", |asked| hex(pci(asked, |pci| pci.device), 2)),
    line("", "pci_device", |asked| {
        bare(pci(asked, |pci| pci.device), 2)
    }),
    line("Domain", "", |asked| hex(pci(asked, |pci| pci.domain), 4)),
    line("", "pci_domain", |asked| {
        bare(pci(asked, |pci| pci.domain), 4)
    }),
    line("Base Classcode", "", |asked| {
        hex(class(asked, |(base, _)| base), 1)
    }),
    line("", "pci_base_class", |asked| {
        bare(class(asked, |(base, _)| base), 1)
    }),
    line("Sub Classcode", "", |asked| {
        hex(class(asked, |(_, sub)| sub), 1)
    }),
    line("", "pci_sub_class", |asked| {
        bare(class(asked, |(_, sub)| sub), 1)
    }),
    line("Device Id", "", |asked| {
        hex(pci(asked, |pci| pci.device_id), 8)
    }),
    line("", "pci_device_id", |asked| {
        bare(pci(asked, |pci| pci.device_id), 8)
    }),
    line("Bus Id", "pci_bus_id", |asked| {
        asked.gpu.pci().map(|pci| pci.bus_id.into())
    }),
    line("Sub System Id", "", |asked| {
        hex(pci(asked, |pci| pci.subsystem_id), 8)
    }),
    line("", "pci_sub_system_id", |asked| {
        bare(pci(asked, |pci| pci.subsystem_id), 8)
    }),
    group(
        "GPU Link Info",
        "pci_gpu_link_info",
        &[
            group("PCIe Generation", "pcie_gen", GENERATIONS),
            group(
                "Link Width",
                "link_widths",
                &[
                    line("Max", "max_link_width", |asked| {
                        asked.gpu.max_pcie_width().map(lanes)
                    }),
                    line("Current", "current_link_width", |asked| {
                        asked.gpu.pcie_width().map(lanes)
                    }),
                ],
            ),
        ],
    ),
    group(
        "Bridge Chip",
        "pci_bridge_chip",
        &[
            line("Type", "bridge_chip_type", |asked| {
                let (kind, _) = bridge(asked)?;
                word(kind, &["PLX", "BR04"])
            }),
            line("Firmware", "bridge_chip_fw", |asked| {
                let (_, firmware) = bridge(asked)?;
                Ok(match asked.form {
                    Form::Text => Value::Hex(firmware.into(), 8),
                    Form::Xml => format!("{firmware:08X}").into(),
                })
            }),
        ],
    ),
    line("Replays Since Reset", "replay_counter", |asked| {
        asked.gpu.pcie_replays().map(Value::from)
    }),
    line(
        "Replay Number Rollovers",
        "replay_rollover_counter",
        |asked| {
            const PCIE_REPLAY_ROLLOVER_COUNTER: u32 = 95;
            asked
                .gpu
                .field_number(PCIE_REPLAY_ROLLOVER_COUNTER, 0)
                .map(Value::from)
        },
    ),
    number("Tx Throughput", "tx_util", KilobytesPerSecond, |asked| {
        asked.gpu.pcie_throughput()?.0.map(Value::from)
    }),
    number("Rx Throughput", "rx_util", KilobytesPerSecond, |asked| {
        asked.gpu.pcie_throughput()?.1.map(Value::from)
    }),
    line("Atomic Caps Outbound", "atomic_caps_outbound", |asked| {
        atomics(asked, PCIE_OUTBOUND_ATOMICS_MASK)
    }),
    line("Atomic Caps Inbound", "atomic_caps_inbound", |asked| {
        atomics(asked, PCIE_INBOUND_ATOMICS_MASK)
    }),
];

const GENERATIONS: &[Row<()>] = &[
    line("Max", "max_link_gen", |asked| {
        asked.gpu.max_pcie_generation().map(Value::from)
    }),
    line("Current", "current_link_gen", |asked| {
        asked.gpu.pcie_generation().map(Value::from)
    }),
    line("Device Current", "device_current_link_gen", |asked| {
        asked.gpu.pcie_generation().map(Value::from)
    }),
    line("Device Max", "max_device_link_gen", |asked| {
        asked.gpu.gpu_max_pcie_generation().map(Value::from)
    }),
    line("Host Max", "max_host_link_gen", |asked| {
        asked.reachable()?;
        asked.gpu.host_max_pcie_generation().map(Value::from)
    }),
];

fn lanes(lanes: u32) -> Value {
    format!("{lanes}x").into()
}

/// The first bridge on the board.
fn bridge(asked: &Asked<()>) -> Reading<(u32, u32)> {
    let bridges = asked.gpu.bridge_chips()?;
    bridges.first().copied().ok_or(Missing::NotSupported)
}

const PCIE_OUTBOUND_ATOMICS_MASK: u32 = 228;
const PCIE_INBOUND_ATOMICS_MASK: u32 = 229;

/// `NVML_PCIE_ATOMICS_CAP_*`, from bit 0.
const ATOMICS: &[&str] = &[
    "FETCHADD_32",
    "FETCHADD_64",
    "SWAP_32",
    "SWAP_64",
    "CAS_32",
    "CAS_64",
    "CAS_128",
];

/// The atomic operations of a mask, a blank behind each.
fn atomics(asked: &Asked<()>, field: u32) -> Reading<Value> {
    asked
        .gpu
        .ask_fields([PCIE_OUTBOUND_ATOMICS_MASK, PCIE_INBOUND_ATOMICS_MASK].map(|id| (id, 0)));
    let mask = asked.gpu.field_number(field, 0)?;
    let known = ATOMICS.iter().enumerate();
    let names: String = known
        .filter(|(bit, _)| mask >> bit & 1 != 0)
        .map(|(_, name)| format!("{name} "))
        .collect();
    match names.is_empty() {
        true => Err(Missing::NotSupported),
        false => Ok(names.into()),
    }
}
