//! `compare_random`, with scripts in the place of both programs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A program that names one field of each list, and says `answer` to all but a help.
fn program(name: &str, answer: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("compare-{name}"));
    let text =
        format!("#!/bin/sh\ncase $1 in --help-query-*) echo '\"index\"';; *) {answer};; esac\n");
    common::script(&text, &path);
    path
}

/// What it reports about two programs.
fn report(real: &Path, nvsmi: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_compare_random"));
    let output = command
        .args([real, nvsmi])
        .args(["40", "5"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn one_program_agrees_with_itself() {
    let same = program("same", "echo \"$#\"");
    let text = report(&same, &same);
    let shares = [
        "    40  100.0 %  agree",
        "    40  100.0 %  agree in exit status",
        "    40  100.0 %  agree in stdout",
        "     0    0.0 %  differ",
    ];
    let shares = format!("seed 5, 40 lines\n{}", shares.join("\n"));
    assert!(text.contains(&shares), "{text}");
}

#[test]
fn exit_status_and_stdout_are_counted_apart() {
    let text = report(
        &program("three", "echo GPU 17; exit 3"),
        &program("four", "echo GPU 17; exit 4"),
    );
    assert!(
        text.contains("     0    0.0 %  agree in exit status\n    40  100.0 %  agree in stdout"),
        "{text}"
    );
}

#[test]
fn a_difference_is_shown_with_its_lines() {
    let text = report(
        &program("real", "echo GPU 17; exit 3"),
        &program("other", "echo GPU 18; exit 3"),
    );
    assert!(text.contains("differ, in 1 ways"), "{text}");
    assert!(
        text.contains(
            "exit 3\n      nvidia-smi: GPU 17\n      nvsmi:      GPU 18\n      $ simulate "
        ),
        "{text}"
    );
}

#[test]
fn what_nvsmi_does_not_have_is_counted_apart() {
    let text = report(
        &program("has", "echo yes"),
        &program("has-not", "echo nvsmi does not have it; exit 255"),
    );
    assert!(text.contains("not in nvsmi yet\n"), "{text}");
    assert!(text.contains(" differ, in 0 ways"), "{text}");
}
