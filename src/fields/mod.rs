//! The field tables of the selective queries: which names exist, what each is
//! headed, what it means, and where its value comes from.

mod apps;
mod clocks;
mod common;
mod gpu;
mod pages;

use crate::facts::Context;
use crate::nvml::Reading;
use crate::value::{Unit, Value};

pub use apps::{ACCOUNTED_APPS, COMPUTE_APPS, Process};
pub use clocks::{ClockPair, SUPPORTED_CLOCKS};
pub use gpu::GPU;
pub use pages::{REMAPPED_ROWS, RETIRED_PAGES};

/// One field of a query about `T`s.
pub struct Field<T> {
    /// The name that heads the column, then the other names it answers to.
    pub names: &'static [&'static str],
    /// The unit of its numbers.
    pub unit: Unit,
    /// One sentence for `--help-query-*`.
    pub help: &'static str,
    /// Asks NVML for it.
    pub get: fn(&Context<T>) -> Reading<Value>,
}

impl<T> Field<T> {
    /// The name that heads the column.
    pub fn name(&self) -> &'static str {
        self.names[0]
    }
}

/// Fields that belong together.
pub struct Group<T: 'static> {
    /// What they are about; empty where the fields speak for themselves.
    pub about: &'static str,
    /// The fields, in the order of `--help-query-*`.
    pub fields: &'static [Field<T>],
}

/// All fields of one query.
pub type Table<T> = [&'static Group<T>];

/// The field that answers to `name`.
pub fn find<T>(table: &Table<T>, name: &str) -> Option<&'static Field<T>> {
    table
        .iter()
        .flat_map(|group| group.fields)
        .find(|field| field.names.contains(&name))
}

/// A row of a field table.
const fn field<T>(
    names: &'static [&'static str],
    unit: Unit,
    help: &'static str,
    get: fn(&Context<T>) -> Reading<Value>,
) -> Field<T> {
    Field {
        names,
        unit,
        help,
        get,
    }
}
