//! How the GPU is cut up, and how it is connected to others.

use crate::facts::{board, fabric, memory, modes, platform};
use crate::fields::{Group, field};
use crate::value::Unit::{Mebibytes, None as Plain};

pub const MODES: Group<()> = Group {
    about: "MIG, the GSP firmware, C2C links, protected memory",
    fields: &[
        field(
            &["mig.mode.current"],
            Plain,
            "Whether the GPU can be cut into MIG instances.",
            modes::mig,
        ),
        field(
            &["mig.mode.pending"],
            Plain,
            "Whether it can be after the next reset.",
            modes::pending_mig,
        ),
        field(
            &["gsp.mode.current"],
            Plain,
            "Whether the GPU's system processor (GSP) runs its firmware.",
            modes::gsp,
        ),
        field(
            &["gsp.mode.default"],
            Plain,
            "Whether it does by default.",
            modes::default_gsp,
        ),
        field(
            &["c2c.mode"],
            Plain,
            "Whether the chip-to-chip link to the CPU is on.",
            modes::c2c,
        ),
        field(
            &["protected_memory.total"],
            Mebibytes,
            "Memory that confidential computing protects.",
            memory::protected_total,
        ),
        field(
            &["protected_memory.used"],
            Mebibytes,
            "Protected memory that is allocated.",
            memory::protected_used,
        ),
        field(
            &["protected_memory.free"],
            Mebibytes,
            "Protected memory that is free.",
            memory::protected_free,
        ),
    ],
};

pub const FABRIC: Group<()> = Group {
    about: "The NVLink fabric that the GPU is part of",
    fields: &[
        field(
            &["fabric.state"],
            Plain,
            "How far its registration is.",
            fabric::state,
        ),
        field(
            &["fabric.status"],
            Plain,
            "How the registration ended.",
            fabric::status,
        ),
        field(
            &["fabric.cliqueId"],
            Plain,
            "Clique within the cluster.",
            fabric::clique_id,
        ),
        field(
            &["fabric.clusterUuid"],
            Plain,
            "UUID of the cluster.",
            fabric::cluster_uuid,
        ),
        field(
            &["fabric.health.summary"],
            Plain,
            "Health in one word.",
            fabric::health,
        ),
        field(
            &["fabric.health.bandwidth"],
            Plain,
            "Whether the bandwidth is full or degraded.",
            fabric::bandwidth,
        ),
        field(
            &["fabric.health.route_recovery_in_progress"],
            Plain,
            "Whether a route is being mended.",
            fabric::route_recovery,
        ),
        field(
            &["fabric.health.route_unhealthy"],
            Plain,
            "Whether a route is broken.",
            fabric::route_unhealthy,
        ),
        field(
            &["fabric.health.access_timeout_recovery"],
            Plain,
            "Whether accesses that timed out are being mended.",
            fabric::access_timeout_recovery,
        ),
        field(
            &["fabric.health.incorrect_configuration"],
            Plain,
            "What is wrong with the configuration.",
            fabric::misconfiguration,
        ),
        // NVML has no such flag; the real tool answers so on every board seen.
        field(
            &["fabric.health.partition_assigned"],
            Plain,
            "Whether a partition is assigned.",
            fabric::partition_assigned,
        ),
    ],
};

pub const PLATFORM: Group<()> = Group {
    about: "Where the GPU sits in its rack",
    fields: &[
        field(
            &["platform.chassis_serial_number"],
            Plain,
            "Serial number of the chassis.",
            |context| platform::chassis_serial(context.gpu.platform()),
        ),
        field(
            &["platform.slot_number"],
            Plain,
            "Slot in the chassis.",
            |context| platform::slot(context.gpu.platform()),
        ),
        field(
            &["platform.tray_index"],
            Plain,
            "Tray in the slot.",
            |context| platform::tray(context.gpu.platform()),
        ),
        field(
            &["platform.host_id"],
            Plain,
            "Host in the tray.",
            |context| platform::host(context.gpu.platform()),
        ),
        field(
            &["platform.peer_type"],
            Plain,
            "How it reaches its peers.",
            |context| platform::peer_type(context.gpu.platform()),
        ),
        field(
            &["platform.module_id"],
            Plain,
            "Module on the base board.",
            board::module_id,
        ),
        field(
            &["platform.gpu_fabric_guid"],
            Plain,
            "GUID in the fabric, in hex.",
            |context| platform::fabric_guid(context.gpu.platform()),
        ),
        field(
            &["hostname"],
            Plain,
            "Name that an administrator gave the GPU.",
            board::hostname,
        ),
    ],
};
