//! How a command begins, with the driver and the GPUs that it is about, and how it
//! ends where one of those did not answer.

use crate::error::{Error, Status};
use crate::nvml::{Driver, Gpu, Reading};

/// Opens the driver.
pub fn open() -> Result<Driver, Error> {
    Driver::open().map_err(Error::open)
}

/// The GPUs that `-i` names, or all.
pub fn select<'d>(driver: &'d Driver, ids: Option<&str>) -> Result<Vec<Gpu<'d>>, Error> {
    let count = driver.gpu_count().map_err(Error::count)?;
    let gpus = match ids {
        Some(ids) if count > 0 && ids.chars().all(|c| c == ',') => return Err(Error::empty_ids()),
        Some(ids) => driver.select(ids).map_err(|gpu| Error::unanswered(&gpu))?,
        None => driver.gpus().map_err(Error::count)?,
    };
    match gpus {
        gpus if gpus.is_empty() => Err(Error::no_devices()),
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
