//! `--get-hostname`: the host names that were given to the GPUs.

use super::modify::named;
use crate::error::Error;
use crate::nvml::Gpu;
use crate::render::put;
use crate::value::printable;

/// A line for each GPU; one without an answer has its line too, and the status
/// tells of it.
pub fn hostnames(gpus: &[Gpu], out: &mut Vec<u8>) -> Result<(), Error> {
    let mut status = Ok(());
    for (gpu, bus_id) in named(gpus)? {
        let line = match gpu.hostname() {
            Ok(name) => format!("Hostname for GPU {bus_id}: {}\n", printable(&name)),
            Err(why) => {
                status = status.and(Err(Error::told(why.into())));
                format!("Unable to get hostname for GPU {bus_id}: {}\n", why.words())
            }
        };
        put(out, &line);
    }
    status
}
