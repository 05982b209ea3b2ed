//! Fields that every query about a GPU's parts begins with.

use super::{Group, field};
use crate::facts::{board, pcie};
use crate::value::Unit;

/// The `gpu_...` fields for lines about `T`s.
pub trait Identity: Sized + 'static {
    /// Five fields: time, name, bus id, serial number, UUID.
    const IDENTITY: Group<Self> = Group {
        about: "",
        fields: &[
            field(
                &["timestamp"],
                Unit::None,
                "Local time of the query, YYYY/MM/DD HH:MM:SS.mmm.",
                board::timestamp,
            ),
            field(
                &["gpu_name"],
                Unit::None,
                "Product name of the GPU.",
                board::name,
            ),
            field(
                &["gpu_bus_id"],
                Unit::None,
                "PCI address of the GPU, domain:bus:device.function in hex.",
                pcie::bus_id,
            ),
            field(
                &["gpu_serial"],
                Unit::None,
                "Serial number printed on the GPU's board.",
                board::serial,
            ),
            field(
                &["gpu_uuid"],
                Unit::None,
                "UUID of the GPU, the same on every boot and in every slot.",
                board::uuid,
            ),
        ],
    };
}
