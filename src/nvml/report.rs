//! Questions that only the full report asks.

use std::sync::OnceLock;

use nvml_wrapper_sys::bindings::*;

use super::facts::*;
use super::gpu::{Gpu, Memo, questions};
use super::parallel::each;
use super::raw::{self, Sample, function};
use super::reading::{Missing, Reading};

/// A licence of the vGPU software, from `nvmlDeviceGetGridLicensableFeatures_v4`.
#[derive(Clone, Debug)]
pub struct License {
    /// The product that the licence is for.
    pub product: String,
    /// Whether the GPU does what the product is for.
    pub enabled: bool,
    /// Whether a licence has been taken.
    pub licensed: bool,
    /// When it ends; the driver knows some only in part.
    pub expiry: LicenseExpiry,
}

/// When a licence ends, from `nvmlGridLicenseExpiry_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LicenseExpiry {
    /// Not known.
    NotAvailable,
    /// Not valid.
    Invalid,
    /// Year, month, day, hour, minute, second, GMT.
    On([u32; 6]),
    /// Never.
    Permanent,
    /// This product's licences do not end.
    NotApplicable,
}

impl From<nvmlGridLicenseExpiry_t> for LicenseExpiry {
    fn from(expiry: nvmlGridLicenseExpiry_t) -> Self {
        match expiry.status {
            1 => Self::Invalid,
            2 => Self::On([
                expiry.year,
                expiry.month.into(),
                expiry.day.into(),
                expiry.hour.into(),
                expiry.min.into(),
                expiry.sec.into(),
            ]),
            3 => Self::NotApplicable,
            4 => Self::Permanent,
            _ => Self::NotAvailable,
        }
    }
}

impl Gpu<'_> {
    /// Whether the GPU is of an architecture (`NVML_DEVICE_ARCH_*`) or a later one;
    /// one that NVML does not know is not.
    pub(super) fn is_since(&self, first: u32) -> Reading<bool> {
        let architecture = self.architecture()?;
        Ok((first..NVML_DEVICE_ARCH_UNKNOWN).contains(&architecture))
    }

    /// A temperature at which something happens, degrees Celsius,
    /// `nvmlDeviceGetTemperatureThreshold`, by `NVML_TEMPERATURE_THRESHOLD_*`.
    pub fn temperature_threshold(&self, which: u32) -> Reading<u32> {
        self.report.temperature_thresholds.get_or_ask(which, || {
            let device = self.device()?;
            raw::get_for(function!(nvmlDeviceGetTemperatureThreshold), device, which)
        })
    }

    /// The samples that the driver keeps, `nvmlDeviceGetSamples`, by `NVML_*_SAMPLES`.
    pub fn samples(&self, which: u32) -> Reading<Vec<Sample>> {
        self.report
            .samples
            .get_or_ask(which, || raw::samples(self.device()?, which))
    }
}

questions! { report / Report {
        temperature_thresholds: Memo<u32, u32>,
        samples: Memo<u32, Vec<Sample>>,
    }
    /// `NVML_BRAND_*`, `nvmlDeviceGetBrand`.
    brand: u32 = |device| raw::get(function!(nvmlDeviceGetBrand), device);
    /// `NVML_DEVICE_ARCH_*`, `nvmlDeviceGetArchitecture`.
    architecture: u32 = |device| raw::get(function!(nvmlDeviceGetArchitecture), device);
    /// The number of `/dev/nvidia*`, `nvmlDeviceGetMinorNumber`.
    minor_number: u32 = |device| raw::get(function!(nvmlDeviceGetMinorNumber), device);
    /// Per-device identifier, `nvmlDeviceGetPdi`.
    pdi: u64 = |device| raw::get(function!(nvmlDeviceGetPdi), device).map(|pdi| pdi.value);
    /// Whether the board has several GPUs, `nvmlDeviceGetMultiGpuBoard`.
    multi_gpu_board: bool = |device| raw::get(function!(nvmlDeviceGetMultiGpuBoard), device)
        .map(|many: u32| many != 0);
    /// The same for GPUs of one board, `nvmlDeviceGetBoardId`.
    board_id: u32 = |device| raw::get(function!(nvmlDeviceGetBoardId), device);
    /// The number that the board is ordered by, `nvmlDeviceGetBoardPartNumber`.
    board_part_number: String = |device|
        raw::get_string(function!(nvmlDeviceGetBoardPartNumber), device, 80);
    /// When the infoROM's black box was last written, microseconds since 1970,
    /// and for how many microseconds, `nvmlDeviceGetLastBBXFlushTime`.
    black_box_flush: (u64, u64) = |device| raw::get_pair(function!(nvmlDeviceGetLastBBXFlushTime), device);
    /// `NVML_GPU_VIRTUALIZATION_MODE_*`, `nvmlDeviceGetVirtualizationMode`.
    virtualization_mode: u32 = |device| raw::get(function!(nvmlDeviceGetVirtualizationMode), device);
    /// 0 one vGPU at a time, 1 SR-IOV, `nvmlDeviceGetHostVgpuMode`.
    host_vgpu_mode: u32 = |device| raw::get(function!(nvmlDeviceGetHostVgpuMode), device);
    /// Whether vGPUs of different sizes may run side by side, `nvmlDeviceGetVgpuHeterogeneousMode`.
    heterogeneous_vgpus: bool = |device|
        raw::get(function!(nvmlDeviceGetVgpuHeterogeneousMode), device).map(|mode| mode.mode != 0);
    /// Licences that the GPU can have, `nvmlDeviceGetGridLicensableFeatures_v4`.
    licenses: Vec<License> = |device|
        raw::get(function!(nvmlDeviceGetGridLicensableFeatures_v4), device)
            .map(|features: nvmlGridLicensableFeatures_t| {
                let count = match features.isGridLicenseSupported {
                    0 => 0,
                    _ => features.licensableFeaturesCount as usize,
                };
                features.gridLicensableFeatures.iter().take(count).map(|feature| License {
                    product: raw::member(&feature.productName),
                    enabled: feature.featureEnabled != 0,
                    licensed: feature.featureState != 0,
                    expiry: feature.licenseExpiry.into(),
                }).collect()
            });
    /// The version of the GSP's firmware, `nvmlDeviceGetGspFirmwareVersion`.
    gsp_version: String = |device| raw::gsp_version(device);
    /// PLX or BR04 bridges on the board, as (type, firmware), `nvmlDeviceGetBridgeChipInfo`.
    bridge_chips: Vec<(u32, u32)> = |device| raw::get(function!(nvmlDeviceGetBridgeChipInfo), device)
        .map(|bridges: nvmlBridgeChipHierarchy_t| bridges.bridgeChipInfo.iter()
            .take(bridges.bridgeCount.into())
            .map(|chip| (chip.type_, chip.fwVersion))
            .collect());
    /// PCIe packets that were sent again, `nvmlDeviceGetPcieReplayCounter`.
    pcie_replays: u32 = |device| raw::get(function!(nvmlDeviceGetPcieReplayCounter), device);
    /// PCIe traffic out of and into the GPU, KB/s, `nvmlDeviceGetPcieThroughput`.
    /// NVML watches the link for 20 ms for each, so that both are asked at once.
    pcie_throughput: (Reading<u32>, Reading<u32>) = |device| {
        const SENT: u32 = 0;
        const RECEIVED: u32 = 1;
        let ask = |&counter: &u32| raw::get_for(function!(nvmlDeviceGetPcieThroughput), device, counter);
        match each(&[SENT, RECEIVED], ask)[..] {
            [sent, received] => Ok((sent, received)),
            _ => Err(Missing::UNKNOWN),
        }
    };
    /// BAR1 memory, bytes, `nvmlDeviceGetBAR1MemoryInfo`.
    bar1: nvmlBAR1Memory_t = |device| raw::get(function!(nvmlDeviceGetBAR1MemoryInfo), device);
    /// Frame buffer capture sessions, `nvmlDeviceGetFBCStats`.
    capture_stats: EncoderStats = |device| raw::get(function!(nvmlDeviceGetFBCStats), device)
        .map(|stats: nvmlFBCStats_t| EncoderStats {
            sessions: stats.sessionsCount,
            average_fps: stats.averageFPS,
            average_latency: stats.averageLatency,
        });
    /// Whether channels and TPCs wait for repair, `nvmlDeviceGetRepairStatus`.
    repairs_pending: (bool, bool) = |device|
        raw::get(function!(nvmlDeviceGetRepairStatus), device)
            .map(|status| (status.bChannelRepairPending != 0, status.bTpcRepairPending != 0));
    /// Whether memory has failed beyond repair, `nvmlDeviceGetUnrepairableMemoryFlag_v1`.
    unrepairable_memory: bool = |device| raw::unrepairable_memory(device);
    /// Power profiles that were asked for and that are in force, one bit each,
    /// `nvmlDeviceWorkloadPowerProfileGetCurrentProfiles`.
    power_profiles: ([u32; 8], [u32; 8]) = |device|
        raw::get(function!(nvmlDeviceWorkloadPowerProfileGetCurrentProfiles), device)
            .map(|profiles| (profiles.requestedProfilesMask.mask, profiles.enforcedProfilesMask.mask));
    /// The highest graphics clock that can be set, MHz, `nvmlDeviceGetClock`.
    max_customer_boost: u32 = |device| {
        const GRAPHICS: u32 = 0;
        const CUSTOMER_BOOST_MAX: u32 = 3;
        raw::get_for2(function!(nvmlDeviceGetClock), device, GRAPHICS, CUSTOMER_BOOST_MAX)
    };
    /// Whether clocks are boosted, now and by default, `nvmlDeviceGetAutoBoostedClocksEnabled`.
    auto_boost: (bool, bool) = |device|
        raw::get_pair(function!(nvmlDeviceGetAutoBoostedClocksEnabled), device)
            .map(|(now, default): (u32, u32)| (now != 0, default != 0));
    /// What the GPU can do, bits, `nvmlDeviceGetCapabilities`: 1 extended GPU memory.
    capabilities: u32 = |device| raw::get(function!(nvmlDeviceGetCapabilities), device)
        .map(|capabilities| capabilities.capMask);
}
