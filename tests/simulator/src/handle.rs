//! Opaque handles. Each is the address of one byte of a fixed array, so that any pointer-sized value
//! can be told to be a handle, and which, without following it.

use std::ffi::c_void;

use nvml_wrapper_sys::bindings::{nvmlComputeInstance_t, nvmlDevice_t, nvmlGpuInstance_t};

/// How many GPUs a box may have, and how many MIG devices a GPU.
pub const GPUS: usize = 64;
pub const SLICES: usize = 16;

/// One byte per GPU and, in the other arrays, per slice of each.
static GPU: [u8; GPUS] = [0; GPUS];
static MIG: [u8; GPUS * SLICES] = [0; GPUS * SLICES];
static GPU_INSTANCE: [u8; GPUS * SLICES] = [0; GPUS * SLICES];
static COMPUTE_INSTANCE: [u8; GPUS * SLICES] = [0; GPUS * SLICES];

fn place<const N: usize>(array: &'static [u8; N], handle: usize) -> Option<usize> {
    let place = handle.checked_sub(array.as_ptr().addr())?;
    (place < N).then_some(place)
}

fn address<T, const N: usize>(array: &'static [u8; N], place: usize) -> *mut T {
    array.as_ptr().wrapping_add(place).cast_mut().cast()
}

/// What a device handle names: a GPU, or a MIG device of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Device {
    pub gpu: usize,
    pub mig: Option<usize>,
}

impl Device {
    pub fn of(handle: *const c_void) -> Option<Device> {
        let handle = handle.addr();
        let whole = place(&GPU, handle).map(|gpu| Device { gpu, mig: None });
        whole.or_else(|| {
            let place = place(&MIG, handle)?;
            Some(Device {
                gpu: place / SLICES,
                mig: Some(place % SLICES),
            })
        })
    }

    pub fn handle(self) -> nvmlDevice_t {
        match self.mig {
            None => address(&GPU, self.gpu),
            Some(mig) => address(&MIG, self.gpu * SLICES + mig),
        }
    }
}

/// What a GPU instance or a compute instance handle names: a row of a GPU's list of MIG devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    pub gpu: usize,
    pub row: usize,
}

impl Slice {
    pub fn of_gpu_instance(handle: nvmlGpuInstance_t) -> Option<Slice> {
        Self::at(place(&GPU_INSTANCE, handle.addr())?)
    }

    pub fn of_compute_instance(handle: nvmlComputeInstance_t) -> Option<Slice> {
        Self::at(place(&COMPUTE_INSTANCE, handle.addr())?)
    }

    fn at(place: usize) -> Option<Slice> {
        Some(Slice {
            gpu: place / SLICES,
            row: place % SLICES,
        })
    }

    pub fn gpu_instance(self) -> nvmlGpuInstance_t {
        address(&GPU_INSTANCE, self.gpu * SLICES + self.row)
    }

    pub fn compute_instance(self) -> nvmlComputeInstance_t {
        address(&COMPUTE_INSTANCE, self.gpu * SLICES + self.row)
    }
}
