//! The calls that change a device, and what only they need to know first.

use nvml_wrapper_sys::bindings::*;

use super::driver::Driver;
use super::gpu::Gpu;
use super::raw::forms::older;
use super::raw::set::{self, set as set_number, set_pair, set_versioned};
use super::raw::{self, function};
use super::reading::{Missing, Reading};

/// When an accepted change takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is in force, or waits for what it always waits for.
    Now,
    /// It waits for a reset, for the reason that NVML gave.
    Later(Missing),
}

/// Declares the changes that are one call: the method, and the call.
macro_rules! changes {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) = |$device:ident| $call:expr;)*) => {
        impl Gpu<'_> {
            $(
                $(#[$doc])*
                pub fn $name(&self, $($arg: $type),*) -> Reading<Effect> {
                    let $device = self.device()?;
                    $call.map(|()| Effect::Now)
                }
            )*
        }
    };
}

changes! {
    /// 0 or 1, `nvmlDeviceSetPersistenceMode`.
    set_persistence(mode: u32) = |device| set_number(function!(nvmlDeviceSetPersistenceMode), device, mode);
    /// 0 or 1, in force after a reboot, `nvmlDeviceSetEccMode`.
    set_ecc(mode: u32) = |device| set_number(function!(nvmlDeviceSetEccMode), device, mode);
    /// 0 the counts since the driver was loaded, 1 those of the GPU's life,
    /// `nvmlDeviceClearEccErrorCounts`.
    clear_ecc_errors(counter: u32) = |device| set_number(function!(nvmlDeviceClearEccErrorCounts), device, counter);
    /// `NVML_COMPUTEMODE_*`, `nvmlDeviceSetComputeMode`.
    set_compute_mode(mode: u32) = |device| set_number(function!(nvmlDeviceSetComputeMode), device, mode);
    /// `NVML_GOM_*`, in force after a reboot, `nvmlDeviceSetGpuOperationMode`.
    set_operation_mode(mode: u32) = |device| set_number(function!(nvmlDeviceSetGpuOperationMode), device, mode);
    /// `NVML_GPU_VIRTUALIZATION_MODE_*`, `nvmlDeviceSetVirtualizationMode`.
    set_virtualization_mode(mode: u32) = |device| set_number(function!(nvmlDeviceSetVirtualizationMode), device, mode);
    /// MHz, lowest and highest, `nvmlDeviceSetGpuLockedClocks`.
    lock_gpu_clocks(min: u32, max: u32) = |device| set_pair(function!(nvmlDeviceSetGpuLockedClocks), device, min, max);
    /// `nvmlDeviceResetGpuLockedClocks`.
    unlock_gpu_clocks() = |device| raw::check(function!(nvmlDeviceResetGpuLockedClocks), device);
    /// MHz, lowest and highest, `nvmlDeviceSetMemoryLockedClocks`.
    lock_memory_clocks(min: u32, max: u32) = |device| set_pair(function!(nvmlDeviceSetMemoryLockedClocks), device, min, max);
    /// `nvmlDeviceResetMemoryLockedClocks`.
    unlock_memory_clocks() = |device| raw::check(function!(nvmlDeviceResetMemoryLockedClocks), device);
    /// MHz, memory and graphics, `nvmlDeviceSetApplicationsClocks`.
    set_applications_clocks(memory: u32, graphics: u32) = |device|
        set_pair(function!(nvmlDeviceSetApplicationsClocks), device, memory, graphics);
    /// `nvmlDeviceResetApplicationsClocks`.
    reset_applications_clocks() = |device| raw::check(function!(nvmlDeviceResetApplicationsClocks), device);
    /// Milliwatts, of the GPU (0) or of the module that it is on (1),
    /// `nvmlDeviceSetPowerManagementLimit_v2`; for the GPU also the form of
    /// drivers before R535.
    set_power_limit(milliwatts: u32, scope: u32) = |device| {
        const GPU: u32 = NVML_POWER_SCOPE_GPU;
        let limit = set_versioned(function!(nvmlDeviceSetPowerManagementLimit_v2), device, |wish| {
            wish.powerScope = scope as nvmlPowerScopeType_t;
            wish.powerValueMw = milliwatts;
        });
        match scope {
            GPU => limit.or_else(older(|| {
                set_number(function!(nvmlDeviceSetPowerManagementLimit), device, milliwatts)
            })),
            _ => limit,
        }
    };
    /// 0 or 1, `nvmlDeviceSetAccountingMode`.
    set_accounting(mode: u32) = |device| set_number(function!(nvmlDeviceSetAccountingMode), device, mode);
    /// `nvmlDeviceClearAccountingPids`.
    clear_accounted() = |device| raw::check(function!(nvmlDeviceClearAccountingPids), device);
    /// 0 or 1, `nvmlDeviceSetDefaultAutoBoostedClocksEnabled`.
    set_default_auto_boost(mode: u32) = |device|
        set_pair(function!(nvmlDeviceSetDefaultAutoBoostedClocksEnabled), device, mode, 0u32);
    /// 0 for everybody, 1 for root alone, `nvmlDeviceSetAPIRestriction`.
    restrict_auto_boost(mode: u32) = |device|
        set_pair(function!(nvmlDeviceSetAPIRestriction), device, AUTO_BOOST, mode);
    /// Degrees Celsius, `nvmlDeviceSetTemperatureThreshold`.
    set_target_temperature(celsius: u32) = |device|
        set::temperature_threshold(device, nvmlTemperatureThresholds_enum_NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR, celsius);
    /// In force after a reset, `nvmlDeviceSetDramEncryptionMode`.
    set_dram_encryption(mode: u32) = |device| set::dram_encryption(device, mode != 0);
    /// At most [`HOSTNAME_LENGTH`] bytes, `nvmlDeviceSetHostname_v1`.
    set_hostname(name: &str) = |device| set::hostname(device, name);
}

/// The longest name that a GPU can be given, bytes.
pub const HOSTNAME_LENGTH: usize = 63;

const AUTO_BOOST: u32 = nvmlRestrictedAPI_enum_NVML_RESTRICTED_API_SET_AUTO_BOOSTED_CLOCKS;

impl Gpu<'_> {
    /// 0 or 1, `nvmlDeviceSetMigMode`, with what NVML said of putting it in force.
    pub fn set_mig(&self, mode: u32) -> Reading<Effect> {
        let device = self.device()?;
        let activation: nvmlReturn_t = raw::get_for(function!(nvmlDeviceSetMigMode), device, mode)?;
        if activation == nvmlReturn_enum_NVML_SUCCESS {
            Ok(Effect::Now)
        } else {
            Ok(Effect::Later(Missing::from_code(activation)))
        }
    }

    /// Whether this is a virtual GPU in a guest.
    pub fn is_vgpu(&self) -> Reading<bool> {
        let mode = self.virtualization_mode()?;
        Ok(mode == nvmlGpuVirtualizationMode_NVML_GPU_VIRTUALIZATION_MODE_VGPU)
    }

    /// The temperature that the GPU aims at, °C, `nvmlDeviceGetTemperatureThreshold`.
    pub fn target_temperature(&self) -> Reading<u32> {
        self.temperature_threshold(
            nvmlTemperatureThresholds_enum_NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR,
        )
    }

    /// The lowest that it can be, °C.
    pub fn lowest_target_temperature(&self) -> Reading<u32> {
        self.temperature_threshold(
            nvmlTemperatureThresholds_enum_NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN,
        )
    }

    /// The highest that it can be, °C.
    pub fn highest_target_temperature(&self) -> Reading<u32> {
        self.temperature_threshold(
            nvmlTemperatureThresholds_enum_NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX,
        )
    }

    /// Whether only root may change auto boost, `nvmlDeviceGetAPIRestriction`.
    pub fn is_auto_boost_restricted(&self) -> Reading<bool> {
        self.is_restricted(AUTO_BOOST)
    }

    /// Whether only root may change the applications clocks, `nvmlDeviceGetAPIRestriction`.
    pub fn are_applications_clocks_restricted(&self) -> Reading<bool> {
        self.is_restricted(nvmlRestrictedAPI_enum_NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS)
    }

    fn is_restricted(&self, api: u32) -> Reading<bool> {
        let device = self.device()?;
        let restricted: u32 = raw::get_for(function!(nvmlDeviceGetAPIRestriction), device, api)?;
        Ok(restricted != 0)
    }
}

/// What is at the other end of an NVLink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A GPU, by its bus id.
    Gpu(String),
    /// A switch or a CPU.
    Other,
}

impl Gpu<'_> {
    /// What is at the other ends of the NVLinks that are up, one entry a link,
    /// `nvmlDeviceGetNvLinkState`, `...RemoteDeviceType` and `...RemotePciInfo_v2`.
    pub fn nvlink_peers(&self) -> Reading<Vec<Peer>> {
        const GPU: u32 = nvmlIntNvLinkDeviceType_enum_NVML_NVLINK_DEVICE_TYPE_GPU;
        let device = self.device()?;
        let mut peers = Vec::new();
        for link in 0..NVML_NVLINK_MAX_LINKS {
            let up: u32 = match raw::get_for(function!(nvmlDeviceGetNvLinkState), device, link) {
                // The GPU has no link of this number, or none at all.
                Err(Missing::NotSupported | Missing::INVALID_ARGUMENT) => break,
                up => up?,
            };
            if up == 0 {
                continue;
            }
            let kind: u32 =
                raw::get_for(function!(nvmlDeviceGetNvLinkRemoteDeviceType), device, link)?;
            peers.push(if kind == GPU {
                let pci: nvmlPciInfo_t =
                    raw::get_for(function!(nvmlDeviceGetNvLinkRemotePciInfo_v2), device, link)?;
                Peer::Gpu(raw::member(&pci.busId))
            } else {
                Peer::Other
            });
        }
        Ok(peers)
    }
}

impl Driver {
    /// Whether there is a unit of this index, `nvmlUnitGetHandleByIndex`.
    pub fn unit(&self, index: u32) -> Reading<()> {
        set::unit(self.library(), index).map(|_| ())
    }

    /// The colour of a unit's LED, 0 green or 1 amber, `nvmlUnitGetLedState`.
    pub fn led(&self, unit: u32) -> Reading<u32> {
        set::led(self.library(), unit)
    }

    /// Sets it, `nvmlUnitSetLedState`.
    pub fn set_led(&self, unit: u32, color: u32) -> Reading<()> {
        set::set_led(self.library(), unit, color)
    }
}
