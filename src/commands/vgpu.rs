//! `vgpu`, as far as GPUs that host no vGPUs answer it.

use super::begin;
use crate::cli::Takes::{Long, Nothing, Text};
use crate::cli::{ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::error::{Error, Status};
use crate::nvml::Gpu;
use crate::output::Output;

/// `vgpu`.
#[rustfmt::skip]
pub static VGPU: Subcommand = Subcommand {
    name: "vgpu",
    about: "Virtual GPUs",
    notes: "nvsmi only tells whether there are GPUs that host vGPUs.",
    options: &[
        ID,
        opt("-q --query", Nothing, "", "The vGPUs that run"),
        opt("-u --utilization", Nothing, "", "How busy vGPUs keep the engines"),
        opt("-p --pmon", Nothing, "", "How busy processes in vGPUs keep the engines"),
        opt("-s --supported", Nothing, "", "The types that the GPUs support"),
        opt("-c --creatable", Nothing, "", "The types of which a vGPU can be created now"),
        opt("-es --encodersessions", Nothing, "", "Encoder sessions"),
        opt("-fs --fbcsessions", Nothing, "", "Frame buffer capture sessions"),
        opt("-m --migrationcap", Nothing, "", "Whether vGPUs can migrate"),
        opt("-ss --schedulerstate", Nothing, "", "State of the scheduler"),
        opt("-sc --schedulercaps", Nothing, "", "What the scheduler can do"),
        opt("-sl --schedulerlogs", Nothing, "", "Logs of the scheduler"),
        opt("-v --verbose", Nothing, "", "More about the types of -s and -c"),
        opt("-l --loop", Long, "SECONDS", "Again and again"),
        opt("-gi --gpu-instance-id", Text, "IDS", "Only these GPU instances"),
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Nothing,
    run: Run::Once(vgpu),
};

/// Inventory tools look for this sentence.
const NO_HOST: &str = "No supported devices in vGPU mode\n";

fn vgpu(line: &Line) -> anyhow::Result<Status> {
    let driver = begin::open()?;
    let gpus = begin::select(&driver, line.text("id"))?;
    if gpus.iter().any(Gpu::hosts_vgpus) {
        return Err(Error::not_built("vgpu on hosts of vGPUs").into());
    }
    Output::stdout()?.write(NO_HOST.as_bytes())?;
    Ok(Status::Success)
}
