//! nvmlDeviceGetFieldValues: a table of the fields that have a key of their own; a box can answer any
//! other by its number, under `field`.

use std::ffi::{c_int, c_uint};

use nvml_wrapper_sys::bindings::{field_id::*, *};

use super::{nvlink::is_inactive, setters::settable};
use crate::{
    answer::{Answer, INVALID_ARGUMENT, NOT_SUPPORTED},
    data::Fraction,
    gate,
    machine::Gpu,
};

#[derive(Clone, Copy)]
enum Kind {
    Uint,
    Int,
    Ullong,
}
use Kind::{Int, Uint, Ullong};

/// Fields whose numbers the 580 branch changed, after the bindings were made.
const SW_THERMAL_SLOWDOWN: c_uint = 269;
const HW_THERMAL_SLOWDOWN: c_uint = 270;
const HW_POWER_BRAKE_SLOWDOWN: c_uint = 271;

/// Field id, key, value type. A `{scope}` in a key is the scope of the question: a link, or
/// `SCOPES` for the powers.
const FIELDS: &[(c_uint, &str, Kind)] = &[
    (NVML_FI_DEV_ECC_CURRENT, "ecc.current", Uint),
    (NVML_FI_DEV_ECC_PENDING, "ecc.pending", Uint),
    (
        NVML_FI_DEV_ECC_SBE_VOL_TOTAL,
        "ecc.corrected.volatile.total",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_VOL_TOTAL,
        "ecc.uncorrected.volatile.total",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_AGG_TOTAL,
        "ecc.corrected.aggregate.total",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_AGG_TOTAL,
        "ecc.uncorrected.aggregate.total",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_VOL_L1,
        "ecc.corrected.volatile.l1_cache",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_VOL_L1,
        "ecc.uncorrected.volatile.l1_cache",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_VOL_L2,
        "ecc.corrected.volatile.l2_cache",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_VOL_L2,
        "ecc.uncorrected.volatile.l2_cache",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_VOL_DEV,
        "ecc.corrected.volatile.dram",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_VOL_DEV,
        "ecc.uncorrected.volatile.dram",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_VOL_REG,
        "ecc.corrected.volatile.register_file",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_VOL_REG,
        "ecc.uncorrected.volatile.register_file",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_VOL_TEX,
        "ecc.corrected.volatile.texture_memory",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_VOL_TEX,
        "ecc.uncorrected.volatile.texture_memory",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_VOL_CBU,
        "ecc.uncorrected.volatile.cbu",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_AGG_L1,
        "ecc.corrected.aggregate.l1_cache",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_AGG_L1,
        "ecc.uncorrected.aggregate.l1_cache",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_AGG_L2,
        "ecc.corrected.aggregate.l2_cache",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_AGG_L2,
        "ecc.uncorrected.aggregate.l2_cache",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_AGG_DEV,
        "ecc.corrected.aggregate.dram",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_AGG_DEV,
        "ecc.uncorrected.aggregate.dram",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_AGG_REG,
        "ecc.corrected.aggregate.register_file",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_AGG_REG,
        "ecc.uncorrected.aggregate.register_file",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_SBE_AGG_TEX,
        "ecc.corrected.aggregate.texture_memory",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_AGG_TEX,
        "ecc.uncorrected.aggregate.texture_memory",
        Ullong,
    ),
    (
        NVML_FI_DEV_ECC_DBE_AGG_CBU,
        "ecc.uncorrected.aggregate.cbu",
        Ullong,
    ),
    (NVML_FI_DEV_RETIRED_PENDING, "retired_pages.pending", Uint),
    (NVML_FI_DEV_REMAPPED_COR, "remapped_rows.corrected", Uint),
    (NVML_FI_DEV_REMAPPED_UNC, "remapped_rows.uncorrected", Uint),
    (NVML_FI_DEV_REMAPPED_PENDING, "remapped_rows.pending", Uint),
    (NVML_FI_DEV_REMAPPED_FAILURE, "remapped_rows.failure", Uint),
    (
        NVML_FI_DEV_PERF_POLICY_POWER,
        "event_counters.sw_power_cap",
        Ullong,
    ),
    (
        NVML_FI_DEV_PERF_POLICY_SYNC_BOOST,
        "event_counters.sync_boost",
        Ullong,
    ),
    (
        NVML_FI_DEV_PERF_POLICY_THERMAL,
        "violations.thermal",
        Ullong,
    ),
    (
        SW_THERMAL_SLOWDOWN,
        "event_counters.sw_thermal_slowdown",
        Ullong,
    ),
    (
        HW_THERMAL_SLOWDOWN,
        "event_counters.hw_thermal_slowdown",
        Ullong,
    ),
    (
        HW_POWER_BRAKE_SLOWDOWN,
        "event_counters.hw_power_brake_slowdown",
        Ullong,
    ),
    (NVML_FI_DEV_MEMORY_TEMP, "temperature.memory", Uint),
    (
        NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT,
        "temperature.tlimit.shutdown",
        Int,
    ),
    (
        NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT,
        "temperature.tlimit.slowdown",
        Int,
    ),
    (
        NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT,
        "temperature.tlimit.memory_max",
        Int,
    ),
    (
        NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT,
        "temperature.tlimit.gpu_max",
        Int,
    ),
    (NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION, "power.energy", Ullong),
    (NVML_FI_DEV_PCIE_REPLAY_COUNTER, "pcie.replays", Uint),
    (
        NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER,
        "pcie.replay_rollovers",
        Uint,
    ),
    (
        NVML_FI_DEV_PCIE_OUTBOUND_ATOMICS_MASK,
        "pcie.outbound_atomics",
        Uint,
    ),
    (
        NVML_FI_DEV_PCIE_INBOUND_ATOMICS_MASK,
        "pcie.inbound_atomics",
        Uint,
    ),
    (NVML_FI_DEV_POWER_AVERAGE, "{scope}.average", Uint),
    (NVML_FI_DEV_POWER_INSTANT, "{scope}.instant", Uint),
    (NVML_FI_DEV_POWER_MIN_LIMIT, "{scope}.min_limit", Uint),
    (NVML_FI_DEV_POWER_MAX_LIMIT, "{scope}.max_limit", Uint),
    (
        NVML_FI_DEV_POWER_DEFAULT_LIMIT,
        "{scope}.default_limit",
        Uint,
    ),
    (
        NVML_FI_DEV_POWER_CURRENT_LIMIT,
        "{scope}.enforced_limit",
        Uint,
    ),
    (NVML_FI_DEV_POWER_REQUESTED_LIMIT, "{scope}.limit", Uint),
    (NVML_FI_DEV_RESET_STATUS, "recovery.reset_required", Uint),
    (
        NVML_FI_DEV_DRAIN_AND_RESET_STATUS,
        "recovery.drain_and_reset_recommended",
        Uint,
    ),
    (NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, "recovery.action", Uint),
    (
        NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED,
        "mig.resetless",
        Uint,
    ),
    (NVML_FI_DEV_NVLINK_LINK_COUNT, "nvlink.links", Uint),
    (
        NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT,
        "nvlink.switch_links",
        Uint,
    ),
    (NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON, "nvlink.speed", Uint),
    (NVML_FI_DEV_NVLINK_GET_SPEED, "nvlink.speed", Uint),
    (NVML_FI_DEV_NVLINK_GET_STATE, "nvlink.active", Uint),
    (NVML_FI_DEV_NVLINK_GET_VERSION, "nvlink.version", Uint),
    (
        NVML_FI_DEV_NVLINK_GET_POWER_STATE,
        "nvlink.power_state",
        Uint,
    ),
    (
        NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD,
        "nvlink.power_threshold",
        Uint,
    ),
    (
        NVML_FI_DEV_NVLINK_REMOTE_NVLINK_ID,
        "nvlink.remote.link",
        Uint,
    ),
    (
        NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY,
        "nvlink.errors.replay",
        Ullong,
    ),
    (
        NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY,
        "nvlink.errors.recovery",
        Ullong,
    ),
    (NVML_FI_DEV_NVLINK_ERROR_DL_CRC, "nvlink.errors.crc", Ullong),
    (
        NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX,
        "nvlink.throughput.data_tx",
        Ullong,
    ),
    (
        NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX,
        "nvlink.throughput.data_rx",
        Ullong,
    ),
    (
        NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX,
        "nvlink.throughput.raw_tx",
        Ullong,
    ),
    (
        NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX,
        "nvlink.throughput.raw_rx",
        Ullong,
    ),
    (NVML_FI_DEV_C2C_LINK_COUNT, "c2c_links.count", Uint),
    (NVML_FI_DEV_C2C_LINK_GET_STATUS, "c2c_links.status", Uint),
    (
        NVML_FI_DEV_C2C_LINK_GET_MAX_BW,
        "c2c_links.max_bandwidth",
        Uint,
    ),
    (
        NVML_FI_DEV_C2C_LINK_ERROR_INTR,
        "c2c_links.errors.interrupt",
        Ullong,
    ),
    (
        NVML_FI_DEV_C2C_LINK_ERROR_REPLAY,
        "c2c_links.errors.replay",
        Ullong,
    ),
    (
        NVML_FI_DEV_C2C_LINK_ERROR_REPLAY_B2B,
        "c2c_links.errors.replay_b2b",
        Ullong,
    ),
    (
        NVML_FI_DEV_C2C_LINK_POWER_STATE,
        "c2c_links.power_state",
        Uint,
    ),
];

/// The group that answers a power field, by scope (NVML_POWER_SCOPE_*).
const SCOPES: &[&str] = &["power", "module_power", "memory_power", "base_power"];

/// The number that a field has today, by the one that it has in the driver of the box: the first drivers
/// with fields from 251 on gave them other numbers.
fn number_today(gpu: &Gpu, id: c_uint) -> Answer<c_uint> {
    let layout = |key: &str| gpu.machine.read::<c_uint>(&format!("layouts.{key}"));
    if layout("fields").is_ok_and(|count| id >= count) {
        return Err(INVALID_ARGUMENT);
    }
    Ok(match id {
        251..=255 if layout("old_fields") == Ok(1) => id + 18,
        256..=273 if layout("old_fields") == Ok(1) => id - 5,
        _ => id,
    })
}

fn answer(gpu: &Gpu, value: &mut nvmlFieldValue_t) -> Answer {
    let id = number_today(gpu, value.fieldId)?;
    let (key, kind) = match FIELDS.iter().find(|row| row.0 == id) {
        Some((_, key, kind)) => {
            let scope = SCOPES.get(value.scopeId as usize).ok_or(INVALID_ARGUMENT);
            (
                if key.contains("{scope}") {
                    key.replace("{scope}", scope?)
                } else {
                    (*key).to_owned()
                },
                *kind,
            )
        }
        None => (format!("field.{id}"), Ullong),
    };
    // A number with a fraction is handed out as one.
    if let Ok(number) = gpu.read::<Fraction>(&key) {
        (value.valueType, value.value) = (
            nvmlValueType_enum_NVML_VALUE_TYPE_DOUBLE,
            nvmlValue_t { dVal: number.0 },
        );
        return Ok(());
    }
    // A list has one value for each scope, such as a link.
    let number: u64 = match gpu.read::<Vec<u64>>(&key) {
        Ok(list) => list
            .get(value.scopeId as usize)
            .copied()
            .ok_or(NOT_SUPPORTED)?,
        Err(_) => gpu.read(&key)?,
    };
    let number = match value.fieldId {
        NVML_FI_DEV_NVLINK_GET_STATE if is_inactive(gpu, value.scopeId)? => 0,
        _ => number,
    };
    let (kind, answer) = match kind {
        Uint => (
            nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_INT,
            nvmlValue_t {
                uiVal: number as u32,
            },
        ),
        Int => (
            nvmlValueType_enum_NVML_VALUE_TYPE_SIGNED_INT,
            nvmlValue_t {
                siVal: number as i32,
            },
        ),
        Ullong => (
            nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
            nvmlValue_t { ullVal: number },
        ),
    };
    (value.valueType, value.value) = (kind, answer);
    Ok(())
}

/// Sets a counter to zero, that of one scope where there are several.
fn clear(gpu: &Gpu, value: &nvmlFieldValue_t) -> Answer {
    let known = FIELDS.iter().find(|row| row.0 == value.fieldId);
    let key = known.map_or_else(
        || format!("field.{}", value.fieldId),
        |row| row.1.to_owned(),
    );
    match gpu.read::<Vec<i64>>(&key) {
        Ok(mut list) => {
            *list.get_mut(value.scopeId as usize).ok_or(NOT_SUPPORTED)? = 0;
            gpu.store(&key, list)
        }
        Err(_) => {
            gpu.read::<i64>(&key)?;
            gpu.store(&key, 0)
        }
    }
}

device_calls! {
    nvmlDeviceGetFieldValues(gpu, count: c_int, values: *mut nvmlFieldValue_t) {
        if values.is_null() || count < 0 { return Err(INVALID_ARGUMENT) }
        for value in std::slice::from_raw_parts_mut(values, count as usize) {
            value.timestamp = super::lists::now_us() as i64;
            value.latencyUsec = 0;
            // Every field passes the gate too, as `nvmlDeviceGetFieldValues.ID`, with `@SCOPE` if not 0.
            let mut name = format!("nvmlDeviceGetFieldValues.{}", value.fieldId);
            if value.scopeId != 0 { name += &format!("@{}", value.scopeId) }
            value.value = nvmlValue_t { ullVal: 0 };
            value.nvmlReturn = gate::pass(&name, Some(gpu.device), |_| answer(&gpu, value));
        }
        Ok(())
    }

    // A board lists `field_values` under `settable` if it has this.
    nvmlDeviceClearFieldValues(gpu, count: c_int, values: *mut nvmlFieldValue_t) {
        if values.is_null() || count < 0 { return Err(INVALID_ARGUMENT) }
        settable(&gpu, "field_values")?;
        for value in std::slice::from_raw_parts_mut(values, count as usize) {
            let name = format!("nvmlDeviceClearFieldValues.{}", value.fieldId);
            value.nvmlReturn = gate::pass(&name, Some(gpu.device), |_| clear(&gpu, value));
        }
        Ok(())
    }
}
