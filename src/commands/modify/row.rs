//! What a row of the table of changes says, and how its sentences are filled in.

use super::asked::Asked;
use crate::cli::{Given, Modify};
use crate::error::Status;
use crate::nvml::{Effect, Gpu, Missing, Reading};

/// One change: its option, what is read first, what is set, and the sentences.
///
/// Places in a sentence: `{gpu}` is the bus id, in a dry run with the index before
/// it; `{a}` and `{b}` are what is asked in words, `{x}` and `{y}` in numbers;
/// `{why}` is NVML's reason, `{from}` the state before the change.
pub struct Row {
    /// The option, by its [`word`](crate::cli::Opt::word).
    pub option: &'static str,
    /// How its value is read. A warning is said of each GPU; any other refusal ends
    /// the command before a GPU is touched.
    pub read: fn(&Given, &Modify) -> Result<Asked, Refusal>,
    /// What is read first; a GPU that is as asked is left alone.
    pub first: Option<First>,
    /// What else may speak against the change on this GPU, whose name in
    /// sentences comes second.
    pub range: fn(&Gpu, &str, &Asked) -> Result<(), Refusal>,
    /// The call that changes the GPU.
    pub set: fn(&Gpu, &Asked) -> Reading<Effect>,
    /// What is said when it is done; the real tool says nothing of some changes.
    pub done: &'static str,
    /// What is said when it is not, unless `refusals` knows better. "Not
    /// supported" is a warning, everything else ends the command.
    pub failed: &'static str,
    /// Codes that mean something of their own.
    pub refusals: &'static [(Missing, Kind, &'static str)],
    /// Lines that explain why it is not supported here.
    pub because: fn(&Gpu, &Asked) -> Vec<String>,
    /// Whether it is in force after a reboot only; asked before the change.
    pub reboot: fn(&Gpu, &Asked) -> bool,
    /// Whether it is lost when the driver is unloaded, which happens as soon as
    /// nobody uses the GPU unless persistence mode is on.
    pub volatile: fn(&Asked) -> bool,
    /// The state now, in words.
    pub now: fn(&Gpu, &Asked) -> Reading<String>,
    /// What `--dry-run` says.
    pub would: &'static str,
    /// Whether the state is as asked already. Only a dry run asks; where `first`
    /// does not, the change is made all the same.
    pub already: fn(&Gpu, &Asked) -> Reading<bool>,
    /// What `--dry-run` says then.
    pub would_not: &'static str,
    /// What else a dry run looks up, the reason being what NVML would say; the
    /// change itself leaves that to NVML.
    pub lookup: fn(&Gpu, &Asked) -> Reading<()>,
    /// Whether anybody may do it, not only root.
    pub free: fn(&Gpu) -> bool,
}

/// What is read before a change.
pub struct First {
    /// The reading, comparable with the first number asked.
    pub ask: fn(&Gpu) -> Reading<u32>,
    /// Said where there is no such thing.
    pub unsupported: &'static str,
    /// Said where it cannot be read.
    pub unreadable: &'static str,
    /// Said where it is as asked.
    pub already: &'static str,
}

/// How a refusal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Said, and the next GPU's turn.
    Remark,
    /// The same, called a warning.
    Warning,
    /// The end of the command.
    Failure,
    /// The end of the command, with the advice to reboot.
    Reboot,
}

/// Why a GPU was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// How it ends.
    pub kind: Kind,
    /// The sentence, a newline behind it.
    pub text: String,
    /// The status, if it ends the command.
    pub status: Status,
}

impl Refusal {
    /// A refusal by NVML. "Not supported" is a warning.
    pub fn by_nvml(why: Missing, text: String) -> Self {
        let kind = match why {
            Missing::NotSupported => Kind::Warning,
            Missing::Failed(_) => Kind::Failure,
        };
        Self {
            kind,
            text: text + "\n",
            status: why.into(),
        }
    }

    /// A refusal of a value, before NVML is asked to set anything.
    pub fn of_value(text: String) -> Self {
        Self {
            kind: Kind::Failure,
            text: text + "\n",
            status: Status::InvalidArgument,
        }
    }
}

/// The row that the others are written as differences to.
pub const ROW: Row = Row {
    option: "",
    read: |_, _| Ok(Asked::NOTHING),
    first: None,
    range: |_, _, _| Ok(()),
    set: |_, _| Err(Missing::NotSupported),
    done: "",
    failed: "",
    refusals: &[],
    because: |_, _| Vec::new(),
    reboot: |_, _| false,
    volatile: |_| false,
    now: |_, _| Err(Missing::NotSupported),
    would: "",
    already: |_, _| Ok(false),
    would_not: "",
    lookup: |_, _| Ok(()),
    free: |_| false,
};

/// Fills the places of a sentence.
pub fn fill(sentence: &str, gpu: &str, asked: &Asked, more: &[(&str, &str)]) -> String {
    let [x, y] = asked.numbers.map(|number| number.to_string());
    let [a, b] = &asked.shown;
    let places = [("gpu", gpu), ("x", &x), ("y", &y), ("a", a), ("b", b)];
    let mut text = String::new();
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('{') {
        let (place, after) = after.split_once('}').unwrap_or((after, ""));
        text += before;
        text += places
            .iter()
            .chain(more)
            .find(|(known, _)| *known == place)
            .map_or("", |(_, value)| value);
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_braces_stays_as_it_is() {
        let asked = Asked::word(0, "{gpu} {");
        let filled = fill("{gpu}: {a} and {why}.", "00:06.0", &asked, &[("why", "x")]);
        assert_eq!(filled, "00:06.0: {gpu} { and x.");
    }

    #[test]
    fn only_what_is_not_supported_is_a_warning() {
        let kind = |code| Refusal::by_nvml(Missing::from_code(code), String::new()).kind;
        assert_eq!(kind(3), Kind::Warning);
        for code in [1, 2, 4, 15, 19, 999] {
            assert_eq!(kind(code), Kind::Failure, "{code}");
        }
    }
}
