//! Where the GPUs are: next to which CPUs and memory, and how far from each other.

use std::ffi::c_ulong;

use nvml_wrapper::enum_wrappers::device::TopologyLevel;
pub use nvml_wrapper::enum_wrappers::device::{P2pCapabilitiesIndex as P2pCapability, P2pStatus};

use crate::host::sysfs::Level;

use super::driver::Driver;
use super::gpu::Gpu;
use super::raw::{self, function, topology};
use super::reading::{Missing, Reading};

/// The level of an `nvmlGpuTopologyLevel_t`, which counts in tens.
fn from_nvml(level: u32) -> Option<Level> {
    let place = level.is_multiple_of(10).then_some(level / 10)?;
    Level::ALL.get(place as usize).copied()
}

impl From<Level> for TopologyLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Board => Self::Internal,
            Level::Switch => Self::Single,
            Level::Switches => Self::Multiple,
            Level::HostBridge => Self::HostBridge,
            Level::Node => Self::Node,
            Level::System => Self::System,
        }
    }
}

impl Gpu<'_> {
    /// The CPUs next to the GPU, `nvmlDeviceGetCpuAffinity`.
    pub fn cpu_affinity(&self) -> Reading<Vec<u32>> {
        topology::cpus(self.device()?).map(|cpus| numbers(&cpus))
    }

    /// The NUMA nodes whose memory is next to the GPU, `nvmlDeviceGetMemoryAffinity`.
    pub fn memory_affinity(&self) -> Reading<Vec<u32>> {
        topology::nodes(self.device()?).map(|nodes| numbers(&nodes))
    }

    /// The NUMA node that the GPU's own memory is, `nvmlDeviceGetNumaNodeId`.
    pub fn numa_node(&self) -> Reading<u32> {
        let device = self.device()?;
        raw::get(function!(nvmlDeviceGetNumaNodeId), device)
    }

    /// What the GPU shares with another, `nvmlDeviceGetTopologyCommonAncestor`.
    pub fn common_ancestor(&self, other: &Gpu) -> Reading<Level> {
        let f = function!(nvmlDeviceGetTopologyCommonAncestor);
        let level = topology::get_between(f, self.device()?, other.device()?)?;
        from_nvml(level).ok_or(Missing::UNKNOWN)
    }

    /// The indices of the GPUs that share `level` with this one and nothing
    /// nearer, `nvmlDeviceGetTopologyNearestGpus`.
    pub fn nearest(&self, level: Level) -> Reading<Vec<u32>> {
        topology::nearest(self.device()?, TopologyLevel::from(level).as_c())
    }

    /// Whether the GPU can reach another's memory, `nvmlDeviceGetP2PStatus`.
    pub fn p2p_status(&self, other: &Gpu, capability: P2pCapability) -> Reading<P2pStatus> {
        let status = topology::p2p_status(self.device()?, other.device()?, capability.as_c())?;
        P2pStatus::try_from(status).map_err(|_| Missing::UNKNOWN)
    }
}

/// The numbers of the bits that are set, ascending.
fn numbers(words: &[c_ulong]) -> Vec<u32> {
    let bits = c_ulong::BITS;
    (0..words.len() as u32 * bits)
        .filter(|bit| words[(bit / bits) as usize] >> (bit % bits) & 1 == 1)
        .collect()
}

impl Driver {
    /// The indices of the GPUs next to a CPU, `nvmlSystemGetTopologyGpuSet`.
    pub fn gpus_near_cpu(&self, cpu: u32) -> Reading<Vec<u32>> {
        topology::near_cpu(self.library(), cpu)
    }

    /// The bandwidth that NVLinks may use, `nvmlSystemGetNvlinkBwMode`:
    /// 0 full, 1 off, 2 least, 3 half, 4 three quarters.
    pub fn nvlink_bandwidth_mode(&self) -> Reading<u32> {
        raw::system::get(function!(nvmlSystemGetNvlinkBwMode), self.library())
    }

    /// Sets it, `nvmlSystemSetNvlinkBwMode`.
    pub fn set_nvlink_bandwidth_mode(&self, mode: u32) -> Reading<()> {
        raw::system::set(function!(nvmlSystemSetNvlinkBwMode), self.library(), mode)
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, from_nvml, numbers};

    #[test]
    fn sets_are_read_bit_by_bit() {
        assert_eq!(numbers(&[0b1001, 0, 1 << 63]), [0, 3, 191]);
    }

    #[test]
    fn levels_are_counted_in_tens() {
        let known: Vec<_> = (0..=60).filter_map(from_nvml).collect();
        assert_eq!(known, Level::ALL);
        assert!(Level::Board < Level::System);
    }
}
