//! The words of `--dry-run`.

use crate::nvml::{Gpu, Missing, Reading, is_root};
use crate::value::printable;

/// The last line of a dry run.
pub const NOTHING_CHANGED: &str = "Nothing was changed.\n";

/// A GPU: `3 (00000000:5D:00.0)`.
pub fn index_and_bus_id(index: u32, bus_id: &str) -> String {
    format!("{index} ({bus_id})")
}

/// The same of a GPU that may not tell its bus id.
pub fn name(gpu: &Gpu) -> String {
    let bus_id = gpu.bus_id().unwrap_or_else(unread);
    index_and_bus_id(gpu.index(), &printable(&bus_id))
}

/// What stands for a state that NVML did not tell.
pub fn unread(why: Missing) -> String {
    match why {
        Missing::NotSupported => why.words_or_not_available().to_owned(),
        Missing::Failed(_) => format!("unknown ({})", why.words()),
    }
}

/// A change of something from what it is now to what is wanted, for a sentence
/// that goes on with where that is. What does not exist cannot be changed either.
pub fn would_change(what: &str, now: Reading<String>, wanted: &str) -> Reading<String> {
    match now {
        Err(why @ (Missing::NotSupported | Missing::NOT_FOUND)) => Err(why),
        Ok(now) if now == wanted => Ok(format!("Would leave {what} at {wanted}")),
        now => {
            let now = now.unwrap_or_else(unread);
            Ok(format!("Would change {what} from {now} to {wanted}"))
        }
    }
}

/// What NVML would say to a change that takes root.
pub fn by_root() -> Reading<()> {
    is_root().then_some(()).ok_or(Missing::NO_PERMISSION)
}
