//! The lines without a subcommand.
//!
//! nvidia-smi tries one form of command line after another. Each form knows some
//! of the options and reads the whole line with those alone. The first form whose
//! question the line asks answers it, and only then does a word matter that the
//! form does not know. So the form that gets a bad line decides what is said of it.

use std::path::PathBuf;
use std::time::Duration;

use super::line::{Check, Fault, Given, Line};
use super::{Command, List, Request, number, options};
use crate::error::{Error, Status};

use Fault::{Invalid, Missing, Unknown};
use Status::{InvalidArgument, Other};

/// A change to the GPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Modify {
    /// The option that makes the change, with its value. `None` where nvidia-smi
    /// takes the value for none (-1), or where `-i` given twice made a change of
    /// nothing. That is refused once the GPUs are found.
    pub change: Option<Given>,
    /// `-m`: how `-lgc` holds the clock, 0 or 1.
    pub mode: Option<u32>,
    /// `-sc`: what `-pl` limits, 0 the GPU or 1 the module; anything else is
    /// refused with the change.
    pub scope: Option<u32>,
    /// `-eow`: warnings end the command.
    pub error_on_warning: bool,
    /// `--dry-run`, which the real tool lacks: say what would be changed.
    pub dry_run: bool,
}

/// The options that say how or where, and are no change themselves.
const BESIDE: &[&str] = &["id", "gpu", "error-on-warning", "dry-run", "mode", "scope"];

/// The options that one form knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `-h`.
    Help,
    /// `--version`.
    Version,
    /// `-L` or `-B`.
    List,
    /// nvidia-smi has one more form, which it does not advertise and nvsmi lacks:
    /// it knows `-f` and nothing else. A `-f` without its file ends here.
    File,
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

/// How a form takes a line.
struct Grammar {
    form: Form,
    /// What is wrong with a line of this form, in nvidia-smi's order. An option
    /// without its value is refused in a line of another form too.
    checks: &'static [Check],
    /// What a line asks for, if it is of this form.
    asks: fn(&Line) -> Option<Request>,
}

/// The forms, in the order in which they are tried.
#[rustfmt::skip]
const FORMS: &[Grammar] = &[
    Grammar { form: Form::Help, checks: &[NOT_VALID], asks: help },
    Grammar { form: Form::Version, checks: &[ALONE, NOT_VALID], asks: version },
    Grammar { form: Form::List, checks: &[ALONE, NOT_VALID], asks: list },
    Grammar { form: Form::File, checks: &[MISSING], asks: |_| None },
    Grammar { form: Form::Modify, asks: modify, checks: &[
        INVALID,
        MISSING,
        Check::Never(|line| line.has("mode") && !line.has("lock-gpu-clocks"), "Invalid combination of input arguments. '--mode' can only be used with '--lock-gpu-clocks'.\n\n"),
        Check::Never(|line| line.has("scope") && !line.has("power-limit"), "Invalid combination of input arguments. '--scope' can only be used with '--power-limits'.\n\n"),
        Check::Never(|line| line.count_beside(BESIDE) > 1, "Invalid combination of input arguments. Only one device modification may be done at a time.\n\n"),
        Check::Word(Unknown, Other, UNRECOGNIZED),
    ]},
    Grammar { form: Form::Unit, asks: unit, checks: &[MISSING, INVALID, Check::Word(Unknown, InvalidArgument, UNRECOGNIZED)] },
    Grammar { form: Form::Dtd, asks: dtd, checks: &[MISSING, Check::Word(Unknown, Other, UNRECOGNIZED)] },
    Grammar { form: Form::Query, asks: help_query, checks: &[MISSING] },
    Grammar { form: Form::Query, asks: query, checks: &[
        MISSING,
        Check::Never(|line| lists(line).count() > 1, "Only one --query-* switch can be used at a time.\n"),
        Check::Word(Unknown, InvalidArgument, UNRECOGNIZED),
    ]},
    Grammar { form: Form::Log, asks: log, checks: &[
        MISSING,
        INVALID,
        Check::Word(Unknown, Other, "ERROR: Option {} is not recognized. Please run 'nvidia-smi -h'.\n\n"),
        Check::Never(|line| line.has("unit") && !reports(line), "Invalid combination of input arguments. Specify -q/--query and -u/--unit to run a unit query.  Please run 'nvidia-smi -h' for help.\n\n"),
        Check::Never(|line| line.has("xml-format") && !reports(line), "Invalid combination of input arguments. Specify -q/--query and -x/--xml-format to run an XML query.  Please run 'nvidia-smi -h' for help.\n\n"),
        Check::Never(|line| line.has("display") && !reports(line), "Invalid combination of input arguments. Specify -q/--query and -d/--display to run a filtered query.  Please run 'nvidia-smi -h' for help.\n\n"),
        Check::Also(|line| every(line).transpose().map(drop)),
        Check::Never(|line| line.has("display") && line.has("xml-format"), "Invalid combination of input arguments: --display/-d flags can not be combined with -x/--xml-format flags.\n"),
        Check::Never(|line| line.has("display") && line.has("unit"), "Invalid combination of input arguments: --display/-d flags can not be combined with -u/--unit flags.\n"),
        Check::Never(|line| line.has("dtd") && !line.has("xml-format"), "Invalid combination of input arguments: Specify -x/--xml-format with the -q/--query and --dtd flags to embed DTD.\n"),
    ]},
];

#[rustfmt::skip]
const MISSING: Check = Check::Word(Missing, Other, "ERROR: Option {} is missing its value. Please run 'nvidia-smi -h' for help.\n\n");
#[rustfmt::skip]
const INVALID: Check = Check::Word(Invalid, InvalidArgument, "ERROR: Option {} is invalid for {}. Please run 'nvidia-smi -h' for help.\n\n");
#[rustfmt::skip]
const NOT_VALID: Check = Check::Word(Unknown, InvalidArgument, "ERROR: Option {} is not valid for this command. Please run 'nvidia-smi -h' for help.\n\n");
#[rustfmt::skip]
const ALONE: Check = Check::Never(|line| line.given.len() > 1, "ERROR: Only one command can be run at a time. Please run 'nvidia-smi -h' for help.\n\n");
const UNRECOGNIZED: &str =
    "ERROR: Option {} is not recognized. Please run 'nvidia-smi -h' for help.\n\n";

/// What the first form that the line is of makes of it.
pub fn read(arguments: &[String]) -> Result<Request, Error> {
    for Grammar { form, checks, asks } in FORMS {
        let options = options::all().filter(|option| option.forms.contains(form));
        let line = Line::scan(options, arguments);
        let request = asks(&line);
        let checks = checks
            .iter()
            .filter(|check| request.is_some() || matches!(check, Check::Word(Missing, ..)));
        let warnings = line.warnings();
        line.check(checks).map_err(|error| error.after(&warnings))?;
        if let Some(request) = request {
            return Ok(Request {
                warnings,
                ..request
            });
        }
    }
    Ok(Request::default())
}

fn help(line: &Line) -> Option<Request> {
    line.has("help").then(|| Command::Help.into())
}

fn version(line: &Line) -> Option<Request> {
    line.has("version").then(|| Command::Version.into())
}

fn list(line: &Line) -> Option<Request> {
    if line.has("list-gpus") {
        return Some(Command::ListGpus.into());
    }
    let excluded = line.has("list-excluded-gpus");
    excluded.then(|| Command::ListExcluded.into())
}

/// Options that only say where a change applies count once: a second `-i` reads as
/// a change of nothing.
fn modify(line: &Line) -> Option<Request> {
    let beside = ["id", "gpu", "error-on-warning", "dry-run"];
    let is_change = |given: &&Given| !BESIDE.contains(&given.option.word()) && !given.is_unset();
    let change = line.given.iter().find(is_change).cloned();
    let dry_run = line.has("dry-run");
    let bits = |word| line.last(word).map(Given::bits);
    let command = match change.as_ref().map(|change| change.option.word()) {
        Some("gpu-reset") => Command::Reset {
            kind: change.and_then(|change| change.text),
            dry_run,
        },
        Some("get-hostname") if !dry_run => Command::Hostnames,
        _ => Command::Modify(Modify {
            change,
            mode: bits("mode"),
            scope: bits("scope"),
            error_on_warning: line.has("error-on-warning"),
            dry_run,
        }),
    };
    (line.count_beside(&beside) > 0).then(|| Request {
        ids: ids(line),
        ..command.into()
    })
}

fn unit(line: &Line) -> Option<Request> {
    let color = line.last("toggle-led")?.bits();
    let dry_run = line.has("dry-run");
    (line.count_beside(&["id", "dry-run"]) == 1).then(|| Request {
        ids: line.text("id").map(str::to_owned),
        ..Command::Led { color, dry_run }.into()
    })
}

fn dtd(line: &Line) -> Option<Request> {
    (line.has("dtd") && !line.has("query")).then(|| Request {
        file: file(line),
        ..Command::Dtd {
            unit: line.has("unit"),
        }
        .into()
    })
}

/// The lists that a line asks for.
fn lists(line: &Line) -> impl Iterator<Item = List> {
    let lists = List::ALL.iter().copied();
    lists.filter(|list| line.has(list.word()))
}

/// The first list whose help is asked for gets it, unless two lists come before it.
fn help_query(line: &Line) -> Option<Request> {
    let mut helped = List::ALL.iter().copied();
    let list = helped.find(|list| line.has(&format!("help-{}", list.word())))?;
    let before = lists(line).take_while(|other| *other <= list).count();
    (before < 2).then(|| Command::HelpQuery(list).into())
}

fn query(line: &Line) -> Option<Request> {
    let list = lists(line).last()?;
    // A --format without a value does not unsay another one.
    let format = |given: &&Given| given.option.word() == "format" && given.text.is_some();
    let format = line.given.iter().rfind(format);
    Some(Request {
        command: Command::Query {
            list,
            fields: line.text(list.word()).unwrap_or_default().to_owned(),
            format: format.and_then(|given| given.text.clone()),
        },
        ids: ids(line),
        file: file(line),
        every: every(line),
        ..Request::default()
    })
}

/// The report, or the summary where none is asked for.
fn log(line: &Line) -> Option<Request> {
    let report = || Command::Log {
        display: line.text("display").map(str::to_owned),
        xml: line.has("xml-format"),
        dtd: line.has("dtd"),
        unit: line.has("unit"),
    };
    let summary = || Command::Summary {
        columns: match line.last("columns").map_or(1, Given::bits) {
            columns @ 1..=64 => Ok(columns as usize),
            _ => Err(Error::refused(
                "Invalid number of columns. Please provide a value between 1 and 64.\n",
            )),
        },
    };
    Some(Request {
        command: if reports(line) { report() } else { summary() },
        ids: ids(line),
        file: file(line),
        every: every(line),
        ..Request::default()
    })
}

fn reports(line: &Line) -> bool {
    line.has_any(&["query", "all-gpus"])
}

/// `-i` or `-g`, whichever comes last.
fn ids(line: &Line) -> Option<String> {
    let mut given = line.given.iter().rev();
    let ids = given.find(|given| ["id", "gpu"].contains(&given.option.word()));
    ids?.text.clone()
}

fn file(line: &Line) -> Option<PathBuf> {
    line.text("filename").map(PathBuf::from)
}

/// `-l` or `-lms`: the last one that has a value, or else the last one.
fn every(line: &Line) -> Option<Result<Duration, Error>> {
    let loops = line.given.iter().filter_map(|given| {
        let (unit, otherwise) = match given.option.word() {
            "loop" => (1.0, "5"),
            "loop-ms" => (0.001, "100"),
            _ => return None,
        };
        Some((given.text.as_deref(), unit, otherwise))
    });
    let valued = loops.clone().rfind(|(text, ..)| text.is_some());
    let (text, unit, otherwise) = valued.or_else(|| loops.clone().next_back())?;
    Some(interval(text.unwrap_or(otherwise), unit))
}

fn interval(text: &str, unit: f64) -> Result<Duration, Error> {
    let whole = number::uint(text).map(|number| number.to_string());
    match number::seconds(whole.as_deref().unwrap_or(text), unit) {
        Some(Duration::ZERO) => Err(Error::refused(
            "Provided [-l(ms) | --loop(-ms)=] value is incorrect. Loop frequency must be greater than 0.\n\n",
        )),
        Some(interval) => Ok(interval),
        None => Err(Error::refused(format!(
            "Provided [-l(ms) | --loop(-ms)=] value \"{text}\" is not a number greater than 0.\n\n"
        ))),
    }
}
