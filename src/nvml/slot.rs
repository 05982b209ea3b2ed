//! The slot that a GPU is in: what the kernel knows and NVML does not tell.

use super::gpu::Gpu;
use super::reading::{Missing, Reading};

/// GT/s of the PCIe generations, the first at 1.
const SPEEDS: [f32; 6] = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0];

impl Gpu<'_> {
    /// The highest PCIe generation of the slot: what the kernel says of the
    /// bridge above the GPU (`max_link_speed` in sysfs). NVML has no public
    /// question for it; a GPU with no bridge above it has no answer.
    pub fn host_max_pcie_generation(&self) -> Reading<u32> {
        let pci = self.pci()?;
        let path = format!(
            "/sys/bus/pci/devices/{:04x}:{:02x}:{:02x}.0/../max_link_speed",
            pci.domain, pci.bus, pci.device
        );
        let speed = std::fs::read_to_string(path).map_err(|_| Missing::NotSupported)?;
        generation(&speed).ok_or(Missing::NotSupported)
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
