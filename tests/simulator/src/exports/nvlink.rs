//! NVLink: the links of a GPU, all alike but for where they lead.

use std::ffi::{c_uint, c_ulonglong};

use nvml_wrapper_sys::bindings::*;

use super::setters::settable;
use crate::{
    answer::{Answer, INVALID_ARGUMENT, NOT_SUPPORTED, fill_text, put},
    machine::Gpu,
};

const CAPABILITIES: &[&str] = &[
    "p2p",
    "system_memory",
    "p2p_atomics",
    "system_memory_atomics",
    "sli_bridge",
    "valid",
];
/// The fields that tell the bounds of the low power threshold.
const LEAST_THRESHOLD: &str = "field.223";
const MOST_THRESHOLD: &str = "field.200";
const ERRORS: &[&str] = &["replay", "recovery", "crc", "crc_data", "ecc_data"];

/// A key of a link. A link that this GPU lacks is NOT_SUPPORTED; one that no GPU has is a mistake.
fn link_key<T: crate::data::FromData>(gpu: &Gpu, link: c_uint, key: &str) -> Answer<T> {
    if link >= NVML_NVLINK_MAX_LINKS {
        return Err(INVALID_ARGUMENT);
    }
    if link >= gpu.read("nvlink.links")? {
        return Err(NOT_SUPPORTED);
    }
    gpu.read(&format!("nvlink.{key}"))
}

/// Whether the box lists a link under `nvlink.inactive`, or the GPU is in MIG mode, in which no link is up.
pub fn is_inactive(gpu: &Gpu, link: c_uint) -> Answer<bool> {
    if gpu.parent().read("mig.current") == Ok(true) {
        return Ok(true);
    }
    let inactive: Vec<c_uint> = gpu.read_or("nvlink.inactive", Vec::new())?;
    Ok(inactive.contains(&link))
}

versioned! {
    nvmlDeviceGetNvLinkInfo: nvmlNvLinkInfo_t { isNvleEnabled = "nvlink.encrypted" }
}

device_calls! {
    nvmlDeviceGetNvLinkState(gpu, link: c_uint, active: *mut nvmlEnableState_t) {
        let up: c_uint = link_key(&gpu, link, "active")?;
        put(active, if is_inactive(&gpu, link)? { 0 } else { up })
    }
    nvmlDeviceGetNvLinkVersion(gpu, link: c_uint, version: *mut c_uint) {
        put(version, link_key(&gpu, link, "version")?)
    }
    nvmlDeviceGetNvLinkCapability(gpu, link: c_uint, capability: nvmlNvLinkCapability_t, result: *mut c_uint) {
        let capability = CAPABILITIES.get(capability as usize).ok_or(INVALID_ARGUMENT)?;
        put(result, link_key(&gpu, link, &format!("capability.{capability}"))?)
    }
    nvmlDeviceGetNvLinkErrorCounter(gpu, link: c_uint, counter: nvmlNvLinkErrorCounter_t, value: *mut c_ulonglong) {
        let counter = ERRORS.get(counter as usize).ok_or(INVALID_ARGUMENT)?;
        put(value, link_key(&gpu, link, &format!("errors.{counter}"))?)
    }
    nvmlDeviceResetNvLinkErrorCounters(gpu, link: c_uint) {
        let links: usize = link_key::<c_uint>(&gpu, link, "links")? as usize;
        settable(&gpu, "nvlink.errors")?;
        for counter in gpu.keys("nvlink.errors") {
            let key = format!("nvlink.errors.{counter}");
            // One number stands for all links.
            let mut counts = match gpu.read::<Vec<i64>>(&key) {
                Ok(counts) => counts,
                Err(_) => vec![gpu.read(&key)?; links],
            };
            *counts.get_mut(link as usize).ok_or(NOT_SUPPORTED)? = 0;
            gpu.store(&key, counts)?;
        }
        Ok(())
    }
    nvmlDeviceSetNvLinkDeviceLowPowerThreshold(gpu, info: *mut nvmlNvLinkPowerThres_t) {
        if info.is_null() { return Err(INVALID_ARGUMENT) }
        settable(&gpu, "nvlink.power_threshold")?;
        let threshold = (*info).lowPwrThreshold;
        let (least, most): (c_uint, c_uint) = (gpu.read(LEAST_THRESHOLD)?, gpu.read(MOST_THRESHOLD)?);
        let threshold = match threshold {
            NVML_NVLINK_LOW_POWER_THRESHOLD_RESET => least,
            threshold if (least..=most).contains(&threshold) => threshold,
            _ => return Err(INVALID_ARGUMENT),
        };
        gpu.store("nvlink.power_threshold", i64::from(threshold))
    }
    nvmlDeviceGetNvLinkRemoteDeviceType(gpu, link: c_uint, kind: *mut nvmlIntNvLinkDeviceType_t) {
        put(kind, link_key(&gpu, link, "remote.type")?)
    }
    nvmlDeviceGetNvLinkRemotePciInfo(gpu, link: c_uint, out: *mut nvmlPciInfo_t) { put(out, remote(&gpu, link)?) }
    nvmlDeviceGetNvLinkRemotePciInfo_v2(gpu, link: c_uint, out: *mut nvmlPciInfo_t) { put(out, remote(&gpu, link)?) }
}

/// The device at the far end of a link. `nvlink.remote.bus_ids` is dealt out to the links in turn.
fn remote(gpu: &Gpu, link: c_uint) -> Answer<nvmlPciInfo_t> {
    let ids: Vec<String> = link_key(gpu, link, "remote.bus_ids")?;
    let id = ids
        .get(link as usize % ids.len().max(1))
        .ok_or(INVALID_ARGUMENT)?;
    let mut numbers = id
        .split([':', '.'])
        .map(|part| u32::from_str_radix(part, 16));
    let mut next = || numbers.next().and_then(Result::ok).ok_or(INVALID_ARGUMENT);
    let mut info = nvmlPciInfo_t {
        busIdLegacy: [0; 16],
        domain: next()?,
        bus: next()?,
        device: next()?,
        pciDeviceId: gpu.read_or("nvlink.remote.device_id", 0)?,
        pciSubSystemId: 0,
        busId: [0; 32],
    };
    fill_text(&mut info.busIdLegacy, id.get(4..).unwrap_or_default());
    fill_text(&mut info.busId, id);
    Ok(info)
}
