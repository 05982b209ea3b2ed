//! One file per command: ask, build, render.

pub mod c2c;
pub mod list;
pub mod log;
pub mod nvlink;
pub mod pci;
pub mod query;
pub mod repeat;
pub mod subcommand;
pub mod summary;
pub mod topo;
pub mod version;
