//! What processes do on a GPU: lists inside of structs.

use nvml_wrapper_sys::bindings::*;

use super::library::{Device, Function, function, unlisted};
use super::{Call2, Plain, ask, get_list, list, version_of};
use crate::nvml::facts::{Context, ProcessLoad};
use crate::nvml::reading::{Missing, Reading};

plain!(
    nvmlProcessDetail_v1_t,
    nvmlProcessUtilizationInfo_v1_t,
    nvmlProcessUtilizationSample_t,
);

/// How many processes a first call has room for. An H200 asks for room for 72
/// samples, however few there are.
const GUESS: usize = 128;

/// Declares the lists of processes with a context on the GPU: the newest form of
/// the question, and that of drivers before R510, which answers alike.
macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident = $newest:ident, $older:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(device: Device) -> Reading<Vec<Context>> {
            const GUESS: usize = 64;
            let newest: Function<Call2<*mut u32, *mut nvmlProcessInfo_t>> = function!($newest);
            let f = match device.library().find(newest) {
                Ok(_) => newest,
                // SAFETY: `_v2` has the signature and the struct of `_v3`.
                Err(_) => unsafe { unlisted!($older) },
            };
            let processes = get_list(f, device, GUESS)?;
            Ok(processes.into_iter().map(Context::from).collect())
        }
    )*};
}

lists! {
    /// `nvmlDeviceGetComputeRunningProcesses_v3`.
    compute = nvmlDeviceGetComputeRunningProcesses_v3, nvmlDeviceGetComputeRunningProcesses_v2;
    /// `nvmlDeviceGetGraphicsRunningProcesses_v3`.
    graphics = nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlDeviceGetGraphicsRunningProcesses_v2;
    /// `nvmlDeviceGetMPSComputeRunningProcesses_v3`.
    mps = nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlDeviceGetMPSComputeRunningProcesses_v2;
}

/// How busy each process kept the GPU after `since`, microseconds since 1970:
/// `nvmlDeviceGetProcessesUtilizationInfo`, or `nvmlDeviceGetProcessUtilization`,
/// which knows fewer engines, where the library lacks it. NVML calls it "not
/// found" when there was none.
pub fn loads(device: Device, since: u64) -> Reading<Vec<ProcessLoad>> {
    let loads = match loads_of_all_engines(device, since) {
        Err(Missing::FUNCTION_NOT_FOUND | Missing::NotSupported) => {
            loads_of_some_engines(device, since)
        }
        loads => loads,
    };
    match loads {
        Err(Missing::NOT_FOUND) => Ok(Vec::new()),
        loads => loads,
    }
}

fn loads_of_all_engines(device: Device, since: u64) -> Reading<Vec<ProcessLoad>> {
    ask(
        function!(nvmlDeviceGetProcessesUtilizationInfo),
        device,
        move |f, device| {
            let processes = list(GUESS, |count, items| {
                let mut question = nvmlProcessesUtilizationInfo_v1_t {
                    version: version_of::<nvmlProcessesUtilizationInfo_v1_t>(1),
                    processSamplesCount: *count,
                    lastSeenTimeStamp: since,
                    procUtilArray: items,
                };
                // SAFETY: a live handle and a versioned struct of our own, whose array
                // has room for as many as it says.
                let code = unsafe { f(device.handle(), &mut question) };
                *count = question.processSamplesCount;
                code
            })?;
            Ok(processes.into_iter().map(ProcessLoad::from).collect())
        },
    )
}

fn loads_of_some_engines(device: Device, since: u64) -> Reading<Vec<ProcessLoad>> {
    ask(
        function!(nvmlDeviceGetProcessUtilization),
        device,
        move |f, device| {
            let processes = list(GUESS, |count, items| {
                // SAFETY: a live handle, a number; `items` has room for `*count` values.
                unsafe { f(device.handle(), items, count, since) }
            })?;
            Ok(processes.into_iter().map(ProcessLoad::from).collect())
        },
    )
}

/// `nvmlDeviceGetRunningProcessDetailList` (R535): the bytes of protected
/// memory that each process holds, by pid. `mode`: 0 compute, 1 graphics, 2 MPS.
pub fn protected_memory(device: Device, mode: u32) -> Reading<Vec<(u32, u64)>> {
    ask(
        function!(nvmlDeviceGetRunningProcessDetailList),
        device,
        move |f, device| {
            let processes: Vec<nvmlProcessDetail_v1_t> = list(GUESS, |count, items| {
                let mut question = nvmlProcessDetailList_v1_t {
                    version: version_of::<nvmlProcessDetailList_v1_t>(1),
                    mode,
                    numProcArrayEntries: *count,
                    procArray: items,
                };
                // SAFETY: as in `loads_of_all_engines`.
                let code = unsafe { f(device.handle(), &mut question) };
                *count = question.numProcArrayEntries;
                code
            })?;
            Ok(processes
                .iter()
                .map(|process| (process.pid, process.usedGpuCcProtectedMemory))
                .collect())
        },
    )
}
