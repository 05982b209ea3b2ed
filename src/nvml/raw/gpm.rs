//! GPU performance monitoring: samples of a device's counters, and metrics
//! between two of them.

use std::ptr;
use std::sync::Arc;

use nvml_wrapper_sys::bindings::*;

use super::library::{Device, Library, function};
use super::{ask, ask_driver, checked};
use crate::nvml::reading::{Missing, Reading};

/// `NVML_GPM_METRICS_GET_VERSION`, which is no `NVML_STRUCT_VERSION`.
const METRICS_GET_VERSION: u32 = 1;

/// How many metrics a question of any library has room for: 98 before R575.
const METRICS: usize = 98;

/// A question to `nvmlGpmMetricsGet`. Its array has grown under one version: 210
/// metrics since R575, 333 since R595.
#[repr(C)]
struct Metrics {
    question: nvmlGpmMetricsGet_t,
    beyond: [nvmlGpmMetric_t; 512],
}

/// Room for the counters of one device at one time.
pub struct Sample<'d> {
    library: &'d Library,
    room: Arc<Room>,
}

/// What NVML allocated for a device: whoever is the last to use it frees it.
struct Room {
    device: Device<'static>,
    handle: nvmlGpmSample_t,
}

// SAFETY: NVML may be called from any thread, and a sample belongs to none.
unsafe impl Send for Room {}
// SAFETY: as above; and no two questions about one sample are put at once.
unsafe impl Sync for Room {}

impl Drop for Room {
    fn drop(&mut self) {
        let free = function!(nvmlGpmSampleFree);
        let handle = self.handle.expose_provenance();
        // What NVML says of it changes nothing.
        let _ = ask(free, self.device, move |free, _| {
            // SAFETY: a sample that was allocated, freed once.
            checked(unsafe { free(ptr::with_exposed_provenance_mut(handle)) })
        });
    }
}

impl<'d> Sample<'d> {
    /// `nvmlGpmSampleAlloc`.
    pub fn new(device: Device<'d>) -> Reading<Self> {
        let alloc = function!(nvmlGpmSampleAlloc);
        let room = ask(alloc, device, move |alloc, device| {
            let mut handle = ptr::null_mut();
            // SAFETY: a pointer to a handle of our own.
            checked(unsafe { alloc(&mut handle) })?;
            Ok(Room { device, handle })
        })?;
        Ok(Self {
            library: device.library(),
            room: Arc::new(room),
        })
    }

    /// `nvmlGpmSampleGet`: the counters of a GPU, as they are now.
    pub fn take(&mut self, device: Device) -> Reading<()> {
        let room = Arc::clone(&self.room);
        ask(function!(nvmlGpmSampleGet), device, move |get, device| {
            // SAFETY: a live device handle and a sample that was allocated.
            checked(unsafe { get(device.handle(), room.handle) })
        })
    }

    /// `nvmlGpmMigSampleGet`: the counters of a GPU instance, as they are now.
    pub fn take_of_instance(&mut self, device: Device, gpu_instance: u32) -> Reading<()> {
        let room = Arc::clone(&self.room);
        ask(
            function!(nvmlGpmMigSampleGet),
            device,
            move |get, device| {
                // SAFETY: as in `take`.
                checked(unsafe { get(device.handle(), gpu_instance, room.handle) })
            },
        )
    }
}

/// `nvmlGpmMetricsGet`: what the counters say about the time between two
/// samples of one device, one reading an id.
pub fn metrics(earlier: &Sample, later: &Sample, ids: &[u32]) -> Reading<Vec<Reading<f64>>> {
    let rooms = [Arc::clone(&earlier.room), Arc::clone(&later.room)];
    let ids = ids.to_vec();
    ask_driver(function!(nvmlGpmMetricsGet), later.library, move |get| {
        let mut values = Vec::with_capacity(ids.len());
        for ids in ids.chunks(METRICS) {
            // SAFETY: numbers, and pointers that may be null.
            let mut room: Metrics = unsafe { std::mem::zeroed() };
            let question = &mut room.question;
            question.version = METRICS_GET_VERSION;
            question.numMetrics = ids.len() as u32;
            [question.sample1, question.sample2] = [rooms[0].handle, rooms[1].handle];
            for (metric, &id) in question.metrics.iter_mut().zip(ids) {
                metric.metricId = id;
            }
            // SAFETY: a struct of our own, with the room that any library takes it to
            // have, and two samples that were allocated.
            checked(unsafe { get(ptr::from_mut(&mut room).cast()) })?;
            values.extend(room.question.metrics[..ids.len()].iter().map(|metric| {
                match metric.nvmlReturn {
                    nvmlReturn_enum_NVML_SUCCESS => Ok(metric.value),
                    code => Err(Missing::from_code(code)),
                }
            }));
        }
        Ok(values)
    })
}

/// `nvmlGpmSetStreamingEnabled`: 0 or 1, which NVML checks.
pub fn set_streaming(device: Device, state: u32) -> Reading<()> {
    let set = function!(nvmlGpmSetStreamingEnabled);
    ask(set, device, move |set, device| {
        // SAFETY: a live handle and a number.
        checked(unsafe { set(device.handle(), state) })
    })
}
