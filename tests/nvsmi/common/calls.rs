//! The calls that a run makes of the simulated library.

use std::path::Path;
use std::process::{Command, Output};

use super::scratch;

/// The variable that names the simulator's log of them.
pub const LOG: &str = "NVSMI_SIMULATOR_CALLS";

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    pub function: String,
    /// The index of the GPU that it is about, or `-`.
    pub gpu: String,
    /// What it returned.
    pub code: u32,
}

/// What a command answers, and the calls that it made, in their order. The name is that of the log, which
/// no other test has.
pub fn watched(command: &mut Command, name: &str) -> (Output, Vec<Call>) {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(kept).take(100).collect();
    let log = scratch(&format!("calls-{name}"));
    let output = command.env(LOG, &log).output().expect("nvsmi runs");
    (output, logged(&log))
}

/// The calls in a log; none where there is none yet.
pub fn logged(log: &Path) -> Vec<Call> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    // The last line may still be written.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let call = |line: &str| {
        let [function, gpu, code] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line} is no call");
        };
        Call {
            function: function.to_owned(),
            gpu: gpu.to_owned(),
            code: code.parse().expect("a code"),
        }
    };
    whole.lines().map(call).collect()
}
