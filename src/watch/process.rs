//! `pmon`: one line a process.

use super::{Column, Set, column};
use crate::nvml::{Missing, ProcessLoad, Reading};
use crate::render::scroll::{Heading, heading};
use crate::value::{Value, whole_mebibytes};

/// A process with a context on a GPU.
pub struct Process {
    /// Its id on the host.
    pub pid: u32,
    /// C for compute, G for graphics, M for compute through MPS.
    pub kind: &'static str,
    /// What it was started as.
    pub name: Reading<String>,
    /// Bytes of the GPU's memory that it holds.
    pub memory: Reading<u64>,
    /// Bytes of them that confidential computing protects.
    pub protected: Reading<u64>,
    /// How busy it kept the GPU since the last line.
    pub load: Reading<ProcessLoad>,
}

/// Above the first two columns: which process, and of what type. nvidia-smi sets
/// their values one character less to the right than their names.
pub const PROCESS_ID: &[Heading] = &[
    heading("        pid", "          #", 10),
    heading("  type", "   C/G", 5),
];

/// The columns between the type and the name, by the letter of `-s`.
pub const PROCESS: &[Set<Process>] = &[('u', UTILIZATION), ('m', MEMORY)];

const WIDTH: usize = 6;

const UTILIZATION: &[Column<Process>] = &[
    column("sm", "%", WIDTH, |context| {
        context.item.load.and_then(|load| computed(load, load.sm))
    }),
    column("mem", "%", WIDTH, |context| {
        context
            .item
            .load
            .and_then(|load| computed(load, load.memory))
    }),
    column("enc", "%", WIDTH, |context| {
        context.item.load.and_then(|load| used(load.encoder))
    }),
    column("dec", "%", WIDTH, |context| {
        context.item.load.and_then(|load| used(load.decoder))
    }),
    column("jpg", "%", WIDTH, |context| {
        let load = context.item.load?;
        load.jpeg.ok_or(Missing::NotSupported).and_then(used)
    }),
    column("ofa", "%", WIDTH, |context| {
        let load = context.item.load?;
        load.ofa.ok_or(Missing::NotSupported).and_then(used)
    }),
];

const MEMORY: &[Column<Process>] = &[
    column("fb", "MB", WIDTH, |context| {
        context
            .item
            .memory
            .map(|bytes| whole_mebibytes(bytes).into())
    }),
    column("ccpm", "MB", WIDTH, |context| {
        context
            .item
            .protected
            .map(|bytes| whole_mebibytes(bytes).into())
    }),
];

/// NVML's 0 stands for an engine that the process did not use, which the real
/// tool tells from one that it hardly used: it shows no number.
fn used(percent: u32) -> Reading<Value> {
    match percent {
        0 => Err(Missing::NO_DATA),
        percent => Ok(percent.into()),
    }
}

/// The multiprocessors and their memory are one engine: what hardly used the
/// one may have kept the other busy.
fn computed(load: ProcessLoad, percent: u32) -> Reading<Value> {
    used(load.sm.max(load.memory)).map(|_| percent.into())
}
