//! Lines that nobody would write: whatever they are, they are read or refused with
//! a word about why.

use proptest::prelude::*;

use std::ffi::OsString;

use super::{SUBCOMMANDS, sessions, watching};
use crate::cli::{self, Command, Line, Opt, Request, Takes, all_options};
use crate::error::Error;

/// Options of subcommands, and values.
const OTHERS: &str = "--timeout|--debug|-c|-s|-o|-d|-m|-p|-p2p|-gt|-gc|-sm|-srs|--gpm-metrics|\
    --gpm-options|0|1|-1|1.5|csv,noheader|name,uuid|0000:19:00.0||=|-|--|a=b=c|\
    18446744073709551616|nan|puc";

/// Words that lines are made of: options, subcommands, values, and bytes.
fn word() -> impl Strategy<Value = OsString> {
    let options: Vec<&'static str> = all_options()
        .flat_map(Opt::spellings)
        .chain(SUBCOMMANDS.iter().map(|known| known.name))
        .chain(OTHERS.split('|'))
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

fn read(words: impl IntoIterator<Item = OsString>) -> Result<Request, Error> {
    cli::read(words, SUBCOMMANDS)
}

/// What a subcommand makes of its line.
fn read_subcommand(name: &str, line: &Line) -> Result<(), Error> {
    match name {
        "dmon" => watching::pace(line, 600).map(drop).map_err(Error::refused),
        "pmon" => watching::pace(line, 10).map(drop).map_err(Error::refused),
        "encodersessions" | "fbcsessions" => sessions::every(line).map(drop),
        _ => Ok(()),
    }
}

/// An option that is spelt in several ways, and two of them.
fn spellings() -> impl Strategy<Value = (&'static Opt, &'static str, &'static str)> {
    let several = all_options().flat_map(|option| {
        let first = option.spellings().next().unwrap_or_default();
        let others = option.spellings().skip(1);
        others.map(move |other| (option, first, other))
    });
    let several: Vec<_> = several.collect();
    prop::sample::select(several)
}

#[test]
fn every_option_of_a_subcommand_is_read_or_refused_with_a_word() {
    for known in SUBCOMMANDS {
        for name in known.all_options().flat_map(Opt::spellings) {
            for value in ["", "=1"] {
                let words = [known.name.to_owned(), format!("{name}{value}")];
                let refused = read(words.map(OsString::from)).err();
                let told = refused.is_none_or(|error| !error.to_string().trim().is_empty());
                assert!(told, "{} {name}{value}", known.name);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_line_is_read_or_refused_with_a_word(line in line()) {
        let refused = match read(line) {
            Ok(Request { command: Command::Subcommand(known, line), .. }) => read_subcommand(known.name, &line).err(),
            Ok(request) => request.every.and_then(Result::err),
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
            read(before.into_iter().chain(words).map(OsString::from))
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
