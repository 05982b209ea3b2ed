//! `--version`.

use std::io::Write;

use crate::nvml::{Driver, Missing, Reading};

/// The versions of the tool that the driver would bring, of NVML, of the driver
/// and of CUDA.
pub fn version(driver: &Driver, out: &mut Vec<u8>) {
    let or_words = |reading: Reading<String>| {
        reading.unwrap_or_else(|missing: Missing| missing.words_or_not_available().to_owned())
    };
    let driver_version = or_words(driver.version());
    let cuda = driver
        .cuda_version()
        .map(|(major, minor)| format!("{major}.{minor}"));
    for (label, value) in [
        // Scripts take this line for the driver's version.
        ("NVIDIA-SMI version ", driver_version.clone()),
        ("NVML version       ", or_words(driver.library_version())),
        ("DRIVER version     ", driver_version),
        ("CUDA Version       ", or_words(cuda)),
    ] {
        // Writing to memory does not fail.
        let _ = writeln!(out, "{label} : {value}");
    }
}
