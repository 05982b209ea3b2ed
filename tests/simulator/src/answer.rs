//! NVML's return codes, and writing an answer through the pointers that a caller passes.

use std::ffi::{c_char, c_uint};

use nvml_wrapper_sys::bindings::*;

use crate::machine::Machine;

/// What an NVML function answers: success, or its return code.
pub type Answer<T = ()> = Result<T, nvmlReturn_t>;

macro_rules! codes {
    ($($name:ident = $value:ident, $text:literal;)*) => {
        $(#[allow(dead_code, reason = "one constant per code, used or not")]
        pub const $name: nvmlReturn_t = $value;)*
        /// Every code: its number, its name in box files, and what nvmlErrorString says.
        const CODES: &[(nvmlReturn_t, &str, &std::ffi::CStr)] = &[$(($name, stringify!($name), $text)),*];
    };
}

codes! {
    SUCCESS = nvmlReturn_enum_NVML_SUCCESS, c"Success";
    UNINITIALIZED = nvmlReturn_enum_NVML_ERROR_UNINITIALIZED, c"Uninitialized";
    INVALID_ARGUMENT = nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT, c"Invalid Argument";
    NOT_SUPPORTED = nvmlReturn_enum_NVML_ERROR_NOT_SUPPORTED, c"Not Supported";
    NO_PERMISSION = nvmlReturn_enum_NVML_ERROR_NO_PERMISSION, c"Insufficient Permissions";
    ALREADY_INITIALIZED = nvmlReturn_enum_NVML_ERROR_ALREADY_INITIALIZED, c"Already Initialized";
    NOT_FOUND = nvmlReturn_enum_NVML_ERROR_NOT_FOUND, c"Not Found";
    INSUFFICIENT_SIZE = nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE, c"Insufficient Size";
    INSUFFICIENT_POWER = nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_POWER, c"Insufficient External Power";
    DRIVER_NOT_LOADED = nvmlReturn_enum_NVML_ERROR_DRIVER_NOT_LOADED, c"Driver Not Loaded";
    TIMEOUT = nvmlReturn_enum_NVML_ERROR_TIMEOUT, c"Timeout";
    IRQ_ISSUE = nvmlReturn_enum_NVML_ERROR_IRQ_ISSUE, c"Interrupt Request Issue";
    LIBRARY_NOT_FOUND = nvmlReturn_enum_NVML_ERROR_LIBRARY_NOT_FOUND, c"NVML Shared Library Not Found";
    FUNCTION_NOT_FOUND = nvmlReturn_enum_NVML_ERROR_FUNCTION_NOT_FOUND, c"Function Not Found";
    CORRUPTED_INFOROM = nvmlReturn_enum_NVML_ERROR_CORRUPTED_INFOROM, c"Corrupted infoROM";
    GPU_IS_LOST = nvmlReturn_enum_NVML_ERROR_GPU_IS_LOST, c"GPU is lost";
    RESET_REQUIRED = nvmlReturn_enum_NVML_ERROR_RESET_REQUIRED, c"GPU requires reset";
    OPERATING_SYSTEM = nvmlReturn_enum_NVML_ERROR_OPERATING_SYSTEM, c"Blocked by the operating system";
    LIB_RM_VERSION_MISMATCH = nvmlReturn_enum_NVML_ERROR_LIB_RM_VERSION_MISMATCH, c"Driver/library version mismatch";
    IN_USE = nvmlReturn_enum_NVML_ERROR_IN_USE, c"In use by another client";
    MEMORY = nvmlReturn_enum_NVML_ERROR_MEMORY, c"Insufficient Memory";
    NO_DATA = nvmlReturn_enum_NVML_ERROR_NO_DATA, c"No data";
    VGPU_ECC_NOT_SUPPORTED = nvmlReturn_enum_NVML_ERROR_VGPU_ECC_NOT_SUPPORTED, c"vGPU with ECC not supported";
    INSUFFICIENT_RESOURCES = nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_RESOURCES, c"Insufficient Resources";
    FREQ_NOT_SUPPORTED = nvmlReturn_enum_NVML_ERROR_FREQ_NOT_SUPPORTED, c"Frequency not supported";
    ARGUMENT_VERSION_MISMATCH = nvmlReturn_enum_NVML_ERROR_ARGUMENT_VERSION_MISMATCH, c"Argument version mismatch";
    DEPRECATED = nvmlReturn_enum_NVML_ERROR_DEPRECATED, c"Requested functionality has been deprecated";
    NOT_READY = nvmlReturn_enum_NVML_ERROR_NOT_READY, c"System is not in ready state";
    GPU_NOT_FOUND = nvmlReturn_enum_NVML_ERROR_GPU_NOT_FOUND, c"GPU not found";
    INVALID_STATE = nvmlReturn_enum_NVML_ERROR_INVALID_STATE, c"Invalid state";
    RESET_TYPE_NOT_SUPPORTED = nvmlReturn_enum_NVML_ERROR_RESET_TYPE_NOT_SUPPORTED, c"Reset type not supported";
    UNKNOWN = nvmlReturn_enum_NVML_ERROR_UNKNOWN, c"Unknown Error";
}

/// The code of a name (`GPU_IS_LOST`) or of a number (`15`).
pub fn code(name: &str) -> Option<nvmlReturn_t> {
    match CODES.iter().find(|row| row.1 == name) {
        Some(row) => Some(row.0),
        None => name.parse().ok(),
    }
}

/// What nvmlErrorString says about a code.
pub fn text(code: nvmlReturn_t) -> &'static std::ffi::CStr {
    CODES
        .iter()
        .find(|row| row.0 == code)
        .map_or(c"Unknown Error", |row| row.2)
}

/// Writes one value.
///
/// # Safety
/// `out` is null or valid for a write of `T`.
pub unsafe fn put<T>(out: *mut T, value: T) -> Answer {
    if out.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { out.write(value) };
    Ok(())
}

/// Writes a string and its NUL.
///
/// # Safety
/// `out` is null or valid for writes of `length` bytes.
pub unsafe fn put_text(out: *mut c_char, length: c_uint, text: impl AsRef<[u8]>) -> Answer {
    let text = text.as_ref();
    if out.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    if text.len() + 1 > length as usize {
        return Err(INSUFFICIENT_SIZE);
    }
    // SAFETY: the text and its NUL fit into the `length` bytes that the caller vouches for.
    unsafe {
        out.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
        out.add(text.len()).write(0);
    }
    Ok(())
}

/// Writes a list in NVML's manner: `*count` holds the capacity and becomes the length; a list that
/// does not fit (or no array at all) answers INSUFFICIENT_SIZE, with the length.
///
/// # Safety
/// `count` is null or valid for reads and writes; `array` is null or valid for `*count` items.
pub unsafe fn put_list<T: Copy>(count: *mut c_uint, array: *mut T, items: &[T]) -> Answer {
    if count.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: `count` is not null; `array` holds `*count` items by the caller's word.
    unsafe {
        let capacity = count.read() as usize;
        if let Some((length, answer)) = lying_length() {
            count.write(length);
            return answer;
        }
        count.write(items.len() as c_uint);
        if items.is_empty() {
            return Ok(());
        }
        if array.is_null() || capacity < items.len() {
            return Err(INSUFFICIENT_SIZE);
        }
        array.copy_from_nonoverlapping(items.as_ptr(), items.len());
    }
    Ok(())
}

/// Writes a list as [`put_list`] does, but a null array asks for the length alone.
///
/// # Safety
/// As [`put_list`].
pub unsafe fn put_list_or_count<T: Copy>(count: *mut c_uint, array: *mut T, items: &[T]) -> Answer {
    // SAFETY: by the caller's word.
    unsafe {
        if array.is_null() {
            put(
                count,
                lying_length().map_or(items.len() as c_uint, |(length, _)| length),
            )
        } else {
            put_list(count, array, items)
        }
    }
}

/// Fills a versioned structure. Its first field says the caller's version and size; no more than
/// that size is written, so that callers of older layouts are served the fields that they know.
///
/// # Safety
/// `out` is null, or points to a structure whose first field is a version with a true size, laid out
/// as a prefix of `T`.
pub unsafe fn put_versioned<T>(out: *mut T, fill: impl FnOnce(&mut T) -> Answer) -> Answer {
    if out.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: the caller's structure begins with its version, which holds its size in the low 24
    // bits; all NVML structures are plain data, for which zero is a value.
    unsafe {
        let version = out.cast::<c_uint>().read();
        let size = (version & 0x00ff_ffff) as usize;
        if size < size_of::<c_uint>()
            || newest_version::<T>().is_some_and(|newest| version >> 24 > newest)
        {
            return Err(ARGUMENT_VERSION_MISMATCH);
        }
        let mut full = std::mem::zeroed::<T>();
        let given = size.min(size_of::<T>());
        std::ptr::copy_nonoverlapping(out.cast::<u8>(), (&raw mut full).cast::<u8>(), given);
        fill(&mut full)?;
        std::ptr::copy_nonoverlapping((&raw const full).cast::<u8>(), out.cast::<u8>(), given);
    }
    Ok(())
}

/// The newest version of a structure that the box's driver knows, where the box says so: `GpuFabricInfo`
/// of `nvmlGpuFabricInfo_v3_t` under `layouts.structs`.
fn newest_version<T>() -> Option<c_uint> {
    let name = std::any::type_name::<T>().rsplit("::nvml").next()?;
    let (name, _) = name.rsplit_once("_v")?;
    Machine::get().read(&format!("layouts.structs.{name}")).ok()
}

/// How many entries every list has, where the box lies about that: `lists.length`; and what a call answers
/// that has less room.
fn lying_length() -> Option<(c_uint, Answer)> {
    let machine = Machine::get();
    let length = machine.read("lists.length").ok()?;
    Some((length, machine.read::<c_uint>("lists.answer").map(|_| ())))
}

/// Copies text into a fixed array of a structure, cut to fit, NUL-ended.
pub fn fill_text(array: &mut [c_char], text: &str) {
    array.fill(0);
    let room = array.len().saturating_sub(1);
    for (to, from) in array.iter_mut().zip(text.bytes().take(room)) {
        *to = from as c_char;
    }
}
