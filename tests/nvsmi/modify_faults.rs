//! A fault at each NVML call of each option that changes something: on one GPU from the first and from
//! the second call on, and on the third of eight GPUs. What was not done is never told as done.
//! Every command here is refused when the program would load another library than the simulated one
//! (`Case::command` sees to it).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use simulator::golden::Case;

use crate::common::calls::{Call, watched};
use crate::common::changes::{CHANGES, changes};
use crate::common::trials::{Share, all};
use crate::common::{NVSMI, run, stdout};

/// The codes, with the exit status of each.
const CODES: &[(&str, i32)] = &[
    ("INVALID_ARGUMENT", 2),
    ("NOT_SUPPORTED", 3),
    ("NO_PERMISSION", 4),
    ("FUNCTION_NOT_FOUND", 13),
    ("GPU_IS_LOST", 15),
    ("IN_USE", 19),
    ("TIMEOUT", 255),
    ("RESET_REQUIRED", 255),
    ("UNKNOWN", 255),
];

/// The subcommands that change something; the library of no box has the functions in the second list,
/// so they succeed by a fault of SUCCESS.
const SUBCOMMANDS: &[(&[&str], &[&str])] = &[
    (&["power-profiles", "-sr", "1,6"], &[]),
    (&["power-profiles", "-cr", "6"], &[]),
    (&["power-profiles", "-cr"], &[]),
    (&["power-smoothing", "-s", "1"], &[]),
    (&["power-smoothing", "-spp", "2"], &[]),
    (
        &["power-smoothing", "-p", "1", "-ptf", "50", "-rur", "9000"],
        &[],
    ),
    (&["conf-compute", "-sm", "1024"], &[]),
];

/// Those about the machine, or a place on its bus.
const ABOUT_THE_MACHINE: &[(&[&str], &[&str])] = &[
    (&["drain", "-p", "0000:19:00.0", "-m", "1"], &[]),
    (
        &["drain", "-p", "0000:19:00.0", "-m", "1", "-q", "-d"],
        &["nvmlDeviceDiscoverGpus"],
    ),
    (
        &["drain", "-p", "0000:19:00.0", "-r"],
        &["nvmlDeviceRemoveGpu_v2"],
    ),
    (&["drain", "-d"], &["nvmlDeviceDiscoverGpus"]),
    (
        &["conf-compute", "-srs", "1"],
        &["nvmlSystemSetConfComputeGpusReadyState"],
    ),
    (
        &["conf-compute", "-skr", "60"],
        &["nvmlSystemSetConfComputeKeyRotationThresholdInfo"],
    ),
    (
        &["-t", "1", "-i", "0"],
        &[
            "nvmlUnitGetHandleByIndex",
            "nvmlUnitGetLedState",
            "nvmlUnitSetLedState",
        ],
    ),
];

/// What a command did.
struct Run {
    exit: i32,
    stdout: String,
    stderr: String,
    calls: Vec<Call>,
}

impl Run {
    /// How many calls changed a GPU, or else the machine, and whether the last of them did.
    fn changes(&self, gpu: &str) -> (usize, bool) {
        let about_it =
            |call: &&Call| changes(&call.function) && (call.gpu == gpu || call.gpu == "-");
        let calls = || self.calls.iter().filter(about_it);
        let done = calls().filter(|call| call.code == 0).count();
        (done, calls().next_back().is_some_and(|call| call.code == 0))
    }
}

fn nvsmi(faults: &[String], args: &[&str], log: &str) -> Run {
    let case = Case {
        simulated: "changeable".to_owned(),
        faults: faults.to_vec(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        ..Case::default()
    };
    let mut command = case.command(Path::new(NVSMI)).expect("a simulated box");
    let (output, calls) = watched(&mut command, log);
    Run {
        exit: output.status.code().unwrap_or(-1),
        stdout: stdout(&output),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        calls,
    }
}

/// A fault to try.
struct Trial {
    args: Vec<&'static str>,
    /// The faults of every run.
    base: Vec<String>,
    fault: String,
    /// What the fault returns, and the exit status for it.
    code: &'static str,
    status: i32,
    /// What is printed without the fault.
    good: String,
    /// The GPUs meant.
    gpus: Vec<usize>,
}

/// Every fault for a line.
fn trials(
    line: &[&'static str],
    succeed: &[&str],
    gpus: &[usize],
    place: &str,
    found: &mut Vec<Trial>,
) {
    let base: Vec<String> = succeed
        .iter()
        .map(|function| format!("{function}:SUCCESS"))
        .collect();
    let good = nvsmi(&base, line, "modify-faults-good");
    assert_eq!(good.exit, 0, "{line:?}: {}", good.stdout);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    // What is not about the third GPU cannot fail for it.
    let there = |call: &&Call| place.is_empty() || place == format!("@{}", call.gpu);
    for Call { function, .. } in good.calls.iter().filter(there) {
        // The parts of a call for several fields count with it.
        *counts
            .entry(function.split('.').next().unwrap_or(function))
            .or_default() += 1;
    }
    for (function, count) in counts {
        let again = format!("{place}+2");
        let places = [place, &again];
        for place in &places[..count.min(2)] {
            for (code, status) in CODES {
                found.push(Trial {
                    args: line.to_vec(),
                    base: base.clone(),
                    fault: format!("{function}:{code}{place}"),
                    code,
                    status: *status,
                    good: good.stdout.clone(),
                    gpus: gpus.to_vec(),
                });
            }
        }
    }
}

/// Whether a line tells why a GPU or unit was left as it was.
fn excuse(line: &str) -> bool {
    let reasons = [
        "already",
        "not supported",
        "Not Supported",
        "cannot be changed",
    ];
    reasons.iter().any(|reason| line.contains(reason))
}

/// What is wrong with what came of a fault.
fn complaint(trial: &Trial, run: &Run, bus_ids: &[String]) -> Option<&'static str> {
    if !((0..=30).contains(&run.exit) || run.exit == 255) {
        return Some("not an exit status of nvsmi's");
    }
    if !run.stderr.is_empty() {
        return Some("something on stderr");
    }
    if run.exit != 0 {
        if run.stdout.contains("All done.") {
            return Some("done after a failure");
        }
        if run.stdout.trim().is_empty() {
            return Some("a failure without a word");
        }
        // drain has one status for all failures.
        if run.exit != trial.status && trial.args[0] != "drain" {
            return Some("the status of something else");
        }
    }
    for &gpu in &trial.gpus {
        let bus_id = &*bus_ids[gpu];
        let about_it = |line: &&str| line.contains(bus_id);
        let (changes, changed) = run.changes(&gpu.to_string());
        let excused = run.stdout.lines().filter(about_it).any(excuse);
        let claims = trial.good.lines().filter(about_it).filter(|claim| {
            let said = run.stdout.lines().any(|line| line == *claim);
            said && !claim.contains("already") && !claim.starts_with("Warning")
        });
        if claims.count() > changes {
            return Some("told as done and not done");
        }
        if run.exit == 0 && !changed && !excused {
            return Some("success, and neither done nor excused");
        }
    }
    let excused = run.stdout.lines().any(excuse);
    if trial.gpus.is_empty() && run.exit == 0 && !run.changes("-").1 && !excused {
        return Some("success of nothing");
    }
    None
}

#[test]
fn what_was_not_done_is_never_told_as_done() {
    every_call_fails(Share::Sample);
}

#[test]
#[ignore = "half a minute"]
fn what_was_not_done_is_never_told_as_done_with_any_code() {
    every_call_fails(Share::Whole);
}

/// A sample has every call of every option fail, and every option fail with every code.
fn every_call_fails(share: Share) {
    let mut found = Vec::new();
    let lines = CHANGES.iter().map(|(line, _)| (*line, &[][..]));
    for (line, succeed) in lines.chain(SUBCOMMANDS.iter().copied()) {
        let one: Vec<&str> = [line, &["-i", "4"]].concat();
        trials(&one, succeed, &[4], "", &mut found);
        let all: Vec<usize> = (0..8).collect();
        trials(line, succeed, &all, "@2", &mut found);
    }
    for (line, succeed) in ABOUT_THE_MACHINE {
        trials(line, succeed, &[], "", &mut found);
    }
    let options: BTreeSet<&[&str]> = found.iter().map(|trial| &*trial.args).collect();
    assert!(
        options.len() > 60 && found.len() > 2800,
        "{} faults",
        found.len()
    );

    let ids = run(
        "changeable",
        &["--query-gpu=pci.bus_id", "--format=csv,noheader"],
    );
    let bus_ids: Vec<String> = stdout(&ids).lines().map(str::to_owned).collect();
    let found = share.of(found, |trial| {
        let line = trial.args.join(" ");
        let call = trial.fault.replace(trial.code, "");
        vec![
            format!("{line} {call}"),
            format!("{} {}", trial.args[0], trial.code),
        ]
    });
    let complaints = all(&found, |trial| {
        let mut faults = vec![trial.fault.clone()];
        faults.extend(trial.base.iter().cloned());
        let worker = std::thread::current().id();
        let log = format!("modify-faults-{worker:?}");
        let run = nvsmi(&faults, &trial.args, &log);
        let complaint = complaint(trial, &run, &bus_ids);
        let told = complaint.map(|complaint| {
            let line = trial.args.join(" ");
            let (exit, text) = (run.exit, &run.stdout);
            format!("{line} [{}]: {complaint}: {exit} {text}", trial.fault)
        });
        told.into_iter().collect()
    });
    assert!(
        complaints.is_empty(),
        "{} of {} faults:\n{}",
        complaints.len(),
        found.len(),
        complaints[..complaints.len().min(40)].join("\n")
    );
}
