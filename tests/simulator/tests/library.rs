//! The library as a program meets it: found by the loader, asked through its C functions.
//!
//! Each test runs this very executable again, on a box, as the `client` below.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    env,
    ffi::{CStr, c_char, c_uint},
    fs,
    path::{Path, PathBuf},
    process::Output,
    ptr,
};

use nvml_wrapper_sys::bindings::{NvmlLib, nvmlMemory_t};

/// What the client is to do: words, each of which it answers with a line.
const STEPS: &str = "SIMULATOR_TEST_STEPS";

#[test]
#[ignore = "the other tests run it, on a box"]
fn client() {
    let Ok(steps) = env::var(STEPS) else { return };
    println!(); // ends the line that the test harness began
    // SAFETY: the simulated library has the functions of NVML.
    let Ok(nvml) = (unsafe { NvmlLib::new("libnvidia-ml.so.1") }) else {
        println!("no library");
        return;
    };
    let mut text = [0 as c_char; 96];
    let mut number: c_uint = 0;
    let mut device = ptr::null_mut();
    for step in steps.split(' ') {
        // SAFETY: buffers as long as is said, a handle of this library, and plain data that may be zero.
        let code = unsafe {
            match step {
                "init" => nvml.nvmlInit_v2(),
                "shutdown" => nvml.nvmlShutdown(),
                "handle" => nvml.nvmlDeviceGetHandleByIndex_v2(0, &raw mut device),
                "name" => nvml.nvmlDeviceGetName(device, text.as_mut_ptr(), 96),
                "uuid" => nvml.nvmlDeviceGetUUID(device, text.as_mut_ptr(), 96),
                "power" => nvml.nvmlDeviceGetPowerUsage(device, &raw mut number),
                "fan" => nvml.nvmlDeviceGetFanSpeed(device, &raw mut number),
                "limit" => nvml.nvmlDeviceGetEnforcedPowerLimit(device, &raw mut number),
                "memory" => {
                    let mut memory = std::mem::zeroed::<nvmlMemory_t>();
                    let code = nvml.nvmlDeviceGetMemoryInfo(device, &raw mut memory);
                    number = (memory.total >> 20) as c_uint;
                    code
                }
                "persistence" => nvml.nvmlDeviceGetPersistenceMode(device, &raw mut number),
                "persistence-off" => nvml.nvmlDeviceSetPersistenceMode(device, 0),
                "mode" => {
                    nvml.nvmlDeviceGetGpuOperationMode(device, &raw mut number, ptr::null_mut())
                }
                "next-mode" => {
                    nvml.nvmlDeviceGetGpuOperationMode(device, ptr::null_mut(), &raw mut number)
                }
                "no-mode" => {
                    nvml.nvmlDeviceGetGpuOperationMode(device, ptr::null_mut(), ptr::null_mut())
                }
                "module" if nvml.nvmlDeviceGetModuleId.is_err() => 13,
                "module" => nvml.nvmlDeviceGetModuleId(device, &raw mut number),
                _ => panic!("no step {step}"),
            }
        };
        // SAFETY: the library ends its strings within the buffer.
        let said = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy();
        println!("{step} {code} {number} {said}");
    }
}

/// A folder for one test, empty.
fn folder(test: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("simulator-{test}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A box file that starts from the idle H200.
fn variant(folder: &Path, rows: &str) -> String {
    let path = folder.join("variant.toml");
    fs::write(&path, format!("inherits = 'h200'\n{rows}\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The lines that the client answers on a box.
fn client_on(name: &str, steps: &str, environment: &[(&str, &Path)]) -> Vec<String> {
    let mut command = simulator::command(name, &env::current_exe().unwrap()).unwrap();
    command
        .args([
            "--exact",
            "client",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(STEPS, steps);
    command.envs(environment.iter().copied());
    let Output { stdout, status, .. } = command.output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stdout));
    let lines = String::from_utf8(stdout).unwrap();
    // The test harness writes around the answers.
    let of_client = |line: &&str| {
        line.split(' ')
            .next()
            .is_some_and(|word| steps.split(' ').any(|s| s == word))
    };
    lines
        .lines()
        .filter(|line| of_client(line) || *line == "no library")
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_key_comes_from_the_first_layer_that_has_it() {
    let answers = client_on("h200-busy", "init handle name uuid power fan", &[]);
    assert_eq!(answers[2], "name 0 0 NVIDIA H200", "the board's");
    assert_eq!(
        answers[3], "uuid 0 0 GPU-00000003-0000-0000-0000-000000000003",
        "the parent box's"
    );
    assert!(
        answers[4].starts_with("power 0 692210 "),
        "its own: {}",
        answers[4]
    );
    assert!(answers[5].starts_with("fan 3 "), "nobody's: {}", answers[5]);
}

#[test]
fn a_call_before_initialisation_is_refused() {
    let answers = client_on("h200", "handle init handle shutdown handle", &[]);
    let codes: Vec<&str> = answers
        .iter()
        .map(|line| line.split(' ').nth(1).unwrap())
        .collect();
    assert_eq!(codes, ["1", "0", "0", "0", "1"]);
}

#[test]
fn a_fault_starts_at_the_call_that_it_names() {
    let folder = folder("fault");
    let name = variant(
        &folder,
        "[[fault]]\nfunction = 'nvmlDeviceGetPowerUsage'\nfrom = 3\ncode = 'GPU_IS_LOST'",
    );
    let answers = client_on(&name, "init handle power power power power", &[]);
    let codes: Vec<&str> = answers[2..]
        .iter()
        .map(|line| line.split(' ').nth(1).unwrap())
        .collect();
    assert_eq!(codes, ["0", "0", "15", "15"]);
}

#[test]
fn any_function_fails_with_any_code_on_one_gpu_or_all() {
    let folder = folder("kinds");
    let trouble = [
        ("Init", "DRIVER_NOT_LOADED", 9),
        ("Init", "LIB_RM_VERSION_MISMATCH", 18),
        ("DeviceGetHandleByIndex", "GPU_IS_LOST", 15),
        ("DeviceGetName", "RESET_REQUIRED", 16),
        ("DeviceGetUUID", "NO_PERMISSION", 4),
        ("DeviceGetMemoryInfo", "TIMEOUT", 10),
        ("DeviceGet*", "CORRUPTED_INFOROM", 14),
        ("*", "UNKNOWN", 999),
        ("DeviceGetPowerUsage", "1234", 1234),
    ];
    for (function, code, number) in trouble {
        for (gpu, hit) in [("", true), ("gpu = 0", true), ("gpu = 1", false)] {
            // A call that is about no GPU is not about the one that is named.
            if function == "Init" && gpu == "gpu = 0" {
                continue;
            }
            let name = variant(
                &folder,
                &format!("[[fault]]\nfunction = 'nvml{function}'\ncode = '{code}'\n{gpu}"),
            );
            let answers = client_on(&name, "init handle name uuid power memory", &[]);
            let failed = answers
                .iter()
                .any(|line| line.split(' ').nth(1) == Some(&number.to_string()));
            assert_eq!(failed, hit, "{function} {code} {gpu}: {answers:?}");
        }
    }
}

#[test]
fn an_error_in_the_place_of_a_value_is_answered() {
    let folder = folder("value");
    let name = variant(&folder, "[gpu.0]\npower = 'error:TIMEOUT'");
    let answers = client_on(&name, "init handle power", &[]);
    assert!(answers[2].starts_with("power 10 "), "{}", answers[2]);
}

#[test]
fn a_missing_symbol_cannot_be_looked_up() {
    let folder = folder("missing");
    let name = variant(&folder, "missing = ['nvmlDeviceGetModuleId']");
    let answers = client_on(&name, "init handle module name", &[]);
    assert!(answers[2].starts_with("module 13 "), "{}", answers[2]);
    assert!(answers[3].starts_with("name 0 "), "{}", answers[3]);
    assert!(client_on("h200", "init handle module", &[])[2].starts_with("module 0 5 "));
}

/// `nvml-names.txt`: the functions that nvml.h of CUDA 13.5 declares, the newest public one.
#[test]
fn every_function_of_the_newest_header_is_exported() {
    let path = simulator::launcher::prepare("h200")
        .unwrap()
        .join("libnvidia-ml.so.1");
    // SAFETY: loading the simulated library runs nothing.
    let library = unsafe { libloading::Library::new(path) }.unwrap();
    let names: Vec<&str> = include_str!("nvml-names.txt").lines().collect();
    assert!(names.len() > 400);
    let is_there = |name: &str| {
        // SAFETY: the symbol is looked for, not used.
        unsafe { library.get::<*const ()>(name.as_bytes()) }.is_ok()
    };
    let missing: Vec<_> = names.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(!is_there("nvmlDeviceGetNoSuchThing"));
}

#[test]
fn one_of_two_modes_may_be_asked_for_alone() {
    let answers = client_on("rich", "init handle mode next-mode no-mode", &[]);
    assert!(answers[2].starts_with("mode 0 1 "), "{}", answers[2]);
    assert!(answers[3].starts_with("next-mode 0 2 "), "{}", answers[3]);
    assert!(answers[4].starts_with("no-mode 2 "), "{}", answers[4]);
}

#[test]
fn a_box_without_a_library_has_none_to_load() {
    assert_eq!(client_on("no-library", "init", &[]), ["no library"]);
}

#[test]
fn the_state_file_carries_a_change_to_the_next_process() {
    let state = folder("state").join("state.toml");
    let environment = [("NVSMI_SIMULATOR_STATE", state.as_path())];
    client_on("h200", "init handle persistence-off", &environment);
    let answers = client_on("h200", "init handle persistence", &environment);
    assert!(answers[2].starts_with("persistence 0 0 "), "{}", answers[2]);
    let answers = client_on("h200", "init handle persistence", &[]);
    assert!(answers[2].starts_with("persistence 0 1 "), "{}", answers[2]);
}

#[test]
fn every_call_is_logged_with_its_gpu_and_code() {
    let log = folder("log").join("calls");
    client_on(
        "h200",
        "init handle fan",
        &[("NVSMI_SIMULATOR_CALLS", log.as_path())],
    );
    let calls = fs::read_to_string(log).unwrap();
    assert_eq!(
        calls,
        "nvmlInit_v2 - 0\nnvmlDeviceGetHandleByIndex_v2 0 0\nnvmlDeviceGetFanSpeed 0 3\n"
    );
}

#[test]
fn boxes_lack_what_their_gpus_lack() {
    for (name, answers) in [
        (
            "gb10",
            ["name 0 NVIDIA GB10", "memory 3", "limit 3", "fan 3"],
        ),
        (
            "laptop",
            [
                "name 0 NVIDIA GeForce RTX 4070 Laptop GPU",
                "memory 0",
                "limit 3",
                "fan 3",
            ],
        ),
        (
            "r610",
            ["name 0 NVIDIA H200", "memory 0", "limit 32", "fan 3"],
        ),
        (
            "desktop",
            [
                "name 0 NVIDIA GeForce RTX 2080 SUPER",
                "memory 0",
                "limit 0",
                "fan 0",
            ],
        ),
    ] {
        let given = client_on(name, "init handle name memory limit fan", &[]);
        let step_and_code = |line: &String| {
            let words: Vec<_> = line.splitn(4, ' ').collect();
            let text = if words[0] == "name" {
                format!(" {}", words[3])
            } else {
                String::new()
            };
            format!("{} {}{text}", words[0], words[1])
        };
        assert_eq!(
            given[2..].iter().map(step_and_code).collect::<Vec<_>>(),
            answers,
            "{name}"
        );
    }
}
