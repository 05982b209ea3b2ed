//! What processes do on a GPU: lists inside of structs.

use nvml_wrapper_sys::bindings::*;

use super::forms::older;
use super::functions::Arrays;
use super::library::{Device, Function, Library, function, unlisted};
use super::{Call2, Plain, ask, list, version_of};
use crate::nvml::facts::{Context, ProcessLoad};
use crate::nvml::reading::{Missing, Reading};

plain!(
    Longest,
    nvmlProcessDetail_v1_t,
    nvmlProcessUtilizationInfo_v1_t,
    nvmlProcessUtilizationSample_t,
);

/// How many processes a first call has room for. An H200 asks for room for 72
/// samples, however few there are.
const GUESS: usize = 128;

/// Room for one entry of a list of contexts, in any layout that it has had, in words
/// of 8 bytes: the process, its memory, its instances, its protected memory.
type Longest = [u64; 4];

/// Entries of `_v1`: they end with the memory.
const WITHOUT_INSTANCES: usize = 2;
/// Entries of `_v2`, and of `_v3` in nearly all drivers.
const WITH_INSTANCES: usize = 3;
/// Entries of `_v3` in drivers 535.43 to 535.86.
const WITH_PROTECTED_MEMORY: usize = 4;

/// A function that lists contexts, whatever the entries are.
type Lists = Function<Call2<*mut u32, *mut Longest>, Arrays>;

/// Declares the lists of processes with a context on the GPU: their forms, the newest first.
macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident = $v3:ident, $v2:ident, $v1:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(device: Device) -> Reading<Vec<Context>> {
            // SAFETY: each fills an array of as many entries as it is told, none of
            // which is longer than `Longest`.
            contexts(device, unsafe { [unlisted!($v3), unlisted!($v2), unlisted!($v1)] })
        }
    )*};
}

lists! {
    /// `nvmlDeviceGetComputeRunningProcesses_v3`.
    compute = nvmlDeviceGetComputeRunningProcesses_v3,
        nvmlDeviceGetComputeRunningProcesses_v2,
        nvmlDeviceGetComputeRunningProcesses;
    /// `nvmlDeviceGetGraphicsRunningProcesses_v3`.
    graphics = nvmlDeviceGetGraphicsRunningProcesses_v3,
        nvmlDeviceGetGraphicsRunningProcesses_v2,
        nvmlDeviceGetGraphicsRunningProcesses;
    /// `nvmlDeviceGetMPSComputeRunningProcesses_v3`.
    mps = nvmlDeviceGetMPSComputeRunningProcesses_v3,
        nvmlDeviceGetMPSComputeRunningProcesses_v2,
        nvmlDeviceGetMPSComputeRunningProcesses;
}

fn contexts(device: Device, [v3, v2, v1]: [Lists; 3]) -> Reading<Vec<Context>> {
    let newest = if tells_protected_memory(device.library()) {
        WITH_PROTECTED_MEMORY
    } else {
        WITH_INSTANCES
    };
    entries(device, v3, newest)
        .or_else(older(|| entries(device, v2, WITH_INSTANCES)))
        .or_else(older(|| entries(device, v1, WITHOUT_INSTANCES)))
}

/// Whether this is one of the drivers whose lists tell protected memory. They are the
/// ones that have confidential computing, and not yet the list that tells it since.
fn tells_protected_memory(library: &Library) -> bool {
    library
        .find(function!(nvmlDeviceGetConfComputeMemSizeInfo))
        .is_ok()
        && library
            .find(function!(nvmlDeviceGetRunningProcessDetailList))
            .is_err()
}

/// A list whose entries are this many words long. There is room for the longest
/// entries, so that NVML stays inside of it even where the length is not this.
fn entries(device: Device, f: Lists, words: usize) -> Reading<Vec<Context>> {
    const ROOM: usize = 64;
    ask(f, device, move |f, device| {
        let room = list(ROOM, |count, items| {
            // SAFETY: a live handle; `items` has room for `*count` of the longest entries.
            unsafe { f(device.handle(), count, items) }
        })?;
        let entries = room.as_flattened().chunks_exact(words).take(room.len());
        Ok(entries.map(context).collect())
    })
}

fn context(entry: &[u64]) -> Context {
    const NO_INSTANCES: u64 = u64::MAX;
    let word = |place: usize| entry.get(place).copied();
    let [pid, _] = halves(word(0).unwrap_or_default());
    let [gpu_instance, compute_instance] = halves(word(2).unwrap_or(NO_INSTANCES));
    Context::from(nvmlProcessInfo_t {
        pid,
        usedGpuMemory: word(1).unwrap_or_default(),
        gpuInstanceId: gpu_instance,
        computeInstanceId: compute_instance,
    })
}

/// The two numbers of 4 bytes that a word holds, in the order of memory.
fn halves(word: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    [[a, b, c, d], [e, f, g, h]].map(u32::from_ne_bytes)
}

/// How busy each process kept the GPU after `since`, microseconds since 1970:
/// `nvmlDeviceGetProcessesUtilizationInfo`, or `nvmlDeviceGetProcessUtilization`,
/// which knows fewer engines, where the library lacks it. NVML calls it "not
/// found" when there was none.
pub fn loads(device: Device, since: u64) -> Reading<Vec<ProcessLoad>> {
    let loads = match loads_of_all_engines(device, since) {
        Err(Missing::NotSupported) => loads_of_some_engines(device, since),
        loads => loads.or_else(older(|| loads_of_some_engines(device, since))),
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
