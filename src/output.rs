//! Where answers go: stdout, or the file of `-f`.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Outcome, Status};
use crate::host::signals;

/// Whether the last answer did not end its line, as some of nvidia-smi's messages.
static WITHIN_LINE: AtomicBool = AtomicBool::new(false);

/// A place for whole answers.
pub struct Output(File);

impl Output {
    /// Standard output, without the line buffer that Rust puts before it.
    pub fn stdout() -> io::Result<Self> {
        Ok(Self(io::stdout().as_fd().try_clone_to_owned()?.into()))
    }

    /// The file of `-f`, emptied, or standard output if there is none or it is `-`.
    /// As nvidia-smi, it opens the file for reading too: a FIFO then needs no reader.
    pub fn open(file: Option<&Path>, failure: fn(&Path) -> Error) -> anyhow::Result<Self> {
        match file.filter(|file| *file != Path::new("-")) {
            None => Ok(Self::stdout()?),
            Some(path) => {
                let mut options = File::options();
                options.read(true).write(true).create(true).truncate(true);
                Ok(Self(options.open(path).map_err(|_| failure(path))?))
            }
        }
    }

    /// Writes an answer in one go, so that a reader never sees half of one.
    /// A pipe that whoever made it set not to block is waited for when it is full.
    pub fn write(&mut self, answer: &[u8]) -> io::Result<()> {
        if let Some(last) = answer.last() {
            WITHIN_LINE.store(*last != b'\n', Ordering::Relaxed);
        }
        signals::finish(|| self.write_all(answer))
    }

    fn write_all(&mut self, mut answer: &[u8]) -> io::Result<()> {
        const PAUSE: Duration = Duration::from_millis(10);
        while !answer.is_empty() {
            match self.0.write(answer) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => answer = &answer[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Writes whole lines to stderr. They begin a line of their own also where stderr is
/// the same file as stdout.
pub fn note(lines: &str) {
    let begin = if WITHIN_LINE.load(Ordering::Relaxed) && is_shared().unwrap_or_default() {
        "\n"
    } else {
        ""
    };
    // If stderr cannot be written to, the exit status says enough.
    let _ = io::stderr().write_fmt(format_args!("{begin}{lines}"));
}

/// Whether stdout and stderr are one file.
fn is_shared() -> io::Result<bool> {
    let file = |stream: BorrowedFd| {
        let about = File::from(stream.try_clone_to_owned()?).metadata()?;
        io::Result::Ok((about.dev(), about.ino()))
    };
    Ok(file(io::stdout().as_fd())? == file(io::stderr().as_fd())?)
}

/// Writes an answer to standard output, whole or up to where it failed; the status
/// to end with. The failure is told also where the reader has gone away.
pub fn answer<T: Into<Outcome>>(
    build: impl FnOnce(&mut Vec<u8>) -> Result<T, Error>,
) -> anyhow::Result<Status> {
    let mut out = Vec::new();
    let built = build(&mut out).map(Into::into);
    if let Ok(Outcome { text, .. }) = &built {
        out.extend(text.bytes());
    }
    let written = Output::stdout()?.write(&out);
    end(built?.status, written)
}

/// Writes what is said when it is said. A change goes on where that fails, and
/// the failure is told at the end.
pub fn as_it_happens<T: Into<Outcome>>(
    act: impl FnOnce(Say) -> Result<T, Error>,
) -> anyhow::Result<Status> {
    let mut output = Output::stdout()?;
    let mut written = Ok(());
    let mut say = |text: &str| {
        let result = output.write(text.as_bytes());
        if written.is_ok() {
            written = result;
        }
    };
    let Outcome { text, status } = act(&mut say)?.into();
    say(&text);
    end(status, written)
}

/// A failure of the command counts before one to write.
fn end(status: Status, written: io::Result<()>) -> anyhow::Result<Status> {
    match status {
        Status::Success => Ok(written.map(|()| status)?),
        failed => Ok(failed),
    }
}

/// Says a text when it is known.
pub type Say<'s> = &'s mut dyn FnMut(&str);
