//! Modes of a GPU, and its name.

use super::super::asked::{self, Asked, named, obsolete, switch};
use super::super::now::{in_mig_mode, on, word};
use super::super::row::{First, Kind, ROW, Row};
use crate::nvml::Missing;
use crate::value::printable;

use Kind::{Failure, Reboot, Warning};

/// `NVML_COMPUTEMODE_*`.
const COMPUTE_MODES: &[&str] = &[
    "DEFAULT",
    "EXCLUSIVE_THREAD",
    "PROHIBITED",
    "EXCLUSIVE_PROCESS",
];
/// `NVML_GOM_*`.
const OPERATION_MODES: &[&str] = &["All On", "Compute", "Low Double Precision"];
/// `NVML_DRIVER_*`, of Windows.
const DRIVER_MODELS: &[&str] = &["WDDM", "TCC"];

pub const ROWS: &[Row] = &[
    Row {
        option: "persistence-mode",
        read: |mode, _| switch(mode, "Invalid persistence mode"),
        first: Some(First {
            ask: |gpu| gpu.persistence().map(u32::from),
            unsupported: "Setting persistence mode is not supported for GPU {gpu} on this platform.",
            unreadable: "Unable to determine current persistence mode for GPU {gpu}: {why}",
            already: "Persistence mode is already {a} for GPU {gpu}.",
        }),
        set: |gpu, asked| gpu.set_persistence(asked.numbers[0]),
        done: "{a} persistence mode for GPU {gpu}.",
        failed: "Unable to set persistence mode for GPU {gpu}: {why}",
        now: |gpu, _| gpu.persistence().map(on),
        would: "Would change persistence mode from {from} to {a} for GPU {gpu}.",
        ..ROW
    },
    Row {
        option: "ecc-config",
        read: |mode, _| switch(mode, "Invalid ECC configuration code"),
        first: Some(First {
            ask: |gpu| gpu.ecc().map(|(_, pending)| pending.into()),
            unsupported: "ECC features not supported for GPU {gpu}.",
            unreadable: "Unable to determine current ECC mode for GPU {gpu}: {why}",
            already: "ECC support is already {a} for GPU {gpu}.",
        }),
        set: |gpu, asked| gpu.set_ecc(asked.numbers[0]),
        done: "{a} ECC support for GPU {gpu}.",
        failed: "Unable to set ECC config for GPU {gpu}: {why}",
        reboot: |_, _| true,
        now: |gpu, _| gpu.ecc().map(|(_, pending)| on(pending)),
        would: "Would change ECC from {from} to {a} at the next reboot for GPU {gpu}.",
        ..ROW
    },
    Row {
        option: "reset-ecc-errors",
        read: |counter, _| named(counter, &["volatile", "aggregate"], "Invalid ECC type"),
        set: |gpu, asked| gpu.clear_ecc_errors(asked.numbers[0]),
        done: "Reset {a} ECC errors to zero for GPU {gpu}.",
        failed: "Unable to clear ECC errors for GPU {gpu}: {why}",
        refusals: &[
            (
                Missing::NotSupported,
                Warning,
                "ECC features not supported for GPU {gpu}.",
            ),
            (
                Missing::NOT_FOUND,
                Failure,
                "Clearing ECC errors is not supported for GPU {gpu}.",
            ),
        ],
        because: |gpu, asked| {
            const AGGREGATE: u32 = 1;
            let mut lines = Vec::new();
            if in_mig_mode(gpu) {
                lines.push(
                    "Clearing ECC errors is not supported on a MIG-enabled device.".to_owned(),
                );
            }
            if asked.numbers[0] == AGGREGATE && gpu.is_vgpu() == Ok(true) {
                lines.push(
                    "Clearing Aggregate ECC errors is not supported on device in vGPU mode."
                        .to_owned(),
                );
            }
            lines
        },
        now: |gpu, asked| {
            const UNCORRECTED: u32 = 1;
            gpu.total_errors(UNCORRECTED, asked.numbers[0])
                .map(|count| count.to_string())
        },
        would: "Would reset {a} ECC errors ({from} uncorrected) to zero for GPU {gpu}.",
        ..ROW
    },
    Row {
        option: "compute-mode",
        read: |mode, _| match mode.bits() {
            1 => Err(obsolete(
                "Exclusive_Thread was deprecated! Use value 3:Exclusive_Process instead.",
            )),
            _ => named(mode, COMPUTE_MODES, "Invalid compute mode"),
        },
        first: Some(First {
            ask: |gpu| gpu.compute_mode(),
            unsupported: "Compute mode is not supported for GPU {gpu}.",
            unreadable: "Unable to determine current compute mode for GPU {gpu}: {why}",
            already: "Compute mode is already set to {a} for GPU {gpu}.",
        }),
        set: |gpu, asked| gpu.set_compute_mode(asked.numbers[0]),
        done: "Set compute mode to {a} for GPU {gpu}.",
        failed: "Unable to set the compute mode for GPU {gpu}: {why}",
        because: |gpu, asked| {
            const DEFAULT: u32 = 0;
            let mode = &asked.shown[0];
            if asked.numbers[0] == DEFAULT {
                Vec::new()
            } else if gpu.is_vgpu() == Ok(true) {
                vec![format!("Setting compute mode to {mode} is not supported.")]
            } else if in_mig_mode(gpu) {
                vec![format!(
                    "Setting compute mode to {mode} is not supported on a MIG-enabled device."
                )]
            } else {
                Vec::new()
            }
        },
        now: |gpu, _| gpu.compute_mode().map(|mode| word(COMPUTE_MODES, mode)),
        would: "Would change compute mode from {from} to {a} for GPU {gpu}.",
        ..ROW
    },
    DRIVER_MODEL,
    Row {
        option: "force-driver-model",
        ..DRIVER_MODEL
    },
    Row {
        option: "gom",
        read: |mode, _| named(mode, OPERATION_MODES, "Invalid GOM"),
        first: Some(First {
            ask: |gpu| gpu.operation_modes().map(|(_, pending)| pending),
            unsupported: "GOM mode cannot be changed on GPU {gpu}.",
            unreadable: "Unable to determine current GOM for GPU {gpu}: {why}",
            already: "GOM is already pending on \"{a}\" for GPU {gpu}.",
        }),
        set: |gpu, asked| gpu.set_operation_mode(asked.numbers[0]),
        done: "GOM changed to \"{a}\" for GPU {gpu}.",
        failed: "Unable to set GOM to \"{a}\" for GPU {gpu}: {why}",
        refusals: &[(
            Missing::RESET_REQUIRED,
            Reboot,
            "Unable to set GOM to \"{a}\" for GPU {gpu}: {why}",
        )],
        reboot: |gpu, asked| {
            const COMPUTE: u32 = 1;
            let now = gpu.operation_modes().map(|(current, _)| current);
            asked.numbers[0] == COMPUTE || now == Ok(COMPUTE) || now == Ok(asked.numbers[0])
        },
        now: |gpu, _| {
            gpu.operation_modes()
                .map(|(_, pending)| word(OPERATION_MODES, pending))
        },
        would: "Would change GOM from \"{from}\" to \"{a}\" at the next reboot for GPU {gpu}.",
        ..ROW
    },
    Row {
        option: "virt-mode",
        read: |mode, _| {
            Ok(Asked::word(
                mode.bits(),
                mode.bits().cast_signed().to_string(),
            ))
        },
        set: |gpu, asked| gpu.set_virtualization_mode(asked.numbers[0]),
        failed: "Unable to set virtualization mode for GPU {gpu}: {why}",
        refusals: &[
            (
                Missing::NotSupported,
                Warning,
                "Setting virtualization mode is not supported for GPU {gpu}.",
            ),
            (
                Missing::INVALID_ARGUMENT,
                Failure,
                "Either the GPU id {gpu} or the virtualization mode {a} is invalid.",
            ),
        ],
        would: "Would set virtualization mode {a} for GPU {gpu}.",
        lookup: |_, asked| {
            const VGPU_HOST: u32 = 3;
            const VSGA_HOST: u32 = 4;
            match asked.numbers[0] {
                VGPU_HOST | VSGA_HOST => Ok(()),
                _ => Err(Missing::INVALID_ARGUMENT),
            }
        },
        ..ROW
    },
    Row {
        option: "multi-instance-gpu",
        read: |mode, _| asked::mig_mode(mode),
        set: |gpu, asked| gpu.set_mig(asked.numbers[0]),
        done: "{a} MIG Mode for GPU {gpu}",
        failed: "Unable to {b} MIG Mode for GPU {gpu}: {why}",
        volatile: |_| true,
        now: |gpu, _| gpu.mig().map(|(_, pending)| on(pending)),
        would: "Would change MIG mode from {from} to {a} for GPU {gpu}.",
        already: |gpu, asked| {
            gpu.mig()
                .map(|(_, pending)| u32::from(pending) == asked.numbers[0])
        },
        would_not: "MIG mode is already {from} for GPU {gpu}.",
        ..ROW
    },
    Row {
        option: "dram-encryption",
        read: |mode, _| switch(mode, "Invalid DRAM encryption mode"),
        first: Some(First {
            ask: |gpu| gpu.dram_encryption().map(|(_, pending)| pending.into()),
            unsupported: "DRAM encryption is not supported for GPU {gpu}.",
            unreadable: "Unable to determine current DRAM encryption mode for GPU {gpu}: {why}",
            already: "DRAM encryption is already {a} for GPU {gpu}.",
        }),
        set: |gpu, asked| gpu.set_dram_encryption(asked.numbers[0]),
        done: "{a} DRAM encryption for GPU {gpu}.",
        failed: "Unable to set DRAM encryption for GPU {gpu}: {why}",
        reboot: |_, _| true,
        now: |gpu, _| gpu.dram_encryption().map(|(_, pending)| on(pending)),
        would: "Would change DRAM encryption from {from} to {a} at the next reboot for GPU {gpu}.",
        ..ROW
    },
    Row {
        option: "set-hostname",
        read: |name, _| asked::hostname(name.text()),
        set: |gpu, asked| gpu.set_hostname(&asked.shown[0]),
        done: "Set hostname to \"{a}\" for GPU {gpu}.",
        failed: "Unable to set hostname for GPU {gpu}: {why}",
        now: |gpu, _| gpu.hostname().map(|name| printable(&name).into_owned()),
        would: "Would change the hostname from \"{from}\" to \"{a}\" for GPU {gpu}.",
        already: |gpu, asked| gpu.hostname().map(|name| name == asked.shown[0]),
        would_not: "The hostname is already \"{from}\" for GPU {gpu}.",
        ..ROW
    },
];

const DRIVER_MODEL: Row = Row {
    option: "driver-model",
    read: |model, _| named(model, DRIVER_MODELS, "Invalid driver model specified"),
    first: Some(First {
        ask: |gpu| gpu.driver_models().map(|(_, pending)| pending),
        unsupported: "Changing driver models is not supported for GPU {gpu} on this platform.",
        unreadable: "Unable to determine current driver model for GPU {gpu}: {why}",
        already: "Driver model is already set to {a} for GPU {gpu}.",
    }),
    failed: "Unable to set driver model for GPU {gpu}.Changing driver model is not supported on this device.",
    now: |gpu, _| {
        gpu.driver_models()
            .map(|(_, pending)| word(DRIVER_MODELS, pending))
    },
    would: "Would not change the driver model from {from} to {a} for GPU {gpu}: that is for Windows.",
    ..ROW
};
