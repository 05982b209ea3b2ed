//! The differences that are known and meant, and those of R550 and R580.

use simulator::trial::FILE_MARK;

use super::{layout::alike, pair::Pair};

/// A difference that is meant: its name, and how to tell it.
pub struct Known {
    /// What differs.
    pub name: &'static str,
    /// Whether this is it.
    pub holds: fn(&Pair) -> bool,
}

const fn known(name: &'static str, holds: fn(&Pair) -> bool) -> Known {
    Known { name, holds }
}

/// The table, the more particular rows first.
#[rustfmt::skip]
pub const KNOWN: &[Known] = &[
    known("not in nvsmi yet", |pair| ["nvsmi does not have", "nvsmi does not create"].iter().any(|text| pair.nvsmi.stdout.contains(text))),
    known("nvidia-smi crashed", |pair| pair.real.exit.is_some_and(|code| code < 0)),
    known("help, in own words", |pair| pair.same_exit() && (is_help(&pair.real.stdout) || pair.has(&["-h", "--help"]))),
    known("help needs no driver, and a wrong line is refused without one", |pair| {
        matches!(pair.real.exit, Some(6 | 9 | 12 | 18)) && matches!(pair.nvsmi.exit, Some(0 | 2 | 255))
            && (pair.real.exit != Some(6) || pair.nvsmi.exit != Some(0))
    }),
    known("-l, -lms with a bad number are refused", |pair| pair.nvsmi.stdout.contains("is not a number greater than 0")),
    known("-l 0.5 is half a second", |pair| pair.mentions("0.5") && pair.has(&["-l", "--loop"])),
    known("-g is -i", |pair| pair.has(&["-g", "--gpu"])),
    known("-col is of R580", |pair| pair.has(&["-col", "--columns"])),
    known("--format may be left out, or lack its value, or csv (R580)", |pair| {
        const REFUSALS: &[&str] = &["--format= is missing", "Option --format is missing", "\"--format=\"", "Format modifier --format=csv is mandatory"];
        REFUSALS.iter().any(|text| pair.real.stdout.contains(text))
    }),
    known("a log file is left alone when there is nothing to write", |pair| {
        let refused = pair.real.stdout.starts_with("Failed to create") && pair.nvsmi.exit != Some(0);
        let same = without_files(&pair.real.stdout) == without_files(&pair.nvsmi.stdout);
        pair.has(&["-f", "--filename"]) && (refused || same && pair.same_exit())
    }),
    known("dmon --format is of R580", |pair| pair.args.first().is_some_and(|word| word == "dmon") && pair.has(&["--format"])),
    known("the version of --dtd is R580's", |pair| pair.same_exit() && is_dtd(&pair.real.stdout) && is_dtd(&pair.nvsmi.stdout)),
    known("conf-compute -q is of R580", |pair| is(pair, "conf-compute") && pair.has(&["-q", "--query-conf-compute"])),
    known("NVML has no public function for it", |pair| pair.nvsmi.stdout.contains("NVML has no public function")),
    known("drain and conf-compute refuse junk", |pair| {
        const REFUSALS: &[&str] = &["\" is invalid for \"-", "Failed to parse device"];
        let changing = is(pair, "drain") || is(pair, "conf-compute");
        changing && pair.nvsmi.exit == Some(2) && REFUSALS.iter().any(|text| pair.nvsmi.stdout.contains(text))
    }),
    known("power-profiles and power-smoothing are of R580", |pair| is(pair, "power-profiles") || is(pair, "power-smoothing")),
    known("pci -gCnt is of R580", |pair| pair.has(&["-gCnt"])),
    known("the report of -q is R580's", |pair| pair.same_exit() && is_report(&pair.real.stdout) && is_report(&pair.nvsmi.stdout)),
    known("pcie.link.gen.hostmax is from sysfs", |pair| pair.mentions("pcie.link.gen.hostmax")),
    known("the infoROM is not checked", |pair| pair.real.exit == Some(14) && pair.nvsmi.exit == Some(0)),
    known("MIG devices of one GPU instance share a cell (R550)", |pair| pair.real.stdout.contains(SHARED_CELL)),
    known("display_mode is deprecated (R580)", |pair| pair.mentions("display_mode")),
    known("the lists of GPU instances are wider (R580)", |pair| pair.has(&["-lgip", "-lgi"]) && pair.same_exit() && tight(&pair.real.stdout) == tight(&pair.nvsmi.stdout)),
    known("words of some fields (R580)", |pair| pair.same_exit() && with_words(&pair.real.stdout) == with_words(&pair.nvsmi.stdout)),
];

/// The rule between two rows of the table of MIG devices, with nothing below the memory's column.
const SHARED_CELL: &str = "+------------------+                                  +-----------+";

/// A document type, which names its version first.
fn is_dtd(text: &str) -> bool {
    text.starts_with("<!-- nvsmi_")
}

fn is(pair: &Pair, subcommand: &str) -> bool {
    pair.args.first().is_some_and(|word| word == subcommand)
}

/// nvidia-smi's screens of help begin like this.
fn is_help(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "NVIDIA System Management Interface -- ",
        "List of valid properties to query for",
    ];
    BEGINNINGS.iter().any(|start| text.starts_with(start))
        || text.contains("\n    Usage: nvidia-smi ")
}

/// The whole report, which R580 has more lines in.
fn is_report(text: &str) -> bool {
    text.starts_with("\n==============NVSMI LOG==============") || text.starts_with("<?xml")
}

/// A framed list without blanks and lines.
fn tight(text: &str) -> String {
    text.chars().filter(|c| !" -=".contains(*c)).collect()
}

fn without_files(text: &str) -> &str {
    text.split_once(FILE_MARK)
        .map_or(text, |(before, _)| before)
}

/// A text in which the values that R550 spells otherwise are alike: fabric states, and whether rows wait to
/// be remapped.
fn with_words(text: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("state  N/A", "N/A"),
        ("status N/A", "N/A"),
        ("state  Completed", "Completed"),
        ("status Success", "Success"),
        ("No", "0"),
        ("Yes", "1"),
    ];
    WORDS
        .iter()
        .fold(alike(text), |text, (from, to)| text.replace(from, to))
}
