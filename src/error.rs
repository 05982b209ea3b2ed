//! What nvsmi says when it cannot answer, and the exit status it says it with.

use std::fmt;

use crate::nvml::{Gpu, Missing, OpenError};
use crate::value::printable;

/// The exit statuses of nvidia-smi; scripts tell failures apart by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Nothing failed: a screen that was asked for, or that some subcommands
    /// show for a bad line, with this status.
    #[default]
    Success = 0,
    /// A bad option, value, field or combination of them.
    InvalidArgument = 2,
    /// The device or the platform does not have what was asked for.
    NotSupported = 3,
    /// The user may not do that.
    NoPermission = 4,
    /// No such GPU, or none at all.
    NotFound = 6,
    /// A GPU's external power cables are not attached.
    InsufficientPower = 8,
    /// The kernel driver is not loaded.
    DriverNotLoaded = 9,
    /// The kernel found a problem with a GPU's interrupts.
    IrqIssue = 11,
    /// There is no NVML library, or it cannot be opened.
    LibraryNotFound = 12,
    /// The NVML library is too old for the question.
    FunctionNotFound = 13,
    /// A GPU's infoROM is corrupted.
    CorruptedInforom = 14,
    /// A GPU has fallen off the bus.
    GpuLost = 15,
    /// The operating system blocks access to a GPU.
    OperatingSystem = 17,
    /// The library and the kernel driver are of different versions.
    LibraryMismatch = 18,
    /// A GPU is in use by another client.
    InUse = 19,
    /// The driver has run out of a resource.
    InsufficientResources = 23,
    /// NVML did not answer within `--timeout`; `timeout` of coreutils ends so too.
    TimedOut = 124,
    /// Everything else.
    Other = 255,
}

impl Status {
    /// Of two, the first that is no success.
    pub fn and(self, next: Self) -> Self {
        match self {
            Self::Success => next,
            failed => failed,
        }
    }
}

/// Every status that stands for the NVML code of the same number.
const FROM_NVML: &[Status] = &[
    Status::InvalidArgument,
    Status::NotSupported,
    Status::NoPermission,
    Status::NotFound,
    Status::InsufficientPower,
    Status::DriverNotLoaded,
    Status::IrqIssue,
    Status::LibraryNotFound,
    Status::FunctionNotFound,
    Status::CorruptedInforom,
    Status::GpuLost,
    Status::OperatingSystem,
    Status::LibraryMismatch,
    Status::InUse,
    Status::InsufficientResources,
];

impl From<Missing> for Status {
    fn from(missing: Missing) -> Self {
        FROM_NVML
            .iter()
            .copied()
            .find(|status| u32::from(*status as u8) == missing.code())
            .unwrap_or(Self::Other)
    }
}

/// A failure: the text for stdout, exactly as it is printed, final newlines
/// included (nvidia-smi ends its messages with none, one or two), and the
/// status to exit with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
    status: Status,
    missing: Option<Missing>,
}

impl Error {
    /// A failure with its text, printed as it stands.
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            status,
            missing: None,
        }
    }

    /// What NVML answered, if that is what failed.
    pub fn missing(&self) -> Option<Missing> {
        self.missing
    }

    /// The status to exit with.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The same, told after a warning.
    pub fn after(&self, warning: &str) -> Self {
        Self {
            message: format!("{warning}{}", self.message),
            ..*self
        }
    }

    /// NVML did not start: what `nvmlInit_v2` returned. A version mismatch
    /// also names the library's version, as `nvmlSystemGetNVMLVersion` gives it.
    fn init(missing: Missing, library_version: Option<&str>) -> Self {
        let status = Status::from(missing);
        let message = match status {
            Status::LibraryNotFound => "\
                NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. \
                Please make sure that the NVIDIA Display Driver is properly \
                installed and present in your system.\n\
                Please also try adding directory that contains libnvidia-ml.so \
                to your system PATH.\n"
                .to_owned(),
            Status::DriverNotLoaded => "\
                NVIDIA-SMI has failed because it couldn't communicate with the \
                NVIDIA driver. Make sure that the latest NVIDIA driver is \
                installed and running.\n\n"
                .to_owned(),
            _ => {
                let mut message = format!(
                    "Failed to initialize NVML: {}\n",
                    missing.words_or_not_available()
                );
                if let (Status::LibraryMismatch, Some(version)) = (status, library_version) {
                    message += &format!("NVML library version: {}\n", printable(version));
                }
                message
            }
        };
        Self::new(status, message)
    }

    /// The driver did not open.
    pub fn open(error: OpenError) -> Self {
        match error {
            OpenError::NoLibrary => Self::init(Missing::from_code(12), None),
            OpenError::Init { code, library } => Self::init(code, library.as_deref()),
        }
    }

    /// A command that nvidia-smi has and nvsmi does not.
    pub fn not_built(name: &str) -> Self {
        Self::new(Status::Other, format!("nvsmi does not have {name}.\n"))
    }

    /// What only NVML's private functions can do.
    pub fn out_of_reach(what: &str) -> Self {
        let message = format!("NVML has no public function for {what}: nothing was changed.\n");
        Self::new(Status::NotSupported, message)
    }

    /// A line that a subcommand refuses.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Status::InvalidArgument, message)
    }

    /// A `--dry-run` of nothing.
    pub fn dry_run() -> Self {
        Self::refused("--dry-run goes with an option that changes a GPU.\n")
    }

    /// A subcommand that could not do what it should.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Status::Other, message)
    }

    /// A GPU that is to be changed, or that `-i` of a subcommand names, has no handle.
    pub fn no_handle(gpu: &Gpu, missing: Missing) -> Self {
        let (gpu, advice) = (name(gpu), advice(missing));
        let message = format!("Unable to determine the device handle for GPU{gpu}: {advice}\n");
        Self::new(missing.into(), message)
    }

    /// A GPU does not tell how many links it has, so that it is left out.
    pub fn uncounted(links: &str, index: u32, missing: Missing) -> Self {
        let words = missing.words();
        let message = format!("Unable to determine the {links} of GPU {index}: {words}\n");
        Self::unread(missing, message)
    }

    /// A question of a subcommand that NVML did not answer.
    pub fn unread(missing: Missing, message: impl Into<String>) -> Self {
        Self {
            missing: Some(missing),
            ..Self::new(missing.into(), message)
        }
    }

    /// `nvmlDeviceGetCount_v2` failed under anything else; nvidia-smi ends
    /// this line without a newline.
    pub fn count(missing: Missing) -> Self {
        Self::new(missing.into(), "Unable to determine the number of GPUs")
    }

    /// A GPU that is to be changed does not tell where it is.
    pub fn pci_info(index: u32, missing: Missing) -> Self {
        let words = missing.words();
        let message = format!("Unable to determine PCI info for GPU {index}: {words}\n");
        Self::new(missing.into(), message)
    }

    /// `dmon` or `pmon` cannot begin. The blank before the newline is nvidia-smi's.
    pub fn watch(reason: &str) -> Self {
        let message = format!("{reason}Failed to process command line \n\n");
        Self::new(Status::Other, message)
    }

    /// A GPU does not tell its architecture, nor so what it can do.
    pub fn no_architecture(missing: Missing) -> Self {
        let words = missing.words();
        let message = format!("NVML: Unable to get architecture: {words}\n");
        Self::new(missing.into(), message)
    }
}

/// A GPU in nvidia-smi's messages about handles: its short bus id, or its index
/// where that is not known.
pub fn name(gpu: &Gpu) -> String {
    printable(&gpu.short_name()).into_owned()
}

/// What is said of a GPU that has no handle; health checks look for the first of
/// these texts. nvidia-smi ends it with two newlines.
pub fn advice(missing: Missing) -> &'static str {
    match missing {
        Missing::GPU_IS_LOST => "GPU is lost.  Reboot the system to recover this GPU\n\n",
        Missing::RESET_REQUIRED => "A GPU reset must occur before this GPU can be used again.\n\n",
        other => other.words_or_not_available(),
    }
}

/// What there is to say, and the status to end with: that of the first failure.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What is said.
    pub text: String,
    /// The status so far.
    pub status: Status,
}

impl Outcome {
    /// Says a failure, if there is one; the answer goes on.
    pub fn note(&mut self, part: Result<(), Error>) {
        if let Err(failure) = part {
            self.text += &failure.message;
            self.fail(failure.status);
        }
    }

    /// Counts a failure that the answer shows already.
    pub fn fail(&mut self, status: Status) {
        self.status = self.status.and(status);
    }

    /// Refuses what failed.
    pub fn into_result(self) -> Result<(), Error> {
        match self.status {
            Status::Success => Ok(()),
            status => Err(Error::new(status, self.text)),
        }
    }
}

/// Nothing is left to say, and nothing failed.
impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Self::default()
    }
}

/// Nothing is left to say.
impl From<Status> for Outcome {
    fn from(status: Status) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    fn init(code: u32) -> (u8, String) {
        let error = Error::init(Missing::from_code(code), Some("580.159"));
        (error.status() as u8, error.to_string())
    }

    #[test]
    fn codes_that_nvidia_smi_passes_on_keep_their_number() {
        let kept = (1..=30).filter(|code| u32::from(init(*code).0) == *code);
        let recorded = [2, 3, 4, 6, 8, 9, 11, 12, 13, 14, 15, 17, 18, 19, 23];
        assert_eq!(kept.collect::<Vec<_>>(), recorded);
        for other in [1, 5, 7, 10, 16, 20, 21, 22, 24, 30, 77, 999] {
            assert_eq!(init(other).0, 255, "{other}");
        }
    }

    #[test]
    fn a_failed_start_reads_as_recorded() {
        let expected = [
            (3, 3, "Failed to initialize NVML: N/A\n"),
            (
                4,
                4,
                "Failed to initialize NVML: Insufficient Permissions\n",
            ),
            (
                18,
                18,
                "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.159\n",
            ),
            (77, 255, "Failed to initialize NVML: Unknown Error\n"),
        ];
        for (code, status, message) in expected {
            assert_eq!(init(code), (status, message.to_owned()));
        }
        assert!(init(9).1.ends_with("installed and running.\n\n"));
        assert_eq!(init(12).1.lines().count(), 2);
    }
}
