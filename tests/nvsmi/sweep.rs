//! Every question of every view, failed in every way that NVML has: nothing panics, nothing hangs, and
//! what could not be read is told and is no value.
//!
//! One run fails a question in all ways at once: each GPU of a crowd gets a return code of its own.
//!
//! By default a sample runs: every question and every view, but not every question in every view.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::calls::{LOG, logged};
use crate::common::trials::{Share, all};
use crate::common::{NVSMI, scratch, stdout};

/// Every `nvmlReturn_t` but success, and one that nobody knows, with its words.
const CODES: [(u32, &str); 32] = [
    (1, "Uninitialized"),
    (2, "Invalid Argument"),
    (3, "N/A"),
    (4, "Insufficient Permissions"),
    (5, "Already Initialized"),
    (6, "Not Found"),
    (7, "Insufficient Size"),
    (8, "Insufficient External Power"),
    (9, "Driver Not Loaded"),
    (10, "Timeout"),
    (11, "Interrupt Request Issue"),
    (12, "NVML Shared Library Not Found"),
    (FUNCTION_NOT_FOUND, "Function Not Found"),
    (14, "Corrupted infoROM"),
    (15, "GPU is lost"),
    (16, "GPU requires reset"),
    (17, "GPU access blocked by the operating system"),
    (18, "Driver/library version mismatch"),
    (19, "In use by another client"),
    (20, "Insufficient Memory"),
    (21, "No data"),
    (22, "vGPU ECC not supported"),
    (23, "Insufficient Resources"),
    (24, "Invalid Frequency"),
    (25, "Argument version mismatch"),
    (26, "Requested functionality has been deprecated"),
    (27, "System is not in ready state"),
    (28, "No supported GPUs were found"),
    (
        29,
        "Resource not in correct state to perform requested operation",
    ),
    (30, "Reset type is not supported for given device"),
    (999, "Unknown Error"),
    (12345, "Unknown Error"),
];

/// What a function that the library lacks is taken to answer.
const FUNCTION_NOT_FOUND: u32 = 13;

/// What else is shown in the place of a value.
const OTHER_WORDS: [&str; 8] = [
    "None",
    "Not Supported",
    "GPU access blocked",
    "ERR!",
    "-",
    "Unknown",
    "Requested",
    "",
];

/// Whether a word is shown in the place of a value.
fn is_known(word: &str) -> bool {
    CODES.iter().any(|(_, words)| *words == word) || OTHER_WORDS.contains(&word)
}

/// The codes that are exit statuses as well; for the others it is 255.
const STATUS_CODES: [u32; 15] = [2, 3, 4, 6, 8, 9, 11, 12, 13, 14, 15, 17, 18, 19, 23];

fn status_of(code: u32) -> i32 {
    if STATUS_CODES.contains(&code) {
        code as i32
    } else {
        255
    }
}

/// Without these calls there is nothing to show: the whole answer, in which `{}` stands for the code's
/// words. `gpm` tells what the others do not.
const REFUSALS: [(&str, &str); 3] = [
    ("nvmlInit_v2", "Failed to initialize NVML: {}\n"),
    (
        "nvmlDeviceGetCount_v2",
        "Unable to determine the number of GPUs",
    ),
    (
        "nvmlDeviceGetCount_v2",
        "Unable to determine the number of available GPUs: {}\n",
    ),
];

/// How the answer begins for codes of nvmlInit that have a text of their own.
const OWN_TEXTS: [(u32, &str); 3] = [
    (
        9,
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
    ),
    (
        12,
        "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.",
    ),
    (
        18,
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: ",
    ),
];

/// Whether nothing can be shown if a function fails; then, whether that is what the answer says.
fn refusal(function: &str, code: u32, shown: &str) -> Option<bool> {
    if !REFUSALS.iter().any(|(of, _)| *of == function) {
        return None;
    }
    let words = CODES.iter().find(|row| row.0 == code)?.1;
    let own = OWN_TEXTS
        .iter()
        .find(|(of, _)| *of == code && function.starts_with("nvmlInit"));
    Some(match own {
        Some((_, begin)) => shown.starts_with(begin) && shown.trim_end().lines().count() <= 2,
        None => REFUSALS
            .iter()
            .any(|(of, text)| *of == function && shown == text.replace("{}", words)),
    })
}

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
        let known = |word: &str| is_known(word.trim_matches(['[', ']']));
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

/// What is wrong with an answer. `failed` is the one function that failed with one code, if so it was.
fn faults(
    view: &View,
    output: &Output,
    reference: &Reference,
    failed: Option<(&str, u32)>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let status = output.status.code();
    let may_be = |status: i32| match failed {
        Some((_, code)) => status == 0 || status == status_of(code),
        None => STATUSES.contains(&status),
    };
    if !status.is_some_and(may_be) {
        faults.push(format!("ended with {status:?}"));
    }
    if !output.stderr.is_empty() {
        faults.push(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let shown = stdout(output);
    let refusal = failed.and_then(|(function, code)| refusal(function, code, &shown));
    if let Some(refusal) = refusal {
        if !refusal || status == Some(0) {
            faults.push(format!("no refusal of {failed:?}: {status:?} {shown:?}"));
        }
        return faults;
    }
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
        .any(|(of, text)| function.starts_with(of) && fault.contains(text))
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
    function: &'a str,
    fault: String,
}

impl Job<'_> {
    fn args(&self) -> String {
        self.view.args.join(" ")
    }
}

#[test]
fn each_question_about_a_gpu_may_fail_in_every_way() {
    questions_about_a_gpu(Share::Sample);
}

#[test]
#[ignore = "a minute"]
fn each_question_about_a_gpu_may_fail_in_every_way_in_each_view() {
    questions_about_a_gpu(Share::Whole);
}

fn questions_about_a_gpu(share: Share) {
    let simulated = Box::new(&crowd(&format!("crowd-{}", share.name()), 33));
    let views = views();
    let log = scratch(&format!("sweep-calls-{}", share.name()));
    let codes = CODES.iter().map(|(code, _)| code.to_string());
    let codes: Vec<String> = ["0".to_owned()].into_iter().chain(codes).collect();
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
                    function,
                    fault: format!("function = '{function}', codes = [{codes}], from = {from}"),
                })
            })
        })
        .collect();
    assert!(jobs.len() > 500, "{} runs", jobs.len());
    let jobs = share.of(jobs, |job| vec![job.function.to_owned(), job.args()]);
    let faults = all(&jobs, |job| {
        let output = simulated.run(job.view, &[("NVSMI_SIMULATOR_FAULT", &job.fault)]);
        let told = faults(job.view, &output, job.reference, None);
        let args: String = job.args().chars().take(24).collect();
        let from = &job.fault[job.fault.len() - 1..];
        told.into_iter()
            .filter(|fault| !is_meant(job.function, fault))
            .map(|fault| format!("{args}: {} from {from}: {fault}", job.function))
            .collect()
    });
    assert_none(&faults, "questions about GPUs");
}

#[test]
fn each_question_about_the_driver_may_fail() {
    questions_about_the_driver(Share::Sample);
}

#[test]
#[ignore = "10 seconds"]
fn each_question_about_the_driver_may_fail_in_every_way() {
    questions_about_the_driver(Share::Whole);
}

fn questions_about_the_driver(share: Share) {
    let simulated = Box::new("h200-busy");
    let log = scratch(&format!("sweep-driver-calls-{}", share.name()));
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
    let jobs: Vec<(Job, u32)> = asked
        .iter()
        .flat_map(|(view, reference, functions)| {
            functions.keys().flat_map(move |function| {
                CODES.map(|(code, _)| {
                    let job = Job {
                        view,
                        reference,
                        function,
                        fault: format!("function = '{function}', code = '{code}'"),
                    };
                    (job, code)
                })
            })
        })
        .collect();
    assert!(jobs.len() > 800, "{} runs", jobs.len());
    let jobs = share.of(jobs, |(job, code)| {
        vec![
            format!("{} {}", job.function, job.args()),
            format!("{} {code}", job.function),
        ]
    });
    let faults = all(&jobs, |(job, code)| {
        let output = simulated.run(job.view, &[("NVSMI_SIMULATOR_FAULT", &job.fault)]);
        let told = faults(
            job.view,
            &output,
            job.reference,
            Some((job.function, *code)),
        );
        told.into_iter()
            .filter(|fault| !is_meant(job.function, fault))
            .map(|fault| format!("{:?} {}: {fault}", job.view.args.first(), job.fault))
            .collect()
    });
    assert_none(&faults, "questions about the driver");
}

#[test]
fn each_function_may_be_missing_from_the_library() {
    missing_functions(Share::Sample);
}

#[test]
#[ignore = "a minute"]
fn each_function_may_be_missing_from_the_library_in_each_view() {
    missing_functions(Share::Whole);
}

fn missing_functions(share: Share) {
    let whole = Box::new("h200-busy");
    let log = scratch(&format!("sweep-missing-calls-{}", share.name()));
    let views: Vec<View> = views()
        .into_iter()
        .filter(|view| {
            !view.args.iter().any(|arg| arg.contains(',')) || matches!(view.look, Look::Csv)
        })
        .collect();
    let mut callers: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut references = Vec::new();
    for (place, view) in views.iter().enumerate() {
        references.push(Reference::of(&stdout(&whole.run(view, &[]))));
        for driver in [false, true] {
            let called = whole.functions(view, &log, driver).into_keys();
            // The parts of a function cannot be missing alone.
            for function in called.filter(|function| !function.contains('.')) {
                callers.entry(function).or_default().insert(place);
            }
        }
    }
    assert!(callers.len() > 90, "{} functions", callers.len());
    let jobs: Vec<(&str, usize)> = callers
        .iter()
        .flat_map(|(function, own)| {
            let asked = (0..views.len()).filter(|view| share == Share::Whole || own.contains(view));
            asked.map(move |view| (&**function, view))
        })
        .collect();
    let jobs = share.of(jobs, |(function, view)| {
        vec![(*function).to_owned(), view.to_string()]
    });
    let mut missing: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (function, view) in jobs {
        missing.entry(function).or_default().push(view);
    }
    let missing: Vec<(&str, Vec<usize>)> = missing.into_iter().collect();
    let faults = all(&missing, |(function, asked)| {
        let path = scratch(&format!("missing-{}-{function}.toml", share.name()));
        let text = format!("inherits = 'h200-busy'\nmissing = ['{function}']\n");
        std::fs::write(&path, text).expect("a file of our own");
        let simulated = Box::new(&path.display().to_string());
        let mut found = Vec::new();
        for &place in asked {
            let view = &views[place];
            let output = simulated.run(view, &[]);
            let failed = Some((*function, FUNCTION_NOT_FOUND));
            let told = faults(view, &output, &references[place], failed);
            found.extend(
                told.into_iter()
                    .filter(|fault| !is_meant(function, fault))
                    .map(|fault| format!("{:?} {function}: {fault}", view.args.first())),
            );
        }
        let _ = std::fs::remove_dir_all(&simulated.folder);
        let _ = std::fs::remove_file(&path);
        found
    });
    assert_none(&faults, "missing functions");
}
