//! Loops that go on for long: neither memory nor descriptors grow. Waiting takes no time here, but for the
//! loop that has a limit. By default the fastest loops take 5000 samples. For a million, or as many as
//! NVSMI_STEADY_SAMPLES says, run
//! `cargo test --release --test nvsmi steady -- --ignored --nocapture`.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;

use crate::common::{BEGINS, hurried, nvsmi};

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

/// A loop.
struct Loop {
    simulated: &'static str,
    args: &'static str,
    /// One sample where the fastest loops take so many.
    of: usize,
    /// How many lines a sample is, headings not counted.
    lines: usize,
}

const fn a_loop(simulated: &'static str, args: &'static str, of: usize, lines: usize) -> Loop {
    Loop {
        simulated,
        args,
        of,
        lines,
    }
}

const QUERY: &str = "--query-gpu=index,uuid,name,utilization.gpu,memory.used,power.draw,temperature.gpu --format=csv,noheader -lms 1";
const APPS: &str = "--query-compute-apps=pid,name,used_memory --format=csv,noheader -lms 1";
const WITH_LIMIT: &str =
    "--query-gpu=index,name,power.draw --format=csv,noheader -lms 1 --timeout 9";
const COUNTERS: &str = "dmon --gpm-metrics 1,2,3,5,20";

#[rustfmt::skip]
const LOOPS: &[Loop] = &[
    a_loop("h200-busy", QUERY, 1, 1),
    a_loop("h200-busy", APPS, 1, 1),
    a_loop("h200-busy", "-lms 1", 4, 20),
    a_loop("h200-busy", "-q -x -lms 1", 100, 558),
    a_loop("h200-busy", "dmon -s pucvmet", 5, 1),
    a_loop("h200-busy", COUNTERS, 5, 1),
    a_loop("h200-busy", "pmon -s um", 5, 1),
    a_loop("h200-busy", "encodersessions -l 1", 5, 1),
    a_loop("h200-busy", "fbcsessions -l 1", 5, 1),
    a_loop("h100x8", "dmon -s pucvmet", 50, 8),
    a_loop("h100x8", COUNTERS, 50, 8),
    a_loop("h100x8", "pmon -s um", 50, 8),
    a_loop("h100x8", "encodersessions -l 1", 50, 8),
    a_loop("h100x8", "fbcsessions -l 1", 50, 8),
    a_loop("mig", "dmon --gpm-metrics 1,20 --gpm-options dm", 50, 6),
    a_loop("lost-midway", "dmon -s pucvmet", 50, 8),
    a_loop("lost-midway", "pmon -s um", 50, 8),
    a_loop("h200-busy", WITH_LIMIT, 50, 1),
];

impl Loop {
    fn command(&self) -> Command {
        let mut command = if self.args == WITH_LIMIT {
            nvsmi(self.simulated)
        } else {
            hurried(self.simulated, BEGINS)
        };
        command.args(self.args.split(' '));
        command
    }

    /// Takes its share of samples; the first tenth may still fill what is kept. From then on the memory may
    /// grow by so many KiB.
    fn is_steady(&self, fastest: usize, slack: u64) {
        let samples = fastest / self.of;
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .spawn()
            .expect("nvsmi runs");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut shown = lines.map(|line| line.expect("a line"));
        let mut take = |samples: usize| {
            let wanted = samples * self.lines;
            let values = shown.by_ref().filter(|line| !line.starts_with('#'));
            assert_eq!(values.take(wanted).count(), wanted, "{}", self.args);
            held(child.id())
        };
        let early = take(samples / 10);
        let late = take(samples - samples / 10);
        child.kill().expect("it runs");
        child.wait().expect("its end");
        let on = format!("{}: {}", self.simulated, self.args);
        println!(
            "{samples:>8} samples: {:>6} -> {:>6} KiB, {} -> {} descriptors: {on}",
            early.0, late.0, early.1, late.1
        );
        assert!(late.0 <= early.0 + slack, "{on}: {early:?} {late:?}");
        assert_eq!(early.1, late.1, "{on}");
    }
}

#[test]
fn loops_hold_no_more_after_thousands_of_samples() {
    // Few samples: what is kept may not be full after the first tenth of them.
    all_are_steady(5_000, 512);
}

#[test]
#[ignore = "minutes"]
fn loops_hold_no_more_at_their_end_than_at_their_begin() {
    let fastest = std::env::var("NVSMI_STEADY_SAMPLES");
    let fastest = fastest.map_or(1_000_000, |text| text.parse().expect("a number"));
    all_are_steady(fastest, 128);
}

fn all_are_steady(fastest: usize, slack: u64) {
    thread::scope(|scope| {
        for of_many in LOOPS {
            scope.spawn(move || of_many.is_steady(fastest, slack));
        }
    });
}
