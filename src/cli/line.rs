//! How a command line is split into options and their values, and what may be
//! wrong with it.
//!
//! What follows the `=` of an option is its value, or, where it takes none, the
//! next word: `-q=-x` is `-q -x`, and a value may follow its option after `=` or
//! after a space. A word that is a known option is never a value: `-i -q` lacks its
//! value, while `-i --nothing` asks for a GPU of that name. A value, and a word
//! that is not known, go to the end of their argument, whatever `=` is in them.
//! (R550 also read what follows a `=` there.)

use std::iter::Peekable;

use super::number;
use super::options::{Opt, Takes};
use super::subcommand;
use crate::error::{Error, Status};

/// An option found on a line.
#[derive(Clone, Debug)]
pub struct Given {
    /// Which option.
    pub option: &'static Opt,
    /// Its value, if it takes one and got one.
    pub text: Option<String>,
    /// How it was written, with whatever followed in the same argument.
    spelt: String,
}

/// The same option with the same value, however they were written.
impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        let same_value = match self.option.takes {
            Takes::Int | Takes::Uint => self.bits() == other.bits(),
            Takes::Float => self.float() == other.float(),
            _ => self.text == other.text,
        };
        self.option == other.option && same_value
    }
}

impl Given {
    /// Its value, empty where it has none.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Its value as a number of 32 bits, 0 where it has none. -2 becomes 4294967294,
    /// which is how nvidia-smi prints it back.
    pub fn bits(&self) -> u32 {
        let bits = match self.option.takes {
            Takes::Int => number::int(self.text()),
            _ => number::uint(self.text()),
        };
        bits.unwrap_or_default()
    }

    /// Its value as a number with a fraction, 0 where it has none.
    pub fn float(&self) -> f32 {
        number::float(self.text()).unwrap_or_default()
    }

    /// Whether nvidia-smi takes the value for no value at all: -1, 0 where no sign
    /// is allowed, and below 0 or NaN where there may be a fraction.
    pub fn is_unset(&self) -> bool {
        match self.option.takes {
            Takes::Int => self.bits() == u32::MAX,
            Takes::Uint => self.bits() == 0,
            Takes::Float => self.float().is_nan() || self.float() < 0.0,
            _ => false,
        }
    }
}

/// What a single word can do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not an option: the word.
    Unknown,
    /// It is an option without its value: the option.
    Missing,
    /// It is a value that cannot be read: the value and its option.
    Invalid,
}

/// What is wrong with a line, and what is said of it.
pub enum Check {
    /// The first fault of a kind; each `{}` of the message stands for a word.
    Word(Fault, Status, &'static str),
    /// Options that do not go together.
    Never(fn(&Line) -> bool, &'static str),
    /// Anything else.
    Also(fn(&Line) -> Result<(), Error>),
}

/// A command line, read with the options that a form of it or a subcommand knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The options found, in order.
    pub given: Vec<Given>,
    known: Vec<&'static Opt>,
    faults: Vec<(Fault, Vec<String>)>,
}

impl Line {
    /// Reads the words with these options.
    pub fn scan(known: impl Iterator<Item = &'static Opt>, arguments: &[String]) -> Self {
        let known: Vec<&Opt> = known.collect();
        let find = |word: &Word| {
            let mut known = known.iter().copied();
            known.find(|option| option.spellings().any(|name| name == word.name))
        };
        let mut line = Self::default();
        let mut words = arguments.iter().flat_map(|it| words(it)).peekable();
        while let Some(word) = words.next() {
            let spelt = word.rest.to_owned();
            let Some(option) = find(&word) else {
                line.faults.push((Fault::Unknown, vec![spelt]));
                end_argument(&mut words);
                continue;
            };
            let is_value = |next: &Word| option.takes.takes(next.rest) && find(next).is_none();
            let text = words.next_if(is_value).map(|next| next.rest.to_owned());
            match &text {
                Some(text) => {
                    end_argument(&mut words);
                    if !option.takes.reads(text) {
                        let fault = vec![text.clone(), spelt.clone()];
                        line.faults.push((Fault::Invalid, fault));
                    }
                }
                None if !option.takes.may_be_alone() => {
                    line.faults.push((Fault::Missing, vec![spelt.clone()]));
                }
                None => {}
            }
            line.given.push(Given {
                option,
                text,
                spelt,
            });
        }
        line.known = known;
        line
    }

    /// Refuses the line with what is said of the first of these that is wrong.
    pub fn check<'c>(&self, checks: impl IntoIterator<Item = &'c Check>) -> Result<(), Error> {
        checks.into_iter().try_for_each(|check| match *check {
            Check::Word(kind, status, message) => {
                match self.faults.iter().find(|(fault, _)| *fault == kind) {
                    Some((Fault::Unknown, words)) if *words == ["--dry-run"] => {
                        Err(Error::dry_run())
                    }
                    Some((_, words)) => Err(Error::new(status, fill(message, words))),
                    None => Ok(()),
                }
            }
            Check::Never(is_so, message) if is_so(self) => Err(Error::refused(message)),
            Check::Never(..) => Ok(()),
            Check::Also(check) => check(self),
        })
    }

    /// What is to be said before anything else: warnings of obsolete values.
    pub fn warnings(&self) -> String {
        let numbers = self.given.iter().filter(|given| {
            let takes = given.option.takes;
            matches!(takes, Takes::Int | Takes::Uint)
        });
        let texts = numbers.filter_map(|given| given.text.as_deref());
        texts.map(number::warning).collect()
    }

    /// Whether an option was given, by its [`Opt::word`].
    pub fn has(&self, word: &str) -> bool {
        self.last(word).is_some()
    }

    /// Whether any of these options was given.
    pub fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.has(word))
    }

    /// How many options were given, where each of `once` does not count the first
    /// time. The line's table need not have them all.
    pub fn count_beside(&self, once: &[&str]) -> usize {
        let is_given = |word| self.given.iter().any(|given| given.option.word() == word);
        self.given.len() - once.iter().filter(|&&word| is_given(word)).count()
    }

    /// A subcommand's options that were given, each once, in the table's order,
    /// without those that say how or where.
    pub fn commands(&self) -> Vec<&'static str> {
        let words = self.known.iter().map(|option| option.word());
        let commands = words.filter(|word| !["help", "id", "dry-run"].contains(word));
        commands.filter(|word| self.has(word)).collect()
    }

    /// Whether the line has `--dry-run`, which goes with one of these options only.
    pub fn dry_run(&self, changes: &[&str]) -> Result<bool, Error> {
        match self.has("dry-run") {
            true if !self.has_any(changes) => Err(Error::dry_run()),
            given => Ok(given),
        }
    }

    /// The value of an option; the last one counts.
    pub fn text(&self, word: &str) -> Option<&str> {
        self.last(word)?.text.as_deref()
    }

    /// The number that an option was given, cut to 32 bits.
    pub fn number(&self, word: &str) -> Option<i32> {
        number::long(self.text(word)?)
    }

    /// The number that an option was given which changes something. An empty value,
    /// or a number beyond 32 bits, is refused rather than taken for another.
    pub fn exact(&self, word: &str) -> Result<Option<i32>, Error> {
        let number = |text| number::signed(text).ok_or_else(|| self.invalid(word));
        self.text(word).map(number).transpose()
    }

    /// The number of 64 bits that an option was given.
    pub fn wide(&self, word: &str) -> Option<u64> {
        number::wide(self.text(word)?)
    }

    /// What a subcommand says of a value that its option cannot have.
    pub fn invalid(&self, word: &str) -> Error {
        let given = self.last(word).map(|given| {
            let text = given.text.clone().unwrap_or_default();
            [text, given.spelt.clone()]
        });
        let words = given.unwrap_or_default();
        Error::refused(fill(subcommand::INVALID, &words))
    }

    /// The last time that an option was given.
    pub fn last(&self, word: &str) -> Option<&Given> {
        debug_assert!(
            self.known.iter().any(|option| option.word() == word),
            "no option is called {word}"
        );
        let mut given = self.given.iter().rev();
        given.find(|given| given.option.word() == word)
    }
}

/// Fills each `{}` of a message with the next word.
fn fill(message: &str, words: &[String]) -> String {
    let mut words = words.iter();
    let mut parts = message.split("{}");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + words.next().map_or("", String::as_str) + part
    })
}

/// A word of an argument: its name ends at the next `=`, its rest does not.
pub struct Word<'a> {
    /// What may be an option.
    pub name: &'a str,
    /// What may be a value.
    pub rest: &'a str,
    /// Whether the argument begins with it.
    begins: bool,
}

/// The words of an argument.
pub fn words(argument: &str) -> impl Iterator<Item = Word<'_>> {
    let starts = argument.match_indices('=').map(|(equals, _)| equals + 1);
    std::iter::once(0).chain(starts).map(|start| {
        let rest = &argument[start..];
        let name = rest.split_once('=').map_or(rest, |(name, _)| name);
        let begins = start == 0;
        Word { name, rest, begins }
    })
}

/// Leaves out what is left of the argument whose words were read last.
fn end_argument<'a>(words: &mut Peekable<impl Iterator<Item = Word<'a>>>) {
    while words.next_if(|word| !word.begins).is_some() {}
}
