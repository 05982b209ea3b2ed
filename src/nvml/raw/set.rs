//! The calls that change a device: as in [`super`], one function a shape.

use std::ffi::c_int;

use nvml_wrapper_sys::bindings::*;

use super::fields::asked_fields;
use super::library::{Device, Function, Library, function, unlisted};
use super::{Call, Call2, Hostname, Plain, Versioned, ask, ask_driver, blank, checked, zeroed};
use crate::nvml::reading::Reading;

/// `f(device, value)`.
pub fn set<A: Plain>(f: Function<Call<A>>, device: Device, value: A) -> Reading<()> {
    ask(f, device, move |f, device| {
        // SAFETY: a live handle and a number.
        checked(unsafe { f(device.handle(), value) })
    })
}

/// `f(device, one, two)`.
pub fn set_pair<A: Plain, B: Plain>(
    f: Function<Call2<A, B>>,
    device: Device,
    one: A,
    two: B,
) -> Reading<()> {
    ask(f, device, move |f, device| {
        // SAFETY: a live handle and two numbers.
        checked(unsafe { f(device.handle(), one, two) })
    })
}

/// `f(device, &wish)`, the version set and the rest of `wish` as given.
pub fn set_versioned<T: Versioned>(
    f: Function<Call<*mut T>>,
    device: Device,
    wish: impl FnOnce(&mut T),
) -> Reading<()> {
    super::get_versioned(f, device, wish).map(|_| ())
}

/// `nvmlDeviceSetDramEncryptionMode`.
pub fn dram_encryption(device: Device, on: bool) -> Reading<()> {
    ask(
        function!(nvmlDeviceSetDramEncryptionMode),
        device,
        move |f, device| {
            let mut wish: nvmlDramEncryptionInfo_v1_t = blank();
            wish.encryptionState = on.into();
            // SAFETY: a live handle and a pointer to a versioned struct of our own.
            checked(unsafe { f(device.handle(), &wish) })
        },
    )
}

/// `nvmlDeviceSetTemperatureThreshold`, degrees Celsius.
pub fn temperature_threshold(device: Device, threshold: u32, celsius: u32) -> Reading<()> {
    ask(
        function!(nvmlDeviceSetTemperatureThreshold),
        device,
        move |f, device| {
            let mut celsius = celsius as c_int;
            // SAFETY: a live handle, a number, and a pointer to a number of our own.
            checked(unsafe { f(device.handle(), threshold, &mut celsius) })
        },
    )
}

/// `nvmlDeviceSetHostname_v1` (R580), which the bindings do not have yet. The
/// name has at most 63 bytes; more are cut off.
pub fn hostname(device: Device, name: &str) -> Reading<()> {
    let mut wish: Hostname = zeroed();
    let room = wish.0.len() - 1;
    for (to, from) in wish.0[..room].iter_mut().zip(name.bytes()) {
        *to = from;
    }
    // SAFETY: it has this signature: nvmlHostname_v1_t is one array.
    let f: Function<Call<*mut Hostname>> = unsafe { unlisted!(nvmlDeviceSetHostname_v1) };
    ask(f, device, move |f, device| {
        // SAFETY: a live handle and a pointer to a struct of our own.
        checked(unsafe { f(device.handle(), &mut wish) })
    })
}

/// `nvmlDeviceSetNvLinkDeviceLowPowerThreshold`, in the units that NVML tells.
pub fn low_power_threshold(device: Device, threshold: u32) -> Reading<()> {
    let f = function!(nvmlDeviceSetNvLinkDeviceLowPowerThreshold);
    ask(f, device, move |f, device| {
        let mut wish = nvmlNvLinkPowerThres_t {
            lowPwrThreshold: threshold,
        };
        // SAFETY: a live handle and a pointer to a struct of our own.
        checked(unsafe { f(device.handle(), &mut wish) })
    })
}

/// `nvmlDeviceClearFieldValues` for several ids at once, as
/// [`field_values`](super::field_values): one call, one outcome each.
pub fn clear_fields(device: Device, ids: &[(u32, u32)]) -> Reading<Vec<Reading<()>>> {
    let mut values = asked_fields(ids);
    let f = function!(nvmlDeviceClearFieldValues);
    ask(f, device, move |f, device| {
        // SAFETY: a live handle and as many values as are told.
        checked(unsafe { f(device.handle(), values.len() as i32, values.as_mut_ptr()) })?;
        Ok(values
            .into_iter()
            .map(|value| checked(value.nvmlReturn))
            .collect())
    })
}

/// The handle of a unit.
pub struct Unit(nvmlUnit_t);

// SAFETY: NVML may be called from any thread, and a handle belongs to none.
unsafe impl Send for Unit {}

impl Unit {
    fn handle(&self) -> nvmlUnit_t {
        self.0
    }
}

/// The handle of a unit, `nvmlUnitGetHandleByIndex`.
pub fn unit(library: &Library, index: u32) -> Reading<Unit> {
    ask_driver(function!(nvmlUnitGetHandleByIndex), library, move |f| {
        let mut unit = std::ptr::null_mut();
        // SAFETY: a number and a pointer to a handle of our own.
        checked(unsafe { f(index, &mut unit) })?;
        Ok(Unit(unit))
    })
}

/// The colour of a unit's LED, 0 green or 1 amber, `nvmlUnitGetLedState`.
pub fn led(library: &Library, index: u32) -> Reading<u32> {
    let unit = unit(library, index)?;
    ask_driver(function!(nvmlUnitGetLedState), library, move |f| {
        let mut state: nvmlLedState_t = zeroed();
        // SAFETY: a handle that NVML just gave, and a pointer to a struct of our own.
        checked(unsafe { f(unit.handle(), &mut state) })?;
        Ok(state.color)
    })
}

/// Sets the colour of a unit's LED, `nvmlUnitSetLedState`.
pub fn set_led(library: &Library, index: u32, color: u32) -> Reading<()> {
    let unit = unit(library, index)?;
    ask_driver(function!(nvmlUnitSetLedState), library, move |f| {
        // SAFETY: a handle that NVML just gave, and a number.
        checked(unsafe { f(unit.handle(), color) })
    })
}
