//! The table of changes: one row an option.

use super::ask::{
    applications_clocks, clocks_in_words, default_applications_clocks, in_mig_mode, listed, on,
    power_limit, power_range, range_listed, switch, watts, word,
};
use super::row::{First, Kind, ROW, Refusal, Row, fill};
use crate::nvml::{Clock, Missing, Reading};
use crate::value::printable;

use Kind::{Failure, Reboot, Remark, Warning};

/// `NVML_COMPUTEMODE_*`.
pub const COMPUTE_MODES: &[&str] = &[
    "DEFAULT",
    "EXCLUSIVE_THREAD",
    "PROHIBITED",
    "EXCLUSIVE_PROCESS",
];
/// `NVML_GOM_*`.
pub const OPERATION_MODES: &[&str] = &["All On", "Compute", "Low Double Precision"];
/// `NVML_DRIVER_*`, of Windows.
pub const DRIVER_MODELS: &[&str] = &["WDDM", "TCC"];

/// `-pm`.
pub const PERSISTENCE: Row = Row {
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
};

/// `-e`.
pub const ECC: Row = Row {
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
};

/// `-p`.
pub const ECC_ERRORS: Row = Row {
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
            lines.push("Clearing ECC errors is not supported on a MIG-enabled device.".to_owned());
        }
        if asked.numbers[0] == AGGREGATE && gpu.is_vgpu() == Ok(true) {
            lines.push(
                "Clearing Aggregate ECC errors is not supported on device in vGPU mode.".to_owned(),
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
};

/// `-c`.
pub const COMPUTE_MODE: Row = Row {
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
};

/// `-c 1` and `-acp`: nothing is changed any more; `{a}` says so.
pub const OBSOLETE: Row = Row {
    range: |_, _, asked| {
        Err(Refusal::by_nvml(
            Missing::NotSupported,
            asked.shown[0].clone(),
        ))
    },
    free: |_| true,
    ..ROW
};

/// `-dm` and `-fdm`: Windows only.
pub const DRIVER_MODEL: Row = Row {
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

/// `--gom`.
pub const OPERATION_MODE: Row = Row {
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
};

/// `-vm`.
pub const VIRTUALIZATION: Row = Row {
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
};

const MAY_NOT_CHANGE_CLOCKS: &str =
    "The current user does not have permission to change clocks for GPU {gpu}.";

/// `-lgc`.
pub const GPU_CLOCKS: Row = Row {
    set: |gpu, asked| gpu.lock_gpu_clocks(asked.numbers[0], asked.numbers[1]),
    done: "GPU clocks set to \"(gpuClkMin {a}, gpuClkMax {b})\" for GPU {gpu}",
    failed: "Unable to set GPU locked clocks \"(gpuClockMin {a}, gpuClockMax {b})\" for GPU {gpu}: {why}",
    refusals: &[
        (
            Missing::NotSupported,
            Warning,
            "Setting locked GPU clocks is not supported for GPU {gpu}.",
        ),
        (
            Missing::INVALID_ARGUMENT,
            Warning,
            "Specified clock combination \"(gpuClkMin {x}, gpuClkMax {y})\" is not supported for GPU {gpu}. Run 'nvidia-smi -q -d SUPPORTED_CLOCKS' to see list of supported clock combinations",
        ),
        (Missing::NO_PERMISSION, Failure, MAY_NOT_CHANGE_CLOCKS),
    ],
    volatile: |_| true,
    now: |gpu, _| {
        gpu.clock(Clock::Graphics)
            .map(|clock| format!("{clock} MHz"))
    },
    would: "Would lock GPU clocks to \"(gpuClkMin {a}, gpuClkMax {b})\" for GPU {gpu}; it runs at {from} now.",
    lookup: |gpu, asked| {
        let memory = gpu.supported_memory_clocks();
        let fastest =
            memory.and_then(|clocks| clocks.into_iter().max().ok_or(Missing::NotSupported));
        let clocks = fastest.and_then(|clock| gpu.supported_graphics_clocks(clock));
        range_listed(clocks, asked)
    },
    ..ROW
};

/// `-rgc`.
pub const GPU_CLOCKS_RESET: Row = Row {
    set: |gpu, _| gpu.unlock_gpu_clocks(),
    failed: "Unable to reset locked gpu clocks for GPU {gpu}: {why}",
    refusals: &[
        (
            Missing::NotSupported,
            Warning,
            "Setting locked gpu clocks is not supported for GPU {gpu}.",
        ),
        (Missing::NO_PERMISSION, Failure, MAY_NOT_CHANGE_CLOCKS),
    ],
    now: |gpu, _| {
        gpu.clock(Clock::Graphics)
            .map(|clock| format!("{clock} MHz"))
    },
    would: "Would unlock the GPU clock for GPU {gpu}; it runs at {from} now.",
    ..ROW
};

/// `-lmc`.
pub const MEMORY_CLOCKS: Row = Row {
    set: |gpu, asked| gpu.lock_memory_clocks(asked.numbers[0], asked.numbers[1]),
    done: "Memory clocks set to \"(memClkMin {a}, memClkMax {b})\" for GPU {gpu}",
    failed: "Unable to set Memory locked clocks \"(memClockMin {a}, memClockMax {b})\" for GPU {gpu}: {why}",
    refusals: &[
        (
            Missing::NotSupported,
            Remark,
            "Setting locked Memory clocks is not supported for GPU {gpu}.",
        ),
        (
            Missing::INVALID_ARGUMENT,
            Warning,
            "Specified clock combination \"(memClkMin {a}, memClkMax {b})\" is not supported for GPU {gpu}. Run 'nvidia-smi -q -d SUPPORTED_CLOCKS' to see list of supported clock combinations",
        ),
        (Missing::NO_PERMISSION, Failure, MAY_NOT_CHANGE_CLOCKS),
    ],
    volatile: |_| true,
    now: |gpu, _| gpu.clock(Clock::Memory).map(|clock| format!("{clock} MHz")),
    would: "Would lock memory clocks to \"(memClkMin {a}, memClkMax {b})\" for GPU {gpu}; it runs at {from} now.",
    lookup: |gpu, asked| range_listed(gpu.supported_memory_clocks(), asked),
    ..ROW
};

/// `-rmc`.
pub const MEMORY_CLOCKS_RESET: Row = Row {
    set: |gpu, _| gpu.unlock_memory_clocks(),
    failed: "Unable to reset locked Memory clocks for GPU {gpu}: {why}",
    refusals: &[
        (
            Missing::NotSupported,
            Warning,
            "Setting locked Memory clocks is not supported for GPU {gpu}.",
        ),
        (Missing::NO_PERMISSION, Failure, MAY_NOT_CHANGE_CLOCKS),
    ],
    now: |gpu, _| gpu.clock(Clock::Memory).map(|clock| format!("{clock} MHz")),
    would: "Would unlock the memory clock for GPU {gpu}; it runs at {from} now.",
    ..ROW
};

/// `-ac`.
pub const APPLICATIONS_CLOCKS: Row = Row {
    set: |gpu, asked| gpu.set_applications_clocks(asked.numbers[0], asked.numbers[1]),
    done: "Applications clocks set to \"(MEM {a}, SM {b})\" for GPU {gpu}",
    failed: "Unable to set applications clocks \"(MEM {a}, SM {b})\" for GPU {gpu}: {why}",
    refusals: &[
        (
            Missing::NotSupported,
            Warning,
            "Setting applications clocks is not supported for GPU {gpu}.",
        ),
        (
            Missing::INVALID_ARGUMENT,
            Warning,
            "Specified clock combination \"(MEM {a}, SM {b})\" is not supported for GPU {gpu}. Run 'nvidia-smi -q -d SUPPORTED_CLOCKS' to see list of supported clock combinations",
        ),
        (Missing::NO_PERMISSION, Failure, MAY_NOT_CHANGE_CLOCKS),
    ],
    volatile: |_| true,
    now: |gpu, _| applications_clocks(gpu).map(clocks_in_words),
    would: "Would change the applications clocks from {from} to (MEM {a}, SM {b}) for GPU {gpu}.",
    already: |gpu, asked| applications_clocks(gpu).map(|clocks| clocks == asked.numbers),
    would_not: "The applications clocks are already {from} for GPU {gpu}.",
    lookup: |gpu, asked| {
        let [memory, graphics] = asked.numbers;
        let clocks = gpu.supported_graphics_clocks(memory);
        listed(clocks, |clocks| clocks.contains(&graphics))
    },
    free: |gpu| gpu.are_applications_clocks_restricted() == Ok(false),
    ..ROW
};

/// `-rac`.
pub const APPLICATIONS_CLOCKS_RESET: Row = Row {
    set: |gpu, _| gpu.reset_applications_clocks(),
    failed: "Unable to reset applications clocks for GPU {gpu}: {why}",
    refusals: &[
        (
            Missing::NotSupported,
            Warning,
            "Setting applications clocks is not supported for GPU {gpu}.",
        ),
        (Missing::NO_PERMISSION, Failure, MAY_NOT_CHANGE_CLOCKS),
    ],
    now: |gpu, _| applications_clocks(gpu).map(clocks_in_words),
    would: "Would set the applications clocks, {from}, back to their defaults for GPU {gpu}.",
    already: |gpu, _| Ok(applications_clocks(gpu)? == default_applications_clocks(gpu)?),
    would_not: "The applications clocks, {from}, are already their defaults for GPU {gpu}.",
    free: |gpu| gpu.are_applications_clocks_restricted() == Ok(false),
    ..ROW
};

/// `-pl`: the numbers are milliwatts and the scope.
pub const POWER_LIMIT: Row = Row {
    range: |gpu, name, asked| {
        let [wanted, scope] = asked.numbers;
        let range = match power_limit(gpu, scope) {
            Err(Missing::NotSupported) => Err(Missing::NotSupported),
            _ => power_range(gpu, scope),
        };
        let (min, max) = match range {
            Ok(range) => range,
            Err(Missing::NotSupported) => {
                return Err(Refusal {
                    kind: Remark,
                    ..Refusal::by_nvml(Missing::NotSupported, fill(NOT_IN_SCOPE, name, asked, &[]))
                });
            }
            // NVML knows the range, and will say what is wrong.
            Err(_) => return Ok(()),
        };
        if (min..=max).contains(&wanted) {
            return Ok(());
        }
        let bounds = [("min", &*watts(min)), ("max", &watts(max))];
        Err(Refusal::of_value(fill(OUT_OF_RANGE, name, asked, &bounds)))
    },
    set: |gpu, asked| gpu.set_power_limit(asked.numbers[0], asked.numbers[1]),
    done: "Power limit for GPU {gpu} was set to {a} W from {from}.",
    failed: "Failed to set power management limit for GPU {gpu}: {why}",
    refusals: &[(
        Missing::NotSupported,
        Warning,
        "Changing power management limit is not supported for GPU: {gpu}.",
    )],
    volatile: |_| true,
    now: |gpu, asked| {
        let limit = power_limit(gpu, asked.numbers[1])?;
        Ok(format!("{} W", watts(limit)))
    },
    would: "Would change the power limit from {from} to {a} W for GPU {gpu}.",
    already: |gpu, asked| power_limit(gpu, asked.numbers[1]).map(|limit| limit == asked.numbers[0]),
    would_not: "The power limit is already {from} for GPU {gpu}.",
    lookup: |gpu, asked| power_range(gpu, asked.numbers[1]).map(drop),
    ..ROW
};

const NOT_IN_SCOPE: &str =
    "Changing power management limit is not supported in current scope for GPU: {gpu}.";
const OUT_OF_RANGE: &str = "Provided power limit {a} W is not a valid power limit which should be between {min} W and {max} W for GPU {gpu}";

/// `-am`.
pub const ACCOUNTING: Row = Row {
    first: Some(First {
        ask: |gpu| gpu.accounting().map(u32::from),
        unsupported: "Accounting features not supported for GPU {gpu}.",
        unreadable: "Unable to determine Accounting mode for GPU {gpu}: {why}",
        already: "Accounting Mode is already {a} for GPU {gpu}.",
    }),
    set: |gpu, asked| gpu.set_accounting(asked.numbers[0]),
    done: "{a} Accounting Mode for GPU {gpu}.",
    failed: "Unable to set Accounting Mode for GPU {gpu}: {why}",
    because: |gpu, asked| match in_mig_mode(gpu) {
        true => vec![format!(
            "Setting accounting mode to {} is not supported on a MIG-enabled device.",
            asked.shown[0]
        )],
        false => Vec::new(),
    },
    // What is off without a driver stays off.
    volatile: |asked| asked.numbers[0] != 0,
    now: |gpu, _| gpu.accounting().map(on),
    would: "Would change accounting mode from {from} to {a} for GPU {gpu}.",
    ..ROW
};

/// `-caa`.
pub const ACCOUNTED: Row = Row {
    set: |gpu, _| gpu.clear_accounted(),
    done: "Cleared Accounted PIDs for GPU {gpu}.",
    failed: "Unable to clear Accounted PIDs for GPU {gpu}: {why}",
    now: |gpu, _| gpu.accounted().map(|processes| processes.len().to_string()),
    would: "Would forget the accounts of {from} processes for GPU {gpu}.",
    already: |gpu, _| gpu.accounted().map(|processes| processes.is_empty()),
    would_not: "There are no accounts of processes for GPU {gpu}.",
    ..ROW
};

/// `--auto-boost-default`: `{b}` is ENABLE or DISABLE.
pub const AUTO_BOOST: Row = Row {
    range: |_, name, asked| switch(name, asked, AUTO_BOOST.failed),
    set: |gpu, asked| gpu.set_default_auto_boost(asked.numbers[0]),
    failed: "Failed to {b} default auto boosted clocks for GPU {gpu}: {why}",
    refusals: &[(
        Missing::NotSupported,
        Warning,
        "Enabling/disabling default auto boosted clocks is not supported for GPU: {gpu}.",
    )],
    now: |gpu, _| gpu.auto_boost().map(|(_, default)| on(default)),
    would: "Would change default auto boost from {from} to {a} for GPU {gpu}.",
    already: |gpu, asked| {
        gpu.auto_boost()
            .map(|(_, default)| u32::from(default) == asked.numbers[0])
    },
    would_not: "Default auto boost is already {from} for GPU {gpu}.",
    ..ROW
};

/// `--auto-boost-permission`.
pub const AUTO_BOOST_PERMISSION: Row = Row {
    range: |_, name, asked| switch(name, asked, AUTO_BOOST_PERMISSION.failed),
    set: |gpu, asked| gpu.restrict_auto_boost(asked.numbers[0]),
    failed: "Failed to change auto boosted clocks permissions for GPU  {gpu}: {why}",
    refusals: &[(
        Missing::NotSupported,
        Warning,
        "Changing auto boosted clocks permissions is not supported for GPU: {gpu}.",
    )],
    now: |gpu, _| {
        let restricted = gpu.is_auto_boost_restricted()?;
        Ok(word(RESTRICTIONS, restricted.into()))
    },
    would: "Would change the permission for auto boost from {from} to {a} for GPU {gpu}.",
    already: |gpu, asked| {
        gpu.is_auto_boost_restricted()
            .map(|restricted| u32::from(restricted) == asked.numbers[0])
    },
    would_not: "The permission for auto boost is already {from} for GPU {gpu}.",
    ..ROW
};

/// Of `--auto-boost-permission`.
pub const RESTRICTIONS: &[&str] = &["UNRESTRICTED", "RESTRICTED"];

/// `-mig`: `{b}` is enable or disable.
pub const MIG: Row = Row {
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
};

/// Said when MIG mode waits, `{b}` as in [`MIG`].
pub const MIG_WAITS: &str = "Warning: MIG mode is in pending {b} state for GPU {gpu}:{why}";
/// Said after it when somebody uses the GPU.
pub const MIG_WAITS_FOR_USERS: &str = "{gpu} is currently being used by one or more other processes (e.g. CUDA application or a monitoring application such as another instance of nvidia-smi). Please first kill all processes using the device and retry the command or reboot the system to make MIG mode effective.";
/// Said after it otherwise.
pub const MIG_WAITS_FOR_RESET: &str =
    "Reboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU {gpu}";

/// `-gtt`.
pub const TARGET_TEMPERATURE: Row = Row {
    first: Some(First {
        ask: |gpu| gpu.target_temperature(),
        unsupported: "GPU Target Temperature Threshold not supported for GPU {gpu}.",
        unreadable: "Unable to determine current Target Temperature for GPU {gpu}: {why}",
        already: "Requested GPU Target Temperature {a} is already set for GPU {gpu}",
    }),
    range: |gpu, name, asked| {
        let bound = |reading: Reading<u32>, sentence: &str| {
            reading.map_err(|why| {
                Refusal::by_nvml(why, fill(sentence, name, asked, &[("why", why.words())]))
            })
        };
        let min = bound(
            gpu.lowest_target_temperature(),
            "Unable to get Min Target Temperature for GPU {gpu}: {why}",
        )?;
        let max = bound(
            gpu.highest_target_temperature(),
            "Unable to get Max Target Temperature for GPU {gpu}: {why}",
        )?;
        if (min..=max).contains(&asked.numbers[0]) {
            return Ok(());
        }
        let bounds = [("min", &*min.to_string()), ("max", &max.to_string())];
        let sentence =
            "Invalid input. GPU Target Temperature should be in range {min} - {max} for GPU {gpu}";
        Err(Refusal::of_value(fill(sentence, name, asked, &bounds)))
    },
    set: |gpu, asked| gpu.set_target_temperature(asked.numbers[0]),
    failed: "Unable to set requested Target Temperature for GPU {gpu}: {why}",
    now: |gpu, _| gpu.target_temperature().map(|celsius| celsius.to_string()),
    would: "Would change the target temperature from {from} to {a} °C for GPU {gpu}.",
    ..ROW
};

/// `-den`.
pub const DRAM_ENCRYPTION: Row = Row {
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
};

/// `--set-hostname`.
pub const HOSTNAME: Row = Row {
    set: |gpu, asked| gpu.set_hostname(&asked.shown[0]),
    done: "Set hostname to \"{a}\" for GPU {gpu}.",
    failed: "Unable to set hostname for GPU {gpu}: {why}",
    now: |gpu, _| gpu.hostname().map(|name| printable(&name).into_owned()),
    would: "Would change the hostname from \"{from}\" to \"{a}\" for GPU {gpu}.",
    already: |gpu, asked| gpu.hostname().map(|name| name == asked.shown[0]),
    would_not: "The hostname is already \"{from}\" for GPU {gpu}.",
    ..ROW
};
