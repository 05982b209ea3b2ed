//! `simulate` as it is called.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use common::{install, script};

const SIMULATE: &str = env!("CARGO_BIN_EXE_simulate");

/// A folder with `simulate`, its library, and an `nvsmi` that says its arguments: `name` keeps the tests
/// apart.
fn installed(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("launcher-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let simulate = Path::new(SIMULATE);
    let library = ["", "deps"].map(|place| simulate.with_file_name(place).join("libsimulator.so"));
    let library = library.iter().find(|file| file.is_file()).unwrap();
    install(simulate, &folder.join("simulate"));
    install(library, &folder.join("libsimulator.so"));
    script("#!/bin/sh\necho \"nvsmi:$*\"\n", &folder.join("nvsmi"));
    folder
}

/// What `simulate` says with these arguments: status, stdout, stderr.
fn simulate(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(folder.join("simulate"));
    // Without Cargo there is nothing to build.
    let output = command
        .args(arguments)
        .env_remove("CARGO")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn nvsmi_is_the_one_beside() {
    let folder = installed("beside");
    for (arguments, expected) in [
        (&["h200"][..], "nvsmi:\n"),
        (&["h200", "nvsmi"], "nvsmi:\n"),
        (&["h200", "nvsmi", "topo", "-m"], "nvsmi:topo -m\n"),
        (&["h100x8", "-L"], "nvsmi:-L\n"),
        (&["h100x8", "-i", "0", "nvsmi"], "nvsmi:-i 0 nvsmi\n"),
        (&["h200", "echo", "nvsmi", "-L"], "nvsmi -L\n"),
    ] {
        assert_eq!(
            simulate(&folder, arguments),
            (Some(0), expected.to_owned(), String::new()),
            "{arguments:?}"
        );
    }
}

#[test]
fn it_ends_with_its_reader() {
    let folder = installed("reader");
    let line = "set -o pipefail; ./simulate --list | true";
    for _ in 0..20 {
        let mut bash = Command::new("bash");
        let output = bash.args(["-c", line]).current_dir(&folder).output();
        let output = output.unwrap();
        // As it may be, it wrote all before there was no reader.
        assert!([Some(0), Some(128 + 13)].contains(&output.status.code()));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
fn many_may_lay_out_a_box_at_once() {
    let folder = installed("at-once");
    let at_once = |arguments: &[&str]| {
        std::thread::scope(|scope| {
            let start = || scope.spawn(|| simulate(&folder, arguments));
            let all: Vec<_> = (0..24).map(|_| start()).collect();
            let all = all.into_iter().map(|one| one.join().unwrap());
            all.collect::<Vec<_>>()
        })
    };
    for name in ["h100x8-nics", "old-driver", "h200"] {
        let good = (Some(0), "nvsmi:-L\n".to_owned(), String::new());
        assert_eq!(at_once(&[name, "-L"]), vec![good; 24], "{name}");
    }
    if !simulator::can_replace_sysfs() {
        simulator::skip::skipped("/sys cannot be replaced here");
        return;
    }
    // What an older library left behind is laid out anew.
    let line = ["h100x8-nics", "ls", "/sys/class/infiniband"];
    let good = simulate(&folder, &line);
    assert!(good.1.lines().count() > 2, "{good:?}");
    let library = fs::File::options()
        .append(true)
        .open(folder.join("libsimulator.so"));
    let library = library.unwrap();
    for _ in 0..5 {
        library.set_modified(std::time::SystemTime::now()).unwrap();
        assert_eq!(at_once(&line), vec![good.clone(); 24]);
    }
}

#[test]
fn a_mistake_is_told_in_one_line() {
    let folder = installed("mistakes");
    fs::remove_file(folder.join("nvsmi")).unwrap();
    for (arguments, told) in [
        (&[][..], "usage: simulate [--latency PROFILE] BOX"),
        (&["nonesuch"], "there is no box `nonesuch`"),
        (&["nonesuch.toml", "true"], "nonesuch.toml: No such file"),
        (&["h200", "-L"], "nvsmi is not there: build it first"),
        (&["h200", "./nonesuch"], "./nonesuch: No such file"),
        (
            &["h200", "topo", "-m"],
            "there is no program `topo`; for nvsmi's, write: simulate h200 nvsmi topo -m",
        ),
        (
            &["h200-nics", "dmon"],
            "there is no program `dmon`; for nvsmi's, write: simulate h200-nics nvsmi dmon",
        ),
    ] {
        let (status, stdout, stderr) = simulate(&folder, arguments);
        assert_eq!((status, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(
            stderr.starts_with("simulate: ") && stderr.contains(told),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn a_latency_profile_is_laid_over_any_box() {
    let folder = installed("latency");
    let show = [
        "--latency",
        "h200",
        "t4",
        "sh",
        "-c",
        "cat $NVSMI_SIMULATOR_BOX",
    ];
    let (status, timed, _) = simulate(&folder, &show);
    assert_eq!(status, Some(0));
    let timed: toml::Table = timed.parse().unwrap();
    let rows = timed["latency"].as_table().unwrap();
    assert!(rows.contains_key("nvmlDeviceGetPcieThroughput"), "{rows:?}");
    let (_, plain, _) = simulate(&folder, &show[2..]);
    let plain: toml::Table = plain.parse().unwrap();
    assert!(!plain.contains_key("latency"));

    let (_, joined, _) = simulate(&folder, &["--latency=h200", "t4", "-L"]);
    assert_eq!(joined, "nvsmi:-L\n");
    for arguments in [&["--latency", "slow", "t4"][..], &["--latency=slow", "t4"]] {
        let (status, stdout, stderr) = simulate(&folder, arguments);
        assert_eq!((status, stdout.as_str()), (Some(2), ""));
        assert!(
            stderr.contains("no latency profile `slow`; the profiles are h200"),
            "{stderr}"
        );
    }
    for arguments in [&["--latency"][..], &["--latency", "h200"]] {
        assert!(simulate(&folder, arguments).2.contains("usage: simulate"));
    }
}

#[test]
fn the_list_names_every_box() {
    let (_, stdout, _) = simulate(&installed("list"), &["--list"]);
    let expected: Vec<_> = simulator::scenario::list()
        .unwrap()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let named: Vec<_> = stdout
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(named, expected);
}

#[test]
fn a_program_finds_nvsmi_as_nvidia_smi() {
    let folder = installed("path");
    let lines = "nvidia-smi -L; sh -c 'nvidia-smi topo -m'";
    let mut boxes = vec!["h200"];
    if simulator::can_replace_sysfs() {
        boxes.push("h200-nics");
    } else {
        println!("left out: /sys cannot be replaced here");
    }
    for name in boxes {
        let answer = simulate(&folder, &[name, "bash", "-c", lines]);
        let expected = "nvsmi:-L\nnvsmi:topo -m\n";
        assert_eq!(answer, (Some(0), expected.to_owned(), String::new()));
    }
    // Without nvsmi, other programs run all the same.
    fs::remove_file(folder.join("nvsmi")).unwrap();
    let answer = simulate(&folder, &["h200", "sh", "-c", "echo other"]);
    assert_eq!(answer, (Some(0), "other\n".to_owned(), String::new()));
}

#[test]
fn changes_last_as_long_as_a_shell() {
    let folder = installed("changes");
    let file = "echo $NVSMI_SIMULATOR_STATE";
    let script = format!(
        "{file}; sh -c '{file}'; test -e $NVSMI_SIMULATOR_STATE && echo old; echo x > $NVSMI_SIMULATOR_STATE"
    );
    let run = || simulate(&folder, &["changeable", "bash", "-c", &script]).1;
    let (first, second) = (run(), run());
    for answer in [&first, &second] {
        let lines: Vec<&str> = answer.lines().collect();
        assert!(lines.len() == 2 && lines[0] == lines[1], "{answer}");
    }
    assert_ne!(first, second);
    let left = |answer: &str| Path::new(answer.lines().next().unwrap()).exists();
    assert!(!left(&first), "the next one tidies up");

    // One command alone has no state, and a file that is named is taken.
    let own = folder.join("own");
    let mut command = Command::new(folder.join("simulate"));
    command
        .args(["changeable", "sh", "-c", file])
        .env_remove("CARGO");
    let output = command.env("NVSMI_SIMULATOR_STATE", &own).output().unwrap();
    assert_eq!(output.stdout, format!("{}\n", own.display()).into_bytes());
    common::script(&format!("#!/bin/sh\n{file}\n"), &folder.join("nvsmi"));
    assert_eq!(simulate(&folder, &["changeable", "-L"]).1, "\n");
}

#[test]
fn a_build_that_takes_time_is_told() {
    let folder = installed("build");
    let cargo = folder.join("cargo");
    for (seconds, told) in [("0", ""), ("3", "simulate: building nvsmi")] {
        script(&format!("#!/bin/sh\nsleep {seconds}\n"), &cargo);
        let mut command = Command::new(folder.join("simulate"));
        let output = command.args(["h200", "-L"]).env("CARGO", &cargo).output();
        let output = output.unwrap();
        assert_eq!(output.stdout, b"nvsmi:-L\n");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.starts_with(told) && stderr.is_empty() == told.is_empty(),
            "{stderr}"
        );
    }
}

#[test]
fn a_mistake_in_a_box_is_told_with_its_line() {
    let folder = installed("keys");
    for (text, told) in [
        (
            "[gpu.0]\nboard = 't4'\n\ntemperatur.gpu = 91\n",
            "own.toml: line 4: there is no key `gpu.0.temperatur`",
        ),
        (
            "about = 'x'\n[every]\nproceses = []\n",
            "own.toml: line 3: there is no key `every.proceses`",
        ),
        (
            "inherits = 't4'\ngpu.0.fan.speed = 'fast'\n",
            "own.toml: line 2: `gpu.0.fan.speed` should have a number",
        ),
    ] {
        fs::write(folder.join("own.toml"), text).unwrap();
        let file = folder.join("own.toml");
        let (status, stdout, stderr) = simulate(&folder, &[file.to_str().unwrap(), "-L"]);
        assert_eq!((status, stdout.as_str()), (Some(2), ""));
        assert!(stderr.contains(told), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}
