//! What a device is: names, numbers, versions, PCI, modes.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_ulonglong};

use nvml_wrapper_sys::bindings::*;
use toml::{Table, Value};

use crate::{
    answer::{Answer, INVALID_ARGUMENT, NOT_SUPPORTED, fill_text, put, put_text, put_versioned},
    data,
    machine::Gpu,
};

strings! {
    nvmlDeviceGetName = "name";
    nvmlDeviceGetSerial = "serial";
    nvmlDeviceGetUUID = "uuid";
    nvmlDeviceGetBoardPartNumber = "board_part_number";
    nvmlDeviceGetInforomImageVersion = "inforom.image";
    nvmlDeviceGetVbiosVersion = "vbios_version";
    nvmlDeviceGetPgpuMetadataString = "vgpu.metadata";
}

numbers! {
    nvmlDeviceGetBrand: c_uint = "brand";
    nvmlDeviceGetArchitecture: c_uint = "architecture";
    nvmlDeviceGetModuleId: c_uint = "platform.module_id";
    nvmlDeviceGetBoardId: c_uint = "board_id";
    nvmlDeviceGetMultiGpuBoard: c_uint = "multi_gpu_board";
    nvmlDeviceGetInforomConfigurationChecksum: c_uint = "inforom.checksum";
    nvmlDeviceGetDisplayMode: c_uint = "display.mode";
    nvmlDeviceGetDisplayActive: c_uint = "display.active";
    nvmlDeviceGetPersistenceMode: c_uint = "persistence_mode";
    nvmlDeviceGetComputeMode: c_uint = "compute_mode";
    nvmlDeviceGetVirtualizationMode: c_uint = "virtualization.mode";
    nvmlDeviceGetHostVgpuMode: c_uint = "virtualization.host_vgpu";
    nvmlDeviceGetAccountingMode: c_uint = "accounting.mode";
    nvmlDeviceGetAccountingBufferSize: c_uint = "accounting.buffer_size";
    nvmlDeviceGetDefaultEccMode: c_uint = "ecc.default";
    nvmlDeviceGetNumaNodeId: c_uint = "numa_node";
    nvmlDeviceGetIrqNum: c_uint = "irq";
    nvmlDeviceGetNumGpuCores: c_uint = "cores";
    nvmlDeviceGetMemoryBusWidth: c_uint = "memory.bus_width";
    nvmlDeviceGetPowerSource: c_uint = "power.source";
    nvmlDeviceGetBusType: c_uint = "pci.bus_type";
    nvmlDeviceGetMaxPcieLinkGeneration: c_uint = "pcie.max_generation";
    nvmlDeviceGetGpuMaxPcieLinkGeneration: c_uint = "pcie.gpu_max_generation";
    nvmlDeviceGetCurrPcieLinkGeneration: c_uint = "pcie.generation";
    nvmlDeviceGetMaxPcieLinkWidth: c_uint = "pcie.max_width";
    nvmlDeviceGetCurrPcieLinkWidth: c_uint = "pcie.width";
    nvmlDeviceGetPcieReplayCounter: c_uint = "pcie.replays";
    nvmlDeviceGetPcieLinkMaxSpeed: c_uint = "pcie.max_speed";
    nvmlDeviceGetPcieSpeed: c_uint = "pcie.speed";
    nvmlDeviceGetSupportedEventTypes: c_ulonglong = "event_types";
}

pairs! {
    nvmlDeviceGetEccMode: c_uint = "ecc.current", "ecc.pending";
    nvmlDeviceGetGspFirmwareMode: c_uint = "gsp.mode", "gsp.default";
    nvmlDeviceGetMigMode: c_uint = "mig.current", "mig.pending";
}

structures! {
    nvmlDeviceGetC2cModeInfoV: nvmlC2cModeInfo_v1_t { isC2cEnabled = "c2c" }
}

versioned! {
    nvmlDeviceGetAddressingMode: nvmlDeviceAddressingMode_t { value = "addressing_mode" }
    nvmlDeviceGetPdi: nvmlPdi_t { value = "pdi" }
    nvmlDeviceGetRepairStatus: nvmlRepairStatus_t {
        bChannelRepairPending = "repair.channel_pending",
        bTpcRepairPending = "repair.tpc_pending",
    }
    nvmlDeviceGetCapabilities: nvmlDeviceCapabilities_t { capMask = "capabilities" }
    nvmlDeviceGetVgpuHeterogeneousMode: nvmlVgpuHeterogeneousMode_t { mode = "virtualization.heterogeneous" }
}

/// A mode now and after a restart; either may be null, but not both.
///
/// # Safety
/// Each is null or valid.
unsafe fn modes(gpu: &Gpu, modes: [(*mut c_uint, &str); 2]) -> Answer<()> {
    if modes.iter().all(|(out, _)| out.is_null()) {
        return Err(INVALID_ARGUMENT);
    }
    for (out, key) in modes {
        let mode = gpu.read(key)?;
        if !out.is_null() {
            // SAFETY: by the caller's word.
            unsafe { put(out, mode)? };
        }
    }
    Ok(())
}

device_calls! {
    nvmlDeviceGetDriverModel(gpu, current: *mut c_uint, pending: *mut c_uint) {
        modes(&gpu, [(current, "driver_model.current"), (pending, "driver_model.pending")])
    }

    nvmlDeviceGetDriverModel_v2(gpu, current: *mut c_uint, pending: *mut c_uint) {
        modes(&gpu, [(current, "driver_model.current"), (pending, "driver_model.pending")])
    }

    nvmlDeviceGetGpuOperationMode(gpu, current: *mut c_uint, pending: *mut c_uint) {
        modes(&gpu, [(current, "operation_mode.current"), (pending, "operation_mode.pending")])
    }

    nvmlDeviceGetIndex(gpu, index: *mut c_uint) {
        put(index, gpu.device.mig.unwrap_or(gpu.device.gpu) as c_uint)
    }

    nvmlDeviceGetMinorNumber(gpu, minor: *mut c_uint) {
        put(minor, gpu.read_or("minor_number", gpu.device.gpu as c_uint)?)
    }

    nvmlDeviceGetCudaComputeCapability(gpu, major: *mut c_int, minor: *mut c_int) {
        let capability: String = gpu.read("compute_capability")?;
        let (first, second) = capability.split_once('.').ok_or(NOT_SUPPORTED)?;
        put(major, first.parse().map_err(|_| NOT_SUPPORTED)?)?;
        put(minor, second.parse().map_err(|_| NOT_SUPPORTED)?)
    }

    nvmlDeviceGetInforomVersion(gpu, object: nvmlInforomObject_t, version: *mut c_char, length: c_uint) {
        const OBJECTS: &[&str] = &["oem", "ecc", "power", "den"];
        let object = OBJECTS.get(object as usize).ok_or(INVALID_ARGUMENT)?;
        put_text(version, length, &gpu.read::<String>(&format!("inforom.{object}"))?)
    }

    nvmlDeviceValidateInforom(gpu) { gpu.read::<bool>("inforom.valid").map(|_| ()) }

    nvmlDeviceGetLastBBXFlushTime(gpu, timestamp: *mut c_ulonglong, duration: *mut c_ulong) {
        put(timestamp, gpu.read("bbx_flush.timestamp")?)?;
        put(duration, gpu.read("bbx_flush.duration")?)
    }

    // nvmlBBXTimeData_v1_t is one number.
    nvmlDeviceGetBBXTimeData_v1(gpu, out: *mut c_uint) { put(out, gpu.read("bbx_time.run")?) }

    nvmlDeviceGetGspFirmwareVersion(gpu, version: *mut c_char) {
        put_text(version, NVML_GSP_FIRMWARE_VERSION_BUF_SIZE, &gpu.read::<String>("gsp.version")?)
    }

    // nvmlHostname_v1_t is one array.
    nvmlDeviceGetHostname_v1(gpu, out: *mut c_char) { put_text(out, HOSTNAME_SIZE, &gpu.read::<String>("hostname")?) }

    nvmlDeviceGetGridLicensableFeatures(gpu, out: *mut nvmlGridLicensableFeatures_t) { put(out, licensable(&gpu)?) }
    nvmlDeviceGetGridLicensableFeatures_v2(gpu, out: *mut nvmlGridLicensableFeatures_t) { put(out, licensable(&gpu)?) }
    nvmlDeviceGetGridLicensableFeatures_v3(gpu, out: *mut nvmlGridLicensableFeatures_t) { put(out, licensable(&gpu)?) }
    nvmlDeviceGetGridLicensableFeatures_v4(gpu, out: *mut nvmlGridLicensableFeatures_t) { put(out, licensable(&gpu)?) }

    nvmlDeviceGetPciInfo(gpu, out: *mut nvmlPciInfo_t) { put(out, pci(&gpu)?) }
    nvmlDeviceGetPciInfo_v2(gpu, out: *mut nvmlPciInfo_t) { put(out, pci(&gpu)?) }
    nvmlDeviceGetPciInfo_v3(gpu, out: *mut nvmlPciInfo_t) { put(out, pci(&gpu)?) }

    nvmlDeviceGetPciInfoExt(gpu, out: *mut nvmlPciInfoExt_t) {
        let pci = pci(&gpu)?;
        put_versioned(out, |ext| {
            (ext.domain, ext.bus, ext.device) = (pci.domain, pci.bus, pci.device);
            (ext.pciDeviceId, ext.pciSubSystemId) = (pci.pciDeviceId, pci.pciSubSystemId);
            ext.baseClass = gpu.read("pci.base_class")?;
            ext.subClass = gpu.read("pci.sub_class")?;
            ext.busId = pci.busId;
            Ok(())
        })
    }

    nvmlDeviceGetPcieThroughput(gpu, counter: nvmlPcieUtilCounter_t, value: *mut c_uint) {
        let key = ["pcie.tx", "pcie.rx"].get(counter as usize).ok_or(INVALID_ARGUMENT)?;
        put(value, gpu.read(key)?)
    }

    nvmlDeviceGetBridgeChipInfo(gpu, out: *mut nvmlBridgeChipHierarchy_t) {
        let chip = nvmlBridgeChipInfo_t {
            type_: gpu.read("bridge_chip.type")?,
            fwVersion: gpu.read("bridge_chip.firmware")?,
        };
        put(out, nvmlBridgeChipHierarchy_t { bridgeCount: 1, bridgeChipInfo: [chip; 128] })
    }

    nvmlDeviceGetAPIRestriction(gpu, api: nvmlRestrictedAPI_t, restricted: *mut nvmlEnableState_t) {
        let key = ["restricted.application_clocks", "restricted.auto_boost"].get(api as usize).ok_or(INVALID_ARGUMENT)?;
        put(restricted, gpu.read(key)?)
    }

    nvmlDeviceGetAutoBoostedClocksEnabled(gpu, enabled: *mut nvmlEnableState_t, default: *mut nvmlEnableState_t) {
        put(enabled, gpu.read("auto_boost.enabled")?)?;
        put(default, gpu.read("auto_boost.default")?)
    }

    nvmlDeviceGetPlatformInfo(gpu, out: *mut nvmlPlatformInfo_t) {
        put_versioned(out, |info| {
            info.ibGuid = bytes(&gpu.read::<String>("platform.fabric_guid")?)?;
            // Version 1 has the rack's GUID in the place of the chassis, and else the same members.
            let rack = info.version >> 24 == 1;
            let chassis = if rack { "platform.rack_guid" } else { "platform.chassis_serial" };
            for (to, from) in info.chassisSerialNumber.iter_mut().zip(gpu.read_or(chassis, String::new())?.bytes()) {
                *to = from;
            }
            info.slotNumber = gpu.read("platform.slot")?;
            info.trayIndex = gpu.read("platform.tray")?;
            info.hostId = gpu.read("platform.host_id")?;
            info.peerType = gpu.read("platform.peer_type")?;
            info.moduleId = gpu.read("platform.module_id")?;
            Ok(())
        })
    }

    nvmlDeviceGetGpuFabricInfo(gpu, out: *mut nvmlGpuFabricInfo_t) {
        put(out, nvmlGpuFabricInfo_t {
            clusterUuid: bytes(&gpu.read::<String>("fabric.cluster_uuid")?)?,
            status: gpu.read("fabric.status")?,
            cliqueId: gpu.read("fabric.clique_id")?,
            state: gpu.read("fabric.state")?,
        })
    }

    nvmlDeviceGetGpuFabricInfoV(gpu, out: *mut nvmlGpuFabricInfoV_t) {
        put_versioned(out, |info| {
            info.clusterUuid = bytes(&gpu.read::<String>("fabric.cluster_uuid")?)?;
            info.status = gpu.read("fabric.status")?;
            info.cliqueId = gpu.read("fabric.clique_id")?;
            info.state = gpu.read("fabric.state")?;
            info.healthMask = gpu.read_or("fabric.health_mask", 0)?;
            info.healthSummary = gpu.read_or("fabric.health", 0)?;
            Ok(())
        })
    }

    nvmlDeviceGetDramEncryptionMode(gpu, current: *mut nvmlDramEncryptionInfo_t, pending: *mut nvmlDramEncryptionInfo_t) {
        for (out, key) in [(current, "dram_encryption.current"), (pending, "dram_encryption.pending")] {
            put_versioned(out, |info| { info.encryptionState = gpu.read(key)?; Ok(()) })?;
        }
        Ok(())
    }

    nvmlDeviceGetVgpuCapabilities(gpu, capability: nvmlDeviceVgpuCapability_t, result: *mut c_uint) {
        put(result, gpu.read(&format!("vgpu.capability.{capability}"))?)
    }
}

const HOSTNAME_SIZE: c_uint = 64;

/// vGPU licensing: whether there is any, and rows of `vgpu.licenses`: `product`, `enabled`, `licensed`, and
/// `expiry`, which is year, month, day, hour, minute and second, or the number of another state of it.
fn licensable(gpu: &Gpu) -> Answer<nvmlGridLicensableFeatures_t> {
    let supported = gpu.read("vgpu.licensable")?;
    let licenses: Vec<Table> = gpu.read_or("vgpu.licenses", Vec::new())?;
    // SAFETY: plain data, for which zero is a value.
    let mut features = unsafe { std::mem::zeroed::<nvmlGridLicensableFeatures_t>() };
    features.isGridLicenseSupported = supported;
    for (license, feature) in licenses.iter().zip(&mut features.gridLicensableFeatures) {
        features.licensableFeaturesCount += 1;
        let product: String = data::read(license.get("product"))?;
        fill_text(&mut feature.productName, &product);
        feature.featureState = data::read(license.get("licensed"))?;
        feature.featureEnabled = data::read(license.get("enabled"))?;
        feature.licenseExpiry = expiry(license.get("expiry"))?;
    }
    Ok(features)
}

fn expiry(value: Option<&Value>) -> Answer<nvmlGridLicenseExpiry_t> {
    const VALID: u8 = 2;
    // SAFETY: plain data, for which zero is a value.
    let none = unsafe { std::mem::zeroed::<nvmlGridLicenseExpiry_t>() };
    let Some(Value::Array(_)) = value else {
        let status = data::read(value)?;
        return Ok(nvmlGridLicenseExpiry_t { status, ..none });
    };
    let date: Vec<u32> = data::read(value)?;
    let [year, month, day, hour, min, sec] = date[..] else {
        return Err(NOT_SUPPORTED);
    };
    let [month, day, hour, min, sec] = [month, day, hour, min, sec].map(|part| part as u16);
    Ok(nvmlGridLicenseExpiry_t {
        year,
        month,
        day,
        hour,
        min,
        sec,
        status: VALID,
    })
}

/// The PCI identity, from the bus id `domain:bus:device.function` and the ids.
pub fn pci(gpu: &Gpu) -> Answer<nvmlPciInfo_t> {
    let id: String = gpu.read("pci.bus_id")?;
    let mut numbers = id
        .split([':', '.'])
        // What a terminal should not get is no part of a number.
        .map(|part| u32::from_str_radix(&part.replace(char::is_control, ""), 16));
    let mut next = || numbers.next().and_then(Result::ok).ok_or(NOT_SUPPORTED);
    let (domain, bus, device) = (next()?, next()?, next()?);
    let mut info = nvmlPciInfo_t {
        busIdLegacy: [0; 16],
        domain,
        bus,
        device,
        pciDeviceId: gpu.read_or("pci.device_id", 0)?,
        pciSubSystemId: gpu.read_or("pci.subsystem_id", 0)?,
        busId: [0; 32],
    };
    fill_text(
        &mut info.busIdLegacy,
        &format!("{domain:04X}:{bus:02X}:{device:02X}.0"),
    );
    fill_text(&mut info.busId, &id);
    Ok(info)
}

/// The bytes of a hexadecimal text, dashes aside.
fn bytes<const N: usize>(hex: &str) -> Answer<[u8; N]> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = pair.iter().fold(0, |byte, digit| byte << 4 | *digit as u8);
    }
    Ok(bytes)
}
