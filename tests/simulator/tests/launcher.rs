//! `simulate` as it is called.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

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
    fs::copy(simulate, folder.join("simulate")).unwrap();
    fs::copy(library, folder.join("libsimulator.so")).unwrap();
    let nvsmi = folder.join("nvsmi");
    fs::write(&nvsmi, "#!/bin/sh\necho \"nvsmi:$*\"\n").unwrap();
    fs::set_permissions(&nvsmi, fs::Permissions::from_mode(0o755)).unwrap();
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
        (&["h200", "nonesuch"], "nonesuch: No such file"),
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
