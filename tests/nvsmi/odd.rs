//! Boxes that do not behave: values that nobody foresaw, questions that fail once, arguments and pipes
//! of an odd kind. Each box is made for its test.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::calls::watched;
use crate::common::changes::changes;
use crate::common::{has_program, nvsmi, run, scratch, script, skipped, stdout};
use unicode_width::UnicodeWidthStr;

/// A box by its text; the name keeps it apart from those of other tests.
fn made(name: &str, text: &str) -> String {
    let path = scratch(&format!("{name}.toml"));
    std::fs::write(&path, text).expect("a file of our own");
    path.display().to_string()
}

fn shown(simulated: &str, args: &[&str]) -> String {
    let output = run(simulated, args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    stdout(&output)
}

#[test]
fn the_time_zone_may_be_an_area_a_rule_or_a_file() {
    let hour = |zone: &str| {
        let output = nvsmi("h200")
            .env("TZ", zone)
            .args(["--query-gpu=timestamp", "--format=csv,noheader"])
            .output()
            .expect("nvsmi runs");
        let shown = stdout(&output);
        let hour = shown.get(11..13).and_then(|hour| hour.parse::<i32>().ok());
        hour.expect("an hour")
    };
    let here = |zone| (hour(zone) - hour("UTC")).rem_euclid(24);
    assert_eq!(here("JST-9"), 9);
    if std::path::Path::new("/usr/share/zoneinfo/Asia/Tokyo").exists() {
        for zone in [
            "Asia/Tokyo",
            ":Asia/Tokyo",
            "/usr/share/zoneinfo/Asia/Tokyo",
        ] {
            assert_eq!(here(zone), 9, "{zone}");
        }
    }
}

#[test]
fn a_time_zone_that_is_no_file_is_not_read() {
    for zone in ["/dev/zero", ":/dev/zero", "/dev/full", "/"] {
        let mut child = nvsmi("h200")
            .env("TZ", zone)
            .args(["--query-gpu=timestamp", "--format=csv,noheader"])
            .stdout(Stdio::null())
            .spawn()
            .expect("nvsmi runs");
        let begun = Instant::now();
        let ended = loop {
            match child.try_wait().expect("a child") {
                None if begun.elapsed() < Duration::from_secs(5) => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                ended => break ended,
            }
        };
        if ended.is_none() {
            child.kill().expect("it still runs");
            child.wait().expect("its end");
        }
        assert!(ended.is_some_and(|status| status.success()), "{zone}");
    }
}

#[test]
fn no_value_bursts_the_frame_of_the_table() {
    let wide = made(
        "wide",
        r#"inherits = "mig"
        [gpu.0]
        name = "图形处理器图形处理器图形处理器图形处理器"
        power.usage = "4000000 W"
        processes = [
            { pid = 7, type = "C", name = "/home/用户/venv/bin/python", memory = "1 MiB" },
            { pid = 8, type = "C", name = "/home/用户/用户用户用户用户用户用户用户/venv/bin/python", memory = "1 MiB" },
            { pid = 9, type = "G", name = "a\u202eb\u200bc", memory = "1 MiB" },
        ]"#,
    );
    let table = shown(&wide, &[]);
    for line in table.lines().skip(1).filter(|line| !line.is_empty()) {
        assert_eq!(line.width(), 91, "{line}");
    }
    assert!(table.contains("/home/用户/venv/bin/python  "), "{table}");
    assert!(table.contains(r"a\u{202e}b\u{200b}c"), "{table}");
}

/// Numbers of ever more digits in every cell: each is there in full, or ends in dots.
#[test]
fn a_number_that_does_not_fit_into_its_cell_ends_in_dots() {
    for digits in 1..=9 {
        let number = "7".repeat(digits);
        // NVML tells watts in 32 bits of milliwatts.
        let watts = "8".repeat(digits.min(6));
        let pair = format!("total = \"{number} MiB\", used = \"{number} MiB\", free = 0");
        let busy = made(
            &format!("digits-{digits}"),
            &format!(
                r#"inherits = "overlong"
                driver = {{ version = "{number}", nvml = "13.{number}", cuda = "1.1" }}
                [gpu.0]
                fan = {{ speed = {number}, count = 1 }}
                temperature.gpu = {number}
                performance_state = {number}
                power = {{ usage = "{watts} W", enforced_limit = "{watts} W" }}
                memory = {{ {pair}, reserved = 0 }}
                utilization.gpu = {number}
                ecc = {{ pending = true, uncorrected.volatile.total = {number} }}
                processes = [{{ pid = {number}, type = "C", name = "x", memory = "{number} MiB" }}]
                [gpu.1]
                name = "H100"
                power.usage = "1 W"
                memory = {{ total = "2 MiB", used = "1 MiB", reserved = 0, free = 0 }}
                processes = [{{ pid = {number}, type = "C", name = "x", memory = "{number} MiB", gi = {number}, ci = {number} }}]
                [[gpu.1.mig.devices]]
                name = "MIG"
                uuid = "MIG-7"
                gi = {number}
                ci = {number}
                attributes = {{ multiprocessors = {number}, copy_engines = {number}, decoders = {number}, encoders = {number}, jpeg = {number}, ofa = {number} }}
                memory = {{ {pair}, reserved = 0 }}
                bar1 = {{ {pair} }}
                ecc.uncorrected.volatile.sram = {number}"#
            ),
        );
        for args in [&[][..], &["-col", "2"]] {
            let shown = shown(&busy, args);
            let (_, table) = shown.split_once('\n').expect("a time, then the table");
            for (digit, whole) in [('7', &number), ('8', &watts)] {
                // Cells of ids touch each other.
                let runs = table.split(|c| c != digit && c != '.');
                let cut = runs.filter(|run| run.starts_with(digit)).filter(|run| {
                    let numbers = run.split("...").filter(|number| !number.is_empty());
                    let marked = run.matches("...").count();
                    let partial = numbers.filter(|number| {
                        !number.replace('.', "").len().is_multiple_of(whole.len())
                    });
                    partial.count() > marked
                });
                let cut: Vec<&str> = cut.collect();
                assert!(cut.is_empty(), "{digits} digits: {cut:?} in\n{table}");
            }
            for line in table.lines().filter(|line| !line.is_empty()) {
                assert_eq!(line.width() % 91, 0, "{line}");
            }
        }
    }
}

#[test]
fn a_state_that_nobody_knows_is_no_other_failure() {
    let newer = made(
        "newer",
        "inherits = \"h200\"\n[gpu.0]\npersistence_mode = 7\naccounting.mode = 9\nperformance_state = 32\ndisplay.active = 15\ndisplay.mode = 3\n",
    );
    let fields = "persistence_mode,accounting.mode,pstate,display_active,display_attached";
    assert_eq!(
        shown(
            &newer,
            &[&format!("--query-gpu={fields}"), "--format=csv,noheader"]
        ),
        "[Unknown Error], [Unknown Error], Unknown, [Unknown Error], [Unknown Error]\n"
    );
    let table = shown(&newer, &[]);
    assert!(table.contains("| N/A   34C ERR!  "), "{table}");
}

#[test]
fn a_fact_that_could_not_be_read_is_asked_again_for_the_next_sample() {
    let once = made(
        "once",
        "inherits = \"h200\"\n[[fault]]\nfunction = \"nvmlDeviceGetName\"\nuntil = 1\ncode = \"TIMEOUT\"\n",
    );
    let shown = script(
        &once,
        "timeout --preserve-status 0.5 nvidia-smi --query-gpu=name --format=csv,noheader -lms 100 | cat",
    );
    let shown = stdout(&shown);
    let mut lines = shown.lines();
    assert_eq!(lines.next(), Some("[Timeout]"));
    assert!(lines.clone().count() >= 2, "{shown}");
    assert!(lines.all(|line| line == "NVIDIA H200"), "{shown}");
}

#[test]
fn one_list_of_processes_does_not_hide_another() {
    for list in ["Graphics", "MPSCompute"] {
        let half = made(
            &format!("half-{list}"),
            &format!(
                "inherits = \"h200-busy\"\n[[fault]]\nfunction = \"nvmlDeviceGet{list}RunningProcesses\"\ncode = \"UNKNOWN\"\n"
            ),
        );
        let table = shown(&half, &[]);
        let failure = "|    0   N/A  N/A            ERR!    N/A   Unknown Error                         ERR!     |";
        assert!(table.contains(failure), "{table}");
        assert!(table.contains("     C   "), "{table}");
    }
}

#[test]
fn an_account_that_cannot_be_read_is_no_account_less() {
    let kept = made(
        "accounts",
        "inherits = \"mig\"\n[[fault]]\nfunction = \"nvmlDeviceGetAccountingStats\"\ncode = \"NO_PERMISSION\"\n",
    );
    let asked = ["--query-accounted-apps=pid,time", "--format=csv,noheader"];
    let whole = shown("mig", &asked);
    let shown = shown(&kept, &asked);
    assert!(!whole.is_empty());
    assert_eq!(shown.lines().count(), whole.lines().count());
    for (line, known) in shown.lines().zip(whole.lines()) {
        let pid = known.split(", ").next().expect("a pid");
        assert_eq!(line, format!("{pid}, [Insufficient Permissions]"));
    }
}

#[test]
fn mig_devices_that_cannot_be_read_are_not_none() {
    for function in [
        "nvmlDeviceGetMigDeviceHandleByIndex",
        "nvmlDeviceGetMaxMigDeviceCount",
    ] {
        let cut = made(
            &format!("cut-{function}"),
            &format!(
                "inherits = \"mig\"\n[[fault]]\nfunction = \"{function}\"\ncode = \"NO_PERMISSION\"\n"
            ),
        );
        let table = shown(&cut, &[]);
        assert!(!table.contains("No MIG devices found"), "{table}");
        assert!(table.contains("|  0 ERR!ERR! ERR! |"), "{table}");
        let list = run(&cut, &["-L"]);
        assert_eq!(list.status.code(), Some(4), "{list:?}");
        let last = "Unable to determine the MIG devices of gpu 0: Insufficient Permissions\n";
        assert!(stdout(&list).ends_with(last), "{list:?}");
    }
}

#[test]
fn mig_devices_are_shown_also_where_the_mode_cannot_be_read() {
    for code in ["GPU_IS_LOST", "UNKNOWN", "NO_PERMISSION", "TIMEOUT"] {
        let cut = made(
            &format!("mode-{code}"),
            &format!(
                "inherits = \"mig\"\n[[fault]]\nfunction = \"nvmlDeviceGetMigMode\"\ncode = \"{code}\"\n"
            ),
        );
        assert_eq!(shown(&cut, &["-L"]), shown("mig", &["-L"]), "{code}");
        for (args, device) in [
            (&["-q"][..], "    MIG Device\n"),
            (&["-q", "-x"], "<mig_device>"),
        ] {
            let devices = shown(&cut, args).matches(device).count();
            assert_eq!(devices, 5, "{code} {args:?}");
        }
    }
}

#[test]
fn a_field_whose_number_depends_on_an_unknown_version_is_not_another_field() {
    let unnumbered = made(
        "unnumbered",
        r#"inherits = "h200-busy"
        [gpu.0]
        event_counters = { sw_thermal_slowdown = "111 us", hw_thermal_slowdown = "222 us", hw_power_brake_slowdown = "333 us" }
        [[fault]]
        function = "nvmlSystemGetDriverVersion"
        code = "UNKNOWN""#,
    );
    let fields = "clocks_event_reasons_counters.hw_thermal_slowdown,power_smoothing.active_profile";
    let asked = [&format!("--query-gpu={fields}"), "--format=csv,noheader"];
    assert_eq!(
        shown(&unnumbered, &asked),
        "[Unknown Error], [Unknown Error]\n"
    );
}

#[test]
fn what_a_c2c_link_counts_and_its_power_state_are_shown() {
    let counting = made(
        "c2c-counting",
        r#"inherits = "gb200-x4"
        [gpu.0.c2c_links]
        errors = { interrupt = 7, replay = 5000000000 }
        power_state = 1"#,
    );
    let asked = ["c2c", "-e", "-gLowPwrInfo", "-i", "0", "-l", "3"];
    let answer = shown(&counting, &asked);
    let lines: Vec<&str> = answer.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "\t C2C Link 3: Error Interrupt Count: 7",
            "\t C2C Link 3: Error Replay Count: 5000000000",
            "\t C2C Link 3: Error Back-to-Back Replay Count: N/A",
            "",
            "\t C2C Link 3: Low Power Mode: Low Power State",
        ]
    );
    let none = shown(&counting, &["c2c", "-e", "-i", "0", "-l", "99"]);
    assert!(none.ends_with("for link 99 - inActive\n"), "{none}");
}

#[test]
fn a_gpu_that_may_not_be_opened_says_so() {
    let barred = made(
        "barred",
        "inherits = \"h100x8\"\n[[fault]]\nfunction = \"nvmlDeviceGetHandle*\"\ngpu = 3\ncode = \"NO_PERMISSION\"\n",
    );
    let output = run(&barred, &["-i", "3"]);
    assert_eq!(output.status.code(), Some(4));
    let table = stdout(&output);
    assert_eq!(table.matches("Insufficient Permis").count(), 2, "{table}");
    assert!(!table.contains("No running processes found"), "{table}");
}

#[test]
fn an_argument_that_is_no_text_is_refused_and_no_file_written() {
    let name = b"nvsmi-\xff.txt";
    let folder = scratch("not-text");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let output = nvsmi("h200")
        .current_dir(&folder)
        .arg("-f")
        .arg(OsStr::from_bytes(name))
        .output()
        .expect("nvsmi runs");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stdout(&output),
        "ERROR: Option nvsmi-\u{fffd}.txt is not UTF-8.\n\n"
    );
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 0);
}

#[test]
fn intervals_of_any_length_neither_panic_nor_spin() {
    let samples = |interval: &str| {
        let text = format!(
            "timeout --preserve-status 0.5 nvidia-smi --query-gpu=index --format=csv,noheader {interval} | cat
            exit ${{PIPESTATUS[0]}}"
        );
        let output = script("h200", &text);
        assert!(output.status.success(), "{interval}: {output:?}");
        assert!(output.stderr.is_empty(), "{interval}: {output:?}");
        stdout(&output).lines().count()
    };
    assert_eq!(samples("-l 1e19"), 1);
    for short in ["-l 1e-9", "-lms 0.0001"] {
        let samples = samples(short);
        assert!(
            (2..=501).contains(&samples),
            "{short}: {samples} samples in 0.5 s"
        );
    }
}

#[test]
fn a_loop_ends_quietly_on_quit() {
    let output = script(
        "h200",
        "timeout --preserve-status -s QUIT 0.4 nvidia-smi --query-gpu=index -lms 100 | cat
        exit ${PIPESTATUS[0]}",
    );
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_full_pipe_that_does_not_block_is_waited_for() {
    if !has_program("python3") {
        return;
    }
    let (reader, writer) = std::io::pipe().expect("a pipe");
    // The pipe's open file description is set not to block by whoever shares it.
    let set = std::process::Command::new("python3")
        .args(["-c", "import os; os.set_blocking(1, False)"])
        .stdout(writer.try_clone().expect("the same pipe"))
        .status();
    assert!(set.expect("python3 runs").success());
    let mut child = nvsmi("h200")
        .args(["-lms", "1"])
        .stdout(Stdio::from(writer))
        .spawn()
        .expect("nvsmi runs");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(800) {
        assert!(child.try_wait().expect("a child").is_none(), "it gave up");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it still runs");
    child.wait().expect("its end");
    drop(reader);
}

#[test]
fn a_count_beyond_what_fits_with_a_sign_is_not_negative() {
    let full = made(
        "full",
        "inherits = \"h200\"\n[gpu.0]\necc.uncorrected.volatile.total = -1\n",
    );
    let asked = [
        "--query-gpu=ecc.errors.uncorrected.volatile.total",
        "--format=csv,noheader",
    ];
    assert_eq!(shown(&full, &asked), "18446744073709551615\n");
}

#[test]
fn subcommands_tell_of_a_gpu_that_they_leave_out() {
    for line in [&["nvlink", "-s"][..], &["topo", "-m"], &["pci", "-gErrCnt"]] {
        let output = run("lost", line);
        assert_eq!(output.status.code(), Some(15), "{line:?}");
        let told = "Unable to determine the device handle for GPU3: GPU is lost.";
        assert!(stdout(&output).contains(told), "{line:?}: {output:?}");
    }
}

/// What the system answers is told without that GPU.
#[test]
fn questions_of_the_system_do_not_hide_a_gpu() {
    let confidential = made(
        "confidential-lost",
        "about = \"a confidential box with a lost GPU\"\ninherits = \"lost\"\nconfidential = { cpu = 3, gpus = 1, environment = 2, feature = 1, dev_tools = 0, multi_gpu = 0, ready = 1 }\n",
    );
    for (option, answer) in [
        ("-gc", "CPU CC capabilities: AMD SEV-SNP\n"),
        ("-f", "CC status: ON\n"),
        ("-grs", "\nConfidential Compute GPUs Ready state: ready\n\n"),
    ] {
        let output = run(&confidential, &["conf-compute", option]);
        assert_eq!(output.status.code(), Some(15), "{option}");
        let told = "Unable to determine the device handle for GPU3: GPU is lost.  Reboot the system to recover this GPU\n\n\n";
        assert_eq!(stdout(&output), format!("{answer}{told}"), "{option}");
        let others = run(&confidential, &["conf-compute", option, "-i", "0,1"]);
        assert_eq!(others.status.code(), Some(0), "{option}");
        assert_eq!(stdout(&others), answer, "{option}");
    }
}

#[test]
fn performance_counters_are_set_where_there_are_any() {
    let output = run("mixed", &["gpm", "-s", "1"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn performance_counters_are_left_alone_where_the_line_is_wrong_or_a_gpu_lost() {
    let lost = "Unable to determine the device handle for GPU3: GPU is lost.  Reboot the system to recover this GPU\n\n\n";
    for (simulated, state, told, status) in [
        ("lost", "1", lost, 15),
        ("h200", "", "Option \"\" is invalid for \"-s\".\n", 2),
        (
            "h200",
            "4294967297",
            "Option \"4294967297\" is invalid for \"-s\".\n",
            2,
        ),
    ] {
        let mut line = nvsmi(simulated);
        let name = format!("gpm-{simulated}-{state}");
        let (output, calls) = watched(line.args(["gpm", "-s", state]), &name);
        assert_eq!(output.status.code(), Some(status), "{state:?}: {output:?}");
        assert_eq!(stdout(&output), told, "{state:?}");
        let changed = calls.iter().find(|call| changes(&call.function));
        assert_eq!(changed, None, "{state:?}");
    }
    let states = run("lost", &["gpm", "-g"]);
    assert_eq!(states.status.code(), Some(15));
    assert_eq!(
        stdout(&states),
        format!("GPM stream state: DISABLED\n{lost}")
    );
}

#[test]
fn a_pair_of_gpus_that_cannot_be_asked_keeps_its_place() {
    let deaf = made(
        "deaf",
        "inherits = \"gb200-x4\"\n[[fault]]\nfunction = \"nvmlDeviceGetP2PStatus\"\ncode = \"UNKNOWN\"\n",
    );
    let output = run(&deaf, &["topo", "-p2p", "n"]);
    let matrix = stdout(&output);
    assert_eq!(output.status.code(), Some(255));
    assert!(
        matrix.ends_with("for the specified p2p Index\n\n"),
        "{matrix}"
    );
    assert_eq!(matrix.lines().nth(2), Some(" GPU1\tU\tX\tU\tU\t"));
    let lost = stdout(&run("lost", &["topo", "-p2p", "r"]));
    assert!(!lost.contains("\n GPU3\t"), "{lost}");
}

/// Where no thread is to be had, GPUs are asked in turn and a loop loops; only a limit on how long NVML may
/// take needs threads, and says so.
#[test]
fn without_threads_the_answer_is_the_same() {
    // Root may have any number of threads.
    let limited = |limit: &str, line: &str| {
        let user = "[ $(id -u) != 0 ] || set -- setpriv --reuid 65534 --clear-groups";
        let shell = format!("exec \"$@\" bash -c '{limit} exec nvidia-smi {line}'");
        script("h100x8", &format!("set --; {user}; {shell}"))
    };
    if !limited("", "-L").status.success() {
        skipped("another user cannot run nvsmi here");
        return;
    }
    let none = "ulimit -u 1;";
    for line in [
        "-L",
        "-q -d POWER,ECC",
        "--query-gpu=index,uuid,power.draw --format=csv",
        "topo -m",
        "dmon -c 2",
        "pmon -c 1",
    ] {
        let timeless = |output: &Output| {
            let text = stdout(output);
            let lines = text.lines().filter(|line| !line.starts_with("Timestamp"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let (free, bound) = (limited("", line), limited(none, line));
        assert!(bound.status.success(), "{line}: {bound:?}");
        assert_eq!(timeless(&bound), timeless(&free), "{line}");
    }
    let timed = limited(none, "--timeout 9 -L");
    assert_eq!(timed.status.code(), Some(23), "{timed:?}");
    assert!(
        stdout(&timed).contains("Insufficient Resources"),
        "{timed:?}"
    );
}

#[test]
fn what_a_gpu_can_do_for_vgpus_is_shown_as_the_number_that_came() {
    let capable = made(
        "capable",
        "inherits = \"rich\"\nvgpu.driver_capability.0 = 2\n[gpu.0.vgpu.capability]\n0 = 0xFFFFFFFF\n11 = 3\n",
    );
    let query = "--query-gpu=vgpu_driver_capability.heterogenous_multivGPU,vgpu_device_capability.fractional_multiVgpu,\
        vgpu_device_capability.heterogeneous_timeSlice_profile,vgpu_device_capability.heterogeneous_timeSlice_sizes,\
        vgpu_device_capability.homogeneous_placements,vgpu_device_capability.mig_timeSlicing,\
        vgpu_device_capability.mig_timeSlicing_mode";
    for (simulated, numbers) in [
        (
            "rich",
            "1, 1, 0, 1, [N/A], 1, 1\n1, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]\n",
        ),
        (
            &capable,
            "2, -1, 0, 1, [N/A], 1, 3\n2, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]\n",
        ),
    ] {
        let shown = shown(simulated, &[query, "--format=csv,noheader"]);
        assert_eq!(shown, numbers, "{simulated}");
    }
}

#[test]
fn only_a_gpu_that_is_in_its_fabric_has_a_health() {
    let query = "--query-gpu=fabric.state,fabric.health.summary,fabric.health.bandwidth,\
        fabric.health.route_recovery_in_progress,fabric.health.route_unhealthy,\
        fabric.health.access_timeout_recovery,fabric.health.incorrect_configuration,\
        fabric.health.partition_assigned";
    let state = |name: &str, number: u32| {
        let text = format!(
            "inherits = \"rich\"\n[gpu.0.fabric]\nstate = {number}\nstatus = 0\nhealth_mask = 0x255\n"
        );
        shown(
            &made(name, &text),
            &["-i", "0", query, "--format=csv,noheader"],
        )
    };
    let none = "N/A, N/A, N/A, N/A, N/A, N/A, N/A";
    assert_eq!(state("fabric-1", 1), format!("Not Started, {none}\n"));
    assert_eq!(state("fabric-2", 2), format!("In Progress, {none}\n"));
    assert_eq!(
        state("fabric-3", 3),
        "Completed, Limited Capacity, Degraded, True, True, True, Incorrect SysGuid, N/A\n"
    );
}

#[test]
fn the_guid_in_the_fabric_is_in_small_letters() {
    let guid = [
        "-i",
        "0",
        "--query-gpu=platform.gpu_fabric_guid",
        "--format=csv,noheader",
    ];
    assert_eq!(shown("rich", &guid), "0xefcdab8967452301\n");
}

#[test]
fn a_page_retired_nobody_knows_when_has_no_time() {
    let shown = shown(
        "rich",
        &[
            "-i",
            "1",
            "--query-retired-pages=retired_pages.address,retired_pages.timestamp",
            "--format=csv",
        ],
    );
    assert_eq!(
        shown,
        "retired_pages.address, retired_pages.timestamp\n\
         0x000000000004c2b1, Sat Jun  1 12:00:00 2024\n\
         0x00000000001f08e4, Fri Nov  1 00:00:05 2024\n\
         0x0fffffffffff0000, N/A\n"
    );
}

/// The fields that R590 to R610 brought: how each is headed, what it shows where NVML tells it, and on an
/// older driver. (`bbx.time_run` is a function of its own, which an older library lacks.)
#[test]
fn fields_of_newer_drivers_have_their_units() {
    const FIELDS: [(&str, &str, &str); 13] = [
        ("edpp_multiplier", " [%]", "100.00 %"),
        ("bbx.time_run", " [seconds]", "86401 seconds"),
        ("gpu.base.current", " [W]", "601.26 W"),
        ("gpu.base.requested", " [W]", "602.00 W"),
        ("gpu.base.default", " [W]", "603.00 W"),
        ("gpu.base.min", " [W]", "200.00 W"),
        ("gpu.base.max", " [W]", "700.00 W"),
        (
            "power_smoothing.curr_profile.ramp_up_rate",
            " [W/s]",
            "1.50 W/s",
        ),
        (
            "power_smoothing.curr_profile.ramp_down_rate",
            " [W/s]",
            "2.25 W/s",
        ),
        (
            "power_smoothing.admin_override.ramp_up_rate",
            " [W/s]",
            "0.27 W/s",
        ),
        (
            "power_smoothing.admin_override.ramp_down_rate",
            " [W/s]",
            "4000.00 W/s",
        ),
        ("power_smoothing.soc_power_smoothing_enabled", "", "Enabled"),
        ("power_smoothing.enabled", "", "Disabled"),
    ];
    let newer = made(
        "newer-fields",
        r#"inherits = "r610"
        [gpu.0]
        bbx_time.run = 86401
        base_power = { enforced_limit = 601255, limit = 602000, default_limit = 603000, min_limit = 200000, max_limit = 700000 }
        field = { 251 = 0, 261 = 1500.5, 262 = 2250, 266 = 266, 267 = 4000000, 274 = 100, 300 = 1 }"#,
    );
    let older = made(
        "older-fields",
        "inherits = \"h200\"\ndriver = \"550.163\"\n",
    );
    let names: Vec<&str> = FIELDS.iter().map(|(name, ..)| *name).collect();
    let query = format!("--query-gpu={}", names.join(","));
    let joined = |cells: Vec<String>| cells.join(", ") + "\n";
    let header = joined(FIELDS.map(|(name, unit, _)| format!("{name}{unit}")).into());
    let values = joined(FIELDS.map(|(.., value)| value.to_owned()).into());
    assert_eq!(
        shown(&newer, &[&query, "--format=csv"]),
        header.clone() + &values
    );
    let plain = values.replace([' ', '%'], "").replace("seconds", "");
    let plain = plain.replace("W/s", "").replace('W', "").replace(',', ", ");
    assert_eq!(
        shown(&newer, &[&query, "--format=csv,noheader,nounits"]),
        plain
    );
    let old = shown(&older, &[&query, "--format=csv"]);
    let unknown = FIELDS.map(|(name, ..)| match name {
        "bbx.time_run" => "[Function Not Found]".to_owned(),
        _ => "[N/A]".to_owned(),
    });
    assert_eq!(old, header + &joined(unknown.into()));
}

/// What R580 shows, recorded, where NVML hands out numbers that stand for nothing elsewhere: all ones are
/// nothing only in the place of a board, a draw is at least a watt where it comes as a field, and watts have
/// the precision of 32 bits.
#[test]
fn numbers_that_stand_for_nothing_are_those_of_nvidia_smi() {
    let fields = "index,platform.slot_number,platform.tray_index,platform.host_id,temperature.gpu,\
                  temperature.gpu.tlimit,temperature.memory,fan.speed,power.draw,power.draw.average,\
                  power.draw.instant,power.limit,module.power.draw.instant,module.power.limit,pstate,\
                  addressing_mode,gpu_recovery_action,fabric.health.summary,\
                  clocks_event_reasons_counters.sw_power_cap,ecc.errors.uncorrected.volatile.total";
    let query = format!("--query-gpu={fields}");
    let given = shown("sentinels", &[&query, "--format=csv,noheader"]);
    let expected = "\
0, [N/A], [N/A], 255, 255, 255, 255, 255 %, 0.25 W, 1.00 W, 1.00 W, 0.25 W, 1.00 W, 0.25 W, Unknown, Unknown, N/A, N/A, 0 us, 255
1, 254, 254, 254, 65535, 65535, 65535, 65535 %, 65.54 W, 65.54 W, 65.54 W, 65.54 W, 65.54 W, 65.54 W, Unknown, Unknown, N/A, N/A, 65 us, 65535
2, 0, 0, 0, -1, -1, 4294967295, 4294967295 %, 4294967.50 W, 4294967.50 W, 4294967.50 W, 4294967.50 W, 4294967.50 W, 4294967.50 W, Unknown, Unknown, N/A, N/A, 4294967 us, 4294967295
3, 1, 1, 1, -2147483648, -2147483648, 2147483648, 4294967295 %, 4294967.50 W, 4294967.50 W, 4294967.50 W, 4294967.50 W, 4294967.50 W, 4294967.50 W, Unknown, Unknown, N/A, Healthy, 18446744073709551 us, 18446744073709551615
4, 0, 0, 0, -40, -40, 4294967256, 0 %, 0.00 W, 1.00 W, 1.00 W, 0.00 W, 1.00 W, 0.00 W, P0, None, None, N/A, 0 us, 0
5, 0, 0, 1, 127, [N/A], 255, [N/A], 9.71 W, [N/A], 9.71 W, 70.00 W, [N/A], [N/A], P0, None, None, N/A, 0 us, 0
6, 0, 0, 1, -1, [N/A], 4294967295, [N/A], 9.71 W, [N/A], 9.71 W, 70.00 W, [N/A], [N/A], P0, None, None, N/A, 0 us, 0
";
    assert_eq!(given, expected);
}

/// What nvidia-smi 550 shows of the same box. Everywhere but in samples, watts have the precision of 32 bits.
#[test]
fn watts_are_rounded_as_nvidia_smi_rounds_them() {
    let odd = made(
        "watts",
        r#"inherits = "changeable"
        [gpu.0]
        samples.power = { number = 7, period_us = 20000, values = [65535, 255, 100125, 690255, 65535] }
        power = { limit = 400005, min_limit = 100255, max_limit = 700255 }"#,
    );
    let report = shown(&odd, &["-q", "-d", "POWER", "-i", "0"]);
    let lines: Vec<String> = report
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for line in [
        "Requested Power Limit : 400.01 W",
        "Min Power Limit : 100.25 W",
        "Max Power Limit : 700.26 W",
        "Max : 690.25 W",
        "Min : 0.26 W",
        "Avg : 153.66 W",
    ] {
        assert!(lines.iter().any(|given| given == line), "{line}: {report}");
    }
    let set = shown(&odd, &["-i", "0", "-pl", "500.125"]);
    let (bus, done) = ("00000000:19:00.0", "All done.\n");
    let said = format!("Power limit for GPU {bus} was set to 500.12 W from 400.01 W.\n{done}");
    assert_eq!(set, said);
    let refused = stdout(&run(&odd, &["-i", "0", "-pl", "900"]));
    assert!(
        refused.contains("between 100.25 W and 700.26 W for GPU"),
        "{refused}"
    );
}
