//! The command line of a subcommand: a table of options each, one parser and
//! one usage screen for all.

use std::ffi::OsString;

use crate::args::Args;
use crate::error::Error;
use crate::nvml::{Driver, Gpu, Missing, Reading};
use crate::spelling::number;

use super::{c2c, mig, nvlink, pci, topo};

/// What an option takes after its name.
#[derive(Clone, Copy, PartialEq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// Any text.
    Text,
    /// Any text that does not look like an option, or nothing.
    MaybeText,
    /// A whole number, as C's `strtol` reads it.
    Number,
}

/// An option: one row of a subcommand's table.
pub struct Opt {
    /// Its spellings, `-m --matrix`; the first is its name in [`Given`].
    pub names: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it does, a line or more.
    pub help: &'static str,
}

impl Opt {
    /// A row of the table.
    pub const fn new(names: &'static str, takes: Takes, help: &'static str) -> Self {
        Self { names, takes, help }
    }

    fn name(&self) -> &'static str {
        self.names.split(' ').next().unwrap_or_default()
    }
}

/// A subcommand.
pub struct Subcommand {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its options, without `-h`.
    pub options: &'static [Opt],
    /// Does what the options ask. What is printed before a failure stays.
    pub run: fn(&Driver, &Given, &mut Vec<u8>) -> Result<(), Error>,
}

const HELP: Opt = Opt::new("-h --help", Takes::Nothing, "Show this screen.");

/// Those that are built.
const SUBCOMMANDS: &[&Subcommand] = &[
    &topo::TOPO,
    &nvlink::NVLINK,
    &c2c::C2C,
    &pci::PCI,
    &mig::MIG,
];

/// The subcommand of this name, if it is built.
pub fn find(name: &str) -> Option<&'static Subcommand> {
    SUBCOMMANDS.iter().copied().find(|known| known.name == name)
}

/// The options of a command line, with their values.
pub struct Given(Vec<(&'static str, String)>);

impl Given {
    /// Whether an option is there.
    pub fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// Whether any of these options is there.
    pub fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// An option's value, the last one given.
    pub fn text(&self, name: &str) -> Option<&str> {
        let last = self.0.iter().rfind(|(known, _)| *known == name);
        last.map(|(_, value)| value.as_str())
    }

    /// The number that an option was given.
    pub fn number(&self, name: &str) -> Option<i32> {
        number::long(self.text(name)?)
    }

    /// The GPUs that `-i` names, or all; those that NVML gives a handle for, but
    /// one that is named must have it.
    pub fn gpus<'d>(&self, driver: &'d Driver) -> Result<Vec<Gpu<'d>>, Error> {
        let args = Args {
            ids: self.text("-i").map(str::to_owned),
            ..Args::default()
        };
        let mut gpus = crate::select(driver, &args)?;
        let lost = gpus.iter().find_map(|gpu| Some((gpu, gpu.device().err()?)));
        if let (Some((gpu, missing)), true) = (lost, self.has("-i")) {
            return Err(Error::no_handle(gpu.index(), missing));
        }
        gpus.retain(|gpu| gpu.device().is_ok());
        Ok(gpus)
    }
}

impl Subcommand {
    /// Reads what follows the subcommand's name. A word that is no option is
    /// refused first, then an option without its value, then a value that is
    /// no number.
    pub fn read(&self, args: &[OsString]) -> Result<Given, Error> {
        let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
        // An argument is cut after each `=`; a word goes up to the next one.
        let words: Vec<(&str, &str)> = args.iter().flat_map(|arg| cut(arg)).collect();
        let mut given = Vec::new();
        let (mut missing, mut invalid) = (None, None);
        let mut at = 0;
        while let Some(&(name, whole)) = words.get(at) {
            at += 1;
            let Some(option) = self.option(name) else {
                return Err(Error::not_recognized(whole));
            };
            let mut value = String::new();
            if option.takes == Takes::MaybeText {
                if let Some((_, whole)) = words.get(at).filter(|(next, _)| !next.starts_with('-')) {
                    (*whole).clone_into(&mut value);
                    at += 1;
                }
            } else if option.takes != Takes::Nothing {
                match words.get(at) {
                    Some(&(next, whole)) if self.option(next).is_none() => {
                        whole.clone_into(&mut value)
                    }
                    _ => {
                        missing.get_or_insert(Error::missing_value(name));
                        continue;
                    }
                }
                at += 1;
            }
            if option.takes == Takes::Number && number::long(&value).is_none() {
                invalid.get_or_insert(Error::invalid_value(&value, name));
            }
            given.push((option.name(), value));
        }
        match missing.or(invalid) {
            Some(error) => Err(error),
            None => Ok(Given(given)),
        }
    }

    fn option(&self, name: &str) -> Option<&Opt> {
        let options = self.options.iter().chain([&HELP]);
        options
            .into_iter()
            .find(|option| option.names.split(' ').any(|known| known == name))
    }

    /// Whether nothing but the usage screen is asked for.
    pub fn asks_for_usage(&self, given: &Given) -> bool {
        given.0.is_empty() || given.has(HELP.name())
    }

    /// The answer to `-h`, made from the table.
    pub fn usage(&self, out: &mut Vec<u8>) {
        let Self { name, about, .. } = self;
        put(out, &format!("\n    {name} -- {about}\n\n"));
        put(
            out,
            &format!("    Usage: nvidia-smi {name} [options]\n\n    Options include:\n"),
        );
        for option in [&HELP].into_iter().chain(self.options) {
            let names = option.names.replace(' ', " | ");
            let help = option.help.replace('\n', "\n          ");
            put(out, &format!("    [{names}]: {help}\n"));
        }
        put(out, "\n\n");
    }
}

fn cut(argument: &str) -> impl Iterator<Item = (&str, &str)> {
    let starts = argument.match_indices('=').map(|(at, _)| at + 1);
    std::iter::once(0).chain(starts).map(|start| {
        let whole = &argument[start..];
        let end = whole.find('=').unwrap_or(whole.len());
        (&whole[..end], whole)
    })
}

/// Appends text.
pub fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// The line above what is said of a GPU.
pub fn heading(gpu: &Gpu, out: &mut Vec<u8>) {
    let shown = |text: Reading<String>| {
        text.unwrap_or_else(|missing| missing.words_or_not_available().to_owned())
    };
    let (name, uuid) = (shown(gpu.name()), shown(gpu.uuid()));
    let name = crate::value::printable(&name);
    put(
        out,
        &format!("GPU {}: {name} (UUID: {uuid})\n", gpu.index()),
    );
}

/// A count, or "N/A" or the words for why there is none.
pub fn count(reading: Reading<i64>) -> String {
    reading.map_or_else(
        |missing| Missing::words_or_not_available(missing).to_owned(),
        |n| n.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: Subcommand = Subcommand {
        name: "test",
        about: "",
        options: &[
            Opt::new("-m --matrix", Takes::Nothing, ""),
            Opt::new("-i --id", Takes::Text, ""),
            Opt::new("-c --cpu", Takes::Number, ""),
        ],
        run: |_, _, _| Ok(()),
    };

    fn read(line: &str) -> Result<Given, String> {
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
            ("-c", "Option \"-c\" is missing its value.\n"),
            ("-c -h", "Option \"-c\" is missing its value.\n"),
            ("-c -h -z", "Option \"-z\" is not recognized.\n"),
            ("-c -z", "Option \"-z\" is invalid for \"-c\".\n"),
            ("-c 1x", "Option \"1x\" is invalid for \"-c\".\n"),
            ("-c 1x -i", "Option \"-i\" is missing its value.\n"),
        ];
        for (line, message) in cases {
            assert_eq!(read(line).err().as_deref(), Some(message), "{line}");
        }
    }

    #[test]
    fn values_are_read() {
        let given = read("--id=0,1 -c 5 -c 0x10 --matrix");
        let Ok(given) = given else { panic!("refused") };
        assert_eq!(given.text("-i"), Some("0,1"));
        assert_eq!(given.number("-c"), Some(16));
        assert!(given.has("-m") && !given.has("-h"));
        let Ok(given) = read("-c=") else {
            panic!("refused")
        };
        assert_eq!(given.number("-c"), Some(0));
        assert!(TEST.asks_for_usage(&Given(vec![])));
    }
}
