//! The slot that a GPU is in: what the kernel knows and NVML does not tell.

use super::gpu::Gpu;
use super::reading::{Missing, Reading};

/// The first number of `max_link_speed`, GT/s, and its PCIe generation.
const SPEEDS: &[(&str, u32)] = &[
    ("2.5", 1),
    ("5.0", 2),
    ("8.0", 3),
    ("16.0", 4),
    ("32.0", 5),
    ("64.0", 6),
];

impl Gpu<'_> {
    /// The highest PCIe generation of the slot: what the kernel says of the
    /// bridge above the GPU (`max_link_speed` in sysfs). NVML has no public
    /// question for it; a GPU with no bridge above it has no answer.
    pub fn host_max_pcie_generation(&self) -> Reading<u32> {
        let pci = self.pci()?;
        let path = format!(
            "/sys/bus/pci/devices/{}/../max_link_speed",
            pci.short_bus_id.to_lowercase()
        );
        let speed = std::fs::read_to_string(path).map_err(|_| Missing::NotSupported)?;
        SPEEDS
            .iter()
            .find(|(gigatransfers, _)| speed.split(' ').next() == Some(gigatransfers))
            .map(|&(_, generation)| generation)
            .ok_or(Missing::NotSupported)
    }
}
