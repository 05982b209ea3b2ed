//! Lists: supported clocks, samples, retired pages, encoder and capture sessions, accounting.

use std::{
    ffi::{c_uint, c_ulonglong},
    time::{SystemTime, UNIX_EPOCH},
};

use nvml_wrapper_sys::bindings::*;
use toml::Table;

use crate::{
    answer::{Answer, INVALID_ARGUMENT, NOT_FOUND, put, put_list},
    data,
    machine::Gpu,
};

/// Microseconds since 1970, the clock of NVML's samples.
pub fn now_us() -> c_ulonglong {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_micros() as c_ulonglong)
}

/// One row of `supported_clocks`: a memory clock, and the graphics clocks that go with it, from `max`
/// down to `min` in steps (GPUs that step by 7.5 MHz say the whole part).
struct Clocks {
    memory: c_uint,
    graphics: Vec<c_uint>,
}

fn supported_clocks(gpu: &Gpu) -> Answer<Vec<Clocks>> {
    let rows: Vec<Table> = gpu.read("supported_clocks")?;
    rows.iter()
        .map(|row| {
            let number = |key: &str| data::read::<f64>(row.get(key));
            let (max, min, step) = (number("max")?, number("min")?, number("step")?);
            let steps = ((max - min) / step).round() as u32;
            let graphics = (0..=steps)
                .map(|n| (max - f64::from(n) * step) as c_uint)
                .collect();
            Ok(Clocks {
                memory: number("memory")? as c_uint,
                graphics,
            })
        })
        .collect()
}

/// The last `number` values of a kind of sample, `period` apart: `samples.power`.
fn samples(gpu: &Gpu, kind: &str) -> Answer<Vec<nvmlSample_t>> {
    let table: Table = gpu.read(&format!("samples.{kind}"))?;
    let values: Vec<u32> = data::read(table.get("values"))?;
    let number: u64 = data::read(table.get("number"))?;
    let period_us: u64 = data::read(table.get("period_us"))?;
    let end = now_us();
    Ok((0..number)
        .map(|n| nvmlSample_t {
            timeStamp: end - (number - 1 - n) * period_us,
            sampleValue: nvmlValue_t {
                uiVal: values[n as usize % values.len().max(1)],
            },
        })
        .collect())
}

fn retired_pages(gpu: &Gpu, cause: nvmlPageRetirementCause_t) -> Answer<Vec<(u64, u64)>> {
    let key = ["single_bit", "double_bit"]
        .get(cause as usize)
        .ok_or(INVALID_ARGUMENT)?;
    let rows: Vec<Table> = gpu.read(&format!("retired_pages.{key}"))?;
    rows.iter()
        .map(|row| {
            Ok((
                data::read(row.get("address"))?,
                data::read(row.get("timestamp"))?,
            ))
        })
        .collect()
}

/// Writes a list of sessions; a capacity of 0 asks for the length alone.
///
/// # Safety
/// As [`put_list`].
unsafe fn put_sessions<T: Copy>(count: *mut c_uint, out: *mut T, sessions: &[T]) -> Answer {
    // SAFETY: by the caller's word.
    unsafe {
        match count.as_ref() {
            Some(0) => put(count, sessions.len() as c_uint),
            _ => put_list(count, out, sessions),
        }
    }
}

device_calls! {
    nvmlDeviceGetSupportedMemoryClocks(gpu, count: *mut c_uint, clocks: *mut c_uint) {
        let memory: Vec<c_uint> = supported_clocks(&gpu)?.iter().map(|row| row.memory).collect();
        put_list(count, clocks, &memory)
    }
    nvmlDeviceGetSupportedGraphicsClocks(gpu, memory: c_uint, count: *mut c_uint, clocks: *mut c_uint) {
        let rows = supported_clocks(&gpu)?;
        let row = rows.iter().find(|row| row.memory == memory).ok_or(NOT_FOUND)?;
        put_list(count, clocks, &row.graphics)
    }
    nvmlDeviceGetSupportedPerformanceStates(gpu, states: *mut nvmlPstates_t, size: c_uint) {
        let known: Vec<u32> = gpu.read("supported_performance_states")?;
        for place in 0..size as usize / size_of::<nvmlPstates_t>() {
            let unknown = nvmlPStates_enum_NVML_PSTATE_UNKNOWN;
            put(states.add(place), known.get(place).copied().unwrap_or(unknown))?;
        }
        Ok(())
    }

    nvmlDeviceGetSamples(
        gpu, kind: nvmlSamplingType_t, last_seen: c_ulonglong, value_type: *mut nvmlValueType_t,
        count: *mut c_uint, out: *mut nvmlSample_t,
    ) {
        const KINDS: &[&str] =
            &["power", "gpu", "memory", "encoder", "decoder", "sm_clock", "memory_clock", "module_power", "jpeg", "ofa"];
        let found = samples(&gpu, KINDS.get(kind as usize).ok_or(INVALID_ARGUMENT)?)?;
        let new: Vec<_> = found.into_iter().filter(|sample| sample.timeStamp > last_seen).collect();
        if new.is_empty() { return Err(NOT_FOUND) }
        put(value_type, nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_INT)?;
        if out.is_null() { return put(count, new.len() as c_uint) }
        put_list(count, out, &new)
    }

    nvmlDeviceGetRetiredPages(gpu, cause: nvmlPageRetirementCause_t, count: *mut c_uint, addresses: *mut c_ulonglong) {
        let pages: Vec<u64> = retired_pages(&gpu, cause)?.iter().map(|page| page.0).collect();
        put_list(count, addresses, &pages)
    }
    nvmlDeviceGetRetiredPages_v2(
        gpu, cause: nvmlPageRetirementCause_t, count: *mut c_uint, addresses: *mut c_ulonglong, timestamps: *mut c_ulonglong,
    ) {
        let (pages, times): (Vec<u64>, Vec<u64>) = retired_pages(&gpu, cause)?.into_iter().unzip();
        let mut capacity = if count.is_null() { 0 } else { count.read() };
        put_list(count, addresses, &pages)?;
        put_list(&raw mut capacity, timestamps, &times)
    }

    nvmlDeviceGetEncoderSessions(gpu, count: *mut c_uint, out: *mut nvmlEncoderSessionInfo_t) {
        let sessions: Vec<_> = sessions(&gpu, "encoder")?.iter().map(|number| nvmlEncoderSessionInfo_t {
            sessionId: number("id"),
            pid: number("pid"),
            vgpuInstance: 0,
            codecType: number("codec"),
            hResolution: number("width"),
            vResolution: number("height"),
            averageFps: number("fps"),
            averageLatency: number("latency"),
        }).collect();
        put_sessions(count, out, &sessions)
    }
    nvmlDeviceGetFBCSessions(gpu, count: *mut c_uint, out: *mut nvmlFBCSessionInfo_t) {
        let sessions: Vec<_> = sessions(&gpu, "fbc")?.iter().map(|number| nvmlFBCSessionInfo_t {
            sessionId: number("id"),
            pid: number("pid"),
            vgpuInstance: 0,
            displayOrdinal: number("display"),
            sessionType: number("type"),
            sessionFlags: number("flags"),
            hMaxResolution: number("max_width"),
            vMaxResolution: number("max_height"),
            hResolution: number("width"),
            vResolution: number("height"),
            averageFPS: number("fps"),
            averageLatency: number("latency"),
        }).collect();
        put_sessions(count, out, &sessions)
    }

    nvmlDeviceGetAccountingPids(gpu, count: *mut c_uint, pids: *mut c_uint) {
        gpu.read::<bool>("accounting.mode")?;
        let pids_found: Answer<Vec<c_uint>> = accounted(&gpu)?.iter().map(|row| data::read(row.get("pid"))).collect();
        put_list(count, pids, &pids_found?)
    }
    nvmlDeviceGetAccountingStats(gpu, pid: c_uint, out: *mut nvmlAccountingStats_t) {
        let rows = accounted(&gpu)?;
        let row = rows.iter().find(|row| data::read(row.get("pid")) == Ok(pid)).ok_or(NOT_FOUND)?;
        let number = |key: &str| data::read::<u64>(row.get(key)).unwrap_or(0);
        put(out, nvmlAccountingStats_t {
            gpuUtilization: number("gpu") as c_uint,
            memoryUtilization: number("memory") as c_uint,
            maxMemoryUsage: number("max_memory"),
            time: number("time_ms"),
            startTime: number("start_us"),
            isRunning: number("running") as c_uint,
            reserved: [0; 5],
        })
    }
}

fn accounted(gpu: &Gpu) -> Answer<Vec<Table>> {
    gpu.read_or("accounting.processes", Vec::new())
}

/// The sessions of an engine, each as a function from key to number.
fn sessions(gpu: &Gpu, engine: &str) -> Answer<Vec<impl Fn(&str) -> c_uint>> {
    gpu.read::<c_uint>(&format!("{engine}.sessions"))?;
    let rows: Vec<Table> = gpu.read_or(&format!("{engine}.session"), Vec::new())?;
    Ok(rows
        .into_iter()
        .map(|row| move |key: &str| data::read(row.get(key)).unwrap_or(0))
        .collect())
}
