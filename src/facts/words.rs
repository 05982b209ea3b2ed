//! NVML's enums in nvidia-smi's words.

use crate::nvml::{Missing, Reading};
use crate::value::Value;

/// The word for a number of an enum; a number from a newer driver has none.
pub fn word(number: u32, words: &[&'static str]) -> Reading<Value> {
    words
        .get(number as usize)
        .map(|word| Value::word(word))
        .ok_or(Missing::UNKNOWN)
}

/// As [`word`], with nvidia-smi's word for a number that it does not know.
pub fn word_or(number: u32, words: &[&'static str], unknown: &'static str) -> Value {
    word(number, words).unwrap_or(Value::word(unknown))
}

/// `NVML_BRAND_*`.
pub const BRANDS: &[&str] = &[
    "Unknown",
    "Quadro",
    "Tesla",
    "NVS",
    "Grid",
    "GeForce",
    "Titan",
    "NVIDIA Virtual Applications",
    "NVIDIA Virtual PC",
    "NVIDIA Virtual Compute Server",
    "NVIDIA RTX Virtual Workstation",
    "NVIDIA Cloud Gaming",
    "Quadro RTX",
    "NVIDIA RTX",
    "NVIDIA",
    "GeForce RTX",
    "Titan RTX",
];

/// `NVML_DEVICE_ARCH_*`, from 2.
const ARCHITECTURES: &[&str] = &[
    "Kepler",
    "Maxwell",
    "Pascal",
    "Volta",
    "Turing",
    "Ampere",
    "Ada Lovelace",
    "Hopper",
    "Blackwell",
];

/// The name of an architecture.
pub fn architecture(number: u32) -> Reading<Value> {
    Ok(match number.checked_sub(2) {
        Some(place) => word(place, ARCHITECTURES).unwrap_or(Value::word("Unknown")),
        None => Value::word("Unknown"),
    })
}

/// The first architecture whose ECC covers SRAM and DRAM as two wholes.
pub const TURING: u32 = 6;
/// The first architecture with the other features of ECC.
pub const AMPERE: u32 = 7;
/// The first architecture whose boards know their place in the rack.
pub const BLACKWELL: u32 = 10;

/// `NVML_COMPUTEMODE_*`.
pub const COMPUTE_MODES: &[&str] = &[
    "Default",
    "Exclusive_Thread",
    "Prohibited",
    "Exclusive_Process",
];

/// `NVML_GPU_VIRTUALIZATION_MODE_*`.
pub const VIRTUALIZATION_MODES: &[&str] =
    &["None", "Pass-Through", "VGPU", "Host VGPU", "Host VSGA"];

/// `nvmlPstates_t`.
pub const PERFORMANCE_STATES: &[&str] = &[
    "P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13", "P14",
    "P15",
];

/// The names of NVML's `NVML_POWER_PROFILE_*`, by number.
const POWER_PROFILES: &[&str] = &[
    "Max-P",
    "Max-Q",
    "Compute",
    "Memory Bound",
    "Network",
    "Balanced",
    "LLM Inference",
    "LLM Training",
    "RBM",
    "DCPCIE",
    "HMMA Sparse",
    "HMMA Dense",
    "Sync Balanced",
    "HPC",
    "MIG",
];

/// The name of a workload power profile, where it has one.
pub fn power_profile(number: u32) -> Option<&'static str> {
    POWER_PROFILES.get(number as usize).copied()
}

/// `nvmlDriverModel_t`.
pub const DRIVER_MODELS: &[&str] = &["WDDM", "TCC", "MCDM"];

/// `nvmlGpuOperationMode_t`.
pub const OPERATION_MODES: &[&str] = &["All On", "Compute", "Low Double Precision"];

/// `NVML_DEVICE_ADDRESSING_MODE_*`.
pub const ADDRESSING_MODES: &[&str] = &["None", "HMM", "ATS"];

/// `nvmlHostVgpuMode_t`.
pub const HOST_VGPU_MODES: &[&str] = &["Non SR-IOV", "SR-IOV"];

/// `nvmlDeviceGpuRecoveryAction_t`.
pub const RECOVERY_ACTIONS: &[&str] = &["None", "Reset", "Reboot", "Drain P2P", "Drain and Reset"];

/// `nvmlPlatformInfo_v2_t.peerType`.
pub const PEER_TYPES: &[&str] = &["Direct Connected", "Switch Connected"];

/// `nvmlBridgeChipType_t`.
pub const BRIDGE_CHIPS: &[&str] = &["PLX", "BR04"];
