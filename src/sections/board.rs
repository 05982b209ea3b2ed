//! What the board is, and how it is set up.

use super::row::{Empty, List, Row, group, line, list, number};
use crate::facts::{Context, board, modes, platform};
use crate::nvml::{License, LicenseExpiry, Missing, Reading, if_any};
use crate::value::{Unit, Value, enabled, supported};

pub const PRODUCT: &[Row<()>] = &[
    line("Product Name", "product_name", board::name),
    line("Product Brand", "product_brand", board::brand),
    line(
        "Product Architecture",
        "product_architecture",
        board::architecture,
    ),
    line("Display Mode", "display_mode", modes::display_mode),
    line(
        "Display Attached",
        "display_attached",
        modes::display_attached,
    ),
    line("Display Active", "display_active", modes::display_active),
    line("Persistence Mode", "persistence_mode", modes::persistence),
    line("Addressing Mode", "addressing_mode", modes::addressing),
    group(
        "vGPU Device Capability",
        "vgpu_device_capability",
        VGPU_CAPABILITIES,
    )
    .on(|context| context.gpu.hosts_vgpus()),
];

fn vgpu(context: &Context<()>, capability: u32) -> Reading<Value> {
    context
        .gpu
        .vgpu_capability(capability)
        .map(|can| supported(can != 0))
}

const VGPU_CAPABILITIES: &[Row<()>] = &[
    line("Fractional Multi-vGPU", "fractional_multiVgpu", |context| {
        vgpu(context, 0)
    }),
    line(
        "Heterogeneous Time-Slice Profiles",
        "heterogeneous_timeSlice_profile",
        |context| vgpu(context, 1),
    ),
    line(
        "Heterogeneous Time-Slice Sizes",
        "heterogeneous_timeSlice_sizes",
        |context| vgpu(context, 2),
    ),
    line(
        "Homogeneous Placements",
        "homogeneous_placements",
        |context| vgpu(context, 9),
    ),
    line("MIG Time-Slicing", "mig_timeSlicing", |context| {
        vgpu(context, 10)
    }),
    line("MIG Time-Slicing Mode", "mig_timeSlicing_mode", |context| {
        context
            .gpu
            .vgpu_capability(11)
            .map(|mode| enabled(mode != 0))
    }),
];

pub const IDENTITY: &[Row<()>] = &[
    group(
        "Driver Model",
        "driver_model",
        &[
            line("Current", "current_dm", modes::driver_model),
            line("Pending", "pending_dm", modes::pending_driver_model),
        ],
    ),
    line("Serial Number", "serial", board::serial),
    line("GPU UUID", "uuid", board::uuid),
    line("GPU PDI", "pdi", board::pdi),
    line("Minor Number", "minor_number", board::minor_number),
    line("VBIOS Version", "vbios_version", board::vbios_version),
    line("MultiGPU Board", "multigpu_board", board::multi_gpu_board),
    line("Board ID", "board_id", board::board_id),
    line("Board Part Number", "board_part_number", board::part_number),
    line(
        "GPU Part Number",
        "gpu_part_number",
        board::other_part_number,
    ),
    line(
        "FRU Part Number",
        "gpu_fru_part_number",
        board::other_part_number,
    ),
    group("Platform Info", "platformInfo", PLATFORM)
        .on(|context| context.gpu.architecture().is_ok()),
    group("Inforom Version", "inforom_version", INFOROM),
    group(
        "Inforom BBX Object Flush",
        "inforom_bbx_flush",
        &[
            line(
                "Latest Timestamp",
                "latest_timestamp",
                board::black_box_time,
            ),
            number(
                "Latest Duration",
                "latest_duration",
                Unit::Microseconds,
                board::black_box_duration,
            ),
        ],
    ),
    group(
        "GPU Operation Mode",
        "gpu_operation_mode",
        &[
            line("Current", "current_gom", modes::operation),
            line("Pending", "pending_gom", modes::pending_operation),
        ],
    ),
    line("GPU C2C Mode", "c2c_mode", modes::c2c),
    group(
        "GPU Virtualization Mode",
        "gpu_virtualization_mode",
        VIRTUALIZATION,
    ),
    list("", "", &LICENSES),
    line(
        "GPU Recovery Action",
        "gpu_recovery_action",
        board::recovery_action,
    ),
];

const PLATFORM: &[Row<()>] = &[
    line(
        "Chassis Serial Number",
        "chassis_serial_number",
        |context| platform::chassis_serial(platform::since_blackwell(context)),
    ),
    line("Slot Number", "slot_number", |context| {
        platform::slot(platform::since_blackwell(context))
    }),
    line("Tray Index", "tray_index", |context| {
        platform::tray(platform::since_blackwell(context))
    }),
    line("Host ID", "host_id", |context| {
        platform::host(platform::since_blackwell(context))
    }),
    line("Peer Type", "peer_type", |context| {
        platform::peer_type(platform::since_blackwell(context))
    }),
    line("Module Id", "module_id", board::module_id),
    line("GPU Fabric GUID", "gpu_fabric_guid", |context| {
        platform::fabric_guid(platform::since_blackwell(context))
    }),
];

const INFOROM: &[Row<()>] = &[
    line("Image Version", "img_version", board::inforom_image),
    line("OEM Object", "oem_object", board::inforom_oem),
    line("ECC Object", "ecc_object", board::inforom_ecc),
    line(
        "Power Management Object",
        "pwr_object",
        board::inforom_power,
    ),
];

const VIRTUALIZATION: &[Row<()>] = &[
    line(
        "Virtualization Mode",
        "virtualization_mode",
        modes::virtualization,
    ),
    line("Host VGPU Mode", "host_vgpu_mode", modes::host_vgpu),
    line(
        "vGPU Heterogeneous Mode",
        "vgpu_heterogeneous_mode",
        modes::heterogeneous_vgpus,
    ),
];

/// The licence in use, or the first of those that there could be.
const LICENSES: List<(), License> = List {
    items: |context| {
        let licenses = match context.gpu.licenses() {
            // Each other line says it of a GPU that is gone, and R580 has none here.
            Err(Missing::GPU_IS_LOST | Missing::RESET_REQUIRED) => Vec::new(),
            licenses => if_any(licenses)?,
        };
        let used = licenses.iter().position(|license| license.enabled);
        let shown = licenses.into_iter().nth(used.unwrap_or_default());
        Ok(shown.into_iter().collect())
    },
    empty: Empty::Heading,
    row: group(
        "vGPU Software Licensed Product",
        "vgpu_software_licensed_product",
        &[
            line("Product Name", "licensed_product_name", |context| {
                Ok(context.item.product.clone().into())
            }),
            line("License Status", "license_status", |context| {
                Ok(license_status(context.item).into())
            }),
        ],
    ),
};

fn license_status(license: &License) -> String {
    if !license.licensed {
        return "Unlicensed".to_owned();
    }
    let expiry = match license.expiry {
        LicenseExpiry::NotAvailable => "Not available".to_owned(),
        LicenseExpiry::NotApplicable => "N/A".to_owned(),
        LicenseExpiry::Invalid => "ERR!".to_owned(),
        LicenseExpiry::Permanent => "Permanent".to_owned(),
        LicenseExpiry::On([year, month, day, hour, minute, second]) => {
            format!("{year}-{month}-{day} {hour}:{minute}:{second} GMT")
        }
    };
    format!("Licensed (Expiry: {expiry})")
}

pub const GSP_FIRMWARE_VERSION: &[Row<()>] = &[line(
    "GSP Firmware Version",
    "gsp_firmware_version",
    board::gsp_firmware_version,
)];

pub const CAPABILITIES: &[Row<()>] = &[group(
    "Capabilities",
    "capabilities",
    &[line("EGM", "egm", board::extended_gpu_memory)],
)];
