//! Questions that NVML has had several forms of.
//!
//! A library knows the forms up to its own age. One that lacks a function is
//! `FUNCTION_NOT_FOUND`; a function that does not know a struct's version answers
//! `ARGUMENT_VERSION_MISMATCH`. After both, the next older form is asked.

use nvml_wrapper_sys::bindings::*;

use super::library::{Device, Function, function, unlisted};
use super::{Call, get, get_for, get_versioned};
use crate::nvml::facts::{Fabric, Memory, Platform};
use crate::nvml::reading::{Missing, Reading};

/// For `or_else`: asks by the next older form, if the library is too old for this one.
pub fn older<T>(ask: impl FnOnce() -> Reading<T>) -> impl FnOnce(Missing) -> Reading<T> {
    |missing| match missing {
        Missing::FUNCTION_NOT_FOUND | Missing::ARGUMENT_VERSION_MISMATCH => ask(),
        missing => Err(missing),
    }
}

/// Declares questions of the shape `f(device, &mut answer)`: a fact, and its forms,
/// the newest first, each a function and the struct that it fills in.
macro_rules! forms {
    ($(
        $(#[$doc:meta])*
        unsafe $name:ident: $fact:ty = $($f:ident($answer:ty)),+;
    )*) => {$(
        $(#[$doc])*
        pub fn $name(device: Device) -> Reading<$fact> {
            let library_is_too_old: Reading<$fact> = Err(Missing::FUNCTION_NOT_FOUND);
            library_is_too_old$(.or_else(older(|| {
                // SAFETY: the row says that the function fills in this struct, and no
                // more of it than its version has.
                let f: Function<Call<*mut $answer>> = unsafe { unlisted!($f) };
                get(f, device).map(<$fact>::from)
            })))+
        }
    )*};
}

forms! {
    /// Frame buffer. The oldest form counts what is reserved as used.
    unsafe memory: Memory =
        nvmlDeviceGetMemoryInfo_v2(nvmlMemory_v2_t),
        nvmlDeviceGetMemoryInfo(nvmlMemory_t);
    /// The NVLink fabric. The older forms lack the summary of its health, the oldest
    /// also the mask.
    unsafe fabric: Fabric =
        nvmlDeviceGetGpuFabricInfoV(nvmlGpuFabricInfo_v3_t),
        nvmlDeviceGetGpuFabricInfoV(nvmlGpuFabricInfo_v2_t),
        nvmlDeviceGetGpuFabricInfo(nvmlGpuFabricInfo_t);
    /// The place in the rack. The older form lacks the chassis' serial number.
    unsafe platform: Platform =
        nvmlDeviceGetPlatformInfo(nvmlPlatformInfo_v2_t),
        nvmlDeviceGetPlatformInfo(nvmlPlatformInfo_v1_t);
    /// What the NVLinks have in common. The older form lacks the firmware.
    unsafe links: Links =
        nvmlDeviceGetNvLinkInfo(nvmlNvLinkInfo_v2_t),
        nvmlDeviceGetNvLinkInfo(nvmlNvLinkInfo_v1_t);
}

/// What the NVLinks of a GPU have in common.
pub struct Links {
    /// Whether what goes over them is encrypted.
    pub encrypted: bool,
}

impl From<nvmlNvLinkInfo_v2_t> for Links {
    fn from(info: nvmlNvLinkInfo_v2_t) -> Self {
        let encrypted = info.isNvleEnabled != 0;
        Self { encrypted }
    }
}

impl From<nvmlNvLinkInfo_v1_t> for Links {
    fn from(info: nvmlNvLinkInfo_v1_t) -> Self {
        let encrypted = info.isNvleEnabled != 0;
        Self { encrypted }
    }
}

/// Degrees Celsius, `nvmlDeviceGetTemperatureV` or `nvmlDeviceGetTemperature`.
pub fn temperature(device: Device) -> Reading<i32> {
    const GPU: u32 = nvmlTemperatureSensors_enum_NVML_TEMPERATURE_GPU;
    let newest = function!(nvmlDeviceGetTemperatureV);
    get_versioned(newest, device, |question| question.sensorType = GPU)
        .map(|answer| answer.temperature)
        .or_else(older(|| {
            let degrees: u32 = get_for(function!(nvmlDeviceGetTemperature), device, GPU)?;
            Ok(degrees as i32)
        }))
}
