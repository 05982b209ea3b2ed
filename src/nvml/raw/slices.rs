//! The calls about GPU instances and compute instances, which have handles of their own.

use std::ptr;

use nvml_wrapper::Device;
use nvml_wrapper_sys::bindings::*;

use super::{Plain, Symbol, Versioned, checked, found, stamp, zeroed};
use crate::nvml::reading::Reading;

plain!(nvmlGpuInstancePlacement_t, nvmlComputeInstancePlacement_t);

versioned!(
    nvmlGpuInstanceProfileInfo_v2_t: 2,
    nvmlComputeInstanceProfileInfo_v2_t: 2,
);

// SAFETY: numbers, and handles that may be null.
unsafe impl Plain for nvmlGpuInstanceInfo_t {}
// SAFETY: the same.
unsafe impl Plain for nvmlComputeInstanceInfo_t {}

/// `nvmlDeviceGetGpuInstanceProfileInfoV` of the profile with this number.
pub fn profile(device: &Device, number: u32) -> Reading<nvmlGpuInstanceProfileInfo_v2_t> {
    let f = found(&device.nvml().lib().nvmlDeviceGetGpuInstanceProfileInfoV)?;
    let mut answer = zeroed();
    stamp(&mut answer);
    // SAFETY: a live handle, and a struct of our own that says its version.
    checked(unsafe { f(device.handle(), number, &mut answer) })?;
    Ok(answer)
}

/// `nvmlDeviceGetGpuInstancePossiblePlacements_v2`.
pub fn placements(device: &Device, profile: u32) -> Reading<Vec<nvmlGpuInstancePlacement_t>> {
    let lib = device.nvml().lib();
    let f = found(&lib.nvmlDeviceGetGpuInstancePossiblePlacements_v2)?;
    counted(|items, count| {
        // SAFETY: a live handle, a profile; no array, or one with room for all.
        unsafe { f(device.handle(), profile, items, count) }
    })
}

/// `nvmlDeviceGetGpuInstances`: those of a profile, which `most` says the limit of.
pub fn instances<'d>(
    device: &Device<'d>,
    profile: u32,
    most: u32,
) -> Reading<Vec<GpuInstance<'d>>> {
    let lib = device.nvml().lib();
    let f = found(&lib.nvmlDeviceGetGpuInstances)?;
    let handles = limited(most, |handles, count| {
        // SAFETY: a live handle, a profile, and room for all its instances.
        unsafe { f(device.handle(), profile, handles, count) }
    })?;
    let instance = |handle| GpuInstance { lib, handle };
    Ok(handles.into_iter().map(instance).collect())
}

/// A GPU instance, to ask.
pub struct GpuInstance<'d> {
    lib: &'d NvmlLib,
    handle: nvmlGpuInstance_t,
}

impl GpuInstance<'_> {
    /// `nvmlGpuInstanceGetInfo`.
    pub fn info(&self) -> Reading<nvmlGpuInstanceInfo_t> {
        get(&self.lib.nvmlGpuInstanceGetInfo, self.handle)
    }

    /// `nvmlGpuInstanceGetComputeInstanceProfileInfoV` of the profile with this
    /// number, engines shared.
    pub fn profile(&self, number: u32) -> Reading<nvmlComputeInstanceProfileInfo_v2_t> {
        let f = found(&self.lib.nvmlGpuInstanceGetComputeInstanceProfileInfoV)?;
        let mut answer: nvmlComputeInstanceProfileInfo_v2_t = zeroed();
        stamp(&mut answer);
        // The bindings know the newest version, which begins as this one does.
        let out = ptr::from_mut(&mut answer).cast();
        const SHARED: u32 = NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED;
        // SAFETY: a live handle; NVML writes the version that the struct says.
        checked(unsafe { f(self.handle, number, SHARED, out) })?;
        Ok(answer)
    }

    /// `nvmlGpuInstanceGetComputeInstanceRemainingCapacity`.
    pub fn free(&self, profile: u32) -> Reading<u32> {
        let f = found(&self.lib.nvmlGpuInstanceGetComputeInstanceRemainingCapacity)?;
        let mut count = 0;
        // SAFETY: a live handle, a profile, and a number of our own.
        checked(unsafe { f(self.handle, profile, &mut count) })?;
        Ok(count)
    }

    /// `nvmlGpuInstanceGetComputeInstancePossiblePlacements`.
    pub fn placements(&self, profile: u32) -> Reading<Vec<nvmlComputeInstancePlacement_t>> {
        let f = found(&self.lib.nvmlGpuInstanceGetComputeInstancePossiblePlacements)?;
        counted(|items, count| {
            // SAFETY: a live handle, a profile; no array, or one with room for all.
            unsafe { f(self.handle, profile, items, count) }
        })
    }

    /// `nvmlGpuInstanceGetComputeInstances` and `nvmlComputeInstanceGetInfo_v2`:
    /// those of a profile, which `most` says the limit of.
    pub fn instances(&self, profile: u32, most: u32) -> Reading<Vec<nvmlComputeInstanceInfo_t>> {
        let f = found(&self.lib.nvmlGpuInstanceGetComputeInstances)?;
        let handles = limited(most, |handles, count| {
            // SAFETY: a live handle, a profile, and room for all its instances.
            unsafe { f(self.handle, profile, handles, count) }
        })?;
        let info = |handle| get(&self.lib.nvmlComputeInstanceGetInfo_v2, handle);
        handles.into_iter().map(info).collect()
    }
}

/// `f(handle, &mut answer)`, of a handle that NVML gave.
fn get<H, T: Plain, E>(
    f: &Symbol<unsafe extern "C" fn(H, *mut T) -> nvmlReturn_t, E>,
    handle: H,
) -> Reading<T> {
    let f = found(f)?;
    let mut answer = zeroed();
    // SAFETY: a live handle, and a pointer to a `T` of our own.
    checked(unsafe { f(handle, &mut answer) })?;
    Ok(answer)
}

/// A list whose length is asked for first, without an array.
fn counted<T: Plain>(call: impl Fn(*mut T, &mut u32) -> nvmlReturn_t) -> Reading<Vec<T>> {
    let mut count = 0;
    checked(call(ptr::null_mut(), &mut count))?;
    let mut items = vec![zeroed(); count as usize];
    if count > 0 {
        checked(call(items.as_mut_ptr(), &mut count))?;
        items.truncate(count as usize);
    }
    Ok(items)
}

/// Handles, of which there are never more than a known number.
fn limited<T>(
    most: u32,
    call: impl Fn(*mut *mut T, &mut u32) -> nvmlReturn_t,
) -> Reading<Vec<*mut T>> {
    /// More than any GPU has slices.
    const ROOM: u32 = 64;
    let mut count = most.max(ROOM);
    let mut handles = vec![ptr::null_mut(); count as usize];
    checked(call(handles.as_mut_ptr(), &mut count))?;
    handles.truncate(count as usize);
    Ok(handles)
}
