//! `-L` and `-B`: one line a GPU.

use std::io::Write;

use crate::error::Error;
use crate::nvml::{Driver, Gpu, Reading, each};
use crate::value::printable;

/// `-L`: name and UUID of every GPU, and of the MIG devices on it.
pub fn gpus(driver: &Driver, out: &mut Vec<u8>) -> Result<(), Error> {
    let gpus = driver.gpus().map_err(Error::list_count)?;
    if gpus.is_empty() {
        return write(out, format_args!("No devices found.\n"));
    }
    let mut failure = None;
    let answers = each(&gpus, |gpu| {
        let mut lines = Vec::new();
        let answer = gpu_lines(gpu, &mut lines);
        (lines, answer)
    });
    for (lines, answer) in answers {
        out.extend(lines);
        if let Err(error) = answer {
            out.extend(error.to_string().bytes());
            failure.get_or_insert(error.status());
        }
    }
    failure.map_or(Ok(()), |status| Err(Error::told(status)))
}

fn gpu_lines(gpu: &Gpu, out: &mut Vec<u8>) -> Result<(), Error> {
    gpu.device()
        .map_err(|missing| Error::list_handle(gpu, missing))?;
    let name = gpu
        .name()
        .map_err(|missing| Error::list_name(gpu, missing))?;
    let uuid = shown(gpu.uuid());
    write(
        out,
        format_args!("GPU {}: {} (UUID: {uuid})\n", gpu.index(), printable(&name)),
    )?;
    let mig_devices = gpu
        .mig_devices()
        .map_err(|missing| Error::list_mig(gpu.index(), missing))?;
    for mig in mig_devices {
        let (name, uuid) = (shown(mig.name()), shown(mig.uuid()));
        // The name begins with the GPU's: "NVIDIA H200 MIG 1g.18gb".
        let name = name
            .find("MIG ")
            .map_or(name.as_str(), |start| &name[start..]);
        write(
            out,
            format_args!("  {name:<15} Device {:>2}: (UUID: {uuid})\n", mig.index()),
        )?;
    }
    Ok(())
}

fn shown(reading: Reading<String>) -> String {
    match reading {
        Ok(text) => printable(&text).into_owned(),
        Err(missing) => missing.words_or_not_available().to_owned(),
    }
}

/// `-B`: the GPUs that the driver was told to leave alone.
pub fn excluded(driver: &Driver, out: &mut Vec<u8>) -> Result<(), Error> {
    let count = driver.excluded_count().map_err(Error::excluded_count)?;
    if count == 0 {
        return write(out, format_args!("No excluded devices found.\n"));
    }
    for index in 0..count {
        let (bus_id, uuid) = driver
            .excluded_gpu(index)
            .map_err(|missing| Error::excluded_gpu(index, missing))?;
        let (bus_id, uuid) = (printable(&bus_id), printable(&uuid));
        write(
            out,
            format_args!("Excluded GPU {index}: {bus_id} (UUID: {uuid})\n"),
        )?;
    }
    Ok(())
}

fn write(out: &mut Vec<u8>, line: std::fmt::Arguments) -> Result<(), Error> {
    // Writing to memory does not fail.
    let _ = out.write_fmt(line);
    Ok(())
}
