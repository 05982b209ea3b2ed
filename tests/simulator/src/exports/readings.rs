//! What a device measures: clocks, temperature, power, memory, load, errors.

use std::ffi::{c_int, c_uint, c_ulonglong};

use nvml_wrapper_sys::bindings::*;

use crate::{
    answer::{Answer, INVALID_ARGUMENT, put, put_versioned},
    machine::Gpu,
};

numbers! {
    nvmlDeviceGetFanSpeed: c_uint = "fan.speed";
    nvmlDeviceGetNumFans: c_uint = "fan.count";
    nvmlDeviceGetPerformanceState: c_uint = "performance_state";
    nvmlDeviceGetPowerState: c_uint = "performance_state";
    nvmlDeviceGetCurrentClocksEventReasons: c_ulonglong = "event_reasons.active";
    nvmlDeviceGetCurrentClocksThrottleReasons: c_ulonglong = "event_reasons.active";
    nvmlDeviceGetSupportedClocksEventReasons: c_ulonglong = "event_reasons.supported";
    nvmlDeviceGetSupportedClocksThrottleReasons: c_ulonglong = "event_reasons.supported";
    nvmlDeviceGetPowerManagementMode: c_uint = "power.management";
    nvmlDeviceGetPowerManagementLimit: c_uint = "power.limit";
    nvmlDeviceGetPowerManagementDefaultLimit: c_uint = "power.default_limit";
    nvmlDeviceGetEnforcedPowerLimit: c_uint = "power.enforced_limit";
    nvmlDeviceGetPowerUsage: c_uint = "power.usage";
    nvmlDeviceGetTotalEnergyConsumption: c_ulonglong = "power.energy";
    nvmlDeviceGetGpcClkVfOffset: c_int = "clocks.graphics_offset";
    nvmlDeviceGetMemClkVfOffset: c_int = "clocks.memory_offset";
    nvmlDeviceGetAdaptiveClockInfoStatus: c_uint = "clocks.adaptive";
    nvmlDeviceGetRetiredPagesPendingStatus: c_uint = "retired_pages.pending";
}

pairs! {
    nvmlDeviceGetPowerManagementLimitConstraints: c_uint = "power.min_limit", "power.max_limit";
    nvmlDeviceGetMinMaxFanSpeed: c_uint = "fan.min_speed", "fan.max_speed";
    nvmlDeviceGetEncoderUtilization: c_uint = "utilization.encoder", "utilization.period";
    nvmlDeviceGetDecoderUtilization: c_uint = "utilization.decoder", "utilization.period";
    nvmlDeviceGetJpgUtilization: c_uint = "utilization.jpeg", "utilization.period";
    nvmlDeviceGetOfaUtilization: c_uint = "utilization.ofa", "utilization.period";
}

structures! {
    nvmlDeviceGetUtilizationRates: nvmlUtilization_t { gpu = "utilization.gpu", memory = "utilization.memory" }
    nvmlDeviceGetBAR1MemoryInfo: nvmlBAR1Memory_t { bar1Total = "bar1.total", bar1Free = "bar1.free", bar1Used = "bar1.used" }
    nvmlDeviceGetConfComputeProtectedMemoryUsage: nvmlMemory_t {
        total = "protected_memory.total", free = "protected_memory.free", used = "protected_memory.used",
    }
    nvmlDeviceGetConfComputeMemSizeInfo: nvmlConfComputeMemSizeInfo_t {
        protectedMemSizeKib = "protected_memory.protected_kib", unprotectedMemSizeKib = "protected_memory.unprotected_kib",
    }
    nvmlDeviceGetFBCStats: nvmlFBCStats_t {
        sessionsCount = "fbc.sessions", averageFPS = "fbc.average_fps", averageLatency = "fbc.average_latency",
    }
    nvmlDeviceGetRowRemapperHistogram: nvmlRowRemapperHistogramValues_t {
        max = "remapped_rows.histogram.max", high = "remapped_rows.histogram.high", partial = "remapped_rows.histogram.partial",
        low = "remapped_rows.histogram.low", none = "remapped_rows.histogram.none",
    }
}

versioned! {
    nvmlDeviceGetMemoryInfo_v2: nvmlMemory_v2_t {
        total = "memory.total", reserved = "memory.reserved", free = "memory.free", used = "memory.used",
    }
    nvmlDeviceGetMarginTemperature: nvmlMarginTemperature_t { marginTemperature = "temperature.margin" }
    nvmlDeviceGetFanSpeedRPM: nvmlFanSpeedInfo_t { speed = "fan.rpm" }
    nvmlDeviceGetSramEccErrorStatus: nvmlEccSramErrorStatus_t {
        aggregateUncParity = "ecc.sram.aggregate.parity",
        aggregateUncSecDed = "ecc.sram.aggregate.secded",
        aggregateCor = "ecc.sram.aggregate.corrected",
        volatileUncParity = "ecc.sram.volatile.parity",
        volatileUncSecDed = "ecc.sram.volatile.secded",
        volatileCor = "ecc.sram.volatile.corrected",
        aggregateUncBucketL2 = "ecc.sram.source.l2",
        aggregateUncBucketSm = "ecc.sram.source.sm",
        aggregateUncBucketPcie = "ecc.sram.source.pcie",
        aggregateUncBucketMcu = "ecc.sram.source.mcu",
        aggregateUncBucketOther = "ecc.sram.source.other",
        bThresholdExceeded = "ecc.sram.threshold_exceeded",
    }
}

/// nvmlRemappedRowsInfo_v2_t, which the bindings lack.
#[repr(C)]
pub struct RemappedRows {
    corrected: c_uint,
    corrected_inactive: c_uint,
    uncorrected: c_uint,
    uncorrected_inactive: c_uint,
    pending: c_uint,
    failure: c_uint,
}

/// NVML's enumerations as the words of box files, in NVML's order.
const CLOCKS: &[&str] = &["graphics", "sm", "memory", "video"];
const CLOCK_IDS: &[&str] = &[
    "current",
    "application",
    "default_application",
    "customer_boost",
];
const THRESHOLDS: &[&str] = &[
    "shutdown",
    "slowdown",
    "memory_max",
    "gpu_max",
    "acoustic_min",
    "acoustic_current",
    "acoustic_max",
    "gps_current",
];
const ERRORS: &[&str] = &["corrected", "uncorrected"];
const COUNTERS: &[&str] = &["volatile", "aggregate"];
const LOCATIONS: &[&str] = &[
    "l1_cache",
    "l2_cache",
    "dram",
    "register_file",
    "texture_memory",
    "texture_shm",
    "cbu",
    "sram",
];
const POLICIES: &[&str] = &[
    "power",
    "thermal",
    "sync_boost",
    "board_limit",
    "low_utilization",
    "reliability",
];

fn word(words: &[&'static str], place: c_uint) -> Answer<&'static str> {
    words.get(place as usize).copied().ok_or(INVALID_ARGUMENT)
}

fn clock(gpu: &Gpu, id: c_uint, kind: c_uint) -> Answer<c_uint> {
    gpu.read(&format!(
        "clocks.{}.{}",
        word(CLOCK_IDS, id)?,
        word(CLOCKS, kind)?
    ))
}

device_calls! {
    // The first version counts what the driver reserves as used.
    nvmlDeviceGetMemoryInfo(gpu, out: *mut nvmlMemory_t) {
        let (total, free): (u64, u64) = (gpu.read("memory.total")?, gpu.read("memory.free")?);
        put(out, nvmlMemory_t { total, free, used: total.saturating_sub(free) })
    }

    nvmlDeviceGetClockInfo(gpu, kind: nvmlClockType_t, out: *mut c_uint) {
        put(out, clock(&gpu, nvmlClockId_enum_NVML_CLOCK_ID_CURRENT, kind)?)
    }
    nvmlDeviceGetMaxClockInfo(gpu, kind: nvmlClockType_t, out: *mut c_uint) {
        put(out, gpu.read(&format!("clocks.max.{}", word(CLOCKS, kind)?))?)
    }
    nvmlDeviceGetApplicationsClock(gpu, kind: nvmlClockType_t, out: *mut c_uint) {
        put(out, clock(&gpu, nvmlClockId_enum_NVML_CLOCK_ID_APP_CLOCK_TARGET, kind)?)
    }
    nvmlDeviceGetDefaultApplicationsClock(gpu, kind: nvmlClockType_t, out: *mut c_uint) {
        put(out, clock(&gpu, nvmlClockId_enum_NVML_CLOCK_ID_APP_CLOCK_DEFAULT, kind)?)
    }
    nvmlDeviceGetMaxCustomerBoostClock(gpu, kind: nvmlClockType_t, out: *mut c_uint) {
        put(out, clock(&gpu, nvmlClockId_enum_NVML_CLOCK_ID_CUSTOMER_BOOST_MAX, kind)?)
    }
    nvmlDeviceGetClock(gpu, kind: nvmlClockType_t, id: nvmlClockId_t, out: *mut c_uint) {
        put(out, clock(&gpu, id, kind)?)
    }

    nvmlDeviceGetTemperature(gpu, sensor: nvmlTemperatureSensors_t, out: *mut c_uint) {
        put(out, gpu.read(sensor_key(sensor)?)?)
    }
    nvmlDeviceGetTemperatureV(gpu, out: *mut nvmlTemperature_t) {
        put_versioned(out, |reading| {
            reading.temperature = gpu.read(sensor_key(reading.sensorType)?)?;
            Ok(())
        })
    }
    nvmlDeviceGetTemperatureThreshold(gpu, threshold: nvmlTemperatureThresholds_t, out: *mut c_uint) {
        put(out, gpu.read(&format!("temperature.threshold.{}", word(THRESHOLDS, threshold)?))?)
    }

    nvmlDeviceGetFanSpeed_v2(gpu, fan: c_uint, out: *mut c_uint) {
        if fan >= gpu.read("fan.count")? { return Err(INVALID_ARGUMENT) }
        put(out, gpu.read("fan.speed")?)
    }
    nvmlDeviceGetTargetFanSpeed(gpu, fan: c_uint, out: *mut c_uint) {
        if fan >= gpu.read("fan.count")? { return Err(INVALID_ARGUMENT) }
        put(out, gpu.read("fan.target_speed")?)
    }
    nvmlDeviceGetFanControlPolicy_v2(gpu, fan: c_uint, out: *mut nvmlFanControlPolicy_t) {
        if fan >= gpu.read("fan.count")? { return Err(INVALID_ARGUMENT) }
        put(out, gpu.read("fan.policy")?)
    }

    nvmlDeviceGetEncoderStats(gpu, sessions: *mut c_uint, fps: *mut c_uint, latency: *mut c_uint) {
        put(sessions, gpu.read("encoder.sessions")?)?;
        put(fps, gpu.read("encoder.average_fps")?)?;
        put(latency, gpu.read("encoder.average_latency")?)
    }
    nvmlDeviceGetEncoderCapacity(gpu, kind: nvmlEncoderType_t, out: *mut c_uint) {
        put(out, gpu.read(&format!("encoder.capacity.{kind}"))?)
    }

    nvmlDeviceGetTotalEccErrors(gpu, error: nvmlMemoryErrorType_t, counter: nvmlEccCounterType_t, out: *mut c_ulonglong) {
        put(out, gpu.read(&format!("ecc.{}.{}.total", word(ERRORS, error)?, word(COUNTERS, counter)?))?)
    }
    nvmlDeviceGetMemoryErrorCounter(
        gpu, error: nvmlMemoryErrorType_t, counter: nvmlEccCounterType_t, location: nvmlMemoryLocation_t, out: *mut c_ulonglong,
    ) {
        let (error, counter, location) = (word(ERRORS, error)?, word(COUNTERS, counter)?, word(LOCATIONS, location)?);
        put(out, gpu.read(&format!("ecc.{error}.{counter}.{location}"))?)
    }
    nvmlDeviceGetDetailedEccErrors(
        gpu, error: nvmlMemoryErrorType_t, counter: nvmlEccCounterType_t, out: *mut nvmlEccErrorCounts_t,
    ) {
        let group = format!("ecc.{}.{}", word(ERRORS, error)?, word(COUNTERS, counter)?);
        let count = |location: &str| gpu.read(&format!("{group}.{location}"));
        put(out, nvmlEccErrorCounts_t {
            l1Cache: count("l1_cache")?,
            l2Cache: count("l2_cache")?,
            deviceMemory: count("dram")?,
            registerFile: count("register_file")?,
        })
    }

    nvmlDeviceGetRemappedRows(
        gpu, corrected: *mut c_uint, uncorrected: *mut c_uint, pending: *mut c_uint, failure: *mut c_uint,
    ) {
        put(corrected, gpu.read("remapped_rows.corrected")?)?;
        put(uncorrected, gpu.read("remapped_rows.uncorrected")?)?;
        put(pending, gpu.read("remapped_rows.pending")?)?;
        put(failure, gpu.read("remapped_rows.failure")?)
    }

    nvmlDeviceGetRemappedRows_v2(gpu, out: *mut RemappedRows) {
        put(out, RemappedRows {
            corrected: gpu.read("remapped_rows.corrected")?,
            corrected_inactive: gpu.read("remapped_rows.corrected_inactive")?,
            uncorrected: gpu.read("remapped_rows.uncorrected")?,
            uncorrected_inactive: gpu.read("remapped_rows.uncorrected_inactive")?,
            pending: gpu.read("remapped_rows.pending")?,
            failure: gpu.read("remapped_rows.failure")?,
        })
    }
    nvmlDeviceGetUnrepairableMemoryFlag_v1(gpu, out: *mut c_uint) { put(out, gpu.read("repair.unrepairable_memory")?) }

    nvmlDeviceGetViolationStatus(gpu, policy: nvmlPerfPolicyType_t, out: *mut nvmlViolationTime_t) {
        let policy = match policy {
            10 => "total_application_clocks",
            11 => "total_base_clocks",
            _ => word(POLICIES, policy)?,
        };
        put(out, nvmlViolationTime_t {
            referenceTime: super::lists::now_us(),
            violationTime: gpu.read(&format!("violations.{policy}"))?,
        })
    }
}

/// The only sensor that NVML names is the GPU's.
fn sensor_key(sensor: c_uint) -> Answer<&'static str> {
    if sensor == nvmlTemperatureSensors_enum_NVML_TEMPERATURE_GPU {
        Ok("temperature.gpu")
    } else {
        Err(INVALID_ARGUMENT)
    }
}
