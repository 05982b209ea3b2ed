//! `--query-compute-apps` and `--query-accounted-apps`.

use super::common::Identity;
use super::{Group, Row, Table, field};
use crate::nvml::{Accounted, Missing, Reading};
use crate::value::{Unit, Value, whole_mebibytes};

/// A process with a context on a GPU, or why the list of them cannot be read.
pub struct Process {
    /// Its id on the host.
    pub pid: Reading<u32>,
    /// Bytes of the GPU's memory that it holds.
    pub memory: Reading<u64>,
}

/// A process that accounting mode has kept count of; without a pid, why the
/// list of them cannot be read.
pub struct Account {
    /// Its id on the host.
    pub pid: Reading<u32>,
    /// What it did.
    pub stats: Reading<Accounted>,
}

impl Identity for Process {}
impl Identity for Account {}

/// The fields of `--query-compute-apps`.
pub const COMPUTE_APPS: &Table<Process> = &[&Process::IDENTITY, &PROCESS];

const PROCESS: Group<Process> = Group {
    about: "Processes with a compute context on the GPU",
    fields: &[
        field(&["pid"], Unit::None, "Process id.", |row| {
            row.item.pid.map(Value::from)
        }),
        field(
            &["process_name", "name"],
            Unit::None,
            "What the process was started as; a comma in it shows as ?.",
            // Scripts split lines on ", ": the real tool takes commas out of names too.
            |row| {
                let name = row.driver.process_name(row.item.pid?)?;
                Ok(name.replace(',', "?").into())
            },
        ),
        field(
            &["used_gpu_memory", "used_memory"],
            Unit::Mebibytes,
            "GPU memory that the process holds.",
            |row| row.item.memory.map(|bytes| whole_mebibytes(bytes).into()),
        ),
    ],
};

/// The fields of `--query-accounted-apps`.
pub const ACCOUNTED_APPS: &Table<Account> = &[&Account::IDENTITY, &ACCOUNTED];

const ACCOUNTED: Group<Account> = Group {
    about: "Processes that accounting mode has kept count of, ended ones included",
    fields: &[
        field(
            &["vgpu_instance"],
            Unit::None,
            "The vGPU that the process ran on; N/A outside vGPU hosts.",
            |row| row.item.pid.map(|_| Value::word("N/A")),
        ),
        field(&["pid"], Unit::None, "Process id.", |row| {
            row.item.pid.map(Value::from)
        }),
        field(
            &["gpu_utilization", "gpu_util"],
            Unit::Percent,
            "Share of the process's life in which kernels ran.",
            |row| known(row, |process| process.gpu),
        ),
        field(
            &["mem_utilization", "mem_util"],
            Unit::Percent,
            "Share of the process's life in which memory was read or written.",
            |row| known(row, |process| process.memory),
        ),
        field(
            &["max_memory_usage"],
            Unit::Mebibytes,
            "Most GPU memory that the process held at once.",
            |row| {
                row.item
                    .stats?
                    .most_memory
                    .map(Value::mebibytes)
                    .ok_or(Missing::NotSupported)
            },
        ),
        field(
            &["time"],
            Unit::Milliseconds,
            "How long the process had a context; 0 while it still has.",
            |row| row.item.stats.map(|process| process.time.into()),
        ),
    ],
};

fn known(row: &Row<Account>, percent: fn(Accounted) -> Option<u32>) -> Reading<Value> {
    percent(row.item.stats?)
        .map(Value::from)
        .ok_or(Missing::NotSupported)
}
