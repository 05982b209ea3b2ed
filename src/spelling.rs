//! nvidia-smi's way of reading a command line, in front of clap.
//!
//! nvidia-smi tries one [`Form`] of command line after another. Each form
//! knows some of the options and reads the whole line with those alone; the
//! first form that claims the line answers it, and only then does an argument
//! that it does not know matter. So which message a bad line earns depends on
//! the form that got it.
//!
//! What follows the `=` of an option is its value, or, where it takes none, the
//! next word: `-q=-x` is `-q -x`, and a value may follow its option after `=` or
//! after a space. A word that is an option of the form is never a value: `-i -q`
//! lacks its value, while `-i --nothing` asks for a GPU of that name. A value,
//! and a word that the form does not know, go to the end of their argument,
//! whatever `=` is in them. (R550 also read what follows a `=` there.)

pub mod number;
pub mod options;
pub mod subcommand;
pub mod timeout;

use std::ffi::OsString;
use std::iter::Peekable;

use crate::error::{Error, Status};
use options::{GROUPS, Opt, Takes};

pub use number::{nearest, signed, uint};

/// The forms of a command line, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `-h`.
    Help,
    /// `--version`.
    Version,
    /// `-L` or `-B`.
    List,
    /// `-pm`, `-pl` and the other changes to a GPU.
    Modify,
    /// `-t`, the change to a unit.
    Unit,
    /// `--dtd` without `-q`.
    Dtd,
    /// `--query-*` and `--help-query-*`.
    Query,
    /// `-q`, and the summary when there is nothing at all.
    Log,
}

impl Form {
    /// Those before the last, which takes what is left.
    const TRIED: [Self; 7] = [
        Self::Help,
        Self::Version,
        Self::List,
        Self::Modify,
        Self::Unit,
        Self::Dtd,
        Self::Query,
    ];

    /// Whether a line of these options is of this form. Options that only say
    /// where a change applies count once: a second `-i` reads as a change.
    fn claims(self, line: &Line) -> bool {
        match self {
            Self::Help | Self::Version | Self::List => !line.given.is_empty(),
            Self::Modify => line.count_beside(&["id", "gpu", "error-on-warning", "dry-run"]) > 0,
            Self::Unit => line.count_beside(&["id", "dry-run"]) == 1,
            Self::Dtd => line.has("dtd") && !line.has("query"),
            Self::Query => line.given.iter().any(|given| {
                let word = given.option.word();
                word.starts_with("query-") || word.starts_with("help-query-")
            }),
            Self::Log => true,
        }
    }

    /// The option of this form that is spelt so.
    fn option(self, name: &str) -> Option<&'static Opt> {
        GROUPS
            .iter()
            .flat_map(|group| group.options)
            .find(|option| {
                option.forms.contains(&self) && option.names.split(' ').any(|known| known == name)
            })
    }

    /// Whether a word can be the value of an option: it is none of this form's
    /// options, nor may it look like one after [`Takes::MaybeText`].
    fn can_follow(self, option: &Opt, word: &Word) -> bool {
        let like_option = word.rest.strip_prefix('-').is_some_and(|rest| {
            rest.starts_with(|first: char| first == '-' || first.is_ascii_alphabetic())
        });
        match option.takes {
            Takes::Nothing => false,
            Takes::MaybeText if like_option => false,
            _ => self.option(word.name).is_none(),
        }
    }

    /// The complaint about an argument that this form does not know.
    fn refuse(self, argument: &str) -> Error {
        let (status, message) = match self {
            Self::Help | Self::Version | Self::List => (
                Status::InvalidArgument,
                format!(
                    "ERROR: Option {argument} is not valid for this command. Please run 'nvidia-smi -h' for help.\n\n"
                ),
            ),
            Self::Modify | Self::Dtd => (Status::Other, unrecognized(argument)),
            Self::Unit | Self::Query => (Status::InvalidArgument, unrecognized(argument)),
            Self::Log => (
                Status::Other,
                format!(
                    "ERROR: Option {argument} is not recognized. Please run 'nvidia-smi -h'.\n\n"
                ),
            ),
        };
        Error::new(status, message)
    }
}

fn unrecognized(argument: &str) -> String {
    format!("ERROR: Option {argument} is not recognized. Please run 'nvidia-smi -h' for help.\n\n")
}

/// An option found on the line. Numbers are kept in decimal, however they
/// were written.
#[derive(Clone, Debug)]
pub struct Given {
    /// Which option.
    pub option: &'static Opt,
    /// Its value, if it takes one and got one.
    pub value: Option<String>,
}

impl Given {
    /// The one spelling that clap knows: `--word` or `--word=value`.
    pub fn canonical(&self) -> String {
        let word = self.option.word();
        match &self.value {
            Some(value) => format!("--{word}={value}"),
            None => format!("--{word}"),
        }
    }

    /// A number that nvidia-smi takes for no number at all: -1, 0 where no
    /// sign is allowed, and below 0 or NaN where there may be a fraction.
    pub fn is_unset(&self) -> bool {
        let value = self.value.as_deref().unwrap_or_default();
        match self.option.takes {
            Takes::Int => value == u32::MAX.to_string(),
            Takes::Uint => value == "0",
            Takes::Float => !value.parse().is_ok_and(|number: f32| number >= 0.0),
            _ => false,
        }
    }
}

/// A command line as one form reads it.
#[derive(Clone, Debug)]
pub struct Line {
    /// The form that claims it.
    pub form: Form,
    /// The options found, in order.
    pub given: Vec<Given>,
    /// The first argument that the form does not know.
    stranger: Option<String>,
    /// What to say of the first option without its value.
    missing: Option<Error>,
    /// What to say of the first value that cannot be read.
    invalid: Option<Error>,
    /// What is to be said before anything else.
    pub warnings: String,
}

impl Line {
    /// Whether an option was given, by its [`Opt::word`].
    pub fn has(&self, word: &str) -> bool {
        self.given.iter().any(|given| given.option.word() == word)
    }

    /// How many options were given, where each of `once` does not count the
    /// first time.
    pub fn count_beside(&self, once: &[&str]) -> usize {
        let excused = once.iter().filter(|word| self.has(word)).count();
        self.given.len() - excused
    }

    /// Refuses a line with an argument that its form does not know.
    pub fn known(&self) -> Result<(), Error> {
        match &self.stranger {
            Some(argument) => Err(self.form.refuse(argument)),
            None => Ok(()),
        }
    }

    fn scan(form: Form, arguments: &[String]) -> Self {
        let mut line = Self {
            form,
            given: Vec::new(),
            stranger: None,
            missing: None,
            invalid: None,
            warnings: String::new(),
        };
        let mut words = words_of(arguments).peekable();
        while let Some(word) = words.next() {
            let Some(option) = form.option(word.name) else {
                line.stranger.get_or_insert_with(|| word.rest.to_owned());
                end_argument(&mut words);
                continue;
            };
            let value = match words.next_if(|next| form.can_follow(option, next)) {
                Some(next) => {
                    end_argument(&mut words);
                    let value = read_value(option.takes, next.rest);
                    if matches!(option.takes, Takes::Int | Takes::Uint) {
                        line.warnings += number::warning(next.rest);
                    }
                    if value.is_none() {
                        let invalid = || invalid_value(next.rest, word.rest);
                        line.invalid.get_or_insert_with(invalid);
                    }
                    value
                }
                None => {
                    if !option.takes.may_be_alone() {
                        line.missing.get_or_insert_with(|| missing_value(word.rest));
                    }
                    None
                }
            };
            line.given.push(Given { option, value });
        }
        line
    }

    /// The line, if its form claims it; or what is wrong with its values. A
    /// missing value is refused by every form that the line gets to, a bad one
    /// by the form that claims the line; the changes mind the bad one more.
    fn claimed(self) -> Result<Option<Self>, Error> {
        let claimed = self.form.claims(&self);
        let invalid = self.invalid.as_ref().filter(|_| claimed);
        let problem = match self.form {
            Form::Modify => invalid.or(self.missing.as_ref()),
            _ => self.missing.as_ref().or(invalid),
        };
        match problem {
            Some(error) => Err(error.after(&self.warnings)),
            None => Ok(claimed.then_some(self)),
        }
    }
}

/// The line as the first form that claims it reads it, or what is wrong with
/// an option's value.
pub fn read(arguments: &[String]) -> Result<Line, Error> {
    for form in Form::TRIED {
        if form == Form::Modify {
            whole_file(arguments)?;
        }
        if let Some(line) = Line::scan(form, arguments).claimed()? {
            return Ok(line);
        }
    }
    let line = Line::scan(Form::Log, arguments);
    match line.missing.as_ref().or(line.invalid.as_ref()) {
        Some(error) => Err(error.clone()),
        None => Ok(line),
    }
}

/// Refuses a `-f` without its file. nvidia-smi has one more form, which it
/// does not advertise and nvsmi lacks; that one knows `-f` and nothing else,
/// and comes before the changes.
fn whole_file(arguments: &[String]) -> Result<(), Error> {
    let is_file = |word: &Word| ["-f", "--filename"].contains(&word.name);
    let mut words = words_of(arguments).peekable();
    while let Some(word) = words.next() {
        if is_file(&word) && words.next_if(|next| !is_file(next)).is_none() {
            return Err(missing_value(word.rest));
        }
        end_argument(&mut words);
    }
    Ok(())
}

/// The line without `--debug FILE`, nvidia-smi's log for NVIDIA's own eyes;
/// nothing is written to it. nvidia-smi looks for it before everything else,
/// be it the value of another option, and has no place for a second: only the
/// last one goes.
pub fn without_debug(mut arguments: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let debug = arguments
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, argument)| {
            let argument = argument.to_string_lossy();
            let debug = words(&argument).find(|word| word.name == "--debug")?;
            let file = debug
                .rest
                .split_once('=')
                .map(|(_, file)| OsString::from(file));
            Some((at, file))
        });
    let Some((at, file)) = debug else {
        return Ok(arguments);
    };
    arguments.remove(at);
    let file = match file {
        Some(file) => file,
        None if at < arguments.len() => arguments.remove(at),
        None => return Err(bad_debug("Please supply an argument for --debug. Run")),
    };
    if file.as_encoded_bytes().starts_with(b"-") {
        return Err(bad_debug("Please run"));
    }
    Ok(arguments)
}

fn bad_debug(advice: &str) -> Error {
    let message = format!("Invalid input arguments. {advice} 'nvidia-smi -h' for help.\n\n");
    Error::new(Status::InvalidArgument, message)
}

/// A word of an argument: its name ends at the next `=`, its rest does not.
struct Word<'a> {
    name: &'a str,
    rest: &'a str,
    /// Whether the argument begins with it.
    begins: bool,
}

fn words_of(arguments: &[String]) -> impl Iterator<Item = Word<'_>> {
    arguments.iter().flat_map(|argument| words(argument))
}

/// Leaves out what is left of the argument whose words were read last.
fn end_argument<'a>(words: &mut Peekable<impl Iterator<Item = Word<'a>>>) {
    while words.next_if(|word| !word.begins).is_some() {}
}

fn words(argument: &str) -> impl Iterator<Item = Word<'_>> {
    let starts = argument.match_indices('=').map(|(equals, _)| equals + 1);
    std::iter::once(0).chain(starts).map(|start| {
        let rest = &argument[start..];
        let name = rest.split_once('=').map_or(rest, |(name, _)| name);
        let begins = start == 0;
        Word { name, rest, begins }
    })
}

/// The value in one notation, whatever the one it is written in.
fn read_value(takes: Takes, text: &str) -> Option<String> {
    match takes {
        Takes::Int => number::int(text).map(|number| number.to_string()),
        Takes::Uint => number::uint(text).map(|number| number.to_string()),
        Takes::Float => number::float(text).map(|number| number.to_string()),
        Takes::Long => number::long(text).map(|number| number.to_string()),
        Takes::Wide => number::wide(text).map(|number| number.to_string()),
        Takes::Nothing | Takes::Text | Takes::MaybeText | Takes::MaybeAny => Some(text.to_owned()),
    }
}

fn invalid_value(text: &str, spelt: &str) -> Error {
    let message = format!(
        "ERROR: Option {text} is invalid for {spelt}. Please run 'nvidia-smi -h' for help.\n\n"
    );
    Error::new(Status::InvalidArgument, message)
}

fn missing_value(spelt: &str) -> Error {
    let message = format!(
        "ERROR: Option {spelt} is missing its value. Please run 'nvidia-smi -h' for help.\n\n"
    );
    Error::new(Status::Other, message)
}
