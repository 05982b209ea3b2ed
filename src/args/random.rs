//! Lines that nobody would write: whatever they are, they are read or refused with
//! a word about why.

use proptest::prelude::*;

use super::*;
use crate::commands::{self, SUBCOMMANDS};
use crate::spelling::options::{GROUPS, Opt, Takes};

/// Words that lines are made of: options, subcommands, values, and bytes.
fn word() -> impl Strategy<Value = OsString> {
    let options: Vec<&'static str> = GROUPS
        .iter()
        .flat_map(|group| group.options)
        .flat_map(|option| option.names.split(' '))
        .chain(SUBCOMMANDS.iter().map(|known| known.name))
        .chain([
            "--timeout",
            "--debug",
            "-c",
            "-s",
            "-o",
            "-d",
            "-m",
            "-p",
            "-p2p",
            "-gt",
            "-gc",
            "-sm",
            "-srs",
            "--gpm-metrics",
            "--gpm-options",
            "0",
            "1",
            "-1",
            "1.5",
            "csv,noheader",
            "name,uuid",
            "0000:19:00.0",
            "",
            "=",
            "-",
            "--",
            "a=b=c",
            "18446744073709551616",
            "nan",
            "puc",
        ])
        .collect();
    let known = prop::sample::select(options);
    let text = "\\PC{0,12}".prop_map(OsString::from);
    let bytes = prop::collection::vec(any::<u8>(), 0..6)
        .prop_map(std::os::unix::ffi::OsStringExt::from_vec);
    let joined =
        (known.clone(), "\\PC{0,8}").prop_map(|(name, value)| format!("{name}={value}").into());
    prop_oneof![
        6 => known.prop_map(OsString::from),
        2 => joined,
        1 => text,
        1 => bytes,
    ]
}

fn line() -> impl Strategy<Value = Vec<OsString>> {
    prop::collection::vec(word(), 0..7)
}

/// What a subcommand makes of its words.
fn read_subcommand(name: &str, words: &[OsString]) -> Result<(), Error> {
    let Some(known) = commands::subcommand(name) else {
        return Ok(());
    };
    let line = known.read(words)?;
    match name {
        "dmon" => Watch::read(&line, 600).map(drop),
        "pmon" => Watch::read(&line, 10).map(drop),
        "encodersessions" | "fbcsessions" => Sessions::read(&line).every().map(drop),
        _ => Ok(()),
    }
}

/// An option that is spelt in several ways, and two of them.
fn spellings() -> impl Strategy<Value = (&'static Opt, &'static str, &'static str)> {
    let several: Vec<(&'static Opt, &'static str, &'static str)> = GROUPS
        .iter()
        .flat_map(|group| group.options)
        .flat_map(|option| {
            let first = option.names.split(' ').next().unwrap_or_default();
            option
                .names
                .split(' ')
                .skip(1)
                .map(move |other| (option, first, other))
        })
        .collect();
    prop::sample::select(several)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_line_is_read_or_refused_with_a_word(line in line()) {
        let refused = match Args::read(line) {
            Ok(Args { command: Command::Subcommand { name, args }, .. }) => read_subcommand(name, &args).err(),
            Ok(args) => args.every.as_ref().and_then(|every| every.read().err()),
            Err(error) => Some(error),
        };
        if let Some(error) = refused {
            prop_assert!(!error.to_string().trim().is_empty());
        }
    }

    #[test]
    fn all_spellings_of_an_option_mean_the_same(
        (option, one, other) in spellings(),
        value in prop_oneof!["[0-9]{1,4}", "[a-z,]{1,6}", Just("1".to_owned())],
        before in prop::sample::select(vec!["", "-q", "--query-gpu=name", "-i=0", "-pm=1"]),
        joined in any::<bool>(),
    ) {
        let spelt = |name: &str| {
            let words = match (option.takes, joined) {
                (Takes::Nothing, _) => vec![name.to_owned()],
                (_, true) => vec![format!("{name}={value}")],
                (_, false) => vec![name.to_owned(), value.clone()],
            };
            let before = (!before.is_empty()).then(|| before.to_owned());
            Args::read(before.into_iter().chain(words).map(OsString::from))
        };
        match (spelt(one), spelt(other)) {
            (Ok(one), Ok(other)) => prop_assert_eq!(one, other),
            // Messages quote what was written.
            (one, other) => prop_assert_eq!(
                one.map_err(|error| error.status()),
                other.map_err(|error| error.status())
            ),
        }
    }
}
