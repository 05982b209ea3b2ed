//! The NVLink fabric that the GPU is part of.

use super::row::{Asked, Row, group, line};
use super::words::word;
use crate::nvml::{Fabric, Missing, Reading};
use crate::value::{Value, uuid};

const NOT_AVAILABLE: Value = Value::word("N/A");
const NOT_SUPPORTED: u32 = 0;
const COMPLETED: u32 = 3;

/// A fact that only a registered GPU has.
fn registered(asked: &Asked<()>, fact: impl Fn(Fabric) -> Reading<Value>) -> Reading<Value> {
    let fabric = asked.gpu.fabric()?;
    match fabric.state {
        COMPLETED => fact(fabric),
        _ => Ok(NOT_AVAILABLE),
    }
}

/// One of the health mask's flags: 0 not reported, 1 true, 2 false.
fn health(asked: &Asked<()>, shift: u32, words: [&'static str; 2]) -> Reading<Value> {
    registered(asked, |fabric| {
        Ok(match fabric.health_mask >> shift & 3 {
            1 => Value::word(words[0]),
            2 => Value::word(words[1]),
            _ => NOT_AVAILABLE,
        })
    })
}

pub const FABRIC: &[Row<()>] = &[group(
    "Fabric",
    "fabric",
    &[
        line("State", "state", |asked| match asked.gpu.fabric()?.state {
            NOT_SUPPORTED => Ok(NOT_AVAILABLE),
            state => word(state, &["N/A", "Not Started", "In Progress", "Completed"]),
        }),
        line("Status", "status", |asked| {
            registered(asked, |fabric| {
                Ok(match fabric.status {
                    0 => Value::word("Success"),
                    code => Value::word(Missing::from_code(code).words()),
                })
            })
        }),
        line("CliqueId", "cliqueId", |asked| {
            registered(asked, |fabric| Ok(fabric.clique_id.into()))
        }),
        line("ClusterUUID", "clusterUuid", |asked| {
            registered(asked, |fabric| Ok(uuid(fabric.cluster_uuid).into()))
        }),
        group("Health", "health", HEALTH),
    ],
)];

const HEALTH: &[Row<()>] = &[
    line("Summary", "summary", |asked| {
        registered(asked, |fabric| {
            word(
                fabric.health_summary.into(),
                &["N/A", "Healthy", "Unhealthy", "Limited Capacity"],
            )
        })
    }),
    line("Bandwidth", "bandwidth", |asked| {
        health(asked, 0, ["Degraded", "Full"])
    }),
    line(
        "Route Recovery in progress",
        "route_recovery_in_progress",
        |asked| health(asked, 2, ["True", "False"]),
    ),
    line("Route Unhealthy", "route_unhealthy", |asked| {
        health(asked, 4, ["True", "False"])
    }),
    line(
        "Access Timeout Recovery",
        "access_timeout_recovery",
        |asked| health(asked, 6, ["True", "False"]),
    ),
    line(
        "Incorrect Configuration",
        "incorrect_configuration",
        |asked| {
            registered(asked, |fabric| {
                word(fabric.health_mask >> 8 & 15, MISCONFIGURATIONS)
            })
        },
    ),
    // NVML has no such flag; the real tool answers so on every board seen.
    line("Partition Assigned", "partition_assigned", |asked| {
        asked.gpu.fabric().map(|_| NOT_AVAILABLE)
    }),
];

/// `NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_*`.
const MISCONFIGURATIONS: &[&str] = &[
    "N/A",
    "None",
    "Incorrect SysGuid",
    "Incorrect Chassis Serial Number",
    "No Partition",
    "Insufficient Nvlinks",
];
