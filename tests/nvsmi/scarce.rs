//! A system that does not have enough: memory, threads, `/proc` and `/sys`, open standard streams, room
//! on the disk. And one that has more GPUs than most.

use std::process::Output;

use crate::common::trials::Share;
use crate::common::{BEGINS, has_program, hurried, run, scratch, script, skipped, stdout};

/// Looks of all kinds.
const VIEWS: &[&str] = &[
    "",
    "-L",
    "-B",
    "--version",
    "-q",
    "-q -x",
    "-q -d POWER",
    "--query-gpu=index,name,power.draw --format=csv",
    "--query-compute-apps=pid,name,used_memory --format=csv",
    "--query-accounted-apps=pid --format=csv",
    "--query-supported-clocks=mem,gr --format=csv",
    "--query-retired-pages=retired_pages.address --format=csv",
    "--query-remapped-rows=remapped_rows.correctable --format=csv",
    "--help-query-gpu",
    "--dtd",
    "-h",
    "topo -m",
    "topo -p2p r",
    "topo -c 0",
    "nvlink -s",
    "nvlink -e",
    "pci -gErrCnt",
    "gpm -g",
    "mig -lgip",
    "drain -q -p 0000:19:00.0",
    "dmon -c 1",
    "pmon -c 1",
    "-pl 300 --dry-run",
];

/// An answer without the time that it was given at.
fn lasting(output: &Output) -> (Option<i32>, String) {
    let is_clock = |word: &str| {
        let figures = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
        word.split(':').count() == 3 && word.split(':').all(figures)
    };
    let passing = |line: &str| line.contains("imestamp") || line.split(' ').any(is_clock);
    let lines = stdout(output);
    let kept = lines.lines().filter(|line| !passing(line));
    let kept: Vec<&str> = kept.collect();
    (output.status.code(), kept.join("\n"))
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A script that does as well as the plain one, for each view. They have the view in `$view`.
fn same_for_every_view(simulated: &str, plain: &str, text: &str) {
    for view in VIEWS {
        let plain = script(simulated, &format!("export view='{view}'; {plain}"));
        let output = script(simulated, &format!("export view='{view}'; {text}"));
        assert_eq!(
            lasting(&plain),
            lasting(&output),
            "{view}: {}",
            told(&output)
        );
        assert_eq!(told(&output), "", "{view}");
    }
}

/// Eight threads would set more than this apart for their memory.
#[test]
fn little_address_space_is_enough() {
    for limit in [100_000, 60_000] {
        same_for_every_view(
            "changeable",
            "nvidia-smi $view",
            &format!("ulimit -v {limit}; nvidia-smi $view"),
        );
    }
}

#[test]
fn an_answer_too_large_for_the_memory_is_a_line_and_a_status() {
    let many = crowd("scarce-memory", 64);
    let text =
        "ulimit -v 60000; nvidia-smi --format=csv --query-gpu=$(printf 'name,%.0s' {1..20000})";
    let output = script(&many, text);
    assert_eq!(output.status.code(), Some(255), "{}", told(&output));
    assert_eq!(stdout(&output), "");
    assert_eq!(told(&output), "nvsmi: out of memory\n");
}

/// Threads that cannot start, or memory that is short in one: never a crash.
#[test]
fn threads_without_memory_are_a_line_and_a_status() {
    let mut left_out = 0;
    for limit in (44_000..60_000).step_by(500) {
        let text = format!("ulimit -v {limit}; exec nvidia-smi --timeout 60 -q -x");
        let output = script("h100x8", &text);
        let told = told(&output);
        if told.contains("memory allocation of") {
            left_out += 1;
            continue;
        }
        let failed = output.status.code() == Some(255);
        assert!(failed || output.status.success(), "{limit}: {output:?}");
        assert_eq!(told.lines().count(), usize::from(failed), "{limit}: {told}");
    }
    if left_out > 0 {
        skipped(&format!(
            "{left_out} of 32 limits leave the simulated library no memory"
        ));
    }
}

/// A box of GPUs that are alike.
fn crowd(name: &str, count: usize) -> String {
    let path = scratch(&format!("{name}.toml"));
    let text = simulator::crowd("h100x8", count, "").expect("a box");
    std::fs::write(&path, text).expect("a file of our own");
    path.display().to_string()
}

/// Runs lines as a user of its own, who may have so many processes and threads; the bash that they run
/// in is one.
fn with_threads(user: u32, limit: u32, text: &str) -> String {
    format!(
        "setpriv --reuid {user} --regid {user} --clear-groups bash -c 'ulimit -u {limit}; {text}'"
    )
}

/// A user who has nothing running.
fn user(of: u32) -> u32 {
    200_000 + std::process::id() % 100_000 * 10 + of
}

fn can_be_others() -> bool {
    if !has_program("setpriv") {
        return false;
    }
    let able = script("h200", &with_threads(user(0), 9, "nvidia-smi -h"));
    let able = able.status.success() && !able.stdout.is_empty();
    if !able {
        skipped("nvsmi cannot run as another user here");
    }
    able
}

#[test]
fn without_threads_the_gpus_are_asked_in_turn() {
    if can_be_others() {
        let of = |threads| with_threads(user(1), threads, "nvidia-smi $view");
        same_for_every_view("h100x8", &of(100), &of(1));
    }
}

/// A question with a limit needs a thread; where there are few, they take turns.
#[test]
fn a_limit_needs_one_thread_at_a_time() {
    if !can_be_others() {
        return;
    }
    for threads in [4, 5, 7, 10] {
        for view in ["", "-L", "-q", "topo -m", "dmon -c 1"] {
            let plain = script("h100x8", &format!("nvidia-smi {view}"));
            let line = format!("nvidia-smi --timeout 60 {view}");
            let output = script("h100x8", &with_threads(user(2), threads, &line));
            assert_eq!(lasting(&plain), lasting(&output), "{threads} {view}");
            assert_eq!(told(&output), "", "{threads} {view}");
        }
    }
    // None at all: the limit could not be kept.
    let line = "nvidia-smi --timeout 60 -L";
    let output = script("h100x8", &with_threads(user(3), 1, line));
    assert_eq!(output.status.code(), Some(23));
    let why = "Failed to initialize NVML: Insufficient Resources\n";
    assert_eq!(stdout(&output), why);
}

/// `sh -c` of this and a line: it has nothing below `/proc` and `/sys`.
const BARE: &str = "mount -t tmpfs none /proc && mount -t tmpfs none /sys && exec \"$@\"";

#[test]
fn neither_proc_nor_sys_is_needed() {
    let bare = format!("unshare --map-root-user --mount sh -c '{BARE}' sh");
    if !script("h200", &format!("{bare} true")).status.success() {
        skipped("there are no mount namespaces here");
        return;
    }
    let as_root = "unshare --map-root-user";
    for limit in ["", "--timeout 60"] {
        for view in VIEWS {
            let line = format!("nvidia-smi {limit} {view}");
            let plain = script("changeable", &format!("{as_root} {line}"));
            let output = script("changeable", &format!("{bare} {line}"));
            assert_eq!(lasting(&plain), lasting(&output), "{view}");
            assert_eq!(told(&output), "", "{view}");
        }
    }
    // A reset is the kernel's, who has to be asked about the GPU's users first.
    let output = script("changeable", &format!("{bare} nvidia-smi -r -i 0"));
    assert!(!output.status.success(), "{output:?}");
    assert!(stdout(&output).contains("00000000:19:00.0"), "{output:?}");
}

/// Runs `sh -c` of a line with mounts of its own; says so if that cannot be.
fn with_mounts(line: &str) -> Option<Output> {
    let run = |line: &str| {
        let line = format!("unshare --map-root-user --mount sh -c '{line}'");
        script("h200", &line)
    };
    if !run("mount -t tmpfs none /mnt").status.success() {
        skipped("there are no mount namespaces here");
        return None;
    }
    Some(run(line))
}

#[test]
fn closed_streams_need_no_device() {
    for limit in ["", "--timeout 60"] {
        for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
            let line = format!("mount -t tmpfs none /dev && exec nvidia-smi {limit} -L {closed}");
            let Some(output) = with_mounts(&line) else {
                return;
            };
            assert!(output.status.success(), "{line}: {output:?}");
            let shown = if closed.contains(">&- ") || closed == ">&-" {
                String::new()
            } else {
                stdout(&run("h200", &["-L"]))
            };
            assert_eq!(stdout(&output), shown, "{line}");
            assert_eq!(told(&output), "", "{line}");
        }
    }
}

/// Where the loader finds no library, one in a place that others may write to is left alone.
#[test]
fn a_library_that_others_can_replace_is_not_loaded() {
    const FOLDER: &str = "/home/kubernetes/bin/nvidia/lib64";
    const FILE: &str = "/home/kubernetes/bin/nvidia/lib64/libnvidia-ml.so.1";
    let place = format!(
        "umask 022; mount -t tmpfs -o mode=755 none /home; mkdir -p {FOLDER}; \
         cp ${{LD_LIBRARY_PATH%%:*}}/libnvidia-ml.so.1 {FILE}; unset LD_LIBRARY_PATH"
    );
    let installed = script("h200", "env -u LD_LIBRARY_PATH nvidia-smi -L");
    if installed.status.code() != Some(12) {
        skipped("NVML is installed here");
        return;
    }
    let owner = "chown 65534 /home/kubernetes";
    for (change, loaded) in [
        (":", true),
        ("chmod 775 /home/kubernetes", false),
        ("chmod 757 /home/kubernetes/bin/nvidia", false),
        (&format!("chmod 777 {FOLDER}"), false),
        (&format!("chmod 1777 {FOLDER}"), true),
        (&format!("chmod 646 {FILE}"), false),
        (&format!("chmod 555 {FILE}"), true),
        (
            &format!("mv {FILE} /home/lib; ln -s /home/lib {FILE}"),
            true,
        ),
        (
            &format!("mkdir -m 777 /home/a; mv {FILE} /home/a/l; ln -s ../../../../a/l {FILE}"),
            false,
        ),
        (
            &format!(
                "mkdir -m 777 /home/a; mv {FILE} /home/l; ln -s ../l /home/a/l; ln -s /home/a/l {FILE}"
            ),
            false,
        ),
        (&format!("rm {FILE}; ln -s {FILE} {FILE}"), false),
        (owner, false),
        (&format!("chown 65534 {FILE}"), false),
    ] {
        let line = format!("{place}; {change} || exit 99; exec nvidia-smi -L");
        // Only the real root may give files away.
        let output = if change.contains("chown") {
            script("h200", &format!("unshare --mount sh -c '{line}'"))
        } else {
            match with_mounts(&line) {
                Some(output) => output,
                None => return,
            }
        };
        if change.contains("chown") && [Some(1), Some(99)].contains(&output.status.code()) {
            skipped(&format!("{change} is not allowed here"));
            continue;
        }
        let status = if loaded { 0 } else { 12 };
        assert_eq!(output.status.code(), Some(status), "{change}: {output:?}");
    }
}

/// What is closed is nobody's to read: it is as good as `/dev/null`.
#[test]
fn standard_streams_may_be_closed() {
    closed_streams(Share::Sample);
}

#[test]
#[ignore = "10 seconds"]
fn standard_streams_may_be_closed_in_any_way_for_any_view() {
    closed_streams(Share::Whole);
}

/// A sample has every view with and without a limit, and every stream closed for some views.
fn closed_streams(share: Share) {
    let mut lines = Vec::new();
    for view in VIEWS {
        for closed in [">&-", "<&-", "2>&-", "<&- >&- 2>&-"] {
            for limit in ["", "--timeout 60"] {
                lines.push((view, closed, limit));
            }
        }
    }
    let lines = share.of(lines, |(view, closed, limit)| {
        vec![format!("{view} {limit}"), format!("{closed} {limit}")]
    });
    for (view, closed, limit) in lines {
        let status = script("changeable", &format!("nvidia-smi {view}")).status;
        let line = format!("nvidia-smi {limit} {view} {closed}");
        let output = script("changeable", &line);
        assert_eq!(output.status, status, "{line}");
        assert_eq!(told(&output), "", "{line}");
    }
}

#[test]
fn a_full_disk_is_told_of_by_every_view() {
    let message = "nvsmi: cannot write the answer: No space left on device (os error 28)\n";
    for view in VIEWS {
        let plain = script("changeable", &format!("nvidia-smi {view}"));
        let output = script("changeable", &format!("nvidia-smi {view} > /dev/full"));
        let status = match plain.status.code() {
            Some(0) => Some(255),
            failed => failed,
        };
        assert_eq!(output.status.code(), status, "{view}");
        assert_eq!(told(&output), message, "{view}");
    }
}

/// A reader that takes its time has everything in the end.
#[test]
fn a_slow_reader_has_it_all() {
    for view in ["-q", "-q -x", "--query-supported-clocks=mem,gr", "-L"] {
        let plain = script("h100x8", &format!("nvidia-smi {view}"));
        let slow = "{ sleep 0.3; head -c 70000; sleep 0.3; cat; }";
        let line = format!("set -o pipefail; nvidia-smi {view} | {slow}");
        assert_eq!(lasting(&plain), lasting(&script("h100x8", &line)), "{view}");
    }
}

#[test]
fn sixty_four_gpus_are_all_there() {
    let many = crowd("scarce-gpus", 64);
    for (view, begins, rows) in [
        ("-L", "GPU ", 64),
        ("-q", "GPU 0000", 64),
        ("-q -x", "\t<gpu id=", 64),
        ("--query-gpu=gpu_name --format=csv,noheader", "NVIDIA", 64),
        ("topo -m", "GPU", 64),
        ("topo -p2p r", " GPU", 64),
        ("pci -gErrCnt", "GPU ", 64),
        ("nvlink -s", "GPU ", 64),
        ("dmon -c 1", "   ", 16),
        ("pmon -c 1", "   ", 16),
    ] {
        let args: Vec<&str> = view.split(' ').collect();
        let output = run(&many, &args);
        let shown = stdout(&output);
        assert!(output.status.success(), "{view}: {shown}");
        let found = shown.lines().filter(|line| line.starts_with(begins));
        assert_eq!(found.count(), rows, "{view}: {shown}");
    }
    let table = stdout(&run(&many, &[]));
    assert_eq!(table.matches(" NVIDIA H100 ").count(), 64, "{table}");
    let all = script(&many, "NVSMI_SHOW_ALL_DEVICES=1 nvidia-smi dmon -c 1");
    let rows = stdout(&all);
    assert_eq!(
        rows.lines().filter(|line| !line.starts_with('#')).count(),
        64
    );
}

/// There is no limit to what a clock shows, but one to the years that a calendar knows.
#[test]
fn a_clock_may_be_off_by_millennia() {
    let views: [&[&str]; 4] = [
        &[],
        &["-q"],
        &["--query-gpu=timestamp,index", "--format=csv"],
        &["pmon", "-c", "1", "-o", "DT"],
    ];
    for view in views {
        let plain = hurried("h200", BEGINS).args(view).output();
        let lines = stdout(&plain.expect("nvsmi runs")).lines().count();
        for begins in [-1, -400_000_000_000, 300_000_000_000, i64::MIN, i64::MAX] {
            let output = hurried("h200", begins).args(view).output();
            let output = output.expect("nvsmi runs");
            assert!(output.status.success(), "{begins} {view:?}: {output:?}");
            let shown = stdout(&output).lines().count();
            assert_eq!(shown, lines, "{begins} {view:?}: {output:?}");
        }
    }
}

/// The variables of the environment that mean something to other programs.
#[test]
fn the_environment_changes_nothing() {
    let plain = lasting(&run("h200", &[]));
    for setting in [
        "LANG=de_DE.UTF-8",
        "LC_ALL=tr_TR.UTF-8",
        "LC_ALL=",
        "LANG=$'\\xff'",
        "TZ=",
        "TZ=Nowhere",
        "TZ=../../etc/passwd",
        "TZ=$'\\xff'",
        "TZ='<x>99'",
        "TZ=$(printf 'A%.0s' {1..5000})",
        "TZ=Asia/Tokyo TZDIR=/nowhere",
        "COLUMNS=1",
        "TERM=",
        "-u HOME -u TERM -u LANG -u TZ",
        "HOME=",
        "PATH=",
        "NVSMI_TIMEOUT=",
        "RUST_BACKTRACE=full RUST_LIB_BACKTRACE=1",
    ] {
        let output = script("h200", &format!("env {setting} $(command -v nvidia-smi)"));
        assert_eq!(lasting(&output), plain, "{setting}: {}", told(&output));
        assert_eq!(told(&output), "", "{setting}");
    }
    for name in ["nvidia-smi", "''", "$'\\xff'"] {
        let line = format!("exec -a {name} $(command -v nvidia-smi)");
        assert_eq!(lasting(&script("h200", &line)), plain, "{name}");
        let line = format!("{line} --timeout 60");
        assert_eq!(lasting(&script("h200", &line)), plain, "{name}");
    }
}

/// Lines of a length that nobody types end with a message, or do what they say.
#[test]
fn arguments_may_be_long_many_or_empty() {
    let long = "A".repeat(120_000);
    let digits = "9".repeat(100_000);
    let times = |words: &[&str], count: usize| {
        let words = words.iter().map(|&word| word.to_owned());
        words.cycle().take(count).collect::<Vec<String>>()
    };
    let line = |first: &[&str], rest: Vec<String>| {
        let first = first.iter().map(|&word| word.to_owned());
        first.chain(rest).collect::<Vec<String>>()
    };
    let mut lines = vec![
        (line(&[&long], vec![]), 255),
        (line(&["-i", &long], vec![]), 6),
        (line(&["-pl", &digits], vec![]), 2),
        (line(&["nvlink", "-l", &digits], vec![]), 2),
        (line(&[""], vec![]), 255),
        (line(&["-q", ""], vec![]), 255),
        (line(&["-i", ""], vec![]), 255),
        (line(&[], times(&["x"], 10_000)), 255),
        (line(&[], times(&["-q"], 10_000)), 0),
        (line(&["-i"], vec![times(&["0"], 50_000).join(",")]), 0),
        (line(&["-L"], times(&["--timeout", "60"], 10_000)), 0),
        (line(&["dmon", "-c", "1"], times(&["-i", "0"], 10_000)), 0),
        (
            line(&["-q", "-d"], vec![times(&["POWER"], 20_000).join(",")]),
            0,
        ),
    ];
    for subcommand in ["topo", "nvlink", "pci", "mig", "gpm", "drain", "c2c"] {
        lines.push((line(&[subcommand], times(&[""], 10_000)), 2));
    }
    for (arguments, status) in lines {
        let output = crate::common::nvsmi("h200").args(&arguments).output();
        let output = output.expect("nvsmi runs");
        let begin: String = arguments.concat().chars().take(30).collect();
        assert_eq!(output.status.code(), Some(status), "{begin}");
        assert_eq!(told(&output), "", "{begin}");
    }
}
