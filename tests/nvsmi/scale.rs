//! Much of something: long lists of names, and GPUs that all keep NVML waiting.

use std::collections::BTreeMap;

use crate::common::calls::watched;
use crate::common::{nvsmi, stdout};

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
