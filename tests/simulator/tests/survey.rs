//! `survey`, with a script in the place of nvidia-smi.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::{fs, path::Path, process::Command};

/// Answers some views well, and others in each way that one can fail.
const SCRIPT: &str = r#"#!/bin/sh
case $* in
    -L) echo "GPU 0: one" ;;
    topo*) kill -SEGV $$ ;;
    -q) echo "Attached GPUs : 2"; echo "GPU 00000000:01:00.0" ;;
    -pm*) touch "$0-changed" ;;
    nvlink*) ;;
    *) echo "No GPU 17 here"; exit 6 ;;
esac
"#;

#[test]
fn each_way_to_fail_is_told() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("survey");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("nvidia-smi");
    common::script(SCRIPT, &program);
    let output = Command::new(env!("CARGO_BIN_EXE_survey"))
        .arg(&program)
        .arg("t4")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (names, cells) = (row("    "), row("t4"));
    let cell = |name: &str| {
        let place = names.iter().position(|known| known == name).unwrap();
        cells[place + 1].as_str()
    };
    assert_eq!(
        ["-L", "-q", "-m", "nv-s", "table"].map(cell),
        ["ok", "cut", "sig11", "ok", "6"]
    );
    let why = text.split("Why not").nth(1).unwrap();
    assert!(
        why.contains("sig11; nothing; none\n    -m -mp p2p: t4\n"),
        "{why}"
    );
    assert!(why.contains("6; No GPU # here; none\n"), "{why}");
    assert!(
        !folder.join("nvidia-smi-changed").exists(),
        "nothing is changed unasked"
    );
}
