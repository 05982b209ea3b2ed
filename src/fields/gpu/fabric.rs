//! How the GPU is cut up, and how it is connected to others.

use super::board::word;
use crate::fields::{Group, Row, field};
use crate::nvml::{Fabric, Missing, Reading};
use crate::value::Unit::{Mebibytes, None as Plain};
use crate::value::{Value, enabled, guid, uuid};

pub const MODES: Group<()> = Group {
    about: "MIG, the GSP firmware, C2C links, protected memory",
    fields: &[
        field(
            &["mig.mode.current"],
            Plain,
            "Whether the GPU can be cut into MIG instances.",
            |row| row.gpu.mig().map(|(current, _)| enabled(current)),
        ),
        field(
            &["mig.mode.pending"],
            Plain,
            "Whether it can be after the next reset.",
            |row| row.gpu.mig().map(|(_, pending)| enabled(pending)),
        ),
        field(
            &["gsp.mode.current"],
            Plain,
            "Whether the GPU's system processor (GSP) runs its firmware.",
            |row| row.gpu.gsp().map(|(on, _)| enabled(on)),
        ),
        field(
            &["gsp.mode.default"],
            Plain,
            "Whether it does by default.",
            |row| row.gpu.gsp().map(|(_, default)| enabled(default)),
        ),
        field(
            &["c2c.mode"],
            Plain,
            "Whether the chip-to-chip link to the CPU is on.",
            |row| row.gpu.c2c().map(enabled),
        ),
        field(
            &["protected_memory.total"],
            Mebibytes,
            "Memory that confidential computing protects.",
            |row| {
                row.gpu
                    .protected_memory()
                    .map(|memory| Value::mebibytes(memory.total))
            },
        ),
        field(
            &["protected_memory.used"],
            Mebibytes,
            "Protected memory that is allocated.",
            |row| {
                row.gpu
                    .protected_memory()
                    .map(|memory| Value::mebibytes(memory.used))
            },
        ),
        field(
            &["protected_memory.free"],
            Mebibytes,
            "Protected memory that is free.",
            |row| {
                row.gpu
                    .protected_memory()
                    .map(|memory| Value::mebibytes(memory.free))
            },
        ),
    ],
};

const NOT_AVAILABLE: Value = Value::word("N/A");
const NOT_SUPPORTED: u32 = 0;
const COMPLETED: u32 = 3;

/// A fact that only a registered GPU has.
fn registered(row: &Row<()>, fact: impl FnOnce(Fabric) -> Reading<Value>) -> Reading<Value> {
    let fabric = row.gpu.fabric()?;
    match fabric.state {
        COMPLETED => fact(fabric),
        _ => Ok(NOT_AVAILABLE),
    }
}

/// One of the health mask's flags: 0 not reported, 1 true, 2 false.
fn health(row: &Row<()>, shift: u32, words: [&'static str; 2]) -> Reading<Value> {
    registered(row, |fabric| {
        Ok(match fabric.health_mask >> shift & 3 {
            1 => Value::word(words[0]),
            2 => Value::word(words[1]),
            _ => NOT_AVAILABLE,
        })
    })
}

pub const FABRIC: Group<()> = Group {
    about: "The NVLink fabric that the GPU is part of",
    fields: &[
        field(
            &["fabric.state"],
            Plain,
            "How far its registration is.",
            |row| match row.gpu.fabric()?.state {
                NOT_SUPPORTED => Ok(NOT_AVAILABLE),
                state => word(state, &["N/A", "Not Started", "In Progress", "Completed"]),
            },
        ),
        field(
            &["fabric.status"],
            Plain,
            "How the registration ended.",
            |row| {
                registered(row, |fabric| {
                    Ok(match fabric.status {
                        0 => Value::word("Success"),
                        code => Value::word(Missing::from_code(code).words()),
                    })
                })
            },
        ),
        field(
            &["fabric.cliqueId"],
            Plain,
            "Clique within the cluster.",
            |row| registered(row, |fabric| Ok(fabric.clique_id.into())),
        ),
        field(
            &["fabric.clusterUuid"],
            Plain,
            "UUID of the cluster.",
            |row| registered(row, |fabric| Ok(uuid(fabric.cluster_uuid).into())),
        ),
        field(
            &["fabric.health.summary"],
            Plain,
            "Health in one word.",
            |row| {
                registered(row, |fabric| {
                    word(
                        fabric.health_summary.into(),
                        &["N/A", "Healthy", "Unhealthy", "Limited Capacity"],
                    )
                })
            },
        ),
        field(
            &["fabric.health.bandwidth"],
            Plain,
            "Whether the bandwidth is full or degraded.",
            |row| health(row, 0, ["Degraded", "Full"]),
        ),
        field(
            &["fabric.health.route_recovery_in_progress"],
            Plain,
            "Whether a route is being mended.",
            |row| health(row, 2, ["True", "False"]),
        ),
        field(
            &["fabric.health.route_unhealthy"],
            Plain,
            "Whether a route is broken.",
            |row| health(row, 4, ["True", "False"]),
        ),
        field(
            &["fabric.health.access_timeout_recovery"],
            Plain,
            "Whether accesses that timed out are being mended.",
            |row| health(row, 6, ["True", "False"]),
        ),
        field(
            &["fabric.health.incorrect_configuration"],
            Plain,
            "What is wrong with the configuration.",
            |row| {
                registered(row, |fabric| {
                    word(fabric.health_mask >> 8 & 15, INCORRECT_CONFIGURATION)
                })
            },
        ),
        // NVML has no such flag; the real tool answers so on every board seen.
        field(
            &["fabric.health.partition_assigned"],
            Plain,
            "Whether a partition is assigned.",
            |row| row.gpu.fabric().map(|_| NOT_AVAILABLE),
        ),
    ],
};

const INCORRECT_CONFIGURATION: &[&str] = &[
    "N/A",
    "None",
    "Incorrect SysGuid",
    "Incorrect Chassis Serial Number",
    "No Partition",
    "Insufficient Nvlinks",
];

pub const PLATFORM: Group<()> = Group {
    about: "Where the GPU sits in its rack",
    fields: &[
        field(
            &["platform.chassis_serial_number"],
            Plain,
            "Serial number of the chassis.",
            |row| row.gpu.platform()?.chassis_serial.map(Value::from),
        ),
        field(
            &["platform.slot_number"],
            Plain,
            "Slot in the chassis.",
            |row| row.gpu.platform().map(|place| place.slot.into()),
        ),
        field(
            &["platform.tray_index"],
            Plain,
            "Tray in the slot.",
            |row| row.gpu.platform().map(|place| place.tray.into()),
        ),
        field(&["platform.host_id"], Plain, "Host in the tray.", |row| {
            row.gpu.platform().map(|place| place.host.into())
        }),
        field(
            &["platform.peer_type"],
            Plain,
            "How it reaches its peers.",
            |row| {
                word(
                    row.gpu.platform()?.peer_type.into(),
                    &["Direct Connected", "Switch Connected"],
                )
            },
        ),
        field(
            &["platform.module_id"],
            Plain,
            "Module on the base board.",
            |row| row.gpu.module_id().map(Value::from),
        ),
        field(
            &["platform.gpu_fabric_guid"],
            Plain,
            "GUID in the fabric, in hex.",
            |row| Ok(guid(row.gpu.platform()?.fabric_guid).into()),
        ),
        field(
            &["hostname"],
            Plain,
            "Name that an administrator gave the GPU.",
            |row| row.gpu.hostname().map(Value::from),
        ),
    ],
};
