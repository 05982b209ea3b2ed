//! The NVLink fabric that the GPU is part of.

use super::row::{Row, group, line};
use crate::facts::fabric;

pub const FABRIC: &[Row<()>] = &[group(
    "Fabric",
    "fabric",
    &[
        line("State", "state", fabric::state),
        line("Status", "status", fabric::status),
        line("CliqueId", "cliqueId", fabric::clique_id),
        line("ClusterUUID", "clusterUuid", fabric::cluster_uuid),
        group("Health", "health", HEALTH),
    ],
)];

const HEALTH: &[Row<()>] = &[
    line("Summary", "summary", fabric::health),
    line("Bandwidth", "bandwidth", fabric::bandwidth),
    line(
        "Route Recovery in progress",
        "route_recovery_in_progress",
        fabric::route_recovery,
    ),
    line(
        "Route Unhealthy",
        "route_unhealthy",
        fabric::route_unhealthy,
    ),
    line(
        "Access Timeout Recovery",
        "access_timeout_recovery",
        fabric::access_timeout_recovery,
    ),
    line(
        "Incorrect Configuration",
        "incorrect_configuration",
        fabric::misconfiguration,
    ),
    line(
        "Partition Assigned",
        "partition_assigned",
        fabric::partition_assigned,
    ),
];
