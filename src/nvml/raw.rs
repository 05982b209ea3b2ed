//! NVML's calls, one function a shape. Only this module and those below it may
//! hold `unsafe`.
//!
//! A question is a [`Function`] and who is asked; it makes exactly one call. The
//! function's type gives its shape, and [`functions`] tells one value from an array,
//! so that callers stay safe code. What NVML has had several forms of, [`forms`] asks. Each
//! call goes through [`ask`] or [`ask_driver`], which look the function up and
//! know how long to wait for it. Of nvml-wrapper we use the types of what NVML
//! counts (`Clock`, `P2pStatus`, ...) and not its `Nvml`, for the reason that
//! [`library`] gives.
#![allow(unsafe_code, reason = "this is where NVML is called")]
// The constants of NVML's enums, in patterns.
#![allow(non_upper_case_globals)]

pub mod forms;
pub mod functions;
pub mod library;
pub mod process;
pub mod set;
pub mod system;
pub mod time_limit;
pub mod topology;

use std::ffi::{CStr, CString, c_char};
use std::mem::{MaybeUninit, size_of};
use std::ptr;

use nvml_wrapper_sys::bindings::*;

use super::reading::{Missing, Reading};
use functions::Arrays;
pub use library::Device;
pub(super) use library::function;
use library::{Function, Library, unlisted};
use time_limit::Asked;

/// A C struct or number that NVML fills in.
///
/// # Safety
/// All zeroes must be a valid value. If the struct has a version member, `stamp` must set it.
pub unsafe trait Plain: Copy + Send + 'static {
    /// Sets the version member, which tells NVML how large the struct is.
    fn stamp(&mut self) {}
}

/// A struct whose first member tells NVML which version of it the caller means.
pub trait Versioned: Plain {}

macro_rules! plain {
    ($($type:ty),* $(,)?) => {$(
        // SAFETY: a C struct of numbers and arrays of numbers, or a number.
        unsafe impl Plain for $type {}
    )*};
}

macro_rules! versioned {
    ($($type:ty: $version:literal),* $(,)?) => {$(
        // SAFETY: a C struct of numbers and arrays of numbers.
        unsafe impl Plain for $type {
            fn stamp(&mut self) {
                self.version = version_of::<Self>($version);
            }
        }
        impl Versioned for $type {}
    )*};
}

mod fields;
pub mod gpm;
pub mod processes;
pub mod slices;

pub use fields::{FieldNumber, Sample, field_values, samples, whole_fields};

plain!(
    u32,
    i32,
    u64,
    nvmlAccountingStats_t,
    nvmlBAR1Memory_t,
    nvmlBridgeChipHierarchy_t,
    nvmlC2cModeInfo_v1_t,
    nvmlConfComputeMemSizeInfo_t,
    nvmlConfComputeSystemCaps_t,
    nvmlConfComputeSystemState_t,
    nvmlDeviceAttributes_t,
    nvmlEncoderSessionInfo_t,
    nvmlExcludedDeviceInfo_t,
    nvmlFBCStats_t,
    nvmlFBCSessionInfo_t,
    nvmlFieldValue_t,
    nvmlGridLicensableFeatures_t,
    nvmlHwbcEntry_t,
    nvmlLedState_t,
    nvmlGpuFabricInfo_t,
    nvmlMemory_t,
    nvmlPciInfo_t,
    nvmlRowRemapperHistogramValues_t,
    nvmlSample_t,
    nvmlUtilization_t,
    nvmlViolationTime_t,
    Hostname,
    RemappedRows,
);

versioned!(
    nvmlConfComputeGetKeyRotationThresholdInfo_v1_t: 1,
    nvmlConfComputeSetKeyRotationThresholdInfo_v1_t: 1,
    nvmlDeviceAddressingMode_v1_t: 1,
    nvmlDeviceCapabilities_v1_t: 1,
    nvmlDramEncryptionInfo_v1_t: 1,
    nvmlEccSramErrorStatus_v1_t: 1,
    nvmlGpuFabricInfo_v2_t: 2,
    nvmlGpuFabricInfo_v3_t: 3,
    nvmlMarginTemperature_v1_t: 1,
    nvmlMemory_v2_t: 2,
    nvmlNvLinkInfo_v1_t: 1,
    nvmlNvLinkInfo_v2_t: 2,
    nvmlPciInfoExt_v1_t: 1,
    nvmlPdi_v1_t: 1,
    nvmlPlatformInfo_v1_t: 1,
    nvmlPlatformInfo_v2_t: 2,
    nvmlRepairStatus_v1_t: 1,
    nvmlPowerValue_v2_t: 2,
    nvmlSystemConfComputeSettings_v1_t: 1,
    nvmlTemperature_v1_t: 1,
    nvmlVgpuHeterogeneousMode_v1_t: 1,
    nvmlPowerSmoothingProfile_v1_t: 1,
    nvmlPowerSmoothingState_v1_t: 1,
    nvmlWorkloadPowerProfileCurrentProfiles_v1_t: 1,
    nvmlWorkloadPowerProfileProfilesInfo_v1_t: 1,
    nvmlWorkloadPowerProfileRequestedProfiles_v1_t: 1,
);

/// `nvmlRemappedRowsInfo_v2_t`, of `nvmlDeviceGetRemappedRows_v2` (R580), which
/// the bindings do not have yet.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RemappedRows {
    /// Rows remapped for correctable errors, in use.
    pub correctable: u32,
    /// Rows remapped for correctable errors, not in use since the last boot.
    pub correctable_inactive: u32,
    /// Rows remapped for uncorrectable errors, in use.
    pub uncorrectable: u32,
    /// Rows remapped for uncorrectable errors, not in use since the last boot.
    pub uncorrectable_inactive: u32,
    /// 1 while a remapping waits for a reset.
    pub pending: u32,
    /// 1 when a remapping failed in the past.
    pub failure: u32,
}

/// `nvmlHostname_v1_t`: a NUL-ended name.
#[derive(Clone, Copy)]
#[repr(C)]
struct Hostname([u8; 64]);

type Call<A> = unsafe extern "C" fn(nvmlDevice_t, A) -> nvmlReturn_t;
type Call2<A, B> = unsafe extern "C" fn(nvmlDevice_t, A, B) -> nvmlReturn_t;
type Call3<A, B, C> = unsafe extern "C" fn(nvmlDevice_t, A, B, C) -> nvmlReturn_t;
type Call4<A, B, C, D> = unsafe extern "C" fn(nvmlDevice_t, A, B, C, D) -> nvmlReturn_t;

fn checked(code: nvmlReturn_t) -> Reading<()> {
    match code {
        nvmlReturn_enum_NVML_SUCCESS => Ok(()),
        code => Err(Missing::from_code(code)),
    }
}

/// Asks a device by one function of the library. `call` may come back later
/// than this does, so that what NVML writes to must be its own.
pub fn ask<F: Copy + Send + 'static, K, R: Send + 'static>(
    f: Function<F, K>,
    device: Device,
    call: impl FnOnce(F, Device<'static>) -> Reading<R> + Send + 'static,
) -> Reading<R> {
    let device = device.lasting();
    let found = device.library().find(f)?;
    time_limit::wait(Asked::Device(device), f.name(), move || call(found, device))
}

/// As [`ask`], of the driver.
pub fn ask_driver<F: Copy + Send + 'static, K, R: Send + 'static>(
    f: Function<F, K>,
    library: &Library,
    call: impl FnOnce(F) -> Reading<R> + Send + 'static,
) -> Reading<R> {
    let found = library.find(f)?;
    time_limit::wait(Asked::Driver, f.name(), move || call(found))
}

/// The handle of a GPU, `nvmlDeviceGetHandleByIndex_v2`.
pub fn handle<'d>(library: &'static Library, index: u32) -> Reading<Device<'d>> {
    let f = function!(nvmlDeviceGetHandleByIndex_v2);
    let found = library.find(f)?;
    time_limit::wait(Asked::Gpu(index), f.name(), move || {
        let mut handle = ptr::null_mut();
        // SAFETY: a number and a pointer to a handle of our own.
        checked(unsafe { found(index, &mut handle) })?;
        Ok(Device::new(library, handle))
    })
}

/// The index and the handle of the GPU that `f` finds by a name.
pub fn find<'d>(
    f: Function<unsafe extern "C" fn(*const c_char, *mut nvmlDevice_t) -> nvmlReturn_t>,
    library: &'static Library,
    name: &str,
) -> Reading<(u32, Device<'d>)> {
    let name = CString::new(name).map_err(|_| Missing::INVALID_ARGUMENT)?;
    ask_driver(f, library, move |f| {
        let mut handle = ptr::null_mut();
        // SAFETY: a NUL-ended name and a pointer to a handle of our own.
        checked(unsafe { f(name.as_ptr(), &mut handle) })?;
        let device = Device::new(library, handle);
        Ok((index(device)?, device))
    })
}

/// `nvmlDeviceGetIndex`, as a part of another question.
fn index(device: Device) -> Reading<u32> {
    let f = device.library().find(function!(nvmlDeviceGetIndex))?;
    let mut index = 0;
    // SAFETY: a live handle and a pointer to a number of our own.
    checked(unsafe { f(device.handle(), &mut index) })?;
    Ok(index)
}

/// The handle of a MIG device, `nvmlDeviceGetMigDeviceHandleByIndex`.
pub fn mig_handle<'d>(device: Device<'d>, index: u32) -> Reading<Device<'d>> {
    let f = function!(nvmlDeviceGetMigDeviceHandleByIndex);
    ask(f, device, move |f, device| {
        let mut mig = ptr::null_mut();
        // SAFETY: a live handle, a number, and a pointer to a handle of our own.
        checked(unsafe { f(device.handle(), index, &mut mig) })?;
        Ok(Device::new(device.library(), mig))
    })
}

fn zeroed<T: Plain>() -> T {
    // SAFETY: `Plain` promises that all zeroes are a value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// All zeroes but for the version, if there is one: what NVML is to fill in.
fn blank<T: Plain>() -> T {
    let mut answer: T = zeroed();
    answer.stamp();
    answer
}

/// `NVML_STRUCT_VERSION`: the size and the version in one number.
const fn version_of<T>(version: u32) -> u32 {
    size_of::<T>() as u32 | version << 24
}

/// `f(device, &mut answer)`, the version set if `T` has one.
pub fn get<T: Plain>(f: Function<Call<*mut T>>, device: Device) -> Reading<T> {
    ask(f, device, move |f, device| {
        let mut answer = blank();
        // SAFETY: a live handle and a pointer to a `T` of our own.
        checked(unsafe { f(device.handle(), &mut answer) })?;
        Ok(answer)
    })
}

/// As [`get`], for `nvmlEnableState_t`; a state that is neither of the two is unknown.
pub fn get_switch(f: Function<Call<*mut u32>>, device: Device) -> Reading<bool> {
    match get(f, device)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Missing::UNKNOWN),
    }
}

/// `f(device, &mut question)`, the version set and the rest of `question` as given.
pub fn get_versioned<T: Versioned>(
    f: Function<Call<*mut T>>,
    device: Device,
    question: impl FnOnce(&mut T),
) -> Reading<T> {
    let mut answer: T = blank();
    question(&mut answer);
    ask(f, device, move |f, device| {
        // SAFETY: as in `get`; the version tells NVML the size of `T`.
        checked(unsafe { f(device.handle(), &mut answer) })?;
        Ok(answer)
    })
}

/// `f(device, &mut first, &mut second)`.
pub fn get_pair<T: Plain, U: Plain>(
    f: Function<Call2<*mut T, *mut U>>,
    device: Device,
) -> Reading<(T, U)> {
    ask(f, device, move |f, device| {
        let (mut first, mut second) = (zeroed(), zeroed());
        // SAFETY: a live handle and pointers to values of our own.
        checked(unsafe { f(device.handle(), &mut first, &mut second) })?;
        Ok((first, second))
    })
}

/// `f(device, &mut first, &mut second, &mut third)`.
pub fn get_triple<T: Plain, U: Plain, V: Plain>(
    f: Function<Call3<*mut T, *mut U, *mut V>>,
    device: Device,
) -> Reading<(T, U, V)> {
    ask(f, device, move |f, device| {
        let (mut first, mut second, mut third) = (zeroed(), zeroed(), zeroed());
        // SAFETY: a live handle and pointers to values of our own.
        checked(unsafe { f(device.handle(), &mut first, &mut second, &mut third) })?;
        Ok((first, second, third))
    })
}

/// `f(device, &mut a, &mut b, &mut c, &mut d)`, four numbers.
pub fn get_four(
    f: Function<Call4<*mut u32, *mut u32, *mut u32, *mut u32>>,
    device: Device,
) -> Reading<[u32; 4]> {
    ask(f, device, move |f, device| {
        let (mut a, mut b, mut c, mut d) = (0, 0, 0, 0);
        // SAFETY: a live handle and pointers to values of our own.
        checked(unsafe { f(device.handle(), &mut a, &mut b, &mut c, &mut d) })?;
        Ok([a, b, c, d])
    })
}

/// `f(device, which, &mut answer)`.
pub fn get_for<A: Plain, T: Plain>(
    f: Function<Call2<A, *mut T>>,
    device: Device,
    which: A,
) -> Reading<T> {
    ask(f, device, move |f, device| {
        let mut answer = zeroed();
        // SAFETY: a live handle, a number, and a pointer to a `T` of our own.
        checked(unsafe { f(device.handle(), which, &mut answer) })?;
        Ok(answer)
    })
}

/// `f(device, one, two, &mut answer)`.
pub fn get_for2<A: Plain, B: Plain, T: Plain>(
    f: Function<Call3<A, B, *mut T>>,
    device: Device,
    one: A,
    two: B,
) -> Reading<T> {
    ask(f, device, move |f, device| {
        let mut answer = zeroed();
        // SAFETY: a live handle, two numbers, and a pointer to a `T` of our own.
        checked(unsafe { f(device.handle(), one, two, &mut answer) })?;
        Ok(answer)
    })
}

/// `f(device, one, two, three, &mut answer)`.
pub fn get_for3<A: Plain, B: Plain, C: Plain, T: Plain>(
    f: Function<Call4<A, B, C, *mut T>>,
    device: Device,
    (one, two, three): (A, B, C),
) -> Reading<T> {
    ask(f, device, move |f, device| {
        let mut answer = zeroed();
        // SAFETY: a live handle, three numbers, and a pointer to a `T` of our own.
        checked(unsafe { f(device.handle(), one, two, three, &mut answer) })?;
        Ok(answer)
    })
}

/// `f(device)`: a check with no answer but its code.
pub fn check(
    f: Function<unsafe extern "C" fn(nvmlDevice_t) -> nvmlReturn_t>,
    device: Device,
) -> Reading<()> {
    ask(f, device, move |f, device| {
        // SAFETY: a live handle.
        checked(unsafe { f(device.handle()) })
    })
}

/// A list that NVML copies into a buffer: the capacity goes in, the length
/// comes back. One call when `guess` is enough; otherwise as many as it takes,
/// for the list may grow between two calls.
pub fn get_list<T: Plain>(
    f: Function<Call2<*mut u32, *mut T>, Arrays>,
    device: Device,
    guess: usize,
) -> Reading<Vec<T>> {
    ask(f, device, move |f, device| {
        list(guess, |count, items| {
            // SAFETY: a live handle; `items` has room for `*count` values.
            unsafe { f(device.handle(), count, items) }
        })
    })
}

/// As [`get_list`], for lists by some `which`.
pub fn get_list_for<A: Plain, T: Plain>(
    f: Function<Call3<A, *mut u32, *mut T>, Arrays>,
    device: Device,
    which: A,
    guess: usize,
) -> Reading<Vec<T>> {
    ask(f, device, move |f, device| {
        list(guess, |count, items| {
            // SAFETY: a live handle, a number; `items` has room for `*count` values.
            unsafe { f(device.handle(), which, count, items) }
        })
    })
}

/// `nvmlDeviceGetRetiredPages_v2`: two lists of one length, page addresses and
/// the times of their retirement.
pub fn retired_pages(device: Device, cause: u32) -> Reading<Vec<(u64, u64)>> {
    ask(
        function!(nvmlDeviceGetRetiredPages_v2),
        device,
        move |f, device| {
            let mut times = Vec::new();
            let addresses: Vec<u64> = list(64, |count, addresses| {
                times.resize(*count as usize, 0u64);
                // SAFETY: a live handle, a number; both buffers hold `*count` numbers.
                unsafe { f(device.handle(), cause, count, addresses, times.as_mut_ptr()) }
            })?;
            Ok(addresses.into_iter().zip(times).collect())
        },
    )
}

/// The most entries that a list may have, whatever NVML says.
const MOST: usize = 1 << 20;

fn list<T: Plain>(
    guess: usize,
    mut call: impl FnMut(&mut u32, *mut T) -> nvmlReturn_t,
) -> Reading<Vec<T>> {
    let mut room = guess.min(MOST);
    loop {
        let mut items: Vec<T> = vec![zeroed(); room];
        let mut count = room as u32;
        match call(&mut count, items.as_mut_ptr()) {
            nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE if room < MOST => {
                room = (count as usize).saturating_add(8).max(room * 2).min(MOST);
            }
            code => {
                checked(code)?;
                return shortened(items, count);
            }
        }
    }
}

/// A short list, of GPUs or of places on one. Its length is asked for first, without an array.
fn counted<T: Copy>(empty: T, call: impl Fn(*mut T, &mut u32) -> nvmlReturn_t) -> Reading<Vec<T>> {
    let mut count = 0;
    checked(call(ptr::null_mut(), &mut count))?;
    if count == 0 {
        return Ok(Vec::new());
    }
    /// More than any machine has GPUs, or a GPU has slices.
    const ROOM: usize = 1024;
    let mut items = vec![empty; (count as usize).min(ROOM)];
    count = items.len() as u32;
    checked(call(items.as_mut_ptr(), &mut count))?;
    shortened(items, count)
}

/// The entries that NVML says it filled in. If it says that there are more than it
/// had room for, nobody knows what it wrote.
fn shortened<T>(mut items: Vec<T>, count: u32) -> Reading<Vec<T>> {
    if count as usize > items.len() {
        return Err(Missing::UNKNOWN);
    }
    items.truncate(count as usize);
    Ok(items)
}

/// A count that NVML reports, if there can be so many.
pub fn plausible(count: u32, most: u32) -> Reading<u32> {
    if count > most {
        Err(Missing::UNKNOWN)
    } else {
        Ok(count)
    }
}

/// `f(device, buffer, length)`: a string, whatever its bytes are.
pub fn get_string(
    f: Function<Call2<*mut c_char, u32>, Arrays>,
    device: Device,
    room: usize,
) -> Reading<String> {
    ask(f, device, move |f, device| {
        let mut buffer = vec![0u8; room];
        // SAFETY: a live handle and a buffer of the length that is told.
        checked(unsafe { f(device.handle(), buffer.as_mut_ptr().cast(), room as u32) })?;
        Ok(text(&buffer))
    })
}

/// As [`get_string`], for strings by some `which`.
pub fn get_string_for<A: Plain>(
    f: Function<Call3<A, *mut c_char, u32>, Arrays>,
    device: Device,
    which: A,
    room: usize,
) -> Reading<String> {
    ask(f, device, move |f, device| {
        let mut buffer = vec![0u8; room];
        // SAFETY: a live handle, a number, and a buffer of the length that is told.
        checked(unsafe {
            f(
                device.handle(),
                which,
                buffer.as_mut_ptr().cast(),
                room as u32,
            )
        })?;
        Ok(text(&buffer))
    })
}

/// A NUL-ended C string in a buffer; bytes that are no UTF-8 as `\xff`.
pub fn text(buffer: &[u8]) -> String {
    let text = CStr::from_bytes_until_nul(buffer).map_or(buffer, CStr::to_bytes);
    text.utf8_chunks()
        .fold(String::with_capacity(text.len()), |mut text, chunk| {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
            text
        })
}

/// A NUL-ended C string in an array member of a struct.
pub fn member(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().flat_map(|c| c.to_ne_bytes()).collect();
    text(&bytes)
}

/// `nvmlDeviceGetHostname_v1` (R580), which the bindings do not have yet: the
/// name that an administrator gave the GPU.
pub fn hostname(device: Device) -> Reading<String> {
    // SAFETY: it has this signature: nvmlHostname_v1_t is one array.
    let f: Function<Call<*mut Hostname>> = unsafe { unlisted!(nvmlDeviceGetHostname_v1) };
    get(f, device).map(|name| text(&name.0))
}

/// `nvmlDeviceGetRemappedRows_v2` (R580): counts with the inactive ones apart.
pub fn remapped_rows(device: Device) -> Reading<RemappedRows> {
    // SAFETY: it has this signature; the struct has no version member.
    let f: Function<Call<*mut RemappedRows>> = unsafe { unlisted!(nvmlDeviceGetRemappedRows_v2) };
    get(f, device)
}

/// `nvmlDeviceGetUnrepairableMemoryFlag_v1` (R580), which the bindings do not
/// have yet: whether memory has failed beyond repair.
pub fn unrepairable_memory(device: Device) -> Reading<bool> {
    // SAFETY: it has this signature: its struct is one number.
    let f: Function<Call<*mut u32>> = unsafe { unlisted!(nvmlDeviceGetUnrepairableMemoryFlag_v1) };
    get(f, device).map(|flag| flag != 0)
}

/// `nvmlDeviceGetBBXTimeData_v1` (R610), which the bindings do not have yet: seconds
/// that a driver has run the board.
pub fn time_run(device: Device) -> Reading<u32> {
    // SAFETY: it has this signature: its struct is one number.
    let f: Function<Call<*mut u32>> = unsafe { unlisted!(nvmlDeviceGetBBXTimeData_v1) };
    get(f, device)
}

/// `nvmlDeviceGetGspFirmwareVersion`, the one string whose room is not told:
/// NVML's header says 64 bytes.
pub fn gsp_version(device: Device) -> Reading<String> {
    const ROOM: usize = 64;
    ask(
        function!(nvmlDeviceGetGspFirmwareVersion),
        device,
        move |f, device| {
            let mut buffer = [0u8; 2 * ROOM];
            // SAFETY: a live handle and a buffer with room for what NVML may write.
            checked(unsafe { f(device.handle(), buffer.as_mut_ptr().cast()) })?;
            Ok(text(&buffer))
        },
    )
}

/// `nvmlDeviceGetDramEncryptionMode`: whether memory is encrypted, now and
/// after a reset.
pub fn dram_encryption(device: Device) -> Reading<(bool, bool)> {
    ask(
        function!(nvmlDeviceGetDramEncryptionMode),
        device,
        move |f, device| {
            let mut modes: [nvmlDramEncryptionInfo_v1_t; 2] = [blank(), blank()];
            let [current, pending] = &mut modes;
            // SAFETY: a live handle and pointers to versioned structs of our own.
            checked(unsafe { f(device.handle(), current, pending) })?;
            Ok((current.encryptionState != 0, pending.encryptionState != 0))
        },
    )
}
