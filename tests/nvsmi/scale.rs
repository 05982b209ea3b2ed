//! Much of something: long lists of names, and GPUs that all keep NVML waiting.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::common::calls::watched;
use crate::common::{nvsmi, scratch, stdout};

/// How many names a list has: about as many as one argument has room for.
const NAMES: u32 = 9_000;

/// What `-i` with so many names shows, and how often each function was called.
fn named(name: impl Fn(u32) -> String, test: &str) -> (String, BTreeMap<String, usize>) {
    let names: Vec<String> = (0..NAMES).map(name).collect();
    let fields = "--query-gpu=index";
    let mut command = nvsmi("h100x8");
    command.args([fields, "--format=csv,noheader", "-i", &names.join(",")]);
    let (output, calls) = watched(&mut command, test);
    let mut counts = BTreeMap::new();
    for call in calls {
        *counts.entry(call.function).or_default() += 1;
    }
    (stdout(&output), counts)
}

#[test]
fn the_gpus_are_looked_at_once_for_a_long_list_of_names() {
    const GPUS: usize = 8;
    const NONE: &str = "No devices were found\n";
    type Named = fn(u32) -> String;
    let cases: [(&str, Named, &str); 7] = [
        ("words", |n| format!("x{n}"), NONE),
        (
            "serials",
            |n| format!("{}", 7_000_000_000 + u64::from(n)),
            NONE,
        ),
        ("one-serial", |_| "1650000000102".to_owned(), "2\n"),
        ("uuids", |n| format!("GPU-{n}"), NONE),
        ("bus-ids", |n| format!("{n:X}:EE:00.0"), NONE),
        ("one-index", |_| "2".to_owned(), "2\n"),
        ("all", |n| n.to_string(), "0\n1\n2\n3\n4\n5\n6\n7\n"),
    ];
    for (test, name, shown) in cases {
        let (answer, counts) = named(name, test);
        assert_eq!(answer, shown, "{test}");
        for (function, count) in counts {
            // NVML itself is asked for a UUID or a bus id. The index of a GPU takes its handle, and so does a
            // name that has to be looked up.
            let own = [
                "nvmlDeviceGetHandleByUUID",
                "nvmlDeviceGetHandleByPciBusId_v2",
            ];
            let most = if own.contains(&&*function) {
                NAMES as usize
            } else {
                2 * GPUS
            };
            assert!(count <= most, "{test}: {count} calls of {function}");
        }
    }
}

/// Questions about every GPU.
const LOOKS: &[&[&str]] = &[
    &[],
    &["-L"],
    &["-q"],
    &["-q", "-x"],
    &["--query-gpu=index,power.draw", "--format=csv"],
    &["--query-compute-apps=pid", "--format=csv"],
    &["--query-accounted-apps=pid", "--format=csv"],
    &["--query-supported-clocks=mem", "--format=csv"],
    &["--query-retired-pages=gpu_uuid", "--format=csv"],
    &["--query-remapped-rows=gpu_uuid", "--format=csv"],
    &["dmon", "-c", "1"],
    &["pmon", "-c", "1"],
    &["nvlink", "-s"],
    &["nvlink", "-c"],
    &["nvlink", "-p"],
    &["nvlink", "-R"],
    &["nvlink", "-e"],
    &["nvlink", "-ec"],
    &["nvlink", "-gt", "d"],
    &["nvlink", "-gLowPwrInfo"],
    &["nvlink", "-gLWidth"],
    &["nvlink", "-cBridge"],
    &["nvlink", "-info"],
    &["c2c", "-s"],
    &["c2c", "-e"],
    &["c2c", "-gLowPwrInfo"],
    &["pci", "-gErrCnt"],
    &["pci", "-gCnt"],
    &["topo", "-m"],
    &["topo", "-p2p", "r"],
    &["mig", "-lgip"],
    &["mig", "-lgipp"],
    &["mig", "-lgi"],
    &["mig", "-lcip"],
    &["mig", "-lci"],
    &["conf-compute", "-gm"],
    &["conf-compute", "-grs"],
    &["gpm", "-g"],
    &["power-profiles", "-l"],
    &["power-profiles", "-gr"],
];

/// Eight GPUs in MIG mode, which have C2C links.
const LINKED: &str = "about = 'eight of everything'\ninherits = 'h100x8'\n\
    every.mig = { current = true, pending = true }\nevery.c2c_links = { count = 2, status = 1 }\n";

/// What does not come back: all that is asked of a GPU, its handle, or what is asked last.
const HANGS: &[&str] = &[
    "function = 'nvmlDeviceGetHandle*'",
    "function = ['nvmlDevice*', 'nvmlGpm*'], \
     except = ['nvmlDeviceGetCount', 'nvmlDeviceGetHandle*', 'nvmlDeviceGetPciInfo']",
    "function = ['nvmlDeviceGetNvLink*', 'nvmlDeviceGetFieldValues.1*', 'nvmlDeviceGetFieldValues.2*', \
     'nvmlDeviceGetGpuInstance*', 'nvmlGpmQueryIfStreamingEnabled', 'nvmlDeviceGetP2PStatus']",
];

#[test]
fn a_limit_does_not_add_up_over_gpus() {
    const AT_ONCE: usize = 14;
    // The driver itself may use up its own limit. One GPU after another would take eight.
    const MOST: Duration = Duration::from_secs(5);
    let file = scratch("linked.toml");
    fs::write(&file, LINKED).expect("a box");
    let file = file.to_str().expect("a path");
    let took = |fault: &str, look: &[&str]| {
        let mut command = nvsmi(file);
        command
            .env("NVSMI_SIMULATOR_FAULT", format!("{fault}, hang = true"))
            .args(["--timeout", "1"])
            .args(look);
        let began = Instant::now();
        let output = command.output().expect("nvsmi runs");
        let took = began.elapsed();
        assert!(took < MOST, "{fault} {look:?}: {took:?}");
        output.status.code() == Some(124)
    };
    let mut hung = 0;
    for fault in HANGS {
        for some in LOOKS.chunks(AT_ONCE) {
            hung += thread::scope(|scope| {
                let runs = some.iter().map(|look| scope.spawn(|| took(fault, look)));
                let runs: Vec<_> = runs.collect();
                let ended = runs.into_iter().map(|run| run.join().expect("a run"));
                ended.filter(|hung| *hung).count()
            });
        }
    }
    // A line that asks none of what hangs says nothing about it.
    assert!(hung > 2 * LOOKS.len(), "{hung}");
}
