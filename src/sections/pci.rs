//! Where the GPU sits, and the link that it hangs on.

use super::row::{Row, group, line, number};
use crate::facts::pcie;
use crate::nvml::{Missing, Reading};
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

/// A hex number without its 0x, as XML has it.
fn bare(hex: Reading<Value>) -> Reading<Value> {
    hex.map(|number| match number {
        Value::Hex(number, digits) => format!("{number:0digits$X}").into(),
        other => other,
    })
}

const ROWS: &[Row<()>] = &[
    line("Bus", "", pcie::bus),
    line("", "pci_bus", |context| bare(pcie::bus(context))),
    line("Device", "", pcie::device),
    line("", "pci_device", |context| bare(pcie::device(context))),
    line("Domain", "", pcie::domain),
    line("", "pci_domain", |context| bare(pcie::domain(context))),
    line("Base Classcode", "", pcie::base_class),
    line("", "pci_base_class", |context| {
        bare(pcie::base_class(context))
    }),
    line("Sub Classcode", "", pcie::sub_class),
    line("", "pci_sub_class", |context| {
        bare(pcie::sub_class(context))
    }),
    line("Device Id", "", pcie::device_id),
    line("", "pci_device_id", |context| {
        bare(pcie::device_id(context))
    }),
    line("Bus Id", "pci_bus_id", pcie::bus_id),
    line("Sub System Id", "", pcie::subsystem_id),
    line("", "pci_sub_system_id", |context| {
        bare(pcie::subsystem_id(context))
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
                    line("Max", "max_link_width", |context| {
                        pcie::max_width(context).map(lanes)
                    }),
                    line("Current", "current_link_width", |context| {
                        pcie::width(context).map(lanes)
                    }),
                ],
            ),
        ],
    ),
    group(
        "Bridge Chip",
        "pci_bridge_chip",
        &[
            line("Type", "bridge_chip_type", pcie::bridge_type),
            line("Firmware", "", pcie::bridge_firmware),
            line("", "bridge_chip_fw", |context| {
                bare(pcie::bridge_firmware(context))
            }),
        ],
    ),
    line("Replays Since Reset", "replay_counter", pcie::replays),
    line(
        "Replay Number Rollovers",
        "replay_rollover_counter",
        pcie::replay_rollovers,
    ),
    number("Tx Throughput", "tx_util", KilobytesPerSecond, pcie::sent),
    number(
        "Rx Throughput",
        "rx_util",
        KilobytesPerSecond,
        pcie::received,
    ),
    line(
        "Atomic Caps Outbound",
        "atomic_caps_outbound",
        pcie::outbound_atomics,
    ),
    line(
        "Atomic Caps Inbound",
        "atomic_caps_inbound",
        pcie::inbound_atomics,
    ),
];

const GENERATIONS: &[Row<()>] = &[
    line("Max", "max_link_gen", pcie::max_generation),
    line("Current", "current_link_gen", pcie::generation),
    line(
        "Device Current",
        "device_current_link_gen",
        pcie::generation,
    ),
    line(
        "Device Max",
        "max_device_link_gen",
        pcie::gpu_max_generation,
    ),
    line("Host Max", "max_host_link_gen", |context| {
        context.reachable()?;
        pcie::host_max_generation(context)
    }),
];

fn lanes(lanes: Value) -> Value {
    format!("{lanes}x").into()
}
