//! The links of GPUs where NVML fails: `topo`, `nvlink`, `c2c` and `pci`, every function that a line
//! needs, with every kind of failure. And what their setters leave behind.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use simulator::golden::Case;

use crate::common::calls::watched;
use crate::common::changes::changes;
use crate::common::trials::{Share, all};
use crate::common::{NVSMI, has_program, scratch, stdout};

/// NVML's codes, the words for them, and the exit status that passes them on.
const CODES: &[(&str, &str, i32)] = &[
    ("INVALID_ARGUMENT", "Invalid Argument", 2),
    ("NO_PERMISSION", "Insufficient Permissions", 4),
    ("NOT_FOUND", "Not Found", 6),
    ("TIMEOUT", "Timeout", 255),
    ("GPU_IS_LOST", "GPU is lost", 15),
    ("RESET_REQUIRED", "GPU requires reset", 255),
    ("IN_USE", "In use by another client", 19),
    ("UNKNOWN", "Unknown Error", 255),
];

/// Lines with a box on which each has something to tell.
const LINES: &[(&str, &[&str])] = &[
    ("h100-nvl-x4", &["topo", "-m"]),
    ("l40s-x4", &["topo", "-m"]),
    ("h100x8", &["topo", "-m"]),
    ("l40s-x4", &["topo", "-mp"]),
    ("l40s-x4", &["topo", "-p2p", "r"]),
    ("l40s-x4", &["topo", "-p2p", "n"]),
    ("l40s-x4", &["topo", "-c", "0"]),
    ("l40s-x4", &["topo", "-n", "4", "-i", "0"]),
    ("l40s-x4", &["topo", "-p", "-i", "0,1"]),
    ("l40s-x4", &["topo", "-M", "-i", "0"]),
    ("gb200-x4", &["topo", "-gnid", "-i", "0"]),
    ("h100-nvl-x4", &["nvlink", "-s"]),
    ("h100-nvl-x4", &["nvlink", "-c", "-i", "0"]),
    ("h100-nvl-x4", &["nvlink", "-p", "-i", "0"]),
    ("h100-nvl-x4", &["nvlink", "-R", "-i", "0"]),
    ("h100-nvl-x4", &["nvlink", "-e", "-i", "0"]),
    ("gb200-x4", &["nvlink", "-e", "-i", "0", "-l", "1"]),
    ("h100-nvl-x4", &["nvlink", "-gt", "dr", "-i", "0"]),
    ("h100-nvl-x4", &["nvlink", "-gLowPwrInfo", "-i", "0"]),
    ("h100-nvl-x4", &["nvlink", "-gBwMode"]),
    ("h100-nvl-x4", &["nvlink", "-cBridge"]),
    ("h100-nvl-x4", &["nvlink", "-re", "-i", "0"]),
    ("h100-nvl-x4", &["nvlink", "-sLowPwrThres", "5"]),
    ("h100-nvl-x4", &["nvlink", "-sBwMode", "MIN"]),
    ("gb200-x4", &["c2c", "-s"]),
    ("gb200-x4", &["c2c", "-e", "-i", "0"]),
    ("gb200-x4", &["c2c", "-gLowPwrInfo", "-i", "0"]),
    ("h100-nvl-x4", &["pci", "-gErrCnt", "-i", "0"]),
    ("h100-nvl-x4", &["pci", "-gCnt"]),
    ("h100-nvl-x4", &["pci", "-cErrCnt"]),
];

/// What a line asks that its answer does not depend on: bounds that NVML checks by itself, and the
/// state of the first link where another one is enough, or is asked about.
const NOT_NEEDED: &[(&str, &str)] = &[
    ("nvlink -sLowPwrThres 5", "nvmlDeviceGetFieldValues.200"),
    ("nvlink -sLowPwrThres 5", "nvmlDeviceGetFieldValues.223"),
    ("nvlink -sLowPwrThres 5", "nvmlDeviceGetFieldValues.224"),
    ("nvlink -sLowPwrThres 5", "nvmlDeviceGetFieldValues.165"),
    ("nvlink -R -i 0", "nvmlDeviceGetFieldValues.165"),
    ("nvlink -cBridge", "nvmlDeviceGetFieldValues.165"),
    ("nvlink -e -i 0 -l 1", "nvmlDeviceGetFieldValues.165"),
    ("c2c -e -i 0", "nvmlDeviceGetFieldValues.171"),
    ("c2c -gLowPwrInfo -i 0", "nvmlDeviceGetFieldValues.171"),
];

/// What comes before the questions of a line.
const BEFORE_ALL: &[&str] = &["nvmlInit", "nvmlDeviceGetCount"];

fn command(simulated: &str, faults: &[String], args: &[&str]) -> Command {
    let case = Case {
        simulated: simulated.to_owned(),
        faults: faults.to_vec(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        ..Case::default()
    };
    case.command(Path::new(NVSMI)).expect("a simulated box")
}

fn run(simulated: &str, faults: &[String], args: &[&str]) -> Output {
    let output = command(simulated, faults, args).output();
    output.expect("nvsmi runs")
}

/// The functions and fields that a line asks for successfully, but for those that begin every line.
fn asked(simulated: &str, args: &[&str], log: &str) -> BTreeSet<String> {
    let mut line = command(simulated, &[], args);
    let (output, calls) = watched(&mut line, &format!("links-{log}"));
    assert!(output.stderr.is_empty(), "{args:?}: {output:?}");
    calls
        .into_iter()
        .filter(|call| call.code == 0)
        .filter_map(|call| Some(call.function.split('@').next()?.to_owned()))
        .filter(|name| !BEFORE_ALL.iter().any(|known| name.starts_with(known)))
        .collect()
}

/// What is wrong with the answer to a line, of which one function fails.
fn problem(healthy: &Output, given: &Output, words: &str, status: i32) -> Option<&'static str> {
    let (before, text) = (stdout(healthy), stdout(given));
    let Some(code) = given.status.code() else {
        return Some("it was killed");
    };
    if !given.stderr.is_empty() || code == 101 {
        return Some("it says something on stderr");
    }
    // nvidia-smi's own statuses: of NVML's code, of a value that NVML refused, or any other failure.
    if ![0, status, 2, 255].contains(&code) {
        return Some("another code's exit status");
    }
    if code == 0 && text == before {
        return Some("the failure does not show");
    }
    let told = text.contains(words) || text.contains("error return") || text.contains("Fail");
    (code == 0 && !told).then_some("neither words nor an exit status tell of the failure")
}

#[test]
fn a_failure_shows() {
    failures_show(Share::Sample);
}

#[test]
#[ignore = "10 seconds"]
fn every_failure_shows() {
    failures_show(Share::Whole);
}

/// A line of which something fails.
struct Failure<'a> {
    simulated: &'a str,
    args: &'a [&'a str],
    healthy: &'a Output,
    function: String,
    code: &'a (&'a str, &'a str, i32),
}

/// A sample has every function of every line fail, and every code.
fn failures_show(share: Share) {
    let lines: Vec<usize> = (0..LINES.len()).collect();
    let asked = all(&lines, |&line| {
        let (simulated, args) = LINES[line];
        let log = format!("{}-{line}", share.name());
        vec![(
            line,
            run(simulated, &[], args),
            asked(simulated, args, &log),
        )]
    });
    let mut failures = Vec::new();
    for (line, healthy, functions) in &asked {
        let (simulated, args) = LINES[*line];
        let needed =
            |function: &&String| !NOT_NEEDED.contains(&(&args.join(" "), function.as_str()));
        for function in functions.iter().filter(needed) {
            // A field fails for the first link, and for every one.
            let every_link = function.contains('.').then(|| format!("{function}*"));
            for function in [Some(function.clone()), every_link].into_iter().flatten() {
                failures.extend(CODES.iter().map(|code| Failure {
                    simulated,
                    args,
                    healthy,
                    function: function.clone(),
                    code,
                }));
            }
        }
    }
    assert!(failures.len() > 800, "only {} failures", failures.len());
    failures.sort_by_key(|failure| (failure.simulated, failure.args, failure.function.clone()));
    let failures = share.of(failures, |failure| {
        let Failure {
            simulated, args, ..
        } = failure;
        vec![
            format!("{simulated} {} {}", args.join(" "), failure.function),
            failure.code.0.to_owned(),
        ]
    });
    let problems = all(&failures, |failure| {
        let Failure {
            simulated, args, ..
        } = failure;
        let (code, words, status) = failure.code;
        let fault = format!("{}:{code}", failure.function);
        let given = run(simulated, std::slice::from_ref(&fault), args);
        let problem = problem(failure.healthy, &given, words, *status);
        let told = problem.map(|problem| {
            let code = given.status.code();
            format!(
                "{simulated} {fault} {}: {problem} ({code:?})",
                args.join(" ")
            )
        });
        told.into_iter().collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What a heading begins, without the line before the next one.
fn blocks(text: &str) -> Vec<&str> {
    let text = text.strip_prefix("GPU ").unwrap_or(text);
    text.split("\nGPU ").map(str::trim_end).collect()
}

#[test]
fn links_of_one_gpu_that_cannot_be_read_do_not_hide_those_of_others() {
    const REMOTE: &str = "nvmlDeviceGetNvLinkRemotePciInfo_v2";
    for (simulated, args, function) in [
        ("gb200-x4", ["nvlink", "-R"], REMOTE),
        ("h100-nvl-x4", ["nvlink", "-R"], REMOTE),
        ("h100-nvl-x4", ["nvlink", "-p"], REMOTE),
        ("h100-nvl-x4", ["nvlink", "-cBridge"], REMOTE),
        ("gb200-x4", ["c2c", "-s"], "nvmlDeviceGetFieldValues.171*"),
        ("gb200-x4", ["c2c", "-s"], "nvmlDeviceGetFieldValues.172*"),
    ] {
        let healthy = stdout(&run(simulated, &[], &args));
        let well = blocks(&healthy);
        assert_eq!(well.len(), 4, "{healthy}");
        for (code, words, status) in CODES {
            let fault = format!("{function}:{code}@1");
            let given = run(simulated, &[fault], &args);
            let shown = stdout(&given);
            let what = format!("{simulated} {args:?} {function} {code}: {shown}");
            assert_eq!(given.status.code(), Some(*status), "{what}");
            let given = blocks(&shown);
            assert_eq!(given.len(), 4, "{what}");
            for gpu in [0, 2, 3] {
                assert_eq!(given[gpu], well[gpu], "{what}");
            }
            let reason = given[1].lines().last().unwrap_or_default();
            assert!(
                reason.contains("Unable to ") && reason.ends_with(words),
                "{what}"
            );
        }
    }
}

#[test]
fn a_link_that_cannot_be_read_does_not_hide_the_others() {
    let args = ["c2c", "-s", "-i", "0"];
    let healthy = stdout(&run("gb200-x4", &[], &args));
    let well: Vec<&str> = healthy.lines().collect();
    assert!(well.len() > 3, "{healthy}");
    for (code, words, status) in CODES {
        let fault = format!("nvmlDeviceGetFieldValues.172:{code}");
        let given = run("gb200-x4", &[fault], &args);
        let shown = stdout(&given);
        let told = format!("NVML: Unable to retrieve C2C link speed for link 0: {words}");
        let expected: Vec<&str> = [well[0], &told]
            .into_iter()
            .chain(well[2..].iter().copied())
            .collect();
        assert_eq!(shown.lines().collect::<Vec<_>>(), expected, "{code}");
        assert_eq!(given.status.code(), Some(*status), "{code}");
    }
}

#[test]
fn setters_change_what_they_say_and_nothing_else() {
    let cases: &[(&[&str], &[&str], &str)] = &[
        (
            &["nvlink", "-re", "-i", "0", "-l", "1"],
            &["nvlink", "-e", "-i", "0", "-l", "1"],
            "Replay Errors: 0\n",
        ),
        (
            &["nvlink", "-re", "-i", "1"],
            &["nvlink", "-e", "-i", "0", "-l", "1"],
            "Replay Errors: 3\n",
        ),
        (
            &["nvlink", "-sLowPwrThres", "25", "-i", "1"],
            &["nvlink", "-gLowPwrInfo", "-i", "1", "-l", "0"],
            "Low Power Threshold: 2500 us\n",
        ),
        (
            &["nvlink", "-sLowPwrThres", "25", "-i", "1"],
            &["nvlink", "-gLowPwrInfo", "-i", "2", "-l", "0"],
            "Low Power Threshold: 1000 us\n",
        ),
        (
            &["nvlink", "-sLowPwrThres", "default"],
            &["nvlink", "-gLowPwrInfo", "-i", "3", "-l", "0"],
            "Low Power Threshold: 100 us\n",
        ),
        (
            &["nvlink", "-sBwMode", "3QUARTER"],
            &["nvlink", "-gBwMode"],
            "bandwidth mode: 3QUARTER\n",
        ),
        (
            &["pci", "-cErrCnt", "-i", "0"],
            &["pci", "-gErrCnt", "-i", "0"],
            "lane  2: 0\n",
        ),
        (
            &["pci", "-cErrCnt", "-i", "0"],
            &["pci", "-gErrCnt", "-i", "1"],
            "lane  2: 4\n",
        ),
    ];
    for (number, (change, question, told)) in cases.iter().enumerate() {
        let state = scratch(&format!("links-state-{number}.toml"));
        let on_it = |args| {
            let output = command("h100-nvl-x4", &[], args)
                .env("NVSMI_SIMULATOR_STATE", &state)
                .output();
            let output = output.expect("nvsmi runs");
            assert!(output.status.success(), "{args:?}: {output:?}");
            stdout(&output)
        };
        on_it(change);
        let answer = on_it(question);
        assert!(answer.contains(told), "{change:?}: {answer}");
    }
}

#[test]
fn a_bad_value_changes_nothing() {
    for args in [
        &["nvlink", "-sLowPwrThres", "-1"][..],
        &["nvlink", "-sLowPwrThres", "4294967295"],
        &["nvlink", "-sLowPwrThres", "99999999999999999999"],
        &["nvlink", "-sLowPwrThres", "8192"],
        &["nvlink", "-sBwMode", "5"],
        &["nvlink", "-re", "-sBwMode", "half"],
        &["nvlink", "-re", "-sLowPwrThres", "x"],
        &["nvlink", "-re", "-gt", "x"],
        &["nvlink", "-re", "-l", ""],
        &["nvlink", "-re", "-l", "-1"],
        &["nvlink", "-re", "-l", "4294967296"],
        &["nvlink", "-sBwMode", "HALF", "-gt", "x"],
        &["nvlink", "-sLWidth", "1"],
    ] {
        let mut line = command("h100-nvl-x4", &[], args);
        let name = format!("links-refused-{}", args.join("-"));
        let (output, calls) = watched(&mut line, &name);
        assert!(!output.status.success(), "{args:?}: {output:?}");
        assert!(!calls.is_empty(), "{args:?}");
        let changed = calls.iter().find(|call| changes(&call.function));
        assert_eq!(changed, None, "{args:?}");
    }
}

#[test]
fn a_lost_gpu_stops_the_change_before_it_begins() {
    let faults = ["nvmlDeviceGetHandleByIndex_v2:GPU_IS_LOST@2".to_owned()];
    for args in [
        &["nvlink", "-re"][..],
        &["nvlink", "-sLowPwrThres", "100"],
        &["nvlink", "-sLowPwrThres", "default", "-s"],
        &["nvlink", "-sBwMode", "HALF"],
        &["pci", "-cErrCnt"],
        &["pci", "-gErrCnt", "-cErrCnt"],
    ] {
        let state = scratch("links-lost");
        let output = command("h100-nvl-x4", &faults, args)
            .env("NVSMI_SIMULATOR_STATE", &state)
            .output()
            .expect("nvsmi runs");
        assert_eq!(output.status.code(), Some(15), "{args:?}: {output:?}");
        let told = "Unable to determine the device handle for GPU2: GPU is lost.  Reboot the system to recover this GPU\n\n\n";
        assert_eq!(stdout(&output), told, "{args:?}");
        assert!(!state.exists(), "{args:?}");
    }
}

#[test]
fn a_heading_is_underlined_on_a_terminal_alone() {
    let line = "nvidia-smi topo -m; nvidia-smi topo -p2p r";
    let piped = stdout(&crate::common::script("l40s-x4", line));
    assert!(
        !piped.contains('\x1b') && piped.contains("GPU0\tGPU1"),
        "{piped}"
    );
    let on_terminal = format!("script -qec '{line}' /dev/null");
    if !has_program("script") {
        return;
    }
    let output = crate::common::script("l40s-x4", &on_terminal);
    let shown = stdout(&output);
    assert_eq!(shown.matches("\x1b[4mGPU0\t").count(), 2, "{output:?}");
    assert_eq!(shown.matches("\x1b[0m").count(), 2, "{shown:?}");
}

/// What was done to a GPU is told before the next one is asked: whoever has to stop a command that hangs
/// knows how far it came.
#[test]
fn a_change_is_told_as_it_happens() {
    let lines: [(&[&str], &str); 3] = [
        (&["nvlink", "-re"], "nvmlDeviceResetNvLinkErrorCounters"),
        (
            &["nvlink", "-sLowPwrThres", "5"],
            "nvmlDeviceSetNvLinkDeviceLowPowerThreshold",
        ),
        (&["pci", "-cErrCnt"], "nvmlDeviceClearFieldValues"),
    ];
    for (line, function) in lines {
        let mut stopped = simulator::command("h100-nvl-x4", Path::new("timeout")).expect("a box");
        stopped.args(["1", NVSMI]).args(line);
        stopped.env(
            "NVSMI_SIMULATOR_STATE",
            scratch(&format!("told-{function}.toml")),
        );
        let hangs = format!("function = '{function}', gpu = 2, hang = true");
        stopped.env("NVSMI_SIMULATOR_FAULT", hangs);
        let output = stopped.output().expect("timeout runs");
        let shown = stdout(&output);
        assert_eq!(output.status.code(), Some(124), "{shown}");
        let told = shown.lines().filter(|line| line.starts_with("GPU "));
        assert_eq!(told.count(), 2, "{shown}");
    }
}
