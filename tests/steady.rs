//! Loops that go on for long: neither memory nor descriptors grow. Run it by
//! `cargo test --release --test steady -- --ignored --nocapture`; NVSMI_STEADY_SAMPLES says how many
//! samples the cheap loops take (20000). Nobody waits from one sample to the next.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test may stop where it stands, and say why"
)]

mod common;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// The library that makes nvsmi wait for nothing.
fn hurry() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let library = test.with_file_name("libhurry.so");
    assert!(library.is_file(), "{}", library.display());
    library
}

/// Takes `samples` of `lines` each; the first tenth may still fill what is kept.
fn watch(name: &str, args: &[&str], samples: usize, lines: usize) {
    let mut child = nvsmi(name)
        .args(args)
        .env("LD_PRELOAD", hurry())
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
        "{samples:>8} samples: {:>6} -> {:>6} KiB, {} -> {} descriptors: {name} {args}",
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
    let csv = "--format=csv,noheader";
    let query =
        "--query-gpu=index,uuid,name,utilization.gpu,memory.used,power.draw,temperature.gpu";
    let apps = "--query-compute-apps=pid,name,used_memory";
    let gpm = ["dmon", "-s", "p", "--gpm-metrics", "1,2,3,5,20"];
    // A box, a line, how many of the samples, and how many lines each of them has.
    let loops: &[(&str, &[&str], usize, usize)] = &[
        ("h200-busy", &[query, csv, "-lms", "1"], 1, 1),
        ("h200-busy", &[query, csv, "-lms", "1", "--timeout=9"], 4, 1),
        ("h100x8", &[query, csv, "-lms", "1"], 8, 8),
        ("h200-busy", &[apps, csv, "-lms", "1"], 2, 1),
        ("h200-busy", &["-lms", "1"], 4, 20),
        ("h200-busy", &["-q", "-x", "-lms", "1"], 100, 500),
        ("h200-busy", &["dmon", "-s", "pucvmet"], 1, 1),
        ("h100x8", &["dmon", "-s", "pucvmet"], 8, 8),
        ("h200-busy", &gpm, 1, 1),
        ("h200-busy", &["pmon", "-s", "um"], 1, 1),
        ("h100x8", &["pmon", "-s", "um"], 8, 8),
    ];
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(&(name, args, part, lines)) =
                    loops.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    watch(name, args, samples / part, lines);
                }
            });
        }
    });
}
