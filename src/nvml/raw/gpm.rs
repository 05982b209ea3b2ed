//! GPU performance monitoring: samples of a device's counters, and metrics
//! between two of them.

use nvml_wrapper::Device;
use nvml_wrapper_sys::bindings::*;

use super::{Plain, checked, found, zeroed};
use crate::nvml::reading::{Missing, Reading};

// SAFETY: numbers, and pointers that may be null.
unsafe impl Plain for nvmlGpmMetricsGet_t {}

/// `NVML_GPM_METRICS_GET_VERSION`, which is no `NVML_STRUCT_VERSION`.
const METRICS_GET_VERSION: u32 = 1;

/// Room for the counters of one device at one time.
pub struct Sample<'d> {
    lib: &'d NvmlLib,
    handle: nvmlGpmSample_t,
}

// SAFETY: NVML may be called from any thread, and a sample belongs to none.
unsafe impl Send for Sample<'_> {}

impl<'d> Sample<'d> {
    /// `nvmlGpmSampleAlloc`.
    pub fn new(device: &Device<'d>) -> Reading<Self> {
        let lib = device.nvml().lib();
        let alloc = found(&lib.nvmlGpmSampleAlloc)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: a pointer to a handle of our own.
        checked(unsafe { alloc(&mut handle) })?;
        Ok(Self { lib, handle })
    }

    /// `nvmlGpmSampleGet`: the counters of a GPU, as they are now.
    pub fn take(&mut self, device: &Device) -> Reading<()> {
        let get = found(&self.lib.nvmlGpmSampleGet)?;
        // SAFETY: a live device handle and a sample that was allocated.
        checked(unsafe { get(device.handle(), self.handle) })
    }

    /// `nvmlGpmMigSampleGet`: the counters of a GPU instance, as they are now.
    pub fn take_of_instance(&mut self, device: &Device, gpu_instance: u32) -> Reading<()> {
        let get = found(&self.lib.nvmlGpmMigSampleGet)?;
        // SAFETY: as in `take`.
        checked(unsafe { get(device.handle(), gpu_instance, self.handle) })
    }
}

impl Drop for Sample<'_> {
    fn drop(&mut self) {
        if let Ok(free) = found(&self.lib.nvmlGpmSampleFree) {
            // SAFETY: a sample that was allocated, freed once. What NVML says
            // of it changes nothing.
            let _ = unsafe { free(self.handle) };
        }
    }
}

/// `nvmlGpmMetricsGet`: what the counters say about the time between two
/// samples of one device, one reading an id.
pub fn metrics(earlier: &Sample, later: &Sample, ids: &[u32]) -> Reading<Vec<Reading<f64>>> {
    let get = found(&later.lib.nvmlGpmMetricsGet)?;
    let mut values = Vec::with_capacity(ids.len());
    let mut question: nvmlGpmMetricsGet_t = zeroed();
    for ids in ids.chunks(question.metrics.len()) {
        question.version = METRICS_GET_VERSION;
        question.numMetrics = ids.len() as u32;
        question.sample1 = earlier.handle;
        question.sample2 = later.handle;
        for (metric, &id) in question.metrics.iter_mut().zip(ids) {
            metric.metricId = id;
        }
        // SAFETY: a struct of our own, no longer than its array, and two
        // samples that were allocated.
        checked(unsafe { get(&mut question) })?;
        values.extend(
            question.metrics[..ids.len()]
                .iter()
                .map(|metric| match metric.nvmlReturn {
                    nvmlReturn_enum_NVML_SUCCESS => Ok(metric.value),
                    code => Err(Missing::from_code(code)),
                }),
        );
    }
    Ok(values)
}

/// `nvmlGpmSetStreamingEnabled`: 0 or 1, which NVML checks.
pub fn set_streaming(device: &Device, state: u32) -> Reading<()> {
    let set = found(&device.nvml().lib().nvmlGpmSetStreamingEnabled)?;
    // SAFETY: a live handle and a number.
    checked(unsafe { set(device.handle(), state) })
}
