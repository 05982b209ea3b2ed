//! One file per command: ask, build, render. And the table of the subcommands.

pub mod c2c;
pub mod confidential;
pub mod dmon;
pub mod drain;
pub mod gpm;
pub mod led;
pub mod list;
pub mod log;
pub mod mig;
pub mod modify;
pub mod nvlink;
pub mod pci;
pub mod pmon;
pub mod power;
mod present;
pub mod query;
pub mod refused;
pub mod repeat;
pub mod sessions;
pub mod summary;
pub mod topo;
pub mod version;

use std::ffi::OsString;

use crate::error::Error;
use crate::help;
use crate::output::Output;
use crate::spelling::subcommand::{Run, Subcommand};

/// The words that may stand first on a command line, in the order of the usage
/// screen. What follows one is its own business.
pub static SUBCOMMANDS: &[&Subcommand] = &[
    &dmon::DMON,
    &Subcommand::not_built("daemon", "Record the GPUs in the background"),
    &Subcommand::not_built("replay", "Show what the daemon recorded"),
    &pmon::PMON,
    &topo::TOPO,
    &drain::DRAIN,
    &nvlink::NVLINK,
    &c2c::C2C,
    &refused::CLOCKS,
    &sessions::ENCODERSESSIONS,
    &sessions::FBCSESSIONS,
    &Subcommand::not_built("vgpu", "Virtual GPUs"),
    &mig::MIG,
    &refused::COMPUTE_POLICY,
    &refused::BOOST_SLIDER,
    &refused::POWER_HINT,
    &Subcommand::not_built("base-clocks", "Base clocks"),
    &confidential::CONF_COMPUTE,
    &gpm::GPM,
    &pci::PCI,
    &power::smoothing::POWER_SMOOTHING,
    &power::profiles::POWER_PROFILES,
    &Subcommand::not_built("prm", "PRM registers"),
];

/// The subcommand of this name.
pub fn subcommand(name: &str) -> Option<&'static Subcommand> {
    SUBCOMMANDS.iter().copied().find(|known| known.name == name)
}

/// Does what a subcommand's line asks for.
pub fn run(name: &str, arguments: &[OsString]) -> anyhow::Result<()> {
    let not_built = || Error::not_built(name);
    let known = subcommand(name).ok_or_else(not_built)?;
    let (Run::Refused(run) | Run::Once(run) | Run::Endlessly(run)) = known.run else {
        return Err(not_built().into());
    };
    let line = known.read(arguments)?;
    if line.asks_for_usage() {
        Output::stdout()?.write(help::subcommand(known).as_bytes())?;
        return Ok(());
    }
    run(&line)
}
