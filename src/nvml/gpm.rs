//! GPU performance monitoring: what the counters say from one reading to the next.

use nvml_wrapper_sys::bindings::NVML_DEVICE_ARCH_HOPPER;

use super::gpu::Gpu;
use super::raw::{self, gpm::Sample};
use super::reading::{Missing, Reading};

/// The counters of a GPU, or of one of its GPU instances, as they were at the
/// last reading.
pub struct Meter<'d> {
    instance: Option<u32>,
    earlier: Sample<'d>,
    later: Sample<'d>,
    begun: bool,
}

impl<'d> Meter<'d> {
    /// For a GPU, or for one GPU instance of it.
    pub fn new(gpu: &Gpu<'d>, instance: Option<u32>) -> Reading<Self> {
        let device = gpu.device()?;
        Ok(Self {
            instance,
            earlier: Sample::new(device)?,
            later: Sample::new(device)?,
            begun: false,
        })
    }

    /// Metrics (`nvmlGpmMetricId_t`) since the last reading; the first has
    /// nothing to start from and says so.
    pub fn read(&mut self, gpu: &Gpu, ids: &[u32]) -> Reading<Vec<Reading<f64>>> {
        std::mem::swap(&mut self.earlier, &mut self.later);
        let begun = std::mem::replace(&mut self.begun, false);
        let device = gpu.device()?;
        match self.instance {
            None => self.later.take(device),
            Some(instance) => self.later.take_of_instance(device, instance),
        }?;
        self.begun = true;
        if begun {
            raw::gpm::metrics(&self.earlier, &self.later, ids)
        } else {
            Err(Missing::NO_DATA)
        }
    }
}

impl Gpu<'_> {
    /// Whether the GPU's architecture has performance monitoring: Hopper and later.
    pub fn has_gpm(&self) -> Reading<bool> {
        self.is_since(NVML_DEVICE_ARCH_HOPPER)
    }

    /// Has the performance counters stream or not, `nvmlGpmSetStreamingEnabled`.
    pub fn set_gpm_streaming(&self, state: u32) -> Reading<()> {
        raw::gpm::set_streaming(self.device()?, state)
    }
}
