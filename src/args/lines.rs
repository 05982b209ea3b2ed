//! Clap's definition of the lines that ask, one structure a form, and what
//! nvidia-smi refuses to combine on each. (The lines that change a GPU are in
//! [`super::change`].)

use std::path::PathBuf;

use clap::Parser;

use super::{Args, Command, Interval, List, refused};
use crate::error::Error;
use crate::spelling::{Given, Line};

/// `-l` and `-lms`; the later one counts.
#[derive(Debug, clap::Args)]
struct Loop {
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "5", overrides_with = "loop_ms")]
    r#loop: Option<String>,
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "100")]
    loop_ms: Option<String>,
}

impl Loop {
    fn every(self) -> Option<Interval> {
        let seconds = self.r#loop.map(Interval::Seconds);
        seconds.or(self.loop_ms.map(Interval::Milliseconds))
    }
}

#[derive(Debug, Parser)]
#[command(
    no_binary_name = true,
    args_override_self = true,
    disable_help_flag = true
)]
struct UnitLine {
    #[arg(long)]
    toggle_led: u32,
    #[arg(long)]
    id: Option<String>,
    #[arg(long)]
    dry_run: bool,
}

/// `-t`.
pub fn unit(line: &Line) -> Result<Args, Error> {
    line.known()?;
    let unit = UnitLine::try_parse_from(canonical(line))?;
    Ok(Args {
        ids: unit.id,
        ..Command::Led {
            color: unit.toggle_led,
            dry_run: unit.dry_run,
        }
        .into()
    })
}

#[derive(Debug, Parser)]
#[command(
    no_binary_name = true,
    args_override_self = true,
    disable_help_flag = true
)]
struct DtdLine {
    #[arg(long)]
    dtd: bool,
    #[arg(long)]
    unit: bool,
    #[arg(long)]
    filename: Option<String>,
}

/// `--dtd` without `-q`.
pub fn dtd(line: &Line) -> Result<Args, Error> {
    line.known()?;
    let dtd = DtdLine::try_parse_from(canonical(line))?;
    Ok(Args {
        file: dtd.filename.map(PathBuf::from),
        ..Command::Dtd { unit: dtd.unit }.into()
    })
}

#[derive(Debug, Parser)]
#[command(
    no_binary_name = true,
    args_override_self = true,
    disable_help_flag = true
)]
struct QueryLine {
    #[arg(long)]
    query_gpu: Option<String>,
    #[arg(long)]
    query_supported_clocks: Option<String>,
    #[arg(long)]
    query_compute_apps: Option<String>,
    #[arg(long)]
    query_accounted_apps: Option<String>,
    #[arg(long)]
    query_retired_pages: Option<String>,
    #[arg(long)]
    query_remapped_rows: Option<String>,
    #[arg(long)]
    help_query_gpu: bool,
    #[arg(long)]
    help_query_supported_clocks: bool,
    #[arg(long)]
    help_query_compute_apps: bool,
    #[arg(long)]
    help_query_accounted_apps: bool,
    #[arg(long)]
    help_query_retired_pages: bool,
    #[arg(long)]
    help_query_remapped_rows: bool,
    #[arg(long)]
    format: Option<String>,
    #[arg(long, alias = "gpu")]
    id: Option<String>,
    #[arg(long)]
    filename: Option<String>,
    #[command(flatten)]
    repeat: Loop,
}

/// One list after another: a second one asked for is refused, the first one
/// whose help is asked for gets it.
pub fn query(line: &Line) -> Result<Args, Error> {
    // A --format without a value says nothing, and does not unsay another one.
    let said = |word: &String| word != "--format";
    let query = QueryLine::try_parse_from(canonical(line).filter(said))?;
    let lists = [
        (List::Gpu, query.help_query_gpu, query.query_gpu),
        (
            List::SupportedClocks,
            query.help_query_supported_clocks,
            query.query_supported_clocks,
        ),
        (
            List::ComputeApps,
            query.help_query_compute_apps,
            query.query_compute_apps,
        ),
        (
            List::AccountedApps,
            query.help_query_accounted_apps,
            query.query_accounted_apps,
        ),
        (
            List::RetiredPages,
            query.help_query_retired_pages,
            query.query_retired_pages,
        ),
        (
            List::RemappedRows,
            query.help_query_remapped_rows,
            query.query_remapped_rows,
        ),
    ];
    let only_one = refused("Only one --query-* switch can be used at a time.\n");
    let mut asked = None;
    for (list, help, fields) in lists {
        if let Some(fields) = fields
            && asked.replace((list, fields)).is_some()
        {
            return Err(only_one);
        }
        if help {
            return Ok(Command::HelpQuery(list).into());
        }
    }
    let (list, fields) = asked.ok_or(only_one)?;
    line.known()?;
    Ok(Args {
        command: Command::Query {
            list,
            fields,
            format: query.format,
        },
        ids: query.id,
        file: query.filename.map(PathBuf::from),
        every: query.repeat.every(),
        ..Args::default()
    })
}

#[derive(Debug, Parser)]
#[command(
    no_binary_name = true,
    args_override_self = true,
    disable_help_flag = true
)]
struct LogLine {
    #[arg(long, alias = "all-gpus")]
    query: bool,
    #[arg(long)]
    unit: bool,
    #[arg(long)]
    xml_format: bool,
    #[arg(long)]
    dtd: bool,
    #[arg(long)]
    display: Option<String>,
    #[arg(long)]
    columns: Option<u32>,
    #[arg(long, alias = "gpu")]
    id: Option<String>,
    #[arg(long)]
    filename: Option<String>,
    #[command(flatten)]
    repeat: Loop,
}

/// The report and the summary, with nvidia-smi's refusals in its order.
pub fn log(line: &Line) -> Result<Args, Error> {
    line.known()?;
    let log = LogLine::try_parse_from(canonical(line))?;
    let without_query = [
        (log.unit, "-u/--unit to run a unit query"),
        (log.xml_format, "-x/--xml-format to run an XML query"),
        (
            log.display.is_some(),
            "-d/--display to run a filtered query",
        ),
    ];
    if let Some((_, what)) = without_query.iter().find(|(given, _)| *given && !log.query) {
        return Err(refused(format!(
            "Invalid combination of input arguments. Specify -q/--query and {what}.  Please run 'nvidia-smi -h' for help.\n\n"
        )));
    }
    let every = log.repeat.every();
    every.as_ref().map(Interval::read).transpose()?;
    let impossible = [
        (
            log.display.is_some() && log.xml_format,
            "--display/-d flags can not be combined with -x/--xml-format flags",
        ),
        (
            log.display.is_some() && log.unit,
            "--display/-d flags can not be combined with -u/--unit flags",
        ),
        (
            log.dtd && !log.xml_format,
            "Specify -x/--xml-format with the -q/--query and --dtd flags to embed DTD",
        ),
    ];
    if let Some((_, why)) = impossible.iter().find(|(given, _)| *given) {
        return Err(refused(format!(
            "Invalid combination of input arguments: {why}.\n"
        )));
    }
    let command = if log.query {
        Command::Log {
            display: log.display,
            xml: log.xml_format,
            dtd: log.dtd,
            unit: log.unit,
        }
    } else {
        Command::Summary {
            columns: log.columns,
        }
    };
    Ok(Args {
        command,
        ids: log.id,
        file: log.filename.map(PathBuf::from),
        every,
        ..Args::default()
    })
}

/// The line as clap knows it. `-l` or `-lms` without a value does not unsay one.
fn canonical(line: &Line) -> impl Iterator<Item = String> {
    let given = &line.given;
    let is_loop = |given: &&Given| ["loop", "loop-ms"].contains(&given.option.word());
    let every = given.iter().filter(is_loop).any(|it| it.value.is_some());
    let says = move |it: &&Given| !(every && is_loop(it) && it.value.is_none());
    given.iter().filter(says).map(Given::canonical)
}
