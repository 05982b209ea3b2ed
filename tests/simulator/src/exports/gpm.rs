//! GPU performance monitoring: two samples of one device, and metrics between them, from `gpm.metric`.

use std::{
    ffi::{CStr, c_uint},
    ptr,
};

use nvml_wrapper_sys::bindings::*;

use crate::{
    answer::{Answer, INVALID_ARGUMENT, NO_DATA, SUCCESS, put},
    handle::Device,
    machine::Machine,
};

/// What a sample handle points to: the device it was last taken of.
struct Sample(Option<Device>);

/// # Safety
/// `handle` is null or was given out by nvmlGpmSampleAlloc and not yet freed.
unsafe fn sample<'s>(handle: nvmlGpmSample_t) -> Answer<&'s mut Sample> {
    // SAFETY: by the caller's word.
    unsafe { handle.cast::<Sample>().as_mut() }.ok_or(INVALID_ARGUMENT)
}

versioned! {
    nvmlGpmQueryDeviceSupport: nvmlGpmSupport_t { isSupportedDevice = "gpm.supported" }
}

numbers! {
    nvmlGpmQueryIfStreamingEnabled: c_uint = "gpm.streaming";
}

device_calls! {
    nvmlGpmSampleGet(gpu, handle: nvmlGpmSample_t) {
        gpu.read::<bool>("gpm.supported")?;
        sample(handle)?.0 = Some(gpu.device);
        Ok(())
    }
    nvmlGpmMigSampleGet(gpu, _instance: c_uint, handle: nvmlGpmSample_t) {
        gpu.read::<bool>("gpm.supported")?;
        sample(handle)?.0 = Some(gpu.device);
        Ok(())
    }
}

system_calls! {
    nvmlGpmSampleAlloc(_, out: *mut nvmlGpmSample_t) {
        put(out, Box::into_raw(Box::new(Sample(None))).cast())
    }
    nvmlGpmSampleFree(_, handle: nvmlGpmSample_t) {
        drop(Box::from_raw(ptr::from_mut(sample(handle)?)));
        Ok(())
    }
    nvmlGpmMetricsGet(machine, get: *mut nvmlGpmMetricsGet_t) { metrics(machine, get) }
}

/// What NVML calls a metric for short, and its unit.
const NAMES: &[(c_uint, &CStr, &CStr)] = &[
    (
        nvmlGpmMetricId_t_NVML_GPM_METRIC_GRAPHICS_UTIL,
        c"gract",
        c"%",
    ),
    (nvmlGpmMetricId_t_NVML_GPM_METRIC_SM_UTIL, c"smutil", c"%"),
    (
        nvmlGpmMetricId_t_NVML_GPM_METRIC_SM_OCCUPANCY,
        c"smocc",
        c"%",
    ),
    (
        nvmlGpmMetricId_t_NVML_GPM_METRIC_ANY_TENSOR_UTIL,
        c"mmaact",
        c"%",
    ),
    (
        nvmlGpmMetricId_t_NVML_GPM_METRIC_PCIE_TX_PER_SEC,
        c"pcitx",
        c"MiB/s",
    ),
];

/// Fills in the metrics. Without two samples of one device they have names and no values.
///
/// # Safety
/// `get` is null or valid.
unsafe fn metrics(machine: &'static Machine, get: *mut nvmlGpmMetricsGet_t) -> Answer {
    if get.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: not null; the samples by the contract of GPM. The array's length differs between
    // versions of NVML, so only the metrics that are asked for are touched.
    unsafe {
        let (first, second) = (sample((*get).sample1)?.0, sample((*get).sample2)?.0);
        let gpu = first
            .filter(|_| first == second)
            .map(|device| machine.gpu(device));
        let all = (&raw mut (*get).metrics).cast::<nvmlGpmMetric_t>();
        for place in 0..(*get).numMetrics as usize {
            let metric = &mut *all.add(place);
            if let Some((_, name, unit)) = NAMES.iter().find(|row| row.0 == metric.metricId) {
                metric.metricInfo = nvmlGpmMetric_t__bindgen_ty_1 {
                    shortName: name.as_ptr().cast_mut(),
                    longName: name.as_ptr().cast_mut(),
                    unit: unit.as_ptr().cast_mut(),
                };
            }
            let key = format!("gpm.metric.{}", metric.metricId);
            let answer = gpu.ok_or(NO_DATA).and_then(|gpu| gpu.read::<f64>(&key));
            metric.nvmlReturn = answer.err().unwrap_or(SUCCESS);
            metric.value = answer.unwrap_or(0.0);
        }
    }
    Ok(())
}
