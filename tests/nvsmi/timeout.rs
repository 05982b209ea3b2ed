//! An NVML that does not come back, and `--timeout`: who is named, what is still shown, and how it ends.

use std::io::{BufRead, Read};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::calls::{LOG, logged};
use crate::common::changes::changes;
use crate::common::running::{AS_IT_COMES, begun, heeds, send};
use crate::common::trials::quiet;
use crate::common::{nvsmi, run, scratch, script, skipped, stdout};
use quick_xml::Reader;
use quick_xml::events::Event;

/// What each GPU is asked is shown in these.
const VIEWS: [&[&str]; 8] = [
    &[],
    &["-L"],
    &[
        "--query-gpu=index,name,power.draw,memory.used",
        "--format=csv",
    ],
    &["--query-compute-apps=pid,name,used_memory"],
    &["-q", "-d", "POWER,MEMORY"],
    &["-q", "-x"],
    &["dmon", "-c", "1"],
    &["pmon", "-c", "1"],
];

/// nvsmi on a box where some calls do not come back.
fn hanging(simulated: &str, fault: &str) -> Command {
    let mut command = nvsmi(simulated);
    command.env("NVSMI_SIMULATOR_FAULT", format!("{fault}, hang = true"));
    command
}

/// What it does when it waits for a third of a second.
fn ended(simulated: &str, fault: &str, args: &[&str]) -> Output {
    let _quiet = quiet();
    let began = Instant::now();
    let output = hanging(simulated, fault)
        .args(["--timeout", "0.3"])
        .args(args)
        .output()
        .expect("nvsmi runs");
    let took = began.elapsed();
    assert!(took < Duration::from_secs(5), "{fault} {args:?}: {took:?}");
    output
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The lines that say nothing about the time or about how many GPUs there are.
fn lasting(text: &str) -> Vec<&str> {
    let passing = ["timestamp", "Timestamp", "ttached", "Dec ", "Jan "];
    text.lines()
        .filter(|line| !passing.iter().any(|word| line.contains(word)))
        .collect()
}

fn is_well_formed(document: &str) -> bool {
    let mut reader = Reader::from_str(document);
    let mut depth = 0;
    loop {
        match reader.read_event() {
            Ok(Event::Start(_)) => depth += 1,
            Ok(Event::End(_)) => depth -= 1,
            Ok(Event::Eof) => return depth == 0,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

#[test]
fn one_gpu_that_hangs_does_not_hide_the_others() {
    let faults = [
        (
            "function = 'nvmlDeviceGetHandle*', gpu = 3",
            "nvmlDeviceGetHandleByIndex_v2",
        ),
        (
            "function = 'nvmlDeviceGetPciInfo_v3', gpu = 3",
            "nvmlDeviceGetPciInfo_v3",
        ),
        (
            "function = 'nvmlDeviceGet*', gpu = 3, from = 2",
            "nvmlDeviceGet",
        ),
    ];
    for args in VIEWS {
        let others = run("h100x8", &[args, &["-i", "0,1,2,4,5,6,7"]].concat());
        // -L takes no GPUs.
        let others = if args == ["-L"] {
            String::new()
        } else {
            stdout(&others)
        };
        for (fault, function) in faults {
            let output = ended("h100x8", fault, args);
            let told = told(&output);
            if !told.is_empty() {
                assert_eq!(output.status.code(), Some(124), "{fault} {args:?}");
                assert!(
                    told.starts_with(&format!("GPU 3 did not answer {function}")),
                    "{told}"
                );
                assert!(told.contains("Xid"), "{told}");
                // Both directions of the traffic are asked at once.
                let stuck = told.lines().filter(|line| line.starts_with("GPU 3 "));
                assert!((1..=2).contains(&stuck.count()), "{told}");
                assert!(!told.contains("GPU 4"), "{told}");
            } else {
                // The question is not one of this view.
                assert!(!fault.contains("Handle"), "{fault} {args:?}");
            }
            let shown = stdout(&output);
            assert!(shown.ends_with('\n'), "{fault} {args:?}: {shown}");
            let mut rest = shown.lines();
            for line in lasting(&others) {
                assert!(
                    rest.any(|shown| shown == line),
                    "{fault} {args:?}: {line}\n{shown}"
                );
            }
            assert!(!args.contains(&"-x") || is_well_formed(&shown), "{fault}");
        }
    }
    let (fault, _) = faults[0];
    let output = ended("h100x8", fault, &["encodersessions"]);
    assert_eq!(output.status.code(), Some(124));
    assert!(stdout(&output).contains("\n    7 "), "{output:?}");
}

#[test]
fn what_a_gpu_said_before_it_hung_is_shown() {
    let fault = "function = 'nvmlDeviceGetPowerUsage', gpu = 3";
    let fields = "--query-gpu=index,name,power.draw,memory.used";
    let shown = stdout(&ended("h100x8", fault, &[fields, "--format=csv,noheader"]));
    let row = shown.lines().nth(3);
    assert_eq!(
        row,
        Some("3, NVIDIA H100 80GB HBM3, [Timeout], [Timeout]"),
        "{shown}"
    );
}

#[test]
fn subcommands_that_ask_one_gpu_after_another_go_on_with_the_next() {
    let fault = "function = ['nvmlDeviceGetFieldValues', 'nvmlDeviceGetP2PStatus'], gpu = 3";
    for (args, last) in [
        (&["nvlink", "-s"][..], "GPU 7: "),
        // Without the links of one GPU there is no matrix.
        (&["topo", "-m"], "Failed to run topology matrix"),
        (&["topo", "-p2p", "r"], " GPU7\t"),
        (&["pci", "-gErrCnt"], "GPU 7: "),
    ] {
        let output = ended("h100x8", fault, args);
        assert_eq!(output.status.code(), Some(124), "{args:?}");
        assert!(
            told(&output).starts_with("GPU 3 did not answer nvmlDeviceGet"),
            "{output:?}"
        );
        let shown = stdout(&output);
        assert!(
            shown.lines().any(|line| line.starts_with(last)),
            "{args:?}: {shown}"
        );
    }
}

#[test]
fn a_driver_that_hangs_is_named() {
    for (function, args) in [
        ("nvmlInit_v2", &[][..]),
        ("nvmlInit_v2", &["dmon"]),
        ("nvmlInit_v2", &["topo", "-m"]),
        ("nvmlDeviceGetCount_v2", &["-L"]),
        ("nvmlSystemGetCudaDriverVersion_v2", &[]),
        ("nvmlSystemGetProcessName", &["--query-compute-apps=name"]),
    ] {
        let output = ended("h100x8", &format!("function = '{function}'"), args);
        assert_eq!(output.status.code(), Some(124), "{function} {args:?}");
        let named = format!("The driver did not answer {function} within 0.3 s.\n");
        assert!(told(&output).starts_with(&named), "{output:?}");
    }
}

#[test]
fn a_change_that_hangs_is_no_success() {
    for (function, args) in [
        ("nvmlDeviceSetPowerManagementLimit", &["-pl", "300"][..]),
        ("nvmlDeviceSetPersistenceMode", &["-pm", "0"]),
        ("nvmlDeviceSetGpuLockedClocks", &["-lgc", "1000,1200"]),
        ("nvmlDeviceResetGpuLockedClocks", &["-rgc"]),
        ("nvmlDeviceClearEccErrorCounts", &["-p", "0"]),
        ("nvmlDeviceSetComputeMode", &["-c", "2"]),
    ] {
        let all = stdout(&run("changeable", args));
        let output = ended("changeable", &format!("function = '{function}'"), args);
        assert_eq!(output.status.code(), Some(124), "{args:?}: {output:?}");
        let told = told(&output);
        assert!(
            told.contains(&format!("did not answer {function}")),
            "{told}"
        );
        assert!(told.contains("may have been made or not"), "{told}");
        let shown = stdout(&output);
        assert!(shown.contains("Timeout"), "{args:?}: {shown}");
        let verbs = [
            "Enabled",
            "Disabled",
            "Power limit for",
            "GPU clocks set",
            "All done",
            "Set ",
        ];
        let successes = |text: &str| {
            text.lines()
                .filter(|line| verbs.iter().any(|verb| line.starts_with(verb)))
                .count()
        };
        assert!(successes(&all) > 0 || args[0] != "-pl", "{all}");
        assert!(!shown.contains("All done"), "{args:?}: {shown}");
        assert!(
            successes(&shown) < successes(&all).max(1),
            "{args:?}: {shown}"
        );
    }
}

/// Whatever a question is called, nothing was to be changed by it.
#[test]
fn a_question_that_hangs_is_no_change() {
    let gpm = ["dmon", "-c", "2", "--gpm-metrics", "1"];
    for (function, args) in [
        ("nvmlInit_v2", &["-pm", "0"][..]),
        ("nvmlDeviceGetPersistenceMode", &["-pm", "0"]),
        (
            "nvmlDeviceQueryDrainState",
            &["drain", "-q", "-p", "0000:19:00.0"],
        ),
        (
            "nvmlDeviceValidateInforom",
            &["--query-gpu=inforom.checksum_validation"],
        ),
        ("nvmlGpmSampleAlloc", &gpm),
        ("nvmlGpmSampleGet", &gpm),
        ("nvmlGpmMetricsGet", &gpm),
        ("nvmlGpmSampleFree", &gpm),
    ] {
        let asked = ended("h100x8", &format!("function = '{function}'"), args);
        let told = told(&asked);
        let named = format!("did not answer {function} within");
        assert!(told.contains(&named), "{args:?}: {asked:?}");
        assert!(!told.contains("may have been made"), "{asked:?}");
    }
}

#[test]
fn a_loop_gives_each_sample_the_whole_time_and_ends_with_the_one_that_hangs() {
    let fault = "function = 'nvmlDeviceGetPowerUsage', gpu = 3, from = 4";
    let asked = [
        "--query-gpu=index,power.draw",
        "--format=csv,noheader",
        "-lms",
        "200",
    ];
    let output = ended("h100x8", fault, &asked);
    assert_eq!(output.status.code(), Some(124));
    let shown = stdout(&output);
    assert_eq!(shown.lines().count(), 4 * 8, "{shown}");
    assert_eq!(shown.matches("3, [Timeout]").count(), 1, "{shown}");
    assert!(shown.contains("\n7, "), "{shown}");
}

#[test]
fn without_a_limit_it_waits() {
    let _quiet = quiet();
    let mut child = hanging("h200", "function = 'nvmlDeviceGetName'")
        .arg("-L")
        .stdout(Stdio::null())
        .spawn()
        .expect("nvsmi runs");
    std::thread::sleep(Duration::from_millis(600));
    assert!(child.try_wait().expect("a child").is_none());
    child.kill().expect("it still runs");
    child.wait().expect("its end");
}

#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    for (simulated, args) in [
        ("h100x8", &["-L"][..]),
        ("h100x8", &["--query-gpu=index,power.draw"]),
        ("h100x8", &["topo", "-m"]),
        ("mig", &["-L"]),
        ("mig", &["--query-gpu=name,mig.mode.current"]),
        ("lost", &["-L"]),
        ("lost", &["--query-gpu=index,name"]),
        ("no-driver", &[]),
        ("no-library", &[]),
        ("h200", &["-h"]),
        ("h200", &["--bogus"]),
        ("h200", &["dmon", "-c", "1", "-s", "p"]),
        ("h200", &["-i", "GPU-none", "-L"]),
        (
            "mig",
            &[
                "dmon",
                "-c",
                "2",
                "--gpm-metrics",
                "1,2",
                "--gpm-options",
                "dm",
            ],
        ),
    ] {
        let (without, with) = (
            run(simulated, args),
            run(simulated, &[args, &["--timeout=60"]].concat()),
        );
        assert_eq!(without, with, "{simulated} {args:?}");
    }
}

#[test]
fn the_variable_stands_for_the_option() {
    let with = |value: &str, args: &[&str]| {
        let log = scratch("timeout-variable.log");
        let mut command = hanging("h200", "function = 'nvmlDeviceGetName'");
        command.env("NVSMI_TIMEOUT", value).env(LOG, &log);
        let output = command.args(args).output().expect("nvsmi runs");
        (output, log.exists())
    };
    let (output, _) = with("0.2", &["-L"]);
    assert_eq!(output.status.code(), Some(124));
    let (output, _) = with("600", &["-L", "--timeout=0.2"]);
    assert_eq!(output.status.code(), Some(124));
    for (value, args, name) in [
        ("x", &["-L"][..], "NVSMI_TIMEOUT"),
        ("0", &["-L"], "NVSMI_TIMEOUT"),
        ("1", &["-L", "--timeout=0"], "--timeout"),
        ("1", &["--timeout", "-L"], "--timeout"),
    ] {
        let (output, asked) = with(value, args);
        assert_eq!(output.status.code(), Some(2), "{value} {args:?}");
        let shown = stdout(&output);
        assert!(
            shown.starts_with(&format!("Provided {name} value")),
            "{shown}"
        );
        assert_eq!(shown.lines().count(), 1);
        assert!(!asked, "{value} {args:?}");
    }
}

/// A loop with a limit, which has shown its first line.
fn looping(limit: &str) -> (Child, impl BufRead) {
    let args = ["--timeout", limit, "--query-gpu=index", "-lms", "50"];
    begun(nvsmi("h200").args(args), AS_IT_COMES)
}

#[test]
fn a_signal_ends_the_process_that_asks_too() {
    let _quiet = quiet();
    for signal in ["TERM", "INT", "KILL"].into_iter().filter(|s| heeds(s)) {
        let (mut child, mut lines) = looping("5");
        send(signal, child.id());
        let began = Instant::now();
        // The pipe ends only with the last process that has it.
        lines.read_to_end(&mut Vec::new()).expect("the rest");
        assert!(began.elapsed() < Duration::from_secs(3), "{signal}");
        let status = child.wait().expect("its end");
        assert_eq!(status.code(), (signal != "KILL").then_some(0), "{signal}");
    }
}

/// Whoever started nvsmi may have had it ignore the end of its children, or block the signal.
#[test]
fn only_one_of_the_two_processes_does_the_work() {
    for of_children in [
        "--ignore-signal=CHLD",
        "--block-signal=CHLD",
        "--default-signal=CHLD",
    ] {
        let calls = |line: &str| {
            let log = scratch("timeout-children.log");
            let line = format!("exec env {of_children} nvidia-smi --timeout 60 {line}");
            let line = format!("export {LOG}={}; {line}", log.display());
            (script("changeable", &line), logged(&log))
        };
        let (listed, _) = calls("-L");
        assert_eq!(listed, run("changeable", &["-L"]), "{of_children}");
        let (set, calls) = calls("-i 4 -pl 300");
        assert!(set.status.success(), "{of_children}: {set:?}");
        let set = calls.iter().filter(|call| changes(&call.function));
        assert_eq!(set.count(), 1, "{of_children}: {calls:?}");
        let crash = "NVSMI_SIMULATOR_FAULT=\"function = 'nvmlDeviceGetName', crash = true\"";
        let line = format!("exec env {of_children} {crash} nvidia-smi --timeout 60 -L");
        let crashed = script("changeable", &line);
        assert_eq!(
            crashed.status.code(),
            Some(128 + 11),
            "{of_children}: {crashed:?}"
        );
    }
}

/// The answer, and how long it took, of `-L` on a box of one GPU, where NVML does something amiss.
fn amiss(what: &str) -> (Output, Duration) {
    let began = Instant::now();
    let output = nvsmi("h200")
        .env(
            "NVSMI_SIMULATOR_FAULT",
            format!("function = 'nvmlDeviceGetUUID', {what}"),
        )
        .args(["--timeout", "30", "-L"])
        .output()
        .expect("nvsmi runs");
    (output, began.elapsed())
}

#[test]
fn an_nvml_that_ends_the_process_is_told_of() {
    let crashed = "The process that asks NVML crashed (SIGSEGV, 11). \
                   A change that was asked for may have been made or not.\n";
    let quit = "NVML ended the process that asks it. \
                A change that was asked for may have been made or not.\n";
    let left = "leave_child = true, crash = true";
    for (what, status, why) in [
        ("crash = true", 128 + 11, crashed),
        (left, 128 + 11, crashed),
        ("exit = true", 255, "nvsmi: NVML ended the process\n"),
        ("quit = true", 255, quit),
    ] {
        let (output, took) = amiss(what);
        assert_eq!(output.status.code(), Some(status), "{what}: {output:?}");
        assert_eq!(stdout(&output), "", "{what}");
        assert_eq!(told(&output), why, "{what}");
        assert!(took < Duration::from_secs(4), "{what}: {took:?}");
    }
}

/// A process that NVML started has all that was open.
#[test]
fn what_nvml_leaves_behind_is_not_waited_for() {
    let (output, took) = amiss("leave_child = true");
    assert_eq!(output, run("h200", &["-L"]));
    assert!(took < Duration::from_secs(4), "{took:?}");
}

/// Without a limit too: a status of 0 would be the library's.
#[test]
fn an_nvml_that_ends_a_thread_or_the_process_is_a_failure() {
    for what in ["exit = true", "end_thread = true"] {
        let fault = format!("function = 'nvmlDeviceGetUUID', gpu = 3, {what}");
        let output = nvsmi("h100x8")
            .env("NVSMI_SIMULATOR_FAULT", fault)
            .arg("-L")
            .output()
            .expect("nvsmi runs");
        assert_eq!(output.status.code(), Some(255), "{what}: {output:?}");
        assert_eq!(stdout(&output), "", "{what}");
        let told = told(&output);
        assert!(told.starts_with("nvsmi: "), "{what}: {told}");
        assert_eq!(told.lines().count(), 1, "{what}: {told}");
    }
}

/// What runs the program may not be the program itself: `/proc/self/exe` is the loader's, or valgrind's.
#[test]
fn a_limit_works_under_a_loader() {
    let loaders = [
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/ld-linux-aarch64.so.1",
        "valgrind -q",
    ];
    let line = |loader: &str, rest: &str| format!("{loader} $(command -v nvidia-smi) {rest}");
    for loader in loaders {
        if loader.starts_with('/') && !std::path::Path::new(loader).exists() {
            continue; // It is another architecture's.
        }
        if !script("h200", &line(loader, "-h")).status.success() {
            skipped(&format!("{loader} does not run nvsmi here"));
            continue;
        }
        let limited = script("h200", &line(loader, "--timeout 60 -L"));
        assert_eq!(stdout(&limited), stdout(&run("h200", &["-L"])), "{loader}");
        assert!(limited.status.success(), "{loader}: {limited:?}");
    }
}

/// Some of nvidia-smi's messages do not end their line.
#[test]
fn a_note_begins_a_line_of_its_own() {
    let unended = "Unable to determine the number of GPUs";
    let note = "The driver did not answer nvmlDeviceGetCount_v2 within 0.2 s.";
    let fault = "export NVSMI_SIMULATOR_FAULT=\"function = 'nvmlDeviceGetCount_v2', hang = true\"";
    let line = format!("{fault}; nvidia-smi --timeout 0.2 -pm 1");
    let shared = script("h200", &format!("{line} 2>&1"));
    let shown = stdout(&shared);
    assert!(
        shown.starts_with(&format!("{unended}\n{note}\n")),
        "{shown}"
    );
    let apart = script("h200", &line);
    assert_eq!(stdout(&apart), unended);
    assert!(told(&apart).starts_with(note), "{apart:?}");
}

/// A reader that keeps the pipe open and reads nothing.
#[test]
fn an_answer_that_nobody_reads_keeps_no_process() {
    for args in [&["-q", "-x"][..], &["-q", "-x", "-lms", "10"]] {
        let args = [&["--timeout", "30"], args].concat();
        let (mut child, lines) = begun(nvsmi("h100x8").args(args), 1);
        let worker = worker(child.id());
        std::thread::sleep(Duration::from_millis(500));
        send("TERM", child.id());
        child.wait().expect("its end");
        soon(|| {
            let program = std::fs::read_link(format!("/proc/{worker}/exe"));
            program.is_err().then_some(worker)
        });
        drop(lines);
    }
}

/// The kernel would take the GPUs away from an NVML that has them open.
#[test]
fn no_reset_is_begun_where_nvml_does_not_shut_down() {
    let _quiet = quiet();
    for (fault, words, status) in [
        ("hang = true", "Timeout", 124),
        ("code = 'UNKNOWN'", "Unknown Error", 255),
        ("code = 'UNINITIALIZED'", "Uninitialized", 255),
        ("code = 'GPU_IS_LOST'", "GPU is lost", 15),
    ] {
        let output = nvsmi("changeable")
            .env(
                "NVSMI_SIMULATOR_FAULT",
                format!("function = 'nvmlShutdown', {fault}"),
            )
            .args(["-r", "--dry-run", "--timeout", "0.3"])
            .output()
            .expect("nvsmi runs");
        assert_eq!(output.status.code(), Some(status), "{fault}: {output:?}");
        let shown = stdout(&output);
        let why = format!("because NVML did not shut down: {words}\n");
        assert!(shown.contains(&why), "{fault}: {shown}");
        assert_eq!(shown.lines().count(), 2, "{fault}: {shown}");
    }
}

/// The process that asks NVML, once there is one.
fn worker(overseer: u32) -> u32 {
    let children = format!("/proc/{overseer}/task/{overseer}/children");
    soon(|| {
        let ids = std::fs::read_to_string(&children).ok()?;
        ids.split_whitespace().next()?.parse().ok()
    })
}

/// The number of a process, once there is one.
fn soon(number: impl Fn() -> Option<u32>) -> u32 {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(20) {
        if let Some(number) = number() {
            return number;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("there is no such process");
}

/// A library that keeps the process that asks from ending stands for a kernel that does.
#[test]
fn a_process_that_cannot_end_keeps_nobody_waiting() {
    let _quiet = quiet();
    let test = std::env::current_exe().expect("a test");
    let library = test.with_file_name("liblingering.so");
    assert!(library.is_file(), "{} is not there", library.display());
    let fault = "function = 'nvmlDeviceGetName', gpu = 3";
    for args in [
        &["-L"][..],
        &["--query-gpu=index,name"],
        &["-q"],
        &["dmon", "-c", "1", "-s", "p"],
    ] {
        let file = scratch("lingers");
        let began = Instant::now();
        let output = hanging("h100x8", fault)
            .env("LD_PRELOAD", &library)
            .env("NVSMI_LINGERS", &file)
            .args(["--timeout", "0.3"])
            .args(args)
            .output()
            .expect("nvsmi runs");
        let took = began.elapsed();
        // It may still be on its way to its end.
        let process = soon(|| std::fs::read_to_string(&file).ok()?.parse().ok());
        let lives = std::path::Path::new(&format!("/proc/{process}/exe")).exists();
        send("KILL", process);
        assert!(lives, "{args:?}");
        if args[0] == "dmon" {
            // Nothing hangs but the end, for which there is some more time.
            assert!((4..15).contains(&took.as_secs()), "{args:?}: {took:?}");
            assert_eq!(output.status.code(), Some(0), "{args:?}");
            assert_eq!(told(&output), "", "{args:?}");
            continue;
        }
        assert!(took < Duration::from_secs(5), "{args:?}: {took:?}");
        assert_eq!(output.status.code(), Some(124), "{args:?}");
        assert!(told(&output).starts_with("GPU 3 did not answer nvmlDeviceGetName"));
        assert!(stdout(&output).contains("\n7, ") || stdout(&output).contains("NVIDIA H100"));
    }
}

/// A stopped process stands for one all of whose threads hang in the kernel.
#[test]
fn a_process_that_stands_still_is_given_up() {
    let _quiet = quiet();
    let (child, mut lines) = looping("0.3");
    let worker = worker(child.id());
    send("STOP", worker);
    let began = Instant::now();
    lines.read_to_end(&mut Vec::new()).expect("the rest");
    let output = child.wait_with_output().expect("its end");
    let took = began.elapsed();
    assert!((4..20).contains(&took.as_secs()), "{took:?}");
    assert_eq!(output.status.code(), Some(124));
    let told = told(&output);
    assert!(
        told.starts_with("The process that asks NVML has stood still for 5 s"),
        "{told}"
    );
    assert!(told.contains("Xid"), "{told}");
}

/// The first question may stop it before it has shown any sign of life. One run in
/// sixty did, where the machine had much to do.
#[test]
fn a_process_that_stands_still_at_once_is_given_up() {
    let _quiet = quiet();
    let runs: Vec<Child> = (0..60)
        .map(|_| {
            let mut run = nvsmi("h200");
            run.env(
                "NVSMI_SIMULATOR_FAULT",
                r#"function = "nvmlInit*", stop = true"#,
            );
            run.args(["--timeout", "0.3", "-L"]);
            run.stdout(Stdio::piped()).stderr(Stdio::piped());
            run.spawn().expect("nvsmi runs")
        })
        .collect();
    let began = Instant::now();
    for mut run in runs {
        while run.try_wait().expect("its end").is_none() {
            if began.elapsed() > Duration::from_secs(20) {
                send("KILL", run.id());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = run.wait_with_output().expect("its end");
        assert_eq!(output.status.code(), Some(124), "{output:?}");
        assert!(told(&output).starts_with("The process that asks NVML has stood still"));
    }
}

/// Both processes are stopped together by a terminal, and go on together.
#[test]
fn a_loop_that_is_stopped_for_a_while_goes_on() {
    let _quiet = quiet();
    let (mut child, mut lines) = looping("0.3");
    let both = [child.id(), worker(child.id())];
    both.iter().for_each(|&process| send("STOP", process));
    std::thread::sleep(Duration::from_millis(6500));
    both.iter().for_each(|&process| send("CONT", process));
    let mut line = String::new();
    for _ in 0..100 {
        line.clear();
        lines.read_line(&mut line).expect("a line");
    }
    assert_eq!(line, "0\n");
    send("TERM", child.id());
    lines.read_to_end(&mut Vec::new()).expect("the rest");
    assert!(child.wait().expect("its end").success());
}
