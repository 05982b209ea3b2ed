//! One bad GPU of eight: the rows of the seven others are those of the healthy box, the bad one has its
//! row or its line with its state, and the exit status tells of it.
//!
//! The status is that of the GPU's code, but where nvidia-smi prints the same and ends with 0: after rows
//! that tell of what failed, as long as NVML still knows which GPU they are of.

use crate::common::trials::{Share, all};
use crate::common::{nvsmi, run, skipped, stdout};
use std::process::Output;

/// The GPU that is bad.
const BAD: &str = "3";

/// What a handle leaves known of a GPU that is lost later.
const KEPT: &str = "['nvmlDeviceGetHandle*', 'nvmlDeviceGetIndex', 'nvmlDeviceGetUUID', \
    'nvmlDeviceGetPciInfo*', 'nvmlDeviceGetFieldValues', 'nvmlInternalGetExportTable.81']";

/// When a GPU is bad.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// It has no handle.
    NoHandle,
    /// It has one, and answers nothing that it is asked.
    Midway,
    /// It answers the first question of each kind.
    Later,
}

/// A fault, the words for it, and the status for it: nvidia-smi has none of its own for a reset.
const FAULTS: &[(When, &str, &str, i32)] = &[
    (When::NoHandle, "GPU_IS_LOST", "GPU is lost", 15),
    (When::NoHandle, "RESET_REQUIRED", "GPU requires reset", 255),
    (When::NoHandle, "NO_PERMISSION", "Insufficient Permis", 4),
    (When::NoHandle, "UNKNOWN", "Unknown Error", 255),
    (When::Midway, "GPU_IS_LOST", "GPU is lost", 15),
    (When::Midway, "RESET_REQUIRED", "GPU requires reset", 255),
    (When::Midway, "NO_PERMISSION", "Insufficient Permis", 4),
    (When::Later, "GPU_IS_LOST", "GPU is lost", 15),
];

/// How a view shows a bad GPU.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// In its rows, by words.
    Rows,
    /// So too, and by the status where NVML answers for no counter.
    Counters,
    /// In its rows, by dashes.
    Dashes,
    /// By a line, with the status of the fault whenever it comes.
    Line,
}

/// A view, how it shows a bad GPU, and where the rows of a GPU are.
struct View {
    args: &'static [&'static str],
    told: Told,
    rows: Rows,
}

/// How the rows of a GPU are found.
#[derive(Clone, Copy)]
enum Rows {
    /// Lines that have a GPU's UUID, or its index as their first word.
    OwnLines,
    /// Blocks of lines, each begun by a line of a GPU, which begins so.
    Blocks(&'static str),
    /// A line that tells of all.
    OneForAll,
}

#[rustfmt::skip]
const VIEWS: &[View] = &[
    View { args: &[], told: Told::Rows, rows: Rows::OwnLines },
    View { args: &["-L"], told: Told::Line, rows: Rows::OwnLines },
    View { args: &["--query-gpu=index,uuid,name,power.draw,memory.used", "--format=csv"], told: Told::Rows, rows: Rows::OwnLines },
    View { args: &["--query-compute-apps=gpu_uuid,pid,name", "--format=csv"], told: Told::Rows, rows: Rows::OwnLines },
    View { args: &["--query-accounted-apps=gpu_uuid,pid", "--format=csv"], told: Told::Rows, rows: Rows::OwnLines },
    View { args: &["--query-supported-clocks=gpu_uuid,mem,gr", "--format=csv"], told: Told::Rows, rows: Rows::OwnLines },
    View { args: &["--query-retired-pages=gpu_uuid,retired_pages.address", "--format=csv"], told: Told::Rows, rows: Rows::OwnLines },
    View { args: &["--query-remapped-rows=gpu_uuid,remapped_rows.correctable", "--format=csv"], told: Told::Rows, rows: Rows::OwnLines },
    View { args: &["-q"], told: Told::Rows, rows: Rows::Blocks("GPU ") },
    View { args: &["-q", "-d", "POWER"], told: Told::Rows, rows: Rows::Blocks("GPU ") },
    View { args: &["-q", "-x"], told: Told::Rows, rows: Rows::Blocks("\t<gpu id=") },
    View { args: &["dmon", "-c", "1"], told: Told::Dashes, rows: Rows::OwnLines },
    View { args: &["pmon", "-c", "1"], told: Told::Line, rows: Rows::OwnLines },
    View { args: &["nvlink", "-s"], told: Told::Line, rows: Rows::Blocks("GPU ") },
    View { args: &["nvlink", "-c"], told: Told::Line, rows: Rows::Blocks("GPU ") },
    View { args: &["nvlink", "-e"], told: Told::Line, rows: Rows::Blocks("GPU ") },
    View { args: &["pci", "-gErrCnt"], told: Told::Counters, rows: Rows::Blocks("GPU ") },
    View { args: &["mig", "-lgip"], told: Told::Line, rows: Rows::OwnLines },
    View { args: &["mig", "-lgi"], told: Told::Line, rows: Rows::OneForAll },
    View { args: &["mig", "-lci"], told: Told::Line, rows: Rows::OneForAll },
    View { args: &["gpm", "-g"], told: Told::Line, rows: Rows::OneForAll },
];

fn faulty(view: &View, when: When, code: &str) -> Output {
    faulty_on("h100x8", view, when, code)
}

fn faulty_on(simulated: &str, view: &View, when: When, code: &str) -> Output {
    let calls = match when {
        When::NoHandle => "function = 'nvmlDeviceGetHandle*'".to_owned(),
        When::Midway => format!("function = 'nvml*', except = {KEPT}"),
        When::Later => "function = 'nvml*', except = 'nvmlDeviceGetHandle*', from = 2".to_owned(),
    };
    nvsmi(simulated)
        .env(
            "NVSMI_SIMULATOR_FAULT",
            format!("{calls}, gpu = {BAD}, code = '{code}'"),
        )
        .args(view.args)
        .output()
        .expect("nvsmi runs")
}

/// The lines of a view about the GPUs that are well, in their order.
fn others(rows: Rows, text: &str) -> Vec<String> {
    let timeless = text
        .lines()
        .filter(|line| !line.to_lowercase().contains("timestamp") && !line.contains(" 2026 "));
    match rows {
        Rows::OneForAll => timeless.take(1).map(str::to_owned).collect(),
        Rows::Blocks(begin) => {
            let mut blocks: Vec<String> = Vec::new();
            for line in timeless {
                if line.starts_with(begin) {
                    blocks.push(String::new());
                }
                if line.starts_with("Unable") || line.starts_with("</nvidia_smi_log>") {
                    break;
                }
                if let Some(block) = blocks.last_mut() {
                    *block += line;
                    block.push('\n');
                }
            }
            blocks.retain(|block| !is_bad(block.lines().next().unwrap_or_default()));
            blocks
        }
        Rows::OwnLines => timeless
            .filter(|line| is_of_other(line))
            .map(str::to_owned)
            .collect(),
    }
}

/// Whether a line begins what is said of the bad GPU.
fn is_bad(line: &str) -> bool {
    line.contains(&format!("GPU-0000000{BAD}"))
        || line.starts_with(&format!("GPU {BAD}"))
        || line.contains("id=\"3\"")
        || line.contains("00000000:5D:00.0")
}

fn is_of_other(line: &str) -> bool {
    if line.contains("GPU-0000000") {
        return !is_bad(line);
    }
    let first = line.trim_start_matches(['|', ' ']);
    let digits = first.chars().take_while(char::is_ascii_digit).count();
    // What stands further on is the second line of a row.
    line.len() - first.len() <= 5 && (1..=2).contains(&digits) && &first[..digits] != BAD
}

#[test]
fn one_bad_gpu_does_not_hide_the_others() {
    for view in VIEWS {
        let healthy = run("h100x8", view.args);
        assert!(healthy.status.success(), "{:?}", view.args);
        let healthy = stdout(&healthy);
        let well = others(view.rows, &healthy);
        assert!(
            !well.is_empty() || view.args[0].contains("accounted"),
            "{:?}",
            view.args
        );
        for &(when, code, words, status) in FAULTS {
            let output = faulty(view, when, code);
            let shown = stdout(&output);
            let what = format!("{:?} {code} {}\n{shown}", view.args, when as u8);
            assert_eq!(others(view.rows, &shown), well, "{what}");
            assert!(output.stderr.is_empty(), "{what}");
            if when == When::Later && !shown.contains(words) {
                continue; // It asks nothing twice.
            }
            // nvidia-smi ends with 0 after a row that tells of its failure.
            let expected = match (when, view.told) {
                (When::NoHandle, _) | (_, Told::Line) => status,
                // Until then NVML answers, and says of each counter that it failed.
                (When::Later, Told::Counters) => status,
                _ => 0,
            };
            assert_eq!(output.status.code(), Some(expected), "{what}");
            match view.told {
                Told::Dashes => {
                    let row = shown.lines().find(|line| line.starts_with("    3 "));
                    let row = row.expect("its row");
                    let known = |word: &str| word != "-" && word != BAD;
                    assert!(!row.split_whitespace().any(known), "{what}");
                }
                _ if code == "RESET_REQUIRED" && when == When::NoHandle => {
                    assert!(
                        shown.contains(words) || shown.contains("A GPU reset must occur"),
                        "{what}"
                    );
                }
                _ => assert!(shown.contains(words), "{what}"),
            }
        }
    }
}

/// The views of pairs leave out a GPU without a handle, and tell of it.
#[test]
fn the_matrix_of_the_others_is_that_of_a_box_without_the_bad_one() {
    for view in [&["topo", "-m"][..], &["topo", "-p2p", "r"]] {
        let healthy = stdout(&run("h100x8", view));
        for &(when, code, _, status) in FAULTS {
            if when != When::NoHandle {
                continue;
            }
            let view = View {
                args: view,
                told: Told::Line,
                rows: Rows::OneForAll,
            };
            let output = faulty(&view, when, code);
            let shown = stdout(&output);
            assert_eq!(output.status.code(), Some(status), "{shown}");
            assert!(
                shown.contains("Unable to determine the device handle for GPU3: "),
                "{shown}"
            );
            for gpu in (0..8).filter(|gpu| *gpu != 3) {
                let row = |text: &str| {
                    let found = text.lines().find(|line| {
                        line.trim_start().starts_with(&format!("GPU{gpu}"))
                            && !line.contains("GPU5\tGPU6")
                    });
                    let cells = found.expect("a row").split('\t').map(str::to_owned);
                    cells.collect::<Vec<_>>()
                };
                let mut whole = row(&healthy);
                whole.remove(1 + 3);
                assert_eq!(row(&shown), whole, "{shown}");
            }
        }
    }
}

/// Where no GPU has what is asked for, the one that could not say is told of.
#[test]
fn a_view_that_no_gpu_has_tells_of_the_bad_one() {
    let faults = || FAULTS.iter().filter(|fault| fault.0 != When::Later);
    let views: [(&str, &[&str]); 4] = [
        ("h100x8", &["c2c", "-s"]),
        ("l40s-x4", &["mig", "-lgip"]),
        ("l40s-x4", &["mig", "-lgi"]),
        ("l40s-x4", &["nvlink", "-s"]),
    ];
    for ((simulated, args), &(when, code, words, status)) in views
        .iter()
        .flat_map(|view| faults().map(move |fault| (view, fault)))
    {
        let view = View {
            args,
            told: Told::Line,
            rows: Rows::OneForAll,
        };
        let output = faulty_on(simulated, &view, when, code);
        let shown = stdout(&output);
        let what = format!("{args:?} {code} {}\n{shown}", when as u8);
        assert_eq!(output.status.code(), Some(status), "{what}");
        assert!(shown.starts_with("Unable to determine the "), "{what}");
        assert!(
            shown.contains(words) || shown.contains("A GPU reset must occur"),
            "{what}"
        );
    }
}

/// A GPU whose place on the bus cannot be read has its part of the report, with what else it says, and
/// the status tells of it, as nvidia-smi's does. A GPU without such a place is none the worse.
#[test]
fn a_report_without_a_heading_is_no_success() {
    for args in [&["-q"][..], &["-q", "-d", "ECC"], &["-q", "-x"]] {
        let parts = |text: &str| {
            let begins = |line: &&str| line.starts_with("GPU ") || line.starts_with("\t<gpu id=");
            text.lines().filter(begins).count()
        };
        let codes = FAULTS.iter().filter(|fault| fault.0 == When::NoHandle);
        let codes = codes.map(|&(_, code, _, status)| (code, status));
        for (code, status) in codes.chain([("NOT_SUPPORTED", 0)]) {
            let fault = format!("function = 'nvmlDeviceGetPciInfo', gpu = {BAD}, code = '{code}'");
            let output = nvsmi("h100x8")
                .env("NVSMI_SIMULATOR_FAULT", fault)
                .args(args)
                .output()
                .expect("nvsmi runs");
            assert_eq!(output.status.code(), Some(status), "{args:?} {code}");
            assert_eq!(parts(&stdout(&output)), 8, "{args:?} {code}");
        }
    }
}

/// Every code that NVML has, by its name, and the status for it.
#[rustfmt::skip]
const CODES: [(&str, i32); 31] = [
    ("UNINITIALIZED", 255), ("INVALID_ARGUMENT", 2), ("NOT_SUPPORTED", 3), ("NO_PERMISSION", 4),
    ("ALREADY_INITIALIZED", 255), ("NOT_FOUND", 6), ("INSUFFICIENT_SIZE", 255), ("INSUFFICIENT_POWER", 8),
    ("DRIVER_NOT_LOADED", 9), ("TIMEOUT", 255), ("IRQ_ISSUE", 11), ("LIBRARY_NOT_FOUND", 12),
    ("FUNCTION_NOT_FOUND", 13), ("CORRUPTED_INFOROM", 14), ("GPU_IS_LOST", 15), ("RESET_REQUIRED", 255),
    ("OPERATING_SYSTEM", 17), ("LIB_RM_VERSION_MISMATCH", 18), ("IN_USE", 19), ("MEMORY", 255),
    ("NO_DATA", 255), ("VGPU_ECC_NOT_SUPPORTED", 255), ("INSUFFICIENT_RESOURCES", 23),
    ("FREQ_NOT_SUPPORTED", 255), ("ARGUMENT_VERSION_MISMATCH", 255), ("DEPRECATED", 255),
    ("NOT_READY", 255), ("GPU_NOT_FOUND", 255), ("INVALID_STATE", 255), ("RESET_TYPE_NOT_SUPPORTED", 255),
    ("UNKNOWN", 255),
];

/// A GPU with a handle of which NVML knows nothing else, whatever it says for it. nvidia-smi's statuses
/// but for the table (255), which has no index then, `pci` and `nvlink`, which end with that GPU, and
/// `pmon`, which says that no device is supported.
#[test]
fn a_gpu_that_answers_nothing_is_no_success() {
    gpus_that_answer_nothing(Share::Sample);
}

#[test]
#[ignore = "10 seconds"]
fn a_gpu_that_answers_nothing_but_any_code_is_no_success() {
    gpus_that_answer_nothing(Share::Whole);
}

fn gpus_that_answer_nothing(share: Share) {
    let all_calls = "function = 'nvml*', except = 'nvmlDeviceGetHandle*'";
    let name = "function = 'nvmlDeviceGetName'";
    let place = "function = 'nvmlDeviceGetPciInfo*'";
    let query = "--query-gpu=index,name,power.draw --format=csv";
    let mut trials = Vec::new();
    for (code, status) in CODES {
        // What a GPU does not have is no failure of it.
        let failed = if code == "NOT_SUPPORTED" { 0 } else { status };
        for (line, function, status) in [
            ("", all_calls, status),
            ("-L", all_calls, status),
            ("-q", all_calls, failed),
            ("-q -x", all_calls, failed),
            ("-q -d POWER", all_calls, failed),
            ("pci -gErrCnt", all_calls, status),
            ("topo -m", all_calls, 255),
            ("topo -p2p r", all_calls, 255),
            (query, all_calls, 0),
            ("dmon -c 1", all_calls, 0),
            ("nvlink -s", name, status),
            ("conf-compute -gm", name, status),
            ("", name, 0),
            ("", place, 0),
        ] {
            trials.push((code, line, function, status));
        }
    }
    let trials = share.of(trials, |(code, line, function, _)| {
        let supported = *code != "NOT_SUPPORTED";
        vec![(*code).to_owned(), format!("{line} {function} {supported}")]
    });
    let wrong = all(&trials, |(code, line, function, status)| {
        let fault = format!("{function}, gpu = {BAD}, code = '{code}'");
        let output = nvsmi("h100x8")
            .env("NVSMI_SIMULATOR_FAULT", fault)
            .args(line.split_whitespace())
            .output()
            .expect("nvsmi runs");
        let ended = output.status.code();
        let told = (ended != Some(*status))
            .then(|| format!("{line} {function} {code}: {ended:?}\n{}", stdout(&output)));
        told.into_iter().collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where the kernel knows which GPU is meant, it is named by its address, as nvidia-smi names it.
#[test]
fn a_gpu_without_a_handle_has_the_address_that_is_left() {
    if !simulator::can_replace_sysfs() {
        skipped("/sys cannot be replaced here");
        return;
    }
    const LOST: &str = "GPU is lost.  Reboot the system to recover this GPU\n\n";
    let lost = |name: &str, of: &str, gpus: &[u32], more: &str| {
        let path = crate::common::scratch(&format!("address-{name}.toml"));
        let mut text = format!("about = \"{name}\"\ninherits = \"{of}\"\n{more}");
        for gpu in gpus {
            text += &format!(
                "[[fault]]\nfunction = \"nvmlDeviceGetHandle*\"\ngpu = {gpu}\ncode = \"GPU_IS_LOST\"\n"
            );
        }
        std::fs::write(&path, text).expect("a file of our own");
        path.display().to_string()
    };
    let one = lost("one", "h100x8-nics", &[3], "");
    for (args, told) in [
        (
            &["-L"][..],
            format!("Unable to determine the device handle for gpu 0000:5D:00.0: {LOST}"),
        ),
        (
            &["nvlink", "-s"],
            format!("Unable to determine the device handle for GPU0000:5D:00.0: {LOST}"),
        ),
        (
            &["-pm", "0"],
            format!("Unable to determine the device handle for GPU0000:5D:00.0: {LOST}"),
        ),
        (
            &["-i", "nothing"],
            format!("Problem with GPU 0000:5D:00.0: {LOST}"),
        ),
        (
            &[],
            "|   3  ERR!                          ERR! |   00000000:5D:00.0ERR! |".to_owned(),
        ),
        (
            &["--query-gpu=index,gpu_bus_id,name", "--format=csv"],
            "\n3, 00000000:5D:00.0, [GPU is lost]\n".to_owned(),
        ),
        (&["-q"], "\nGPU 00000000:5D:00.0\n".to_owned()),
        (
            &["-q", "-x"],
            "\n\t<gpu id=\"00000000:5D:00.0\">\n".to_owned(),
        ),
        (
            &["-i", "0:5d:0", "--query-gpu=index", "--format=csv,noheader"],
            "3\n".to_owned(),
        ),
    ] {
        let output = run(&one, args);
        let shown = stdout(&output);
        assert!(shown.contains(&told), "{args:?}\n{shown}");
        let status = if args.contains(&"nothing") { 255 } else { 15 };
        assert_eq!(output.status.code(), Some(status), "{args:?}");
    }
    // Two are lost; or the kernel tells of another machine, or of a GPU that NVML does not count.
    let other_machine = "[gpu.0]\npci.bus_id = \"00000000:77:00.0\"\n";
    let one_more = "[[sysfs.device]]\npath = \"pci0000:e0/0000:e1:00.0\"\nnode = 1\n";
    for simulated in [
        lost("two", "h100x8-nics", &[3, 5], ""),
        lost("other", "h100x8-nics", &[3], other_machine),
        lost("more", "resettable", &[2], one_more),
    ] {
        let shown = stdout(&run(&simulated, &["-L"]));
        let index = if simulated.contains("more") { 2 } else { 3 };
        let told = format!("Unable to determine the device handle for gpu {index}: {LOST}");
        assert!(shown.contains(&told), "{shown}");
    }
}

/// A GPU that tells neither its name nor its address has its index.
#[test]
fn no_gpu_is_without_a_name_in_a_list() {
    let fault = format!(
        "function = ['nvmlDeviceGetName', 'nvmlDeviceGetPciInfo'], gpu = {BAD}, code = 'TIMEOUT'"
    );
    let output = nvsmi("h100x8")
        .env("NVSMI_SIMULATOR_FAULT", fault)
        .arg("-L")
        .output()
        .expect("nvsmi runs");
    let told = "\nUnable to determine the product name for gpu 3: Timeout\n";
    assert!(stdout(&output).contains(told), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(255));
}

/// Each of several bad GPUs is told of, and the status is the first one's.
#[test]
fn no_bad_gpu_hides_another() {
    let fault = "function = ['nvmlDeviceGetHandle*', 'nvmlDeviceGetFieldValues'], \
        codes = [0, 15, 0, 16, 0, 0, 0, 0]";
    for (args, names) in [
        (&["nvlink", "-s"][..], ["GPU1: ", "GPU3: "]),
        (&["pci", "-gErrCnt"], ["GPU1: ", "GPU3: "]),
        (&["topo", "-m"], ["GPU1: ", "GPU3: "]),
        (&["c2c", "-s"], ["GPU1: ", "GPU3: "]),
        (&["mig", "-lgip"], ["GPU1: ", "GPU3: "]),
        (&["gpm", "-g"], ["GPU1: ", "GPU3: "]),
        (&["gpm", "-s", "1"], ["GPU1: ", "GPU3: "]),
        (&["conf-compute", "-gm"], ["GPU1: ", "GPU3: "]),
        (&["-L"], ["gpu 1: ", "gpu 3: "]),
    ] {
        let output = nvsmi("h100x8")
            .env("NVSMI_SIMULATOR_FAULT", fault)
            .args(args)
            .output()
            .expect("nvsmi runs");
        let shown = stdout(&output);
        assert_eq!(output.status.code(), Some(15), "{args:?}\n{shown}");
        for name in names {
            let told = format!("Unable to determine the device handle for {name}");
            assert_eq!(shown.matches(&told).count(), 1, "{args:?}\n{shown}");
        }
    }
    // One does not tell of its links or its mode, another has no handle.
    for (args, links) in [
        (&["nvlink", "-s"][..], "NVLinks"),
        (&["c2c", "-s"], "C2C links"),
        (&["mig", "-lgip"], "MIG mode"),
        (&["mig", "-lgi"], "MIG mode"),
    ] {
        let later = "function = ['nvmlDeviceGetFieldValues', 'nvmlDeviceGetMigMode'], \
            codes = [0, 15, 0, 0, 0, 0, 0, 0]";
        let output = nvsmi(&lost_third())
            .env("NVSMI_SIMULATOR_FAULT", later)
            .args(args)
            .output()
            .expect("nvsmi runs");
        let shown = stdout(&output);
        assert_eq!(output.status.code(), Some(15), "{args:?}\n{shown}");
        for told in [
            format!("Unable to determine the {links} of GPU 1: GPU is lost\n"),
            "Unable to determine the device handle for GPU3: A GPU reset must occur".to_owned(),
        ] {
            assert_eq!(shown.matches(&told).count(), 1, "{args:?}\n{shown}");
        }
    }
}

/// A box whose fourth GPU needs a reset and has no handle.
fn lost_third() -> String {
    let path = crate::common::scratch("reset-required.toml");
    let text = "about = \"a GPU that needs a reset\"\ninherits = \"h100x8\"\n[[fault]]\nfunction = \"nvmlDeviceGetHandle*\"\ngpu = 3\ncode = \"RESET_REQUIRED\"\n";
    std::fs::write(&path, text).expect("a file of our own");
    path.display().to_string()
}
