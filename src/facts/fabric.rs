//! The NVLink fabric that the GPU is part of.

use super::words::{word, word_or};
use super::{Context, facts};
use crate::nvml::{Fabric, Missing, Reading};
use crate::value::{Value, uuid};

const NOT_AVAILABLE: Value = Value::word("N/A");

/// `NVML_GPU_FABRIC_STATE_*`.
const STATES: &[&str] = &["N/A", "Not Started", "In Progress", "Completed"];
const COMPLETED: u32 = 3;

/// `NVML_GPU_FABRIC_HEALTH_SUMMARY_*`.
const SUMMARIES: &[&str] = &["N/A", "Healthy", "Unhealthy", "Limited Capacity"];

/// `NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_*`.
const MISCONFIGURATIONS: &[&str] = &[
    "N/A",
    "None",
    "Incorrect SysGuid",
    "Incorrect Chassis Serial Number",
    "No Partition",
    "Insufficient Nvlinks",
];

const TRUE_OR_FALSE: [&str; 2] = ["True", "False"];

facts! {
    /// How far the registration is.
    state(context) = word(context.gpu.fabric()?.state, STATES);
    /// How the registration ended.
    status(context) = registered(context, |fabric| {
        Ok(Value::word(match fabric.status {
            0 => "Success",
            code => Missing::from_code(code).words(),
        }))
    });
    /// Clique within the cluster.
    clique_id(context) = registered(context, |fabric| Ok(fabric.clique_id.into()));
    /// UUID of the cluster.
    cluster_uuid(context) = registered(context, |fabric| Ok(uuid(fabric.cluster_uuid).into()));
    /// Health in one word.
    health(context) = registered(context, |fabric| {
        Ok(word_or(fabric.health_summary.into(), SUMMARIES, "N/A"))
    });
    /// Whether the bandwidth is full or degraded.
    bandwidth(context) = flag(context, 0, ["Degraded", "Full"]);
    /// Whether a route is being repaired.
    route_recovery(context) = flag(context, 2, TRUE_OR_FALSE);
    /// Whether a route is broken.
    route_unhealthy(context) = flag(context, 4, TRUE_OR_FALSE);
    /// Whether accesses that timed out are being repaired.
    access_timeout_recovery(context) = flag(context, 6, TRUE_OR_FALSE);
    /// What is wrong with the configuration.
    misconfiguration(context) =
        registered(context, |fabric| {
            Ok(word_or(fabric.health_mask >> 8 & 15, MISCONFIGURATIONS, "N/A"))
        });
    /// NVML has no such flag; the real tool answers N/A on every board seen.
    partition_assigned(context) = context.gpu.fabric().map(|_| NOT_AVAILABLE);
}

/// A fact that only a registered GPU has.
fn registered<T>(
    context: &Context<T>,
    fact: impl FnOnce(Fabric) -> Reading<Value>,
) -> Reading<Value> {
    let fabric = context.gpu.fabric()?;
    if fabric.state != COMPLETED {
        return Ok(NOT_AVAILABLE);
    }
    fact(fabric)
}

/// One of the health mask's flags: 0 not reported, 1 true, 2 false.
fn flag<T>(context: &Context<T>, shift: u32, words: [&'static str; 2]) -> Reading<Value> {
    registered(context, |fabric| {
        Ok(match fabric.health_mask >> shift & 3 {
            1 => Value::word(words[0]),
            2 => Value::word(words[1]),
            _ => NOT_AVAILABLE,
        })
    })
}
