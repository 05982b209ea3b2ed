//! How the GPU is set up, now and after the next reset or boot.

use super::facts;
use super::words::{self, word, word_or};
use crate::nvml::Missing;
use crate::value::{Value, enabled, yes};

facts! {
    /// NVML no longer answers this; R580 says so without asking.
    display_mode(_context) = Err::<Value, _>(Missing::DEPRECATED);
    /// Whether a display can be attached.
    display_attached(context) = context.gpu.display_connected().map(yes);
    /// Whether the GPU drives a display.
    display_active(context) = context.gpu.display_active().map(enabled);
    /// Whether the driver keeps the GPU ready when nobody uses it.
    persistence(context) = context.gpu.persistence().map(enabled);
    /// How the GPU reaches system memory.
    addressing(context) =
        Ok(word_or(context.gpu.addressing_mode()?, words::ADDRESSING_MODES, "Unknown"));
    /// Whether the driver keeps account of processes.
    accounting(context) = context.gpu.accounting().map(enabled);
    /// Of how many processes it can.
    accounting_buffer_size(context) = context.gpu.accounting_buffer_size();
    /// Windows driver model.
    driver_model(context) = word(context.gpu.driver_models()?.0, words::DRIVER_MODELS);
    /// Windows driver model after the next boot.
    pending_driver_model(context) = word(context.gpu.driver_models()?.1, words::DRIVER_MODELS);
    /// GPU operation mode.
    operation(context) = word(context.gpu.operation_modes()?.0, words::OPERATION_MODES);
    /// GPU operation mode after the next boot.
    pending_operation(context) = word(context.gpu.operation_modes()?.1, words::OPERATION_MODES);
    /// How many processes may compute on the GPU at once.
    compute(context) = word(context.gpu.compute_mode()?, words::COMPUTE_MODES);
    /// Whether the chip-to-chip link is on.
    c2c(context) = context.gpu.c2c().map(enabled);
    /// Whether the GPU's system processor runs its firmware.
    gsp(context) = context.gpu.gsp().map(|(on, _)| enabled(on));
    /// Whether it does by default.
    default_gsp(context) = context.gpu.gsp().map(|(_, default)| enabled(default));
    /// Whether the GPU can be cut into MIG devices.
    mig(context) = context.gpu.mig().map(|(current, _)| enabled(current));
    /// Whether it can be after the next reset.
    pending_mig(context) = context.gpu.mig().map(|(_, pending)| enabled(pending));
    /// How the GPU is shared with virtual machines.
    virtualization(context) =
        word(context.gpu.virtualization_mode()?, words::VIRTUALIZATION_MODES);
    /// How a host of vGPUs shares it.
    host_vgpu(context) = word(context.gpu.host_vgpu_mode()?, words::HOST_VGPU_MODES);
    /// Whether vGPUs of different types can run on it at once.
    heterogeneous_vgpus(context) = context.gpu.heterogeneous_vgpus().map(enabled);
}
