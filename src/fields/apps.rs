//! `--query-compute-apps` and `--query-accounted-apps`.

use super::common::Identity;
use super::{Group, Table, field};
use crate::facts::processes::{self, Account};
use crate::nvml::Reading;
use crate::value::{Unit, Value};

/// A process with a context on a GPU, or why the list of them cannot be read.
pub struct Process {
    /// Its id on the host.
    pub pid: Reading<u32>,
    /// Bytes of the GPU's memory that it holds.
    pub memory: Reading<u64>,
}

impl Identity for Process {}
impl Identity for Account {}

/// The fields of `--query-compute-apps`.
pub const COMPUTE_APPS: &Table<Process> = &[&Process::IDENTITY, &PROCESS];

const PROCESS: Group<Process> = Group {
    about: "Processes with a compute context on the GPU",
    fields: &[
        field(&["pid"], Unit::None, "Process id.", |context| {
            context.item.pid.map(Value::from)
        }),
        field(
            &["process_name", "name"],
            Unit::None,
            "What the process was started as; a comma in it shows as ?.",
            // Scripts split lines on ", ": the real tool takes commas out of names too.
            |context| {
                let name = context.driver.process_name(context.item.pid?)?;
                Ok(name.replace(',', "?").into())
            },
        ),
        field(
            &["used_gpu_memory", "used_memory"],
            Unit::Mebibytes,
            "GPU memory that the process holds.",
            |context| processes::memory(context.item.memory),
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
            |context| context.item.pid.map(|_| Value::word("N/A")),
        ),
        field(&["pid"], Unit::None, "Process id.", processes::account_pid),
        field(
            &["gpu_utilization", "gpu_util"],
            Unit::Percent,
            "Share of the process's life in which kernels ran.",
            processes::account_gpu,
        ),
        field(
            &["mem_utilization", "mem_util"],
            Unit::Percent,
            "Share of the process's life in which memory was read or written.",
            processes::account_memory,
        ),
        field(
            &["max_memory_usage"],
            Unit::Mebibytes,
            "Most GPU memory that the process held at once.",
            processes::account_most_memory,
        ),
        field(
            &["time"],
            Unit::Milliseconds,
            "How long the process had a context; 0 while it still has.",
            processes::account_time,
        ),
    ],
};
