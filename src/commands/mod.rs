//! One file per command: ask, build, render.

pub mod dmon;
pub mod gpm;
pub mod list;
pub mod pmon;
mod processes;
pub mod query;
pub mod repeat;
pub mod sessions;
pub mod summary;
pub mod version;
