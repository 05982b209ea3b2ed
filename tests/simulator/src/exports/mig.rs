//! MIG: the devices, GPU instances and compute instances that a GPU is cut into. A row of `mig.devices`
//! is one MIG device, that is, one compute instance; rows with the same `gi` share a GPU instance.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::*;
use toml::Table;

use crate::{
    answer::{
        Answer, INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, fill_text, put, put_list,
        put_list_or_count, put_versioned,
    },
    data, gate,
    handle::{Device, Slice},
    machine::{Gpu, Machine},
};

/// The MIG devices of a GPU.
pub fn devices(gpu: Gpu) -> Vec<Gpu> {
    let rows = rows(&gpu).map_or(0, |rows| rows.len());
    (0..rows)
        .map(|row| {
            gpu.machine.gpu(Device {
                gpu: gpu.device.gpu,
                mig: Some(row),
            })
        })
        .collect()
}

fn rows(gpu: &Gpu) -> Answer<Vec<Table>> {
    gpu.read_or("mig.devices", Vec::new())
}

fn number(row: &Table, key: &str) -> Answer<c_uint> {
    data::read(data::at(row, key))
}

/// The profiles that a GPU offers: `mig.profiles`, one row each, in NVML's order of profile numbers.
fn profiles(gpu: &Gpu) -> Answer<Vec<Table>> {
    gpu.read("mig.profiles")
}

fn profile(gpu: &Gpu, key: &str, value: c_uint) -> Answer<Table> {
    profiles(gpu)?
        .into_iter()
        .find(|row| number(row, key) == Ok(value))
        .ok_or(NOT_SUPPORTED)
}

/// A profile as NVML's structure; a count that the box leaves out is 0.
fn profile_info(row: &Table) -> Answer<nvmlGpuInstanceProfileInfo_t> {
    let count = |key: &str| row.get(key).map_or(Ok(0), |value| data::read(Some(value)));
    Ok(nvmlGpuInstanceProfileInfo_t {
        id: number(row, "id")?,
        isP2pSupported: count("p2p")?,
        sliceCount: count("slices")?,
        instanceCount: count("instances")?,
        multiprocessorCount: count("multiprocessors")?,
        copyEngineCount: count("copy_engines")?,
        decoderCount: count("decoders")?,
        encoderCount: count("encoders")?,
        jpegCount: count("jpeg")?,
        ofaCount: count("ofa")?,
        memorySizeMB: data::read(row.get("memory_mib"))?,
    })
}

device_calls! {
    nvmlDeviceIsMigDeviceHandle(gpu, is_mig: *mut c_uint) { put(is_mig, gpu.device.mig.is_some().into()) }

    nvmlDeviceGetGpuInstanceId(gpu, id: *mut c_uint) { put(id, mig_key(&gpu, "gi")?) }
    nvmlDeviceGetComputeInstanceId(gpu, id: *mut c_uint) { put(id, mig_key(&gpu, "ci")?) }

    nvmlDeviceGetMaxMigDeviceCount(gpu, count: *mut c_uint) { put(count, gpu.read_or("mig.max_devices", 0)?) }

    nvmlDeviceGetMigDeviceHandleByIndex(gpu, index: c_uint, out: *mut nvmlDevice_t) {
        let device = devices(gpu).get(index as usize).map(|mig| mig.device).ok_or(NOT_FOUND)?;
        put(out, device.handle())
    }

    nvmlDeviceGetDeviceHandleFromMigDeviceHandle(gpu, out: *mut nvmlDevice_t) {
        if gpu.device.mig.is_none() { return Err(INVALID_ARGUMENT) }
        put(out, gpu.parent().device.handle())
    }

    nvmlDeviceGetAttributes(gpu, out: *mut nvmlDeviceAttributes_t) { put(out, attributes(&gpu)?) }
    nvmlDeviceGetAttributes_v2(gpu, out: *mut nvmlDeviceAttributes_t) { put(out, attributes(&gpu)?) }

    nvmlDeviceGetGpuInstanceProfileInfo(gpu, which: c_uint, out: *mut nvmlGpuInstanceProfileInfo_t) {
        put(out, profile_info(&profile(&gpu, "number", which)?)?)
    }
    nvmlDeviceGetGpuInstanceProfileInfoV(gpu, which: c_uint, out: *mut nvmlGpuInstanceProfileInfo_v2_t) {
        put_profile(out, &profile(&gpu, "number", which)?)
    }
    nvmlDeviceGetGpuInstanceProfileInfoByIdV(gpu, id: c_uint, out: *mut nvmlGpuInstanceProfileInfo_v2_t) {
        put_profile(out, &profile(&gpu, "id", id)?)
    }
    nvmlDeviceGetGpuInstanceRemainingCapacity(gpu, id: c_uint, count: *mut c_uint) {
        put(count, free_instances(&gpu, &profile(&gpu, "id", id)?)?)
    }
    nvmlDeviceGetGpuInstancePossiblePlacements(gpu, id: c_uint, out: *mut nvmlGpuInstancePlacement_t, count: *mut c_uint) {
        put_list_or_count(count, out, &placements(&profile(&gpu, "id", id)?)?)
    }
    nvmlDeviceGetGpuInstancePossiblePlacements_v2(gpu, id: c_uint, out: *mut nvmlGpuInstancePlacement_t, count: *mut c_uint) {
        put_list_or_count(count, out, &placements(&profile(&gpu, "id", id)?)?)
    }

    nvmlDeviceGetGpuInstances(gpu, profile: c_uint, out: *mut nvmlGpuInstance_t, count: *mut c_uint) {
        let rows = rows(&gpu)?;
        let first = |row: usize| rows[..row].iter().all(|other| number(other, "gi") != number(&rows[row], "gi"));
        let handles: Vec<_> = (0..rows.len())
            .filter(|&row| first(row) && number(&rows[row], "profile") == Ok(profile))
            .map(|row| Slice { gpu: gpu.device.gpu, row }.gpu_instance())
            .collect();
        put(count, handles.len() as c_uint)?;
        put_list(count, out, &handles)
    }
    nvmlDeviceGetGpuInstanceById(gpu, id: c_uint, out: *mut nvmlGpuInstance_t) {
        let row = rows(&gpu)?.iter().position(|row| number(row, "gi") == Ok(id)).ok_or(NOT_FOUND)?;
        put(out, Slice { gpu: gpu.device.gpu, row }.gpu_instance())
    }
}

/// A key that only a MIG device has: asked of a whole GPU, NVML says NOT_SUPPORTED... of the instance
/// ids, that it is no MIG device.
fn mig_key(gpu: &Gpu, key: &str) -> Answer<c_uint> {
    gpu.device.mig.ok_or(INVALID_ARGUMENT)?;
    gpu.read(key)
}

fn attributes(gpu: &Gpu) -> Answer<nvmlDeviceAttributes_t> {
    let count = |key: &str| gpu.read_or(&format!("attributes.{key}"), 0);
    Ok(nvmlDeviceAttributes_t {
        multiprocessorCount: gpu.read("attributes.multiprocessors")?,
        sharedCopyEngineCount: count("copy_engines")?,
        sharedDecoderCount: count("decoders")?,
        sharedEncoderCount: count("encoders")?,
        sharedJpegCount: count("jpeg")?,
        sharedOfaCount: count("ofa")?,
        gpuInstanceSliceCount: count("gpu_slices")?,
        computeInstanceSliceCount: count("compute_slices")?,
        memorySizeMB: gpu.read_or("attributes.memory_mib", 0)?,
    })
}

/// # Safety
/// As [`put_versioned`].
unsafe fn put_profile(out: *mut nvmlGpuInstanceProfileInfo_v2_t, row: &Table) -> Answer {
    let v1 = profile_info(row)?;
    let name: String = data::read(row.get("name"))?;
    // Versions 2 and 3 differ: 3 lost `isP2pSupported` and ends in a mask of capabilities.
    // SAFETY: by the caller's word, `out` is null or begins with its version.
    let version = unsafe { out.cast::<c_uint>().as_ref() }.map_or(0, |tag| tag >> 24);
    if version >= 3 {
        // SAFETY: as this function's.
        return unsafe {
            put_versioned(out.cast::<nvmlGpuInstanceProfileInfo_v3_t>(), |info| {
                (info.id, info.sliceCount, info.instanceCount) =
                    (v1.id, v1.sliceCount, v1.instanceCount);
                (info.multiprocessorCount, info.copyEngineCount) =
                    (v1.multiprocessorCount, v1.copyEngineCount);
                (info.decoderCount, info.encoderCount) = (v1.decoderCount, v1.encoderCount);
                (info.jpegCount, info.ofaCount, info.memorySizeMB) =
                    (v1.jpegCount, v1.ofaCount, v1.memorySizeMB);
                info.capabilities =
                    v1.isP2pSupported | data::read(row.get("graphics")).unwrap_or(0) << 1;
                fill_text(&mut info.name, &name);
                Ok(())
            })
        };
    }
    // SAFETY: as this function's.
    unsafe {
        put_versioned(out, |info| {
            (info.id, info.isP2pSupported, info.sliceCount) =
                (v1.id, v1.isP2pSupported, v1.sliceCount);
            (info.instanceCount, info.multiprocessorCount) =
                (v1.instanceCount, v1.multiprocessorCount);
            (info.copyEngineCount, info.decoderCount) = (v1.copyEngineCount, v1.decoderCount);
            (info.encoderCount, info.jpegCount, info.ofaCount) =
                (v1.encoderCount, v1.jpegCount, v1.ofaCount);
            info.memorySizeMB = v1.memorySizeMB;
            fill_text(&mut info.name, &name);
            Ok(())
        })
    }
}

/// `starts` and `size` of a profile.
fn placements(row: &Table) -> Answer<Vec<nvmlGpuInstancePlacement_t>> {
    let size = number(row, "size")?;
    let starts: Vec<c_uint> = data::read(row.get("starts"))?;
    Ok(starts
        .into_iter()
        .map(|start| nvmlGpuInstancePlacement_t { start, size })
        .collect())
}

/// How many more instances of a profile fit beside those that there are.
fn free_instances(gpu: &Gpu, profile: &Table) -> Answer<c_uint> {
    let mut taken: Vec<(c_uint, c_uint)> = rows(gpu)?
        .iter()
        .map(|row| {
            Ok((
                number(row, "placement.start")?,
                number(row, "placement.size")?,
            ))
        })
        .collect::<Answer<_>>()?;
    let before = taken.len();
    for nvmlGpuInstancePlacement_t { start, size } in placements(profile)? {
        if taken
            .iter()
            .all(|&(other, length)| start + size <= other || other + length <= start)
        {
            taken.push((start, size));
        }
    }
    let room = (taken.len() - before) as c_uint;
    Ok(room.min(number(profile, "instances")?))
}

/// A way to cut a GPU instance into compute instances: some of its slices, or all of them.
struct ComputeProfile {
    id: c_uint,
    slices: c_uint,
    multiprocessors: c_uint,
    name: String,
}

/// The compute profiles of a GPU instance. NVML numbers them alike on all GPUs: 1, 2, 3, 4, 7, 8, 6 slices.
fn compute_profiles(gpu: &Gpu, row: &Table) -> Answer<Vec<ComputeProfile>> {
    const SLICES: &[c_uint] = &[1, 2, 3, 4, 7, 8, 6];
    let whole = profile(gpu, "id", number(row, "profile")?)?;
    let (all, name): (c_uint, String) = (number(&whole, "slices")?, data::read(whole.get("name"))?);
    let per_slice: c_uint = gpu.read("mig.multiprocessors_per_slice")?;
    let offered = (0..).zip(SLICES).filter(|(_, slices)| **slices <= all);
    offered
        .map(|(id, &slices)| {
            let part = slices < all;
            Ok(ComputeProfile {
                id,
                slices,
                multiprocessors: if part {
                    slices * per_slice
                } else {
                    number(&whole, "multiprocessors")?
                },
                name: if part {
                    name.replacen("MIG ", &format!("MIG {slices}c."), 1)
                } else {
                    name.clone()
                },
            })
        })
        .collect()
}

fn compute_profile(gpu: &Gpu, row: &Table, id: c_uint) -> Answer<ComputeProfile> {
    compute_profiles(gpu, row)?
        .into_iter()
        .find(|profile| profile.id == id)
        .ok_or(NOT_SUPPORTED)
}

/// The compute slices of a GPU instance: how many, and which are taken.
fn compute_slices(gpu: &Gpu, row: &Table) -> Answer<(c_uint, Vec<c_uint>)> {
    let all = number(&profile(gpu, "id", number(row, "profile")?)?, "slices")?;
    let mut taken = Vec::new();
    for other in rows(gpu)?
        .iter()
        .filter(|other| number(other, "gi") == number(row, "gi"))
    {
        let start = number(other, "compute.start")?;
        taken.extend(start..start + number(other, "compute.size")?);
    }
    Ok((all, taken))
}

/// The GPU of a slice, and its row.
fn slice(machine: &'static Machine, slice: Option<Slice>) -> Answer<(Gpu, Table)> {
    let slice = slice
        .filter(|slice| slice.gpu < machine.count())
        .ok_or(INVALID_ARGUMENT)?;
    let gpu = machine.gpu(Device {
        gpu: slice.gpu,
        mig: None,
    });
    let row = rows(&gpu)?
        .into_iter()
        .nth(slice.row)
        .ok_or(INVALID_ARGUMENT)?;
    Ok((gpu, row))
}

macro_rules! slice_calls {
    ($($name:ident($handle:ident: $type:ty = $of:ident, $gpu:pat, $row:pat $(, $arg:ident: $arg_type:ty)* $(,)?) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($handle: $type $(, $arg: $arg_type)*) -> nvmlReturn_t {
            let found = Slice::$of($handle);
            let subject = found.map(|slice| Device { gpu: slice.gpu, mig: None });
            gate::pass(stringify!($name), subject, |machine| {
                let ($gpu, $row) = slice(machine, found)?;
                #[allow(unused_unsafe, reason = "not every body writes through a pointer")]
                // SAFETY: NVML's contract: the caller's pointers are null or valid.
                unsafe { $body }
            })
        }
    )*};
}

slice_calls! {
    nvmlGpuInstanceGetInfo(instance: nvmlGpuInstance_t = of_gpu_instance, gpu, row, out: *mut nvmlGpuInstanceInfo_t) {
        put(out, nvmlGpuInstanceInfo_t {
            device: gpu.device.handle(),
            id: number(&row, "gi")?,
            profileId: number(&row, "profile")?,
            placement: nvmlGpuInstancePlacement_t {
                start: number(&row, "placement.start")?,
                size: number(&row, "placement.size")?,
            },
        })
    }

    nvmlGpuInstanceGetComputeInstances(
        instance: nvmlGpuInstance_t = of_gpu_instance, gpu, row,
        profile: c_uint, out: *mut nvmlComputeInstance_t, count: *mut c_uint,
    ) {
        let rows = rows(&gpu)?;
        let of_this = |other: &Table| number(other, "gi") == number(&row, "gi") && number(other, "compute.profile") == Ok(profile);
        let handles: Vec<_> = (0..rows.len())
            .filter(|&row| of_this(&rows[row]))
            .map(|row| Slice { gpu: gpu.device.gpu, row }.compute_instance())
            .collect();
        put(count, handles.len() as c_uint)?;
        put_list(count, out, &handles)
    }

    nvmlGpuInstanceGetComputeInstanceProfileInfo(
        instance: nvmlGpuInstance_t = of_gpu_instance, gpu, row,
        which: c_uint, _engines: c_uint, out: *mut nvmlComputeInstanceProfileInfo_t,
    ) {
        let (profile, whole) = (compute_profile(&gpu, &row, which)?, profile_info(&profile(&gpu, "id", number(&row, "profile")?)?)?);
        put(out, nvmlComputeInstanceProfileInfo_t {
            id: profile.id,
            sliceCount: profile.slices,
            instanceCount: whole.sliceCount / profile.slices,
            multiprocessorCount: profile.multiprocessors,
            sharedCopyEngineCount: whole.copyEngineCount,
            sharedDecoderCount: whole.decoderCount,
            sharedEncoderCount: whole.encoderCount,
            sharedJpegCount: whole.jpegCount,
            sharedOfaCount: whole.ofaCount,
        })
    }

    nvmlGpuInstanceGetComputeInstanceProfileInfoV(
        instance: nvmlGpuInstance_t = of_gpu_instance, gpu, row,
        which: c_uint, _engines: c_uint, out: *mut nvmlComputeInstanceProfileInfo_v3_t,
    ) {
        let (profile, whole) = (compute_profile(&gpu, &row, which)?, profile_info(&profile(&gpu, "id", number(&row, "profile")?)?)?);
        // Version 2 is version 3 without its last field.
        put_versioned(out, |info| {
            (info.id, info.sliceCount, info.instanceCount) = (profile.id, profile.slices, whole.sliceCount / profile.slices);
            (info.multiprocessorCount, info.sharedCopyEngineCount) = (profile.multiprocessors, whole.copyEngineCount);
            (info.sharedDecoderCount, info.sharedEncoderCount) = (whole.decoderCount, whole.encoderCount);
            (info.sharedJpegCount, info.sharedOfaCount) = (whole.jpegCount, whole.ofaCount);
            fill_text(&mut info.name, &profile.name);
            Ok(())
        })
    }

    nvmlGpuInstanceGetComputeInstanceRemainingCapacity(
        instance: nvmlGpuInstance_t = of_gpu_instance, gpu, row, id: c_uint, count: *mut c_uint,
    ) {
        let (all, taken) = compute_slices(&gpu, &row)?;
        put(count, all.saturating_sub(taken.len() as c_uint) / compute_profile(&gpu, &row, id)?.slices)
    }

    nvmlGpuInstanceGetComputeInstancePossiblePlacements(
        instance: nvmlGpuInstance_t = of_gpu_instance, gpu, row,
        id: c_uint, out: *mut nvmlComputeInstancePlacement_t, count: *mut c_uint,
    ) {
        let (size, (all, _)) = (compute_profile(&gpu, &row, id)?.slices, compute_slices(&gpu, &row)?);
        let starts = (0..=all - size).filter(|start| start % size == 0);
        let list: Vec<_> = starts.map(|start| nvmlComputeInstancePlacement_t { start, size }).collect();
        put_list_or_count(count, out, &list)
    }

    nvmlGpuInstanceGetComputeInstanceById(
        instance: nvmlGpuInstance_t = of_gpu_instance, gpu, row, id: c_uint, out: *mut nvmlComputeInstance_t,
    ) {
        let place = rows(&gpu)?.iter().position(|other| number(other, "gi") == number(&row, "gi") && number(other, "ci") == Ok(id));
        put(out, Slice { gpu: gpu.device.gpu, row: place.ok_or(NOT_FOUND)? }.compute_instance())
    }

    nvmlComputeInstanceGetInfo(instance: nvmlComputeInstance_t = of_compute_instance, gpu, row, out: *mut nvmlComputeInstanceInfo_t) {
        put(out, compute_info(&gpu, &row)?)
    }
    nvmlComputeInstanceGetInfo_v2(instance: nvmlComputeInstance_t = of_compute_instance, gpu, row, out: *mut nvmlComputeInstanceInfo_t) {
        put(out, compute_info(&gpu, &row)?)
    }
}

fn compute_info(gpu: &Gpu, row: &Table) -> Answer<nvmlComputeInstanceInfo_t> {
    let home = rows(gpu)?
        .iter()
        .position(|other| number(other, "gi") == number(row, "gi"))
        .ok_or(NOT_FOUND)?;
    Ok(nvmlComputeInstanceInfo_t {
        device: gpu.device.handle(),
        gpuInstance: Slice {
            gpu: gpu.device.gpu,
            row: home,
        }
        .gpu_instance(),
        id: number(row, "ci")?,
        profileId: number(row, "compute.profile")?,
        placement: nvmlComputeInstancePlacement_t {
            start: number(row, "compute.start")?,
            size: number(row, "compute.size")?,
        },
    })
}
