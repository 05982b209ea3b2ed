//! Power, watts: of the GPU, of its memory, and of the module that it sits on.

use super::smoothing::real;
use super::words;
use super::{Context, facts};
use crate::nvml::{Missing, Reading};
use crate::value::{Value, enabled};

/// `NVML_FI_DEV_POWER_*`, milliwatts.
const AVERAGE: u32 = 185;
const INSTANT: u32 = 186;
const MIN_LIMIT: u32 = 187;
const MAX_LIMIT: u32 = 188;
const DEFAULT_LIMIT: u32 = 189;
const CURRENT_LIMIT: u32 = 190;
const REQUESTED_LIMIT: u32 = 192;

/// In milliwatts.
const WATT: i64 = 1000;

/// `NVML_POWER_SCOPE_*`.
const GPU: u32 = 0;
const MODULE: u32 = 1;
const MEMORY: u32 = 2;
const BASE: u32 = 3;

/// `NVML_FI_DEV_EDPP_MULTIPLIER`.
const EDPP_MULTIPLIER: u32 = 274;

/// The fields of power, which a report asks for at once.
pub const FIELDS: &[(u32, u32)] = &[
    (AVERAGE, GPU),
    (INSTANT, GPU),
    (CURRENT_LIMIT, GPU),
    (REQUESTED_LIMIT, GPU),
    (DEFAULT_LIMIT, GPU),
    (MIN_LIMIT, GPU),
    (MAX_LIMIT, GPU),
    (AVERAGE, MODULE),
    (INSTANT, MODULE),
    (CURRENT_LIMIT, MODULE),
    (REQUESTED_LIMIT, MODULE),
    (DEFAULT_LIMIT, MODULE),
    (MIN_LIMIT, MODULE),
    (MAX_LIMIT, MODULE),
    (AVERAGE, MEMORY),
    (INSTANT, MEMORY),
];

facts! {
    /// Whether the GPU manages its power.
    management(context) = context.gpu.power_management().map(enabled);
    /// Draw; averaged over a second since Ampere.
    draw(context) = context.gpu.power_usage().map(Value::watts);
    /// Draw, averaged over a second.
    average(context) = draw_in(context, AVERAGE, GPU);
    /// Draw at this instant.
    instant(context) = draw_in(context, INSTANT, GPU);
    /// Limit that was asked for.
    limit(context) = context.gpu.power_limit().map(Value::watts);
    /// Limit in force, the lowest of all.
    enforced_limit(context) = context.gpu.enforced_power_limit().map(Value::watts);
    /// Limit that the board starts with.
    default_limit(context) = context.gpu.default_power_limit().map(Value::watts);
    /// Lowest limit that can be asked for.
    min_limit(context) = context.gpu.power_limit_range().map(|(lowest, _)| Value::watts(lowest));
    /// Highest limit that can be asked for.
    max_limit(context) = context.gpu.power_limit_range().map(|(_, highest)| Value::watts(highest));

    /// As [`average`], also from drivers before R530.
    report_average(context) = reported(context, AVERAGE);
    /// As [`instant`], also from drivers before R530.
    report_instant(context) = reported(context, INSTANT);
    /// As [`enforced_limit`], from a field where there is one.
    report_current_limit(context) = reported(context, CURRENT_LIMIT);
    /// As [`limit`], from a field where there is one.
    report_requested_limit(context) = reported(context, REQUESTED_LIMIT);
    /// As [`default_limit`], from a field where there is one.
    report_default_limit(context) = reported(context, DEFAULT_LIMIT);
    /// As [`min_limit`], from a field where there is one.
    report_min_limit(context) = reported(context, MIN_LIMIT);
    /// As [`max_limit`], from a field where there is one.
    report_max_limit(context) = reported(context, MAX_LIMIT);

    /// Draw of the memory, averaged over a second.
    memory_average(context) = scoped(context, AVERAGE, MEMORY);
    /// Draw of the memory at this instant.
    memory_instant(context) = scoped(context, INSTANT, MEMORY);
    /// Draw of the module, averaged over a second.
    module_average(context) = draw_in(context, AVERAGE, MODULE);
    /// Draw of the module at this instant.
    module_instant(context) = draw_in(context, INSTANT, MODULE);
    /// Limit of the module in force.
    module_current_limit(context) = scoped(context, CURRENT_LIMIT, MODULE);
    /// Limit of the module that was asked for.
    module_requested_limit(context) = scoped(context, REQUESTED_LIMIT, MODULE);
    /// Limit that the module starts with.
    module_default_limit(context) = scoped(context, DEFAULT_LIMIT, MODULE);
    /// Lowest limit that the module can be given.
    module_min_limit(context) = scoped(context, MIN_LIMIT, MODULE);
    /// Highest limit that the module can be given.
    module_max_limit(context) = scoped(context, MAX_LIMIT, MODULE);

    /// Base power in force (R610).
    base_current(context) = since(scoped(context, CURRENT_LIMIT, BASE));
    /// Base power that was asked for.
    base_requested(context) = since(scoped(context, REQUESTED_LIMIT, BASE));
    /// Base power that the board starts with.
    base_default(context) = since(scoped(context, DEFAULT_LIMIT, BASE));
    /// Lowest base power that can be asked for.
    base_min(context) = since(scoped(context, MIN_LIMIT, BASE));
    /// Highest base power that can be asked for.
    base_max(context) = since(scoped(context, MAX_LIMIT, BASE));
    /// Highest peak power, percent of the limit (R590).
    edpp_multiplier(context) = since(context.gpu.field(EDPP_MULTIPLIER, GPU))
        .map(|percent| Value::Hundredths(real(percent)));
}

fn scoped<T>(context: &Context<T>, field: u32, scope: u32) -> Reading<Value> {
    let milliwatts = context.gpu.field_number(field, scope)?;
    Ok(Value::watts(milliwatts as f64))
}

/// What newer drivers tell: older ones do not know the field or its scope.
pub fn since<T>(reading: Reading<T>) -> Reading<T> {
    match reading {
        Err(Missing::INVALID_ARGUMENT) => Err(Missing::NotSupported),
        reading => reading,
    }
}

/// A draw; nvidia-smi has no less than a watt.
fn draw_in<T>(context: &Context<T>, field: u32, scope: u32) -> Reading<Value> {
    let milliwatts = context.gpu.field_number(field, scope)?;
    Ok(Value::watts(milliwatts.max(WATT) as f64))
}

/// A field of the GPU; a driver that does not know it is asked by a question of its own.
fn reported<T>(context: &Context<T>, field: u32) -> Reading<Value> {
    let watts = match field {
        AVERAGE | INSTANT => draw_in(context, field, GPU),
        _ => scoped(context, field, GPU),
    };
    match watts {
        Err(Missing::INVALID_ARGUMENT) => without_field(context, field).map(Value::watts),
        watts => watts,
    }
}

/// What the field is, from a driver before R530.
fn without_field<T>(context: &Context<T>, field: u32) -> Reading<u32> {
    let gpu = context.gpu;
    let averages = gpu.architecture()? >= words::AMPERE;
    match field {
        AVERAGE if averages => gpu.power_usage(),
        INSTANT if !averages => gpu.power_usage(),
        CURRENT_LIMIT => gpu.enforced_power_limit(),
        REQUESTED_LIMIT => gpu.power_limit(),
        DEFAULT_LIMIT => gpu.default_power_limit(),
        MIN_LIMIT => gpu.power_limit_range().map(|(lowest, _)| lowest),
        MAX_LIMIT => gpu.power_limit_range().map(|(_, highest)| highest),
        _ => Err(Missing::NotSupported),
    }
}
