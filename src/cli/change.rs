//! The changes that can be made to a GPU, one variant an option.

use super::line::{Given, Line};
use crate::error::Error;

/// A change to the GPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Modify {
    /// The change; `None` where its value is one that nvidia-smi takes for
    /// none (-1), or where `-i` given twice made a change of nothing. That is
    /// refused once the GPUs are found, with [`Modify::nothing`].
    pub change: Option<Change>,
    /// `-m`: how `-lgc` holds the clock, 0 or 1.
    pub mode: Option<u32>,
    /// `-sc`: what `-pl` limits, 0 the GPU or 1 the module; anything else is
    /// refused with the change.
    pub scope: Option<u32>,
    /// `-eow`: warnings end the command.
    pub error_on_warning: bool,
    /// `--dry-run`, which the real tool lacks: say what would be changed.
    pub dry_run: bool,
}

/// The changes. Numbers are as given, not yet checked; -2 arrives as
/// 4294967294, which is how nvidia-smi prints it back.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// `-pm`: 0 or 1 (`nvmlDeviceSetPersistenceMode`).
    PersistenceMode { mode: u32 },
    /// `-e`: 0 or 1 (`nvmlDeviceSetEccMode`).
    EccConfig { mode: u32 },
    /// `-p`: 0 volatile, 1 aggregate (`nvmlDeviceClearEccErrorCounts`).
    ResetEccErrors { counter: u32 },
    /// `-c`: 0 to 3, `nvmlComputeMode_t` (`nvmlDeviceSetComputeMode`).
    ComputeMode { mode: u32 },
    /// `-dm`: 0 WDDM, 1 TCC; Windows only.
    DriverModel { model: u32 },
    /// `-fdm`: the same even with a display attached.
    ForceDriverModel { model: u32 },
    /// `--gom`: 0 to 2, `nvmlGpuOperationMode_t` (`nvmlDeviceSetGpuOperationMode`).
    Gom { mode: u32 },
    /// `-r`: the kind of reset, if named ("bus").
    GpuReset { kind: Option<String> },
    /// `-vm`: 3 or 4, `nvmlGpuVirtualizationMode_t` (`nvmlDeviceSetVirtualizationMode`).
    VirtMode { mode: u32 },
    /// `-lgc`: `MIN,MAX` or one clock, MHz (`nvmlDeviceSetGpuLockedClocks`).
    LockGpuClocks { clocks: String },
    /// `-rgc` (`nvmlDeviceResetGpuLockedClocks`).
    ResetGpuClocks,
    /// `-lmc`: `MIN,MAX` or one clock, MHz (`nvmlDeviceSetMemoryLockedClocks`).
    LockMemoryClocks { clocks: String },
    /// `-rmc` (`nvmlDeviceResetMemoryLockedClocks`).
    ResetMemoryClocks,
    /// `-lmcd`: MHz, at the next driver load.
    LockMemoryClocksDeferred { clock: u32 },
    /// `-rmcd`.
    ResetMemoryClocksDeferred,
    /// `-ac`: `MEMORY,GRAPHICS`, MHz (`nvmlDeviceSetApplicationsClocks`).
    ApplicationsClocks { clocks: String },
    /// `-rac` (`nvmlDeviceResetApplicationsClocks`).
    ResetApplicationsClocks,
    /// `-acp`: 0 or 1; no longer has an effect.
    ApplicationsClocksPermission { mode: u32 },
    /// `-pl`: watts (`nvmlDeviceSetPowerManagementLimit`).
    PowerLimit { watts: f32 },
    /// `-cc`: 0 restore, 1 override.
    CudaClocks { mode: u32 },
    /// `-am`: 0 or 1 (`nvmlDeviceSetAccountingMode`).
    AccountingMode { mode: u32 },
    /// `-caa` (`nvmlDeviceClearAccountingPids`).
    ClearAccountedApps,
    /// `--auto-boost-default`: 0 or 1 (`nvmlDeviceSetDefaultAutoBoostedClocksEnabled`).
    AutoBoostDefault { mode: u32 },
    /// `--auto-boost-permission`: 0 or 1 (`nvmlDeviceSetAPIRestriction`).
    AutoBoostPermission { mode: u32 },
    /// `-mig`: 0 or 1 (`nvmlDeviceSetMigMode`).
    MultiInstanceGpu { mode: u32 },
    /// `-gtt`: degrees Celsius (`nvmlDeviceSetTemperatureThreshold`).
    GpuTargetTemp { celsius: u32 },
    /// `-den`: 0 or 1 (`nvmlDeviceSetDramEncryptionMode`).
    DramEncryption { mode: u32 },
    /// `--set-hostname` (`nvmlDeviceSetHostname_v1`).
    SetHostname { name: String },
    /// `--get-hostname` (`nvmlDeviceGetHostname_v1`).
    GetHostname,
}

/// The options that say how or where, and are no change themselves.
pub const BESIDE: &[&str] = &["id", "gpu", "error-on-warning", "dry-run", "mode", "scope"];

impl Modify {
    /// The refusal of a change of nothing.
    pub fn nothing() -> Error {
        Error::failed("Input combination for device modification is not valid.\n\n")
    }
}

impl Change {
    /// The change that a line asks for, if any.
    #[rustfmt::skip] // a table
    pub fn of(line: &Line) -> Option<Self> {
        let is_change = |given: &&Given| !BESIDE.contains(&given.option.word());
        let mut changes = line.given.iter().filter(is_change);
        let given = changes.find(|given| !given.is_unset())?;
        let mode = given.bits();
        let text = || given.text.clone().unwrap_or_default();
        Some(match given.option.word() {
            "persistence-mode" => Self::PersistenceMode { mode },
            "ecc-config" => Self::EccConfig { mode },
            "reset-ecc-errors" => Self::ResetEccErrors { counter: mode },
            "compute-mode" => Self::ComputeMode { mode },
            "driver-model" => Self::DriverModel { model: mode },
            "force-driver-model" => Self::ForceDriverModel { model: mode },
            "gom" => Self::Gom { mode },
            "gpu-reset" => Self::GpuReset { kind: given.text.clone() },
            "virt-mode" => Self::VirtMode { mode },
            "lock-gpu-clocks" => Self::LockGpuClocks { clocks: text() },
            "reset-gpu-clocks" => Self::ResetGpuClocks,
            "lock-memory-clocks" => Self::LockMemoryClocks { clocks: text() },
            "reset-memory-clocks" => Self::ResetMemoryClocks,
            "lock-memory-clocks-deferred" => Self::LockMemoryClocksDeferred { clock: mode },
            "reset-memory-clocks-deferred" => Self::ResetMemoryClocksDeferred,
            "applications-clocks" => Self::ApplicationsClocks { clocks: text() },
            "reset-applications-clocks" => Self::ResetApplicationsClocks,
            "applications-clocks-permission" => Self::ApplicationsClocksPermission { mode },
            "power-limit" => Self::PowerLimit { watts: given.float() },
            "cuda-clocks" => Self::CudaClocks { mode },
            "accounting-mode" => Self::AccountingMode { mode },
            "clear-accounted-apps" => Self::ClearAccountedApps,
            "auto-boost-default" => Self::AutoBoostDefault { mode },
            "auto-boost-permission" => Self::AutoBoostPermission { mode },
            "multi-instance-gpu" => Self::MultiInstanceGpu { mode },
            "gpu-target-temp" => Self::GpuTargetTemp { celsius: mode },
            "dram-encryption" => Self::DramEncryption { mode },
            "set-hostname" => Self::SetHostname { name: text() },
            "get-hostname" => Self::GetHostname,
            _ => return None,
        })
    }
}
