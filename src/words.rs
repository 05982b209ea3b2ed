//! nvidia-smi's words for NVML's return codes.

use crate::nvml::Missing;

/// One row a code: `nvmlReturn_t`, nvidia-smi's words for it.
const WORDS: &[(u32, &str)] = &[
    (1, "Uninitialized"),
    (2, "Invalid Argument"),
    (3, "Not Supported"),
    (4, "Insufficient Permissions"),
    (5, "Already Initialized"),
    (6, "Not Found"),
    (7, "Insufficient Size"),
    (8, "Insufficient External Power"),
    (9, "Driver Not Loaded"),
    (10, "Timeout"),
    (11, "Interrupt Request Issue"),
    (12, "NVML Shared Library Not Found"),
    (13, "Function Not Found"),
    (14, "Corrupted infoROM"),
    (15, "GPU is lost"),
    (16, "GPU requires reset"),
    (17, "GPU access blocked by the operating system"),
    (18, "Driver/library version mismatch"),
    (19, "In use by another client"),
    (20, "Insufficient Memory"),
    (21, "No data"),
    (22, "vGPU ECC not supported"),
    (23, "Insufficient Resources"),
    (24, "Invalid Frequency"),
    (25, "Argument version mismatch"),
    (26, "Requested functionality has been deprecated"),
    (27, "System is not in ready state"),
    (28, "No supported GPUs were found"),
    (
        29,
        "Resource not in correct state to perform requested operation",
    ),
    (30, "Reset type is not supported for given device"),
];

impl Missing {
    /// "N/A" for what is not supported, and else [`Missing::words`].
    pub fn words_or_not_available(self) -> &'static str {
        match self {
            Self::NotSupported => "N/A",
            failed => failed.words(),
        }
    }

    /// nvidia-smi's words for the code, without brackets: "GPU is lost".
    pub fn words(self) -> &'static str {
        let code = self.code();
        WORDS
            .iter()
            .find(|(known, _)| *known == code)
            .map_or("Unknown Error", |(_, words)| words)
    }
}
