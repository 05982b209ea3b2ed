//! The GPU's memory, mebibytes.

use super::facts;
use crate::nvml::Missing;
use crate::value::{Value, enabled, whole_mebibytes};

facts! {
    /// All of it.
    total(context) = context.gpu.memory().map(|memory| Value::mebibytes(memory.total));
    /// Kept by the driver and the firmware.
    reserved(context) = context
        .gpu
        .memory()?
        .reserved
        .map(Value::mebibytes)
        .ok_or(Missing::FUNCTION_NOT_FOUND);
    /// Allocated.
    used(context) = context.gpu.memory().map(|memory| Value::mebibytes(memory.used));
    /// Free.
    free(context) = context.gpu.memory().map(|memory| Value::mebibytes(memory.free));
    /// What the CPU can map (BAR1), whole mebibytes.
    bar1_total(context) = context.gpu.bar1().map(|bar1| whole_mebibytes(bar1.bar1Total));
    /// Mapped.
    bar1_used(context) = context.gpu.bar1().map(|bar1| whole_mebibytes(bar1.bar1Used));
    /// The difference of the two whole numbers, as nvidia-smi has it.
    bar1_free(context) = context.gpu.bar1().map(|bar1| {
        whole_mebibytes(bar1.bar1Total).saturating_sub(whole_mebibytes(bar1.bar1Used))
    });
    /// Memory that confidential computing protects.
    protected_total(context) =
        context.gpu.protected_memory().map(|memory| Value::mebibytes(memory.total));
    /// Protected memory that is allocated.
    protected_used(context) =
        context.gpu.protected_memory().map(|memory| Value::mebibytes(memory.used));
    /// Protected memory that is free.
    protected_free(context) =
        context.gpu.protected_memory().map(|memory| Value::mebibytes(memory.free));
    /// Whether the memory is encrypted.
    encryption(context) = context.gpu.dram_encryption().map(|(current, _)| enabled(current));
    /// Whether it will be after the next reset.
    pending_encryption(context) =
        context.gpu.dram_encryption().map(|(_, pending)| enabled(pending));
}
