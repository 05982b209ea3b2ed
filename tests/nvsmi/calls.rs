//! What nvsmi asks of NVML: only what the answer needs, each question once, and only of the GPUs that
//! are meant. The simulated library logs every call.

use std::collections::BTreeMap;

use crate::common::calls::{Call, LOG, logged, watched};
use crate::common::{nvsmi, scratch};

/// The calls of a run that succeeds.
fn calls(simulated: &str, args: &[&str]) -> Vec<Call> {
    let (status, calls) = status_and_calls(simulated, args);
    assert_eq!(status, Some(0), "{args:?}");
    calls
}

fn status_and_calls(simulated: &str, args: &[&str]) -> (Option<i32>, Vec<Call>) {
    let name = format!("{simulated}-{}", args.join("_"));
    let (output, calls) = watched(nvsmi(simulated).args(args), &name);
    (output.status.code(), calls)
}

fn functions(calls: &[Call]) -> Vec<&str> {
    calls.iter().map(|call| call.function.as_str()).collect()
}

#[test]
fn three_fields_cost_three_questions() {
    let calls = calls(
        "h200",
        &[
            "--query-gpu=name,memory.used,utilization.gpu",
            "--format=csv",
        ],
    );
    let expected = [
        "nvmlInit_v2",
        "nvmlDeviceGetCount_v2",
        "nvmlDeviceGetHandleByIndex_v2",
        "nvmlDeviceGetName",
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetUtilizationRates",
    ];
    assert_eq!(functions(&calls), expected);
}

#[test]
fn facts_out_of_one_answer_are_asked_once() {
    let fields =
        "memory.used,memory.free,memory.total,pci.bus,pci.device,pci.bus_id,name,name,gpu_name";
    let calls = calls("h200", &[&format!("--query-gpu={fields}")]);
    let of_the_gpu: Vec<&str> = functions(&calls)
        .into_iter()
        .filter(|name| name.starts_with("nvmlDeviceGet"))
        .skip(2)
        .collect();
    assert_eq!(
        of_the_gpu,
        [
            "nvmlDeviceGetMemoryInfo_v2",
            "nvmlDeviceGetPciInfo_v3",
            "nvmlDeviceGetName"
        ]
    );
}

#[test]
fn one_of_eight_gpus_is_the_only_one_touched() {
    for args in [
        &["-i", "0"][..],
        &["-i", "0", "--query-gpu=name,uuid,power.draw"],
        &["-i", "0", "--query-compute-apps=pid,name"],
        &[
            "-i",
            "GPU-00000000-1000-2000-3000-000000000000",
            "--query-gpu=index",
        ],
    ] {
        for Call { function, gpu, .. } in calls("h100x8", args) {
            assert!(
                gpu == "0" || gpu == "-",
                "{args:?} asks GPU {gpu} {function}"
            );
        }
    }
}

#[test]
fn the_table_asks_nothing_twice() {
    for simulated in ["h200", "h200-busy", "h100x8", "desktop"] {
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for call in calls(simulated, &[]) {
            let about = (call.function, call.gpu);
            *counts.entry(about).or_default() += 1;
        }
        // A name for each process.
        counts.retain(|(function, _), count| *count > 1 && function != "nvmlSystemGetProcessName");
        assert_eq!(counts, BTreeMap::new(), "{simulated}");
    }
}

#[test]
fn what_is_not_shown_is_not_asked() {
    let asked = |simulated, args: &[&str]| calls(simulated, args).len();
    // The infoROM's checksums take longer than all the rest.
    assert!(!functions(&calls("h200", &[])).contains(&"nvmlDeviceValidateInforom"));
    // Without names, processes cost one question whatever their number.
    let pids = calls("h200-busy", &["--query-compute-apps=pid,used_memory"]);
    assert!(!functions(&pids).contains(&"nvmlSystemGetProcessName"));
    // A GPU outside MIG mode is asked for that, not for each of its possible devices.
    let list = calls("h100x8", &["-L"]);
    assert!(
        !functions(&list)
            .iter()
            .any(|name| name.contains("MigDevice"))
    );
    // The driver's version is the same for every GPU and under every name.
    let once = asked("h100x8", &["--query-gpu=driver_version"]);
    let fields = "--query-gpu=driver_version,kmd_version,driver_version";
    assert_eq!(asked("h100x8", &[fields]), once);
}

#[test]
fn help_and_refusals_do_not_load_the_driver() {
    for (args, status) in [
        (&["-h"][..], 0),
        (&["--help-query-gpu"], 0),
        (&["dmon", "-h"], 0),
        (&["dmon", "-z"], 0),
        (&["--bogus"], 255),
        (&["-i"], 255),
        (&["-L", "-q"], 2),
        (&["nvlink", "-z"], 2),
        (&["drain", "-m", "1"], 2),
        (&["power-smoothing", "-s", "on"], 2),
    ] {
        let refused = status_and_calls("h200", args);
        assert_eq!(refused, (Some(status), Vec::new()), "{args:?}");
    }
}

#[test]
fn connections_cost_no_more_questions_than_pairs() {
    let asked = |simulated, args: &[&str], function: &str| {
        let calls = calls(simulated, args);
        functions(&calls)
            .iter()
            .filter(|name| **name == function)
            .count()
    };
    const ANCESTOR: &str = "nvmlDeviceGetTopologyCommonAncestor";
    // Of four GPUs there are six pairs, and what is between two is the same in both directions.
    assert_eq!(asked("l40s-x4", &["topo", "-m"], ANCESTOR), 6);
    // Where NVLinks lead to switches, neither the bus nor the single links matter.
    assert_eq!(asked("h100x8", &["topo", "-m"], ANCESTOR), 0);
    let remote = "nvmlDeviceGetNvLinkRemotePciInfo_v2";
    assert_eq!(asked("h100x8", &["topo", "-m"], remote), 0);
    // One call for the states of all links, and one for their speeds.
    let fields = "nvmlDeviceGetFieldValues";
    assert_eq!(asked("h100x8", &["nvlink", "-s", "-i", "0"], fields), 3);
    let handle = "nvmlDeviceGetHandleByIndex_v2";
    assert_eq!(asked("h100x8", &["nvlink", "-s", "-i", "0"], handle), 1);
    assert_eq!(asked("h100x8", &["topo", "-p", "-i", "0,1"], handle), 2);
}

#[test]
fn what_cannot_change_is_asked_once_in_a_loop() {
    let fields = "index,uuid,name,serial,driver_version,vbios_version,pci.bus_id,pcie.link.gen.max,\
        utilization.gpu,memory.used,power.draw,temperature.gpu";
    let query = format!("--query-gpu={fields}");
    // What is asked of one GPU for each sample; everything else is asked once.
    let table = [
        "nvmlDeviceGetComputeMode",
        "nvmlDeviceGetComputeRunningProcesses_v3",
        "nvmlDeviceGetDisplayActive",
        "nvmlDeviceGetEccMode",
        "nvmlDeviceGetEnforcedPowerLimit",
        "nvmlDeviceGetFanSpeed",
        "nvmlDeviceGetGraphicsRunningProcesses_v3",
        "nvmlDeviceGetMPSComputeRunningProcesses_v3",
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetMigMode",
        "nvmlDeviceGetPerformanceState",
        "nvmlDeviceGetPersistenceMode",
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetTemperatureV",
        "nvmlDeviceGetTotalEccErrors",
        "nvmlDeviceGetUtilizationRates",
        "nvmlSystemGetProcessName",
    ];
    let numbers = [
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetTemperatureV",
        "nvmlDeviceGetUtilizationRates",
    ];
    for (name, args, moving) in [
        ("query", &query[..], &numbers[..]),
        ("table", "-col=1", &table),
    ] {
        let log = scratch(&format!("calls-loop-{name}"));
        let mut child = nvsmi("h200-busy")
            .args([args, "-lms", "50"])
            .env(LOG, &log)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("nvsmi runs");
        // All of the second sample has been asked for once the third one begins.
        let samples = || {
            let calls = logged(&log).into_iter();
            calls
                .filter(|call| call.function == "nvmlDeviceGetUtilizationRates")
                .count()
        };
        let begun = std::time::Instant::now();
        while samples() < 3 && begun.elapsed() < std::time::Duration::from_secs(10) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        child.kill().expect("it runs");
        child.wait().expect("its end");
        let calls = logged(&log);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for function in functions(&calls) {
            *counts.entry(function).or_default() += 1;
        }
        counts.retain(|_, count| *count > 1);
        let again: Vec<&str> = counts.into_keys().collect();
        assert_eq!(again, moving, "{name}");
    }
}
