//! What a question to NVML comes back with: a fact, or why there is none.

/// A fact about a GPU, or the reason it is missing. A failed read is never a 0.
pub type Reading<T> = Result<T, Missing>;

/// Why a reading is missing: the NVML return codes (`nvmlReturn_t`) that a
/// query can come back with. Only renderers decide how each is spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// `NVML_ERROR_NOT_SUPPORTED`: this board or driver has no such thing.
    NotSupported,
    /// Any other `nvmlReturn_t`, as its number.
    Failed(u32),
}

impl Missing {
    /// `NVML_ERROR_INVALID_ARGUMENT`: among others, a field that the driver does not know.
    pub const INVALID_ARGUMENT: Self = Self::Failed(2);
    /// `NVML_ERROR_NO_PERMISSION`.
    pub const NO_PERMISSION: Self = Self::Failed(4);
    /// `NVML_ERROR_NOT_FOUND`.
    pub const NOT_FOUND: Self = Self::Failed(6);
    /// `NVML_ERROR_TIMEOUT`, also where NVML was waited for in vain.
    pub const TIMEOUT: Self = Self::Failed(10);
    /// `NVML_ERROR_FUNCTION_NOT_FOUND`: the installed library is older than the question.
    pub const FUNCTION_NOT_FOUND: Self = Self::Failed(13);
    /// `NVML_ERROR_CORRUPTED_INFOROM`.
    pub const CORRUPTED_INFOROM: Self = Self::Failed(14);
    /// `NVML_ERROR_GPU_IS_LOST`: the GPU has fallen off the bus.
    pub const GPU_IS_LOST: Self = Self::Failed(15);
    /// `NVML_ERROR_RESET_REQUIRED`: the GPU cannot be used before a reset.
    pub const RESET_REQUIRED: Self = Self::Failed(16);
    /// `NVML_ERROR_IN_USE`.
    pub const IN_USE: Self = Self::Failed(19);
    /// `NVML_ERROR_ARGUMENT_VERSION_MISMATCH`: the library does not know this version of a struct.
    pub const ARGUMENT_VERSION_MISMATCH: Self = Self::Failed(25);
    /// `NVML_ERROR_DEPRECATED`.
    pub const DEPRECATED: Self = Self::Failed(26);
    /// Not enough of what the machine has, `NVML_ERROR_INSUFFICIENT_RESOURCES`.
    pub const INSUFFICIENT_RESOURCES: Self = Self::Failed(23);
    /// `NVML_ERROR_NO_DATA`.
    pub const NO_DATA: Self = Self::Failed(21);
    /// `NVML_ERROR_NOT_READY`.
    pub const NOT_READY: Self = Self::Failed(27);
    /// `NVML_ERROR_UNKNOWN`, also for whatever an answer makes no sense of.
    pub const UNKNOWN: Self = Self::Failed(999);

    /// The reading's state for a `nvmlReturn_t` other than success.
    pub fn from_code(code: u32) -> Self {
        match code {
            3 => Self::NotSupported,
            code => Self::Failed(code),
        }
    }

    /// The `nvmlReturn_t`.
    pub fn code(self) -> u32 {
        match self {
            Self::NotSupported => 3,
            Self::Failed(code) => code,
        }
    }
}

/// An answer, or nothing where there is no such thing; a failure stays one.
pub fn if_any<T: Default>(reading: Reading<T>) -> Reading<T> {
    match reading {
        Err(Missing::NotSupported | Missing::FUNCTION_NOT_FOUND) => Ok(T::default()),
        reading => reading,
    }
}
