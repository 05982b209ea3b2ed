//! The calls that name no device handle: about the whole system, or about a
//! place on the PCI bus.

use nvml_wrapper_sys::bindings::*;

use super::{Plain, Symbol, Versioned, ask_driver, checked, stamp, zeroed};
use crate::nvml::reading::Reading;

type Call1<A> = unsafe extern "C" fn(A) -> nvmlReturn_t;

/// `f(&mut answer)`.
pub fn get<T: Plain, E>(f: &Symbol<Call1<*mut T>, E>) -> Reading<T> {
    ask_driver(f, move |f| {
        let mut answer = zeroed();
        // SAFETY: a pointer to a `T` of our own.
        checked(unsafe { f(&mut answer) })?;
        Ok(answer)
    })
}

/// `f(&mut question)`, the version set and the rest of `question` as given.
pub fn get_versioned<T: Versioned, E>(
    f: &Symbol<Call1<*mut T>, E>,
    question: impl FnOnce(&mut T),
) -> Reading<T> {
    let mut answer: T = zeroed();
    stamp(&mut answer);
    question(&mut answer);
    ask_driver(f, move |f| {
        // SAFETY: as in `get`; the version tells NVML the size of `T`.
        checked(unsafe { f(&mut answer) })?;
        Ok(answer)
    })
}

/// `f(value)`.
pub fn set<A: Plain, E>(f: &Symbol<Call1<A>, E>, value: A) -> Reading<()> {
    ask_driver(f, move |f| {
        // SAFETY: a number.
        checked(unsafe { f(value) })
    })
}

/// `nvmlShutdown`.
pub fn shutdown(f: unsafe extern "C" fn() -> nvmlReturn_t) -> Reading<()> {
    // SAFETY: no arguments; the library stays loaded.
    checked(unsafe { f() })
}

fn pci((domain, bus, device): (u32, u32, u32)) -> nvmlPciInfo_t {
    let mut pci: nvmlPciInfo_t = zeroed();
    (pci.domain, pci.bus, pci.device) = (domain, bus, device);
    let write = |to: &mut [std::ffi::c_char], text: &str| {
        let room = to.len() - 1;
        for (to, from) in to[..room].iter_mut().zip(text.bytes()) {
            *to = from as std::ffi::c_char;
        }
    };
    write(
        &mut pci.busId,
        &format!("{domain:08X}:{bus:02X}:{device:02X}.0"),
    );
    write(
        &mut pci.busIdLegacy,
        &format!("{domain:04X}:{bus:02X}:{device:02X}.0"),
    );
    pci
}

/// `nvmlDeviceQueryDrainState`.
pub fn drain_state(lib: &NvmlLib, place: (u32, u32, u32)) -> Reading<u32> {
    ask_driver(&lib.nvmlDeviceQueryDrainState, move |f| {
        let (mut place, mut state) = (pci(place), 0);
        // SAFETY: pointers to values of our own.
        checked(unsafe { f(&mut place, &mut state) })?;
        Ok(state)
    })
}

/// `nvmlDeviceModifyDrainState`.
pub fn set_drain_state(lib: &NvmlLib, place: (u32, u32, u32), state: u32) -> Reading<()> {
    ask_driver(&lib.nvmlDeviceModifyDrainState, move |f| {
        // SAFETY: a pointer to a struct of our own, and a number.
        checked(unsafe { f(&mut pci(place), state) })
    })
}

/// `nvmlDeviceRemoveGpu_v2`: the GPU goes, its link stays as it is.
pub fn remove(lib: &NvmlLib, place: (u32, u32, u32)) -> Reading<()> {
    ask_driver(&lib.nvmlDeviceRemoveGpu_v2, move |f| {
        let gpu = nvmlDetachGpuState_enum_NVML_DETACH_GPU_REMOVE;
        let link = nvmlPcieLinkState_enum_NVML_PCIE_LINK_KEEP;
        // SAFETY: a pointer to a struct of our own, and two numbers.
        checked(unsafe { f(&mut pci(place), gpu, link) })
    })
}

/// `nvmlDeviceDiscoverGpus`, everywhere.
pub fn discover(lib: &NvmlLib) -> Reading<()> {
    ask_driver(&lib.nvmlDeviceDiscoverGpus, move |f| {
        // SAFETY: a pointer to a struct of our own.
        checked(unsafe { f(&mut zeroed()) })
    })
}
