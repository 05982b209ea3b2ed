//! Where the board sits in its rack.

use super::Context;
use super::words::{self, word};
use crate::nvml::{Missing, Platform, Reading};
use crate::value::{Value, guid};

/// What NVML tells for a slot or tray that is not known.
const NO_NUMBER: u8 = u8::MAX;

/// The place of a board that may have one. Racks that know their boards came with
/// Blackwell, and R580's report does not ask older boards.
pub fn since_blackwell<T>(context: &Context<T>) -> Reading<Platform> {
    if context.gpu.architecture()? < words::BLACKWELL {
        return Err(Missing::NotSupported);
    }
    context.gpu.platform()
}

/// Serial number of the chassis.
pub fn chassis_serial(place: Reading<Platform>) -> Reading<Value> {
    place?.chassis_serial.map(Value::from)
}

/// Slot in the chassis.
pub fn slot(place: Reading<Platform>) -> Reading<Value> {
    known(place?.slot)
}

/// Tray in the slot.
pub fn tray(place: Reading<Platform>) -> Reading<Value> {
    known(place?.tray)
}

fn known(number: u8) -> Reading<Value> {
    if number == NO_NUMBER {
        return Err(Missing::NotSupported);
    }
    Ok(number.into())
}

/// Host in the tray.
pub fn host(place: Reading<Platform>) -> Reading<Value> {
    Ok(place?.host.into())
}

/// How the GPU reaches its peers.
pub fn peer_type(place: Reading<Platform>) -> Reading<Value> {
    word(place?.peer_type.into(), words::PEER_TYPES)
}

/// GUID of the GPU in the fabric, hex.
pub fn fabric_guid(place: Reading<Platform>) -> Reading<Value> {
    Ok(guid(place?.fabric_guid).into())
}
