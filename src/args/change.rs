//! The changes that can be made to a GPU, one variant an option.

use clap::{Parser, Subcommand};

use super::{Args, Command, refused};
use crate::error::{Error, Status};
use crate::spelling::{Given, Line};

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
#[derive(Clone, Debug, PartialEq, Subcommand)]
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
    #[command(alias = "application-clocks")]
    ApplicationsClocks { clocks: String },
    /// `-rac` (`nvmlDeviceResetApplicationsClocks`).
    #[command(alias = "reset-application-clocks")]
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
const BESIDE: &[&str] = &["id", "gpu", "error-on-warning", "dry-run", "mode", "scope"];

#[derive(Debug, Parser)]
#[command(
    no_binary_name = true,
    args_override_self = true,
    disable_help_flag = true,
    disable_help_subcommand = true
)]
struct ModifyLine {
    #[command(subcommand)]
    change: Option<Change>,
    #[arg(long, alias = "gpu")]
    id: Option<String>,
    #[arg(long)]
    mode: Option<u32>,
    #[arg(long)]
    scope: Option<u32>,
    #[arg(long)]
    error_on_warning: bool,
    #[arg(long)]
    dry_run: bool,
}

impl Modify {
    /// The refusal of a change of nothing.
    pub fn nothing() -> Error {
        Error::new(
            Status::Other,
            "Input combination for device modification is not valid.\n\n",
        )
    }

    /// Reads the line, with nvidia-smi's refusals in its order.
    pub(super) fn read(line: &Line) -> Result<Args, Error> {
        let refusals = [
            (
                line.has("mode") && !line.has("lock-gpu-clocks"),
                "'--mode' can only be used with '--lock-gpu-clocks'",
            ),
            (
                line.has("scope") && !line.has("power-limit"),
                "'--scope' can only be used with '--power-limits'",
            ),
            (
                line.count_beside(BESIDE) > 1,
                "Only one device modification may be done at a time",
            ),
        ];
        if let Some((_, why)) = refusals.iter().find(|(given, _)| *given) {
            return Err(refused(format!(
                "Invalid combination of input arguments. {why}.\n\n"
            )));
        }
        line.known()?;
        let modify = ModifyLine::try_parse_from(words(line))?;
        Ok(Args {
            ids: modify.id,
            ..Command::Modify(Self {
                change: modify.change,
                mode: modify.mode,
                scope: modify.scope,
                error_on_warning: modify.error_on_warning,
                dry_run: modify.dry_run,
            })
            .into()
        })
    }
}

/// The line as clap knows it: a change is a subcommand, its value a positional.
fn words(line: &Line) -> Vec<String> {
    let is_beside = |given: &&Given| BESIDE.contains(&given.option.word());
    let beside = line.given.iter().filter(is_beside);
    let mut words: Vec<String> = beside.map(Given::canonical).collect();
    let mut changes = line.given.iter().filter(|given| !is_beside(given));
    if let Some(change) = changes.find(|given| !given.is_unset()) {
        words.push(change.option.word().to_owned());
        words.extend(
            change
                .value
                .iter()
                .flat_map(|value| ["--".to_owned(), value.clone()]),
        );
    }
    words
}
