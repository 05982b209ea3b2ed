//! Golden cases: command lines on boxes, with what nvidia-smi answers to them.
//!
//! `tests/golden/lines.toml` says what to record; `record` fills `tests/golden/<area>/<box>.toml`;
//! the tests of nvsmi read those files, and others of the same form that were written by hand.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use toml::{Table, Value};

use crate::{gate::FAULT_VARIABLE, launcher};

/// A command line on a box, with or without its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// The box.
    pub simulated: String,
    /// `FUNCTION:CODE` for each NVML function that fails, `FUNCTION:CODE@GPU` for one GPU,
    /// `FUNCTION:CODE+2` from the second call on.
    pub faults: Vec<String>,
    /// What follows the program's name.
    pub args: Vec<String>,
    /// The exit status.
    pub exit: i32,
    /// Everything on stdout.
    pub stdout: String,
}

impl Case {
    /// The command that runs `program` on the case's box, its arguments given. It may change GPUs, so
    /// it is refused when the program would load another library than the simulated one.
    pub fn command(&self, program: &Path) -> Result<Command, String> {
        let mut command = launcher::command(&self.simulated, program)?;
        if !self.faults.is_empty() {
            command.env(FAULT_VARIABLE, self.trouble()?.to_string());
        }
        command.args(&self.args).env("TZ", "UTC");
        if !self.only_asks() {
            launcher::require_simulator(&command)?;
        }
        Ok(command)
    }

    /// Whether the line can change nothing, on whatever library. (What is not known to be harmless
    /// is not.)
    fn only_asks(&self) -> bool {
        const HARMLESS: [&str; 7] = ["-L", "-q", "-x", "-h", "--query-", "--format", "--version"];
        self.args
            .iter()
            .all(|arg| HARMLESS.iter().any(|known| arg.starts_with(known)))
    }

    /// The faults as rows of a box file.
    fn trouble(&self) -> Result<Value, String> {
        let fault = |fault: &String| {
            let (function, code) = fault
                .split_once(':')
                .ok_or_else(|| format!("{fault} is not FUNCTION:CODE"))?;
            let number = |text: &str| {
                let number: i64 = text
                    .parse()
                    .map_err(|_| format!("{fault}: no number {text}"))?;
                Ok::<Value, String>(number.into())
            };
            let (code, from) = code
                .split_once('+')
                .map_or((code, None), |(code, from)| (code, Some(from)));
            let (code, gpu) = code
                .split_once('@')
                .map_or((code, None), |(code, gpu)| (code, Some(gpu)));
            let mut row: Table = [("function", function), ("code", code)]
                .map(|(key, text)| (key.to_owned(), text.into()))
                .into_iter()
                .collect();
            for (key, text) in [("gpu", gpu), ("from", from)] {
                if let Some(text) = text {
                    row.insert(key.to_owned(), number(text)?);
                }
            }
            Ok(Value::Table(row))
        };
        let faults: Result<_, String> = self.faults.iter().map(fault).collect();
        Ok(Value::Array(faults?))
    }

    /// The case with what a run answered.
    pub fn answered(self, output: &Output) -> Self {
        Self {
            exit: output.status.code().unwrap_or(-1),
            stdout: without_prose(&String::from_utf8_lossy(&output.stdout)),
            ..self
        }
    }

    /// The command line, for people.
    pub fn line(&self) -> String {
        let args: Vec<String> = self
            .args
            .iter()
            .map(|arg| {
                if arg.is_empty() || arg.contains(' ') {
                    format!("'{arg}'")
                } else {
                    arg.clone()
                }
            })
            .collect();
        let faults: String = self
            .faults
            .iter()
            .map(|fault| format!(" [{fault}]"))
            .collect();
        format!("{}{faults} $ nvidia-smi {}", self.simulated, args.join(" "))
    }
}

/// A part of nvidia-smi, and what of it is recorded on which boxes.
pub struct Area {
    /// The folder below `tests/golden`.
    pub name: String,
    /// The cases, without answers.
    pub cases: Vec<Case>,
}

/// Reads `lines.toml`.
pub fn areas(path: &Path) -> Result<Vec<Area>, String> {
    let table = read(path)?;
    let areas = table
        .get("area")
        .and_then(Value::as_array)
        .ok_or("no [[area]]")?;
    areas.iter().map(area).collect()
}

/// Every line on every box; with `functions` and `codes`, each with each failing alone.
fn area(value: &Value) -> Result<Area, String> {
    let name = value
        .get("name")
        .and_then(Value::as_str)
        .ok_or("an area without a name")?;
    let faults: Vec<Vec<String>> = match (texts(value, "functions"), texts(value, "codes")) {
        (functions, codes) if functions.is_empty() && codes.is_empty() => vec![Vec::new()],
        (functions, codes) => functions
            .iter()
            .flat_map(|function| {
                codes
                    .iter()
                    .map(move |code| vec![format!("{function}:{code}")])
            })
            .collect(),
    };
    let lines = value
        .get("lines")
        .and_then(Value::as_array)
        .ok_or("an area without lines")?;
    let mut cases = Vec::new();
    for simulated in texts(value, "boxes") {
        for faults in &faults {
            for line in lines {
                let args = strings(line);
                let (simulated, faults) = (simulated.clone(), faults.clone());
                cases.push(Case {
                    simulated,
                    faults,
                    args,
                    ..Case::default()
                });
            }
        }
    }
    Ok(Area {
        name: name.to_owned(),
        cases,
    })
}

/// Reads a file of answered cases: `args` and what is answered to it, or several of them in `lines`.
pub fn cases(path: &Path) -> Result<Vec<Case>, String> {
    let table = read(path)?;
    let simulated = table
        .get("box")
        .and_then(Value::as_str)
        .ok_or_else(|| format!("{}: no box", path.display()))?;
    let cases = table
        .get("case")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let lines = |case: &Value| match case.get("args") {
        Some(args) => vec![strings(args)],
        None => lists(case, "lines"),
    };
    let case = |case: &Value, args: Vec<String>| {
        Some(Case {
            simulated: case
                .get("box")
                .and_then(Value::as_str)
                .unwrap_or(simulated)
                .to_owned(),
            faults: texts(case, "faults"),
            args,
            exit: case.get("exit")?.as_integer()?.try_into().ok()?,
            stdout: case.get("stdout")?.as_str()?.to_owned(),
        })
    };
    let mut whole = Vec::new();
    for (place, value) in (1..).zip(cases) {
        let answered: Option<Vec<Case>> = lines(value)
            .into_iter()
            .map(|args| case(value, args))
            .collect();
        let answered = answered.filter(|cases| !cases.is_empty());
        whole.extend(
            answered.ok_or_else(|| format!("{}: case {place} is not whole", path.display()))?,
        );
    }
    Ok(whole)
}

/// What nvsmi prints instead of some of the lines that nvidia-smi prints.
pub struct Instead {
    simulated: String,
    lines: Vec<Vec<String>>,
    /// Each as it was recorded, and as it is to be.
    texts: Vec<(String, String)>,
}

impl Instead {
    /// Whether it is about the case.
    pub fn is_of(&self, case: &Case) -> bool {
        case.faults.is_empty()
            && case.simulated == self.simulated
            && self.lines.contains(&case.args)
    }

    /// The case with them; or a text that nvidia-smi did not print, or more than once.
    pub fn laid_over(&self, case: Case) -> Result<Case, String> {
        let mut stdout = case.stdout.clone();
        for (theirs, ours) in &self.texts {
            if stdout.matches(theirs).count() != 1 {
                return Err(format!("{}: {theirs:?} is not there once", case.line()));
            }
            stdout = stdout.replace(theirs, ours);
        }
        Ok(Case { stdout, ..case })
    }
}

/// Reads the rows `[[instead]]` of a file: `box`, `lines`, and in `texts` pairs of texts.
pub fn instead(path: &Path) -> Result<Vec<Instead>, String> {
    let table = read(path)?;
    let rows = table.get("instead").and_then(Value::as_array);
    let row = |row: &Value| {
        let pair = |pair: Vec<String>| <[String; 2]>::try_from(pair).ok().map(Into::into);
        Some(Instead {
            simulated: row.get("box")?.as_str()?.to_owned(),
            lines: lists(row, "lines"),
            texts: lists(row, "texts")
                .into_iter()
                .map(pair)
                .collect::<Option<_>>()?,
        })
    };
    let rows = rows.into_iter().flatten().map(row).collect::<Option<_>>();
    rows.ok_or_else(|| format!("{}: an [[instead]] is not whole", path.display()))
}

/// Writes answered cases of one box as such a file.
pub fn write(path: &Path, about: &str, cases: &[Case]) -> Result<(), String> {
    let simulated = cases
        .first()
        .map(|case| case.simulated.as_str())
        .unwrap_or_default();
    let mut text = format!("# {about}\n\nbox = \"{simulated}\"\n");
    for case in cases {
        let _ = write!(text, "\n[[case]]\n");
        if !case.faults.is_empty() {
            let _ = writeln!(text, "faults = {}", Value::from(case.faults.clone()));
        }
        let _ = write!(
            text,
            "args = {}\nexit = {}\n",
            Value::from(case.args.clone()),
            case.exit
        );
        let _ = match case.stdout.contains("'''")
            || case
                .stdout
                .chars()
                .any(|c| c.is_control() && !"\n\t".contains(c))
        {
            true => writeln!(text, "stdout = {}", Value::from(case.stdout.clone())),
            false => writeln!(text, "stdout = '''\n{}'''", case.stdout),
        };
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The golden files below a folder, in order.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "toml")
            && !path.ends_with("lines.toml")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Text without what may differ between two answers that mean the same: times, legends (each tool has
/// its own words), and the codes that underline on a terminal.
pub fn comparable(text: &str) -> String {
    without_private(&without_times(&without_prose(text)))
}

/// Text without the values of the report's lines that nvidia-smi has from parts of the library that
/// are not public; nvsmi has none, or has them from the kernel.
fn without_private(text: &str) -> String {
    const LABELS: [&str; 5] = [
        "License Status ",
        "GPU Part Number ",
        "FRU Part Number ",
        "Sparse Operation Mode ",
        "Host Max ",
    ];
    const TAGS: [&str; 5] = [
        "<license_status>",
        "<gpu_part_number>",
        "<gpu_fru_part_number>",
        "<sparse_operation_mode>",
        "<max_host_link_gen>",
    ];
    let known = |line: &&str| {
        let start = line.trim_start();
        LABELS
            .iter()
            .chain(&TAGS)
            .find(|name| start.starts_with(**name))
            .copied()
    };
    text.split('\n')
        .map(|line| known(&line).unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Text up to its legend, without codes for a terminal.
fn without_prose(text: &str) -> String {
    let end = text.find("\nLegend:\n").map_or(text.len(), |at| at + 1);
    text[..end]
        .replace("\u{1b}[4m", "")
        .replace("\u{1b}[0m", "")
}

/// Text with the times of recording taken out: dates as `ctime` and as csv write them, of the year
/// 2026 or later.
fn without_times(text: &str) -> String {
    const PATTERNS: [&str; 2] = ["Aaa Aaa _9 99:99:99 9999", "9999/99/99 99:99:99.999"];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let found = PATTERNS
            .iter()
            .find(|pattern| matches(rest, pattern) && is_recent(rest, pattern));
        let length = found.map_or(first.len_utf8(), |pattern| pattern.len());
        out.push_str(found.map_or(&rest[..length], |pattern| pattern));
        rest = &rest[length..];
    }
    out
}

fn matches(text: &str, pattern: &str) -> bool {
    text.len() >= pattern.len()
        && text
            .bytes()
            .zip(pattern.bytes())
            .all(|(byte, kind)| match kind {
                b'A' => byte.is_ascii_uppercase(),
                b'a' => byte.is_ascii_lowercase(),
                b'9' => byte.is_ascii_digit(),
                b'_' => byte == b' ' || byte.is_ascii_digit(),
                literal => byte == literal,
            })
}

fn is_recent(text: &str, pattern: &str) -> bool {
    let year = pattern.find("9999").and_then(|at| text.get(at..at + 4));
    year.and_then(|year| year.parse().ok())
        .is_some_and(|year: u32| year >= 2026)
}

fn read(path: &Path) -> Result<Table, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    text.parse().map_err(|e| format!("{}: {e}", path.display()))
}

/// The lists of texts in a list.
fn lists(table: &Value, key: &str) -> Vec<Vec<String>> {
    let lists = table.get(key).and_then(Value::as_array);
    lists.into_iter().flatten().map(strings).collect()
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    value.get(key).map(strings).unwrap_or_default()
}

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::without_times;

    #[test]
    fn only_times_of_recording_are_taken_out() {
        let text =
            "Tue Dec  1 01:07:51 2026|2026/12/01 01:07:51.422, Sat Jun  1 12:00:00 2024, 2026/12";
        let expected =
            "Aaa Aaa _9 99:99:99 9999|9999/99/99 99:99:99.999, Sat Jun  1 12:00:00 2024, 2026/12";
        assert_eq!(without_times(text), expected);
    }
}
