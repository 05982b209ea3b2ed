//! The GPUs that a subcommand tells of: those that NVML gives a handle for.

use std::ops::Deref;

use crate::cli::Line;
use crate::commands::begin;
use crate::error::{Error, Outcome, Status};
use crate::nvml::{Driver, Gpu, Missing, Reading, each};
use crate::value::printable;

/// GPUs that have a handle, and what is said of those that have none.
pub struct Present<'d> {
    gpus: Vec<Gpu<'d>>,
    all_there: Result<(), Error>,
}

impl<'d> Present<'d> {
    /// All of the machine.
    pub fn all(driver: &'d Driver) -> Reading<Self> {
        driver.gpus().map(Self::of)
    }

    /// Those that `-i` names, each of which must have a handle, or all.
    pub fn named(driver: &'d Driver, line: &Line) -> Result<Self, Error> {
        let present = Self::of(begin::select(driver, line.text("id"))?);
        if line.has("id") {
            present.none_left_out()?;
        }
        Ok(present)
    }

    fn of(mut gpus: Vec<Gpu<'d>>) -> Self {
        let all_there = all_there(&gpus);
        gpus.retain(|gpu| gpu.device().is_ok());
        Self { gpus, all_there }
    }

    /// A GPU without a handle has no place in the answer, so that it is told of
    /// after it.
    pub fn none_left_out(&self) -> Result<(), Error> {
        self.all_there.clone()
    }
}

impl<'d> Deref for Present<'d> {
    type Target = [Gpu<'d>];

    fn deref(&self) -> &Self::Target {
        &self.gpus
    }
}

/// What a question to NVML failed at, followed by why.
pub fn failed(what: &str) -> impl Fn(Missing) -> Error + Copy {
    move |missing| Error::unread(missing, format!("{what}: {}\n", missing.words()))
}

/// Refuses to do without a GPU.
pub fn there(gpu: &Gpu) -> Result<(), Error> {
    let handle = gpu.device().map(drop);
    handle.map_err(|why| Error::no_handle(gpu, why))
}

/// Refuses to do without one of the GPUs; each that is not there is told of.
pub fn all_there(gpus: &[Gpu]) -> Result<(), Error> {
    let mut outcome = Outcome::default();
    gpus.iter().for_each(|gpu| outcome.note(there(gpu)));
    outcome.into_result()
}

/// What is asked of each GPU, in their order: of all of them at once, so that each
/// that does not answer costs `--timeout` only once. Where something is changed, of
/// one after another as the answers are taken: nothing is changed behind a failure.
pub fn of_each<'a, 'd, R: Send + 'a>(
    gpus: &'a [Gpu<'d>],
    changes: bool,
    ask: impl Fn(&Gpu<'d>) -> R + Sync + 'a,
) -> Box<dyn Iterator<Item = R> + 'a> {
    if changes {
        Box::new(gpus.iter().map(ask))
    } else {
        Box::new(each(gpus, ask).into_iter())
    }
}

/// The GPUs whose architecture has something; every one that there is must tell
/// its own.
pub fn able<'g, 'd>(
    gpus: &'g [Gpu<'d>],
    has: impl Fn(&Gpu<'d>) -> Reading<bool>,
    none: &str,
) -> Result<Vec<&'g Gpu<'d>>, Error> {
    let mut able = Vec::new();
    for gpu in gpus.iter().filter(|gpu| gpu.device().is_ok()) {
        match has(gpu) {
            Ok(true) => able.push(gpu),
            Ok(false) => {}
            Err(missing) => {
                let failure = Error::no_architecture(missing);
                return Err(Error::new(failure.status(), format!("{failure}{none}")));
            }
        }
    }
    if able.is_empty() {
        all_there(gpus)?;
        return Err(Error::new(Status::NotFound, none));
    }
    Ok(able)
}

/// The line above what is said of a GPU.
pub fn heading(gpu: &Gpu) -> String {
    let shown = |text: Reading<String>| match text {
        Ok(text) => printable(&text).into_owned(),
        Err(missing) => missing.words_or_not_available().to_owned(),
    };
    let (name, uuid) = (shown(gpu.name()), shown(gpu.uuid()));
    format!("GPU {}: {name} (UUID: {uuid})\n", gpu.index())
}

/// The status of a GPU that does not tell its name, in which nvidia-smi ends.
pub fn named(gpu: &Gpu) -> Status {
    gpu.name().map_or_else(Status::from, |_| Status::Success)
}
