//! `-r`: NVML has no public call that resets a GPU, so the kernel is asked to
//! reset the PCI device, once nothing speaks against it.

use crate::commands::dry_run::{NOTHING_CHANGED, index_and_bus_id};
use crate::error::{Error, Status};
use crate::host::kernel::{Kernel, Method};
use crate::nvml::{Driver, Gpu, Missing, Peer, Reading};
use crate::value::printable;

/// What must be known of a GPU before it is reset; taken down while NVML is
/// open, which it is no more when the reset comes. An answer is `None` where the
/// board has no such thing, and where the GPU cannot answer before it is reset.
pub struct Facts {
    index: u32,
    bus_id: String,
    short_bus_id: String,
    uuid: Reading<Option<String>>,
    device_file: Reading<Option<u32>>,
    persistent: Reading<Option<bool>>,
    vgpu: Reading<Option<bool>>,
    operation_modes: Reading<Option<(u32, u32)>>,
    mig_devices: Reading<Option<usize>>,
    /// Those that NVML knows of; the kernel knows the others.
    processes: Vec<u32>,
    peers: Reading<Option<Vec<Peer>>>,
}

impl Facts {
    /// Asks a GPU, and of its NVLinks the others too if it cannot tell.
    pub fn of(driver: &Driver, gpu: &Gpu) -> Result<Self, Error> {
        let unknown = |why| match gpu.device() {
            Ok(_) => Error::pci_info(gpu.index(), why),
            Err(why) => Error::no_handle(gpu, why),
        };
        let bus_id = gpu.bus_id().map_err(unknown)?;
        let peers = match known(gpu, gpu.nvlink_peers()) {
            Ok(None) => seen_by_others(driver, gpu.index(), &bus_id),
            peers => peers,
        };
        Ok(Self {
            index: gpu.index(),
            bus_id: printable(&bus_id).into_owned(),
            short_bus_id: gpu.short_bus_id().map_err(unknown)?,
            uuid: known(gpu, gpu.uuid()),
            device_file: known(gpu, gpu.minor_number()),
            persistent: known(gpu, gpu.persistence()),
            vgpu: known(gpu, gpu.is_vgpu()),
            operation_modes: known(gpu, gpu.operation_modes()),
            mig_devices: known(gpu, gpu.mig_devices().map(|devices| devices.len())),
            processes: {
                let lists = gpu.process_lists();
                let processes = lists.into_iter().flatten().flatten();
                processes.map(|process| process.pid).collect()
            },
            peers,
        })
    }
}

/// A reading that may not exist on this board. A GPU that is lost, needs a reset or
/// has no handle cannot be asked; that does not stand in the way of its reset.
fn known<T>(gpu: &Gpu, reading: Reading<T>) -> Reading<Option<T>> {
    match reading {
        Ok(answer) => Ok(Some(answer)),
        Err(Missing::NotSupported | Missing::RESET_REQUIRED | Missing::GPU_IS_LOST) => Ok(None),
        Err(_) if gpu.device().is_err() => Ok(None),
        Err(why) => Err(why),
    }
}

/// What a GPU is linked to, as the others tell it: to those that are linked to it,
/// and to switches if any of them is.
fn seen_by_others(driver: &Driver, index: u32, bus_id: &str) -> Reading<Option<Vec<Peer>>> {
    let mut peers = Vec::new();
    for other in driver.gpus()?.iter().filter(|gpu| gpu.index() != index) {
        for peer in known(other, other.nvlink_peers())?.unwrap_or_default() {
            match peer {
                Peer::Other => peers.push(Peer::Other),
                Peer::Gpu(id) if id.eq_ignore_ascii_case(bus_id) => {
                    peers.push(Peer::Gpu(other.bus_id()?));
                }
                Peer::Gpu(_) => {}
            }
        }
    }
    Ok(Some(peers))
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
        // No GPU is found to be in use where another one can never be reset.
        for check in [Self::never, Self::permitted, Self::now] {
            for gpu in gpus {
                check(self, gpu, gpus).map_err(|(status, why)| terminated(status, &why))?;
            }
        }
        let mut failed = false;
        for gpu in gpus {
            let (name, method) = (&gpu.bus_id, self.method);
            if self.dry_run {
                let name = index_and_bus_id(gpu.index, name);
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
                say(NOTHING_CHANGED);
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

    /// What can never be, whatever the user changes.
    fn never(&self, gpu: &Facts, _: &[Facts]) -> Result<(), Objection> {
        let name = &gpu.bus_id;
        if gpu.answer("virtualization mode", &gpu.vgpu)? == Some(&true) {
            let why = format!("GPU Reset couldn't run because GPU {name} is in vGPU mode.\n");
            return Err((Status::NotSupported, why));
        }
        if self.kernel.is_primary(&gpu.short_bus_id) {
            let why = format!("GPU Reset couldn't run because GPU {name} is the primary GPU.\n");
            return Err((Status::NotSupported, why));
        }
        let peers = gpu.answer("NVLink peers", &gpu.peers)?;
        let on_switches = peers.is_some_and(|peers| peers.contains(&Peer::Other));
        let impossible = match self.kernel.cannot_reset(&gpu.short_bus_id, self.method) {
            _ if on_switches => {
                "it is linked to NVSwitches or a CPU, which would have to be reset with it".into()
            }
            Some(why) => why,
            None => return self.same_gpu(gpu),
        };
        let why = format!(
            "Resetting GPU {name} is not supported: {impossible}. Please reboot the system instead.\n"
        );
        Err((Status::NotSupported, why))
    }

    /// Refuses where the kernel knows the GPU at this place by another UUID: an NVML
    /// that tells of another machine must not have GPUs of this one reset.
    fn same_gpu(&self, gpu: &Facts) -> Result<(), Objection> {
        let told = gpu.answer("UUID", &gpu.uuid)?;
        match (told, self.kernel.uuid(&gpu.short_bus_id)) {
            (Some(told), Some(known)) if !told.eq_ignore_ascii_case(&known) => {
                let why = format!(
                    "GPU Reset couldn't run because the kernel knows GPU {} as {}, and NVML as {}.\n",
                    gpu.bus_id,
                    printable(&known),
                    printable(told)
                );
                Err((Status::Other, why))
            }
            _ => Ok(()),
        }
    }

    fn permitted(&self, gpu: &Facts, _: &[Facts]) -> Result<(), Objection> {
        let why = || {
            format!(
                "Unable to reset GPU {}: Insufficient Permissions\n",
                gpu.bus_id
            )
        };
        self.root
            .then_some(())
            .ok_or_else(|| (Status::NoPermission, why()))
    }

    /// What the user can change.
    fn now(&self, gpu: &Facts, together: &[Facts]) -> Result<(), Objection> {
        let name = &gpu.bus_id;
        let not_yet = |status, why: String| {
            let text = format!("GPU Reset couldn't run because {why}\n");
            Err((status, text))
        };
        let others = gpu.linked_besides(together)?;
        if !others.is_empty() {
            let why = format!(
                "GPU Reset couldn't progress because the specified devices do not meet the reset criterion (e.g. NVLink connected GPUs must be reset together). GPU {name} (index {}) is linked to: {}\n",
                gpu.index,
                others.join(", ")
            );
            return Err((Status::InvalidArgument, why));
        }
        if let Some((current, pending)) = gpu.answer("operation mode", &gpu.operation_modes)?
            && current != pending
        {
            let why = format!(
                "there is a GPU Operation Mode change in flight for GPU {name}. Please reboot your system."
            );
            return not_yet(Status::Other, why);
        }
        if gpu.answer("persistence mode", &gpu.persistent)? == Some(&true) {
            let why = format!(
                "persistence mode keeps the driver on GPU {name}. Please turn it off first (-pm 0, and stop nvidia-persistenced)."
            );
            return not_yet(Status::InUse, why);
        }
        if self.kernel.sets_modes() {
            let why = format!(
                "the module nvidia_drm (modeset=1) keeps the driver on GPU {name}. Please unload it first."
            );
            return not_yet(Status::InUse, why);
        }
        if gpu
            .answer("MIG devices", &gpu.mig_devices)?
            .is_some_and(|&number| number > 0)
        {
            let why = format!(
                "there are MIG devices on GPU {name}. Please destroy them first (mig -dci, mig -dgi)."
            );
            return not_yet(Status::InUse, why);
        }
        let minor = gpu.answer("device file", &gpu.device_file)?.copied();
        let minor = minor.or_else(|| self.kernel.minor(&gpu.short_bus_id));
        let users = match self.kernel.users(minor) {
            Ok(users) => users,
            Err(error) => {
                let why = format!("it could not be determined who uses GPU {name}: {error}.");
                return not_yet(Status::Other, why);
            }
        };
        let mut pids: Vec<u32> = users.pids.iter().chain(&gpu.processes).copied().collect();
        pids.sort_unstable();
        pids.dedup();
        if !pids.is_empty() {
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            let why = format!(
                "GPU {name} is currently in use by another process.\nPlease end these processes first: {}\n",
                pids.join(", ")
            );
            return Err((Status::InUse, why));
        }
        if users.unseen {
            let why = format!(
                "processes that cannot be seen from here may use GPU {name}. Please run this as root on the host, or in a container that sees the host's processes (docker run --privileged --pid=host)."
            );
            return not_yet(Status::Other, why);
        }
        Ok(())
    }
}

impl Facts {
    /// An answer, or the objection that it failed.
    fn answer<'a, T>(
        &self,
        what: &str,
        reading: &'a Reading<Option<T>>,
    ) -> Result<Option<&'a T>, Objection> {
        reading.as_ref().map(Option::as_ref).map_err(|&why| {
            let (name, words) = (&self.bus_id, why.words());
            let text = format!(
                "GPU Reset couldn't run because the {what} of GPU {name} could not be determined: {words}\n"
            );
            (Status::from(why), text)
        })
    }

    /// The GPUs that NVLink connects to this one, but for those reset with it.
    fn linked_besides(&self, together: &[Self]) -> Result<Vec<&str>, Objection> {
        let is_left_out = |id: &&str| {
            let is_it = |gpu: &Self| gpu.bus_id.eq_ignore_ascii_case(id);
            !together.iter().any(is_it)
        };
        let peers = self.answer("NVLink peers", &self.peers)?;
        let ids = peers.into_iter().flatten().filter_map(|peer| match peer {
            Peer::Gpu(id) => Some(id.as_str()),
            Peer::Other => None,
        });
        let mut others: Vec<&str> = ids.filter(is_left_out).collect();
        others.sort_unstable();
        others.dedup();
        Ok(others)
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
