//! The screens about the command line itself, made from the tables that it is
//! read with.

use crate::cli::{GROUPS, List, Opt, Run, Subcommand, Takes};
use crate::fields::{self, Table};
use crate::watch;

/// Where the explanations start.
const COLUMN: usize = 44;

/// The answer to `-h`.
pub fn usage(subcommands: &[&Subcommand], out: &mut Vec<u8>) {
    line(
        out,
        concat!(
            "nvsmi ",
            env!("CARGO_PKG_VERSION"),
            ": shows and manages NVIDIA GPUs"
        ),
    );
    line(out, "");
    line(out, "Usage: nvidia-smi [OPTION [VALUE]]...");
    line(out, "       nvidia-smi COMMAND [OPTION [VALUE]]...");
    line(out, "");
    line(
        out,
        "Without options: a summary of the GPUs and of the processes on them.",
    );
    line(out, "A value follows its option after a space or after =.");
    for group in GROUPS {
        line(out, "");
        line(out, group.title);
        for option in group
            .options
            .iter()
            .filter(|option| !option.help.is_empty())
        {
            entry(out, &spelt(option), option.help);
        }
    }
    line(out, "");
    line(
        out,
        "COMMANDS (each explains itself with -h; refused: NVML has no public function)",
    );
    for subcommand in subcommands {
        let mark = match subcommand.run {
            Run::NotBuilt => " (not built yet)",
            Run::Refused(_) => " (refused)",
            Run::Once(_) | Run::Endlessly(_) => "",
        };
        entry(out, subcommand.name, &format!("{}{mark}", subcommand.about));
    }
}

/// The answer to a subcommand's `-h`.
pub fn subcommand(subcommand: &Subcommand) -> String {
    let Subcommand { about, notes, .. } = subcommand;
    let text = [*about, *notes].join("\n");
    below(&format!("\n{}\n", text.trim_end()), subcommand)
}

/// The options of a subcommand below what is wrong with a line.
pub fn below(complaint: &str, subcommand: &Subcommand) -> String {
    let mut out = complaint.as_bytes().to_vec();
    line(&mut out, "");
    let usage = format!("Usage: nvidia-smi {} [OPTION [VALUE]]...", subcommand.name);
    line(&mut out, &usage);
    line(&mut out, "");
    for option in subcommand.all_options() {
        entry(&mut out, &spelt(option), option.help);
    }
    if subcommand
        .options
        .iter()
        .any(|option| option.word() == "gpm-metrics")
    {
        line(&mut out, "");
        line(&mut out, "Performance counters, by number:");
        for (numbers, about) in watch::metrics() {
            entry(&mut out, &numbers, about);
        }
    }
    line(&mut out, "");
    String::from_utf8_lossy(&out).into_owned()
}

/// The answer to `--help-query-*`: programs read the names off the lines that
/// begin with a quote, so no other line may.
pub fn fields(list: List, out: &mut Vec<u8>) {
    line(out, &format!("Fields of --{}:", list.word()));
    match list {
        List::Gpu => table(fields::GPU, out),
        List::SupportedClocks => table(fields::SUPPORTED_CLOCKS, out),
        List::ComputeApps => table(fields::COMPUTE_APPS, out),
        List::AccountedApps => table(fields::ACCOUNTED_APPS, out),
        List::RetiredPages => table(fields::RETIRED_PAGES, out),
        List::RemappedRows => table(fields::REMAPPED_ROWS, out),
    }
}

fn table<T>(table: &Table<T>, out: &mut Vec<u8>) {
    for group in table {
        if !group.about.is_empty() {
            line(out, "");
            line(out, &format!("{}:", group.about));
        }
        for field in group.fields {
            let names: Vec<String> = field
                .names
                .iter()
                .map(|name| format!("\"{name}\""))
                .collect();
            line(out, "");
            line(out, &names.join(" or "));
            line(out, field.help);
        }
    }
}

/// The short spelling, the long one, and the value.
fn spelt(option: &Opt) -> String {
    let names = || option.spellings();
    let short = names().find(|name| !name.starts_with("--"));
    let short = short.map(|name| format!("{name},")).unwrap_or_default();
    let long = names().find(|name| name.starts_with("--"));
    let long = long.or(names().nth(1)).unwrap_or_default();
    let value = match option.takes {
        Takes::Nothing => String::new(),
        Takes::MaybeText | Takes::MaybeAny => format!("[={}]", option.value),
        _ => format!("={}", option.value),
    };
    format!("{short:<6} {long}{value}")
}

/// What is explained on the left, its explanation beside it, or below it where
/// there is no room.
fn entry(out: &mut Vec<u8>, left: &str, help: &str) {
    let mut left = format!("  {left}");
    if left.len() + 2 > COLUMN {
        line(out, &left);
        left.clear();
    }
    for text in help.lines() {
        line(out, &format!("{left:<COLUMN$}{text}"));
        left.clear();
    }
}

fn line(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::all_options;

    fn lines(screen: impl Fn(&mut Vec<u8>)) -> Vec<String> {
        let mut out = Vec::new();
        screen(&mut out);
        let text = String::from_utf8_lossy(&out).into_owned();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_usage_screen_fits_a_terminal_and_lists_everything() {
        let screen = lines(|out| usage(&[], out));
        for line in &screen {
            assert!(line.len() <= 100, "{line}");
        }
        let words = |line: &String| {
            line.split([' ', '=', '['])
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let screen: Vec<String> = screen.iter().flat_map(words).collect();
        for option in all_options() {
            let listed = screen.contains(&format!("--{}", option.word()));
            assert_eq!(listed, !option.help.is_empty(), "{}", option.names);
        }
    }

    #[test]
    fn only_names_begin_with_a_quote() {
        for list in [
            List::Gpu,
            List::ComputeApps,
            List::RetiredPages,
            List::RemappedRows,
        ] {
            let screen = lines(|out| fields(list, out));
            let mut names = 0;
            for pair in screen.windows(2).filter(|pair| pair[1].starts_with('"')) {
                assert_eq!(pair[0], "", "before {}", pair[1]);
                let quoted =
                    |name: &str| name.len() > 2 && name.starts_with('"') && name.ends_with('"');
                assert!(pair[1].split(" or ").all(quoted), "{}", pair[1]);
                names += 1;
            }
            assert!(names > 0);
        }
    }
}
