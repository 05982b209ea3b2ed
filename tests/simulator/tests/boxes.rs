//! Every box under a real nvidia-smi, which must find its way on all of them. Left out unless
//! `NVIDIA_SMI` is the path of one.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{env, path::PathBuf};

use simulator::skip::skipped;

/// What it is asked.
const VIEWS: &[&[&str]] = &[
    &[],
    &["-L"],
    &["-q"],
    &["-q", "-x"],
    &[
        "--query-gpu=index,name,memory.used,power.draw,mig.mode.pending",
        "--format=csv",
    ],
    &["topo", "-m"],
    &["nvlink", "-s"],
    &["dmon", "-c", "1"],
    &["pmon", "-c", "1"],
];

/// What it is asked as well, where there is no GPU that it could change by mistake.
const CHANGES: &[&[&str]] = &[&["-pm", "1"], &["-lmcd", "1000"], &["-rmcd"], &["-r"]];

#[test]
fn a_real_nvidia_smi_runs_on_every_box() {
    let Some(program) = env::var_os("NVIDIA_SMI").map(PathBuf::from) else {
        skipped("NVIDIA_SMI is not set");
        return;
    };
    for (name, _) in simulator::scenario::list().unwrap() {
        let changes = CHANGES
            .iter()
            .filter(|_| simulator::trial::device().is_none());
        for view in VIEWS.iter().chain(changes) {
            let output = simulator::command(name, &program)
                .unwrap()
                .args(*view)
                .output()
                .unwrap();
            assert!(
                output.status.code().is_some(),
                "{name} {view:?}: {}",
                output.status
            );
            assert!(
                !output.stdout.is_empty() || *view == ["nvlink", "-s"],
                "{name} {view:?} says nothing"
            );
        }
    }
}

#[test]
fn a_real_nvidia_smi_sees_where_gpus_are() {
    let Some(program) = env::var_os("NVIDIA_SMI").map(PathBuf::from) else {
        skipped("NVIDIA_SMI is not set");
        return;
    };
    let output = simulator::command("mixed", &program)
        .unwrap()
        .args(["topo", "-m"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for row in ["GPU0\t X \tPHB\tSYS\tSYS\t", "GPU2\tSYS\tSYS\t X \tNODE\t"] {
        assert!(text.contains(row), "{text}");
    }
}
