//! The NVML functions. Most are rows of tables: a function, the type it writes, and the key of the box
//! file that holds the value.

#![allow(non_snake_case, reason = "the exported names are NVML's")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract is NVML's: pointers are null or valid, sizes are true"
)]

/// Functions about the machine, written out: `name(machine, arguments) { body }`.
macro_rules! system_calls {
    ($($name:ident($machine:pat $(, $arg:ident: $type:ty)* $(,)?) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> nvml_wrapper_sys::bindings::nvmlReturn_t {
            $crate::gate::system_call(stringify!($name), |$machine| {
                #[allow(unused_unsafe, reason = "not every body writes through a pointer")]
                // SAFETY: NVML's contract: the caller's pointers are null or valid.
                unsafe { $body }
            })
        }
    )*};
}

/// Functions about a device, written out: `name(gpu, further arguments) { body }`.
macro_rules! device_calls {
    ($($name:ident($gpu:pat $(, $arg:ident: $type:ty)* $(,)?) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            device: nvml_wrapper_sys::bindings::nvmlDevice_t $(, $arg: $type)*
        ) -> nvml_wrapper_sys::bindings::nvmlReturn_t {
            $crate::gate::device_call(stringify!($name), device, |$gpu| {
                #[allow(unused_unsafe, reason = "not every body writes through a pointer")]
                // SAFETY: NVML's contract: the caller's pointers are null or valid.
                unsafe { $body }
            })
        }
    )*};
}

/// Functions that write one number: `name: type = "key"`.
macro_rules! numbers {
    ($($name:ident: $type:ty = $key:literal;)*) => {
        device_calls! {$(
            $name(gpu, out: *mut $type) { $crate::answer::put(out, gpu.read($key)?) }
        )*}
    };
}

/// Functions that write two numbers.
macro_rules! pairs {
    ($($name:ident: $type:ty = $first:literal, $second:literal;)*) => {
        device_calls! {$(
            $name(gpu, first: *mut $type, second: *mut $type) {
                $crate::answer::put(first, gpu.read($first)?)?;
                $crate::answer::put(second, gpu.read($second)?)
            }
        )*}
    };
}

/// Functions that write a string.
macro_rules! strings {
    ($($name:ident = $key:literal;)*) => {
        device_calls! {$(
            $name(gpu, out: *mut std::ffi::c_char, length: std::ffi::c_uint) {
                $crate::answer::put_text(out, length, gpu.read::<$crate::data::Text>($key)?.0)
            }
        )*}
    };
}

/// Functions that fill a structure: field = "key".
macro_rules! structures {
    ($($name:ident: $type:ident { $($field:ident = $key:literal),* $(,)? })*) => {
        device_calls! {$(
            $name(gpu, out: *mut $type) {
                $crate::answer::put(out, $type { $($field: gpu.read($key)?),* })
            }
        )*}
    };
}

/// Functions that fill a structure which begins with its version.
macro_rules! versioned {
    ($($name:ident: $type:ty { $($field:ident = $key:literal),* $(,)? })*) => {
        device_calls! {$(
            $name(gpu, out: *mut $type) {
                $crate::answer::put_versioned(out, |filled| {
                    $(filled.$field = gpu.read($key)?;)*
                    Ok(())
                })
            }
        )*}
    };
}

mod device;
mod events;
mod fields;
mod gpm;
mod lists;
mod mig;
mod nvlink;
mod power;
mod processes;
mod readings;
mod setters;
mod stubs;
mod system;
mod table;
mod topology;
