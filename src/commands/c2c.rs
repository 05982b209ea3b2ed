//! `c2c`: the links between a GPU and the CPU on its module.

use crate::error::Error;
use crate::nvml::{Driver, Gpu, field};

use super::nvlink::gigabytes;
use super::subcommand::{Given, Opt, Subcommand, Takes, heading, put};

/// The subcommand.
pub const C2C: Subcommand = Subcommand {
    name: "c2c",
    about: "The chip-to-chip links between GPUs and CPUs.",
    options: &[
        Opt::new(
            "-i --id",
            Takes::Text,
            "Only these GPUs: index, UUID or PCI bus id.",
        ),
        Opt::new("-l --link", Takes::Number, "Only this link."),
        Opt::new(
            "-s --status",
            Takes::Nothing,
            "Show whether the links are up, and how fast.",
        ),
        Opt::new(
            "-e --errorCounters",
            Takes::Nothing,
            "Show the error counters.",
        ),
        Opt::new(
            "-gLowPwrInfo -getLowPowerInfo",
            Takes::Nothing,
            "Show the power states.",
        ),
    ],
    run,
};

fn run(driver: &Driver, given: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let gpus = given.gpus(driver)?;
    let linked: Vec<(&Gpu, u32)> = gpus
        .iter()
        .filter_map(|gpu| Some((gpu, gpu.c2c_link_count().ok().filter(|&links| links > 0)?)))
        .collect();
    if linked.is_empty() {
        return Err(Error::no_c2c());
    }
    for (option, name) in [("-e", "c2c -e"), ("-gLowPwrInfo", "c2c -gLowPwrInfo")] {
        if given.has(option) {
            return Err(Error::not_built(name));
        }
    }
    let only = given.number("-l").and_then(|link| u32::try_from(link).ok());
    for (gpu, count) in linked {
        heading(gpu, out);
        if given.has("-s") {
            status(gpu, count, only, out)?;
        }
    }
    Ok(())
}

fn status(gpu: &Gpu, count: u32, only: Option<u32>, out: &mut Vec<u8>) -> Result<(), Error> {
    let ask = |field| {
        let ids: Vec<(u32, u32)> = (0..count).map(|link| (field, link)).collect();
        gpu.numbers(&ids)
    };
    let up = ask(field::C2C_LINK_GET_STATUS);
    let is_up = |link: u32| up.get(link as usize) == Some(&Ok(1));
    match only {
        Some(link) if !is_up(link) => {
            put(
                out,
                &format!(
                    "NVML: Unable to retrieve C2C link information for link {link} - inActive\n"
                ),
            );
            return Ok(());
        }
        None if !(0..count).any(is_up) => {
            put(
                out,
                "NVML: Unable to retreive C2C Link information as all links are inActive\n",
            );
            return Ok(());
        }
        _ => {}
    }
    for (link, speed) in (0..count).zip(ask(field::C2C_LINK_GET_MAX_BW)) {
        if only.is_some_and(|only| only != link) {
            continue;
        }
        if !is_up(link) {
            put(out, &format!("\t C2C Link {link}: <inactive>\n"));
            continue;
        }
        let speed = speed.map_err(|missing| {
            let words = missing.words();
            Error::unread(
                missing,
                format!("NVML: Unable to retrieve C2C Link information for link {link}: {words}\n"),
            )
        })?;
        put(out, &format!("\t C2C Link {link}: {}\n", gigabytes(speed)));
    }
    Ok(())
}
