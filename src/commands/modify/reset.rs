//! `-r`: NVML has no public call that resets a GPU, so the kernel is asked to
//! reset the PCI device, once nothing speaks against it.

use std::io;

use super::Named;
use crate::error::{Error, Status};
use crate::kernel::{Kernel, Method};
use crate::nvml::{Missing, Peer, Reading};

/// What must be known of a GPU before it is reset; taken down while NVML is
/// open, which it is no more when the reset comes.
pub struct Facts {
    index: u32,
    bus_id: String,
    short_bus_id: String,
    device_file: Reading<u32>,
    persistent: Reading<bool>,
    vgpu: Reading<bool>,
    operation_modes: Reading<(u32, u32)>,
    mig_devices: Reading<usize>,
    peers: Reading<Vec<Peer>>,
}

impl Facts {
    /// Asks a GPU.
    pub fn of((gpu, bus_id): &Named) -> Self {
        Self {
            index: gpu.index(),
            bus_id: bus_id.clone(),
            short_bus_id: gpu.pci().map(|pci| pci.short_bus_id).unwrap_or_default(),
            device_file: gpu.minor_number(),
            persistent: gpu.persistence(),
            vgpu: gpu.is_vgpu(),
            operation_modes: gpu.operation_modes(),
            mig_devices: gpu.mig_devices().map(|devices| devices.len()),
            peers: gpu.nvlink_peers(),
        }
    }
}

/// The kind of reset that a word after `-r` asks for.
pub fn method(kind: Option<&str>) -> Result<Method, Error> {
    match kind {
        None => Ok(Method::FunctionLevel),
        Some("bus") => Ok(Method::Bus),
        Some(other) => Err(Error::new(
            Status::InvalidArgument,
            format!("Invalid reset type: {other}\nTerminating early due to previous errors.\n"),
        )),
    }
}

/// No reset is begun while NVML has the GPUs open, which a kernel would take them
/// away from.
pub fn still_open(why: Missing) -> Error {
    let text = format!(
        "GPU Reset couldn't run because NVML did not shut down: {}\n",
        why.words()
    );
    terminated(why.into(), &text)
}

/// What a reset is made with.
pub struct Reset<'k> {
    /// How.
    pub method: Method,
    /// By whom.
    pub kernel: &'k Kernel,
    /// Whether root asks.
    pub root: bool,
    /// Whether nothing is to be done but said.
    pub dry_run: bool,
}

/// Why a reset is not begun.
type Objection = (Status, String);

impl Reset<'_> {
    /// Resets the GPUs, or says why none is reset. What was done is told by `say`
    /// as it is done.
    pub fn run(&self, gpus: &[Facts], mut say: impl FnMut(&str)) -> Result<(), Error> {
        for gpu in gpus {
            self.check(gpu, gpus)
                .map_err(|(status, why)| terminated(status, &why))?;
        }
        let mut failed = false;
        for gpu in gpus {
            let (name, method) = (&gpu.bus_id, self.method);
            if self.dry_run {
                say(&format!("Would reset GPU {name} by a {method}.\n"));
                continue;
            }
            match self.kernel.reset(&gpu.short_bus_id, method) {
                Ok(()) => say(&format!("GPU {name} was successfully reset.\n")),
                Err(error) => {
                    failed = true;
                    say(&format!(
                        "Error encountered during reset of GPU {name}: {error}\n"
                    ));
                }
            }
        }
        match (failed, self.dry_run) {
            (true, _) => Err(terminated(
                Status::Other,
                "The GPUs with errors may be in an unstable state: please reboot the system.\n",
            )),
            (false, true) => {
                say("Nothing was changed.\n");
                Ok(())
            }
            (false, false) => {
                say(&format!(
                    "The kernel did this by a {}.\nAll done.\n",
                    self.method
                ));
                Ok(())
            }
        }
    }

    /// What speaks against a reset of this GPU together with the others. A question
    /// without an answer does.
    fn check(&self, gpu: &Facts, together: &[Facts]) -> Result<(), Objection> {
        let name = &gpu.bus_id;
        let unknown = |what: &str, why: Missing| {
            let text = format!(
                "GPU Reset couldn't run because {what} of GPU {name} could not be determined: {}\n",
                why.words()
            );
            (Status::from(why), text)
        };
        if !self.root {
            return Err((
                Status::NoPermission,
                format!("Unable to reset GPU {name}: Insufficient Permissions\n"),
            ));
        }
        if supported(gpu.vgpu).map_err(|why| unknown("the virtualization mode", why))? == Some(true)
        {
            return Err((
                Status::NotSupported,
                format!("GPU Reset couldn't run because GPU {name} is in vGPU mode.\n"),
            ));
        }
        let modes =
            supported(gpu.operation_modes).map_err(|why| unknown("the operation mode", why))?;
        if modes.is_some_and(|(current, pending)| current != pending) {
            return Err((
                Status::Other,
                format!(
                    "GPU Reset couldn't run because there is a GPU Operation Mode change in flight for GPU {name}. Please reboot your system.\n"
                ),
            ));
        }
        if self.kernel.is_primary(&gpu.short_bus_id) {
            return Err((
                Status::NotSupported,
                format!("GPU Reset couldn't run because GPU {name} is the primary GPU.\n"),
            ));
        }
        if supported(gpu.persistent).map_err(|why| unknown("the persistence mode", why))?
            == Some(true)
        {
            return Err((
                Status::InUse,
                format!(
                    "GPU Reset couldn't run because persistence mode keeps the driver on GPU {name}. Please turn it off first (-pm 0, and stop nvidia-persistenced).\n"
                ),
            ));
        }
        if self.kernel.sets_modes() {
            return Err((
                Status::InUse,
                format!(
                    "GPU Reset couldn't run because the module nvidia_drm (modeset=1) keeps the driver on GPU {name}. Please unload it first.\n"
                ),
            ));
        }
        let mig_devices =
            supported(gpu.mig_devices).map_err(|why| unknown("the MIG devices", why))?;
        if mig_devices.is_some_and(|number| number > 0) {
            return Err((
                Status::InUse,
                format!(
                    "GPU Reset couldn't run because there are MIG devices on GPU {name}. Please destroy them first (mig -dci, mig -dgi).\n"
                ),
            ));
        }
        self.check_users(gpu, unknown)?;
        check_peers(gpu, together, unknown)?;
        match self.kernel.cannot_reset(&gpu.short_bus_id, self.method) {
            None => Ok(()),
            Some(why) => Err((
                Status::NotSupported,
                format!(
                    "Resetting GPU {name} is not supported: {why}. Please reboot the system instead.\n"
                ),
            )),
        }
    }

    fn check_users(
        &self,
        gpu: &Facts,
        unknown: impl Fn(&str, Missing) -> Objection,
    ) -> Result<(), Objection> {
        let minor = gpu
            .device_file
            .map_err(|why| unknown("the device file", why))?;
        let users = self.kernel.users(minor).map_err(|error: io::Error| {
            let text = format!("GPU Reset couldn't run because it could not be determined who uses GPU {}: {error}. Please do this as root of the host, not in a container.\n", gpu.bus_id);
            (Status::Other, text)
        })?;
        if users.is_empty() {
            return Ok(());
        }
        let pids: Vec<String> = users.iter().map(u32::to_string).collect();
        let name = &gpu.bus_id;
        Err((
            Status::InUse,
            format!(
                "GPU {name} is currently in use by another process.\nPlease end these processes first: {}\n",
                pids.join(", ")
            ),
        ))
    }
}

/// GPUs that NVLink connects are reset together; switches cannot be.
fn check_peers(
    gpu: &Facts,
    together: &[Facts],
    unknown: impl Fn(&str, Missing) -> Objection,
) -> Result<(), Objection> {
    let name = &gpu.bus_id;
    let peers = gpu.peers.clone();
    let peers = supported(peers)
        .map_err(|why| unknown("the NVLink peers", why))?
        .unwrap_or_default();
    let left_out = |peer: &&String| {
        together
            .iter()
            .all(|other| !other.bus_id.eq_ignore_ascii_case(peer))
    };
    let mut others: Vec<&String> = Vec::new();
    for peer in &peers {
        match peer {
            Peer::Gpu(bus_id) => others.push(bus_id),
            Peer::Other => {
                return Err((
                    Status::NotSupported,
                    format!(
                        "Resetting GPU {name} is not supported: it is linked to NVSwitches or a CPU, which would have to be reset with it. Please reboot the system instead.\n"
                    ),
                ));
            }
        }
    }
    others.retain(left_out);
    others.sort();
    others.dedup();
    if others.is_empty() {
        return Ok(());
    }
    let others: Vec<&str> = others.into_iter().map(String::as_str).collect();
    Err((
        Status::InvalidArgument,
        format!(
            "GPU Reset couldn't progress because the specified devices do not meet the reset criterion (e.g. NVLink connected GPUs must be reset together). GPU {} (index {}) is linked to: {}\n",
            name,
            gpu.index,
            others.join(", ")
        ),
    ))
}

/// A reading that may not exist on this board.
fn supported<T>(reading: Reading<T>) -> Reading<Option<T>> {
    match reading {
        Ok(answer) => Ok(Some(answer)),
        Err(Missing::NotSupported) => Ok(None),
        Err(why) => Err(why),
    }
}

fn terminated(status: Status, why: &str) -> Error {
    Error::new(
        status,
        format!("{why}Terminating early due to previous errors.\n"),
    )
}

#[cfg(test)]
mod tests;
