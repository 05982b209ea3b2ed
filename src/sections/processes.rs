//! Processes: those that run, and those that the driver keeps accounts of.

use super::row::{Asked, Empty, Form, List, Row, group, line, list, number};
use crate::document::Look;
use crate::nvml::{Accounted, Missing, Reading, Running};
use crate::value::Unit::{Mebibytes, Milliseconds, Percent};
use crate::value::{Value, enabled, whole_mebibytes};

/// A running process and its name, or why a list of them cannot be read.
struct Process {
    running: Reading<Running>,
    name: Reading<String>,
}

pub const PROCESSES: &[Row<()>] = &[list("Processes", "processes", &RUNNING).look(Look::Narrow)];

const RUNNING: List<(), Process> = List {
    items: |asked| {
        let running = asked.gpu.processes()?;
        Ok(running
            .into_iter()
            .map(|running| Process {
                running,
                name: running.and_then(|it| asked.driver.process_name(it.context.pid)),
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
            line("GPU instance ID", "gpu_instance_id", |asked| {
                let instance = asked.item.running?.context.gpu_instance;
                instance.map(Value::from).ok_or(Missing::NotSupported)
            }),
            line("Compute instance ID", "compute_instance_id", |asked| {
                let instance = asked.item.running?.context.compute_instance;
                instance.map(Value::from).ok_or(Missing::NotSupported)
            }),
            line("Process ID", "pid", |asked| {
                Ok(asked.item.running?.context.pid.into())
            }),
            line("    Type", "type", |asked| {
                Ok(Value::word(asked.item.running?.kind()))
            }),
            line("    Name", "process_name", |asked| {
                asked.item.name.clone().map(Value::from)
            }),
            number("    Used GPU Memory", "used_memory", Mebibytes, used_memory),
        ],
    ),
};

fn used_memory(asked: &Asked<Process>) -> Reading<Value> {
    match (asked.item.running?.context.memory, asked.form) {
        (Err(Missing::NotSupported), Form::Text) => {
            Ok(Value::word("Not available in WDDM driver model"))
        }
        (memory, _) => memory.map(|bytes| whole_mebibytes(bytes).into()),
    }
}

/// A process that the driver keeps account of.
struct Account {
    pid: u32,
    stats: Reading<Accounted>,
}

pub const ACCOUNTING: &[Row<()>] = &[
    line("Accounting Mode", "accounting_mode", |asked| {
        asked.gpu.accounting().map(enabled)
    }),
    line(
        "Accounting Mode Buffer Size",
        "accounting_mode_buffer_size",
        |asked| asked.gpu.accounting_buffer_size().map(Value::from),
    ),
];

pub const ACCOUNTED: &[Row<()>] = &[list(
    "Accounted Processes",
    "accounted_processes",
    &List {
        items: |asked: &Asked<()>| {
            let accounts = asked.gpu.accounted()?;
            let accounts = accounts.into_iter();
            Ok(accounts
                .map(|(pid, stats)| Account { pid, stats })
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
        line("Process ID", "pid", |asked| Ok(asked.item.pid.into())),
        number("    GPU Utilization", "gpu_util", Percent, |asked| {
            known(asked.item.stats?.gpu)
        }),
        number("    Memory Utilization", "memory_util", Percent, |asked| {
            known(asked.item.stats?.memory)
        }),
        number(
            "    Max memory usage",
            "max_memory_usage",
            Mebibytes,
            |asked| {
                let most = asked.item.stats?.most_memory;
                most.map(Value::mebibytes).ok_or(Missing::NotSupported)
            },
        ),
        number("    Time", "time", Milliseconds, |asked| {
            Ok(asked.item.stats?.time.into())
        }),
        line("    Is Running", "is_running", |asked| {
            Ok(u32::from(asked.item.stats?.running).into())
        }),
    ],
);

fn known(percent: Option<u32>) -> Reading<Value> {
    percent.map(Value::from).ok_or(Missing::NotSupported)
}
