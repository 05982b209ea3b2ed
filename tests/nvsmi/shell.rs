//! The command lines that people are taught, unchanged, with nvsmi installed as nvidia-smi; and what
//! shells and pipes do to a program.

use std::time::{Duration, Instant};

use crate::common::running::heeds;
use crate::common::{NVSMI, has_program, run, scratch, script, stdout};

/// Runs a script that must succeed, and returns what it printed.
fn works(simulated: &str, text: &str) -> String {
    let output = script(simulated, text);
    assert!(output.status.success(), "{text}: {output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{text}");
    stdout(&output)
}

#[test]
fn a_look_through_grep() {
    let shown = works("h200-busy", "nvidia-smi | grep -A 1 MiB");
    assert!(shown.contains("3059MiB / 143771MiB"), "{shown}");
    assert!(
        shown.contains("/usr/local/bin/torch_python3           3050MiB |"),
        "{shown}"
    );
    assert_eq!(
        works("h100x8", "nvidia-smi -i 0 | grep -c 'NVIDIA H100'"),
        "1\n"
    );
}

#[test]
fn memory_into_a_script() {
    let text =
        "used=$(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | head -n 1)
        if [ \"$used\" -gt 1000 ]; then echo busy; else echo free; fi";
    assert_eq!(works("h200-busy", text), "busy\n");
    assert_eq!(works("h200", text), "free\n");
    assert_eq!(
        works(
            "h200",
            "nvidia-smi --query-gpu=memory.used,memory.total --format=csv"
        ),
        "memory.used [MiB], memory.total [MiB]\n0 MiB, 143771 MiB\n",
    );
}

#[test]
fn who_holds_the_memory() {
    let apps = "nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv";
    let shown = works("h200-busy", apps);
    assert_eq!(
        shown.lines().nth(1),
        Some("747, /usr/local/bin/torch_python3, 3050 MiB")
    );
    assert_eq!(works("h200", &format!("{apps},noheader")), "");
}

#[test]
fn metrics_appended_to_a_file() {
    let log = scratch("metrics.csv");
    let text = format!(
        "set -euo pipefail
        for n in 1 2; do
            ts=$(date +%s)
            nvidia-smi --query-gpu=index,uuid,utilization.gpu,memory.used,memory.total,power.draw,temperature.gpu \
                --format=csv,noheader,nounits | sed \"s/^/${{ts}},/\" >> {log}
        done
        wc -l < {log}; awk -F, 'NF != 8' {log}",
        log = log.display(),
    );
    assert_eq!(works("h100x8", &text), "16\n");
}

#[test]
fn a_python_collector() {
    if !has_program("python3") {
        return;
    }
    let text = r#"python3 - <<'END'
import csv, subprocess
fields = "index,uuid,name,utilization.gpu,utilization.memory,memory.used,memory.total,power.draw,power.limit,temperature.gpu,clocks.current.sm,pstate"
text = subprocess.check_output(["nvidia-smi", "--query-gpu=" + fields, "--format=csv,noheader,nounits"], text=True, timeout=5)
rows = list(csv.reader(text.splitlines(), skipinitialspace=True))
for row in rows:
    assert len(row) == 12, row
    for value in row[3:11]:
        if value != "[N/A]":
            float(value)
used, total = map(int, subprocess.check_output(["nvidia-smi", "-i", "0", "--query-gpu=memory.used,memory.total", "--format=csv,noheader,nounits"]).split(b","))
print(len(rows), rows[0][2], used < total)
END"#;
    assert_eq!(works("h100x8", text), "8 NVIDIA H100 80GB HBM3 True\n");
    assert_eq!(
        works("desktop", text),
        "1 NVIDIA GeForce RTX 2080 SUPER True\n"
    );
}

#[test]
fn a_log_that_survives_the_connection() {
    let log = scratch("gpu_mem.log");
    let text = format!(
        "nohup bash -c \"while true; do nvidia-smi -i 0 --query-gpu=memory.used --format=csv,noheader >> {log}; sleep 0.2; done\" > /dev/null 2>&1 &
        sleep 1; kill $!; sort -u {log}",
        log = log.display(),
    );
    assert_eq!(works("h200-busy", &text), "3059 MiB\n");
}

#[test]
fn a_gpu_by_its_stable_name() {
    let uuid = "GPU-00000005-1000-2000-3000-000000000005";
    assert_eq!(
        works(
            "h100x8",
            &format!("nvidia-smi -i {uuid} --query-gpu=index --format=csv,noheader")
        ),
        "5\n"
    );
}

#[test]
fn every_field_that_help_names_can_be_asked_for_at_once() {
    for list in [
        "gpu",
        "compute-apps",
        "accounted-apps",
        "supported-clocks",
        "retired-pages",
        "remapped-rows",
    ] {
        let help = works("h200", &format!("nvidia-smi --help-query-{list}"));
        let mut names: Vec<String> = Vec::new();
        let lines: Vec<&str> = help.lines().collect();
        for (place, line) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| line.starts_with('"'))
        {
            assert_eq!(lines[place - 1], "", "a blank line before {line}");
            names.extend(
                line.split(" or ")
                    .map(|name| name.trim_matches('"').to_owned()),
            );
        }
        let output = run(
            "h200-busy",
            &[
                &format!("--query-{list}={}", names.join(",")),
                "--format=csv",
            ],
        );
        assert!(output.status.success(), "{output:?}");
        let header = stdout(&output)
            .lines()
            .next()
            .unwrap_or_default()
            .split(", ")
            .count();
        assert_eq!(header, names.len(), "--query-{list}");
        let least = if list == "gpu" { 256 } else { 7 };
        assert!(
            names.len() >= least,
            "--query-{list} has {} names",
            names.len()
        );
    }
}

#[test]
fn fields_of_other_drivers_are_accepted() {
    let names = "kmd_version,reset_status.reset_required,reset_status.drain_and_reset_recommended,edpp_multiplier,\
        bbx.time_run,gpu.base.current,gpu.base.default,gpu.base.max,gpu.base.min,gpu.base.requested,\
        power_smoothing.active_profile,power_smoothing.enabled,power_smoothing.hw_lifetime_remaining_percent,\
        power_smoothing.imm_ramp_down,power_smoothing.max_percent_tmp_floor,power_smoothing.min_percent_tmp_floor,\
        power_smoothing.num_preset_profiles,power_smoothing.priv_level,power_smoothing.tmp_ceil,\
        power_smoothing.tmp_floor,power_smoothing.soc_power_smoothing_enabled,\
        power_smoothing.admin_override.percent_tmp_floor,power_smoothing.admin_override.ramp_down_hysteresis,\
        power_smoothing.admin_override.ramp_down_rate,power_smoothing.admin_override.ramp_up_rate,\
        power_smoothing.curr_profile.percent_tmp_floor,power_smoothing.curr_profile.ramp_down_hysteresis,\
        power_smoothing.curr_profile.ramp_down_rate,power_smoothing.curr_profile.ramp_up_rate";
    let output = run(
        "h200",
        &[&format!("--query-gpu={names}"), "--format=csv,noheader"],
    );
    assert!(output.status.success(), "{output:?}");
    let shown = stdout(&output);
    assert_eq!(
        shown.trim_end().split(", ").count(),
        names.split(',').count()
    );
    assert!(shown.starts_with("580.159.04, "), "{shown}");
}

#[test]
fn samples_come_on_time_through_a_pipe_and_end_on_a_signal() {
    for signal in ["TERM", "INT", "HUP"].into_iter().filter(|s| heeds(s)) {
        let text = format!(
            "timeout --preserve-status -s {signal} 1.1 nvidia-smi --query-gpu=index,memory.used --format=csv,noheader -lms 200 | cat
            exit ${{PIPESTATUS[0]}}"
        );
        let shown = works("h200", &text);
        let samples = shown.lines().count();
        assert!(
            (2..=7).contains(&samples),
            "{signal}: {samples} samples in 1.1 s"
        );
        assert!(shown.lines().all(|line| line == "0, 0 MiB"), "{shown}");
    }
}

#[test]
fn a_loop_prints_its_header_once_and_the_table_each_time() {
    let csv = works(
        "h200",
        "timeout --preserve-status 0.7 nvidia-smi --query-gpu=index --format=csv -lms 200 | cat",
    );
    assert_eq!(csv.lines().filter(|line| *line == "index").count(), 1);
    let table = works(
        "h200",
        "timeout --preserve-status 1.5 nvidia-smi --loop-ms=200 | cat",
    );
    assert!(table.matches("Processes:").count() >= 2, "{table}");
    assert_eq!(table.lines().count() % 20, 0);
}

#[test]
fn half_a_second_is_an_interval() {
    let shown = works(
        "h200",
        "timeout --preserve-status 2.3 nvidia-smi --query-gpu=index --format=csv,noheader -l 0.5 | cat",
    );
    assert!((2..=5).contains(&shown.lines().count()), "{shown}");
}

#[test]
fn a_gpu_lost_on_the_way_does_not_end_the_loop() {
    let mut lost = simulator::golden::Case {
        simulated: "h100x8".to_owned(),
        faults: vec!["nvmlDeviceGetUtilizationRates:GPU_IS_LOST".to_owned()],
        ..Default::default()
    };
    lost.args = [
        "--query-gpu=index,utilization.gpu",
        "--format=csv,noheader",
        "-lms",
        "100",
        "-i",
        "2,3",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut child = lost
        .command(std::path::Path::new(NVSMI))
        .expect("a simulated box")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("nvsmi runs");
    std::thread::sleep(Duration::from_millis(500));
    child.kill().expect("it still runs");
    let shown = stdout(&child.wait_with_output().expect("its output"));
    assert!(shown.lines().count() >= 4, "{shown}");
    assert!(
        shown.lines().all(|line| line.ends_with(", [GPU is lost]")),
        "{shown}"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let first = "set -o pipefail; nvidia-smi --query-supported-clocks=mem,gr --format=csv,noheader | head -n 1";
    assert_eq!(works("h200", first), "3201 MHz, 1980 MHz\n");
    let start = Instant::now();
    works(
        "h200",
        "set -o pipefail; nvidia-smi -lms 50 | head -n 30 > /dev/null",
    );
    assert!(start.elapsed() < Duration::from_secs(20));
}

/// A failure is none the less one where nobody reads of it.
#[test]
fn a_failure_keeps_its_status_without_a_reader() {
    for (simulated, line, status) in [
        ("h100x8", "nvlink -re", 3),
        ("h100x8", "pci -cErrCnt", 3),
        ("h100x8", "nvlink -gBwMode", 3),
        ("changeable", "-pl 9999", 2),
        ("changeable", "power-profiles -sr 4", 2),
        ("h100x8", "conf-compute -sm 5", 3),
        ("h100x8", "drain -d", 255),
        ("lost", "topo -m", 15),
        ("lost", "nvlink -s", 15),
    ] {
        let gone = format!("{{ sleep 0.2; nvidia-smi {line}; }} | true; exit ${{PIPESTATUS[0]}}");
        for script_line in [gone, format!("nvidia-smi {line} > /dev/full")] {
            let output = script(simulated, &script_line);
            assert_eq!(output.status.code(), Some(status), "{script_line}");
        }
    }
}

#[test]
fn a_full_disk_is_a_failure_with_a_message() {
    for line in [
        "nvidia-smi > /dev/full",
        "nvidia-smi -f /dev/full",
        "nvidia-smi -L > /dev/full",
    ] {
        let output = script("h200", line);
        assert_eq!(output.status.code(), Some(255), "{line}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(message.lines().count(), 1, "{line}: {message}");
        assert!(message.contains("No space left"), "{line}: {message}");
    }
}

#[test]
fn a_log_file_holds_what_stdout_would() {
    let log = scratch("table.txt");
    let shown = works("h200", &format!("nvidia-smi -f {}", log.display()));
    assert_eq!(shown, "");
    let kept = std::fs::read_to_string(&log).expect("the log");
    let direct = stdout(&run("h200", &[]));
    let below_the_time = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(below_the_time(&kept), below_the_time(&direct));
}

/// As nvidia-smi, nvsmi opens the file for reading too, so that a FIFO needs no reader.
#[test]
fn a_fifo_that_nobody_reads_does_not_block() {
    let fifo = scratch("log.fifo");
    let path = fifo.display();
    for view in [
        "",
        "-q",
        "--query-gpu=name",
        "-q -x",
        "--dtd",
        "dmon -c 1",
        "pmon -c 1",
    ] {
        let line = format!("rm -f {path}; mkfifo {path}; timeout 10 nvidia-smi {view} -f {path}");
        assert_eq!(works("h200", &line), "", "{view}");
    }
    // The shell holds the FIFO open: what is in it goes when nobody has it open any more.
    let line = format!("exec 3<>{path}; nvidia-smi -f {path} --query-gpu=name; head -n 2 <&3");
    assert_eq!(works("h200", &line), "name\nNVIDIA H200\n");
}

#[test]
fn a_log_file_is_left_alone_when_there_is_nothing_to_write() {
    let log = scratch("kept.txt");
    std::fs::write(&log, "precious\n").expect("a file");
    let path = log.display().to_string();
    for (simulated, args) in [
        ("none", vec!["-f", &path]),
        ("h200", vec!["-i", "99", "-f", &path]),
        ("no-driver", vec!["--query-gpu=name", "-f", &path]),
    ] {
        assert_ne!(run(simulated, &args).status.code(), Some(0));
        assert_eq!(
            std::fs::read_to_string(&log).expect("the file"),
            "precious\n",
            "{simulated}"
        );
    }
}
