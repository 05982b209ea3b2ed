//! `survey NVIDIA-SMI [--changes] [BOX...]`: what a nvidia-smi answers on each box, as a table of boxes
//! and views, and why where it does not. It needs nothing but libsimulator.so beside it.
//!
//! With `--changes`, the options that change a GPU are asked as well, but only where there is no GPU.

mod views;

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use simulator::{
    scenario,
    trial::{self, Outcome, Trial},
};
use views::View;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// NVML's NOT_SUPPORTED, which most calls that fail answer for good reason.
const NOT_SUPPORTED: &str = "3";

fn main() -> ExitCode {
    simulator::reader::end_with_it();
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    let count = arguments.len();
    arguments.retain(|word| word != "--changes");
    let changes = arguments.len() < count;
    let Some((program, boxes)) = arguments.split_first() else {
        eprintln!("usage: survey NVIDIA-SMI [--changes] [BOX...]");
        return ExitCode::from(2);
    };
    match survey(Path::new(program), changes, boxes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("survey: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn survey(program: &Path, changes: bool, wanted: &[String]) -> Result<(), String> {
    let program = program
        .canonicalize()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    if let (true, Some(device)) = (changes, trial::device()) {
        return Err(format!("{device} is there: nothing is changed beside it"));
    }
    let boxes: Vec<String> = match wanted {
        [] => scenario::list()?
            .into_iter()
            .map(|row| row.0.to_owned())
            .collect(),
        some => some.to_vec(),
    };
    let folder = env::temp_dir().join(format!("survey-{}", std::process::id()));
    let mut table = Table {
        program,
        folder: folder.clone(),
        reasons: BTreeMap::new(),
    };
    let done = table
        .show("Views that read", &boxes, views::READING)
        .and_then(|()| {
            if changes {
                table.show("Views that change", &boxes, views::CHANGING)
            } else {
                Ok(())
            }
        });
    let _ = fs::remove_dir_all(folder);
    done?;
    println!("\nWhy not: how it ended; what was said last; which NVML call failed last");
    for (reason, places) in &table.reasons {
        println!("{reason}");
        let mut boxes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, views) in places {
            boxes.entry(views.join(" ")).or_default().push(name);
        }
        for (views, boxes) in boxes {
            println!("    {views}: {}", boxes.join(" "));
        }
    }
    Ok(())
}

/// Boxes, and for each the views.
type Places = BTreeMap<String, Vec<&'static str>>;

struct Table {
    program: PathBuf,
    folder: PathBuf,
    /// Why answers are not whole, and where.
    reasons: BTreeMap<String, Places>,
}

impl Table {
    fn show(
        &mut self,
        title: &str,
        boxes: &[String],
        views: &'static [View],
    ) -> Result<(), String> {
        println!("\n{title}");
        print!("{:<14}", "");
        for view in views {
            print!(" {:>5}", view.name);
        }
        println!();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in boxes {
            print!("{name:<14}");
            for view in views {
                let cell = self.ask(name, view)?;
                print!(" {cell:>5}");
                *counts.entry(kind(&cell)).or_default() += 1;
            }
            println!();
        }
        println!("{counts:?}");
        Ok(())
    }

    /// The cell of a box and a view.
    fn ask(&mut self, name: &str, view: &View) -> Result<String, String> {
        let args: Vec<String> = view.line.split_whitespace().map(str::to_owned).collect();
        let calls = self.folder.join("calls");
        let trial = |calls| Trial {
            folder: self.folder.clone(),
            patience: PATIENCE,
            calls,
        };
        let outcome = trial(None).run(&self.program, name, &args)?;
        let cell = cell(&outcome, view);
        if cell == "ok" {
            return Ok(cell);
        }
        let again = trial(Some(calls.clone())).run(&self.program, name, &args)?;
        let said = again.stdout.lines().rfind(|line| !line.trim().is_empty());
        let reason = format!(
            "{cell}; {}; {}",
            masked(said.unwrap_or("nothing").trim()),
            last_failure(&fs::read_to_string(&calls).unwrap_or_default())
        );
        let _ = fs::remove_file(&calls);
        let places = self.reasons.entry(reason).or_default();
        places.entry(name.to_owned()).or_default().push(view.name);
        Ok(cell)
    }
}

/// How an answer went, in few letters: `ok`, `cut` when it is not whole, an exit status, `sig` and a
/// signal, or `hang`.
fn cell(outcome: &Outcome, view: &View) -> String {
    match outcome.exit {
        None => "hang".to_owned(),
        Some(0) if (view.is_whole)(&outcome.stdout) => "ok".to_owned(),
        Some(0) => "cut".to_owned(),
        Some(signal) if signal < 0 => format!("sig{}", -signal),
        Some(status) => status.to_string(),
    }
}

/// What a cell counts as.
fn kind(cell: &str) -> &'static str {
    match cell {
        "ok" => "whole",
        "cut" => "not whole",
        "hang" => "without an end",
        signal if signal.starts_with("sig") => "crashed",
        _ => "refused",
    }
}

/// A line of output with its numbers taken out, so that those of different GPUs are alike.
fn masked(line: &str) -> String {
    let is_number = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let words = line
        .split(' ')
        .map(|word| if is_number(word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// The last call that failed, and its code: rather one that failed for another reason than that the
/// GPU lacks what was asked.
fn last_failure(calls: &str) -> String {
    let failures = calls.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (function, _gpu, code) = (words.next()?, words.next()?, words.next()?);
        (code != "0").then_some((function, code))
    });
    let failures: Vec<_> = failures.collect();
    let telling = failures.iter().rfind(|failure| failure.1 != NOT_SUPPORTED);
    match telling.or(failures.last()) {
        Some((function, code)) => format!("{function} ({code})"),
        None => "none".to_owned(),
    }
}
