//! How NVML's functions use the pointers that they are given.
//!
//! The bindings know the type of a function. The type does not tell a pointer to one
//! value from a pointer to an array: `nvmlDeviceGetEccMode` and
//! `nvmlDeviceGetSupportedMemoryClocks` have the same. [`function!`](super::function)
//! takes only what is in the table, and each call shape takes only functions of its kind.

/// A function that [`function!`](super::function) knows.
///
/// # Safety
/// `Kind` must be how NVML's header says that the function uses its pointers.
pub unsafe trait Named {
    /// [`Values`] or [`Arrays`].
    type Kind;
}

/// Each pointer is to one value or struct, which NVML reads or fills in; strings that
/// it reads end in a NUL.
pub struct Values;

/// A pointer is to an array or a buffer, or to a struct that points to one: the call
/// has to say truly how much room there is.
pub struct Arrays;

macro_rules! functions {
    ($(unsafe $kind:ident { $($name:ident)* })*) => {$($(
        #[allow(non_camel_case_types, reason = "named as in nvml.h")]
        pub enum $name {}
        // SAFETY: the row says so, by the word `unsafe`.
        unsafe impl Named for $name {
            type Kind = $kind;
        }
    )*)*};
}

functions! {
    unsafe Values {
        nvmlComputeInstanceGetInfo_v2
        nvmlDeviceClearAccountingPids
        nvmlDeviceClearEccErrorCounts
        nvmlDeviceDiscoverGpus
        nvmlDeviceGetAPIRestriction
        nvmlDeviceGetAccountingBufferSize
        nvmlDeviceGetAccountingMode
        nvmlDeviceGetAccountingStats
        nvmlDeviceGetAddressingMode
        nvmlDeviceGetApplicationsClock
        nvmlDeviceGetArchitecture
        nvmlDeviceGetAttributes_v2
        nvmlDeviceGetAutoBoostedClocksEnabled
        nvmlDeviceGetBAR1MemoryInfo
        nvmlDeviceGetBoardId
        nvmlDeviceGetBrand
        nvmlDeviceGetBridgeChipInfo
        nvmlDeviceGetC2cModeInfoV
        nvmlDeviceGetCapabilities
        nvmlDeviceGetClock
        nvmlDeviceGetClockInfo
        nvmlDeviceGetComputeInstanceId
        nvmlDeviceGetComputeMode
        nvmlDeviceGetConfComputeMemSizeInfo
        nvmlDeviceGetConfComputeProtectedMemoryUsage
        nvmlDeviceGetCount_v2
        nvmlDeviceGetCudaComputeCapability
        nvmlDeviceGetCurrPcieLinkGeneration
        nvmlDeviceGetCurrPcieLinkWidth
        nvmlDeviceGetCurrentClocksThrottleReasons
        nvmlDeviceGetDecoderUtilization
        nvmlDeviceGetDefaultApplicationsClock
        nvmlDeviceGetDisplayActive
        nvmlDeviceGetDisplayMode
        nvmlDeviceGetDramEncryptionMode
        nvmlDeviceGetDriverModel
        nvmlDeviceGetDriverModel_v2
        nvmlDeviceGetEccMode
        nvmlDeviceGetEncoderStats
        nvmlDeviceGetEncoderUtilization
        nvmlDeviceGetEnforcedPowerLimit
        nvmlDeviceGetFBCStats
        nvmlDeviceGetFanSpeed
        nvmlDeviceGetGpuInstanceId
        nvmlDeviceGetGpuInstanceProfileInfo
        nvmlDeviceGetGpuInstanceProfileInfoV
        nvmlDeviceGetGpuInstanceRemainingCapacity
        nvmlDeviceGetGpuMaxPcieLinkGeneration
        nvmlDeviceGetGpuOperationMode
        nvmlDeviceGetGridLicensableFeatures_v4
        nvmlDeviceGetGspFirmwareMode
        nvmlDeviceGetHandleByIndex_v2
        nvmlDeviceGetHandleByPciBusId_v2
        nvmlDeviceGetHandleByUUID
        nvmlDeviceGetHostVgpuMode
        nvmlDeviceGetIndex
        nvmlDeviceGetJpgUtilization
        nvmlDeviceGetLastBBXFlushTime
        nvmlDeviceGetMarginTemperature
        nvmlDeviceGetMaxClockInfo
        nvmlDeviceGetMaxMigDeviceCount
        nvmlDeviceGetMaxPcieLinkGeneration
        nvmlDeviceGetMaxPcieLinkWidth
        nvmlDeviceGetMemoryErrorCounter
        nvmlDeviceGetMigDeviceHandleByIndex
        nvmlDeviceGetMigMode
        nvmlDeviceGetMinorNumber
        nvmlDeviceGetModuleId
        nvmlDeviceGetMultiGpuBoard
        nvmlDeviceGetNumaNodeId
        nvmlDeviceGetNvLinkCapability
        nvmlDeviceGetNvLinkRemoteDeviceType
        nvmlDeviceGetNvLinkRemotePciInfo_v2
        nvmlDeviceGetNvLinkState
        nvmlDeviceGetOfaUtilization
        nvmlDeviceGetP2PStatus
        nvmlDeviceGetPciInfoExt
        nvmlDeviceGetPciInfo_v3
        nvmlDeviceGetPcieReplayCounter
        nvmlDeviceGetPcieThroughput
        nvmlDeviceGetPdi
        nvmlDeviceGetPerformanceState
        nvmlDeviceGetPersistenceMode
        nvmlDeviceGetPowerManagementDefaultLimit
        nvmlDeviceGetPowerManagementLimit
        nvmlDeviceGetPowerManagementLimitConstraints
        nvmlDeviceGetPowerManagementMode
        nvmlDeviceGetPowerUsage
        nvmlDeviceGetRemappedRows
        nvmlDeviceGetRepairStatus
        nvmlDeviceGetRetiredPagesPendingStatus
        nvmlDeviceGetRowRemapperHistogram
        nvmlDeviceGetSramEccErrorStatus
        nvmlDeviceGetSupportedClocksThrottleReasons
        nvmlDeviceGetTemperature
        nvmlDeviceGetTemperatureThreshold
        nvmlDeviceGetTemperatureV
        nvmlDeviceGetTopologyCommonAncestor
        nvmlDeviceGetTotalEccErrors
        nvmlDeviceGetUtilizationRates
        nvmlDeviceGetVgpuCapabilities
        nvmlDeviceGetVgpuHeterogeneousMode
        nvmlDeviceGetViolationStatus
        nvmlDeviceGetVirtualizationMode
        nvmlDeviceModifyDrainState
        nvmlDevicePowerSmoothingActivatePresetProfile
        nvmlDevicePowerSmoothingSetState
        nvmlDevicePowerSmoothingUpdatePresetProfileParam
        nvmlDeviceQueryDrainState
        nvmlDeviceRemoveGpu_v2
        nvmlDeviceResetApplicationsClocks
        nvmlDeviceResetGpuLockedClocks
        nvmlDeviceResetMemoryLockedClocks
        nvmlDeviceResetNvLinkErrorCounters
        nvmlDeviceSetAPIRestriction
        nvmlDeviceSetAccountingMode
        nvmlDeviceSetApplicationsClocks
        nvmlDeviceSetComputeMode
        nvmlDeviceSetConfComputeUnprotectedMemSize
        nvmlDeviceSetDefaultAutoBoostedClocksEnabled
        nvmlDeviceSetDramEncryptionMode
        nvmlDeviceSetEccMode
        nvmlDeviceSetGpuLockedClocks
        nvmlDeviceSetGpuOperationMode
        nvmlDeviceSetMemoryLockedClocks
        nvmlDeviceSetMigMode
        nvmlDeviceSetNvLinkDeviceLowPowerThreshold
        nvmlDeviceSetPersistenceMode
        nvmlDeviceSetPowerManagementLimit
        nvmlDeviceSetPowerManagementLimit_v2
        nvmlDeviceSetTemperatureThreshold
        nvmlDeviceSetVirtualizationMode
        nvmlDeviceValidateInforom
        nvmlDeviceWorkloadPowerProfileClearRequestedProfiles
        nvmlDeviceWorkloadPowerProfileGetCurrentProfiles
        nvmlDeviceWorkloadPowerProfileGetProfilesInfo
        nvmlDeviceWorkloadPowerProfileSetRequestedProfiles
        nvmlGetExcludedDeviceCount
        nvmlGetExcludedDeviceInfoByIndex
        nvmlGetVgpuDriverCapabilities
        nvmlGpmMigSampleGet
        nvmlGpmQueryIfStreamingEnabled
        nvmlGpmSampleAlloc
        nvmlGpmSampleFree
        nvmlGpmSampleGet
        nvmlGpmSetStreamingEnabled
        nvmlGpuInstanceGetComputeInstanceProfileInfo
        nvmlGpuInstanceGetComputeInstanceProfileInfoV
        nvmlGpuInstanceGetComputeInstanceRemainingCapacity
        nvmlGpuInstanceGetInfo
        nvmlInit_v2
        nvmlShutdown
        nvmlSystemGetConfComputeCapabilities
        nvmlSystemGetConfComputeGpusReadyState
        nvmlSystemGetConfComputeKeyRotationThresholdInfo
        nvmlSystemGetConfComputeSettings
        nvmlSystemGetConfComputeState
        nvmlSystemGetCudaDriverVersion_v2
        nvmlSystemGetNvlinkBwMode
        nvmlSystemSetConfComputeGpusReadyState
        nvmlSystemSetConfComputeKeyRotationThresholdInfo
        nvmlSystemSetNvlinkBwMode
        nvmlUnitGetCount
        nvmlUnitGetHandleByIndex
        nvmlUnitGetLedState
        nvmlUnitSetLedState
    }

    unsafe Arrays {
        nvmlDeviceClearFieldValues
        nvmlDeviceGetAccountingPids
        nvmlDeviceGetBoardPartNumber
        nvmlDeviceGetCpuAffinity
        nvmlDeviceGetEncoderSessions
        nvmlDeviceGetFBCSessions
        nvmlDeviceGetFieldValues
        nvmlDeviceGetGpuInstancePossiblePlacements_v2
        nvmlDeviceGetGpuInstances
        nvmlDeviceGetGspFirmwareVersion
        nvmlDeviceGetInforomImageVersion
        nvmlDeviceGetInforomVersion
        nvmlDeviceGetMemoryAffinity
        nvmlDeviceGetName
        nvmlDeviceGetProcessUtilization
        nvmlDeviceGetProcessesUtilizationInfo
        nvmlDeviceGetRetiredPages_v2
        nvmlDeviceGetRunningProcessDetailList
        nvmlDeviceGetSamples
        nvmlDeviceGetSerial
        nvmlDeviceGetSupportedGraphicsClocks
        nvmlDeviceGetSupportedMemoryClocks
        nvmlDeviceGetTopologyNearestGpus
        nvmlDeviceGetUUID
        nvmlDeviceGetVbiosVersion
        nvmlGpmMetricsGet
        nvmlGpuInstanceGetComputeInstancePossiblePlacements
        nvmlGpuInstanceGetComputeInstances
        nvmlSystemGetDriverVersion
        nvmlSystemGetHicVersion
        nvmlSystemGetNVMLVersion
        nvmlSystemGetProcessName
        nvmlSystemGetTopologyGpuSet
    }
}
