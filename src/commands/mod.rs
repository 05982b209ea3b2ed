//! One file per command: ask, build, render.

pub mod confidential;
pub mod drain;
pub mod led;
pub mod list;
pub mod log;
pub mod modify;
pub mod query;
pub mod repeat;
pub mod summary;
pub mod version;
