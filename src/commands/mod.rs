//! One file per command: ask, build, render.

pub mod dmon;
pub mod gpm;
pub mod list;
pub mod log;
pub mod pmon;
pub mod query;
pub mod repeat;
pub mod sessions;
pub mod summary;
pub mod version;
