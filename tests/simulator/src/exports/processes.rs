//! The processes on a device, in each of the shapes that NVML has had for them.

use std::{
    collections::HashMap,
    ffi::{c_uint, c_ulonglong},
    sync::OnceLock,
};

use nvml_wrapper_sys::bindings::*;
use toml::Table;

use crate::{
    answer::{
        Answer, INSUFFICIENT_SIZE, INVALID_ARGUMENT, NOT_FOUND, put, put_list, put_versioned,
    },
    data,
    machine::{Gpu, Machine},
};

/// "No such instance", and the memory of a process for which NVML has no number.
pub const NONE: c_uint = c_uint::MAX;
const NO_MEMORY: c_ulonglong = c_ulonglong::MAX;

/// One row of `processes`. Its type is as nvidia-smi writes it: `C`, `G`, `C+G`, `M+C`.
pub struct Process {
    pub pid: c_uint,
    pub kind: String,
    pub name: Vec<u8>,
    pub memory: c_ulonglong,
    pub gpu_instance: c_uint,
    pub compute_instance: c_uint,
    /// Percentages of the engines, for nvmlDeviceGetProcessUtilization; absent: no sample.
    utilization: Option<Table>,
}

impl Process {
    fn of(row: &Table) -> Answer<Process> {
        let optional =
            |key: &str, otherwise| row.get(key).map_or(Ok(otherwise), |v| data::read(Some(v)));
        Ok(Process {
            pid: data::read(row.get("pid"))?,
            kind: data::read(row.get("type"))?,
            name: data::read::<data::Text>(row.get("name"))?.0,
            memory: row
                .get("memory")
                .map_or(Ok(NO_MEMORY), |v| data::read(Some(v)))?,
            gpu_instance: optional("gi", NONE)?,
            compute_instance: optional("ci", NONE)?,
            utilization: row.get("utilization").and_then(|v| v.as_table().cloned()),
        })
    }

    /// How busy the process keeps an engine, if there is a sample of it.
    pub fn percent(&self, engine: &str) -> Option<c_uint> {
        data::read(self.utilization.as_ref()?.get(engine)).ok()
    }
}

/// Every process of a device. A MIG device has those of its instances.
pub fn of(gpu: &Gpu) -> Answer<Vec<Process>> {
    let rows: Vec<Table> = gpu.parent().read_or("processes", Vec::new())?;
    let all = rows
        .iter()
        .map(Process::of)
        .collect::<Answer<Vec<Process>>>()?;
    if gpu.device.mig.is_none() {
        return Ok(all);
    }
    let (gi, ci): (c_uint, c_uint) = (gpu.read("gi")?, gpu.read("ci")?);
    Ok(all
        .into_iter()
        .filter(|p| p.gpu_instance == gi && p.compute_instance == ci)
        .collect())
}

/// What a process is called, on whichever GPU it is listed first. Nothing changes names, so they are
/// collected once.
pub fn name(machine: &'static Machine, pid: c_uint) -> Option<&'static [u8]> {
    static NAMES: OnceLock<HashMap<c_uint, Vec<u8>>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let mut names = HashMap::new();
        for process in machine.gpus().flat_map(|gpu| of(&gpu).unwrap_or_default()) {
            names.entry(process.pid).or_insert(process.name);
        }
        names
    });
    names.get(&pid).map(Vec::as_slice)
}

/// The processes of one of NVML's three lists: `C` compute, `G` graphics, `M` MPS.
pub fn of_kind(gpu: &Gpu, letter: &str) -> Answer<Vec<Process>> {
    Ok(of(gpu)?
        .into_iter()
        .filter(|p| p.kind.split('+').any(|kind| kind == letter))
        .collect())
}

macro_rules! process_lists {
    ($($letter:literal: $v1:ident, $v2:ident, $v3:ident;)*) => {
        device_calls! {$(
            $v1(gpu, count: *mut c_uint, out: *mut nvmlProcessInfo_v1_t) {
                let list: Vec<_> = of_kind(&gpu, $letter)?.iter().map(|p| {
                    nvmlProcessInfo_v1_t { pid: p.pid, usedGpuMemory: p.memory }
                }).collect();
                put_list(count, out, &list)
            }
            $v2(gpu, count: *mut c_uint, out: *mut nvmlProcessInfo_v2_t) {
                put_list(count, out, &infos(&gpu, $letter)?)
            }
            $v3(gpu, count: *mut c_uint, out: *mut nvmlProcessInfo_v2_t) {
                match gpu.machine.read::<c_uint>("layouts.process_entry") {
                    Ok(LONG_ENTRY) => put_list(count, out.cast(), &long_infos(&gpu, $letter)?),
                    _ => put_list(count, out, &infos(&gpu, $letter)?),
                }
            }
        )*}
    };
}

process_lists! {
    "C": nvmlDeviceGetComputeRunningProcesses, nvmlDeviceGetComputeRunningProcesses_v2, nvmlDeviceGetComputeRunningProcesses_v3;
    "G": nvmlDeviceGetGraphicsRunningProcesses, nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlDeviceGetGraphicsRunningProcesses_v3;
    "M": nvmlDeviceGetMPSComputeRunningProcesses, nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlDeviceGetMPSComputeRunningProcesses_v3;
}

fn infos(gpu: &Gpu, letter: &str) -> Answer<Vec<nvmlProcessInfo_v2_t>> {
    let info = |p: &Process| nvmlProcessInfo_v2_t {
        pid: p.pid,
        usedGpuMemory: p.memory,
        gpuInstanceId: p.gpu_instance,
        computeInstanceId: p.compute_instance,
    };
    Ok(of_kind(gpu, letter)?.iter().map(info).collect())
}

/// An entry of the drivers 535.43 to 535.86.
#[repr(C)]
#[derive(Clone, Copy)]
struct LongInfo {
    info: nvmlProcessInfo_v2_t,
    protected_memory: c_ulonglong,
}

const LONG_ENTRY: c_uint = size_of::<LongInfo>() as c_uint;

fn long_infos(gpu: &Gpu, letter: &str) -> Answer<Vec<LongInfo>> {
    let long = |info| LongInfo {
        info,
        protected_memory: 0,
    };
    Ok(infos(gpu, letter)?.into_iter().map(long).collect())
}

device_calls! {
    nvmlDeviceGetRunningProcessDetailList(gpu, out: *mut nvmlProcessDetailList_t) {
        put_versioned(out, |list| {
            let letter = ["C", "G", "M"].get(list.mode as usize).ok_or(INVALID_ARGUMENT)?;
            let details: Vec<_> = of_kind(&gpu, letter)?.iter().map(|p| nvmlProcessDetail_v1_t {
                pid: p.pid,
                usedGpuMemory: p.memory,
                gpuInstanceId: p.gpu_instance,
                computeInstanceId: p.compute_instance,
                usedGpuCcProtectedMemory: 0,
            }).collect();
            // The length must reach the caller even when the array is too short for the list.
            let answer = put_list(&raw mut list.numProcArrayEntries, list.procArray, &details);
            if answer == Err(INSUFFICIENT_SIZE) {
                (*out).numProcArrayEntries = list.numProcArrayEntries;
            }
            answer
        })
    }

    nvmlDeviceGetProcessUtilization(
        gpu, out: *mut nvmlProcessUtilizationSample_t, count: *mut c_uint, last_seen: c_ulonglong,
    ) {
        let now = super::lists::now_us();
        let samples: Vec<_> = sampled(&gpu, last_seen, now)?.iter().map(|p| nvmlProcessUtilizationSample_t {
            pid: p.pid,
            timeStamp: now,
            smUtil: p.percent("sm").unwrap_or(0),
            memUtil: p.percent("memory").unwrap_or(0),
            encUtil: p.percent("encoder").unwrap_or(0),
            decUtil: p.percent("decoder").unwrap_or(0),
        }).collect();
        if samples.is_empty() { put(count, 0)?; return Err(NOT_FOUND) }
        put_list(count, out, &samples)
    }

    nvmlDeviceGetProcessesUtilizationInfo(gpu, out: *mut nvmlProcessesUtilizationInfo_t) {
        put_versioned(out, |info| {
            let now = super::lists::now_us();
            let samples: Vec<_> = sampled(&gpu, info.lastSeenTimeStamp, now)?.iter().map(|p| nvmlProcessUtilizationInfo_v1_t {
                timeStamp: now,
                pid: p.pid,
                smUtil: p.percent("sm").unwrap_or(0),
                memUtil: p.percent("memory").unwrap_or(0),
                encUtil: p.percent("encoder").unwrap_or(0),
                decUtil: p.percent("decoder").unwrap_or(0),
                jpgUtil: p.percent("jpeg").unwrap_or(0),
                ofaUtil: p.percent("ofa").unwrap_or(0),
            }).collect();
            if samples.is_empty() { return Err(NOT_FOUND) }
            let answer = put_list(&raw mut info.processSamplesCount, info.procUtilArray, &samples);
            if answer == Err(INSUFFICIENT_SIZE) {
                (*out).processSamplesCount = info.processSamplesCount;
            }
            answer
        })
    }
}

/// The processes with a sample newer than the last seen.
pub fn sampled(gpu: &Gpu, last_seen: c_ulonglong, now: c_ulonglong) -> Answer<Vec<Process>> {
    if last_seen >= now {
        return Ok(Vec::new());
    }
    Ok(of(gpu)?
        .into_iter()
        .filter(|p| p.utilization.is_some())
        .collect())
}
