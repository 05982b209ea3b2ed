//! The functions that no box has data for yet: each answers NOT_SUPPORTED.

use std::ffi::c_void;

use nvml_wrapper_sys::bindings::nvmlReturn_t;

use crate::{answer::NOT_SUPPORTED, gate, handle::Device};

/// The first argument is looked at only as a possible handle, for the log and for faults.
macro_rules! stubs {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(first: *const c_void) -> nvmlReturn_t {
            gate::pass(stringify!($name), Device::of(first), |_| Err(NOT_SUPPORTED))
        }
    )*};
}

stubs! {
    nvmlComputeInstanceDestroy
    nvmlDeviceClearCpuAffinity
    nvmlDeviceCreateGpuInstance
    nvmlDeviceCreateGpuInstanceWithPlacement
    nvmlDeviceDiscoverGpus
    nvmlDeviceFreezeNvLinkUtilizationCounter
    nvmlDeviceGetActiveVgpus
    nvmlDeviceGetClkMonStatus
    nvmlDeviceGetClockOffsets
    nvmlDeviceGetConfComputeGpuAttestationReport
    nvmlDeviceGetConfComputeGpuCertificate
    nvmlDeviceGetCoolerInfo
    nvmlDeviceGetCreatableVgpus
    nvmlDeviceGetCurrentClockFreqs
    nvmlDeviceGetDynamicPstatesInfo
    nvmlDeviceGetGpcClkMinMaxVfOffset
    nvmlDeviceGetHandleByUUIDV
    nvmlDeviceGetMemClkMinMaxVfOffset
    nvmlDeviceGetMinMaxClockOfPState
    nvmlDeviceGetNvLinkInfo
    nvmlDeviceGetNvLinkUtilizationControl
    nvmlDeviceGetNvLinkUtilizationCounter
    nvmlDeviceGetNvlinkBwMode
    nvmlDeviceGetNvlinkSupportedBwModes
    nvmlDeviceGetPerformanceModes
    nvmlDeviceGetPowerMizerMode_v1
    nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts
    nvmlDeviceGetSupportedVgpus
    nvmlDeviceGetThermalSettings
    nvmlDeviceGetVgpuInstancesUtilizationInfo
    nvmlDeviceGetVgpuMetadata
    nvmlDeviceGetVgpuProcessUtilization
    nvmlDeviceGetVgpuProcessesUtilizationInfo
    nvmlDeviceGetVgpuSchedulerCapabilities
    nvmlDeviceGetVgpuSchedulerLog
    nvmlDeviceGetVgpuSchedulerState
    nvmlDeviceGetVgpuTypeCreatablePlacements
    nvmlDeviceGetVgpuTypeSupportedPlacements
    nvmlDeviceGetVgpuUtilization
    nvmlDeviceReadPRMCounters_v1
    nvmlDeviceReadWritePRM_v1
    nvmlDeviceRemoveGpu
    nvmlDeviceRemoveGpu_v2
    nvmlDeviceResetNvLinkErrorCounters
    nvmlDeviceResetNvLinkUtilizationCounter
    nvmlDeviceSetClockOffsets
    nvmlDeviceSetCpuAffinity
    nvmlDeviceSetDefaultFanSpeed_v2
    nvmlDeviceSetDriverModel
    nvmlDeviceSetFanControlPolicy
    nvmlDeviceSetFanSpeed_v2
    nvmlDeviceSetNvLinkDeviceLowPowerThreshold
    nvmlDeviceSetNvLinkUtilizationControl
    nvmlDeviceSetNvlinkBwMode
    nvmlDeviceSetPowerMizerMode_v1
    nvmlDeviceSetRusdSettings_v1
    nvmlDeviceSetVgpuCapabilities
    nvmlDeviceSetVgpuHeterogeneousMode
    nvmlDeviceSetVgpuSchedulerState
    nvmlDeviceVgpuForceGspUnload
    nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1
    nvmlGetVgpuCompatibility
    nvmlGetVgpuDriverCapabilities
    nvmlGetVgpuVersion
    nvmlGpuInstanceCreateComputeInstance
    nvmlGpuInstanceCreateComputeInstanceWithPlacement
    nvmlGpuInstanceDestroy
    nvmlGpuInstanceGetActiveVgpus
    nvmlGpuInstanceGetCreatableVgpus
    nvmlGpuInstanceGetVgpuHeterogeneousMode
    nvmlGpuInstanceGetVgpuSchedulerLog
    nvmlGpuInstanceGetVgpuSchedulerState
    nvmlGpuInstanceGetVgpuTypeCreatablePlacements
    nvmlGpuInstanceSetVgpuHeterogeneousMode
    nvmlGpuInstanceSetVgpuSchedulerState
    nvmlSetVgpuVersion
    nvmlSystemEventSetCreate
    nvmlSystemEventSetFree
    nvmlSystemEventSetWait
    nvmlSystemGetConfComputeKeyRotationThresholdInfo
    nvmlSystemRegisterEvents
    nvmlSystemSetConfComputeGpusReadyState
    nvmlSystemSetConfComputeKeyRotationThresholdInfo
    nvmlSystemSetNvlinkBwMode
    nvmlUnitGetDevices
    nvmlUnitGetFanSpeedInfo
    nvmlUnitGetLedState
    nvmlUnitGetPsuInfo
    nvmlUnitGetTemperature
    nvmlUnitGetUnitInfo
    nvmlUnitSetLedState
    nvmlVgpuInstanceClearAccountingPids
    nvmlVgpuInstanceGetAccountingMode
    nvmlVgpuInstanceGetAccountingPids
    nvmlVgpuInstanceGetAccountingStats
    nvmlVgpuInstanceGetEccMode
    nvmlVgpuInstanceGetEncoderCapacity
    nvmlVgpuInstanceGetEncoderSessions
    nvmlVgpuInstanceGetEncoderStats
    nvmlVgpuInstanceGetFBCSessions
    nvmlVgpuInstanceGetFBCStats
    nvmlVgpuInstanceGetFbUsage
    nvmlVgpuInstanceGetFrameRateLimit
    nvmlVgpuInstanceGetGpuInstanceId
    nvmlVgpuInstanceGetGpuPciId
    nvmlVgpuInstanceGetLicenseInfo
    nvmlVgpuInstanceGetLicenseInfo_v2
    nvmlVgpuInstanceGetLicenseStatus
    nvmlVgpuInstanceGetMdevUUID
    nvmlVgpuInstanceGetMetadata
    nvmlVgpuInstanceGetPlacementId
    nvmlVgpuInstanceGetRuntimeStateSize
    nvmlVgpuInstanceGetType
    nvmlVgpuInstanceGetUUID
    nvmlVgpuInstanceGetVmDriverVersion
    nvmlVgpuInstanceGetVmID
    nvmlVgpuInstanceSetEncoderCapacity
    nvmlVgpuTypeGetBAR1Info
    nvmlVgpuTypeGetCapabilities
    nvmlVgpuTypeGetClass
    nvmlVgpuTypeGetDeviceID
    nvmlVgpuTypeGetFbReservation
    nvmlVgpuTypeGetFrameRateLimit
    nvmlVgpuTypeGetFramebufferSize
    nvmlVgpuTypeGetGpuInstanceProfileId
    nvmlVgpuTypeGetGspHeapSize
    nvmlVgpuTypeGetLicense
    nvmlVgpuTypeGetMaxInstances
    nvmlVgpuTypeGetMaxInstancesPerGpuInstance
    nvmlVgpuTypeGetMaxInstancesPerVm
    nvmlVgpuTypeGetName
    nvmlVgpuTypeGetNumDisplayHeads
    nvmlVgpuTypeGetResolution
}
