//! The differences that are known and meant.

use super::Pair;

/// A difference that is meant: its name, and how to tell it.
pub struct Known {
    /// What differs.
    pub name: &'static str,
    /// Whether this is it.
    pub holds: fn(&Pair) -> bool,
}

/// The table, the more particular rows first.
pub const KNOWN: &[Known] = &[
    Known {
        name: "not in nvsmi yet",
        holds: |pair| pair.nvsmi.stdout.contains("nvsmi does not have"),
    },
    Known {
        name: "nvidia-smi crashed",
        holds: |pair| pair.real.exit.is_some_and(|code| code < 0),
    },
    Known {
        name: "help, in own words",
        holds: |pair| {
            pair.same_exit() && (is_help(&pair.real.stdout) || pair.has(&["-h", "--help"]))
        },
    },
    Known {
        name: "a wrong line is refused without a driver",
        holds: |pair| {
            matches!(pair.real.exit, Some(6 | 9 | 12 | 18))
                && matches!(pair.nvsmi.exit, Some(2 | 255))
        },
    },
    Known {
        name: "help needs no driver",
        holds: |pair| {
            pair.nvsmi.exit == Some(0)
                && pair
                    .args
                    .iter()
                    .any(|word| word.starts_with("--help-query-"))
        },
    },
    Known {
        name: "-l, -lms with a bad number are refused",
        holds: |pair| pair.nvsmi.stdout.contains("is not a number greater than 0"),
    },
    Known {
        name: "-l 0.5 is half a second",
        holds: |pair| {
            pair.args.iter().any(|word| word.ends_with("0.5")) && pair.has(&["-l", "--loop"])
        },
    },
    Known {
        name: "--format may be left out, or lack its value (R580)",
        holds: |pair| {
            [
                "--format= is missing",
                "Option --format is missing",
                "\"--format=\"",
            ]
            .iter()
            .any(|text| pair.real.stdout.contains(text))
        },
    },
    Known {
        name: "-g is -i",
        holds: |pair| pair.has(&["-g", "--gpu"]),
    },
    Known {
        name: "-col is of R580",
        holds: |pair| pair.has(&["-col", "--columns"]),
    },
    Known {
        name: "a log file is left alone when there is nothing to write",
        holds: |pair| {
            let no_devices =
                pair.real.stdout.starts_with("Failed to create") && pair.nvsmi.exit == Some(6);
            let same = without_files(&pair.real.stdout) == without_files(&pair.nvsmi.stdout);
            pair.has(&["-f", "--filename"]) && (no_devices || same && pair.same_exit())
        },
    },
];

/// nvidia-smi's screens of help begin like this.
fn is_help(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "NVIDIA System Management Interface -- ",
        "List of valid properties to query for the switch",
    ];
    BEGINNINGS.iter().any(|start| text.starts_with(start))
}

fn without_files(text: &str) -> &str {
    text.split_once(super::FILE_MARK)
        .map_or(text, |(before, _)| before)
}
