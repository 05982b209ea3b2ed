//! Every question of every view, failed in every way that NVML has: nothing panics, nothing hangs, and
//! what could not be read is told and is no value.
//!
//! One run fails a question in all ways at once: each GPU of a crowd gets a return code of its own.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::calls::{LOG, logged};
use crate::common::{NVSMI, scratch, stdout};

/// Every `nvmlReturn_t` but success, and one that nobody knows.
const CODES: [u32; 32] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
    27, 28, 29, 30, 999, 12345,
];

/// The words for them, and for what is not to be had.
const WORDS: [&str; 38] = [
    "N/A",
    "None",
    "Not Found",
    "Uninitialized",
    "Invalid Argument",
    "Not Supported",
    "Insufficient Permissions",
    "Already Initialized",
    "Insufficient Size",
    "Insufficient External Power",
    "Driver Not Loaded",
    "Timeout",
    "Interrupt Request Issue",
    "NVML Shared Library Not Found",
    "Function Not Found",
    "Corrupted infoROM",
    "GPU is lost",
    "GPU requires reset",
    "GPU access blocked by the operating system",
    "Driver/library version mismatch",
    "In use by another client",
    "Insufficient Memory",
    "No data",
    "vGPU ECC not supported",
    "Insufficient Resources",
    "Invalid Frequency",
    "Argument version mismatch",
    "Requested functionality has been deprecated",
    "System is not in ready state",
    "No supported GPUs were found",
    "Resource not in correct state to perform requested operation",
    "Reset type is not supported for given device",
    "Unknown Error",
    "ERR!",
    "-",
    "Unknown",
    "Requested",
    "",
];

/// The statuses that nvsmi ends with.
const STATUSES: [i32; 18] = [
    0, 2, 3, 4, 6, 8, 9, 11, 12, 13, 14, 15, 17, 18, 19, 23, 124, 255,
];

/// How the lines of a view are read.
#[derive(Clone, Copy)]
enum Look {
    /// Fields with commas between them.
    Csv,
    /// `name : value`.
    Text,
    /// `<name>value</name>`.
    Xml,
    /// Words in columns.
    Columns,
}

struct View {
    args: Vec<String>,
    look: Look,
}

fn view(look: Look, args: &[&str]) -> View {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    View { args, look }
}

/// All fields of a list, as its help names them.
fn all_fields(list: &str) -> String {
    let help = Command::new(NVSMI)
        .arg(format!("--help-query-{list}"))
        .output();
    let help = stdout(&help.expect("nvsmi runs"));
    let name = |line: &str| Some(line.strip_prefix('"')?.split('"').next()?.to_owned());
    let names: Vec<String> = help
        .lines()
        .filter_map(name)
        .filter(|name| name != "timestamp")
        .collect();
    assert!(!names.is_empty(), "{list}");
    names.join(",")
}

fn views() -> Vec<View> {
    let lists = [
        "gpu",
        "compute-apps",
        "accounted-apps",
        "supported-clocks",
        "retired-pages",
        "remapped-rows",
    ];
    let queries = lists.map(|list| {
        view(
            Look::Csv,
            &[
                &format!("--query-{list}={}", all_fields(list)),
                "--format=csv,noheader",
            ],
        )
    });
    let sections =
        "MEMORY,UTILIZATION,ECC,TEMPERATURE,POWER,CLOCK,SUPPORTED_CLOCKS,PIDS,ACCOUNTING";
    let mut views = vec![
        view(Look::Columns, &[]),
        view(Look::Text, &["-L"]),
        view(Look::Text, &["-q"]),
        view(Look::Text, &["-q", "-d", sections]),
        view(Look::Xml, &["-q", "-x"]),
        view(Look::Text, &["gpm", "-g"]),
    ];
    views.extend(queries);
    // These show 16 GPUs at most.
    for gpus in [0..11, 11..22, 22..33] {
        let ids = gpus
            .map(|gpu| gpu.to_string())
            .collect::<Vec<_>>()
            .join(",");
        views.push(view(
            Look::Columns,
            &[
                "dmon",
                "-c",
                "1",
                "-s",
                "pucvmet",
                "--gpm-metrics",
                "1,2",
                "-i",
                &ids,
            ],
        ));
        views.push(view(
            Look::Columns,
            &["pmon", "-c", "1", "-s", "um", "-i", &ids],
        ));
    }
    views
}

/// A box of `count` GPUs without a 0 among their values, for one test.
fn crowd(name: &str, count: usize) -> String {
    // Clocks enough to tell a list from a number.
    let clocks = "supported_clocks = [{ memory = 3201, max = 1980, min = 1950, step = 15 }, { memory = 2201, max = 1980, min = 1965, step = 15 }]";
    let text = simulator::crowd("h200-busy", count, clocks).expect("a box");
    let path = scratch(&format!("{name}.toml"));
    std::fs::write(&path, text).expect("a file of our own");
    path.display().to_string()
}

/// A box that is laid out once, to run on.
struct Box {
    folder: PathBuf,
}

impl Box {
    fn new(simulated: &str) -> Self {
        let folder = simulator::launcher::prepare(simulated).expect("a box");
        Self { folder }
    }

    fn run(&self, view: &View, envs: &[(&str, &str)]) -> Output {
        // Ends what hangs.
        let mut command = Command::new("timeout");
        command
            .args(["-k", "1", "60", NVSMI])
            .args(&view.args)
            .env("TZ", "UTC")
            .env("NVSMI_SIMULATOR_BOX", self.folder.join("box.toml"))
            .env("LD_LIBRARY_PATH", &self.folder)
            .envs(envs.iter().copied());
        command.output().expect("timeout runs")
    }

    /// The functions that a view calls, and how often for one GPU at most; those
    /// about the driver are another matter.
    fn functions(&self, view: &View, log: &Path, driver: bool) -> BTreeMap<String, usize> {
        let _ = std::fs::remove_file(log);
        self.run(view, &[(LOG, &log.display().to_string())]);
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        let calls = logged(log).into_iter();
        for call in calls.filter(|call| (call.gpu == "-") == driver) {
            let about = (call.function, call.gpu);
            *counts.entry(about).or_default() += 1;
        }
        let mut functions = BTreeMap::new();
        for ((function, _), count) in counts {
            let most: &mut usize = functions.entry(function).or_default();
            *most = count.max(*most);
        }
        functions
    }
}

/// What a view shows when nothing fails.
struct Reference {
    lines: HashSet<String>,
    rows: Vec<String>,
    words: HashSet<String>,
}

impl Reference {
    fn of(text: &str) -> Self {
        Self {
            lines: text.lines().map(str::to_owned).collect(),
            rows: text
                .lines()
                .map(str::to_owned)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            words: words_of(text).map(str::to_owned).collect(),
        }
    }

    /// What a line says that is not so.
    fn lie(&self, look: Look, line: &str) -> Option<String> {
        if self.lines.contains(line) {
            return None;
        }
        let known = |word: &str| WORDS.contains(&word.trim_matches(['[', ']']));
        match look {
            Look::Csv => {
                let fields: Vec<&str> = line.split(", ").collect();
                let agrees = |row: &&String| {
                    let told = row.split(", ");
                    told.clone().count() == fields.len()
                        && told
                            .zip(&fields)
                            .all(|(told, field)| told == *field || known(field))
                };
                let close = |row: &&String| {
                    row.split(", ")
                        .zip(&fields)
                        .filter(|(told, field)| told == *field)
                        .count()
                };
                match self.rows.iter().find(agrees) {
                    Some(_) => None,
                    None => {
                        let row = self.rows.iter().max_by_key(close)?;
                        let odd = row
                            .split(", ")
                            .zip(&fields)
                            .filter(|(told, field)| told != *field && !known(field));
                        Some(
                            odd.map(|(told, field)| format!("{field} for {told}"))
                                .collect::<Vec<_>>()
                                .join("; "),
                        )
                    }
                }
            }
            Look::Text if line.starts_with("GPU ") && line.split(' ').count() == 2 => None,
            Look::Text if line.starts_with("Unable to determine ") || line.contains("(UUID: ") => {
                let (_, reason) = line.rsplit_once(": ")?;
                let advice = ["GPU is lost.  Reboot", "A GPU reset must occur"];
                let told = known(reason.trim_end_matches(')'))
                    || advice.iter().any(|advice| reason.starts_with(advice));
                (!told).then(|| line.to_owned())
            }
            Look::Text => match line.split_once(" : ") {
                Some((_, value)) if known(value.trim()) => None,
                Some(_) => Some(line.to_owned()),
                None if line.chars().any(|letter| letter.is_ascii_digit()) => Some(line.to_owned()),
                None => None,
            },
            Look::Xml => {
                let line = line.trim();
                let value = line
                    .split_once('>')
                    .and_then(|(_, rest)| Some(rest.rsplit_once("</")?.0));
                match value {
                    Some(value) if !known(value) => Some(line.to_owned()),
                    _ => None,
                }
            }
            Look::Columns => {
                let odd = |word: &&str| {
                    let number = word.starts_with(|first: char| first.is_ascii_digit());
                    number && !self.words.contains(*word)
                };
                words_of(line)
                    .find(odd)
                    .map(|word| format!("{word} in {line}"))
            }
        }
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '|', '\n', '/'])
        .filter(|word| !word.is_empty())
}

/// What an older form of the question answers where the library says that it lacks
/// the newer one, what NVML's word for a broken infoROM means, and a frame that is
/// as narrow as nvidia-smi's.
const MEANT: [(&str, &str); 5] = [
    // The banner then begins with NVML's version.
    ("nvmlSystemGetDriverVersion", "580.159 in "),
    ("nvmlDeviceGetMemoryInfo_v2", "3674"),
    ("nvmlDeviceGetFieldValues", "692.21 W"),
    ("", "invalid for valid"),
    ("nvmlDeviceGetDisplayActive", ".0ERR! in "),
];

/// What is wrong with an answer.
fn faults(view: &View, output: &Output, reference: &Reference) -> Vec<String> {
    let mut faults = Vec::new();
    let status = output.status.code();
    if status.is_none_or(|status| !STATUSES.contains(&status)) {
        faults.push(format!("ended with {status:?}"));
    }
    if !output.stderr.is_empty() {
        faults.push(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let shown = stdout(output);
    // The time passes.
    let stamped = |line: &&str| {
        !["Timestamp", "timestamp", " 2026", " 2027"]
            .iter()
            .any(|word| line.contains(word))
    };
    let lies = shown
        .lines()
        .filter(stamped)
        .filter_map(|line| reference.lie(view.look, line));
    faults.extend(lies);
    faults.truncate(4);
    faults
}

fn is_meant(function: &str, fault: &str) -> bool {
    MEANT
        .iter()
        .any(|(of, text)| function.contains(of) && fault.contains(text))
}

/// Runs jobs on all cores, and gathers what they find.
fn all<J: Sync>(jobs: &[J], run: impl Fn(&J) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let faults = run(job);
                    found.lock().expect("no panic").extend(faults);
                }
            });
        }
    });
    found.into_inner().expect("no panic")
}

fn assert_none(faults: &[String], what: &str) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for fault in faults {
        *counts.entry(fault).or_default() += 1;
    }
    for (fault, count) in counts.iter().take(60) {
        eprintln!("{count} x {fault}");
    }
    assert!(faults.is_empty(), "{} faults of {what}", faults.len());
}

struct Job<'a> {
    view: &'a View,
    reference: &'a Reference,
    fault: String,
}

#[test]
fn every_question_about_a_gpu_may_fail_in_every_way() {
    let simulated = Box::new(&crowd("crowd", 33));
    let views = views();
    let log = scratch("sweep-calls");
    let codes: Vec<String> = [0].iter().chain(&CODES).map(u32::to_string).collect();
    let codes = codes.join(", ");
    let asked: Vec<_> = views
        .iter()
        .map(|view| {
            let whole = simulated.run(view, &[]);
            assert!(whole.status.success(), "{:?}: {whole:?}", view.args);
            (
                view,
                Reference::of(&stdout(&whole)),
                simulated.functions(view, &log, false),
            )
        })
        .collect();
    let jobs: Vec<Job> = asked
        .iter()
        .flat_map(|(view, reference, functions)| {
            let codes = &codes;
            functions.iter().flat_map(move |(function, &times)| {
                // From the first call on, and from the second, if there is one.
                (1..=times.min(2)).map(move |from| Job {
                    view,
                    reference,
                    fault: format!("function = '{function}', codes = [{codes}], from = {from}"),
                })
            })
        })
        .collect();
    eprintln!("{} runs", jobs.len());
    let faults = all(&jobs, |job| {
        let output = simulated.run(job.view, &[("NVSMI_SIMULATOR_FAULT", &job.fault)]);
        let told = faults(job.view, &output, job.reference);
        let args: String = job.view.args.join(" ").chars().take(24).collect();
        let function = job.fault.split('\'').nth(1).unwrap_or_default();
        let from = &job.fault[job.fault.len() - 1..];
        told.into_iter()
            .filter(|fault| !is_meant(function, fault))
            .map(|fault| format!("{args}: {function} from {from}: {fault}"))
            .collect()
    });
    assert_none(&faults, "questions about GPUs");
}

#[test]
fn every_question_about_the_driver_may_fail_in_every_way() {
    let simulated = Box::new("h200-busy");
    let log = scratch("sweep-driver-calls");
    let views: Vec<View> = views().into_iter().take(7).collect();
    let asked: Vec<_> = views
        .iter()
        .map(|view| {
            let whole = stdout(&simulated.run(view, &[]));
            (
                view,
                Reference::of(&whole),
                simulated.functions(view, &log, true),
            )
        })
        .collect();
    let jobs: Vec<Job> = asked
        .iter()
        .flat_map(|(view, reference, functions)| {
            functions.keys().flat_map(move |function| {
                CODES.map(|code| Job {
                    view,
                    reference,
                    fault: format!("function = '{function}', code = '{code}'"),
                })
            })
        })
        .collect();
    eprintln!("{} runs", jobs.len());
    let faults = all(&jobs, |job| {
        let output = simulated.run(job.view, &[("NVSMI_SIMULATOR_FAULT", &job.fault)]);
        let told = faults(job.view, &output, job.reference);
        // Where nothing can be asked, one line or two say why.
        let refusal = !output.status.success() && stdout(&output).lines().count() < 5;
        told.into_iter()
            .filter(|fault| !refusal && !is_meant(&job.fault, fault))
            .map(|fault| format!("{:?} {}: {fault}", job.view.args.first(), job.fault))
            .collect()
    });
    assert_none(&faults, "questions about the driver");
}

#[test]
fn any_function_may_be_missing_from_the_library() {
    let whole = Box::new("h200-busy");
    let log = scratch("sweep-missing-calls");
    let mut functions = BTreeSet::new();
    let views: Vec<View> = views()
        .into_iter()
        .filter(|view| {
            !view.args.iter().any(|arg| arg.contains(',')) || matches!(view.look, Look::Csv)
        })
        .collect();
    let asked: Vec<_> = views
        .iter()
        .map(|view| {
            let shown = stdout(&whole.run(view, &[]));
            for driver in [false, true] {
                functions.extend(whole.functions(view, &log, driver).into_keys());
            }
            (view, Reference::of(&shown))
        })
        .collect();
    // The parts of one function.
    functions.retain(|function| !function.contains('.'));
    let functions: Vec<String> = functions.into_iter().collect();
    let faults = all(&functions, |function| {
        let path = scratch(&format!("missing-{function}.toml"));
        let text = format!("inherits = 'h200-busy'\nmissing = ['{function}']\n");
        std::fs::write(&path, text).expect("a file of our own");
        let simulated = Box::new(&path.display().to_string());
        let mut found = Vec::new();
        for (view, reference) in &asked {
            let output = simulated.run(view, &[]);
            let refusal = !output.status.success() && stdout(&output).lines().count() < 5;
            let told = faults(view, &output, reference);
            found.extend(
                told.into_iter()
                    .filter(|fault| !refusal && !is_meant(function, fault))
                    .map(|fault| format!("{:?} {function}: {fault}", view.args.first())),
            );
        }
        // A copy of the library for each function would fill the disk.
        let _ = std::fs::remove_dir_all(&simulated.folder);
        found
    });
    eprintln!("{} functions", functions.len());
    assert_none(&faults, "missing functions");
}
