//! The command lines of subcommands: what follows the word, with the few
//! options that the subcommand has.

use std::ffi::OsString;

use super::options::{Opt, Takes};
use super::{Word, words_of};

/// What follows a subcommand's word, read with its options.
pub struct Line {
    given: Vec<Given>,
    stranger: Option<String>,
    missing: Option<String>,
}

struct Given {
    option: &'static Opt,
    spelt: String,
    value: Option<String>,
}

impl Line {
    /// Reads a line. A word that is one of the options is never a value.
    pub fn read(options: &'static [Opt], arguments: &[OsString]) -> Self {
        let text: Vec<String> = arguments
            .iter()
            .map(|raw| raw.to_string_lossy().into_owned())
            .collect();
        let find = |word: &Word| {
            options
                .iter()
                .find(|option| option.names.split(' ').any(|name| name == word.name))
        };
        let mut line = Self {
            given: Vec::new(),
            stranger: None,
            missing: None,
        };
        let mut words = words_of(&text).peekable();
        while let Some(word) = words.next() {
            let Some(option) = find(&word) else {
                line.stranger.get_or_insert_with(|| word.rest.to_owned());
                continue;
            };
            let value = match option.takes {
                Takes::Nothing => None,
                _ => words
                    .next_if(|next| find(next).is_none())
                    .map(|value| value.rest.to_owned()),
            };
            if value.is_none() && !matches!(option.takes, Takes::Nothing | Takes::MaybeText) {
                line.missing.get_or_insert_with(|| word.rest.to_owned());
            }
            line.given.push(Given {
                option,
                spelt: word.name.to_owned(),
                value,
            });
        }
        line
    }

    /// How often an option was given, by its [`Opt::word`].
    pub fn count(&self, word: &str) -> usize {
        let all = self.given.iter();
        all.filter(|given| given.option.word() == word).count()
    }

    /// Whether an option was given.
    pub fn has(&self, word: &str) -> bool {
        self.count(word) > 0
    }

    /// The value of an option; the last one counts.
    pub fn text(&self, word: &str) -> Option<&str> {
        self.last(word)?.value.as_deref()
    }

    /// The option as it was written.
    pub fn spelt(&self, word: &str) -> &str {
        self.last(word).map_or("", |given| &given.spelt)
    }

    fn last(&self, word: &str) -> Option<&Given> {
        let mut all = self.given.iter().rev();
        all.find(|given| given.option.word() == word)
    }

    /// What is wrong with the line, if anything: a word that is no option
    /// comes before an option without its value.
    pub fn complaint(&self) -> Option<String> {
        let stranger = self
            .stranger
            .as_ref()
            .map(|word| format!("Option \"{word}\" is not recognized.\n"));
        let missing = || {
            let word = self.missing.as_ref()?;
            Some(format!("Option \"{word}\" is missing its value.\n"))
        };
        stranger.or_else(missing)
    }
}
