//! The calls about where devices are: sets of bits, and devices in relation to others.

use std::ffi::c_ulong;
use std::ptr;

use nvml_wrapper_sys::bindings::*;

use super::library::{Device, Function, Library, function};
use super::{Call2, Plain, ask, ask_driver, checked, counted, index, zeroed};
use crate::nvml::reading::Reading;

/// Room for as many CPUs as the kernel can have, in words of a set.
const WORDS: usize = 8192 / c_ulong::BITS as usize;

/// `nvmlDeviceGetCpuAffinity`: the CPUs next to a device, one bit each.
pub fn cpus(device: Device) -> Reading<Vec<c_ulong>> {
    ask(
        function!(nvmlDeviceGetCpuAffinity),
        device,
        move |f, device| {
            let mut set = vec![0; WORDS];
            // SAFETY: a live handle and as many words as are told.
            checked(unsafe { f(device.handle(), WORDS as u32, set.as_mut_ptr()) })?;
            Ok(set)
        },
    )
}

/// `nvmlDeviceGetMemoryAffinity`: the NUMA nodes next to a device, one bit each.
pub fn nodes(device: Device) -> Reading<Vec<c_ulong>> {
    ask(
        function!(nvmlDeviceGetMemoryAffinity),
        device,
        move |f, device| {
            let mut set = vec![0; WORDS];
            let scope = NVML_AFFINITY_SCOPE_NODE;
            // SAFETY: a live handle and as many words as are told.
            checked(unsafe { f(device.handle(), WORDS as u32, set.as_mut_ptr(), scope) })?;
            Ok(set)
        },
    )
}

/// `f(device, other, &mut answer)`: how two GPUs stand to each other.
pub fn get_between<T: Plain>(
    f: Function<Call2<nvmlDevice_t, *mut T>>,
    device: Device,
    other: Device,
) -> Reading<T> {
    let other = other.lasting();
    ask(f, device, move |f, device| {
        let mut answer = zeroed();
        // SAFETY: two live handles and a pointer to a `T` of our own.
        checked(unsafe { f(device.handle(), other.handle(), &mut answer) })?;
        Ok(answer)
    })
}

/// `nvmlDeviceGetP2PStatus`, by `NVML_P2P_CAPS_INDEX_*`: `NVML_P2P_STATUS_*`.
pub fn p2p_status(device: Device, other: Device, capability: u32) -> Reading<u32> {
    let other = other.lasting();
    ask(
        function!(nvmlDeviceGetP2PStatus),
        device,
        move |f, device| {
            let mut status = 0;
            // SAFETY: two live handles, a number, and a pointer to one of our own.
            checked(unsafe { f(device.handle(), other.handle(), capability, &mut status) })?;
            Ok(status)
        },
    )
}

/// `nvmlDeviceGetTopologyNearestGpus`: the indices of the GPUs that share
/// `NVML_TOPOLOGY_*` with a device and nothing nearer.
pub fn nearest(device: Device, level: u32) -> Reading<Vec<u32>> {
    ask(
        function!(nvmlDeviceGetTopologyNearestGpus),
        device,
        move |f, device| {
            let gpus = counted(ptr::null_mut(), |gpus, count| {
                // SAFETY: a live handle, a level; no array, or one with room for all.
                match unsafe { f(device.handle(), level, count, gpus) } {
                    nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE if gpus.is_null() => {
                        nvmlReturn_enum_NVML_SUCCESS
                    }
                    code => code,
                }
            })?;
            indices(device.library(), gpus)
        },
    )
}

/// `nvmlSystemGetTopologyGpuSet`: the indices of the GPUs next to a CPU.
pub fn near_cpu(library: &'static Library, cpu: u32) -> Reading<Vec<u32>> {
    ask_driver(function!(nvmlSystemGetTopologyGpuSet), library, move |f| {
        let gpus = counted(ptr::null_mut(), |gpus, count| {
            // SAFETY: a number; no array, or one with room for all.
            unsafe { f(cpu, count, gpus) }
        })?;
        indices(library, gpus)
    })
}

/// `nvmlDeviceGetIndex` of GPUs that an answer names, as a part of the question.
fn indices(library: &'static Library, gpus: Vec<nvmlDevice_t>) -> Reading<Vec<u32>> {
    let index = |gpu| index(Device::new(library, gpu));
    gpus.into_iter().map(index).collect()
}
