//! Event sets: they can be made and waited on, and no event ever comes.

use std::{ffi::c_uint, ptr, thread, time::Duration};

use nvml_wrapper_sys::bindings::*;

use crate::answer::{Answer, TIMEOUT, put};

/// The one event set there is; its address is its handle.
static SET: u8 = 0;

fn wait(milliseconds: c_uint) -> Answer {
    thread::sleep(Duration::from_millis(milliseconds.into()));
    Err(TIMEOUT)
}

system_calls! {
    nvmlEventSetCreate(_, set: *mut nvmlEventSet_t) { put(set, ptr::from_ref(&SET).cast_mut().cast()) }
    nvmlEventSetFree(_, _set: nvmlEventSet_t) { Ok(()) }
    nvmlEventSetWait(_, _set: nvmlEventSet_t, _data: *mut nvmlEventData_t, timeout: c_uint) { wait(timeout) }
    nvmlEventSetWait_v2(_, _set: nvmlEventSet_t, _data: *mut nvmlEventData_t, timeout: c_uint) { wait(timeout) }
}

device_calls! {
    nvmlDeviceRegisterEvents(gpu, types: u64, _set: nvmlEventSet_t) {
        let known: u64 = gpu.read("event_types")?;
        if types & !known == 0 { Ok(()) } else { Err(crate::answer::NOT_SUPPORTED) }
    }
}
