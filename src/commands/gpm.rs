//! `gpm`: whether the performance counters of GPUs stream.

use std::ffi::OsString;
use std::io::Write;

use crate::args::{Args, Gpm};
use crate::error::Error;
use crate::nvml::{Gpu, Missing};

/// Shows or changes whether they stream.
pub fn gpm(arguments: &[OsString], out: &mut Vec<u8>) -> Result<(), Error> {
    let line = Gpm::read(arguments)?;
    let driver = crate::open()?;
    let gpus = crate::select(&driver, &Args::of(line.ids))?;
    match line.set {
        Some(state) => set(&gpus, state),
        None => show(&gpus, out),
    }
}

fn set(gpus: &[Gpu], state: u32) -> Result<(), Error> {
    let mut capable = false;
    for gpu in gpus {
        match gpu.set_gpm_streaming(state) {
            Ok(()) => capable = true,
            Err(Missing::NotSupported) => {}
            Err(missing) => return Err(Error::gpm_streaming("set", missing)),
        }
    }
    capable.then_some(()).ok_or_else(Error::no_gpm_device)
}

/// nvidia-smi tells of the first GPU alone. So do we while all agree; where they
/// do not, each GPU has its line.
fn show(gpus: &[Gpu], out: &mut Vec<u8>) -> Result<(), Error> {
    let mut states = Vec::new();
    for gpu in gpus {
        match gpu.gpm_streaming() {
            Ok(on) => states.push((gpu.index(), on)),
            Err(Missing::NotSupported) => {}
            Err(missing) => return Err(Error::gpm_streaming("display", missing)),
        }
    }
    let Some(&(_, first)) = states.first() else {
        return Err(Error::no_gpm_device());
    };
    let agree = states.iter().all(|(_, on)| *on == first);
    states.truncate(if agree { 1 } else { states.len() });
    for (gpu, on) in states {
        let word = if on { "ENABLED" } else { "DISABLED" };
        let which = if agree {
            String::new()
        } else {
            format!("GPU {gpu}: ")
        };
        // Writing to memory does not fail.
        let _ = writeln!(out, "{which}GPM stream state: {word}");
    }
    Ok(())
}
