//! `-L` and `-B`: one line a GPU.

use crate::error::{Error, Outcome, advice, name};
use crate::nvml::{Driver, Gpu, Missing, Reading, each};
use crate::render::put;
use crate::value::printable;

/// `-L`: name and UUID of every GPU, and of the MIG devices on it.
pub fn gpus(driver: &Driver) -> Result<Outcome, Error> {
    let gpus = driver.gpus().map_err(no_count)?;
    let mut outcome = Outcome::default();
    if gpus.is_empty() {
        outcome.text += "No devices found.\n";
    }
    let answers = each(&gpus, |gpu| {
        let mut lines = String::new();
        let answer = gpu_lines(gpu, &mut lines);
        (lines, answer)
    });
    for (lines, answer) in answers {
        outcome.text += &lines;
        outcome.note(answer);
    }
    Ok(outcome)
}

fn gpu_lines(gpu: &Gpu, out: &mut String) -> Result<(), Error> {
    gpu.device().map_err(|missing| no_handle(gpu, missing))?;
    let name = gpu.name().map_err(|missing| no_name(gpu, missing))?;
    let uuid = shown(gpu.uuid());
    *out += &format!("GPU {}: {} (UUID: {uuid})\n", gpu.index(), printable(&name));
    let mig_devices = gpu
        .mig_devices()
        .map_err(|missing| no_mig_devices(gpu.index(), missing))?;
    for mig in mig_devices {
        let (name, uuid) = (shown(mig.name()), shown(mig.uuid()));
        // The name begins with the GPU's: "NVIDIA H200 MIG 1g.18gb".
        let name = name
            .find("MIG ")
            .map_or(name.as_str(), |start| &name[start..]);
        *out += &format!("  {name:<15} Device {:>2}: (UUID: {uuid})\n", mig.index());
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
    let count = driver.excluded_count().map_err(no_excluded_count)?;
    if count == 0 {
        put(out, "No excluded devices found.\n");
    }
    for index in 0..count {
        let (bus_id, uuid) = driver
            .excluded_gpu(index)
            .map_err(|missing| no_excluded_gpu(index, missing))?;
        let (bus_id, uuid) = (printable(&bus_id), printable(&uuid));
        put(
            out,
            &format!("Excluded GPU {index}: {bus_id} (UUID: {uuid})\n"),
        );
    }
    Ok(())
}

/// `nvmlDeviceGetCount_v2` failed under a list (`-L`).
fn no_count(missing: Missing) -> Error {
    let words = missing.words_or_not_available();
    let message = format!("Unable to determine the number of available GPUs: {words}\n");
    Error::new(missing.into(), message)
}

/// A GPU has no handle, under a list (`-L`).
fn no_handle(gpu: &Gpu, missing: Missing) -> Error {
    let (gpu, advice) = (name(gpu), advice(missing));
    let message = format!("Unable to determine the device handle for gpu {gpu}: {advice}\n");
    Error::new(missing.into(), message)
}

/// A GPU does not tell its name, under a list (`-L`).
fn no_name(gpu: &Gpu, missing: Missing) -> Error {
    let (gpu, words) = (name(gpu), missing.words_or_not_available());
    let message = format!("Unable to determine the product name for gpu {gpu}: {words}\n");
    Error::new(missing.into(), message)
}

/// The MIG devices of a GPU cannot be read, under a list (`-L`).
fn no_mig_devices(index: u32, missing: Missing) -> Error {
    let words = missing.words_or_not_available();
    let message = format!("Unable to determine the MIG devices of gpu {index}: {words}\n");
    Error::new(missing.into(), message)
}

/// The excluded GPUs cannot be counted (`-B`).
fn no_excluded_count(missing: Missing) -> Error {
    let words = missing.words();
    let message = format!("Unable to determine the number of excluded GPUs: {words}\n");
    Error::new(missing.into(), message)
}

/// An excluded GPU cannot be described (`-B`).
fn no_excluded_gpu(index: u32, missing: Missing) -> Error {
    let words = missing.words();
    let message = format!("Unable to get excluded device info for index {index}: {words}\n");
    Error::new(missing.into(), message)
}
