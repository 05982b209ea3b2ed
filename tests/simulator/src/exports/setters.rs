//! Functions that change a device. A board lists under `settable` the keys that it lets be changed;
//! for any other the answer is NOT_SUPPORTED.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong};

use nvml_wrapper_sys::bindings::*;
use toml::Value;

use crate::{
    answer::{Answer, INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, SUCCESS, put},
    machine::{Gpu, Machine},
};

/// Full, off, least, half, three quarters.
const LAST_BANDWIDTH_MODE: c_uint = 4;

/// Whether the board lets a key be changed.
pub fn settable(gpu: &Gpu, key: &str) -> Answer {
    let keys: Vec<String> = gpu.read_or("settable", Vec::new())?;
    if keys.iter().any(|known| known == key) {
        Ok(())
    } else {
        Err(NOT_SUPPORTED)
    }
}

/// Stores a value under a key that the board lets be changed.
pub fn set(gpu: &Gpu, key: &str, value: impl Into<Value>) -> Answer {
    settable(gpu, key)?;
    gpu.store(key, value)
}

/// An nvmlEnableState_t.
fn state(value: c_uint) -> Answer<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(INVALID_ARGUMENT),
    }
}

fn set_limit(gpu: &Gpu, milliwatts: c_uint) -> Answer {
    let (min, max): (c_uint, c_uint) = (gpu.read("power.min_limit")?, gpu.read("power.max_limit")?);
    if !(min..=max).contains(&milliwatts) {
        return Err(INVALID_ARGUMENT);
    }
    set(gpu, "power.limit", i64::from(milliwatts))?;
    gpu.store("power.enforced_limit", i64::from(milliwatts))
}

/// The GPU at a PCI place, for the functions that name one by it.
///
/// # Safety
/// `pci` is null or valid.
unsafe fn at_place(machine: &'static Machine, pci: *const nvmlPciInfo_t) -> Answer<Gpu> {
    if pci.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: not null, and valid by the caller's word.
    let wanted = unsafe { ((*pci).domain, (*pci).bus, (*pci).device) };
    let here = |gpu: &Gpu| {
        super::device::pci(gpu).is_ok_and(|pci| (pci.domain, pci.bus, pci.device) == wanted)
    };
    machine.gpus().find(here).ok_or(NOT_FOUND)
}

system_calls! {
    nvmlDeviceQueryDrainState(machine, pci: *mut nvmlPciInfo_t, current: *mut nvmlEnableState_t) {
        put(current, at_place(machine, pci)?.read_or("draining", 0)?)
    }
    nvmlSystemSetNvlinkBwMode(machine, mode: c_uint) {
        if mode > LAST_BANDWIDTH_MODE { return Err(INVALID_ARGUMENT) }
        machine.read::<c_uint>("nvlink.bandwidth_mode")?;
        machine.store("nvlink.bandwidth_mode", i64::from(mode))
    }
    nvmlDeviceModifyDrainState(machine, pci: *mut nvmlPciInfo_t, new: nvmlEnableState_t) {
        set(&at_place(machine, pci)?, "draining", state(new)?)
    }
}

device_calls! {
    nvmlDeviceSetPersistenceMode(gpu, mode: nvmlEnableState_t) { set(&gpu, "persistence_mode", state(mode)?) }
    nvmlDeviceSetAccountingMode(gpu, mode: nvmlEnableState_t) { set(&gpu, "accounting.mode", state(mode)?) }
    nvmlDeviceClearAccountingPids(gpu) {
        set(&gpu, "accounting.processes", Value::Array(Vec::new()))
    }
    nvmlDeviceSetComputeMode(gpu, mode: nvmlComputeMode_t) {
        if mode >= nvmlComputeMode_enum_NVML_COMPUTEMODE_COUNT { return Err(INVALID_ARGUMENT) }
        set(&gpu, "compute_mode", i64::from(mode))
    }
    nvmlDeviceSetEccMode(gpu, mode: nvmlEnableState_t) { set(&gpu, "ecc.pending", state(mode)?) }
    nvmlDeviceClearEccErrorCounts(gpu, counter: nvmlEccCounterType_t) {
        let counter = ["volatile", "aggregate"].get(counter as usize).ok_or(INVALID_ARGUMENT)?;
        settable(&gpu, "ecc.errors")?;
        for group in ["ecc.corrected", "ecc.uncorrected", "ecc.sram"] {
            for place in gpu.keys(&format!("{group}.{counter}")) {
                gpu.store(&format!("{group}.{counter}.{place}"), 0)?;
            }
        }
        Ok(())
    }
    nvmlDeviceSetPowerManagementLimit(gpu, milliwatts: c_uint) { set_limit(&gpu, milliwatts) }
    nvmlDeviceSetPowerManagementLimit_v2(gpu, value: *mut nvmlPowerValue_v2_t) {
        if value.is_null() { return Err(INVALID_ARGUMENT) }
        if u32::from((*value).powerScope) != NVML_POWER_SCOPE_GPU { return Err(NOT_SUPPORTED) }
        set_limit(&gpu, (*value).powerValueMw)
    }
    nvmlDeviceSetMigMode(gpu, mode: c_uint, activation: *mut nvmlReturn_t) {
        settable(&gpu, "mig.current")?;
        gpu.store("mig.pending", state(mode)?)?;
        match gpu.read_or("mig.activation", true) {
            Ok(_) => gpu.store("mig.current", state(mode)?).and_then(|()| put(activation, SUCCESS)),
            // The mode waits for a reset; this is why.
            Err(code) => put(activation, code),
        }
    }
    nvmlDeviceSetApplicationsClocks(gpu, memory: c_uint, graphics: c_uint) {
        set(&gpu, "clocks.application.memory", i64::from(memory))?;
        gpu.store("clocks.application.graphics", i64::from(graphics))
    }
    nvmlDeviceResetApplicationsClocks(gpu) {
        let default: i64 = gpu.read("clocks.default_application.memory")?;
        set(&gpu, "clocks.application.memory", default)?;
        gpu.store("clocks.application.graphics", gpu.read::<i64>("clocks.default_application.graphics")?)
    }
    nvmlDeviceSetGpuLockedClocks(gpu, min: c_uint, max: c_uint) {
        set(&gpu, "clocks.locked.graphics", Value::from(vec![i64::from(min), i64::from(max)]))
    }
    nvmlDeviceResetGpuLockedClocks(gpu) { set(&gpu, "clocks.locked.graphics", Value::Array(Vec::new())) }
    nvmlDeviceSetMemoryLockedClocks(gpu, min: c_uint, max: c_uint) {
        set(&gpu, "clocks.locked.memory", Value::from(vec![i64::from(min), i64::from(max)]))
    }
    nvmlDeviceResetMemoryLockedClocks(gpu) { set(&gpu, "clocks.locked.memory", Value::Array(Vec::new())) }
    nvmlDeviceSetGpuOperationMode(gpu, mode: nvmlGpuOperationMode_t) {
        set(&gpu, "operation_mode.pending", i64::from(mode))
    }
    nvmlDeviceSetAutoBoostedClocksEnabled(gpu, enabled: nvmlEnableState_t) { set(&gpu, "auto_boost.enabled", state(enabled)?) }
    nvmlDeviceSetDefaultAutoBoostedClocksEnabled(gpu, enabled: nvmlEnableState_t, _flags: c_uint) {
        set(&gpu, "auto_boost.default", state(enabled)?)
    }
    nvmlDeviceSetAPIRestriction(gpu, api: nvmlRestrictedAPI_t, restricted: nvmlEnableState_t) {
        let key = ["restricted.application_clocks", "restricted.auto_boost"].get(api as usize).ok_or(INVALID_ARGUMENT)?;
        set(&gpu, key, state(restricted)?)
    }
    nvmlDeviceSetTemperatureThreshold(gpu, threshold: nvmlTemperatureThresholds_t, value: *mut c_int) {
        if value.is_null() { return Err(INVALID_ARGUMENT) }
        if threshold != nvmlTemperatureThresholds_enum_NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR { return Err(NOT_SUPPORTED) }
        set(&gpu, "temperature.threshold.acoustic_current", i64::from(value.read()))
    }
    nvmlDeviceSetGpcClkVfOffset(gpu, offset: c_int) { set(&gpu, "clocks.graphics_offset", i64::from(offset)) }
    nvmlDeviceSetMemClkVfOffset(gpu, offset: c_int) { set(&gpu, "clocks.memory_offset", i64::from(offset)) }
    nvmlDeviceSetVirtualizationMode(gpu, mode: nvmlGpuVirtualizationMode_t) {
        settable(&gpu, "virtualization.mode")?;
        // Those of a host; the others are what a guest finds.
        if ![nvmlGpuVirtualizationMode_NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU,
            nvmlGpuVirtualizationMode_NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA].contains(&mode) { return Err(INVALID_ARGUMENT) }
        set(&gpu, "virtualization.mode", i64::from(mode))
    }
    nvmlDeviceSetDramEncryptionMode(gpu, info: *const nvmlDramEncryptionInfo_t) {
        if info.is_null() { return Err(INVALID_ARGUMENT) }
        set(&gpu, "dram_encryption.pending", state((*info).encryptionState)?)
    }
    // nvmlHostname_v1_t is one array, its text NUL-ended.
    nvmlDeviceSetHostname_v1(gpu, name: *const c_char) {
        if name.is_null() { return Err(INVALID_ARGUMENT) }
        set(&gpu, "hostname", CStr::from_ptr(name).to_string_lossy().into_owned())
    }
    nvmlDeviceSetConfComputeUnprotectedMemSize(gpu, kibibytes: c_ulonglong) {
        set(&gpu, "protected_memory.unprotected_kib", kibibytes as i64)
    }
    nvmlGpmSetStreamingEnabled(gpu, enabled: c_uint) { set(&gpu, "gpm.streaming", state(enabled)?) }
}
