//! How a command begins, with the driver and the GPUs that it is about, and how it
//! ends where one of those did not answer.

use crate::error::{Error, Status, advice};
use crate::nvml::{Driver, Gpu, Missing, Reading, Unanswered};
use crate::value::printable;

/// Opens the driver.
pub fn open() -> Result<Driver, Error> {
    Driver::open().map_err(Error::open)
}

/// The GPUs that `-i` names, or all.
pub fn select<'d>(driver: &'d Driver, ids: Option<&str>) -> Result<Vec<Gpu<'d>>, Error> {
    let count = driver.gpu_count().map_err(Error::count)?;
    let gpus = match ids {
        Some(ids) if count > 0 && ids.chars().all(|c| c == ',') => return Err(empty_ids()),
        Some(ids) => driver.select(ids).map_err(|gpu| unanswered(&gpu))?,
        None => driver.gpus().map_err(Error::count)?,
    };
    match gpus {
        gpus if gpus.is_empty() => Err(no_devices()),
        gpus => Ok(gpus),
    }
}

/// The exit status of an answer that has a row with the reason for each GPU
/// without a handle.
pub fn all_answer(gpus: &[Gpu]) -> Status {
    all(gpus, |gpu| gpu.device().map(drop))
}

/// The exit status of the first GPU that lacks something.
pub fn all<'d>(gpus: &[Gpu<'d>], has: impl Fn(&Gpu<'d>) -> Reading<()>) -> Status {
    let first = gpus.iter().find_map(|gpu| has(gpu).err());
    first.map_or(Status::Success, Status::from)
}

/// `-i` names a GPU that none of those that answer is, and one does not answer.
fn unanswered(gpu: &Unanswered) -> Error {
    let what = match gpu.missing {
        missing if gpu.no_handle => advice(missing),
        Missing::INVALID_ARGUMENT => {
            "Invalid PCI bus id format. Try format [domain:]bus:device.function E.g. 0:2:0.0"
        }
        missing => missing.words_or_not_available(),
    };
    let name = printable(&gpu.name);
    Error::new(Status::Other, format!("Problem with GPU {name}: {what}\n"))
}

/// There are no GPUs, or none of those that `-i` names.
fn no_devices() -> Error {
    Error::new(Status::NotFound, "No devices were found\n")
}

/// `-i` names nothing at all; nvidia-smi ends this line without a newline.
fn empty_ids() -> Error {
    Error::new(
        Status::Other,
        "Failed to parse device string on command line",
    )
}
