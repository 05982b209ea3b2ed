//! NVML's library, its functions, and the handles of its devices.
//!
//! A function is looked up when it is called, which takes about as long as a few
//! hundred additions. nvml-wrapper's `Nvml` looks all of them up at its start, and
//! asks for the driver's version: that alone is more than `-L` needs.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use libloading::Error;
use nvml_wrapper_sys::bindings::{NvmlLib, nvmlDevice_t};

use super::system;
use crate::nvml::reading::{Missing, Reading};

/// A function of NVML: its name, and its type `F`.
#[derive(Clone, Copy)]
pub struct Function<F> {
    name: &'static CStr,
    kind: PhantomData<F>,
}

/// The function of this name, with the type that the bindings give it.
macro_rules! function {
    ($name:ident) => {
        $crate::nvml::raw::library::Function::known(
            const { $crate::nvml::raw::library::c_name(concat!(stringify!($name), "\0")) },
            |known| &known.$name,
        )
    };
}

pub(in crate::nvml) use function;

/// A name that ends in a NUL, as C's.
pub const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name has one NUL, at its end"),
    }
}

impl<F: Copy> Function<F> {
    /// For [`function!`] alone, which makes the name and the field one. The field
    /// is not read: it has the type.
    pub const fn known(name: &'static CStr, _: fn(&NvmlLib) -> &Result<F, Error>) -> Self {
        let kind = PhantomData;
        Self { name, kind }
    }

    /// A function that the bindings do not have.
    ///
    /// # Safety
    /// `F` must be the type that NVML's header gives the function.
    pub(super) const unsafe fn unlisted(name: &'static CStr) -> Self {
        let kind = PhantomData;
        Self { name, kind }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name.to_str().unwrap_or("NVML")
    }
}

/// NVML, loaded.
pub struct Library {
    library: libloading::Library,
    driver_version: Mutex<Option<String>>,
}

impl Library {
    /// Loads the library of this name or path, where there is one that can be.
    pub fn load(name: &str) -> Option<Self> {
        // SAFETY: NVML's initialisers ask nothing of who loads it.
        let library = unsafe { libloading::Library::new(name) }.ok()?;
        Some(Self {
            library,
            driver_version: Mutex::default(),
        })
    }

    /// Where a function is; `NVML_ERROR_FUNCTION_NOT_FOUND` of a library that is
    /// older than it.
    pub fn find<F: Copy>(&self, function: Function<F>) -> Reading<F> {
        let name = function.name.to_bytes_with_nul();
        // SAFETY: whoever made the `Function` says that this is its type.
        let found = unsafe { self.library.get::<F>(name) };
        found
            .map(|symbol| *symbol)
            .map_err(|_| Missing::FUNCTION_NOT_FOUND)
    }

    /// The driver's version, `580.159.04`, kept once it was told.
    pub fn driver_version(&self) -> Reading<String> {
        let mut kept = self
            .driver_version
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = &*kept {
            return Ok(version.clone());
        }
        let version = system::driver_version(self)?;
        Ok(kept.insert(version).clone())
    }
}

/// A GPU or a MIG device, by the handle that NVML gave for it.
#[derive(Clone, Copy)]
pub struct Device<'d> {
    library: &'static Library,
    handle: nvmlDevice_t,
    driver: PhantomData<&'d Library>,
}

// SAFETY: NVML takes its handles from any thread.
unsafe impl Send for Device<'_> {}
// SAFETY: as above.
unsafe impl Sync for Device<'_> {}

impl Device<'_> {
    /// What NVML gave.
    pub(super) fn new(library: &'static Library, handle: nvmlDevice_t) -> Self {
        Self {
            library,
            handle,
            driver: PhantomData,
        }
    }

    /// The library that gave it.
    pub fn library(self) -> &'static Library {
        self.library
    }

    pub(super) fn handle(self) -> nvmlDevice_t {
        self.handle
    }

    /// The same for a question that may outlast the driver's use, which NVML then
    /// answers with a code.
    pub(super) fn lasting(self) -> Device<'static> {
        Device::new(self.library, self.handle)
    }
}
