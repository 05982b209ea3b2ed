//! MIG devices: the slices that a GPU in MIG mode is cut into.

use nvml_wrapper_sys::bindings::*;

use super::facts::Memory;
use super::gpu::Gpu;
use super::raw::{self, Device, forms, function};
use super::reading::{Missing, Reading};

/// A compute instance with its share of a GPU instance. What it answers is
/// asked when it is asked for, and not kept.
pub struct MigDevice<'d> {
    index: u32,
    device: Device<'d>,
}

impl<'d> Gpu<'d> {
    /// Whether it is cut into MIG devices now; not where that is unknown.
    pub fn in_mig_mode(&self) -> bool {
        matches!(self.mig(), Ok((true, _)))
    }

    /// Its MIG devices; none outside MIG mode, and where that is unknown those that
    /// can be read.
    pub fn mig_devices(&self) -> Reading<Vec<MigDevice<'d>>> {
        match self.mig() {
            Ok((true, _)) => self.mig_devices_in_any_mode(),
            Ok((false, _)) | Err(Missing::NotSupported | Missing::FUNCTION_NOT_FOUND) => {
                Ok(Vec::new())
            }
            Err(_) => Ok(self.mig_devices_in_any_mode().unwrap_or_default()),
        }
    }

    /// An index without a device (`NVML_ERROR_NOT_FOUND`) is a gap, not an end.
    fn mig_devices_in_any_mode(&self) -> Reading<Vec<MigDevice<'d>>> {
        /// More than any GPU has slices.
        const MOST: u32 = 256;
        let device = self.device()?;
        (0..raw::plausible(self.max_mig_devices()?, MOST)?)
            .map(|index| (index, raw::mig_handle(device, index)))
            .filter(|(_, device)| !matches!(device, Err(Missing::NOT_FOUND)))
            .map(|(index, device)| {
                let device = device?;
                raw::time_limit::belongs_to(device, self.index());
                Ok(MigDevice { index, device })
            })
            .collect()
    }
}

impl MigDevice<'_> {
    /// Its place on its GPU, from 0.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The GPU's name and the profile, `nvmlDeviceGetName`: `NVIDIA H200 MIG 1g.18gb`.
    pub fn name(&self) -> Reading<String> {
        raw::get_string(function!(nvmlDeviceGetName), self.device, 96)
    }

    /// `MIG-` and a UUID, `nvmlDeviceGetUUID`.
    pub fn uuid(&self) -> Reading<String> {
        raw::get_string(function!(nvmlDeviceGetUUID), self.device, 96)
    }

    /// Its GPU instance, `nvmlDeviceGetGpuInstanceId`.
    pub fn gpu_instance(&self) -> Reading<u32> {
        raw::get(function!(nvmlDeviceGetGpuInstanceId), self.device)
    }

    /// Its compute instance, `nvmlDeviceGetComputeInstanceId`.
    pub fn compute_instance(&self) -> Reading<u32> {
        raw::get(function!(nvmlDeviceGetComputeInstanceId), self.device)
    }

    /// Memory of its GPU instance, `nvmlDeviceGetMemoryInfo_v2`.
    pub fn memory(&self) -> Reading<Memory> {
        forms::memory(self.device)
    }

    /// BAR1 memory of its GPU instance, bytes, `nvmlDeviceGetBAR1MemoryInfo`.
    pub fn bar1(&self) -> Reading<nvmlBAR1Memory_t> {
        raw::get(function!(nvmlDeviceGetBAR1MemoryInfo), self.device)
    }

    /// Its multiprocessors and engines, `nvmlDeviceGetAttributes_v2`.
    pub fn attributes(&self) -> Reading<nvmlDeviceAttributes_t> {
        raw::get(function!(nvmlDeviceGetAttributes_v2), self.device)
    }

    /// SRAM errors since the driver was loaded that ECC could not correct,
    /// `nvmlDeviceGetMemoryErrorCounter`.
    pub fn uncorrected_errors(&self) -> Reading<u64> {
        const UNCORRECTED: u32 = 1;
        const VOLATILE: u32 = 0;
        const SRAM: u32 = 7;
        raw::get_for3(
            function!(nvmlDeviceGetMemoryErrorCounter),
            self.device,
            (UNCORRECTED, VOLATILE, SRAM),
        )
    }
}
