//! Workload power profiles and power smoothing. A box lists the profiles that it has under
//! `power_profiles.supported`; smoothing is read through its fields, and changed where the box lists
//! `power_smoothing` among what it lets be changed.

use nvml_wrapper_sys::bindings::*;
use toml::Value;

use super::setters::settable;
use crate::{
    answer::{Answer, INVALID_ARGUMENT, put_versioned},
    machine::Gpu,
};

fn mask(profiles: &[u32]) -> nvmlMask255_t {
    let mut mask = [0; 8];
    for &profile in profiles {
        mask[profile as usize / 32] |= 1 << (profile % 32);
    }
    nvmlMask255_t { mask }
}

fn profiles(mask: &nvmlMask255_t) -> Vec<u32> {
    let set = |profile: &u32| mask.mask[*profile as usize / 32] >> (profile % 32) & 1 != 0;
    (0..255).filter(set).collect()
}

fn list(gpu: &Gpu, which: &str) -> Answer<Vec<u32>> {
    gpu.read_or(&format!("power_profiles.{which}"), Vec::new())
}

/// Asks for other profiles; the driver puts in force what it is asked for, as long as none conflicts.
fn request(gpu: &Gpu, change: impl FnOnce(Vec<u32>) -> Vec<u32>) -> Answer {
    gpu.read::<Vec<u32>>("power_profiles.supported")?;
    settable(gpu, "power_profiles")?;
    let requested = change(list(gpu, "requested")?);
    for which in ["requested", "enforced"] {
        let numbers: Vec<i64> = requested.iter().map(|&profile| profile.into()).collect();
        gpu.store(&format!("power_profiles.{which}"), Value::from(numbers))?;
    }
    Ok(())
}

/// The field of each parameter of a smoothing profile, and its unit in that of the setter.
const PARAMETERS: [(u32, f64); 8] = [
    (260, 1.0),
    (261, 1000.0),
    (262, 1000.0),
    (263, 1.0),
    (281, 1.0),
    (282, 1.0),
    (283, 1.0),
    (284, 1.0),
];

fn update(gpu: &Gpu, profile: usize, parameter: usize, value: f64) -> Answer {
    settable(gpu, "power_smoothing")?;
    let (field, unit) = PARAMETERS.get(parameter).ok_or(INVALID_ARGUMENT)?;
    let key = format!("field.{field}");
    let mut values: Vec<i64> = gpu.read(&key)?;
    *values.get_mut(profile).ok_or(INVALID_ARGUMENT)? = (value * unit).round() as i64;
    gpu.store(&key, Value::from(values))
}

fn activate(gpu: &Gpu, profile: u32) -> Answer {
    settable(gpu, "power_smoothing")?;
    if u64::from(profile) >= gpu.read::<u64>("field.259")? {
        return Err(INVALID_ARGUMENT);
    }
    gpu.store("field.264", i64::from(profile))
}

device_calls! {
    nvmlDeviceWorkloadPowerProfileGetProfilesInfo(gpu, out: *mut nvmlWorkloadPowerProfileProfilesInfo_t) {
        let supported: Vec<u32> = gpu.read("power_profiles.supported")?;
        put_versioned(out, |info| {
            info.perfProfilesMask = mask(&supported);
            let undescribed = list(&gpu, "undescribed")?;
            for &profile in supported.iter().filter(|profile| !undescribed.contains(profile)) {
                let entry = info.perfProfile.get_mut(profile as usize).ok_or(INVALID_ARGUMENT)?;
                entry.profileId = profile;
                entry.priority = gpu.read_or(&format!("power_profiles.priority.{profile}"), 0)?;
                entry.conflictingMask = mask(&list(&gpu, &format!("conflicts.{profile}"))?);
            }
            Ok(())
        })
    }
    nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(gpu, out: *mut nvmlWorkloadPowerProfileCurrentProfiles_t) {
        let supported: Vec<u32> = gpu.read("power_profiles.supported")?;
        put_versioned(out, |current| {
            current.perfProfilesMask = mask(&supported);
            current.requestedProfilesMask = mask(&list(&gpu, "requested")?);
            current.enforcedProfilesMask = mask(&list(&gpu, "enforced")?);
            Ok(())
        })
    }
    nvmlDeviceWorkloadPowerProfileSetRequestedProfiles(gpu, wish: *mut nvmlWorkloadPowerProfileRequestedProfiles_t) {
        if wish.is_null() { return Err(INVALID_ARGUMENT) }
        let wished = profiles(&(*wish).requestedProfilesMask);
        request(&gpu, |mut requested| {
            requested.extend(wished);
            requested.sort_unstable();
            requested.dedup();
            requested
        })
    }
    nvmlDeviceWorkloadPowerProfileClearRequestedProfiles(gpu, wish: *mut nvmlWorkloadPowerProfileRequestedProfiles_t) {
        if wish.is_null() { return Err(INVALID_ARGUMENT) }
        let cleared = profiles(&(*wish).requestedProfilesMask);
        request(&gpu, |mut requested| {
            requested.retain(|profile| !cleared.contains(profile));
            requested
        })
    }
    nvmlDevicePowerSmoothingActivatePresetProfile(gpu, wish: *mut nvmlPowerSmoothingProfile_t) {
        if wish.is_null() { return Err(INVALID_ARGUMENT) }
        activate(&gpu, (*wish).profileId)
    }
    nvmlDevicePowerSmoothingUpdatePresetProfileParam(gpu, wish: *mut nvmlPowerSmoothingProfile_t) {
        if wish.is_null() { return Err(INVALID_ARGUMENT) }
        update(&gpu, (*wish).profileId as usize, (*wish).paramId as usize, (*wish).value)
    }
    nvmlDevicePowerSmoothingSetState(gpu, wish: *mut nvmlPowerSmoothingState_t) {
        if wish.is_null() { return Err(INVALID_ARGUMENT) }
        settable(&gpu, "power_smoothing")?;
        match (*wish).state {
            state @ (0 | 1) => gpu.store("field.251", i64::from(state)),
            _ => Err(INVALID_ARGUMENT),
        }
    }
}
