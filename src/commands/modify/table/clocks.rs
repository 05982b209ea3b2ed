//! Clocks, and who may change them.

use super::super::asked::{self, Asked, obsolete, out_of_reach};
use super::super::now::{
    applications_clocks, clocks_in_words, default_applications_clocks, listed, on, range_listed,
    word,
};
use super::super::row::{Kind, ROW, Refusal, Row, fill};
use crate::nvml::{Clock, Gpu, Missing, Reading};

use Kind::{Failure, Remark, Warning};

const MAY_NOT_CHANGE_CLOCKS: &str =
    "The current user does not have permission to change clocks for GPU {gpu}.";
const AUTO_BOOST_FAILED: &str = "Failed to {b} default auto boosted clocks for GPU {gpu}: {why}";
const PERMISSION_FAILED: &str =
    "Failed to change auto boosted clocks permissions for GPU  {gpu}: {why}";
/// Of `--auto-boost-permission`.
const RESTRICTIONS: &[&str] = &["UNRESTRICTED", "RESTRICTED"];

pub const ROWS: &[Row] = &[
    Row {
        option: "lock-gpu-clocks",
        read: asked::gpu_clocks,
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
        now: |gpu, _| megahertz(gpu, Clock::Graphics),
        would: "Would lock GPU clocks to \"(gpuClkMin {a}, gpuClkMax {b})\" for GPU {gpu}; it runs at {from} now.",
        lookup: |gpu, asked| {
            let memory = gpu.supported_memory_clocks();
            let fastest =
                memory.and_then(|clocks| clocks.into_iter().max().ok_or(Missing::NotSupported));
            let clocks = fastest.and_then(|clock| gpu.supported_graphics_clocks(clock));
            range_listed(clocks, asked)
        },
        ..ROW
    },
    Row {
        option: "reset-gpu-clocks",
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
        now: |gpu, _| megahertz(gpu, Clock::Graphics),
        would: "Would unlock the GPU clock for GPU {gpu}; it runs at {from} now.",
        ..ROW
    },
    Row {
        option: "lock-memory-clocks",
        read: |clocks, _| asked::memory_clocks(clocks.text()),
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
        now: |gpu, _| megahertz(gpu, Clock::Memory),
        would: "Would lock memory clocks to \"(memClkMin {a}, memClkMax {b})\" for GPU {gpu}; it runs at {from} now.",
        lookup: |gpu, asked| range_listed(gpu.supported_memory_clocks(), asked),
        ..ROW
    },
    Row {
        option: "reset-memory-clocks",
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
        now: |gpu, _| megahertz(gpu, Clock::Memory),
        would: "Would unlock the memory clock for GPU {gpu}; it runs at {from} now.",
        ..ROW
    },
    Row {
        option: "lock-memory-clocks-deferred",
        read: |_, _| Err(out_of_reach("a deferred memory clock")),
        ..ROW
    },
    Row {
        option: "reset-memory-clocks-deferred",
        read: |_, _| Err(out_of_reach("a deferred memory clock")),
        ..ROW
    },
    Row {
        option: "applications-clocks",
        read: |clocks, _| asked::applications_clocks(clocks.text()),
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
    },
    Row {
        option: "reset-applications-clocks",
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
    },
    Row {
        option: "applications-clocks-permission",
        read: |_, _| {
            Err(obsolete(
                "Warning: This option is deprecated and will be removed in future releases",
            ))
        },
        ..ROW
    },
    Row {
        option: "cuda-clocks",
        read: |mode, _| match mode.bits() {
            0 | 1 => Err(out_of_reach("the CUDA clocks")),
            _ => Err(Refusal::of_value(
                "Input should be 0 or 1. See nvidia-smi -h.".to_owned(),
            )),
        },
        ..ROW
    },
    Row {
        option: "auto-boost-default",
        read: |mode, _| Ok(asked::auto_boost(mode)),
        range: |_, name, asked| valid_switch(name, asked, AUTO_BOOST_FAILED),
        set: |gpu, asked| gpu.set_default_auto_boost(asked.numbers[0]),
        failed: AUTO_BOOST_FAILED,
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
    },
    Row {
        option: "auto-boost-permission",
        read: |mode, _| Ok(Asked::word(mode.bits(), word(RESTRICTIONS, mode.bits()))),
        range: |_, name, asked| valid_switch(name, asked, PERMISSION_FAILED),
        set: |gpu, asked| gpu.restrict_auto_boost(asked.numbers[0]),
        failed: PERMISSION_FAILED,
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
    },
];

fn megahertz(gpu: &Gpu, clock: Clock) -> Reading<String> {
    gpu.clock(clock).map(|clock| format!("{clock} MHz"))
}

/// Refuses a mode that is neither 0 nor 1 as NVML would refuse it.
fn valid_switch(name: &str, asked: &Asked, failed: &str) -> Result<(), Refusal> {
    let why = [("why", Missing::INVALID_ARGUMENT.words())];
    if asked.numbers[0] > 1 {
        return Err(Refusal::of_value(fill(failed, name, asked, &why)));
    }
    Ok(())
}
