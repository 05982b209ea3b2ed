//! Confidential computing, of the system and of a GPU.

use nvml_wrapper_sys::bindings::*;

use super::driver::Driver;
use super::gpu::Gpu;
use super::raw::{self, function, set, system};
use super::reading::Reading;

impl Driver {
    /// What the CPU can do (`NVML_CC_SYSTEM_CPU_CAPS_*`) and whether the GPUs can
    /// (1), `nvmlSystemGetConfComputeCapabilities`.
    pub fn cc_capabilities(&self) -> Reading<nvmlConfComputeSystemCaps_t> {
        system::get(
            function!(nvmlSystemGetConfComputeCapabilities),
            self.library(),
        )
    }

    /// The environment, whether it is on, whether developer tools may look inside,
    /// `nvmlSystemGetConfComputeState`.
    pub fn cc_state(&self) -> Reading<nvmlConfComputeSystemState_t> {
        system::get(function!(nvmlSystemGetConfComputeState), self.library())
    }

    /// How several GPUs work together, `NVML_CC_SYSTEM_MULTIGPU_*`,
    /// `nvmlSystemGetConfComputeSettings`.
    pub fn cc_multi_gpu(&self) -> Reading<u32> {
        system::get(function!(nvmlSystemGetConfComputeSettings), self.library())
            .map(|settings| settings.multiGpuMode)
    }

    /// Whether the GPUs accept work, `nvmlSystemGetConfComputeGpusReadyState`.
    pub fn cc_ready(&self) -> Reading<u32> {
        system::get(
            function!(nvmlSystemGetConfComputeGpusReadyState),
            self.library(),
        )
    }

    /// Sets it, 0 or 1, `nvmlSystemSetConfComputeGpusReadyState`.
    pub fn set_cc_ready(&self, ready: u32) -> Reading<()> {
        system::set(
            function!(nvmlSystemSetConfComputeGpusReadyState),
            self.library(),
            ready,
        )
    }

    /// The attacker's advantage at which keys are rotated,
    /// `nvmlSystemGetConfComputeKeyRotationThresholdInfo`.
    pub fn cc_key_rotation(&self) -> Reading<u64> {
        system::get(
            function!(nvmlSystemGetConfComputeKeyRotationThresholdInfo),
            self.library(),
        )
        .map(|info| info.attackerAdvantage)
    }

    /// Sets it, `nvmlSystemSetConfComputeKeyRotationThresholdInfo`.
    pub fn set_cc_key_rotation(&self, advantage: u64) -> Reading<()> {
        let f = function!(nvmlSystemSetConfComputeKeyRotationThresholdInfo);
        system::get_versioned(f, self.library(), |wish| {
            wish.maxAttackerAdvantage = advantage
        })
        .map(|_| ())
    }

    /// Whether a GPU is being drained, by its place (domain, bus, device),
    /// `nvmlDeviceQueryDrainState`.
    pub fn is_draining(&self, place: (u32, u32, u32)) -> Reading<bool> {
        system::drain_state(self.library(), place).map(|state| state != 0)
    }

    /// Begins or ends that, `nvmlDeviceModifyDrainState`.
    pub fn set_draining(&self, place: (u32, u32, u32), drain: bool) -> Reading<()> {
        system::set_drain_state(self.library(), place, drain.into())
    }

    /// Removes a drained GPU, `nvmlDeviceRemoveGpu_v2`.
    pub fn remove(&self, place: (u32, u32, u32)) -> Reading<()> {
        system::remove(self.library(), place)
    }

    /// Finds removed GPUs, `nvmlDeviceDiscoverGpus`.
    pub fn discover(&self) -> Reading<()> {
        system::discover(self.library())
    }
}

impl Gpu<'_> {
    /// Protected and unprotected memory, KiB, `nvmlDeviceGetConfComputeMemSizeInfo`.
    pub fn cc_memory(&self) -> Reading<nvmlConfComputeMemSizeInfo_t> {
        let device = self.device()?;
        raw::get(function!(nvmlDeviceGetConfComputeMemSizeInfo), device)
    }

    /// Sets how much is unprotected, KiB, `nvmlDeviceSetConfComputeUnprotectedMemSize`.
    pub fn set_cc_unprotected_memory(&self, kibibytes: u64) -> Reading<()> {
        let device = self.device()?;
        let f = function!(nvmlDeviceSetConfComputeUnprotectedMemSize);
        set::set(f, device, kibibytes)
    }

    /// Whether the GPU's architecture has confidential computing: Ampere and later.
    pub fn has_cc(&self) -> Reading<bool> {
        self.is_since(NVML_DEVICE_ARCH_AMPERE)
    }
}
