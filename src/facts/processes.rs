//! Processes on a GPU, those that run and those that the driver keeps account of.

use super::Context;
use crate::nvml::{Accounted, Missing, Reading};
use crate::value::{Value, whole_mebibytes};

/// A process that the driver keeps account of.
pub struct Account {
    /// Its id on the host, or why the processes cannot be listed.
    pub pid: Reading<u32>,
    /// What it did.
    pub stats: Reading<Accounted>,
}

/// Its id.
pub fn account_pid(context: &Context<Account>) -> Reading<Value> {
    context.item.pid.map(Value::from)
}

/// Percent of its life in which kernels ran.
pub fn account_gpu(context: &Context<Account>) -> Reading<Value> {
    known(context.item.stats?.gpu)
}

/// Percent of its life in which memory was read or written.
pub fn account_memory(context: &Context<Account>) -> Reading<Value> {
    known(context.item.stats?.memory)
}

/// The most GPU memory that it held, MiB.
pub fn account_most_memory(context: &Context<Account>) -> Reading<Value> {
    known(context.item.stats?.most_memory.map(Value::mebibytes))
}

/// How long it had a context, ms; 0 while it runs.
pub fn account_time(context: &Context<Account>) -> Reading<Value> {
    Ok(context.item.stats?.time.into())
}

/// 1 while it runs, then 0.
pub fn account_running(context: &Context<Account>) -> Reading<Value> {
    Ok(u32::from(context.item.stats?.running).into())
}

fn known(fact: Option<impl Into<Value>>) -> Reading<Value> {
    fact.map(Into::into).ok_or(Missing::NotSupported)
}

/// GPU memory of a process, whole MiB.
pub fn memory(bytes: Reading<u64>) -> Reading<Value> {
    bytes.map(|bytes| whole_mebibytes(bytes).into())
}
