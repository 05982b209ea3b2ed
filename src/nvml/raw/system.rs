//! The calls that name no device handle: about the whole system, or about a
//! place on the PCI bus.

use std::ffi::c_char;

use nvml_wrapper_sys::bindings::*;

use super::library::{Function, Library, function};
use super::{Plain, Versioned, ask_driver, blank, checked, list, member, text, zeroed};
use crate::nvml::reading::Reading;

type Call1<A> = unsafe extern "C" fn(A) -> nvmlReturn_t;
type Call2<A, B> = unsafe extern "C" fn(A, B) -> nvmlReturn_t;

/// `f(&mut answer)`.
pub fn get<T: Plain>(f: Function<Call1<*mut T>>, library: &Library) -> Reading<T> {
    ask_driver(f, library, move |f| {
        let mut answer = blank();
        // SAFETY: a pointer to a `T` of our own.
        checked(unsafe { f(&mut answer) })?;
        Ok(answer)
    })
}

/// `f(which, &mut answer)`.
pub fn get_for<A: Plain, T: Plain>(
    f: Function<Call2<A, *mut T>>,
    library: &Library,
    which: A,
) -> Reading<T> {
    ask_driver(f, library, move |f| {
        let mut answer = zeroed();
        // SAFETY: a number and a pointer to a `T` of our own.
        checked(unsafe { f(which, &mut answer) })?;
        Ok(answer)
    })
}

/// `f(&mut question)`, the version set and the rest of `question` as given.
pub fn get_versioned<T: Versioned>(
    f: Function<Call1<*mut T>>,
    library: &Library,
    question: impl FnOnce(&mut T),
) -> Reading<T> {
    let mut answer: T = blank();
    question(&mut answer);
    ask_driver(f, library, move |f| {
        // SAFETY: as in `get`; the version tells NVML the size of `T`.
        checked(unsafe { f(&mut answer) })?;
        Ok(answer)
    })
}

/// `f(value)`.
pub fn set<A: Plain>(f: Function<Call1<A>>, library: &Library, value: A) -> Reading<()> {
    ask_driver(f, library, move |f| {
        // SAFETY: a number.
        checked(unsafe { f(value) })
    })
}

/// `nvmlInit_v2`, waited for by who opens the library.
pub fn init(library: &Library) -> Reading<()> {
    let f = library.find(function!(nvmlInit_v2))?;
    // SAFETY: no arguments.
    checked(unsafe { f() })
}

/// `nvmlShutdown`.
pub fn shutdown(library: &Library) -> Reading<()> {
    ask_driver(function!(nvmlShutdown), library, |f| {
        // SAFETY: no arguments; the library stays loaded.
        checked(unsafe { f() })
    })
}

type Text = unsafe extern "C" fn(*mut c_char, u32) -> nvmlReturn_t;

fn version(f: Text) -> Reading<String> {
    let mut buffer = [0u8; 80];
    // SAFETY: a buffer of the length that is told.
    checked(unsafe { f(buffer.as_mut_ptr().cast(), buffer.len() as u32) })?;
    Ok(text(&buffer))
}

/// `nvmlSystemGetDriverVersion`: `580.159.04`.
pub fn driver_version(library: &Library) -> Reading<String> {
    ask_driver(function!(nvmlSystemGetDriverVersion), library, version)
}

/// `nvmlSystemGetNVMLVersion`: `13.580.159.04`.
pub fn library_version(library: &Library) -> Reading<String> {
    ask_driver(function!(nvmlSystemGetNVMLVersion), library, version)
}

/// The same, which is the one question that a library answers without `nvmlInit`:
/// for the message about a library and a driver that do not match.
pub fn version_without_init(library: &Library) -> Reading<String> {
    version(library.find(function!(nvmlSystemGetNVMLVersion))?)
}

/// `nvmlSystemGetHicVersion`: ids and firmware versions of host interface cards.
pub fn interface_cards(library: &Library) -> Reading<Vec<(u32, String)>> {
    ask_driver(function!(nvmlSystemGetHicVersion), library, |f| {
        let cards: Vec<nvmlHwbcEntry_t> = list(16, |count, cards| {
            // SAFETY: `cards` has room for `*count` values.
            unsafe { f(count, cards) }
        })?;
        Ok(cards
            .iter()
            .map(|card| (card.hwbcId, member(&card.firmwareVersion)))
            .collect())
    })
}

/// `nvmlSystemGetProcessName`: what the process is called on the host, whatever
/// its bytes are.
pub fn process_name(library: &Library, pid: u32) -> Reading<String> {
    const ROOM: usize = 4096;
    ask_driver(function!(nvmlSystemGetProcessName), library, move |f| {
        let mut buffer = vec![0u8; ROOM];
        // SAFETY: a buffer of the length that is told.
        checked(unsafe { f(pid, buffer.as_mut_ptr().cast(), ROOM as u32) })?;
        Ok(text(&buffer))
    })
}

/// `nvmlGetExcludedDeviceInfoByIndex`: bus id and UUID of a GPU that the driver
/// leaves alone.
pub fn excluded_gpu(library: &Library, index: u32) -> Reading<(String, String)> {
    let info = get_for(function!(nvmlGetExcludedDeviceInfoByIndex), library, index)?;
    let nvmlExcludedDeviceInfo_t { pciInfo, uuid } = info;
    Ok((member(&pciInfo.busId), member(&uuid)))
}

fn pci((domain, bus, device): (u32, u32, u32)) -> nvmlPciInfo_t {
    let mut pci: nvmlPciInfo_t = zeroed();
    (pci.domain, pci.bus, pci.device) = (domain, bus, device);
    let write = |to: &mut [c_char], text: &str| {
        let room = to.len() - 1;
        for (to, from) in to[..room].iter_mut().zip(text.bytes()) {
            *to = from as c_char;
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
pub fn drain_state(library: &Library, place: (u32, u32, u32)) -> Reading<u32> {
    ask_driver(function!(nvmlDeviceQueryDrainState), library, move |f| {
        let (mut place, mut state) = (pci(place), 0);
        // SAFETY: pointers to values of our own.
        checked(unsafe { f(&mut place, &mut state) })?;
        Ok(state)
    })
}

/// `nvmlDeviceModifyDrainState`.
pub fn set_drain_state(library: &Library, place: (u32, u32, u32), state: u32) -> Reading<()> {
    ask_driver(function!(nvmlDeviceModifyDrainState), library, move |f| {
        // SAFETY: a pointer to a struct of our own, and a number.
        checked(unsafe { f(&mut pci(place), state) })
    })
}

/// `nvmlDeviceRemoveGpu_v2`: the GPU goes, its link stays as it is.
pub fn remove(library: &Library, place: (u32, u32, u32)) -> Reading<()> {
    ask_driver(function!(nvmlDeviceRemoveGpu_v2), library, move |f| {
        let gpu = nvmlDetachGpuState_enum_NVML_DETACH_GPU_REMOVE;
        let link = nvmlPcieLinkState_enum_NVML_PCIE_LINK_KEEP;
        // SAFETY: a pointer to a struct of our own, and two numbers.
        checked(unsafe { f(&mut pci(place), gpu, link) })
    })
}

/// `nvmlDeviceDiscoverGpus`, everywhere.
pub fn discover(library: &Library) -> Reading<()> {
    ask_driver(function!(nvmlDeviceDiscoverGpus), library, move |f| {
        // SAFETY: a pointer to a struct of our own.
        checked(unsafe { f(&mut zeroed()) })
    })
}
