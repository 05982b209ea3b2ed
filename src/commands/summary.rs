//! No arguments: what every GPU is and does, in one table.

use jiff::ZonedDateTime as Time;

use super::version::tool_version;
use crate::nvml::{Driver, Gpu, MigDevice, Missing, Reading, Running, each, unread};
use crate::render::summary::{Ecc, GpuLines, MigLines, ProcessLine, Summary, summary as render};
use crate::value::date;

/// Asks what the table shows and appends it.
///
/// `columns` GPUs stand side by side, as far as there are so many.
pub fn summary(driver: &Driver, gpus: &[Gpu], columns: usize, time: &Time, out: &mut Vec<u8>) {
    let mut summary = Summary {
        time: date(time),
        tool_version: tool_version(driver),
        driver_version: driver.version(),
        cuda_version: driver.cuda_version(),
        gpus: Vec::new(),
        mig_devices: None,
        processes: Vec::new(),
    };
    let lines = |gpu: &Gpu| {
        let mig_devices = gpu.in_mig_mode().then(|| mig_lines(gpu));
        (gpu_lines(gpu), mig_devices, process_lines(driver, gpu))
    };
    for (gpu, mig_devices, processes) in each(gpus, lines) {
        summary.gpus.push(gpu);
        if let Some(devices) = mig_devices {
            summary.mig_devices.get_or_insert_default().extend(devices);
        }
        summary.processes.extend(processes);
    }
    render(&summary, columns.min(gpus.len()), out);
}

fn gpu_lines(gpu: &Gpu) -> GpuLines {
    GpuLines {
        index: gpu.index(),
        name: gpu.name(),
        persistence: gpu.persistence(),
        bus_id: gpu.bus_id(),
        display_active: gpu.display_active(),
        ecc: ecc(gpu),
        fan_speed: gpu.fan_speed(),
        temperature: gpu.temperature(),
        performance_state: gpu.performance_state(),
        power_usage: gpu.power_usage(),
        power_limit: gpu.enforced_power_limit(),
        handle: gpu.device().map(|_| ()),
        memory: gpu.memory(),
        utilization: gpu.utilization().map(|busy| busy.gpu),
        compute_mode: gpu.compute_mode(),
        mig: gpu.mig(),
    }
}

/// Errors are counted where ECC is on, and not in MIG mode, where each MIG
/// device has its own count.
fn ecc(gpu: &Gpu) -> Reading<Ecc> {
    const UNCORRECTED: u32 = 1;
    const VOLATILE: u32 = 0;
    let (current, pending) = gpu.ecc()?;
    let changes = current != pending;
    match current {
        false => Ok(Ecc::Off { changes }),
        true if gpu.in_mig_mode() => Ok(Ecc::On { changes }),
        true => gpu
            .total_errors(UNCORRECTED, VOLATILE)
            .map(|count| Ecc::Errors { count, changes }),
    }
}

/// The MIG devices of a GPU, or one row for a list that cannot be read.
fn mig_lines(gpu: &Gpu) -> Vec<MigLines> {
    match gpu.mig_devices() {
        Ok(devices) => devices.iter().map(|mig| mig_device(gpu, mig)).collect(),
        Err(missing) => vec![MigLines {
            gpu: gpu.index(),
            gpu_instance: Err(missing),
            compute_instance: Err(missing),
            index: Err(missing),
            memory: Err(missing),
            bar1: Err(missing),
            multiprocessors: Err(missing),
            errors: Err(missing),
            engines: Err(missing),
        }],
    }
}

fn mig_device(gpu: &Gpu, mig: &MigDevice) -> MigLines {
    let attributes = mig.attributes();
    MigLines {
        gpu: gpu.index(),
        gpu_instance: mig.gpu_instance(),
        compute_instance: mig.compute_instance(),
        index: Ok(mig.index()),
        memory: mig.memory().map(|memory| (memory.used, memory.total)),
        bar1: mig.bar1().map(|bar1| (bar1.bar1Used, bar1.bar1Total)),
        multiprocessors: attributes.map(|has| has.multiprocessorCount),
        errors: mig.uncorrected_errors(),
        engines: attributes.map(|has| {
            [
                has.sharedCopyEngineCount,
                has.sharedEncoderCount,
                has.sharedDecoderCount,
                has.sharedOfaCount,
                has.sharedJpegCount,
            ]
        }),
    }
}

/// The processes of a GPU by id, each once, with the lists that it is in; before
/// them one line where a list cannot be read.
fn process_lines(driver: &Driver, gpu: &Gpu) -> Vec<ProcessLine> {
    let lists = gpu.process_lists();
    let no_handle = gpu.device().err();
    // A GPU lost on the way has said so above.
    let unread = unread(&lists).filter(|&missing| missing != Missing::GPU_IS_LOST);
    let unreadable = no_handle
        .or(unread)
        .map(|missing| unreadable_line(gpu, missing));
    let processes = Running::merge(lists).into_iter().filter_map(|process| {
        let context = process.context;
        let name = match driver.process_name(context.pid) {
            // It has ended since, or it is not of this container.
            Err(Missing::NOT_FOUND) => return None,
            Err(missing) => missing.words().to_owned(),
            Ok(name) => name,
        };
        Some(ProcessLine {
            gpu: gpu.index(),
            gpu_instance: context.gpu_instance,
            compute_instance: context.compute_instance,
            pid: Ok(context.pid),
            kind: process.kind(),
            name,
            memory: context.memory,
        })
    });
    unreadable.into_iter().chain(processes).collect()
}

fn unreadable_line(gpu: &Gpu, missing: Missing) -> ProcessLine {
    ProcessLine {
        gpu: gpu.index(),
        gpu_instance: None,
        compute_instance: None,
        pid: Err(missing),
        kind: "N/A",
        name: missing.words().to_owned(),
        memory: Err(missing),
    }
}
