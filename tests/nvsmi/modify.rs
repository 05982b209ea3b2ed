//! The options that change a GPU, on simulated ones. Every command here is refused when the program
//! would load another library than the simulated one (`Case::command` sees to it).

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use simulator::golden::Case;

use crate::common::calls::watched;
use crate::common::changes::{CHANGES, changes};
use crate::common::{NVSMI, scratch, skipped, stdout};

/// nvsmi on the box whose GPUs let everything be changed, with faults.
fn nvsmi(faults: &[String], args: &[&str]) -> Command {
    let case = Case {
        simulated: "changeable".to_owned(),
        faults: faults.to_vec(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        ..Case::default()
    };
    case.command(Path::new(NVSMI)).expect("a simulated box")
}

/// The same, with what setters changed kept in a file.
fn run(faults: &[String], args: &[&str], state: &Path) -> Output {
    nvsmi(faults, args)
        .env("NVSMI_SIMULATOR_STATE", state)
        .output()
        .expect("nvsmi runs")
}

fn on_gpu_4<'a>(line: &[&'a str]) -> Vec<&'a str> {
    [line, &["-i", "4"]].concat()
}

fn name_of(line: &[&str]) -> String {
    line.join("_").replace([',', '='], "_")
}

/// The functions that a run calls, in order.
fn calls(args: &[&str]) -> Vec<String> {
    let name = format!("modify-{}", args.join("_"));
    let (output, calls) = watched(&mut nvsmi(&[], args), &name);
    assert!(output.status.code().is_some(), "{args:?}");
    calls.into_iter().map(|call| call.function).collect()
}

fn needs_root() -> bool {
    if !is_root() {
        skipped("only root may change a GPU");
    }
    is_root()
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[test]
fn each_option_makes_its_change_with_one_call() {
    for (line, setter) in CHANGES {
        let calls = calls(&on_gpu_4(line));
        let changing: Vec<&String> = calls.iter().filter(|call| changes(call)).collect();
        assert_eq!(changing, [setter], "{line:?}");
    }
}

#[test]
fn warnings_are_failures_when_asked_for() {
    for (line, setter) in CHANGES {
        let args = [&on_gpu_4(line)[..], &["-eow"]].concat();
        let state = scratch(&format!("modify-eow-{}", name_of(line)));
        let output = run(&[format!("{setter}:NOT_SUPPORTED")], &args, &state);
        assert_eq!(
            output.status.code(),
            Some(3),
            "{line:?}: {}",
            stdout(&output)
        );
        assert!(
            stdout(&output).ends_with("Terminating early due to previous errors.\n"),
            "{line:?}"
        );
    }
}

/// What the next process reads after a change: the option, a field, what it says before and after.
#[test]
fn the_next_process_sees_the_change() {
    const SEEN: &[(&[&str], &str, &str, &str)] = &[
        (&["-pm", "0"], "persistence_mode", "Enabled", "Disabled"),
        (&["-e", "0"], "ecc.mode.pending", "Enabled", "Disabled"),
        (&["-c", "3"], "compute_mode", "Default", "Exclusive_Process"),
        (&["--gom=1"], "gom.pending", "All On", "Compute"),
        (
            &["-ac", "2619,1200"],
            "clocks.applications.graphics",
            "1980 MHz",
            "1200 MHz",
        ),
        (&["-pl", "300"], "power.limit", "400.00 W", "300.00 W"),
        (&["-am", "1"], "accounting.mode", "Disabled", "Enabled"),
        (&["-mig", "1"], "mig.mode.current", "Disabled", "Enabled"),
        (
            &["-den", "1"],
            "dramEncryption.mode.pending",
            "Disabled",
            "Enabled",
        ),
        (&["--set-hostname=node8"], "hostname", "node7", "node8"),
    ];
    for (line, field, before, after) in SEEN {
        let state = scratch(&format!("modify-seen-{}", name_of(line)));
        let query = format!("--query-gpu={field}");
        let read = |gpu: &str| {
            let args = ["-i", gpu, &query, "--format=csv,noheader"];
            stdout(&run(&[], &args, &state)).trim().to_owned()
        };
        let other = read("0");
        assert_eq!(read("4"), *before, "{line:?}");
        let output = run(&[], &on_gpu_4(line), &state);
        assert_eq!(output.status.code(), Some(0), "{line:?}");
        assert_eq!(read("4"), *after, "{line:?}");
        assert_eq!(read("0"), other, "{line:?} left the other GPUs alone");
    }
}

#[test]
fn a_change_made_before_is_not_made_again() {
    for (line, setter) in CHANGES {
        let twice = ["-pm", "-e", "-c", "--gom=1", "-am", "-gtt", "-den"].contains(&line[0]);
        if !twice {
            continue;
        }
        let state = scratch(&format!("modify-twice-{}", name_of(line)));
        run(&[], &on_gpu_4(line), &state);
        // Were it made again, it would fail.
        let again = run(&[format!("{setter}:UNKNOWN")], &on_gpu_4(line), &state);
        assert_eq!(again.status.code(), Some(0), "{line:?}: {}", stdout(&again));
        assert!(
            stdout(&again).contains("already"),
            "{line:?}: {}",
            stdout(&again)
        );
    }
}

#[test]
fn locked_clocks_arrive_as_asked_and_go_again() {
    let state = scratch("modify-locked");
    let kept = |state: &PathBuf| std::fs::read_to_string(state).unwrap_or_default();
    run(&[], &["-lgc", "1000,1410", "-i", "4"], &state);
    assert!(
        kept(&state).contains("graphics = [1000, 1410]"),
        "{}",
        kept(&state)
    );
    run(&[], &["-lgc", "tdp,unlimited", "-i", "4"], &state);
    assert!(
        kept(&state).contains("graphics = [4294967041, 4294967042]"),
        "{}",
        kept(&state)
    );
    run(&[], &["-rgc", "-i", "4"], &state);
    assert!(kept(&state).contains("graphics = []"), "{}", kept(&state));
    run(&[], &["-lmc", "1593", "-i", "4"], &state);
    assert!(
        kept(&state).contains("memory = [1593, 1593]"),
        "{}",
        kept(&state)
    );
}

#[test]
fn a_wrong_wish_touches_no_gpu() {
    for line in [
        &["-pm", "2"][..],
        &["-e", "3"],
        &["-p", "2"],
        &["-c", "4"],
        &["--gom=7"],
        &["-vm", "9"],
        &["-lgc", "-5"],
        &["-lgc", "4294967297"],
        &["-lgc", "1000", "-m", "1"],
        &["-lgc", "1000", "-m", "2"],
        &["-lmc", "3000000000"],
        &["-ac", "-5,6"],
        &["-pl", "99999999999"],
        &["-pl", "0"],
        &["-pl", "300", "-sc", "7"],
        &["-cc", "1"],
        &["-cc", "5"],
        &["-lmcd", "1593"],
        &["-rmcd"],
        &["-am", "2"],
        &["--auto-boost-default=7"],
        &["--auto-boost-permission=7"],
        &["-mig", "5"],
        &["-gtt", "200"],
        &["-den", "4"],
        &["--set-hostname="],
        &["-r", "sideways"],
        &["-pm", "0", "-pl", "300"],
        &["-pm", "0", "-i", "nothing"],
    ] {
        let state = scratch(&format!("modify-wrong-{}", name_of(line)));
        let output = run(&[], line, &state);
        let exit = output.status.code().unwrap_or(-1);
        assert!(
            [2, 3, 6].contains(&exit),
            "{line:?}: {exit} {}",
            stdout(&output)
        );
        assert!(
            !state.exists() && !stdout(&output).contains("All done."),
            "{line:?}"
        );
    }
}

#[test]
fn a_lost_gpu_stops_the_change_before_it_begins() {
    let state = scratch("modify-lost");
    let fault = "nvmlDeviceGetHandleByIndex_v2:GPU_IS_LOST@3".to_owned();
    let output = run(std::slice::from_ref(&fault), &["-pm", "0"], &state);
    assert_eq!(output.status.code(), Some(15), "{}", stdout(&output));
    assert!(!state.exists());
    let others = run(&[fault], &["-pm", "0", "-i", "2,4"], &state);
    assert_eq!(others.status.code(), Some(0), "{}", stdout(&others));
}

/// A dry run asks and tells, and changes nothing.
#[test]
fn a_dry_run_changes_nothing() {
    for (line, _) in CHANGES {
        let args = [&on_gpu_4(line)[..], &["--dry-run"]].concat();
        let calls = calls(&args);
        assert!(
            !calls.iter().any(|call| changes(call)),
            "{line:?}: {calls:?}"
        );
        let state = scratch(&format!("modify-dry-{}", name_of(line)));
        let output = run(&[], &args, &state);
        let text = stdout(&output);
        assert!(
            !state.exists() && !text.contains("All done."),
            "{line:?}: {text}"
        );
        assert!(text.contains("00000000:9B:00.0"), "{line:?}: {text}");
        if is_root() {
            assert_eq!(output.status.code(), Some(0), "{line:?}: {text}");
            let words = ["Would ", "already their defaults", "There are no accounts"];
            let told = words.iter().any(|words| text.contains(words));
            assert!(told, "{line:?}: {text}");
            assert!(text.ends_with("Nothing was changed.\n"), "{line:?}: {text}");
        } else {
            assert_eq!(output.status.code(), Some(4), "{line:?}: {text}");
        }
    }
    let refused = run(
        &[],
        &["-pl", "9999", "--dry-run"],
        &scratch("modify-dry-range"),
    );
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stdout(&refused).contains("between 200.00 W and 700.00 W"),
        "{}",
        stdout(&refused)
    );
}

/// A pair of clocks that the GPU does not list is refused as NVML would refuse it.
#[test]
fn a_dry_run_looks_clocks_up() {
    let state = scratch("modify-dry-clocks");
    let dry = |clocks: &str| {
        let line = ["-ac", clocks, "-i", "4", "--dry-run"];
        stdout(&run(&[], &line, &state))
    };
    for clocks in ["2619,1201", "2618,1200", "1,2"] {
        let text = dry(clocks);
        assert!(!text.contains("Would"), "{text}");
        let reasons = ["is not supported for GPU", "does not have permission"];
        assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
    }
    assert_eq!(
        dry("2619,1200").contains("Would change the applications clocks"),
        is_root()
    );
}

#[test]
fn a_dry_run_tells_from_what_to_what() {
    if !needs_root() {
        return;
    }
    let state = scratch("modify-dry-words");
    let output = run(&[], &["-pl", "250", "-i", "3,4", "--dry-run"], &state);
    assert_eq!(
        stdout(&output),
        "Would change the power limit from 700.00 W to 250.00 W for GPU 3 (00000000:5D:00.0).\n\
         Would change the power limit from 400.00 W to 250.00 W for GPU 4 (00000000:9B:00.0).\n\
         Nothing was changed.\n"
    );
    let output = run(&[], &["-pm", "0", "-i", "0,1", "--dry-run"], &state);
    assert_eq!(
        stdout(&output),
        "Would change persistence mode from Enabled to Disabled for GPU 0 (00000000:19:00.0).\n\
         Persistence mode is already Disabled for GPU 1 (00000000:3B:00.0).\n\
         Nothing was changed.\n"
    );
}

/// Where the GPU is as wished, a dry run says that, and never "from 700.00 W to 700.00 W".
#[test]
fn a_dry_run_says_that_nothing_would_change() {
    if !needs_root() {
        return;
    }
    const GPU: &str = "for GPU 3 (00000000:5D:00.0).\nNothing was changed.\n";
    for (line, told) in [
        (&["-pm", "1"][..], "Persistence mode is already Enabled"),
        (&["-e", "1"], "ECC support is already Enabled"),
        (&["-c", "0"], "Compute mode is already set to DEFAULT"),
        (&["-pl", "700"], "The power limit is already 700.00 W"),
        (
            &["-ac", "2619,1980"],
            "The applications clocks are already (MEM 2619, SM 1980)",
        ),
        (
            &["-rac"],
            "The applications clocks, (MEM 2619, SM 1980), are already their defaults",
        ),
        (&["-am", "1"], "Accounting Mode is already Enabled"),
        (&["-caa"], "There are no accounts of processes"),
        (
            &["--auto-boost-default=1"],
            "Default auto boost is already Enabled",
        ),
        (
            &["--auto-boost-permission=1"],
            "The permission for auto boost is already RESTRICTED",
        ),
        (&["-mig", "0"], "MIG mode is already Disabled"),
        (&["-den", "0"], "DRAM encryption is already Disabled"),
        (
            &["--set-hostname=node7"],
            "The hostname is already \"node7\"",
        ),
    ] {
        let args = [line, &["-i", "3", "--dry-run"]].concat();
        let output = nvsmi(&[], &args).output().expect("nvsmi runs");
        assert_eq!(stdout(&output), format!("{told} {GPU}"), "{line:?}");
        assert_eq!(output.status.code(), Some(0), "{line:?}");
    }
}

/// The subcommands that change something, with what a dry run says.
#[test]
fn a_dry_run_of_a_subcommand_changes_nothing() {
    if !needs_root() {
        return;
    }
    const HEADING: &str =
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000-1000-2000-3000-000000000000)\n";
    const GPU_0: &str = "for GPU 0 (00000000:19:00.0)";
    let drain = |state| ["drain", "-p", "0000:19:00.0", "-m", state];
    for (line, told) in [
        (
            &drain("1")[..],
            format!("Would change the drain state from not draining to draining {GPU_0}.\n"),
        ),
        (
            &drain("0"),
            format!("Would leave the drain state at not draining {GPU_0}.\n"),
        ),
        (
            &["drain", "-p", "0000:19:00.0", "-r", "-d"],
            "Would remove GPU 0 (00000000:19:00.0) from the system.\n\
             Would look for GPUs that were removed.\n"
                .to_owned(),
        ),
        (
            &["nvlink", "-re", "-i", "0", "-l", "3"],
            format!("{HEADING}\t Link 3: would reset the error counters {GPU_0}\n"),
        ),
        (
            &["nvlink", "-sLowPwrThres", "default", "-i", "0"],
            format!("{HEADING}\t Would set the Low Power Threshold to the default {GPU_0}\n"),
        ),
        (
            &["conf-compute", "-sm", "1024", "-i", "0"],
            format!("Would change the Unprotected Memory Size from 0 KiB to 1024 KiB {GPU_0}.\n"),
        ),
        (
            &["gpm", "-s", "1", "-i", "0"],
            format!("Would change the GPM stream state from DISABLED to ENABLED {GPU_0}.\n"),
        ),
        (
            &["gpm", "-s", "0", "-i", "0"],
            format!("Would leave the GPM stream state at DISABLED {GPU_0}.\n"),
        ),
        (
            &["pci", "-cErrCnt", "-i", "0"],
            format!("{HEADING}Would clear all error counters {GPU_0}.\n"),
        ),
    ] {
        let args = [line, &["--dry-run"]].concat();
        let (output, calls) = watched(&mut nvsmi(&[], &args), &name_of(&args));
        assert_eq!(
            stdout(&output),
            format!("{told}Nothing was changed.\n"),
            "{line:?}"
        );
        assert_eq!(output.status.code(), Some(0), "{line:?}");
        assert!(
            !calls.iter().any(|call| changes(&call.function)),
            "{line:?}: {calls:?}"
        );
    }
}

/// What the system does not have cannot be changed; a dry run ends as the change would.
#[test]
fn a_dry_run_fails_where_there_is_nothing_to_change() {
    if !needs_root() {
        return;
    }
    for line in [
        &["nvlink", "-sBwMode", "HALF"][..],
        &["conf-compute", "-srs", "1"],
        &["conf-compute", "-skr", "60"],
        &["drain", "-p", "0000:99:00.0", "-m", "1"],
    ] {
        let made = nvsmi(&[], line).output().expect("nvsmi runs");
        let told = nvsmi(&[], &[line, &["--dry-run"]].concat());
        let told = { told }.output().expect("nvsmi runs");
        assert_eq!(stdout(&told), stdout(&made), "{line:?}");
        assert_eq!(told.status.code(), made.status.code(), "{line:?}");
        assert_ne!(told.status.code(), Some(0), "{line:?}");
    }
}

#[test]
fn a_dry_run_beside_no_change_is_refused() {
    for line in [
        &[][..],
        &["-q"],
        &["-L"],
        &["-i", "0"],
        &["--query-gpu=name", "--format=csv"],
        &["--get-hostname"],
        &["topo", "-m"],
        &["dmon", "-c", "1"],
        &["nvlink"],
        &["nvlink", "-s"],
        &["pci", "-gErrCnt"],
        &["drain"],
        &["drain", "-p", "0000:19:00.0", "-q"],
        &["gpm"],
        &["gpm", "-g"],
        &["conf-compute"],
        &["conf-compute", "-gc"],
        &["power-profiles"],
        &["power-profiles", "-l"],
        &["power-smoothing"],
        &["power-smoothing", "-ppd"],
        &["clocks"],
    ] {
        let args = [line, &["--dry-run"]].concat();
        let output = nvsmi(&[], &args).output().expect("nvsmi runs");
        assert_eq!(
            stdout(&output),
            "--dry-run goes with an option that changes a GPU.\n",
            "{line:?}"
        );
        assert_eq!(output.status.code(), Some(2), "{line:?}");
    }
}

/// Versions and bus ids come from the driver, and reach no terminal as they are.
#[test]
fn control_characters_are_escaped_in_messages_too() {
    let path = scratch("modify-escapes.toml");
    let text = "about = \"control characters in versions and bus ids\"\ninherits = \"changeable\"\n\
        driver = { version = \"580.1\\u001b[31m\", nvml = \"13.580\\u001b.1\", cuda = \"13.0\" }\n\
        excluded = [{ bus_id = \"00000000:01:00\\u001b.0\", uuid = \"GPU-\\u001b\" }]\n\
        [every]\nnvlink.remote.bus_ids = [\"00000000:05:00\\u001b.0\"]\nhostname = \"node\\u001b\"\n\
        [gpu.4]\npci.bus_id = \"00000000:9B:00\\u001b.0\"\n";
    std::fs::write(&path, text).expect("a file of our own");
    let simulated = path.display().to_string();
    let run = |args: &[&str]| {
        let case = Case {
            simulated: simulated.clone(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            ..Case::default()
        };
        let mut command = case.command(Path::new(NVSMI)).expect("a simulated box");
        stdout(&command.output().expect("nvsmi runs"))
    };
    let asked: &[&[&str]] = &[
        &[],
        &["--version"],
        &["-q"],
        &["-q", "-x"],
        &["-L"],
        &["-B"],
        &["--query-gpu=driver_version,pci.bus_id", "--format=csv"],
        &["nvlink", "-p"],
        &["nvlink", "-R"],
        &["--get-hostname"],
        &["-r"],
        &["-r", "--dry-run"],
        &["-i", "nothing:1"],
        &["gpm", "-s", "1", "--dry-run"],
        &["pci", "-cErrCnt", "--dry-run"],
        &["power-profiles", "-sr", "1"],
        &["power-profiles", "-sr", "1", "--dry-run"],
    ];
    let made = CHANGES.iter().map(|(line, _)| line.to_vec());
    let dry = made
        .clone()
        .map(|line| [&line[..], &["--dry-run"]].concat());
    let asked = asked.iter().map(|line| line.to_vec());
    let mut escaped = 0;
    for line in asked.chain(made).chain(dry) {
        let text = run(&line);
        let stays = |c: char| !c.is_control() || "\n\t".contains(c);
        assert!(text.chars().all(stays), "{line:?}: {text:?}");
        escaped += usize::from(text.contains("\\u{1b}"));
    }
    assert!(escaped > 40, "only {escaped} lines show what they escape");
}

/// Power profiles and smoothing: what arrives at the GPU, in NVML's units.
#[test]
fn power_settings_arrive_as_asked() {
    let state = scratch("modify-power");
    let kept = |line: &[&str]| {
        let _ = std::fs::remove_file(&state);
        let output = run(&[], &on_gpu_4(line), &state);
        assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
        std::fs::read_to_string(&state).unwrap_or_default()
    };
    let update = |option, value| kept(&["power-smoothing", "-p", "1", option, value]);
    for (text, part) in [
        (
            kept(&["power-profiles", "-sr", "6,1"]),
            "requested = [1, 6]",
        ),
        (kept(&["power-smoothing", "-s", "1"]), "251 = 1"),
        (kept(&["power-smoothing", "-spp", "2"]), "264 = 2"),
        (update("-ptf", "58"), "260 = [55, 58, 65]"),
        // The box keeps rates in mW/s, as NVML shows them, and is told W/s.
        (update("-rur", "25000"), "261 = [10000, 25000, 30000]"),
        (update("-rdr", "2500"), "262 = [5000, 2500, 7000]"),
        (update("-rdh", "250"), "263 = [100, 250, 300]"),
        // Watts, of the milliwatts of the line.
        (update("-spf", "175000"), "281 = [150, 175, 170]"),
        (update("-pfawm", "9"), "282 = [1, 9, 3]"),
        (update("-pftwm", "9"), "283 = [4, 9, 6]"),
        (update("-pfao", "25000"), "284 = [20, 25, 22]"),
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    run(&[], &["power-profiles", "-sr", "0,6", "-i", "4"], &state);
    run(&[], &["power-profiles", "-cr", "6", "-i", "4"], &state);
    let requested = run(&[], &["power-profiles", "-gr", "-i", "4"], &state);
    assert_eq!(stdout(&requested), "0. Max-P\n");
    run(&[], &["power-profiles", "-cr", "-i", "4"], &state);
    let requested = run(&[], &["power-profiles", "-gr", "-i", "4"], &state);
    assert_eq!(stdout(&requested), "No profiles are currently requested.\n");
}

#[test]
fn a_dry_run_of_power_settings_changes_nothing() {
    for line in [
        &["power-profiles", "-sr", "1,6"][..],
        &["power-profiles", "-cr"],
        &["power-smoothing", "-s", "1"],
        &["power-smoothing", "-spp", "2"],
        &["power-smoothing", "-p", "1", "-ptf", "50"],
    ] {
        let args = [&on_gpu_4(line)[..], &["--dry-run"]].concat();
        let calls = calls(&args);
        assert!(!calls.iter().any(|call| changes(call)), "{calls:?}");
        let output = nvsmi(&[], &args).output().expect("nvsmi runs");
        let text = stdout(&output);
        if is_root() || line[0] == "power-profiles" {
            let told = text.starts_with("Would ") && text.contains("; now ");
            assert!(told && text.ends_with("Nothing was changed.\n"), "{text}");
        } else {
            assert_eq!(output.status.code(), Some(4), "{text}");
        }
    }
}

/// Clocks are looked up where the change would leave them to NVML.
#[test]
fn a_dry_run_looks_locked_clocks_up() {
    let state = scratch("modify-dry-locked");
    let dry = |option: &str, clocks: &str, faults: &[String]| {
        let line = [option, clocks, "-i", "4", "--dry-run"];
        stdout(&run(faults, &line, &state))
    };
    let refused = |text: String| {
        let reasons = ["is not supported for GPU", "does not have permission"];
        assert!(!text.contains("Would"), "{text}");
        assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
    };
    refused(dry("-lgc", "99999", &[]));
    refused(dry("-lgc", "1410,1000", &[]));
    refused(dry("-lgc", "1", &[]));
    refused(dry("-lmc", "99999", &[]));
    if !needs_root() {
        return;
    }
    for (option, clocks) in [
        ("-lgc", "1000,1410"),
        ("-lgc", "tdp"),
        ("-lmc", "1593,2619"),
    ] {
        let text = dry(option, clocks, &[]);
        assert!(text.contains("Would lock"), "{text}");
    }
    // Without a list there is nothing to look up.
    let no_list = ["nvmlDeviceGetSupportedMemoryClocks:NOT_SUPPORTED".to_owned()];
    assert!(dry("-lgc", "99999", &no_list).contains("Would lock"));
    let unread = ["nvmlDeviceGetSupportedMemoryClocks:TIMEOUT".to_owned()];
    let text = dry("-lgc", "1000", &unread);
    assert!(
        text.contains("Timeout") && !text.contains("Would"),
        "{text}"
    );
}

#[test]
fn a_dry_run_of_a_led_changes_nothing() {
    let there = |function: &str| format!("nvmlUnit{function}:SUCCESS");
    let faults = [there("GetHandleByIndex"), there("GetLedState")];
    let line = ["-t", "AMBER", "-i", "0", "--dry-run"];
    let output = nvsmi(&faults, &line).output().expect("nvsmi runs");
    let text = stdout(&output);
    if is_root() {
        let end =
            "Would change the LED state from Green to Amber for unit 0.\nNothing was changed.\n";
        assert!(text.ends_with(end), "{text}");
        assert_eq!(output.status.code(), Some(0));
    } else {
        assert_eq!(output.status.code(), Some(4), "{text}");
    }
}

/// A reader that goes away does not leave half of the GPUs changed.
#[test]
fn a_closed_pipe_does_not_stop_a_change() {
    let state = scratch("modify-closed");
    let mut child = nvsmi(&[], &["-pl", "250"])
        .env("NVSMI_SIMULATOR_STATE", &state)
        .stdout(Stdio::piped())
        .spawn()
        .expect("nvsmi runs");
    drop(child.stdout.take());
    let status = child.wait().expect("nvsmi ends");
    assert_eq!(status.code(), Some(0));
    let limits = ["--query-gpu=power.limit", "--format=csv,noheader"];
    assert_eq!(stdout(&run(&[], &limits, &state)), "250.00 W\n".repeat(8));
}

/// Nothing here may ever run against a real library.
#[test]
fn only_the_simulated_library_is_changed() {
    let plain = Command::new(NVSMI);
    assert!(simulator::require_simulator(&plain).is_err());
    let no_library = Case {
        simulated: "no-library".to_owned(),
        args: vec!["-pm".to_owned(), "0".to_owned()],
        ..Case::default()
    };
    assert!(no_library.command(Path::new(NVSMI)).is_err());
}
