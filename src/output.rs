//! Where answers go: stdout, or the file of `-f`.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;

use crate::error::Error;

/// A place for whole answers.
pub struct Output(File);

impl Output {
    /// Standard output, without the line buffer that Rust puts before it.
    pub fn stdout() -> io::Result<Self> {
        Ok(Self(io::stdout().as_fd().try_clone_to_owned()?.into()))
    }

    /// The file of `-f`, begun anew, or standard output where there is none.
    pub fn open(file: Option<&Path>, failure: fn(&Path) -> Error) -> anyhow::Result<Self> {
        match file {
            None => Ok(Self::stdout()?),
            Some(path) => Ok(Self(File::create(path).map_err(|_| failure(path))?)),
        }
    }

    /// Writes an answer in one go, so that a reader never sees half of one.
    pub fn write(&mut self, answer: &[u8]) -> io::Result<()> {
        self.0.write_all(answer)
    }
}
