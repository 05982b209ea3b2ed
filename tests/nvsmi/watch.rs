//! The scrolling views while they run: how they end, and what happens to the GPUs and processes that
//! they watch.

use std::fmt::Write;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::running::{AS_IT_COMES, begun, heeds, send};
use crate::common::{BEGINS, NVSMI, hurried, nvsmi, run, scratch, stdout};

const VIEWS: [&[&str]; 4] = [&["dmon"], &["pmon"], &["encodersessions"], &["fbcsessions"]];

/// A view that has shown its first line.
fn watching(args: &[&str]) -> (Child, impl BufRead) {
    begun(nvsmi("h200").args(args), AS_IT_COMES)
}

#[test]
fn a_signal_ends_a_view_at_once_and_in_peace() {
    for (name, pause) in [
        ("dmon", "-d"),
        ("pmon", "-d"),
        ("encodersessions", "-l"),
        ("fbcsessions", "-l"),
    ] {
        let args = &[name, pause, "10"];
        for signal in ["INT", "TERM", "HUP"].into_iter().filter(|s| heeds(s)) {
            let (view, _lines) = watching(args);
            let sent = Instant::now();
            send(signal, view.id());
            let output = view.wait_with_output().expect("an end");
            assert_eq!(output.status.code(), Some(0), "{args:?} {signal}");
            assert_eq!(output.stderr, b"", "{args:?} {signal}");
            assert!(sent.elapsed() < Duration::from_secs(5), "{args:?}");
        }
    }
}

/// A loop of reports, each more than fits into a pipe, of which one has begun to be read.
fn reports() -> (Child, impl BufRead) {
    begun(nvsmi("h100x8").args(["-q", "-x", "-l", "100"]), 1)
}

fn interrupt(child: &Child) {
    send("TERM", child.id());
    std::thread::sleep(Duration::from_millis(200));
}

/// `nohup nvidia-smi -l 5 &` survives the terminal, and a loop in the background of a script is not
/// interrupted with what runs in front.
#[test]
fn a_signal_that_is_ignored_when_a_loop_begins_stays_so() {
    let query = "--query-gpu=name --format=csv -lms 100";
    for line in ["-l 1", "-l 1 --timeout 9", query, "dmon", "pmon"] {
        for signal in ["HUP", "INT", "QUIT"] {
            let mut shell = simulator::command("h200", Path::new("bash")).expect("a box");
            let trap = format!("trap '' {signal}; exec {NVSMI} {line}");
            let (mut view, _lines) = begun(shell.args(["-c", &trap]), AS_IT_COMES);
            send(signal, view.id());
            std::thread::sleep(Duration::from_millis(100));
            assert_eq!(view.try_wait().expect("a state"), None, "{line} {signal}");
            send("TERM", view.id());
            let status = view.wait().expect("an end");
            assert_eq!(status.code(), Some(0), "{line} {signal}");
        }
    }
}

#[test]
fn a_signal_does_not_cut_an_answer_in_half() {
    let (mut reports, mut begun) = reports();
    interrupt(&reports);
    assert_eq!(reports.try_wait().expect("a state"), None);
    let mut rest = String::new();
    begun.read_to_string(&mut rest).expect("the rest");
    assert!(rest.len() > 65536);
    assert!(rest.ends_with("</nvidia_smi_log>\n"));
    assert_eq!(reports.wait().expect("an end").code(), Some(0));
}

/// A second signal does not wait until the answer has been read.
#[test]
fn a_second_signal_ends_at_once() {
    let (mut reports, _begun) = reports();
    interrupt(&reports);
    assert_eq!(reports.try_wait().expect("a state"), None);
    interrupt(&reports);
    assert_eq!(reports.wait().expect("an end").code(), Some(0));
}

/// A driver that wakes up slowly keeps nobody from ending a loop. One that owes its samples, and has
/// shown none, ends as any program does.
#[test]
fn a_signal_ends_a_loop_in_peace_before_its_first_sample_too() {
    let query = "--query-gpu=name";
    let lines: [(&[&str], bool); 10] = [
        (&["dmon"], true),
        (&["pmon", "-d", "3"], true),
        (&["encodersessions"], true),
        (&["fbcsessions", "-l", "2"], true),
        (&["-l", "1"], true),
        (&["-q", "-lms", "500"], true),
        (&[query, "--format=csv", "-l", "1"], true),
        (&["dmon", "-c", "3"], false),
        (&["pmon", "-c", "1"], false),
        (&[query, "--format=csv"], false),
    ];
    for (args, endless) in lines {
        let view = nvsmi("h200")
            .args(args)
            .env(
                "NVSMI_SIMULATOR_FAULT",
                "function = 'nvmlInit*', hang = true",
            )
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("nvsmi runs");
        let id = view.id().to_string();
        let has_loaded_nvml = || {
            let maps = fs::read_to_string(format!("/proc/{id}/maps")).expect("it runs");
            maps.contains("libsimulator")
        };
        while !has_loaded_nvml() {
            std::thread::sleep(Duration::from_millis(5));
        }
        send("TERM", view.id());
        let output = view.wait_with_output().expect("an end");
        let (code, signal) = if endless {
            (Some(0), None)
        } else {
            (None, Some(15))
        };
        let status = output.status;
        assert_eq!((status.code(), status.signal()), (code, signal), "{args:?}");
        assert!(
            output.stdout.is_empty() && output.stderr.is_empty(),
            "{args:?}"
        );
    }
}

#[test]
fn a_closed_pipe_ends_a_view_quietly() {
    for args in VIEWS {
        let (view, lines) = watching(args);
        drop(lines);
        let output = view.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(output.stderr, b"", "{args:?}");
    }
}

#[test]
fn samples_are_counted_and_come_at_their_time() {
    let began = Instant::now();
    let shown = stdout(&run("h100x8", &["dmon", "-c", "3", "-s", "p"]));
    assert_eq!(shown.lines().count(), 2 + 3 * 8);
    let passed = began.elapsed().as_millis();
    assert!((2000..10_000).contains(&passed), "{passed} ms");
    assert_eq!(
        stdout(&run("h100x8", &["dmon", "-c", "1"])).lines().count(),
        2 + 8
    );
}

#[test]
fn a_file_gets_the_lines_instead_of_the_terminal() {
    let path = scratch("dmon.log");
    let file = path.display().to_string();
    let output = run("h200", &["dmon", "-c", "1", "-s", "c", "-f", &file]);
    assert_eq!(
        (stdout(&output).as_str(), output.status.code()),
        ("", Some(0))
    );
    let log = fs::read_to_string(path).expect("the file");
    assert_eq!(
        log,
        "# gpu   mclk   pclk \n# Idx    MHz    MHz \n    0   3201    375 \n"
    );
}

/// And all of them if asked for; where some are not shown a warning says so, as nvidia-smi's does.
#[test]
fn sixteen_gpus_are_watched() {
    let mut text = "about = \"many\"\ninherits = \"t4\"\n".to_owned();
    for gpu in 0..20 {
        let _ = write!(
            text,
            "[gpu.{gpu}]\nuuid = \"GPU-{gpu:08}-0004-0004-0004-000000000001\"\npci.bus_id = \"00000000:{gpu:02X}:1F.0\"\n"
        );
    }
    let path = scratch("many.toml");
    fs::write(&path, text).expect("a box");
    let many = path.display().to_string();
    for (view, last) in [("dmon", "   15"), ("pmon", "   15")] {
        let shown = stdout(&run(&many, &[view, "-c", "1"]));
        let warning = "\nWARNING: Only monitoring up to 16 GPUs is supported by default.\n\
            NVSMI_SHOW_ALL_DEVICES=1 in the environment shows all 20; that costs more.\n\n";
        let shown = shown.strip_prefix(warning).expect("a warning");
        assert_eq!(shown.lines().count(), 2 + 16, "{view}");
        let all = nvsmi(&many)
            .args([view, "-c", "1"])
            .env("NVSMI_SHOW_ALL_DEVICES", "1")
            .output();
        let all = stdout(&all.expect("nvsmi runs"));
        assert!(all.starts_with(shown), "{all}");
        assert_eq!(all.lines().count(), 2 + 20, "{view}");
        let line = shown.lines().next_back().unwrap_or_default();
        assert!(line.starts_with(last), "{line}");
    }
    let shown = stdout(&run(&many, &["pmon", "-c", "1", "-i", "19"]));
    assert!(shown.contains("\n   19 "), "{shown}");
}

#[test]
fn a_gpu_that_is_lost_on_the_way_shows_dashes() {
    let output = run("lost-midway", &["dmon", "-c", "1", "-s", "puvmet"]);
    assert_eq!(output.status.code(), Some(0));
    let shown = stdout(&output);
    let lost: Vec<&str> = shown
        .lines()
        .filter(|line| line.starts_with("    3"))
        .collect();
    assert_eq!(lost.len(), 1, "{shown}");
    assert!(
        lost[0][5..].split_whitespace().all(|cell| cell == "-"),
        "{shown}"
    );
    assert!(shown.contains("\n    4     71     31     37 "), "{shown}");
}

#[test]
fn a_process_that_has_ended_is_no_error() {
    let path = scratch("ended.toml");
    let text = "about = \"a process that ends\"\ninherits = \"h200-busy\"\n[[fault]]\nfunction = \"nvmlSystemGetProcessName\"\ncode = \"NOT_FOUND\"\n";
    fs::write(&path, text).expect("a box");
    let output = run(&path.display().to_string(), &["pmon", "-c", "1"]);
    assert_eq!(output.status.code(), Some(0));
    let idle =
        "    0          -     -      -      -      -      -      -      -    -              ";
    assert_eq!(stdout(&output).lines().nth(2), Some(idle));
}

#[test]
fn counters_have_a_value_from_the_second_sample_on() {
    let args = [
        "dmon",
        "-c",
        "2",
        "-s",
        "p",
        "--gpm-metrics",
        "1,20",
        "--gpm-options",
        "dm",
    ];
    let shown = stdout(&run("mig", &args));
    let rows: Vec<&str> = shown.lines().skip(2).collect();
    assert_eq!(rows.len(), 12, "{shown}");
    for (place, row) in rows.iter().enumerate() {
        let cells: Vec<&str> = row.split_whitespace().rev().take(2).collect();
        let known = cells.iter().all(|cell| cell.parse::<u32>().is_ok());
        assert_eq!(known, place >= 6, "{shown}");
    }
}

/// nvidia-smi leaves the lines out and ends with 0.
#[test]
fn mig_devices_that_cannot_be_listed_are_told_of_in_the_exit_status() {
    let faults = [
        ("nvmlDeviceGetMaxMigDeviceCount", "UNKNOWN", 255),
        ("nvmlDeviceGetMaxMigDeviceCount", "GPU_IS_LOST", 15),
        ("nvmlDeviceGetMigDeviceHandleByIndex", "GPU_IS_LOST", 15),
        ("nvmlDeviceGetMigDeviceHandleByIndex", "NO_PERMISSION", 4),
        ("nvmlDeviceGetMigMode", "UNKNOWN", 255),
        ("nvmlDeviceGetMigMode", "GPU_IS_LOST", 15),
        ("nvmlDeviceGetMigMode", "NOT_SUPPORTED", 0),
    ];
    for (function, code, status) in faults {
        let path = scratch(&format!("unlisted-{function}-{code}.toml"));
        let text = format!(
            "about = \"no MIG devices to be had\"\ninherits = \"mig\"\n[[fault]]\nfunction = \"{function}\"\ncode = \"{code}\"\n"
        );
        fs::write(&path, text).expect("a box");
        let args = ["dmon", "-c", "1", "-s", "p", "--gpm-options", "dm"];
        let output = run(&path.display().to_string(), &args);
        assert_eq!(output.status.code(), Some(status), "{function} {code}");
        let shown = stdout(&output);
        assert_eq!(shown.lines().count(), 3, "{shown}");
    }
}

#[test]
fn stamps_are_set_in_eights() {
    let shown = stdout(&run("h200", &["dmon", "-c", "1", "-s", "c", "-o", "DT"]));
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "#Date        Time         gpu   mclk   pclk ");
    assert_eq!(lines[1], "#YYYYMMDD    HH:MM:SS     Idx    MHz    MHz ");
    assert!(lines[2].ends_with("       0   3201    375 "), "{shown}");
    assert_eq!(lines[2].len(), lines[1].len());
}

/// Seconds since 1970 that the lines of a view show, which has `-o DT`.
fn stamps(shown: &str) -> Vec<i64> {
    let stamp = |line: &str| {
        let text: String = line.chars().filter(char::is_ascii_digit).take(14).collect();
        let time = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", text).expect("a stamp");
        let time = jiff::tz::TimeZone::UTC.to_timestamp(time);
        time.expect("a time").as_second()
    };
    let values = shown.lines().filter(|line| !line.starts_with('#'));
    values.map(stamp).collect()
}

/// A box where it takes so many milliseconds to read a temperature, or which processes there are.
fn slow(milliseconds: u32) -> String {
    let path = scratch(&format!("slow-{milliseconds}.toml"));
    let text = format!(
        "about = \"slow\"\ninherits = \"h200-busy\"\n[latency]\n\"nvmlDeviceGetTemperatureV nvmlDeviceGetComputeRunningProcesses\" = [{milliseconds}, {milliseconds}]\n"
    );
    fs::write(&path, text).expect("a box");
    path.display().to_string()
}

#[test]
fn samples_do_not_drift_however_long_a_view_runs() {
    let boxes = ["h200-busy", &slow(300), &slow(999)];
    let lines: [(&[&str], i64, i64); 4] = [
        (&["dmon", "-c", "1000"], 1000, 1),
        (
            &["dmon", "-s", "pucvmet", "-d", "600", "-c", "300"],
            300,
            600,
        ),
        (&["pmon", "-c", "1000", "-s", "um"], 1000, 1),
        (&["pmon", "-d", "10", "-c", "1000"], 1000, 10),
    ];
    for simulated in boxes {
        for (args, samples, every) in lines {
            let output = hurried(simulated, BEGINS)
                .args(args)
                .args(["-o", "DT"])
                .output();
            let shown = stamps(&stdout(&output.expect("nvsmi runs")));
            let due: Vec<i64> = (0..samples).map(|sample| BEGINS + sample * every).collect();
            assert_eq!(shown, due, "{simulated} {args:?}");
        }
    }
}

#[test]
fn a_sample_that_is_late_does_not_move_the_next() {
    for view in ["dmon", "pmon"] {
        let mut slow = hurried(&slow(1300), BEGINS);
        let output = slow.args([view, "-c", "100", "-o", "DT"]).output();
        let due: Vec<i64> = (0..100).map(|sample| BEGINS + 2 * sample).collect();
        assert_eq!(stamps(&stdout(&output.expect("nvsmi runs"))), due, "{view}");
    }
}

#[test]
fn the_longest_loop_has_its_sample_once_a_day() {
    let args = [
        "--query-gpu=timestamp,index",
        "--format=csv,noheader",
        "-l",
        "86400",
    ];
    let mut daily = hurried("h200", BEGINS)
        .args(args)
        .stdout(Stdio::piped())
        .spawn()
        .expect("nvsmi runs");
    let lines = BufReader::new(daily.stdout.take().expect("a pipe")).lines();
    let days: Vec<String> = lines.map(|line| line.expect("a line")).take(90).collect();
    daily.kill().expect("it runs");
    daily.wait().expect("its end");
    assert_eq!(days[0], "2026/12/01 00:00:00.000, 0");
    assert_eq!(days[31], "2027/01/01 00:00:00.000, 0");
    assert_eq!(days[89], "2027/02/28 00:00:00.000, 0");
}

#[test]
fn the_date_changes_at_local_midnight_also_in_a_file() {
    let path = scratch("midnight.log");
    let file = path.display().to_string();
    // Ten seconds before midnight in Kathmandu.
    let mut view = hurried("h200", BEGINS + 18 * 3600 + 15 * 60 - 10);
    view.env("TZ", "NPT-5:45");
    let args = [
        "dmon", "-s", "c", "-d", "10", "-c", "2", "-o", "DT", "-f", &file,
    ];
    let output = view.args(args).output().expect("nvsmi runs");
    assert_eq!(output.status.code(), Some(0));
    let log = fs::read_to_string(path).expect("the file");
    let lines: Vec<&str> = log.lines().skip(2).collect();
    let values = "       0   3201    375 ";
    assert_eq!(lines[0], format!(" 20261201    23:59:50{values}"));
    assert_eq!(lines[1], format!(" 20261202    00:00:00{values}"));
}

const PROCESS_LISTS: [&str; 3] = [
    "nvmlDeviceGetComputeRunningProcesses",
    "nvmlDeviceGetGraphicsRunningProcesses",
    "nvmlDeviceGetMPSComputeRunningProcesses",
];

/// nvidia-smi shows a dash for all that, as where there is no process, or waits for ever.
#[test]
fn processes_that_cannot_be_listed_are_no_idle_gpu() {
    let codes = [
        ("UNKNOWN", "Unknown Error", 255),
        ("GPU_IS_LOST", "GPU is lost", 15),
        ("NO_PERMISSION", "Insufficient Permissions", 4),
    ];
    for list in PROCESS_LISTS {
        for (code, words, status) in codes {
            let fault = |until: u32| {
                let fault =
                    format!("function = '{list}', code = '{code}', from = 2, until = {until}");
                hurried("h200-busy", BEGINS)
                    .env("NVSMI_SIMULATOR_FAULT", fault)
                    .args(["pmon", "-c", "3"])
                    .output()
                    .expect("nvsmi runs")
            };
            let why = format!(
                "    0          -     -      -      -      -      -      -      -    {words}"
            );
            let output = fault(3);
            let shown = stdout(&output);
            assert_eq!(
                shown.lines().filter(|line| *line == why).count(),
                2,
                "{shown}"
            );
            assert_eq!(output.status.code(), Some(status), "{list} {code}");
            // What could be read again is no failure.
            let output = fault(2);
            let shown = stdout(&output);
            assert_eq!(
                shown.lines().filter(|line| *line == why).count(),
                1,
                "{shown}"
            );
            let process = shown
                .lines()
                .filter(|line| line.contains("torch_python3"))
                .count();
            let others = usize::from(list != PROCESS_LISTS[0]);
            assert_eq!(process, 2 + others, "{shown}");
            assert_eq!(output.status.code(), Some(0), "{list} {code}");
        }
    }
}

#[test]
fn a_list_of_processes_that_the_board_does_not_have_is_empty() {
    let fault = format!("function = {PROCESS_LISTS:?}, code = 'NOT_SUPPORTED'");
    let mut view = nvsmi("h200-busy");
    let output = view
        .env("NVSMI_SIMULATOR_FAULT", fault)
        .args(["pmon", "-c", "1"])
        .output()
        .expect("nvsmi runs");
    let idle =
        "    0          -     -      -      -      -      -      -      -    -              ";
    assert_eq!(stdout(&output).lines().nth(2), Some(idle));
    assert_eq!(output.status.code(), Some(0));
}

/// nvidia-smi drops the upper half of a number: 4294967297 samples are one.
#[test]
fn a_count_beyond_all_numbers_is_no_end() {
    for count in [
        "2147483647",
        "2147483648",
        "4294967297",
        "99999999999999999999",
        "-5",
    ] {
        let mut view = hurried("h200", BEGINS)
            .args(["dmon", "-s", "c", "-c", count])
            .stdout(Stdio::piped())
            .spawn()
            .expect("nvsmi runs");
        let lines = BufReader::new(view.stdout.take().expect("a pipe")).lines();
        assert_eq!(lines.take(1000).count(), 1000, "{count}");
        view.kill().expect("it runs");
        view.wait().expect("its end");
    }
    let refused = stdout(&run("h200", &["dmon", "-c", "0"]));
    assert!(
        refused.starts_with("Invalid value for number of samples"),
        "{refused}"
    );
}

/// nvidia-smi does not begin without the handles of all GPUs.
#[test]
fn a_gpu_that_comes_back_is_shown_again() {
    let fault = "function = 'nvmlDeviceGetHandle*', gpu = 3, until = 2, code = 'GPU_IS_LOST'";
    let query = "--query-gpu=index,power.draw";
    let lines: [(&[&str], &str); 4] = [
        (&["dmon", "-s", "p"], "    3    697     67     73 "),
        (
            &["pmon", "-s", "m"],
            "    3      48213     C  76920      0    python         ",
        ),
        (
            &[query, "--format=csv,noheader,nounits", "-l", "1"],
            "3, 697.88",
        ),
        (
            &["-q", "-d", "PIDS", "-l", "1"],
            "        Process ID                        : 48213",
        ),
    ];
    for (args, row) in lines {
        let mut view = hurried("h100x8", BEGINS)
            .env("NVSMI_SIMULATOR_FAULT", fault)
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .expect("nvsmi runs");
        let shown = BufReader::new(view.stdout.take().expect("a pipe")).lines();
        let mut shown = shown.map(|line| line.expect("a line")).take(2000);
        assert!(shown.any(|line| line == row), "{args:?}");
        view.kill().expect("it runs");
        view.wait().expect("its end");
    }
    for (samples, status) in [("2", 15), ("3", 0)] {
        let mut view = hurried("h100x8", BEGINS);
        view.env("NVSMI_SIMULATOR_FAULT", fault);
        let ended = view.args(["dmon", "-c", samples]).output();
        let code = ended.expect("nvsmi runs").status.code();
        assert_eq!(code, Some(status), "{samples} samples");
    }
}
