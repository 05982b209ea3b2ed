//! `record`, with a script in the place of nvidia-smi.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::{fs, path::Path, process::Command};

#[test]
fn a_file_says_which_nvidia_smi_made_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let lines = "[[area]]\nname = 'some'\nboxes = ['t4']\nlines = [['-L']]\n";
    fs::write(folder.join("lines.toml"), lines).unwrap();
    let program = folder.join("nvidia-smi");
    for (version, head) in [
        (
            "NVIDIA-SMI version  : 580.159.04",
            "# What nvidia-smi 580.159.04 answers on this box, recorded.\n",
        ),
        ("", "# What nvidia-smi answers on this box, recorded.\n"),
    ] {
        let script = format!("#!/bin/sh\n[ $1 = -L ] && echo GPU 0 || echo '{version}'\n");
        common::script(&script, &program);
        let mut command = Command::new(env!("CARGO_BIN_EXE_record"));
        let output = command.arg(&program).env("GOLDEN", &folder).output();
        assert!(output.unwrap().status.success());
        let made = fs::read_to_string(folder.join("some/t4.toml")).unwrap();
        assert!(made.starts_with(head), "{made}");
        assert!(made.contains("GPU 0\n"), "{made}");
    }
}
