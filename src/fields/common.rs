//! Fields that every query about a GPU's parts begins with.

use super::{Group, Row, field};
use crate::nvml::Reading;
use crate::value::{Unit, Value};

/// When the pass began, local time, to the millisecond.
pub fn timestamp<T>(row: &Row<T>) -> Reading<Value> {
    Ok(row
        .time
        .strftime("%Y/%m/%d %H:%M:%S%.3f")
        .to_string()
        .into())
}

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
                timestamp,
            ),
            field(
                &["gpu_name"],
                Unit::None,
                "Product name of the GPU.",
                |row| row.gpu.name().map(Value::from),
            ),
            field(
                &["gpu_bus_id"],
                Unit::None,
                "PCI address of the GPU, domain:bus:device.function in hex.",
                |row| row.gpu.pci().map(|pci| pci.bus_id.into()),
            ),
            field(
                &["gpu_serial"],
                Unit::None,
                "Serial number printed on the GPU's board.",
                |row| row.gpu.serial().map(Value::from),
            ),
            field(
                &["gpu_uuid"],
                Unit::None,
                "UUID of the GPU, the same on every boot and in every slot.",
                |row| row.gpu.uuid().map(Value::from),
            ),
        ],
    };
}
