//! How the GPUs are placed: PCIe switches, NUMA nodes, CPUs, peer access.

use std::ffi::{c_int, c_uint, c_ulong};

use nvml_wrapper_sys::bindings::*;

use crate::{
    answer::{Answer, INVALID_ARGUMENT, NOT_SUPPORTED, put, put_list},
    data,
    handle::Device,
    machine::{Gpu, Machine},
    sysfs,
};

fn peer(gpu: &Gpu, other: nvmlDevice_t) -> Answer<Gpu> {
    let device = Device::of(other.cast())
        .filter(|d| d.gpu < gpu.machine.count())
        .ok_or(INVALID_ARGUMENT)?;
    Ok(gpu.machine.gpu(device))
}

/// The closest thing that two GPUs share: a board, a PCIe switch, a host bridge, a NUMA node, the system.
pub fn common_ancestor(a: &Gpu, b: &Gpu) -> Answer<nvmlGpuTopologyLevel_t> {
    const SHARED: &[(&str, nvmlGpuTopologyLevel_t)] = &[
        ("topology.board", nvmlGpuLevel_enum_NVML_TOPOLOGY_INTERNAL),
        ("topology.switch", nvmlGpuLevel_enum_NVML_TOPOLOGY_SINGLE),
        (
            "topology.switches",
            nvmlGpuLevel_enum_NVML_TOPOLOGY_MULTIPLE,
        ),
        (
            "topology.host_bridge",
            nvmlGpuLevel_enum_NVML_TOPOLOGY_HOSTBRIDGE,
        ),
        ("topology.numa_node", nvmlGpuLevel_enum_NVML_TOPOLOGY_NODE),
    ];
    a.read::<c_uint>("topology.numa_node")?;
    let shares = |key: &str| {
        a.read::<c_uint>(key)
            .is_ok_and(|place| b.read(key) == Ok(place))
    };
    let level = SHARED.iter().find(|(key, _)| shares(key)).map(|row| row.1);
    Ok(level.unwrap_or(nvmlGpuLevel_enum_NVML_TOPOLOGY_SYSTEM))
}

/// The same for two devices that the box places in sysfs. A switch is an upstream port, and a downstream
/// port for each device.
pub fn between(one: &sysfs::Device, two: &sysfs::Device) -> nvmlGpuTopologyLevel_t {
    let steps = |device: &sysfs::Device| {
        device
            .path
            .split('/')
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (a, b) = (steps(one), steps(two));
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    match shared {
        0 if one.node == two.node => nvmlGpuLevel_enum_NVML_TOPOLOGY_NODE,
        0 => nvmlGpuLevel_enum_NVML_TOPOLOGY_SYSTEM,
        1 => nvmlGpuLevel_enum_NVML_TOPOLOGY_HOSTBRIDGE,
        _ if a.len().max(b.len()) - shared <= 2 => nvmlGpuLevel_enum_NVML_TOPOLOGY_SINGLE,
        _ => nvmlGpuLevel_enum_NVML_TOPOLOGY_MULTIPLE,
    }
}

/// Writes a set of numbers, told as `0-31,64-95`, as a bit mask.
///
/// # Safety
/// `out` is null or valid for `size` words.
unsafe fn put_set(out: *mut c_ulong, size: c_uint, set: &str) -> Answer {
    if out.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: by the caller's word.
    let words = unsafe { std::slice::from_raw_parts_mut(out, size as usize) };
    words.fill(0);
    for range in set.split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<usize>().map_err(|_| NOT_SUPPORTED);
        for bit in number(first)?..=number(last)? {
            if let Some(word) = words.get_mut(bit / c_ulong::BITS as usize) {
                *word |= 1 << (bit % c_ulong::BITS as usize);
            }
        }
    }
    Ok(())
}

/// Writes the NUMA node of a GPU, as a set.
///
/// # Safety
/// As [`put_set`].
pub unsafe fn put_numa_node(gpu: &Gpu, size: c_uint, out: *mut c_ulong) -> Answer {
    let node: c_uint = gpu.read("topology.numa_node")?;
    // SAFETY: by the caller's word.
    unsafe { put_set(out, size, &node.to_string()) }
}

device_calls! {
    nvmlDeviceGetTopologyCommonAncestor(gpu, other: nvmlDevice_t, level: *mut nvmlGpuTopologyLevel_t) {
        put(level, common_ancestor(&gpu, &peer(&gpu, other)?)?)
    }

    nvmlDeviceGetTopologyNearestGpus(gpu, level: nvmlGpuTopologyLevel_t, count: *mut c_uint, out: *mut nvmlDevice_t) {
        let near: Vec<_> = gpu.machine.gpus()
            .filter(|other| other.device != gpu.device && common_ancestor(&gpu, other) == Ok(level))
            .map(|other| other.device.handle())
            .collect();
        if out.is_null() { return put(count, near.len() as c_uint) }
        put_list(count, out, &near)
    }

    nvmlDeviceGetP2PStatus(gpu, other: nvmlDevice_t, capability: nvmlGpuP2PCapsIndex_t, status: *mut nvmlGpuP2PStatus_t) {
        const CAPABILITIES: &[&str] = &["read", "write", "nvlink", "atomics", "pci"];
        peer(&gpu, other)?;
        let capability = CAPABILITIES.get(capability as usize).ok_or(INVALID_ARGUMENT)?;
        put(status, gpu.read(&format!("p2p.{capability}"))?)
    }

    nvmlDeviceOnSameBoard(gpu, other: nvmlDevice_t, same: *mut c_int) {
        let level = common_ancestor(&gpu, &peer(&gpu, other)?)?;
        put(same, (level == nvmlGpuLevel_enum_NVML_TOPOLOGY_INTERNAL).into())
    }

    nvmlDeviceGetCpuAffinity(gpu, size: c_uint, out: *mut c_ulong) {
        put_set(out, size, &gpu.read::<String>("topology.cpus")?)
    }
    nvmlDeviceGetCpuAffinityWithinScope(gpu, size: c_uint, out: *mut c_ulong, _scope: nvmlAffinityScope_t) {
        put_set(out, size, &gpu.read::<String>("topology.cpus")?)
    }
    nvmlDeviceGetMemoryAffinity(gpu, size: c_uint, out: *mut c_ulong, _scope: nvmlAffinityScope_t) {
        put_numa_node(&gpu, size, out)
    }
}

system_calls! {
    nvmlSystemGetTopologyGpuSet(machine, cpu: c_uint, count: *mut c_uint, out: *mut nvmlDevice_t) {
        let near: Vec<_> = near_cpu(machine, cpu).map(|gpu| gpu.device.handle()).collect();
        if out.is_null() { return put(count, near.len() as c_uint) }
        put_list(count, out, &near)
    }
}

fn near_cpu(machine: &'static Machine, cpu: c_uint) -> impl Iterator<Item = Gpu> {
    machine.gpus().filter(move |gpu| {
        let set: String = gpu.read("topology.cpus").unwrap_or_default();
        set.split(',').any(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let bound = |text: &str| {
                data::read::<c_uint>(text.parse::<i64>().ok().map(toml::Value::from).as_ref())
            };
            bound(first).is_ok_and(|first| first <= cpu)
                && bound(last).is_ok_and(|last| cpu <= last)
        })
    })
}
