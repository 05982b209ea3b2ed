//! The slot that a GPU is in: what the kernel knows and NVML does not tell.

use crate::host::sysfs::Sysfs;

use super::facts::Pci;
use super::gpu::Gpu;
use super::reading::{Missing, Reading};

impl Gpu<'_> {
    /// The highest PCIe generation of the slot: what the kernel says of the
    /// bridge above the GPU (`max_link_speed` in sysfs). NVML has no public
    /// question for it; a GPU with no bridge above it has no answer.
    pub fn host_max_pcie_generation(&self) -> Reading<u32> {
        let name = self.pci()?.kernel_name();
        let generation = Sysfs::new("/sys").slot_generation(&name);
        generation.ok_or(Missing::NotSupported)
    }

    /// Its PCI bus id, eight digits of domain: `00000000:5D:00.0`. NVML tells it
    /// only of a GPU with a handle. Without one the kernel tells it, if this is
    /// the only GPU of the machine that has none.
    pub fn bus_id(&self) -> Reading<String> {
        self.address(|pci| pci.bus_id, |name| format!("{name:0>16}"))
    }

    /// The same with four digits of domain: `0000:5D:00.0`.
    pub fn short_bus_id(&self) -> Reading<String> {
        self.address(|pci| pci.short_bus_id, str::to_owned)
    }

    /// The short bus id, or the index where that is not known.
    pub fn short_name(&self) -> String {
        let index = |_| self.index().to_string();
        self.short_bus_id().unwrap_or_else(index)
    }

    fn address(&self, told: fn(Pci) -> String, left: fn(&str) -> String) -> Reading<String> {
        match (self.pci(), self.device()) {
            (Ok(pci), _) => Ok(told(pci)),
            (Err(why), Ok(_)) => Err(why),
            (Err(why), Err(_)) => {
                let name = self.left_over.get_or_init(|| self.left_over());
                name.as_deref().map(left).ok_or(why)
            }
        }
    }

    /// The kernel's name of the one GPU that no handle stands for, in capitals.
    fn left_over(&self) -> Option<String> {
        let mut names = Sysfs::new("/sys").gpus();
        let count = u32::try_from(names.len()).ok().filter(|&count| count > 0)?;
        if self.gpu_count() != Ok(count) {
            return None;
        }
        for index in (0..count).filter(|&index| index != self.index()) {
            // It is open which one is meant if another GPU has no handle either.
            let name = self.neighbour(index).pci().ok()?.kernel_name();
            names.retain(|known| *known != name);
        }
        match &names[..] {
            [name] => Some(name.to_uppercase()),
            _ => None,
        }
    }
}
