//! The calls about GPU instances and compute instances, which have handles of their own.

use std::mem::MaybeUninit;
use std::ptr;

use nvml_wrapper_sys::bindings::*;

use super::library::{Device, Function, function};
use super::{
    Plain, Versioned, ask, blank, checked, counted, get_for, shortened, version_of, zeroed,
};
use crate::nvml::reading::Reading;

plain!(
    nvmlGpuInstancePlacement_t,
    nvmlComputeInstancePlacement_t,
    nvmlGpuInstanceProfileInfo_t,
    nvmlComputeInstanceProfileInfo_t,
);

versioned!(
    nvmlGpuInstanceProfileInfo_v2_t: 2,
    nvmlComputeInstanceProfileInfo_v2_t: 2,
);

/// Engines that compute instances share.
const SHARED: u32 = NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED;

/// An instance's number, and where it is.
pub struct Info<P> {
    /// Its number within what it is a part of.
    pub id: u32,
    /// Where it is there.
    pub placement: P,
}

/// `nvmlDeviceGetGpuInstanceProfileInfoV` of the profile with this number.
pub fn profile(device: Device, number: u32) -> Reading<nvmlGpuInstanceProfileInfo_v2_t> {
    let f = function!(nvmlDeviceGetGpuInstanceProfileInfoV);
    ask(f, device, move |f, device| {
        let mut answer = blank();
        // SAFETY: a live handle, and a struct of our own that says its version.
        checked(unsafe { f(device.handle(), number, &mut answer) })?;
        Ok(answer)
    })
}

/// `nvmlDeviceGetGpuInstanceProfileInfo`, the older form, which has no names.
pub fn nameless_profile(device: Device, number: u32) -> Reading<nvmlGpuInstanceProfileInfo_t> {
    get_for(
        function!(nvmlDeviceGetGpuInstanceProfileInfo),
        device,
        number,
    )
}

/// `nvmlDeviceGetGpuInstancePossiblePlacements_v2`.
pub fn placements(device: Device, profile: u32) -> Reading<Vec<nvmlGpuInstancePlacement_t>> {
    let f = function!(nvmlDeviceGetGpuInstancePossiblePlacements_v2);
    ask(f, device, move |f, device| {
        counted(zeroed(), |items, count| {
            // SAFETY: a live handle, a profile; no array, or one with room for all.
            unsafe { f(device.handle(), profile, items, count) }
        })
    })
}

/// `nvmlDeviceGetGpuInstances`: those of a profile.
pub fn instances(device: Device, profile: u32) -> Reading<Vec<GpuInstance>> {
    let f = function!(nvmlDeviceGetGpuInstances);
    ask(f, device, move |f, device| {
        let handles = instances_of(|handles, count| {
            // SAFETY: a live handle, a profile, and room for all its instances.
            unsafe { f(device.handle(), profile, handles, count) }
        })?;
        let of = |handle| GpuInstance {
            device,
            handle: Handle(handle),
        };
        Ok(handles.into_iter().map(of).collect())
    })
}

/// A GPU instance, to ask.
pub struct GpuInstance {
    device: Device<'static>,
    handle: Handle<nvmlGpuInstance_t>,
}

/// What NVML gave to name something by.
#[derive(Clone, Copy)]
struct Handle<H>(H);

// SAFETY: NVML takes its handles from any thread.
unsafe impl Send for Handle<nvmlGpuInstance_t> {}
// SAFETY: as above.
unsafe impl Sync for Handle<nvmlGpuInstance_t> {}
// SAFETY: as above.
unsafe impl Send for Handle<nvmlComputeInstance_t> {}

impl GpuInstance {
    /// `nvmlGpuInstanceGetInfo`.
    pub fn info(&self) -> Reading<Info<nvmlGpuInstancePlacement_t>> {
        let f = function!(nvmlGpuInstanceGetInfo);
        self.ask(f, |f, instance| {
            let mut answer = MaybeUninit::zeroed();
            // SAFETY: a live handle, and a struct of our own, of numbers and handles.
            let info: nvmlGpuInstanceInfo_t = unsafe {
                checked(f(instance, answer.as_mut_ptr()))?;
                answer.assume_init()
            };
            let (id, placement) = (info.id, info.placement);
            Ok(Info { id, placement })
        })
    }

    /// `nvmlGpuInstanceGetComputeInstanceProfileInfoV` of the profile with this
    /// number, engines shared.
    pub fn profile(&self, number: u32) -> Reading<nvmlComputeInstanceProfileInfo_v2_t> {
        let f = function!(nvmlGpuInstanceGetComputeInstanceProfileInfoV);
        self.ask(f, move |f, instance| {
            let mut answer: nvmlComputeInstanceProfileInfo_v2_t = blank();
            // The bindings know the newest version, which begins as this one does.
            let out = ptr::from_mut(&mut answer).cast();
            // SAFETY: a live handle; NVML writes the version that the struct says.
            checked(unsafe { f(instance, number, SHARED, out) })?;
            Ok(answer)
        })
    }

    /// `nvmlGpuInstanceGetComputeInstanceProfileInfo`, the older form, which has no names.
    pub fn nameless_profile(&self, number: u32) -> Reading<nvmlComputeInstanceProfileInfo_t> {
        let f = function!(nvmlGpuInstanceGetComputeInstanceProfileInfo);
        self.ask(f, move |f, instance| {
            let mut answer = zeroed();
            // SAFETY: a live handle, two numbers, and a struct of our own.
            checked(unsafe { f(instance, number, SHARED, &mut answer) })?;
            Ok(answer)
        })
    }

    /// `nvmlGpuInstanceGetComputeInstanceRemainingCapacity`.
    pub fn free(&self, profile: u32) -> Reading<u32> {
        let f = function!(nvmlGpuInstanceGetComputeInstanceRemainingCapacity);
        self.ask(f, move |f, instance| {
            let mut count = 0;
            // SAFETY: a live handle, a profile, and a number of our own.
            checked(unsafe { f(instance, profile, &mut count) })?;
            Ok(count)
        })
    }

    /// `nvmlGpuInstanceGetComputeInstancePossiblePlacements`.
    pub fn placements(&self, profile: u32) -> Reading<Vec<nvmlComputeInstancePlacement_t>> {
        let f = function!(nvmlGpuInstanceGetComputeInstancePossiblePlacements);
        self.ask(f, move |f, instance| {
            counted(zeroed(), |items, count| {
                // SAFETY: a live handle, a profile; no array, or one with room for all.
                unsafe { f(instance, profile, items, count) }
            })
        })
    }

    /// `nvmlGpuInstanceGetComputeInstances` and `nvmlComputeInstanceGetInfo_v2`:
    /// those of a profile.
    pub fn instances(&self, profile: u32) -> Reading<Vec<Info<nvmlComputeInstancePlacement_t>>> {
        let f = function!(nvmlGpuInstanceGetComputeInstances);
        let handles = self.ask(f, move |f, instance| {
            let handles = instances_of(|handles, count| {
                // SAFETY: a live handle, a profile, and room for all its instances.
                unsafe { f(instance, profile, handles, count) }
            })?;
            Ok(handles.into_iter().map(Handle).collect::<Vec<_>>())
        })?;
        let f = function!(nvmlComputeInstanceGetInfo_v2);
        let info = |handle: Handle<nvmlComputeInstance_t>| {
            ask(f, self.device, move |f, _| {
                let mut answer = MaybeUninit::zeroed();
                // SAFETY: as in `info`.
                let info: nvmlComputeInstanceInfo_t = unsafe {
                    checked(f({ handle }.0, answer.as_mut_ptr()))?;
                    answer.assume_init()
                };
                let (id, placement) = (info.id, info.placement);
                Ok(Info { id, placement })
            })
        };
        handles.into_iter().map(info).collect()
    }

    fn ask<F: Copy + Send + 'static, K, R: Send + 'static>(
        &self,
        f: Function<F, K>,
        call: impl FnOnce(F, nvmlGpuInstance_t) -> Reading<R> + Send + 'static,
    ) -> Reading<R> {
        let handle = self.handle;
        ask(f, self.device, move |f, _| call(f, { handle }.0))
    }
}

/// The handles of a profile's instances. NVML wants room for as many as the profile allows.
fn instances_of<T>(call: impl Fn(*mut *mut T, &mut u32) -> nvmlReturn_t) -> Reading<Vec<*mut T>> {
    /// More than any GPU has slices.
    const ROOM: usize = 256;
    let mut count = ROOM as u32;
    let mut handles = vec![ptr::null_mut(); ROOM];
    checked(call(handles.as_mut_ptr(), &mut count))?;
    shortened(handles, count)
}
