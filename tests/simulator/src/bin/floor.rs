//! `floor VIEW`: the least that a program can do for a view: load NVML, initialise it, take the handle
//! of every GPU, and ask what the view shows, each question once. It prints nothing and skips the
//! shutdown. `measure` holds nvsmi against it.

use std::{
    ffi::{c_int, c_void},
    process::ExitCode,
};

use libloading::{Library, Symbol};

/// What a question takes after the handle.
#[derive(Clone, Copy)]
enum Shape {
    /// Room for a number or a struct.
    One,
    /// Room for a struct of this size and version, which NVML checks.
    Versioned(u32, u32),
    /// Room for text, and how much.
    Text,
    /// Room for two numbers.
    Pair,
    /// A number of entries, and room for them.
    List,
    /// Two choices, and room for a number.
    Chosen(u32, u32),
}

use Shape::{Chosen, List, One, Pair, Text, Versioned};

const NAME: (&str, Shape) = ("nvmlDeviceGetName", Text);
const MEMORY: (&str, Shape) = ("nvmlDeviceGetMemoryInfo_v2", Versioned(40, 2));
const UTILIZATION: (&str, Shape) = ("nvmlDeviceGetUtilizationRates", One);
const COMPUTE: (&str, Shape) = ("nvmlDeviceGetComputeRunningProcesses_v3", List);

/// What each view asks of every GPU.
const VIEWS: &[(&str, &[(&str, Shape)])] = &[
    ("three-fields", &[NAME, MEMORY, UTILIZATION]),
    (
        "list",
        &[
            NAME,
            ("nvmlDeviceGetUUID", Text),
            ("nvmlDeviceGetMigMode", Pair),
        ],
    ),
    ("compute-apps", &[COMPUTE]),
    (
        "table",
        &[
            NAME,
            ("nvmlDeviceGetPersistenceMode", One),
            ("nvmlDeviceGetPciInfo_v3", One),
            ("nvmlDeviceGetDisplayActive", One),
            ("nvmlDeviceGetEccMode", Pair),
            ("nvmlDeviceGetMigMode", Pair),
            ("nvmlDeviceGetTotalEccErrors", Chosen(1, 0)),
            ("nvmlDeviceGetFanSpeed", One),
            ("nvmlDeviceGetTemperatureV", Versioned(12, 1)),
            ("nvmlDeviceGetPerformanceState", One),
            ("nvmlDeviceGetPowerUsage", One),
            ("nvmlDeviceGetEnforcedPowerLimit", One),
            MEMORY,
            UTILIZATION,
            ("nvmlDeviceGetComputeMode", One),
            COMPUTE,
            ("nvmlDeviceGetGraphicsRunningProcesses_v3", List),
            ("nvmlDeviceGetMPSComputeRunningProcesses_v3", List),
        ],
    ),
];

type Handle = *mut c_void;
type Init = unsafe extern "C" fn() -> c_int;
type Count = unsafe extern "C" fn(*mut u32) -> c_int;
type ByIndex = unsafe extern "C" fn(u32, *mut Handle) -> c_int;
type Ask1 = unsafe extern "C" fn(Handle, *mut u64) -> c_int;
type Ask2 = unsafe extern "C" fn(Handle, *mut u64, u32) -> c_int;
type AskPair = unsafe extern "C" fn(Handle, *mut u64, *mut u64) -> c_int;
type AskChosen = unsafe extern "C" fn(Handle, u32, u32, *mut u64) -> c_int;

fn main() -> ExitCode {
    let view = std::env::args().nth(1).unwrap_or_default();
    let Some((_, questions)) = VIEWS.iter().find(|(name, _)| *name == view) else {
        let known: Vec<&str> = VIEWS.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: floor VIEW, one of {}", known.join(", "));
        return ExitCode::from(2);
    };
    match ask(questions) {
        // As nvsmi ends: without what NVML does when a process ends.
        // SAFETY: nothing is left to be written.
        Ok(()) => unsafe { libc::_exit(0) },
        Err(problem) => {
            eprintln!("floor: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn ask(questions: &[(&str, Shape)]) -> Result<(), libloading::Error> {
    // SAFETY: loading NVML runs its initialisers; that is what is measured.
    let nvml = unsafe { Library::new("libnvidia-ml.so.1") }?;
    let (mut count, mut room) = (0, vec![0u64; 8192]);
    // SAFETY: the signatures are those of nvml.h.
    unsafe {
        let init: Symbol<Init> = nvml.get(b"nvmlInit_v2\0")?;
        let gpus: Symbol<Count> = nvml.get(b"nvmlDeviceGetCount_v2\0")?;
        let by_index: Symbol<ByIndex> = nvml.get(b"nvmlDeviceGetHandleByIndex_v2\0")?;
        init();
        gpus(&mut count);
        for index in 0..count {
            let mut handle = std::ptr::null_mut();
            if by_index(index, &mut handle) != 0 {
                continue;
            }
            for (name, shape) in questions {
                question(&nvml, name, *shape, handle, &mut room)?;
            }
        }
    }
    // Left open: the process is about to end.
    std::mem::forget(nvml);
    Ok(())
}

/// # Safety
/// `name` is a function of NVML that takes a handle and what `shape` says; `handle` is live.
unsafe fn question(
    nvml: &Library,
    name: &str,
    shape: Shape,
    handle: Handle,
    room: &mut [u64],
) -> Result<(), libloading::Error> {
    const TEXT: u32 = 96;
    const ENTRIES: u64 = 64;
    let (first, rest) = room.split_at_mut(1);
    // SAFETY: as the caller promises; there is room for the largest of the answers.
    unsafe {
        match shape {
            One => nvml.get::<Ask1>(name.as_bytes())?(handle, rest.as_mut_ptr()),
            Versioned(size, version) => {
                rest[0] = u64::from(size | version << 24);
                nvml.get::<Ask1>(name.as_bytes())?(handle, rest.as_mut_ptr())
            }
            Text => nvml.get::<Ask2>(name.as_bytes())?(handle, rest.as_mut_ptr(), TEXT),
            Pair => {
                nvml.get::<AskPair>(name.as_bytes())?(handle, first.as_mut_ptr(), rest.as_mut_ptr())
            }
            List => {
                first[0] = ENTRIES;
                nvml.get::<AskPair>(name.as_bytes())?(handle, first.as_mut_ptr(), rest.as_mut_ptr())
            }
            Chosen(one, other) => {
                nvml.get::<AskChosen>(name.as_bytes())?(handle, one, other, rest.as_mut_ptr())
            }
        };
    }
    Ok(())
}
