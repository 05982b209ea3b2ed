//! What the board and its driver are.

use super::facts;
use super::words::{self, word, word_or};
use crate::host::clock;
use crate::nvml::{Missing, Reading};
use crate::value::{Value, yes};

/// `NVML_INFOROM_*`.
const OEM: u32 = 0;
const ECC: u32 = 1;
const POWER: u32 = 2;

/// `NVML_FI_DEV_GET_GPU_RECOVERY_ACTION`.
const GET_GPU_RECOVERY_ACTION: u32 = 230;

/// `NVML_DEVICE_CAPABILITY_EGM`.
const EXTENDED_GPU_MEMORY: u32 = 1;

facts! {
    /// When the sample began, local time, to the millisecond.
    timestamp(context) = Ok(clock::stamp(context.time));
    /// Version of the driver.
    driver_version(context) = context.driver.version();
    /// How many GPUs NVML counts.
    gpu_count(context) = context.driver.gpu_count();
    /// The GPU's place in NVML's order, from 0.
    index(context) = Ok(context.gpu.index());
    /// Product name.
    name(context) = context.gpu.name();
    /// Product brand.
    brand(context) = word(context.gpu.brand()?, words::BRANDS);
    /// Architecture, "Unknown" if it is newer than R580.
    architecture(context) = words::architecture(context.gpu.architecture()?);
    /// Serial number of the board.
    serial(context) = context.gpu.serial();
    /// UUID.
    uuid(context) = context.gpu.uuid();
    /// Per-device identifier, hex.
    pdi(context) = context.gpu.pdi().map(|pdi| format!("{pdi:#x}"));
    /// Number of the GPU's device file.
    minor_number(context) = context.gpu.minor_number();
    /// Whether the board has several GPUs.
    multi_gpu_board(context) = context.gpu.multi_gpu_board().map(yes);
    /// Number of the board, hex.
    board_id(context) = context.gpu.board_id().map(|id| format!("{id:#x}"));
    /// Part number of the board.
    part_number(context) = context.gpu.board_part_number();
    /// Part number of the GPU or of the replacement unit: NVML has no question for them.
    other_part_number(context) = context.reachable().map(|()| Value::word("N/A"));
    /// Version of the VBIOS.
    vbios_version(context) = context.gpu.vbios_version();
    /// Version of the GSP firmware.
    gsp_firmware_version(context) = context.gpu.gsp_version();
    /// Version of the infoROM image.
    inforom_image(context) = context.gpu.inforom_image_version();
    /// Version of the infoROM's OEM object.
    inforom_oem(context) = context.gpu.inforom_version(OEM);
    /// Version of the infoROM's ECC object.
    inforom_ecc(context) = context.gpu.inforom_version(ECC);
    /// Version of the infoROM's power object.
    inforom_power(context) = context.gpu.inforom_version(POWER);
    /// Whether the infoROM's checksums are right. NVML takes 67 ms for it.
    inforom_checksums(context) = Ok(Value::word(match context.gpu.inforom_valid() {
        Ok(()) => "valid",
        Err(Missing::CORRUPTED_INFOROM) => "invalid",
        Err(_) => "N/A",
    }));
    /// What would bring a broken GPU back.
    recovery_action(context) = {
        let action = context.gpu.field_number(GET_GPU_RECOVERY_ACTION, 0)?;
        Ok(word_or(action as u32, words::RECOVERY_ACTIONS, "N/A"))
    };
    /// Seconds that a driver has run the board (R610).
    time_run(context) = context.gpu.time_run();
    /// CUDA compute capability.
    compute_capability(context) =
        context.gpu.compute_capability().map(|(major, minor)| format!("{major}.{minor}"));
    /// Place of the module on its base board.
    module_id(context) = context.gpu.module_id();
    /// Name that an administrator gave the GPU.
    hostname(context) = context.gpu.hostname();
    /// Whether the CPU can map the GPU's memory into its own (EGM). R580 says N/A for
    /// every failure; here each is told.
    extended_gpu_memory(context) = context.gpu.capabilities().map(|bits| {
        Value::word(if bits & EXTENDED_GPU_MEMORY != 0 { "enabled" } else { "disabled" })
    });
    /// When the black box was last flushed, local time.
    black_box_time(context) = {
        let (time, _) = black_box_flush(context)?;
        clock::from_microseconds(time).map(|time| clock::stamp(&time)).ok_or(Missing::UNKNOWN)
    };
    /// How long that took, microseconds.
    black_box_duration(context) = black_box_flush(context).map(|(_, duration)| duration);
}

/// NVML says "not ready" of a black box that has not been written yet: it has no time.
fn black_box_flush<T>(context: &super::Context<T>) -> Reading<(u64, u64)> {
    match context.gpu.black_box_flush() {
        Err(Missing::NOT_READY) => Err(Missing::NotSupported),
        flush => flush,
    }
}
