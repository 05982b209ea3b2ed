//! `--version`.

use std::io::Write;

use crate::nvml::{Driver, Reading};
use crate::value::printable;

/// What nvidia-smi gives as its own version. Scripts take it for the driver's, so that
/// it is the driver's; NVML's if the driver does not tell.
pub fn tool_version(driver: &Driver) -> Reading<String> {
    driver.version().or_else(|_| driver.library_version())
}

/// The versions of the tool that the driver would bring, of NVML, of the driver
/// and of CUDA.
pub fn version(driver: &Driver, out: &mut Vec<u8>) {
    let or_words = |reading: Reading<String>| match reading {
        Ok(text) => printable(&text).into_owned(),
        Err(missing) => missing.words_or_not_available().to_owned(),
    };
    let cuda = driver
        .cuda_version()
        .map(|(major, minor)| format!("{major}.{minor}"));
    for (label, value) in [
        ("NVIDIA-SMI version ", or_words(tool_version(driver))),
        ("NVML version       ", or_words(driver.library_version())),
        ("DRIVER version     ", or_words(driver.version())),
        ("CUDA Version       ", or_words(cuda)),
    ] {
        // Writing to memory does not fail.
        let _ = writeln!(out, "{label} : {value}");
    }
}
