//! Loops that go on for long: neither memory nor descriptors grow. Run it by
//! `cargo test --release --test steady -- --ignored --nocapture`; NVSMI_STEADY_SAMPLES says how many
//! samples the fast loops take (20000).
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test may stop where it stands, and say why"
)]

mod common;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use common::nvsmi;

/// What a process holds, or the one that asks for it: KiB of memory, and descriptors.
fn held(process: u32) -> (u64, usize) {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let asks = children
        .ok()
        .and_then(|ids| ids.split(' ').next()?.parse().ok());
    let process = asks.unwrap_or(process);
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let memory = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|text| text.split_whitespace().next()?.parse().ok())
        .expect("a size");
    let descriptors = std::fs::read_dir(format!("/proc/{process}/fd")).expect("it runs");
    (memory, descriptors.count())
}

/// Takes `samples` of `lines` each; the first tenth may still fill what is kept.
fn watch(args: &[&str], samples: usize, lines: usize) {
    let mut child = nvsmi("h200-busy")
        .args(args)
        .stdout(Stdio::piped())
        .spawn()
        .expect("nvsmi runs");
    let mut shown = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut take = |samples: usize| {
        for _ in 0..samples * lines {
            shown.next().expect("a line").expect("a line");
        }
        held(child.id())
    };
    let early = take(samples / 10);
    let late = take(samples - samples / 10);
    child.kill().expect("it runs");
    child.wait().expect("its end");
    let args = args.join(" ");
    println!(
        "{samples:>8} samples: {:>6} -> {:>6} KiB, {} -> {} descriptors: {args}",
        early.0, late.0, early.1, late.1
    );
    assert!(late.0 <= early.0 + 128, "{args}: {early:?} {late:?}");
    assert_eq!(early.1, late.1, "{args}");
}

#[test]
#[ignore = "takes minutes"]
fn loops_hold_no_more_at_their_end_than_at_their_begin() {
    let samples = std::env::var("NVSMI_STEADY_SAMPLES");
    let samples = samples.map_or(20000, |text| text.parse().expect("a number"));
    let query =
        "--query-gpu=index,uuid,name,utilization.gpu,memory.used,power.draw,temperature.gpu";
    let apps = "--query-compute-apps=pid,name,used_memory";
    std::thread::scope(|scope| {
        scope.spawn(|| watch(&[query, "--format=csv,noheader", "-lms", "1"], samples, 1));
        scope.spawn(|| watch(&[apps, "--format=csv,noheader", "-lms", "1"], samples, 1));
        scope.spawn(|| watch(&["-lms", "1"], samples / 4, 20));
        scope.spawn(|| {
            watch(
                &[query, "--timeout=9", "--format=csv,noheader", "-lms", "1"],
                samples / 4,
                1,
            )
        });
        // Their shortest interval is a second.
        scope.spawn(|| watch(&["dmon", "-s", "pucvmet"], 40, 1));
        scope.spawn(|| watch(&["pmon", "-s", "um"], 40, 1));
    });
}
