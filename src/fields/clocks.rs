//! `--query-supported-clocks`.

use super::common::Identity;
use super::{Group, Table, field};
use crate::nvml::Reading;
use crate::value::{Unit, Value};

/// A memory clock and a graphics clock that go together, MHz.
pub struct ClockPair {
    /// Memory clock.
    pub memory: Reading<u32>,
    /// Graphics clock.
    pub graphics: Reading<u32>,
}

impl Identity for ClockPair {}

/// The fields of `--query-supported-clocks`.
pub const SUPPORTED_CLOCKS: &Table<ClockPair> = &[&ClockPair::IDENTITY, &PAIR];

const PAIR: Group<ClockPair> = Group {
    about: "Pairs of clocks that can be chosen together, for example with -ac",
    fields: &[
        field(
            &["memory", "mem"],
            Unit::Megahertz,
            "Memory clock.",
            |context| context.item.memory.map(Value::from),
        ),
        field(
            &["graphics", "gr"],
            Unit::Megahertz,
            "Graphics clock.",
            |context| context.item.graphics.map(Value::from),
        ),
    ],
};
