//! `power-profiles` and `power-smoothing`: asked GPU after GPU up to the first
//! that has no answer; changed likewise, each change told of as it is made.

pub mod profiles;
pub mod smoothing;

use crate::commands::dry_run::{NOTHING_CHANGED, index_and_bus_id, unread};
use crate::commands::modify::Named;
use crate::error::{Error, Status};
use crate::nvml::{Gpu, Missing, Reading, is_root};
use crate::output::Say;

fn one_at_a_time() -> Error {
    Error::refused("Only one of these options can be used at a time.\n")
}

/// A change to each GPU in turn.
struct Change<'c> {
    /// What it does, as after "Would": `request power profiles 0, 6`.
    wish: String,
    /// The same as done: `Requested power profiles 0, 6`.
    done: String,
    /// What it changes, as it is now; a dry run tells it.
    now: &'c dyn Fn(&Gpu) -> Reading<String>,
    /// Whether it takes root, whom a dry run must know.
    by_root: bool,
    /// What is said of a GPU without the feature.
    unsupported: &'static str,
    /// The calls.
    set: &'c dyn Fn(&Gpu) -> Reading<()>,
}

impl Change<'_> {
    /// Makes it up to the first failure, or tells what would be done.
    fn make(&self, gpus: &[Named], dry_run: bool, say: Say) -> Result<(), Error> {
        for (gpu, bus_id) in gpus {
            let outcome = match dry_run {
                true if self.by_root && !is_root() => Err(Missing::NO_PERMISSION),
                true => Ok(()),
                false => (self.set)(gpu),
            };
            let name = if dry_run {
                index_and_bus_id(gpu.index(), bus_id)
            } else {
                bus_id.clone()
            };
            outcome.map_err(|why| {
                let what = format!("Unable to {} for GPU {name}", self.wish);
                failed(why, &what, self.unsupported)
            })?;
            say(&if dry_run {
                let now = (self.now)(gpu).unwrap_or_else(unread);
                format!("Would {} for GPU {name}; now {now}.\n", self.wish)
            } else {
                format!("{} for GPU {name}.\n", self.done)
            });
        }
        Ok(())
    }
}

/// Ends a dry run of changes.
fn end(dry_run: bool, say: Say) {
    if dry_run {
        say(NOTHING_CHANGED);
    }
}

fn failed(why: Missing, what: &str, unsupported: &'static str) -> Error {
    match why {
        Missing::NotSupported => Error::new(Status::NotSupported, unsupported),
        why => Error::new(why.into(), format!("{what}: {}\n", why.words())),
    }
}

fn list(numbers: &[u32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    numbers.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Line, Subcommand, line};

    pub fn refused<T>(
        subcommand: &'static Subcommand,
        text: &str,
        read: fn(&Line) -> Result<T, Error>,
    ) -> bool {
        line(subcommand, text).and_then(|line| read(&line)).is_err()
    }
}
