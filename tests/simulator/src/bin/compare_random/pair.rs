//! A command line with both answers, and what differs between them.

use std::fmt::Write;

use simulator::trial::Outcome;

use super::layout::alike;

/// A command line, and both answers.
pub struct Pair {
    pub simulated: &'static str,
    pub args: Vec<String>,
    pub real: Outcome,
    pub nvsmi: Outcome,
}

impl Pair {
    /// Whether the exit statuses are the same.
    pub fn same_exit(&self) -> bool {
        self.real.exit == self.nvsmi.exit
    }

    /// Whether the stdouts are the same.
    pub fn same_text(&self) -> bool {
        self.same_in(alike)
    }

    /// Whether the stdouts are the same in some form, as far as both go: programs that were stopped had
    /// not said all.
    pub fn same_in(&self, form: fn(&str) -> String) -> bool {
        let (real, nvsmi) = (form(&self.real.stdout), form(&self.nvsmi.stdout));
        let ran_on = self.real.exit.is_none() && self.nvsmi.exit.is_none();
        real == nvsmi || ran_on && (real.starts_with(&nvsmi) || nvsmi.starts_with(&real))
    }

    /// Whether the line has one of these options.
    pub fn has(&self, names: &[&str]) -> bool {
        self.args
            .iter()
            .any(|word| names.contains(&word.split('=').next().unwrap_or(word)))
    }

    /// What follows these options, in the same word or the next.
    pub fn values<'p>(&'p self, names: &'p [&str]) -> impl Iterator<Item = &'p str> {
        let next = self.args.iter().skip(1).map(String::as_str).chain([""]);
        self.args.iter().zip(next).filter_map(move |(word, next)| {
            let (name, value) = word.split_once('=').unwrap_or((word, next));
            names.contains(&name).then_some(value)
        })
    }

    /// Whether a word of the line has this text in it.
    pub fn mentions(&self, text: &str) -> bool {
        self.args.iter().any(|word| word.contains(text))
    }

    /// What differs first, its lines shown through `form`; nothing if the answers are the same.
    pub fn difference(&self, form: fn(&str) -> String) -> Option<String> {
        let same = self.same_text();
        if same && self.same_exit() {
            return None;
        }
        let status = |outcome: &Outcome| {
            outcome
                .exit
                .map_or("runs on".to_owned(), |code| code.to_string())
        };
        let mut text = if self.same_exit() {
            format!("exit {}", status(&self.real))
        } else {
            format!("exit {}, nvsmi {}", status(&self.real), status(&self.nvsmi))
        };
        if !same {
            let (real, nvsmi) = (alike(&self.real.stdout), alike(&self.nvsmi.stdout));
            let (real, nvsmi): (Vec<&str>, Vec<&str>) =
                (real.split('\n').collect(), nvsmi.split('\n').collect());
            let at = (0..).find(|&at| real.get(at) != nvsmi.get(at)).unwrap_or(0);
            let show = |lines: &[&str]| {
                lines
                    .get(at)
                    .map_or("(nothing)".to_owned(), |line| form(line))
            };
            let _ = write!(
                text,
                "\n      nvidia-smi: {}\n      nvsmi:      {}",
                show(&real),
                show(&nvsmi)
            );
        }
        Some(text)
    }

    /// The line, ready for a shell.
    pub fn line(&self) -> String {
        let plain = |word: &String| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-./:=,".contains(c))
        };
        let quoted = self.args.iter().map(|word| {
            if plain(word) {
                word.clone()
            } else {
                format!("'{word}'")
            }
        });
        let mut line = format!("{} nvsmi", self.simulated);
        quoted.for_each(|word| {
            let _ = write!(line, " {word}");
        });
        line
    }
}

/// A line with each number as `9`.
pub fn masked(line: &str) -> String {
    let mut masked = String::new();
    for c in line.chars().take(200) {
        match c.is_ascii_digit() {
            true if masked.ends_with('9') => {}
            true => masked.push('9'),
            false => masked.push(c),
        }
    }
    masked
}
