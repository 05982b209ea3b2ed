//! What the board is, where it sits, and how it is set up.

use crate::facts::{Context, board, modes, pcie};
use crate::fields::{Group, field};
use crate::nvml::Reading;
use crate::value::Unit::None as Plain;
use crate::value::Value;

pub const IDENTITY: Group<()> = Group {
    about: "",
    fields: &[
        field(
            &["timestamp"],
            Plain,
            "Local time of the query, YYYY/MM/DD HH:MM:SS.mmm.",
            board::timestamp,
        ),
        field(
            &["driver_version"],
            Plain,
            "Version of the installed driver.",
            board::driver_version,
        ),
        field(
            &["vgpu_driver_capability.heterogenous_multivGPU"],
            Plain,
            "Whether the driver can run vGPUs of different types on one GPU.",
            |context| context.driver.heterogeneous_vgpus().map(flag),
        ),
        field(
            &["count"],
            Plain,
            "How many GPUs this machine has.",
            board::gpu_count,
        ),
        field(&["name", "gpu_name"], Plain, "Product name.", board::name),
        field(
            &["serial", "gpu_serial"],
            Plain,
            "Serial number printed on the board.",
            board::serial,
        ),
        field(
            &["uuid", "gpu_uuid"],
            Plain,
            "UUID, the same on every boot and in every slot.",
            board::uuid,
        ),
        field(
            &["pci.bus_id", "gpu_bus_id"],
            Plain,
            "PCI address, domain:bus:device.function in hex.",
            pcie::bus_id,
        ),
        field(&["pci.domain"], Plain, "PCI domain, in hex.", pcie::domain),
        field(&["pci.bus"], Plain, "PCI bus, in hex.", pcie::bus),
        field(
            &["pci.device"],
            Plain,
            "PCI device on its bus, in hex.",
            pcie::device,
        ),
        field(
            &["pci.baseClass"],
            Plain,
            "PCI base class, in hex.",
            pcie::base_class,
        ),
        field(
            &["pci.subClass"],
            Plain,
            "PCI sub class, in hex.",
            pcie::sub_class,
        ),
        field(
            &["pci.device_id"],
            Plain,
            "PCI device id before vendor id, in hex.",
            pcie::device_id,
        ),
        field(
            &["pci.sub_device_id"],
            Plain,
            "PCI ids that the board's maker gave it, in hex.",
            |context| {
                context
                    .gpu
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

fn vgpu(context: &Context<()>, capability: u32) -> Reading<Value> {
    context.gpu.vgpu_capability(capability).map(flag)
}

pub const VGPU: Group<()> = Group {
    about: "What the GPU can do for virtual GPUs",
    fields: &[
        field(
            &["vgpu_device_capability.fractional_multiVgpu"],
            Plain,
            "Several vGPUs that each have a part.",
            |context| vgpu(context, 0),
        ),
        field(
            &["vgpu_device_capability.heterogeneous_timeSlice_profile"],
            Plain,
            "Time-sliced vGPUs of different profiles side by side.",
            |context| vgpu(context, 1),
        ),
        field(
            &["vgpu_device_capability.heterogeneous_timeSlice_sizes"],
            Plain,
            "Time-sliced vGPUs of different memory sizes side by side.",
            |context| vgpu(context, 2),
        ),
        field(
            &["vgpu_device_capability.homogeneous_placements"],
            Plain,
            "Placement of vGPUs that are all of one size.",
            |context| vgpu(context, 9),
        ),
        field(
            &["vgpu_device_capability.mig_timeSlicing"],
            Plain,
            "Time-sliced vGPUs on MIG instances.",
            |context| vgpu(context, 10),
        ),
        field(
            &["vgpu_device_capability.mig_timeSlicing_mode"],
            Plain,
            "Whether time-sliced vGPUs on MIG instances are switched on.",
            |context| vgpu(context, 11),
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
            pcie::generation,
        ),
        field(
            &["pcie.link.gen.gpucurrent"],
            Plain,
            "Generation that the GPU uses.",
            pcie::generation,
        ),
        field(
            &["pcie.link.gen.max"],
            Plain,
            "Highest generation of this GPU in this slot.",
            pcie::max_generation,
        ),
        field(
            &["pcie.link.gen.gpumax"],
            Plain,
            "Highest generation of the GPU.",
            pcie::gpu_max_generation,
        ),
        field(
            &["pcie.link.gen.hostmax"],
            Plain,
            "Highest generation of the slot that the GPU is in.",
            pcie::host_max_generation,
        ),
        field(
            &["pcie.link.width.current"],
            Plain,
            "Lanes in use.",
            pcie::width,
        ),
        field(
            &["pcie.link.width.max"],
            Plain,
            "Most lanes of this GPU in this slot.",
            pcie::max_width,
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
            board::index,
        ),
        field(
            &["display_mode"],
            Plain,
            "No longer answered by the driver: see display_attached.",
            modes::display_mode,
        ),
        field(
            &["display_attached"],
            Plain,
            "Whether a display can be attached.",
            modes::display_attached,
        ),
        field(
            &["display_active"],
            Plain,
            "Whether the GPU drives a display, even one with no monitor on it.",
            modes::display_active,
        ),
        field(
            &["persistence_mode"],
            Plain,
            "Whether the driver keeps the GPU ready when nobody uses it.",
            modes::persistence,
        ),
        field(
            &["addressing_mode"],
            Plain,
            "How the GPU reaches system memory: None, HMM or ATS.",
            modes::addressing,
        ),
        field(
            &["accounting.mode"],
            Plain,
            "Whether use is counted for each process.",
            modes::accounting,
        ),
        field(
            &["accounting.buffer_size"],
            Plain,
            "For how many processes use can be counted.",
            modes::accounting_buffer_size,
        ),
        field(
            &["driver_model.current"],
            Plain,
            "Windows driver model in use.",
            modes::driver_model,
        ),
        field(
            &["driver_model.pending"],
            Plain,
            "Windows driver model after the next boot.",
            modes::pending_driver_model,
        ),
        field(
            &["vbios_version"],
            Plain,
            "Version of the board's BIOS.",
            board::vbios_version,
        ),
    ],
};

pub const INFOROM: Group<()> = Group {
    about: "The infoROM, where the board keeps its configuration and error counts, and what the driver makes of it",
    fields: &[
        field(
            &["inforom.img", "inforom.image"],
            Plain,
            "Version of the whole image.",
            board::inforom_image,
        ),
        field(
            &["inforom.oem"],
            Plain,
            "Version of the OEM object.",
            board::inforom_oem,
        ),
        field(
            &["inforom.ecc"],
            Plain,
            "Version of the ECC object.",
            board::inforom_ecc,
        ),
        field(
            &["inforom.pwr", "inforom.power"],
            Plain,
            "Version of the power object.",
            board::inforom_power,
        ),
        field(
            &["inforom.checksum_validation"],
            Plain,
            "Whether its checksums are right; slow to ask.",
            board::inforom_checksums,
        ),
        field(
            &["gpu_recovery_action"],
            Plain,
            "What would bring a broken GPU back: None if it is not broken.",
            board::recovery_action,
        ),
        field(
            &["gom.current", "gpu_operation_mode.current"],
            Plain,
            "GPU operation mode in use.",
            modes::operation,
        ),
        field(
            &["gom.pending", "gpu_operation_mode.pending"],
            Plain,
            "GPU operation mode after the next boot.",
            modes::pending_operation,
        ),
    ],
};
