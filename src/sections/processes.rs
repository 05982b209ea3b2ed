//! Processes: those that run, and those that the driver keeps accounts of.

use super::row::{Empty, List, Row, group, line, list, number};
use crate::facts::processes::{self, Account};
use crate::facts::{Context, modes};
use crate::nvml::{Missing, Reading, Running};
use crate::render::document::Look;
use crate::value::Unit::{Mebibytes, Milliseconds, Percent};
use crate::value::Value;

/// A running process and its name, or why a list of them cannot be read.
struct Process {
    running: Reading<Running>,
    name: Reading<String>,
}

pub const PROCESSES: &[Row<()>] = &[list("Processes", "processes", &RUNNING).look(Look::Narrow)];

const RUNNING: List<(), Process> = List {
    items: |context| {
        let running = context.gpu.processes()?;
        Ok(running
            .into_iter()
            .map(|running| Process {
                running,
                name: running.and_then(|it| context.driver.process_name(it.context.pid)),
            })
            // It has ended since, or it is not of this container.
            .filter(|process| process.name != Err(Missing::NOT_FOUND))
            .collect())
    },
    empty: Empty::Word("None"),
    row: group(
        "",
        "process_info",
        &[
            line("GPU instance ID", "gpu_instance_id", |context| {
                let instance = context.item.running?.context.gpu_instance;
                instance.map(Value::from).ok_or(Missing::NotSupported)
            }),
            line("Compute instance ID", "compute_instance_id", |context| {
                let instance = context.item.running?.context.compute_instance;
                instance.map(Value::from).ok_or(Missing::NotSupported)
            }),
            line("Process ID", "pid", |context| {
                Ok(context.item.running?.context.pid.into())
            }),
            line("    Type", "type", |context| {
                Ok(Value::word(context.item.running?.kind()))
            }),
            line("    Name", "process_name", |context| {
                context.item.name.clone().map(Value::from)
            }),
            number("    Used GPU Memory", "", Mebibytes, used_memory_or_words),
            number("", "used_memory", Mebibytes, used_memory),
        ],
    ),
};

/// Where NVML does not know it, as on Windows, text says so in words.
fn used_memory_or_words(context: &Context<Process>) -> Reading<Value> {
    match used_memory(context) {
        Err(Missing::NotSupported) if context.item.running.is_ok() => {
            Ok(Value::word("Not available in WDDM driver model"))
        }
        memory => memory,
    }
}

fn used_memory(context: &Context<Process>) -> Reading<Value> {
    processes::memory(context.item.running?.context.memory)
}

pub const ACCOUNTING: &[Row<()>] = &[
    line("Accounting Mode", "accounting_mode", modes::accounting),
    line(
        "Accounting Mode Buffer Size",
        "accounting_mode_buffer_size",
        modes::accounting_buffer_size,
    ),
];

pub const ACCOUNTED: &[Row<()>] = &[list(
    "Accounted Processes",
    "accounted_processes",
    &List {
        items: |context: &Context<()>| {
            let accounts = context.gpu.accounted()?;
            let accounts = accounts.into_iter();
            Ok(accounts
                .map(|(pid, stats)| Account {
                    pid: Ok(pid),
                    stats,
                })
                .collect())
        },
        empty: Empty::Word("None"),
        row: ACCOUNT,
    },
)];

const ACCOUNT: Row<Account> = group(
    "",
    "accounted_process_info",
    &[
        line("Process ID", "pid", processes::account_pid),
        number(
            "    GPU Utilization",
            "gpu_util",
            Percent,
            processes::account_gpu,
        ),
        number(
            "    Memory Utilization",
            "memory_util",
            Percent,
            processes::account_memory,
        ),
        number(
            "    Max memory usage",
            "max_memory_usage",
            Mebibytes,
            processes::account_most_memory,
        ),
        number("    Time", "time", Milliseconds, processes::account_time),
        line("    Is Running", "is_running", processes::account_running),
    ],
);
