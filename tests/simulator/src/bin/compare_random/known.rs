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
        const REFUSALS: &[&str] = &["--format= is missing", "Option --format is missing", "Option --format=--format", "\"--format=\"", "Format modifier --format=csv is mandatory"];
        REFUSALS.iter().any(|text| pair.real.stdout.contains(text))
    }),
    known("a value or an unknown word keeps the signs in it (R580)", |pair| {
        let refused = ["is not recognized", "is missing its value"].iter().any(|text| pair.real.stdout.contains(text));
        refused && pair.args.iter().any(|word| keeps_a_sign(word))
    }),
    known("a log file is left alone when there is nothing to write", |pair| {
        let watches = is(pair, "dmon") || is(pair, "pmon");
        let refused = if watches { pair.real.stdout.starts_with("Failed to process") && pair.nvsmi.stdout.contains("\nUsage: nvidia-smi ") } else { pair.real.stdout.starts_with("Failed to create") && pair.nvsmi.exit != Some(0) };
        // What nvidia-smi says into the file, nvsmi says where it is seen.
        let same = without_files(&pair.real.stdout) == without_files(&pair.nvsmi.stdout)
            || pair.real.exit == Some(255) && without_files(&pair.nvsmi.stdout).trim_end().ends_with(without_files(&pair.real.stdout).trim_end());
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
    known("the lists of GPU instances are wider (R580)", |pair| pair.has(&["-lgip", "-lgi"]) && pair.same_exit() && pair.same_in(tight)),
    known("pmon -s p is refused", |pair| is(pair, "pmon") && pair.real.exit.is_none() && pair.nvsmi.stdout.starts_with("Failed to find any metric to display")),
    known("a lost GPU's row (R580)", |pair| pair.real.stdout.contains("ERR! / ERR!") && pair.same_exit() && pair.same_in(tight)),
    known("nvlink -r, -g, -gc and -sc take no value (R580)", |pair| is(pair, "nvlink") && pair.has(&["-r", "-g", "-gc", "-sc"])),
    known("nvlink says Invalid Link, whatever is asked of it (R580)", |pair| is(pair, "nvlink") && pair.has(&["-l", "--link"]) && pair.nvsmi.stdout.contains("\t Invalid Link\n")),
    known("-r takes a kind of reset (R580)", |pair| pair.has(&["-r", "--gpu-reset"]) && pair.real.stdout.starts_with("ERROR: Option ")),
    known("a reset is refused while the GPU is in use", |pair| pair.has(&["-r", "--gpu-reset"]) && pair.nvsmi.stdout.starts_with("GPU Reset couldn't run because ")),
    known("a clock below 0 is refused", |pair| pair.mentions("-5") && pair.nvsmi.exit == Some(2) && pair.nvsmi.stdout.contains("Specified clocks \"-5\" are not valid")),
    known("-o takes D and T alone", |pair| pair.values(&["-o"]).any(|letters| !letters.is_ascii()) && pair.nvsmi.stdout.starts_with("Error in parsing options")),
    known("a unit that is no number is not unit 0", |pair| pair.nvsmi.stdout.starts_with("Invalid format for Unit index id")),
    known("counters of PCIe errors that there are not (R580)", |pair| is(pair, "pci") && pair.same_exit() && pair.real.stdout.replace(" error\n", " N/A\n") == pair.nvsmi.stdout),
    known("nvlink -e of Blackwell is R580's", |pair| is(pair, "nvlink") && pair.same_exit() && pair.real.stdout.contains("Replay Errors") && pair.nvsmi.stdout.contains("Tx packets")),
    known("of -l and -lms the later one counts", |pair| pair.nvsmi.exit.is_none() && pair.real.stdout.contains("Loop frequency must be greater than 0")),
    known("an MPS client's use is not halved", |pair| is(pair, "pmon") && pair.same_exit() && pair.nvsmi.stdout.contains(" M+C ") && pair.same_in(without_use)),
    known("a GPU that cannot be asked does not stop the others", |pair| {
        const STOPS: &[&str] = &["Failed to register events for GPU", "Not supported on the device(s)"];
        // With -f it is in the file.
        let file = pair.real.stdout.split_once(FILE_MARK).and_then(|(_, file)| file.split_once(']'));
        let file = file.map_or("", |(_, text)| text.trim_start());
        pair.nvsmi.exit != Some(2) && [&pair.real.stdout, file].iter().any(|text| starts_with_any(text, STOPS))
    }),
    known("a pair that -p2p cannot ask has a cell", |pair| {
        is(pair, "topo") && pair.has(&["-p2p"]) && pair.nvsmi.stdout.contains("\tU\t") && [Some(0), pair.nvsmi.exit].contains(&pair.real.exit)
    }),
    known("a mode that there is not is refused, also where there is none to set", |pair| {
        let modes = ["--auto-boost-default", "--auto-boost-permission"];
        pair.has(&modes) && pair.nvsmi.exit == Some(2) && pair.nvsmi.stdout.contains(": Invalid Argument\n")
    }),
    known("nvlink -sLowPwrThres refuses -1", |pair| {
        is(pair, "nvlink") && pair.values(&["-sLowPwrThres"]).any(|value| value == "-1") && pair.nvsmi.exit == Some(2)
    }),
    known("a clock beyond 32 bits is refused", |pair| pair.mentions("99999999999") && pair.nvsmi.exit == Some(2) && pair.nvsmi.stdout.starts_with("Specified clocks \"99999999999\" are not valid")),
    known("a GPU that cannot be asked is not one of any name", |pair| {
        // Of several lists the last one counts.
        let numbers = pair.values(&["-i", "--id"]).last().is_some_and(|ids| ids.split(',').any(is_number));
        pair.real.stdout.starts_with("Problem with GPU ") && !numbers && matches!(pair.nvsmi.exit, Some(0 | 6))
    }),
    known("links that cannot be counted, and a MIG mode that cannot be read, are told of", |pair| {
        let untold = ["NVLinks", "C2C links", "MIG mode"];
        untold.iter().any(|what| pair.nvsmi.stdout.contains(&format!("Unable to determine the {what} of GPU")))
    }),
    known("a range that cannot be read does not keep a power limit from being set", |pair| {
        pair.has(&["-pl", "--power-limit"]) && pair.real.stdout.contains("not supported in current scope") && pair.nvsmi.stdout.contains(" from unknown (")
    }),
    known("a GPU's reason has blanks around it", |pair| pair.simulated == "sick" && pair.same_exit() && pair.same_in(tight_reasons)),
    known("a reading that failed shows why", |pair| pair.same_exit() && tells_more(&pair.real.stdout, &pair.nvsmi.stdout)),
    known("words of some fields (R580)", |pair| pair.same_exit() && pair.same_in(with_words)),
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

/// Whether R550 would read more of a word than its option and its value: it begins anew at each sign.
fn keeps_a_sign(word: &str) -> bool {
    let (option, value) = word.split_once('=').unwrap_or((word, ""));
    !option.starts_with('-') && word.contains('=') || value.starts_with('-') || value.contains('=')
}

fn starts_with_any(text: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|start| text.starts_with(start))
}

/// Whether it may be a serial number.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// nvidia-smi's screens of help begin like this.
fn is_help(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "NVIDIA System Management Interface -- ",
        "List of valid properties to query for",
    ];
    starts_with_any(text, BEGINNINGS) || text.contains("\n    Usage: nvidia-smi ")
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

/// Lines of pmon, without the numbers of those that an MPS client has.
fn without_use(text: &str) -> String {
    let text = alike(text);
    let lines = text.lines().map(|line| match line.split_once(" M+C ") {
        Some((process, _)) => process,
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What NVML says of the GPU that the box `sick` has.
const REASON: &str = "GPU requires reset";

fn tight_reasons(text: &str) -> String {
    alike(text).replace(&format!(" {REASON}"), REASON)
}

/// Whether cells of csv are the same but for those that have the reason in the place of N/A. (A program
/// that was stopped had not said all.)
fn tells_more(real: &str, nvsmi: &str) -> bool {
    let (real, nvsmi) = (alike(real), alike(nvsmi));
    let reason = format!("[{REASON}]");
    let cells = |text: &str| -> Vec<String> {
        text.split(", ")
            .flat_map(|cell| cell.split('\n'))
            .map(str::to_owned)
            .collect()
    };
    nvsmi.contains(&reason)
        && cells(&real)
            .iter()
            .zip(&cells(&nvsmi))
            .all(|(real, nvsmi)| real == nvsmi || real == "[N/A]" && *nvsmi == reason)
}
