//! The slot that a GPU is in: what the kernel knows and NVML does not tell.

use super::facts::Pci;
use super::gpu::Gpu;
use super::reading::{Missing, Reading};
use super::sysfs::Sysfs;

/// GT/s of the PCIe generations, the first at 1.
const SPEEDS: [f32; 6] = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0];

impl Gpu<'_> {
    /// The highest PCIe generation of the slot: what the kernel says of the
    /// bridge above the GPU (`max_link_speed` in sysfs). NVML has no public
    /// question for it; a GPU with no bridge above it has no answer.
    pub fn host_max_pcie_generation(&self) -> Reading<u32> {
        let name = self.pci()?.kernel_name();
        let path = format!("/sys/bus/pci/devices/{name}/../max_link_speed");
        let speed = std::fs::read_to_string(path).map_err(|_| Missing::NotSupported)?;
        generation(&speed).ok_or(Missing::NotSupported)
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

/// The generation of `max_link_speed`: `16.0 GT/s PCIe`, or `16 GT/s` of older kernels.
fn generation(speed: &str) -> Option<u32> {
    let transfers: f32 = speed.split_whitespace().next()?.parse().ok()?;
    let place = SPEEDS.iter().position(|&known| known == transfers)?;
    u32::try_from(place + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::generation;

    #[test]
    fn speeds_are_read_as_every_kernel_writes_them() {
        let cases = [
            ("2.5 GT/s PCIe\n", Some(1)),
            ("2.5 GT/s\n", Some(1)),
            ("8 GT/s\n", Some(3)),
            ("16.0 GT/s PCIe\n", Some(4)),
            ("64.0 GT/s PCIe\n", Some(6)),
            ("Unknown speed\n", None),
            ("", None),
        ];
        for (speed, expected) in cases {
            assert_eq!(generation(speed), expected, "{speed}");
        }
    }
}
