//! The answers that have more than one part, in NVML's own units.

use nvml_wrapper_sys::bindings::*;

use super::raw;
use super::reading::{Missing, Reading};

/// Where a GPU sits on the PCI bus, from `nvmlDeviceGetPciInfo_v3`.
#[derive(Clone, Debug)]
pub struct Pci {
    /// Domain (segment).
    pub domain: u32,
    /// Bus number, 0 to 0xff.
    pub bus: u32,
    /// Device number, 0 to 31.
    pub device: u32,
    /// Device id in the upper half, vendor id in the lower.
    pub device_id: u32,
    /// The board maker's ids, as `device_id`.
    pub subsystem_id: u32,
    /// `domain:bus:device.function` in hex, eight digits of domain.
    pub bus_id: String,
    /// The same with four digits of domain.
    pub short_bus_id: String,
}

impl Pci {
    /// The kernel's name of the device, a folder in `/sys/bus/pci/devices`:
    /// `0000:5d:00.0`.
    pub fn kernel_name(&self) -> String {
        let (domain, bus, device) = (self.domain, self.bus, self.device);
        format!("{domain:04x}:{bus:02x}:{device:02x}.0")
    }
}

impl From<nvmlPciInfo_t> for Pci {
    fn from(pci: nvmlPciInfo_t) -> Self {
        Self {
            domain: pci.domain,
            bus: pci.bus,
            device: pci.device,
            device_id: pci.pciDeviceId,
            subsystem_id: pci.pciSubSystemId,
            bus_id: raw::member(&pci.busId),
            short_bus_id: raw::member(&pci.busIdLegacy),
        }
    }
}

/// Frame buffer, in bytes, from `nvmlDeviceGetMemoryInfo_v2`.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// All of it.
    pub total: u64,
    /// Kept by the driver and the firmware; `None` when the library is too old to tell.
    pub reserved: Option<u64>,
    /// Allocated.
    pub used: u64,
    /// Free.
    pub free: u64,
}

impl From<nvmlMemory_v2_t> for Memory {
    fn from(memory: nvmlMemory_v2_t) -> Self {
        Self {
            total: memory.total,
            reserved: Some(memory.reserved),
            used: memory.used,
            free: memory.free,
        }
    }
}

impl From<nvmlMemory_t> for Memory {
    fn from(memory: nvmlMemory_t) -> Self {
        Self {
            total: memory.total,
            reserved: None,
            used: memory.used,
            free: memory.free,
        }
    }
}

/// Encoder activity, from `nvmlDeviceGetEncoderStats`.
#[derive(Clone, Copy, Debug)]
pub struct EncoderStats {
    /// Active sessions.
    pub sessions: u32,
    /// Trailing average over all sessions, frames a second.
    pub average_fps: u32,
    /// Encode latency, microseconds.
    pub average_latency: u32,
}

/// BAR1 memory, bytes, from `nvmlDeviceGetBAR1MemoryInfo`.
pub type Bar1 = nvmlBAR1Memory_t;

/// The multiprocessors and engines of a MIG device, from `nvmlDeviceGetAttributes_v2`.
pub type MigAttributes = nvmlDeviceAttributes_t;

/// SRAM error counts, from `nvmlDeviceGetSramEccErrorStatus`.
pub type Sram = nvmlEccSramErrorStatus_v1_t;

/// Row remapping, from `nvmlDeviceGetRemappedRows`.
#[derive(Clone, Copy, Debug)]
pub struct RemappedRows {
    /// Rows remapped for correctable errors.
    pub correctable: u32,
    /// Rows remapped for uncorrectable errors.
    pub uncorrectable: u32,
    /// Whether a remapping waits for a reset.
    pub pending: bool,
    /// Whether a remapping failed in the past.
    pub failure: bool,
}

/// How many banks have how many spare rows left, from
/// `nvmlDeviceGetRowRemapperHistogram`.
pub type Histogram = nvmlRowRemapperHistogramValues_t;

/// A GPU's place in an NVLink fabric, from `nvmlDeviceGetGpuFabricInfoV`.
#[derive(Clone, Copy, Debug)]
pub struct Fabric {
    /// `NVML_GPU_FABRIC_STATE_*`: 0 not supported, 1 not started, 2 in progress, 3 completed.
    pub state: u32,
    /// The `nvmlReturn_t` of the registration; valid once completed.
    pub status: u32,
    /// The clique within the cluster.
    pub clique_id: u32,
    /// The cluster.
    pub cluster_uuid: [u8; 16],
    /// Bit fields, `NVML_GPU_FABRIC_HEALTH_MASK_*`; 0, none reported, from libraries
    /// before R550.
    pub health_mask: u32,
    /// `NVML_GPU_FABRIC_HEALTH_SUMMARY_*`: 0 not supported, 1 healthy, 2 unhealthy, 3
    /// limited; 0 from libraries before R580.
    pub health_summary: u8,
}

impl From<nvmlGpuFabricInfo_v3_t> for Fabric {
    fn from(fabric: nvmlGpuFabricInfo_v3_t) -> Self {
        Self {
            state: fabric.state.into(),
            status: fabric.status,
            clique_id: fabric.cliqueId,
            cluster_uuid: fabric.clusterUuid,
            health_mask: fabric.healthMask,
            health_summary: fabric.healthSummary,
        }
    }
}

impl From<nvmlGpuFabricInfo_v2_t> for Fabric {
    fn from(fabric: nvmlGpuFabricInfo_v2_t) -> Self {
        Self {
            state: fabric.state.into(),
            status: fabric.status,
            clique_id: fabric.cliqueId,
            cluster_uuid: fabric.clusterUuid,
            health_mask: fabric.healthMask,
            health_summary: 0,
        }
    }
}

impl From<nvmlGpuFabricInfo_t> for Fabric {
    fn from(fabric: nvmlGpuFabricInfo_t) -> Self {
        Self {
            state: fabric.state.into(),
            status: fabric.status,
            clique_id: fabric.cliqueId,
            cluster_uuid: fabric.clusterUuid,
            health_mask: 0,
            health_summary: 0,
        }
    }
}

/// Where the board sits in its rack, from `nvmlDeviceGetPlatformInfo`.
#[derive(Clone, Debug)]
pub struct Platform {
    /// The GUID of the GPU in the fabric, a little-endian number in the first 8 bytes.
    pub fabric_guid: [u8; 16],
    /// The chassis, as its maker numbers it; `NotSupported` from libraries that know
    /// only the first version of the struct.
    pub chassis_serial: Reading<String>,
    /// The slot in the rack.
    pub slot: u8,
    /// The tray in the slot.
    pub tray: u8,
    /// The host in the tray.
    pub host: u8,
    /// 0 direct, 1 through a switch.
    pub peer_type: u8,
}

impl From<nvmlPlatformInfo_v2_t> for Platform {
    fn from(platform: nvmlPlatformInfo_v2_t) -> Self {
        Self {
            fabric_guid: platform.ibGuid,
            chassis_serial: Ok(raw::text(&platform.chassisSerialNumber)),
            slot: platform.slotNumber,
            tray: platform.trayIndex,
            host: platform.hostId,
            peer_type: platform.peerType,
        }
    }
}

impl From<nvmlPlatformInfo_v1_t> for Platform {
    fn from(platform: nvmlPlatformInfo_v1_t) -> Self {
        Self {
            fabric_guid: platform.ibGuid,
            chassis_serial: Err(Missing::NotSupported),
            slot: platform.chassisPhysicalSlotNumber,
            tray: platform.computeSlotIndex,
            host: platform.nodeIndex,
            peer_type: platform.peerType,
        }
    }
}

/// What a process did, kept after it ended, from `nvmlDeviceGetAccountingStats`.
#[derive(Clone, Copy, Debug)]
pub struct Accounted {
    /// Percent of its lifetime that kernels ran, where NVML knows.
    pub gpu: Option<u32>,
    /// Percent of its lifetime that memory was read or written, where NVML knows.
    pub memory: Option<u32>,
    /// Most memory that it held, bytes, where NVML knows.
    pub most_memory: Option<u64>,
    /// How long it had a context, milliseconds; 0 while it runs.
    pub time: u64,
    /// Whether it still runs.
    pub running: bool,
}

impl From<nvmlAccountingStats_t> for Accounted {
    fn from(stats: nvmlAccountingStats_t) -> Self {
        const NO_PERCENT: u32 = u32::MAX;
        const NO_BYTES: u64 = u64::MAX;
        let percent = |number| Some(number).filter(|&percent| percent != NO_PERCENT);
        Self {
            gpu: percent(stats.gpuUtilization),
            memory: percent(stats.memoryUtilization),
            most_memory: Some(stats.maxMemoryUsage).filter(|&bytes| bytes != NO_BYTES),
            time: stats.time,
            running: stats.isRunning != 0,
        }
    }
}

/// A process with a context on a GPU, from `nvmlDeviceGet*RunningProcesses_v3`.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The process.
    pub pid: u32,
    /// Bytes of the GPU's memory that it holds; NVML does not know on Windows
    /// and for some graphics processes.
    pub memory: Reading<u64>,
    /// The GPU instance that it runs on, in MIG mode.
    pub gpu_instance: Option<u32>,
    /// The compute instance that it runs on, in MIG mode.
    pub compute_instance: Option<u32>,
}

impl From<nvmlProcessInfo_t> for Context {
    fn from(process: nvmlProcessInfo_t) -> Self {
        const NOT_AVAILABLE: u64 = u64::MAX;
        const NONE: u32 = u32::MAX;
        Self {
            pid: process.pid,
            memory: match process.usedGpuMemory {
                NOT_AVAILABLE => Err(Missing::NotSupported),
                bytes => Ok(bytes),
            },
            gpu_instance: Some(process.gpuInstanceId).filter(|&id| id != NONE),
            compute_instance: Some(process.computeInstanceId).filter(|&id| id != NONE),
        }
    }
}

/// How busy a process kept the engines of a GPU, percent, from
/// `nvmlDeviceGetProcessesUtilizationInfo`. For an engine that the process did
/// not use NVML says 0.
#[derive(Clone, Copy, Debug)]
pub struct ProcessLoad {
    /// The process.
    pub pid: u32,
    /// Multiprocessors.
    pub sm: u32,
    /// Frame buffer.
    pub memory: u32,
    /// Video encoder.
    pub encoder: u32,
    /// Video decoder.
    pub decoder: u32,
    /// JPEG decoder, where the library tells.
    pub jpeg: Option<u32>,
    /// Optical flow accelerator, where the library tells.
    pub ofa: Option<u32>,
}

impl From<nvmlProcessUtilizationInfo_v1_t> for ProcessLoad {
    fn from(process: nvmlProcessUtilizationInfo_v1_t) -> Self {
        Self {
            pid: process.pid,
            sm: process.smUtil,
            memory: process.memUtil,
            encoder: process.encUtil,
            decoder: process.decUtil,
            jpeg: Some(process.jpgUtil),
            ofa: Some(process.ofaUtil),
        }
    }
}

impl From<nvmlProcessUtilizationSample_t> for ProcessLoad {
    fn from(process: nvmlProcessUtilizationSample_t) -> Self {
        Self {
            pid: process.pid,
            sm: process.smUtil,
            memory: process.memUtil,
            encoder: process.encUtil,
            decoder: process.decUtil,
            jpeg: None,
            ofa: None,
        }
    }
}

/// How long a policy held the clocks down, from `nvmlDeviceGetViolationStatus`.
#[derive(Clone, Copy, Debug)]
pub struct Violation {
    /// When this was so, microseconds.
    pub at: u64,
    /// The time since the driver was loaded, nanoseconds.
    pub lasted: u64,
}

impl From<nvmlViolationTime_t> for Violation {
    fn from(violation: nvmlViolationTime_t) -> Self {
        Self {
            at: violation.referenceTime,
            lasted: violation.violationTime,
        }
    }
}

/// A video encoding session, from `nvmlDeviceGetEncoderSessions`.
pub type EncoderSession = nvmlEncoderSessionInfo_t;

/// A frame buffer capture session, from `nvmlDeviceGetFBCSessions`.
pub type CaptureSession = nvmlFBCSessionInfo_t;
