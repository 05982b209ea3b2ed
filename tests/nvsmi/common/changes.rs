//! The options that change a GPU.

/// The options with the call that makes each change; every line changes GPU 4 of the box.
pub const CHANGES: &[(&[&str], &str)] = &[
    (&["-pm", "0"], "nvmlDeviceSetPersistenceMode"),
    (&["-e", "0"], "nvmlDeviceSetEccMode"),
    (&["-p", "0"], "nvmlDeviceClearEccErrorCounts"),
    (&["-p", "1"], "nvmlDeviceClearEccErrorCounts"),
    (&["-c", "3"], "nvmlDeviceSetComputeMode"),
    (&["--gom=1"], "nvmlDeviceSetGpuOperationMode"),
    (&["-vm", "3"], "nvmlDeviceSetVirtualizationMode"),
    (&["-lgc", "1000,1410"], "nvmlDeviceSetGpuLockedClocks"),
    (&["-lgc", "tdp"], "nvmlDeviceSetGpuLockedClocks"),
    (&["-rgc"], "nvmlDeviceResetGpuLockedClocks"),
    (&["-lmc", "1593"], "nvmlDeviceSetMemoryLockedClocks"),
    (&["-rmc"], "nvmlDeviceResetMemoryLockedClocks"),
    (&["-ac", "2619,1200"], "nvmlDeviceSetApplicationsClocks"),
    (&["-rac"], "nvmlDeviceResetApplicationsClocks"),
    (&["-pl", "300"], "nvmlDeviceSetPowerManagementLimit_v2"),
    (&["-am", "1"], "nvmlDeviceSetAccountingMode"),
    (&["-caa"], "nvmlDeviceClearAccountingPids"),
    (
        &["--auto-boost-default=0"],
        "nvmlDeviceSetDefaultAutoBoostedClocksEnabled",
    ),
    (
        &["--auto-boost-permission=0"],
        "nvmlDeviceSetAPIRestriction",
    ),
    (&["-mig", "1"], "nvmlDeviceSetMigMode"),
    (&["-gtt", "75"], "nvmlDeviceSetTemperatureThreshold"),
    (&["-den", "1"], "nvmlDeviceSetDramEncryptionMode"),
    (&["--set-hostname=node8"], "nvmlDeviceSetHostname_v1"),
];

/// Whether a call changes something.
pub fn changes(function: &str) -> bool {
    [
        "nvmlDeviceSet",
        "nvmlDeviceReset",
        "nvmlDeviceClear",
        "nvmlDeviceModify",
        "nvmlDeviceRemove",
        "nvmlDeviceDiscover",
        "nvmlDevicePowerSmoothing",
        "nvmlDeviceWorkloadPowerProfileSet",
        "nvmlDeviceWorkloadPowerProfileClear",
        "nvmlGpmSet",
        "nvmlSystemSet",
        "nvmlUnitSet",
    ]
    .iter()
    .any(|beginning| function.starts_with(beginning))
}
