//! One file per command: ask, build, render.

pub mod c2c;
pub mod confidential;
pub mod dmon;
pub mod drain;
pub mod gpm;
pub mod led;
pub mod list;
pub mod log;
pub mod modify;
pub mod nvlink;
pub mod pci;
pub mod pmon;
pub mod power;
pub mod query;
pub mod repeat;
pub mod sessions;
pub mod subcommand;
pub mod summary;
pub mod topo;
pub mod version;
