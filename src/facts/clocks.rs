//! Performance state, clocks in MHz, and why they are not higher.

use super::words::{self, word_or};
use super::{Context, facts};
use crate::nvml::{Clock, Missing, Reading};
use crate::value::{Value, active};

facts! {
    /// Performance state, P0 (fastest) to P15.
    performance_state(context) =
        Ok(word_or(context.gpu.performance_state()?, words::PERFORMANCE_STATES, "Unknown"));
    /// Graphics clock.
    graphics(context) = context.gpu.clock(Clock::Graphics);
    /// Clock of the streaming multiprocessors.
    sm(context) = context.gpu.clock(Clock::SM);
    /// Memory clock.
    memory(context) = context.gpu.clock(Clock::Memory);
    /// Clock of video encoders and decoders.
    video(context) = context.gpu.clock(Clock::Video);
    /// Graphics clock that was set for applications.
    application_graphics(context) = context.gpu.application_clock(Clock::Graphics);
    /// Memory clock that was set for applications.
    application_memory(context) = context.gpu.application_clock(Clock::Memory);
    /// Graphics clock for applications by default.
    default_application_graphics(context) = context.gpu.default_application_clock(Clock::Graphics);
    /// Memory clock for applications by default.
    default_application_memory(context) = context.gpu.default_application_clock(Clock::Memory);
    /// Highest graphics clock.
    max_graphics(context) = context.gpu.max_clock(Clock::Graphics);
    /// Highest clock of the streaming multiprocessors.
    max_sm(context) = context.gpu.max_clock(Clock::SM);
    /// Highest memory clock.
    max_memory(context) = context.gpu.max_clock(Clock::Memory);
    /// Highest clock of video encoders and decoders.
    max_video(context) = context.gpu.max_clock(Clock::Video);
    /// Highest graphics clock that a user can set.
    max_customer_boost(context) = context.gpu.max_customer_boost();
    /// NVML has no question for clocks that are set with a delay.
    deferred_memory(_context) = Err::<Value, _>(Missing::NotSupported);
    /// Whether clocks are boosted.
    auto_boost(context) = context.gpu.auto_boost().map(|(now, _)| on(now));
    /// Whether they are by default.
    default_auto_boost(context) = context.gpu.auto_boost().map(|(_, default)| on(default));
    /// NVML has no question for it.
    sparse_operation_mode(context) = context.reachable().and(Err::<Value, _>(Missing::NotSupported));

    /// The bits of the reasons that this GPU can report.
    supported_reasons(context) =
        context.gpu.supported_clocks_reasons().map(|bits| Value::Hex(bits, 16));
    /// The bits of the reasons that hold the clocks down now.
    active_reasons(context) = context.gpu.clocks_reasons().map(|bits| Value::Hex(bits, 16));
    /// Nothing runs on the GPU.
    idle(context) = reason(context, 0x1);
    /// Application clocks were set.
    application_clocks_setting(context) = reason(context, 0x2);
    /// The power limit is reached.
    sw_power_cap(context) = reason(context, 0x4);
    /// The hardware halves the clocks, or worse.
    hw_slowdown(context) = reason(context, 0x8);
    /// The GPU keeps step with its sync boost group.
    sync_boost(context) = reason(context, 0x10);
    /// The driver slows the GPU down because of heat.
    sw_thermal_slowdown(context) = reason(context, 0x20);
    /// The hardware slows the GPU down because of heat.
    hw_thermal_slowdown(context) = reason(context, 0x40);
    /// The hardware slows the GPU down because the power supply asks for it.
    hw_power_brake_slowdown(context) = reason(context, 0x80);
    /// The display asks for fixed clocks.
    display_clocks_setting(context) = reason(context, 0x100);

    /// Microseconds that the power limit has held the clocks down.
    sw_power_cap_time(context) = reason_time(context, 0);
    /// Microseconds that the sync boost group has.
    sync_boost_time(context) = reason_time(context, 1);
    /// Microseconds that the driver has because of heat.
    sw_thermal_slowdown_time(context) = reason_time(context, 2);
    /// Microseconds that the hardware has because of heat.
    hw_thermal_slowdown_time(context) = reason_time(context, 3);
    /// Microseconds that the hardware has because of the power supply.
    hw_power_brake_time(context) = reason_time(context, 4);
}

fn on(boosted: bool) -> Value {
    Value::word(if boosted { "On" } else { "Off" })
}

/// Whether one of `NVML_CLOCKS_EVENT_REASON_*` holds the clocks down.
fn reason<T>(context: &Context<T>, bit: u64) -> Reading<Value> {
    if context.gpu.supported_clocks_reasons()? & bit == 0 {
        return Err(Missing::NotSupported);
    }
    context
        .gpu
        .clocks_reasons()
        .map(|now| active(now & bit != 0))
}

fn reason_time<T>(context: &Context<T>, which: usize) -> Reading<Value> {
    let nanoseconds = context.gpu.clocks_reason_times()?[which]?;
    Ok(Value::microseconds(nanoseconds.cast_unsigned()))
}
