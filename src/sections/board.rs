//! What the board is, and how it is set up.

use jiff::Timestamp;

use super::row::{Asked, Empty, List, Row, group, line, list, number};
use super::words::{self, word};
use crate::clock;
use crate::nvml::{License, LicenseExpiry, Missing, Platform, Reading, if_any};
use crate::value::{Unit, Value, enabled, guid, supported, yes};

pub const PRODUCT: &[Row<()>] = &[
    line("Product Name", "product_name", |asked| {
        asked.gpu.name().map(Value::from)
    }),
    line("Product Brand", "product_brand", |asked| {
        asked
            .gpu
            .brand()
            .and_then(|brand| word(brand, words::BRANDS))
    }),
    line("Product Architecture", "product_architecture", |asked| {
        asked.gpu.architecture().and_then(words::architecture)
    }),
    // NVML dropped the question; R580 answers so without asking.
    line("Display Mode", "display_mode", |_| Err(Missing::DEPRECATED)),
    line("Display Attached", "display_attached", |asked| {
        asked.gpu.display_connected().map(yes)
    }),
    line("Display Active", "display_active", |asked| {
        asked.gpu.display_active().map(enabled)
    }),
    line("Persistence Mode", "persistence_mode", |asked| {
        asked.gpu.persistence().map(enabled)
    }),
    line("Addressing Mode", "addressing_mode", |asked| {
        asked
            .gpu
            .addressing_mode()
            .and_then(|mode| word(mode, &["None", "HMM", "ATS"]))
    }),
    group(
        "vGPU Device Capability",
        "vgpu_device_capability",
        VGPU_CAPABILITIES,
    )
    .on(|asked| asked.gpu.hosts_vgpus()),
];

fn vgpu(asked: &Asked<()>, capability: u32) -> Reading<Value> {
    asked
        .gpu
        .vgpu_capability(capability)
        .map(|can| supported(can != 0))
}

const VGPU_CAPABILITIES: &[Row<()>] = &[
    line("Fractional Multi-vGPU", "fractional_multiVgpu", |asked| {
        vgpu(asked, 0)
    }),
    line(
        "Heterogeneous Time-Slice Profiles",
        "heterogeneous_timeSlice_profile",
        |asked| vgpu(asked, 1),
    ),
    line(
        "Heterogeneous Time-Slice Sizes",
        "heterogeneous_timeSlice_sizes",
        |asked| vgpu(asked, 2),
    ),
    line(
        "Homogeneous Placements",
        "homogeneous_placements",
        |asked| vgpu(asked, 9),
    ),
    line("MIG Time-Slicing", "mig_timeSlicing", |asked| {
        vgpu(asked, 10)
    }),
    line("MIG Time-Slicing Mode", "mig_timeSlicing_mode", |asked| {
        asked.gpu.vgpu_capability(11).map(|mode| enabled(mode != 0))
    }),
];

fn driver_model(asked: &Asked<()>, pick: fn((u32, u32)) -> u32) -> Reading<Value> {
    word(pick(asked.gpu.driver_models()?), &["WDDM", "TCC", "MCDM"])
}

fn operation_mode(asked: &Asked<()>, pick: fn((u32, u32)) -> u32) -> Reading<Value> {
    const MODES: &[&str] = &["All On", "Compute", "Low Double Precision"];
    word(pick(asked.gpu.operation_modes()?), MODES)
}

pub const IDENTITY: &[Row<()>] = &[
    group(
        "Driver Model",
        "driver_model",
        &[
            line("Current", "current_dm", |asked| {
                driver_model(asked, |(current, _)| current)
            }),
            line("Pending", "pending_dm", |asked| {
                driver_model(asked, |(_, pending)| pending)
            }),
        ],
    ),
    line("Serial Number", "serial", |asked| {
        asked.gpu.serial().map(Value::from)
    }),
    line("GPU UUID", "uuid", |asked| {
        asked.gpu.uuid().map(Value::from)
    }),
    line("GPU PDI", "pdi", |asked| {
        asked.gpu.pdi().map(|pdi| format!("{pdi:#x}").into())
    }),
    line("Minor Number", "minor_number", |asked| {
        asked.gpu.minor_number().map(Value::from)
    }),
    line("VBIOS Version", "vbios_version", |asked| {
        asked.gpu.vbios_version().map(Value::from)
    }),
    line("MultiGPU Board", "multigpu_board", |asked| {
        asked.gpu.multi_gpu_board().map(yes)
    }),
    line("Board ID", "board_id", |asked| {
        asked.gpu.board_id().map(|id| format!("{id:#x}").into())
    }),
    line("Board Part Number", "board_part_number", |asked| {
        asked.gpu.board_part_number().map(Value::from)
    }),
    // NVML has no question for the numbers of the chip and of the spare part.
    line("GPU Part Number", "gpu_part_number", not_available),
    line("FRU Part Number", "gpu_fru_part_number", not_available),
    group("Platform Info", "platformInfo", PLATFORM).on(|asked| asked.gpu.architecture().is_ok()),
    group("Inforom Version", "inforom_version", INFOROM),
    group(
        "Inforom BBX Object Flush",
        "inforom_bbx_flush",
        &[
            line("Latest Timestamp", "latest_timestamp", |asked| {
                let (time, _) = black_box_flush(asked)?;
                timestamp(time)
            }),
            number(
                "Latest Duration",
                "latest_duration",
                Unit::Microseconds,
                |asked| black_box_flush(asked).map(|(_, duration)| duration.into()),
            ),
        ],
    ),
    group(
        "GPU Operation Mode",
        "gpu_operation_mode",
        &[
            line("Current", "current_gom", |asked| {
                operation_mode(asked, |(current, _)| current)
            }),
            line("Pending", "pending_gom", |asked| {
                operation_mode(asked, |(_, pending)| pending)
            }),
        ],
    ),
    line("GPU C2C Mode", "c2c_mode", |asked| {
        asked.gpu.c2c().map(enabled)
    }),
    group(
        "GPU Virtualization Mode",
        "gpu_virtualization_mode",
        VIRTUALIZATION,
    ),
    list("", "", &LICENSES),
    line("GPU Recovery Action", "gpu_recovery_action", |asked| {
        const GET_GPU_RECOVERY_ACTION: u32 = 230;
        word(
            asked.gpu.field_number(GET_GPU_RECOVERY_ACTION, 0)? as u32,
            &["None", "Reset", "Reboot", "Drain P2P", "Drain and Reset"],
        )
    }),
];

fn not_available(asked: &Asked<()>) -> Reading<Value> {
    asked.reachable().map(|()| Value::word("N/A"))
}

/// A black box that has not been written yet is "not ready", a box not there
/// "not supported": neither has a time.
fn black_box_flush(asked: &Asked<()>) -> Reading<(u64, u64)> {
    match asked.gpu.black_box_flush() {
        Err(Missing::NOT_READY) => Err(Missing::NotSupported),
        flush => flush,
    }
}

/// Microseconds since 1970 as a local time, to the millisecond.
fn timestamp(microseconds: u64) -> Reading<Value> {
    let time = i64::try_from(microseconds)
        .ok()
        .and_then(|microseconds| Timestamp::from_microsecond(microseconds).ok())
        .ok_or(Missing::UNKNOWN)?;
    Ok(time
        .to_zoned_datetime(clock::zone())
        .strftime("%Y/%m/%d %H:%M:%S%.3f")
        .to_string()
        .into())
}

/// Racks that know their place came with Blackwell: R580 does not ask boards
/// before it, which may answer with nothing in it.
fn platform(asked: &Asked<()>) -> Reading<Platform> {
    match asked.gpu.architecture()? {
        words::BLACKWELL.. => asked.gpu.platform(),
        _ => Err(Missing::NotSupported),
    }
}

const PLATFORM: &[Row<()>] = &[
    line("Chassis Serial Number", "chassis_serial_number", |asked| {
        platform(asked)?.chassis_serial.map(Value::from)
    }),
    line("Slot Number", "slot_number", |asked| {
        platform(asked).map(|place| place.slot.into())
    }),
    line("Tray Index", "tray_index", |asked| {
        platform(asked).map(|place| place.tray.into())
    }),
    line("Host ID", "host_id", |asked| {
        platform(asked).map(|place| place.host.into())
    }),
    line("Peer Type", "peer_type", |asked| {
        word(
            platform(asked)?.peer_type.into(),
            &["Direct Connected", "Switch Connected"],
        )
    }),
    line("Module Id", "module_id", |asked| {
        asked.gpu.module_id().map(Value::from)
    }),
    line("GPU Fabric GUID", "gpu_fabric_guid", |asked| {
        Ok(guid(platform(asked)?.fabric_guid).into())
    }),
];

const INFOROM: &[Row<()>] = &[
    line("Image Version", "img_version", |asked| {
        asked.gpu.inforom_image_version().map(Value::from)
    }),
    line("OEM Object", "oem_object", |asked| {
        asked.gpu.inforom_version(0).map(Value::from)
    }),
    line("ECC Object", "ecc_object", |asked| {
        asked.gpu.inforom_version(1).map(Value::from)
    }),
    line("Power Management Object", "pwr_object", |asked| {
        asked.gpu.inforom_version(2).map(Value::from)
    }),
];

const VIRTUALIZATION: &[Row<()>] = &[
    line("Virtualization Mode", "virtualization_mode", |asked| {
        word(
            asked.gpu.virtualization_mode()?,
            words::VIRTUALIZATION_MODES,
        )
    }),
    line("Host VGPU Mode", "host_vgpu_mode", |asked| {
        word(asked.gpu.host_vgpu_mode()?, &["Non SR-IOV", "SR-IOV"])
    }),
    line(
        "vGPU Heterogeneous Mode",
        "vgpu_heterogeneous_mode",
        |asked| asked.gpu.heterogeneous_vgpus().map(enabled),
    ),
];

/// The licence in use, or the first of those that there could be.
const LICENSES: List<(), License> = List {
    items: |asked| {
        let licenses = match asked.gpu.licenses() {
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
            line("Product Name", "licensed_product_name", |asked| {
                Ok(asked.item.product.clone().into())
            }),
            line("License Status", "license_status", |asked| {
                Ok(license_status(&asked.item).into())
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
    |asked| asked.gpu.gsp_version().map(Value::from),
)];

pub const CAPABILITIES: &[Row<()>] = &[group(
    "Capabilities",
    "capabilities",
    &[line("EGM", "egm", |asked| {
        const EXTENDED_GPU_MEMORY: u32 = 1;
        // R580 says N/A for every failure here; which one is no secret.
        asked.gpu.capabilities().map(|bits| {
            Value::word(match bits & EXTENDED_GPU_MEMORY {
                0 => "disabled",
                _ => "enabled",
            })
        })
    })],
)];
