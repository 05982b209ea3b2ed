//! `--get-hostname`: the host names that were given to the GPUs.

use super::modify::named;
use crate::error::{Error, Outcome};
use crate::nvml::Gpu;
use crate::value::printable;

/// A line for each GPU; one without an answer has its line too, and the status
/// tells of it.
pub fn hostnames(gpus: &[Gpu]) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    for (gpu, bus_id) in named(gpus)? {
        let line = match gpu.hostname() {
            Ok(name) => format!("Hostname for GPU {bus_id}: {}\n", printable(&name)),
            Err(why) => {
                outcome.fail(why.into());
                format!("Unable to get hostname for GPU {bus_id}: {}\n", why.words())
            }
        };
        outcome.text += &line;
    }
    Ok(outcome)
}
