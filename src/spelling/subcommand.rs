//! The command lines of subcommands: a table of options each, and one parser
//! for all. Where the families of nvidia-smi differ, a subcommand says so in
//! its row.

use std::ffi::OsString;

use super::options::{Opt, Takes};
use super::{Word, end_argument, number, words_of};
use crate::error::{Error, Status};
use crate::help;

/// A subcommand: what its lines look like, and what they do.
pub struct Subcommand {
    /// The word that asks for it.
    pub name: &'static str,
    /// What it is for, in a line.
    pub about: &'static str,
    /// What else its usage screen says before the options.
    pub notes: &'static str,
    /// Its options but for `-h`, in the order shown.
    pub options: &'static [Opt],
    /// How it takes a bad line.
    pub refuses: Refuses,
    /// What a line must have; without it, the usage screen is the answer.
    pub needs: Needs,
    /// What a line does.
    pub run: Run,
}

/// What the line of a subcommand does.
#[derive(Clone, Copy)]
pub enum Run {
    /// Nothing yet: that is not built.
    NotBuilt,
    /// It refuses what it asks for: NVML has no public function.
    Refused(Action),
    /// What it asks for, and then it ends.
    Once(Action),
    /// What it asks for, again and again until it is interrupted.
    Endlessly(Action),
}

/// Does what a line asks for.
pub type Action = fn(&Line) -> anyhow::Result<()>;

/// How a subcommand takes a line that it cannot read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Refuses {
    /// It says what is wrong, with status 2, even to a line that asks for help.
    Tersely,
    /// It helps who asks for it, and else says what is wrong above its options,
    /// with status 0.
    WithUsage,
}

/// What a line must have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// An option.
    Option,
    /// An option besides `-i`.
    Command,
}

impl Subcommand {
    /// One that nvidia-smi has and nvsmi does not.
    pub const fn not_built(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            notes: "",
            options: &[],
            refuses: Refuses::Tersely,
            needs: Needs::Nothing,
            run: Run::NotBuilt,
        }
    }

    /// Its options, `-h` after them.
    pub fn all_options(&self) -> impl Iterator<Item = &'static Opt> {
        self.options.iter().chain([&HELP])
    }

    /// Reads what follows the subcommand's name, or says what is wrong with it.
    pub fn read(&'static self, arguments: &[OsString]) -> Result<Line, Error> {
        let line = Line::scan(self, arguments);
        match (line.complaint(), self.refuses) {
            (None, _) => Ok(line),
            (Some(_), Refuses::WithUsage) if line.has(HELP.word()) => Ok(line),
            (Some(complaint), Refuses::WithUsage) => Err(line.refuse(&complaint)),
            (Some(complaint), Refuses::Tersely) => Err(Error::refused(complaint)),
        }
    }
}

const HELP: Opt = opt("-h --help", Takes::Nothing, "", "Show this screen");

/// `-i`, for several subcommands.
pub const ID: Opt = opt(
    "-i --id",
    Takes::Text,
    "IDS",
    "Only these GPUs: index, UUID, serial or PCI bus id,\nseveral with commas between them",
);

/// A row of a subcommand's table.
pub const fn opt(
    names: &'static str,
    takes: Takes,
    value: &'static str,
    help: &'static str,
) -> Opt {
    Opt {
        names,
        takes,
        forms: &[],
        value,
        help,
    }
}

/// What follows a subcommand's word, read with its options.
pub struct Line {
    subcommand: &'static Subcommand,
    given: Vec<Given>,
    stranger: Option<String>,
    missing: Option<String>,
    /// The first value that is no number, and its option.
    invalid: Option<(String, String)>,
}

struct Given {
    option: &'static Opt,
    spelt: String,
    value: Option<String>,
}

impl Line {
    /// A word that is one of the options is never a value; a value goes to the end
    /// of its argument.
    fn scan(subcommand: &'static Subcommand, arguments: &[OsString]) -> Self {
        let text: Vec<String> = arguments
            .iter()
            .map(|raw| raw.to_string_lossy().into_owned())
            .collect();
        let find = |word: &Word| {
            subcommand
                .all_options()
                .find(|option| option.names.split(' ').any(|name| name == word.name))
        };
        let mut line = Self {
            subcommand,
            given: Vec::new(),
            stranger: None,
            missing: None,
            invalid: None,
        };
        let mut words = words_of(&text).peekable();
        while let Some(word) = words.next() {
            let Some(option) = find(&word) else {
                line.stranger.get_or_insert_with(|| word.rest.to_owned());
                end_argument(&mut words);
                continue;
            };
            let value = match option.takes {
                Takes::Nothing => None,
                _ => words
                    .next_if(|next| find(next).is_none())
                    .map(|value| value.rest.to_owned()),
            };
            if value.is_some() {
                end_argument(&mut words);
            }
            let is_number = match (option.takes, &value) {
                (Takes::Long, Some(text)) => number::long(text).is_some(),
                (Takes::Wide, Some(text)) => number::wide(text).is_some(),
                (Takes::Nothing | Takes::MaybeText, None) | (_, Some(_)) => true,
                (_, None) => {
                    line.missing.get_or_insert_with(|| word.rest.to_owned());
                    true
                }
            };
            if let (false, Some(text)) = (is_number, &value) {
                let invalid = || (text.clone(), word.rest.to_owned());
                line.invalid.get_or_insert_with(invalid);
            }
            line.given.push(Given {
                option,
                spelt: word.rest.to_owned(),
                value,
            });
        }
        line
    }

    /// How often an option was given, by its [`Opt::word`].
    pub fn count(&self, word: &str) -> usize {
        debug_assert!(self.knows(word), "no option is called {word}");
        let all = self.given.iter();
        all.filter(|given| given.option.word() == word).count()
    }

    /// Whether an option was given.
    pub fn has(&self, word: &str) -> bool {
        self.count(word) > 0
    }

    /// Whether any of these options was given.
    pub fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.has(word))
    }

    /// The options given besides `-i` and `-h`, each once, in the table's order.
    pub fn commands(&self) -> Vec<&'static str> {
        let words = self.subcommand.options.iter().map(Opt::word);
        words
            .filter(|word| *word != ID.word() && self.has(word))
            .collect()
    }

    /// The one option given besides `-i` and `-h`, for subcommands that do one thing
    /// at a time: several are refused, and so is one given twice, even `-i`.
    pub fn one_command(&self) -> Result<&'static str, Error> {
        let given = self.given.len() - usize::from(self.has(ID.word()));
        match self.commands()[..] {
            [word] if given == 1 => Ok(word),
            _ => Err(Error::refused(format!(
                "One, and only one, {} command allowed at a time\n",
                self.subcommand.name
            ))),
        }
    }

    /// The value of an option; the last one counts.
    pub fn text(&self, word: &str) -> Option<&str> {
        self.last(word)?.value.as_deref()
    }

    /// The number that an option was given, cut to 32 bits.
    pub fn number(&self, word: &str) -> Option<i32> {
        number::long(self.text(word)?)
    }

    /// The number that an option was given which changes something: nothing at
    /// all, or what does not fit 32 bits, is refused rather than taken for another.
    pub fn exact(&self, word: &str) -> Result<Option<i32>, Error> {
        let number = |text| number::signed(text).ok_or_else(|| self.invalid(word));
        self.text(word).map(number).transpose()
    }

    /// The number of 64 bits that an option was given.
    pub fn wide(&self, word: &str) -> Option<u64> {
        number::wide(self.text(word)?)
    }

    /// What to say of a value that its option cannot have.
    pub fn invalid(&self, word: &str) -> Error {
        let (value, spelt) = self.last(word).map_or(("", ""), |given| {
            (given.value.as_deref().unwrap_or_default(), &given.spelt)
        });
        Error::refused(invalid(value, spelt))
    }

    fn knows(&self, word: &str) -> bool {
        let mut options = self.subcommand.all_options();
        options.any(|option| option.word() == word)
    }

    fn last(&self, word: &str) -> Option<&Given> {
        debug_assert!(self.knows(word), "no option is called {word}");
        let mut all = self.given.iter().rev();
        all.find(|given| given.option.word() == word)
    }

    /// What is wrong with the line, if anything: a value that is no number comes
    /// before a word that is no option, and that before an option without its value.
    fn complaint(&self) -> Option<String> {
        if let Some((value, spelt)) = &self.invalid {
            return Some(invalid(value, spelt));
        }
        if let Some(word) = &self.stranger {
            return Some(format!("Option \"{word}\" is not recognized.\n"));
        }
        let word = self.missing.as_ref()?;
        Some(format!("Option \"{word}\" is missing its value.\n"))
    }

    /// What is wrong with the line above the options; nvidia-smi ends with status
    /// 0 all the same.
    pub fn refuse(&self, complaint: &str) -> Error {
        let usage = help::subcommand_usage(self.subcommand);
        Error::new(Status::Success, format!("{complaint}{usage}"))
    }

    /// Whether nothing but the usage screen is asked for.
    pub fn asks_for_usage(&self) -> bool {
        let nothing = match self.subcommand.needs {
            Needs::Nothing => false,
            Needs::Option => self.given.is_empty(),
            Needs::Command => self.commands().is_empty(),
        };
        nothing || self.has(HELP.word())
    }
}

fn invalid(value: &str, spelt: &str) -> String {
    format!("Option \"{value}\" is invalid for \"{spelt}\".\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    static TEST: Subcommand = Subcommand {
        options: &[
            opt("-m --matrix", Takes::Nothing, "", ""),
            ID,
            opt("-c --cpu", Takes::Long, "N", ""),
            opt("-w --wide", Takes::Wide, "N", ""),
            opt("-o", Takes::MaybeText, "TEXT", ""),
        ],
        needs: Needs::Command,
        ..Subcommand::not_built("test", "")
    };

    fn read(line: &str) -> Result<Line, String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        TEST.read(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_wrong_is_told_as_nvidia_smi_tells_it() {
        let cases = [
            ("-z", "Option \"-z\" is not recognized.\n"),
            ("-m bogus", "Option \"bogus\" is not recognized.\n"),
            ("-m=3", "Option \"3\" is not recognized.\n"),
            ("-x=3", "Option \"-x=3\" is not recognized.\n"),
            ("-m=3=-m", "Option \"3=-m\" is not recognized.\n"),
            ("-c", "Option \"-c\" is missing its value.\n"),
            ("-c=-m", "Option \"-c=-m\" is missing its value.\n"),
            ("-c -h", "Option \"-c\" is missing its value.\n"),
            ("-c -h -z", "Option \"-z\" is not recognized.\n"),
            ("-c -z", "Option \"-z\" is invalid for \"-c\".\n"),
            ("-c 1x", "Option \"1x\" is invalid for \"-c\".\n"),
            ("-c=1x", "Option \"1x\" is invalid for \"-c=1x\".\n"),
            ("-c 1=3", "Option \"1=3\" is invalid for \"-c\".\n"),
            ("-w -1", "Option \"-1\" is invalid for \"-w\".\n"),
            ("-i -z -c 1x", "Option \"1x\" is invalid for \"-c\".\n"),
            ("-c 1x -i", "Option \"1x\" is invalid for \"-c\".\n"),
        ];
        for (line, message) in cases {
            assert_eq!(read(line).err().as_deref(), Some(message), "{line}");
        }
    }

    #[test]
    fn values_are_read() {
        let Ok(line) = read("--id=0,1 -c 5 -o -c 0x10 --matrix") else {
            panic!("refused")
        };
        assert_eq!(line.text("id"), Some("0,1"));
        assert_eq!(line.number("cpu"), Some(16));
        assert_eq!(line.commands(), ["matrix", "cpu", "o"]);
        assert!(line.has("matrix") && !line.asks_for_usage());
        let Ok(line) = read("-c= -o x") else {
            panic!("refused")
        };
        assert_eq!((line.number("cpu"), line.text("o")), (Some(0), Some("x")));
        for text in ["-i 0=x", "--id=0=x"] {
            assert_eq!(
                read(text).ok().as_ref().and_then(|line| line.text("id")),
                Some("0=x")
            );
        }
        assert!(read("-i 0=-m").is_ok_and(|line| !line.has("matrix")));
    }

    #[test]
    fn nothing_asked_is_a_question_for_help() {
        for text in ["-i 0", "-h", "-m -h"] {
            assert!(read(text).is_ok_and(|line| line.asks_for_usage()), "{text}");
        }
    }
}
