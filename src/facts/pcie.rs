//! The GPU's place on the PCI bus, and its link.

use super::words::{self, word};
use super::{Context, facts};
use crate::nvml::{Missing, Reading};
use crate::value::Value;

/// `NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER`.
const REPLAY_ROLLOVERS: u32 = 95;
/// `NVML_FI_DEV_PCIE_OUTBOUND_ATOMICS_MASK` and `..._INBOUND_...`.
const OUTBOUND_ATOMICS: u32 = 228;
const INBOUND_ATOMICS: u32 = 229;

facts! {
    /// Address: domain:bus:device.function, hex.
    bus_id(context) = context.gpu.bus_id();
    /// Domain.
    domain(context) = context.gpu.pci().map(|pci| Value::Hex(pci.domain.into(), 4));
    /// Bus.
    bus(context) = context.gpu.pci().map(|pci| Value::Hex(pci.bus.into(), 2));
    /// Device on the bus.
    device(context) = context.gpu.pci().map(|pci| Value::Hex(pci.device.into(), 2));
    /// Base class.
    base_class(context) = context.gpu.pci_class().map(|(base, _)| Value::Hex(base.into(), 1));
    /// Sub class.
    sub_class(context) = context.gpu.pci_class().map(|(_, sub)| Value::Hex(sub.into(), 1));
    /// Device id before vendor id.
    device_id(context) = context.gpu.pci().map(|pci| Value::Hex(pci.device_id.into(), 8));
    /// The board maker's ids.
    subsystem_id(context) = context.gpu.pci().map(|pci| Value::Hex(pci.subsystem_id.into(), 8));
    /// Generation in use.
    generation(context) = context.gpu.pcie_generation();
    /// Highest generation of this GPU in this slot.
    max_generation(context) = context.gpu.max_pcie_generation();
    /// Highest generation of the GPU.
    gpu_max_generation(context) = context.gpu.gpu_max_pcie_generation();
    /// Highest generation of the slot, as the kernel tells it.
    host_max_generation(context) = context.gpu.host_max_pcie_generation();
    /// Lanes in use.
    width(context) = context.gpu.pcie_width();
    /// Most lanes of this GPU in this slot.
    max_width(context) = context.gpu.max_pcie_width();
    /// Replays since the last reset.
    replays(context) = context.gpu.pcie_replays();
    /// How often the count of replays began anew.
    replay_rollovers(context) = context.gpu.field_number(REPLAY_ROLLOVERS, 0);
    /// Sent, kilobytes a second. NVML watches the link for 20 ms.
    sent(context) = context.gpu.pcie_throughput()?.0;
    /// Received, kilobytes a second. NVML watches the link for 20 ms.
    received(context) = context.gpu.pcie_throughput()?.1;
    /// Atomic operations that the GPU can send, a blank behind each.
    outbound_atomics(context) = atomics(context, OUTBOUND_ATOMICS);
    /// Atomic operations that the GPU can receive, a blank behind each.
    inbound_atomics(context) = atomics(context, INBOUND_ATOMICS);
    /// Type of the first bridge on the board.
    bridge_type(context) = word(bridge(context)?.0, words::BRIDGE_CHIPS);
    /// Version of its firmware.
    bridge_firmware(context) = bridge(context).map(|(_, firmware)| Value::Hex(firmware.into(), 8));
}

/// The first bridge on the board: its type and firmware.
fn bridge<T>(context: &Context<T>) -> Reading<(u32, u32)> {
    let bridges = context.gpu.bridge_chips()?;
    bridges.first().copied().ok_or(Missing::NotSupported)
}

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

/// Both masks come with the first of them.
fn atomics<T>(context: &Context<T>, field: u32) -> Reading<Value> {
    context
        .gpu
        .ask_fields([OUTBOUND_ATOMICS, INBOUND_ATOMICS].map(|id| (id, 0)));
    let mask = context.gpu.field_number(field, 0)?;
    let known = ATOMICS.iter().enumerate();
    let names: String = known
        .filter(|(bit, _)| mask >> bit & 1 != 0)
        .map(|(_, name)| format!("{name} "))
        .collect();
    if names.is_empty() {
        return Err(Missing::NotSupported);
    }
    Ok(names.into())
}
