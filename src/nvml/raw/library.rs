//! NVML's library, its functions, and the handles of its devices.
//!
//! A function is looked up when it is first called. nvml-wrapper's `Nvml` looks all
//! of the nearly 400 up at its start, and asks for the driver's version: of what
//! `-L` takes to start, list one GPU and end, that was a sixth.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::mem::{size_of, transmute_copy};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Error;
use nvml_wrapper_sys::bindings::{NvmlLib, nvmlDevice_t};

use super::functions::{Named, Values};
use super::system;
use crate::nvml::reading::{Missing, Reading};

/// A function of NVML: its name, its type `F`, how it uses its pointers (`K`, of
/// [`functions`](super::functions)), and where it is, once that is known.
pub struct Function<F, K = Values> {
    name: &'static CStr,
    kind: PhantomData<fn() -> (F, K)>,
    address: &'static Address,
}

impl<F, K> Clone for Function<F, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, K> Copy for Function<F, K> {}

/// Where a function is; `None` inside of one that the library lacks.
pub struct Address(OnceLock<Option<NonNull<c_void>>>);

// SAFETY: of use to every thread: a loaded library stays where it is.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl Address {
    /// Not yet known.
    pub const fn unknown() -> Self {
        Self(OnceLock::new())
    }
}

/// The function of this name, with the type that the bindings give it and the kind
/// that the table of [`functions`](super::functions) gives it.
macro_rules! function {
    ($name:ident) => {{
        use $crate::nvml::raw::functions;
        use $crate::nvml::raw::library::{Address, Function, c_name};
        static ADDRESS: Address = Address::unknown();
        const NAME: &std::ffi::CStr = c_name(concat!(stringify!($name), "\0"));
        #[allow(unsafe_code, reason = "one word is the name, the field and the row")]
        // SAFETY: as the reason says.
        let function =
            unsafe { Function::known::<functions::$name>(NAME, &ADDRESS, |known| &known.$name) };
        function
    }};
}

pub(in crate::nvml) use function;

/// A function by its name and the type that is expected of it, as
/// [`Function::unlisted`]: both the type and the use of pointers have to be those
/// of NVML's header. For what the bindings do not have, or give another struct.
macro_rules! unlisted {
    ($name:ident) => {{
        use $crate::nvml::raw::library::{Address, Function, c_name};
        static ADDRESS: Address = Address::unknown();
        const NAME: &std::ffi::CStr = c_name(concat!(stringify!($name), "\0"));
        Function::unlisted(NAME, &ADDRESS)
    }};
}

pub(super) use unlisted;

/// A name that ends in a NUL, as C's.
pub const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name has one NUL, at its end"),
    }
}

impl<F: Copy, K> Function<F, K> {
    /// For [`function!`] alone. The field is not read: it has the type.
    ///
    /// # Safety
    /// `name`, the field and `N` must be those of one function: [`Library::find`]
    /// takes what it finds by the name for an `F`.
    pub const unsafe fn known<N: Named<Kind = K>>(
        name: &'static CStr,
        address: &'static Address,
        _: fn(&NvmlLib) -> &Result<F, Error>,
    ) -> Self {
        Self {
            name,
            kind: PhantomData,
            address,
        }
    }

    /// For [`unlisted!`] alone.
    ///
    /// # Safety
    /// `F` must be the type that NVML's header gives the function, and `K` how it
    /// uses its pointers.
    pub(super) const unsafe fn unlisted(name: &'static CStr, address: &'static Address) -> Self {
        Self {
            name,
            kind: PhantomData,
            address,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name.to_str().unwrap_or("NVML")
    }
}

/// Whether a file is there that nobody but root can have put there, or can put another
/// one in place of: it, each folder above it and each link on the way to it belong to
/// root, and others may not write to them. In a folder with the sticky bit, such as
/// `/nix/store`, others may add files, but cannot replace those of root.
fn only_root_writes(path: &Path) -> bool {
    const ROOT: u32 = 0;
    const BY_OTHERS: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    // Without this, links in a circle would have no end.
    if !path.exists() {
        return false;
    }
    path.ancestors().all(|part| {
        let Ok(about) = part.symlink_metadata() else {
            return false;
        };
        let closed = about.mode() & BY_OTHERS == 0 || about.is_dir() && about.mode() & STICKY != 0;
        let safe = match (part.read_link(), part.parent()) {
            (Ok(target), Some(folder)) => only_root_writes(&folder.join(target)),
            _ => closed,
        };
        about.uid() == ROOT && safe
    })
}

/// NVML, loaded: once in a process, and never unloaded.
pub struct Library {
    library: libloading::Library,
    driver_version: Mutex<Option<String>>,
}

impl Library {
    /// Loads the library of this name, which the loader looks up, or of this path,
    /// which only root may have put there; `None` if there is none that can be loaded.
    /// It stays loaded: functions of it are known, and a question may still be out
    /// that nobody waits for any more.
    pub fn load(name: &str) -> Option<&'static Self> {
        if name.contains('/') && !only_root_writes(Path::new(name)) {
            return None;
        }
        // SAFETY: NVML's initialisers ask nothing of who loads it.
        let library = unsafe { libloading::Library::new(name) }.ok()?;
        Some(Box::leak(Box::new(Self {
            library,
            driver_version: Mutex::default(),
        })))
    }

    /// Where a function is; `NVML_ERROR_FUNCTION_NOT_FOUND` of a library that is
    /// older than it.
    pub fn find<F: Copy, K>(&self, function: Function<F, K>) -> Reading<F> {
        const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
        let look_up = || {
            let name = function.name.to_bytes_with_nul();
            // SAFETY: an address, whatever is there.
            let symbol = unsafe { self.library.get::<*mut c_void>(name) };
            symbol.ok().and_then(|address| NonNull::new(*address))
        };
        let address = function.address.0.get_or_init(look_up);
        let address = address.ok_or(Missing::FUNCTION_NOT_FOUND)?;
        // SAFETY: whoever made the `Function` says that this is its type.
        Ok(unsafe { transmute_copy(&address) })
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
