//! Other drivers: their libraries lack functions, know older versions of structs, and lay some out in
//! another way. What such a library tells is shown as the newest tells it; what it cannot tell is missing,
//! and never another value.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use simulator::launcher::command_on;

use crate::common::{NVSMI, run, stdout};

/// One driver for each change of a layout, the oldest first.
const DRIVERS: &[&str] = &[
    "470.256.02",
    "510.47.03",
    "535.54.03",
    "535.129.03",
    "550.54.15",
    "570.86.15",
    "580.65.06",
];

/// A driver whose library has all forms.
const NEWEST: &str = "610.43.02";

/// nvsmi on a box with some TOML laid over it.
fn over(simulated: &str, toml: &str) -> Command {
    let table = toml.parse().expect("TOML");
    let mut command = command_on(simulated, &table, Path::new(NVSMI)).expect("a simulated box");
    command.env("TZ", "UTC");
    command
}

/// nvsmi on a box under another driver.
fn under(simulated: &str, driver: &str, args: &[&str]) -> Output {
    let mut command = over(simulated, &format!("driver = '{driver}'"));
    command.args(args).output().expect("nvsmi runs")
}

/// Whether a value is a word for one that the library cannot tell.
fn is_missing(value: &str) -> bool {
    ["N/A", "Function Not Found", "Invalid Argument"].contains(&value.trim_matches(['[', ']', ' ']))
}

/// The values of a report, by the labels above and beside them.
fn values(report: &str) -> BTreeMap<String, String> {
    let mut path: Vec<(usize, &str)> = Vec::new();
    let mut values = BTreeMap::new();
    for line in report.lines().filter(|line| !line.trim().is_empty()) {
        let depth = line.len() - line.trim_start().len();
        let (label, value) = line.split_once(" : ").unwrap_or((line, ""));
        path.retain(|(other, _)| *other < depth);
        path.push((depth, label.trim()));
        let labels: Vec<&str> = path.iter().map(|(_, label)| *label).collect();
        let mut key = labels.join(" / ");
        while values.contains_key(&key) {
            key.push('\'');
        }
        values.insert(key, value.trim().to_owned());
    }
    values
}

/// What the driver's version and the time of the day decide; and what older libraries tell in another way:
/// the oldest form of memory counts what is reserved as used, and before R530 there is one number for power.
fn may_differ(label: &str, driver: &str) -> bool {
    let last = label.rsplit(" / ").next().unwrap_or_default();
    let memory = driver < "510" && ["Used", "memory.used [MiB]"].contains(&last);
    let power = driver < "530" && ["Average Power Draw", "power.draw.average [W]"].contains(&last);
    memory
        || power
        || last.contains("Timestamp")
        || [
            "Driver Version",
            "CUDA Version",
            "driver_version",
            "kmd_version",
            "timestamp",
        ]
        .contains(&last)
}

/// What an older library tells that is neither what the newest tells nor missing.
fn falsehoods(
    driver: &str,
    newest: &BTreeMap<String, String>,
    older: &BTreeMap<String, String>,
) -> Vec<String> {
    let is_false = |(label, value): &(&String, &String)| {
        let same = newest.get(*label) == Some(*value);
        !same && !is_missing(value) && !may_differ(label, driver)
    };
    older
        .iter()
        .filter(is_false)
        .map(|(label, value)| {
            format!(
                "{driver}: {label}: {value}, and not {:?}",
                newest.get(label)
            )
        })
        .collect()
}

#[test]
fn the_report_of_an_older_library_has_the_same_values_or_none() {
    let mut wrong = Vec::new();
    for simulated in ["mixed", "gb200-x4"] {
        let newest = values(&stdout(&under(simulated, NEWEST, &["-q"])));
        assert!(newest.len() > 800, "{simulated} has a report");
        for driver in DRIVERS {
            let output = under(simulated, driver, &["-q"]);
            assert_eq!(output.status.code(), Some(0), "{simulated}, {driver}");
            let older = values(&stdout(&output));
            wrong.extend(falsehoods(driver, &newest, &older));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names of all fields.
fn fields() -> String {
    let help = stdout(&run("none", &["--help-query-gpu"]));
    let names = help.lines().filter(|line| line.starts_with('"'));
    let first = |line: &str| line.split('"').nth(1).map(str::to_owned);
    names.filter_map(first).collect::<Vec<_>>().join(",")
}

/// The values of a query, by the row and the field.
fn cells(output: &Output) -> BTreeMap<String, String> {
    let text = stdout(output);
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(", ").collect();
    let row = |(number, line): (usize, &str)| -> Vec<(String, String)> {
        let cells: Vec<&str> = line.split(", ").collect();
        assert_eq!(cells.len(), head.len(), "{line}");
        let label = |name: &&str| format!("{number} / {name}");
        let labels = head.iter().map(label);
        labels.zip(cells.into_iter().map(str::to_owned)).collect()
    };
    lines.enumerate().flat_map(row).collect()
}

#[test]
fn every_field_of_an_older_library_has_the_same_value_or_none() {
    let query = format!("--query-gpu={}", fields());
    let mut wrong = Vec::new();
    for simulated in ["mixed", "gb200-x4"] {
        let ask = |driver| cells(&under(simulated, driver, &[&query, "--format=csv"]));
        let newest = ask(NEWEST);
        assert!(newest.len() > 600, "{simulated} has {} cells", newest.len());
        for driver in DRIVERS {
            wrong.extend(falsehoods(driver, &newest, &ask(driver)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Views that are made of what every driver since 470 tells, or whose parts have an older form: all of
/// them are the same under each driver.
const SAME: &[(&str, &[&str])] = &[
    ("mixed", &["-L"]),
    ("mixed", &["topo", "-m"]),
    ("mixed", &["mig", "-lgip"]),
    ("mixed", &["mig", "-lgi"]),
    ("mixed", &["mig", "-lcip"]),
    ("mixed", &["mig", "-lci"]),
    (
        "mixed",
        &[
            "--query-compute-apps=gpu_uuid,pid,name,used_memory",
            "--format=csv",
        ],
    ),
    ("h100x8", &["pmon", "-c", "1", "-s", "u"]),
    ("h100x8", &["dmon", "-c", "1", "-s", "pc"]),
    (
        "h100x8",
        &[
            "--query-gpu=index,temperature.gpu,memory.total,memory.free",
            "--format=csv",
        ],
    ),
];

#[test]
fn views_whose_parts_have_an_older_form_are_the_same_under_each_driver() {
    for (simulated, args) in SAME {
        let newest = stdout(&under(simulated, NEWEST, args));
        for driver in DRIVERS {
            let output = under(simulated, driver, args);
            let older: Vec<String> = stdout(&output).lines().map(comparable).collect();
            let newest: Vec<String> = newest.lines().map(comparable).collect();
            assert_eq!(older, newest, "{simulated}, {driver}, {args:?}");
            assert_eq!(output.status.code(), Some(0), "{driver}, {args:?}");
        }
    }
}

/// A line with one word for what cannot be told, whatever the widths of its columns.
fn comparable(line: &str) -> String {
    let line = line.replace("Function Not Found", "N/A");
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ")
}

/// A driver, a box, a view of a fact that has had several forms, and what it shows.
#[rustfmt::skip]
const FORMS: &[(&str, &str, &[&str], &str)] = &[
    // nvmlDeviceGetGpuFabricInfo, then nvmlDeviceGetGpuFabricInfoV with versions 2 and 3 of its struct.
    ("525.60.13", "h100x8", &["--query-gpu=fabric.state", "-i", "0"], "Completed"),
    ("535.54.03", "h100x8", &["--query-gpu=fabric.state", "-i", "0"], "Completed"),
    ("550.54.15", "h100x8", &["--query-gpu=fabric.state", "-i", "0"], "Completed"),
    ("555.42.02", "h100x8", &["--query-gpu=fabric.state", "-i", "0"], "Completed"),
    ("580.65.06", "h100x8", &["--query-gpu=fabric.state", "-i", "0"], "Completed"),
    ("535.54.03", "gb200-x4", &["--query-gpu=fabric.cliqueId,fabric.health.bandwidth,fabric.health.summary", "-i", "0"], "2, N/A, N/A"),
    ("550.54.15", "gb200-x4", &["--query-gpu=fabric.cliqueId,fabric.health.bandwidth,fabric.health.summary", "-i", "0"], "2, Full, N/A"),
    ("580.65.06", "gb200-x4", &["--query-gpu=fabric.cliqueId,fabric.health.bandwidth,fabric.health.summary", "-i", "0"], "2, Full, Healthy"),
    // Versions 1 and 2 of nvmlPlatformInfo.
    ("570.86.15", "gb200-x4", &["--query-gpu=platform.chassis_serial_number,platform.slot_number,platform.tray_index,platform.host_id", "-i", "0"], "[N/A], 14, 4, 1"),
    ("575.51.02", "gb200-x4", &["--query-gpu=platform.chassis_serial_number,platform.slot_number,platform.tray_index,platform.host_id", "-i", "0"], "1820000000001, 14, 4, 1"),
    // nvmlDeviceGetMemoryInfo, which counts what is reserved as used, and _v2.
    ("470.256.02", "h100x8", &["--query-gpu=memory.used,memory.reserved", "-i", "0"], "77483 MiB, [Function Not Found]"),
    ("510.47.03", "h100x8", &["--query-gpu=memory.used,memory.reserved", "-i", "0"], "76931 MiB, 552 MiB"),
    // nvmlDeviceGetTemperature, and ...V.
    ("565.57.01", "h100x8", &["--query-gpu=temperature.gpu", "-i", "0"], "66"),
    ("570.86.15", "h100x8", &["--query-gpu=temperature.gpu", "-i", "0"], "66"),
    // Fields from 251 on had other numbers before R580.82.
    ("570.86.15", "gb200-x4", &["--query-gpu=clocks_event_reasons_counters.sw_thermal_slowdown", "-i", "1"], "3360324 us"),
    ("580.65.06", "gb200-x4", &["--query-gpu=clocks_event_reasons_counters.sw_thermal_slowdown", "-i", "1"], "3360324 us"),
    ("580.95.05", "gb200-x4", &["--query-gpu=clocks_event_reasons_counters.sw_thermal_slowdown", "-i", "1"], "3360324 us"),
];

#[test]
fn a_fact_with_several_forms_is_had_by_the_newest_that_the_library_knows() {
    for (driver, simulated, args, expected) in FORMS {
        let args = [args, &["--format=csv,noheader"][..]].concat();
        let output = under(simulated, driver, &args);
        assert_eq!(stdout(&output).trim_end(), *expected, "{driver}, {args:?}");
    }
}

/// A library that has a function and does not know the version of its struct.
#[test]
fn a_struct_version_that_the_library_does_not_know_is_asked_in_the_older_form() {
    let cases = [
        ("nvmlDeviceGetMemoryInfo_v2", "memory.used", "77483 MiB"),
        ("nvmlDeviceGetTemperatureV", "temperature.gpu", "66"),
        ("nvmlDeviceGetGpuFabricInfoV", "fabric.state", "Completed"),
        ("nvmlDeviceGetComputeRunningProcesses_v3", "index", "0"),
    ];
    for code in ["ARGUMENT_VERSION_MISMATCH", "FUNCTION_NOT_FOUND"] {
        for (function, field, expected) in cases {
            let fault = format!("fault = [{{ function = '{function}', code = '{code}' }}]");
            let query = format!("--query-gpu={field}");
            let output = over("h100x8", &fault)
                .args([&query, "--format=csv,noheader", "-i", "0"])
                .output()
                .expect("nvsmi runs");
            assert_eq!(stdout(&output).trim_end(), expected, "{function}, {code}");
        }
    }
}

#[test]
fn a_power_limit_is_set_by_the_form_that_the_library_has() {
    for driver in ["525.60.13", "535.54.03"] {
        let args = ["-pl", "300", "-i", "0"];
        let told = stdout(&under("changeable", driver, &args));
        assert!(told.contains("to 300.00 W"), "{driver}: {told}");
    }
}

/// So many processes on the first GPU of a box with one.
fn crowded(driver: &str, processes: usize) -> String {
    let process = |number: usize| {
        let pid = 1000 + number;
        let memory = 100 + number;
        format!(
            "{{ pid = {pid}, type = 'C', name = '/bin/p{pid}', memory = '{memory} MiB', utilization = {{ sm = 1 }} }},"
        )
    };
    let processes: String = (0..processes).map(process).collect();
    format!("driver = '{driver}'\n[gpu.0]\nprocesses = [{processes}]")
}

/// Entries of 16, 24 and 32 bytes; more of them than a first call has room for, too.
#[test]
fn processes_are_the_same_whatever_the_entries_of_the_lists_are() {
    for driver in [
        "470.256.02",
        "510.47.03",
        "535.54.03",
        "535.129.03",
        "580.65.06",
    ] {
        for count in [0, 1, 3, 48, 49, 64, 65, 500] {
            let over = over("h200-busy", &crowded(driver, count));
            same_processes(over, count, driver);
        }
    }
    let only_v1 = "missing = ['nvmlDeviceGetComputeRunningProcesses_v3', 'nvmlDeviceGetComputeRunningProcesses_v2']\n";
    let toml = crowded("470.256.02", 3).replacen('\n', &format!("\n{only_v1}"), 1);
    let toml = toml.replacen("driver = '470.256.02'\n", "", 1);
    same_processes(over("h200-busy", &toml), 3, "the first version");
}

fn same_processes(mut command: Command, count: usize, about: &str) {
    let expected: String = (0..count)
        .map(|number| format!("{}, {} MiB\n", 1000 + number, 100 + number))
        .collect();
    let output = command
        .args([
            "--query-compute-apps=pid,used_memory",
            "--format=csv,noheader",
        ])
        .output()
        .expect("nvsmi runs");
    assert_eq!(output.status.code(), Some(0), "{about}, {count}");
    assert_eq!(stdout(&output), expected, "{about}, {count}");
}

#[test]
fn the_views_of_processes_are_right_with_long_entries() {
    let ask = |args: &[&str]| {
        let mut command = over("h200-busy", &crowded("535.54.03", 3));
        stdout(&command.args(args).output().expect("nvsmi runs"))
    };
    let table = ask(&[]);
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.contains("/bin/p1"))
        .collect();
    #[rustfmt::skip]
    assert_eq!(rows, [
        "|    0   N/A  N/A            1000      C   /bin/p1000                              100MiB |",
        "|    0   N/A  N/A            1001      C   /bin/p1001                              101MiB |",
        "|    0   N/A  N/A            1002      C   /bin/p1002                              102MiB |",
    ]);
    let report = values(&ask(&["-q", "-d", "PIDS"]));
    let is_pid = |label: &str| label.trim_end_matches('\'').ends_with("Process ID");
    let processes = report.iter().filter(|(label, _)| is_pid(label));
    let pids: Vec<&str> = processes.map(|(_, pid)| pid.as_str()).collect();
    assert_eq!(pids, ["1000", "1001", "1002"]);
    let monitor = ask(&["pmon", "-c", "1", "-s", "m"]);
    let shown = |line: &&str| line.contains("p100");
    let rows: Vec<Vec<&str>> = monitor
        .lines()
        .filter(shown)
        .map(|line| line.split_whitespace().collect())
        .collect();
    let memory = |row: &Vec<&str>| (row[1].to_owned(), row[3].to_owned());
    let rows: Vec<_> = rows.iter().map(memory).collect();
    let expected = [("1000", "100"), ("1001", "101"), ("1002", "102")];
    assert_eq!(
        rows,
        expected.map(|(pid, memory)| (pid.to_owned(), memory.to_owned()))
    );
}

/// A library without any list of processes; a row for each view, and what it has to say.
#[test]
fn where_no_process_can_be_listed_every_view_says_so() {
    let lists = ["Compute", "Graphics", "MPSCompute"].map(|kind| {
        format!("'nvmlDeviceGet{kind}RunningProcesses', 'nvmlDeviceGet{kind}RunningProcesses_v2', 'nvmlDeviceGet{kind}RunningProcesses_v3'")
    });
    let missing = format!("missing = [{}]", lists.join(", "));
    for args in [
        &[][..],
        &["-q", "-d", "PIDS"],
        &["-q", "-x"],
        &["--query-compute-apps=pid", "--format=csv"],
        &["pmon", "-c", "1"],
    ] {
        let output = over("h200", &missing)
            .args(args)
            .output()
            .expect("nvsmi runs");
        let text = format!(
            "{}{}",
            stdout(&output),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(text.contains("Function Not Found"), "{args:?}: {text}");
        assert!(!text.contains("No running processes found"), "{args:?}");
    }
    // A single list that is missing is empty.
    let missing = "missing = ['nvmlDeviceGetMPSComputeRunningProcesses', 'nvmlDeviceGetMPSComputeRunningProcesses_v2', 'nvmlDeviceGetMPSComputeRunningProcesses_v3']";
    let output = over("h200", missing).output().expect("nvsmi runs");
    assert!(stdout(&output).contains("No running processes found"));
}

#[test]
fn excluded_gpus_are_listed_or_the_reason_is() {
    const EXCLUDED: &str = "excluded = [{ bus_id = '00000000:3B:00.0', uuid = 'GPU-00000000-0000-0000-0000-00000000000e' }]";
    let list = |toml: &str| {
        let output = over("h200", toml).arg("-B").output().expect("nvsmi runs");
        (stdout(&output), output.status.code())
    };
    assert_eq!(
        list(EXCLUDED),
        (
            "Excluded GPU 0: 00000000:3B:00.0 (UUID: GPU-00000000-0000-0000-0000-00000000000e)\n"
                .to_owned(),
            Some(0)
        )
    );
    let second =
        "[[fault]]\nfunction = 'nvmlGetExcludedDeviceInfoByIndex'\ncode = 'UNKNOWN'\nfrom = 2";
    assert_eq!(
        list(&format!("{}\n{second}", EXCLUDED.replace("}]", "}, {}]"))),
        (
            "Excluded GPU 0: 00000000:3B:00.0 (UUID: GPU-00000000-0000-0000-0000-00000000000e)\n\
             Unable to get excluded device info for index 1: Unknown Error\n"
                .to_owned(),
            Some(255)
        )
    );
    for (code, words, status) in [
        ("NOT_SUPPORTED", "Not Supported", 3),
        ("NO_PERMISSION", "Insufficient Permissions", 4),
        ("FUNCTION_NOT_FOUND", "Function Not Found", 13),
    ] {
        let fault =
            format!("fault = [{{ function = 'nvmlGetExcludedDeviceCount', code = '{code}' }}]");
        let line = format!("Unable to determine the number of excluded GPUs: {words}\n");
        assert_eq!(list(&fault), (line, Some(status)), "{code}");
        let fault = fault.replace("DeviceCount", "DeviceInfoByIndex");
        let line = format!("Unable to get excluded device info for index 0: {words}\n");
        let answer = list(&format!("{EXCLUDED}\n{fault}"));
        assert_eq!(answer, (line, Some(status)), "{code}");
    }
}

/// Counts that no machine has, and lists that claim to be as long.
const LIES: &[&str] = &[
    "reported.gpus = 0xFFFFFFFF",
    "reported.units = 0xFFFFFFFF",
    "reported.excluded = 0xFFFFFFFF",
    "lists = { length = 0xFFFFFFFF, answer = 0 }",
    "lists = { length = 0xFFFFFFFF, answer = 'error:INSUFFICIENT_SIZE' }",
    "every.mig = { current = true, pending = true, max_devices = 0xFFFFFFFF }",
    "every.mig.profiles = [{ number = 0, id = 19, name = 'x', slices = 1, instances = 0xFFFFFFFF, size = 1, starts = [] }]",
    "every.accounting = { mode = true, buffer_size = 0xFFFFFFFF }",
    "every.nvlink.links = 0xFFFFFFFF",
    "every.c2c_links.count = 0xFFFFFFFF",
];

/// With 4 GiB to have: a count that is believed takes 16 GiB and more, and is out of memory.
#[test]
fn a_count_that_cannot_be_does_not_take_all_memory() {
    const VIEWS: &[&str] = &[
        "",
        "-L",
        "-B",
        "-q",
        "--query-accounted-apps=pid --format=csv",
        "--query-supported-clocks=gr --format=csv",
        "--query-retired-pages=retired_pages.address --format=csv",
        "pmon -c 1",
        "encodersessions -c 1",
        "topo -m",
        "nvlink -s",
        "c2c -s",
        "mig -lgi",
        "mig -lgipp",
        "mig -lci",
        "-ltc 0 --dry-run",
    ];
    for lie in LIES {
        let table = lie.parse().expect("TOML");
        // Instances are lists as well.
        let simulated = if lie.starts_with("lists") || lie.starts_with("every.mig.profiles") {
            "mig"
        } else {
            "h200"
        };
        for view in VIEWS {
            let mut command = command_on(simulated, &table, Path::new("bash")).expect("a box");
            let script = format!("ulimit -v 4194304; timeout 60 {NVSMI} {view}");
            let output = command.args(["-c", &script]).output().expect("bash runs");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(!stderr.contains("out of memory"), "{lie}, {view}: {stderr}");
            let ended = output.status.code();
            assert!(
                ended.is_some_and(|code| code < 100 || code == 255),
                "{lie}, {view}: {ended:?} {stderr}"
            );
        }
    }
}

/// Lists below a list: of both, no GPU has so many that together they take all memory.
#[test]
fn clocks_that_no_gpu_has_are_not_shown() {
    let row = |memory, step| format!("{{ memory = {memory}, max = 5000, min = 0, step = {step} }}");
    let many: Vec<String> = (0..257).map(|memory| row(memory, 1000)).collect();
    for rows in [many, vec![row(1, 1)]] {
        let lie = format!("every.supported_clocks = [{}]", rows.join(", "));
        let output = over("h200", &lie)
            .args(["--query-supported-clocks=gr", "--format=csv,noheader"])
            .output()
            .expect("nvsmi runs");
        assert_eq!(stdout(&output), "[Unknown Error]\n");
    }
}

/// Room that NVML says it has filled beyond its end holds nothing that is true.
#[test]
fn a_list_that_claims_more_than_it_had_room_for_is_not_shown() {
    let lie = "lists = { length = 100000, answer = 0 }";
    for args in [
        &[
            "--query-compute-apps=pid,used_memory",
            "--format=csv,noheader",
        ][..],
        &["--query-supported-clocks=gr", "--format=csv,noheader"],
    ] {
        let output = over("h200-busy", lie)
            .args(args)
            .output()
            .expect("nvsmi runs");
        let text = stdout(&output);
        let words = text.trim().split(", ");
        let wrong: Vec<&str> = words.filter(|word| *word != "[Unknown Error]").collect();
        assert!(wrong.is_empty(), "{args:?}: {text}");
    }
}
