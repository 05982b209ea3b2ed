//! What the board is, where it sits, and how it is set up.

use crate::fields::common::timestamp;
use crate::fields::{Group, Row, field};
use crate::nvml::{Missing, Reading};
use crate::value::Unit::None as Plain;
use crate::value::{Value, enabled, yes};

pub const IDENTITY: Group<()> = Group {
    about: "",
    fields: &[
        field(
            &["timestamp"],
            Plain,
            "Local time of the query, YYYY/MM/DD HH:MM:SS.mmm.",
            timestamp,
        ),
        field(
            &["driver_version"],
            Plain,
            "Version of the installed driver.",
            |row| row.driver.version().map(Value::from),
        ),
        field(
            &["vgpu_driver_capability.heterogenous_multivGPU"],
            Plain,
            "Whether the driver can run vGPUs of different types on one GPU.",
            |row| row.driver.heterogeneous_vgpus().map(flag),
        ),
        field(
            &["count"],
            Plain,
            "How many GPUs this machine has.",
            |row| row.driver.gpu_count().map(Value::from),
        ),
        field(&["name", "gpu_name"], Plain, "Product name.", |row| {
            row.gpu.name().map(Value::from)
        }),
        field(
            &["serial", "gpu_serial"],
            Plain,
            "Serial number printed on the board.",
            |row| row.gpu.serial().map(Value::from),
        ),
        field(
            &["uuid", "gpu_uuid"],
            Plain,
            "UUID, the same on every boot and in every slot.",
            |row| row.gpu.uuid().map(Value::from),
        ),
        field(
            &["pci.bus_id", "gpu_bus_id"],
            Plain,
            "PCI address, domain:bus:device.function in hex.",
            |row| row.gpu.pci().map(|pci| pci.bus_id.into()),
        ),
        field(&["pci.domain"], Plain, "PCI domain, in hex.", |row| {
            row.gpu.pci().map(|pci| Value::Hex(pci.domain.into(), 4))
        }),
        field(&["pci.bus"], Plain, "PCI bus, in hex.", |row| {
            row.gpu.pci().map(|pci| Value::Hex(pci.bus.into(), 2))
        }),
        field(
            &["pci.device"],
            Plain,
            "PCI device on its bus, in hex.",
            |row| row.gpu.pci().map(|pci| Value::Hex(pci.device.into(), 2)),
        ),
        field(
            &["pci.baseClass"],
            Plain,
            "PCI base class, in hex.",
            |row| {
                row.gpu
                    .pci_class()
                    .map(|(base, _)| Value::Hex(base.into(), 1))
            },
        ),
        field(&["pci.subClass"], Plain, "PCI sub class, in hex.", |row| {
            row.gpu
                .pci_class()
                .map(|(_, sub)| Value::Hex(sub.into(), 1))
        }),
        field(
            &["pci.device_id"],
            Plain,
            "PCI device id before vendor id, in hex.",
            |row| row.gpu.pci().map(|pci| Value::Hex(pci.device_id.into(), 8)),
        ),
        field(
            &["pci.sub_device_id"],
            Plain,
            "PCI ids that the board's maker gave it, in hex.",
            |row| {
                row.gpu
                    .pci()
                    .map(|pci| Value::Hex(pci.subsystem_id.into(), 4))
            },
        ),
    ],
};

/// What NVML answers to whether something can be done, as it came: the queries
/// have 1 and 0 where the report has words.
fn flag(number: u32) -> Value {
    number.cast_signed().into()
}

fn vgpu(row: &Row<()>, capability: u32) -> Reading<Value> {
    row.gpu.vgpu_capability(capability).map(flag)
}

pub const VGPU: Group<()> = Group {
    about: "What the GPU can do for virtual GPUs",
    fields: &[
        field(
            &["vgpu_device_capability.fractional_multiVgpu"],
            Plain,
            "Several vGPUs that each have a part.",
            |row| vgpu(row, 0),
        ),
        field(
            &["vgpu_device_capability.heterogeneous_timeSlice_profile"],
            Plain,
            "Time-sliced vGPUs of different profiles side by side.",
            |row| vgpu(row, 1),
        ),
        field(
            &["vgpu_device_capability.heterogeneous_timeSlice_sizes"],
            Plain,
            "Time-sliced vGPUs of different memory sizes side by side.",
            |row| vgpu(row, 2),
        ),
        field(
            &["vgpu_device_capability.homogeneous_placements"],
            Plain,
            "Placement of vGPUs that are all of one size.",
            |row| vgpu(row, 9),
        ),
        field(
            &["vgpu_device_capability.mig_timeSlicing"],
            Plain,
            "Time-sliced vGPUs on MIG instances.",
            |row| vgpu(row, 10),
        ),
        field(
            &["vgpu_device_capability.mig_timeSlicing_mode"],
            Plain,
            "Whether time-sliced vGPUs on MIG instances are switched on.",
            |row| vgpu(row, 11),
        ),
    ],
};

pub const PCIE: Group<()> = Group {
    about: "The PCI Express link",
    fields: &[
        field(
            &["pcie.link.gen.current"],
            Plain,
            "Generation in use; it drops when the GPU idles.",
            |row| row.gpu.pcie_generation().map(Value::from),
        ),
        field(
            &["pcie.link.gen.gpucurrent"],
            Plain,
            "Generation that the GPU uses.",
            |row| row.gpu.pcie_generation().map(Value::from),
        ),
        field(
            &["pcie.link.gen.max"],
            Plain,
            "Highest generation of this GPU in this slot.",
            |row| row.gpu.max_pcie_generation().map(Value::from),
        ),
        field(
            &["pcie.link.gen.gpumax"],
            Plain,
            "Highest generation of the GPU.",
            |row| row.gpu.gpu_max_pcie_generation().map(Value::from),
        ),
        field(
            &["pcie.link.gen.hostmax"],
            Plain,
            "Highest generation of the slot that the GPU is in.",
            |row| row.gpu.host_max_pcie_generation().map(Value::from),
        ),
        field(
            &["pcie.link.width.current"],
            Plain,
            "Lanes in use.",
            |row| row.gpu.pcie_width().map(Value::from),
        ),
        field(
            &["pcie.link.width.max"],
            Plain,
            "Most lanes of this GPU in this slot.",
            |row| row.gpu.max_pcie_width().map(Value::from),
        ),
    ],
};

pub const MODES: Group<()> = Group {
    about: "Its place among the GPUs, displays, how the driver runs it",
    fields: &[
        field(
            &["index"],
            Plain,
            "Place in the order of GPUs, from 0; it can change on a boot.",
            |row| Ok(row.gpu.index().into()),
        ),
        // NVML dropped the question; R580 answers so without asking.
        field(
            &["display_mode"],
            Plain,
            "No longer answered by the driver: see display_attached.",
            |_| Err(Missing::DEPRECATED),
        ),
        field(
            &["display_attached"],
            Plain,
            "Whether a display can be attached.",
            |row| row.gpu.display_connected().map(yes),
        ),
        field(
            &["display_active"],
            Plain,
            "Whether the GPU drives a display, even one with no monitor on it.",
            |row| row.gpu.display_active().map(enabled),
        ),
        field(
            &["persistence_mode"],
            Plain,
            "Whether the driver keeps the GPU ready when nobody uses it.",
            |row| row.gpu.persistence().map(enabled),
        ),
        field(
            &["addressing_mode"],
            Plain,
            "How the GPU reaches system memory: None, HMM or ATS.",
            |row| {
                row.gpu
                    .addressing_mode()
                    .and_then(|mode| word(mode, &["None", "HMM", "ATS"]))
            },
        ),
        field(
            &["accounting.mode"],
            Plain,
            "Whether use is counted for each process.",
            |row| row.gpu.accounting().map(enabled),
        ),
        field(
            &["accounting.buffer_size"],
            Plain,
            "For how many processes use can be counted.",
            |row| row.gpu.accounting_buffer_size().map(Value::from),
        ),
        field(
            &["driver_model.current"],
            Plain,
            "Windows driver model in use.",
            |row| {
                row.gpu
                    .driver_models()
                    .and_then(|(current, _)| word(current, DRIVER_MODELS))
            },
        ),
        field(
            &["driver_model.pending"],
            Plain,
            "Windows driver model after the next boot.",
            |row| {
                row.gpu
                    .driver_models()
                    .and_then(|(_, pending)| word(pending, DRIVER_MODELS))
            },
        ),
        field(
            &["vbios_version"],
            Plain,
            "Version of the board's BIOS.",
            |row| row.gpu.vbios_version().map(Value::from),
        ),
    ],
};

const DRIVER_MODELS: &[&str] = &["WDDM", "TCC", "MCDM"];
const OPERATION_MODES: &[&str] = &["All On", "Compute", "Low Double Precision"];

/// The word for a number of one of NVML's enums; a number from a newer driver has none.
pub fn word(number: u32, words: &[&'static str]) -> Reading<Value> {
    words
        .get(number as usize)
        .map(|word| Value::word(word))
        .ok_or(Missing::UNKNOWN)
}

pub const INFOROM: Group<()> = Group {
    about: "The infoROM, where the board keeps its configuration and error counts, and what the driver makes of it",
    fields: &[
        field(
            &["inforom.img", "inforom.image"],
            Plain,
            "Version of the whole image.",
            |row| row.gpu.inforom_image_version().map(Value::from),
        ),
        field(
            &["inforom.oem"],
            Plain,
            "Version of the OEM object.",
            |row| row.gpu.inforom_version(0).map(Value::from),
        ),
        field(
            &["inforom.ecc"],
            Plain,
            "Version of the ECC object.",
            |row| row.gpu.inforom_version(1).map(Value::from),
        ),
        field(
            &["inforom.pwr", "inforom.power"],
            Plain,
            "Version of the power object.",
            |row| row.gpu.inforom_version(2).map(Value::from),
        ),
        field(
            &["inforom.checksum_validation"],
            Plain,
            "Whether its checksums are right; slow to ask.",
            |row| {
                Ok(Value::word(match row.gpu.inforom_valid() {
                    Ok(()) => "valid",
                    Err(Missing::CORRUPTED_INFOROM) => "invalid",
                    Err(_) => "N/A",
                }))
            },
        ),
        field(
            &["gpu_recovery_action"],
            Plain,
            "What would bring a broken GPU back: None if it is not broken.",
            |row| {
                const GET_GPU_RECOVERY_ACTION: u32 = 230;
                let action = row.gpu.field_number(GET_GPU_RECOVERY_ACTION, 0)?;
                word(
                    action as u32,
                    &["None", "Reset", "Reboot", "Drain P2P", "Drain and Reset"],
                )
            },
        ),
        field(
            &["gom.current", "gpu_operation_mode.current"],
            Plain,
            "GPU operation mode in use.",
            |row| {
                row.gpu
                    .operation_modes()
                    .and_then(|(current, _)| word(current, OPERATION_MODES))
            },
        ),
        field(
            &["gom.pending", "gpu_operation_mode.pending"],
            Plain,
            "GPU operation mode after the next boot.",
            |row| {
                row.gpu
                    .operation_modes()
                    .and_then(|(_, pending)| word(pending, OPERATION_MODES))
            },
        ),
    ],
};
