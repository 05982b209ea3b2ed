//! The one gate that every NVML call passes: initialisation, latency, faults, the call log.

use std::{
    env,
    ffi::c_void,
    fs::{File, OpenOptions},
    io::Write,
    process,
    sync::OnceLock,
    thread,
    time::Duration,
};

use nvml_wrapper_sys::bindings::nvmlReturn_t;
use toml::{Table, Value};

use crate::{
    answer::{Answer, INVALID_ARGUMENT, SUCCESS, UNINITIALIZED, code},
    data::{self, FromData},
    handle::Device,
    keys,
    machine::{Gpu, Machine},
};

/// A file that gets one line per call: function, GPU index or `-`, return code.
pub const CALLS_VARIABLE: &str = "NVSMI_SIMULATOR_CALLS";
/// A file that gets one line per call of an unnamed function: its place and its arguments.
pub const TABLE_VARIABLE: &str = "NVSMI_SIMULATOR_TABLE";

/// One more `[[fault]]` for one process: its keys with commas between them. Or several: `[{ … }, { … }]`.
pub const FAULT_VARIABLE: &str = "NVSMI_SIMULATOR_FAULT";

/// Passes a call that needs no initialised library.
pub fn early_call(function: &str, body: impl FnOnce(&'static Machine) -> Answer) -> nvmlReturn_t {
    pass(function, None, body)
}

/// Passes a call about the whole machine.
pub fn system_call(function: &str, body: impl FnOnce(&'static Machine) -> Answer) -> nvmlReturn_t {
    pass(function, None, |machine| {
        initialised(machine).and_then(|()| body(machine))
    })
}

/// Passes a call about one device. A pointer that is no handle of the box is INVALID_ARGUMENT.
pub fn device_call<T>(
    function: &str,
    handle: *mut T,
    body: impl FnOnce(Gpu) -> Answer,
) -> nvmlReturn_t {
    let device = Device::of(handle.cast::<c_void>());
    pass(function, device, |machine| {
        initialised(machine)?;
        let device = device
            .filter(|d| d.gpu < machine.count())
            .ok_or(INVALID_ARGUMENT)?;
        body(machine.gpu(device))
    })
}

fn initialised(machine: &Machine) -> Answer {
    if machine.state().users == 0 {
        Err(UNINITIALIZED)
    } else {
        Ok(())
    }
}

/// Passes a call whose subject is known.
pub fn pass(
    function: &str,
    subject: Option<Device>,
    body: impl FnOnce(&'static Machine) -> Answer,
) -> nvmlReturn_t {
    let machine = Machine::get();
    let call = {
        let mut state = machine.state();
        let count = state
            .calls
            .entry((function.to_owned(), subject))
            .or_default();
        *count += 1;
        *count
    };
    delay(machine, function, subject);
    let answer = match fault(machine, function, subject, call) {
        Some(code) => Err(code),
        None => body(machine),
    };
    let code = answer.err().unwrap_or(SUCCESS);
    log(function, subject, code);
    code
}

/// Whether a pattern of a box file names a function: its whole name, its name without `_v2` and the
/// like, or a beginning that ends in `*`.
fn names(pattern: &str, function: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => function.starts_with(beginning),
        None => function == pattern || stem(function) == pattern,
    }
}

fn stem(function: &str) -> &str {
    match function.rsplit_once("_v") {
        Some((stem, version)) if version.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => function,
    }
}

/// Sleeps as long as the box says, in milliseconds: `patterns = [first call, later calls]` for calls that
/// keep the GPU, or `patterns = { asleep = each call }` for those that only wait. The functions that a row
/// names share their first call: a driver brings a GPU up once, whoever asks. Calls that keep one GPU wait
/// for each other, as they do in the driver; those about different ones do not.
fn delay(machine: &Machine, function: &str, subject: Option<Device>) {
    let Some(Value::Table(rows)) = machine.file.get("latency") else {
        return;
    };
    let Some((row, costs)) = rows
        .iter()
        .find(|(patterns, _)| patterns.split(' ').any(|pattern| names(pattern, function)))
    else {
        return;
    };
    let gpu = subject.map(|subject| subject.gpu);
    let asleep = costs.get("asleep");
    let _turn = match asleep {
        None => gpu.and_then(|gpu| machine.turn(gpu)),
        Some(_) => None,
    };
    let first = machine.state().served.insert((row.clone(), gpu));
    let kept = costs.as_array();
    let kept = kept.and_then(|costs| if first { costs.first() } else { costs.last() });
    if let Some(milliseconds) = asleep.or(kept).and_then(f64::from_data) {
        thread::sleep(Duration::from_secs_f64(milliseconds.max(0.0) / 1000.0));
    }
}

/// What a call under a fault does if the row has this key, in this order.
const MISDEEDS: &[(&str, fn())] = &[
    ("leave_child", || {
        // SAFETY: the child makes system calls only, and does not return.
        unsafe {
            if libc::fork() == 0 {
                libc::close(1);
                libc::close(2);
                libc::poll(std::ptr::null_mut(), 0, 10_000);
                libc::_exit(0);
            }
        }
    }),
    ("hang", || {
        loop {
            thread::park();
        }
    }),
    ("stop", || {
        // SAFETY: it takes a number.
        unsafe { libc::kill(libc::getpid(), libc::SIGSTOP) };
    }),
    ("crash", || {
        loop {
            // The first one may end in a handler of the program's that then stands back.
            // SAFETY: it takes a number.
            unsafe { libc::raise(libc::SIGSEGV) };
        }
    }),
    ("exit", || {
        // SAFETY: it takes a number.
        unsafe { libc::exit(0) }
    }),
    ("quit", || {
        // SAFETY: it takes a number.
        unsafe { libc::_exit(0) }
    }),
    ("end_thread", || {
        // SAFETY: it takes a number; what the thread holds stays as it is.
        unsafe { libc::syscall(libc::SYS_exit, 0) };
    }),
];

/// The code of the first `[[fault]]` row that this call falls under, those of [`FAULT_VARIABLE`] before
/// those of the box. A row names functions (`function`, a pattern or several) and a `code`, or one of the
/// [`MISDEEDS`], or has a list of `codes`, one for each GPU, 0 for none; it may name functions to
/// `except`, one `gpu`, and the first (`from`) and the last (`until`) call that fails.
fn fault(
    machine: &Machine,
    function: &str,
    subject: Option<Device>,
    call: u32,
) -> Option<nvmlReturn_t> {
    let own: &[Value] = faults_of_variable();
    let of_box = machine.file.get("fault").and_then(Value::as_array);
    let rows = own.iter().chain(of_box.into_iter().flatten());
    rows.filter_map(Value::as_table).find_map(|row| {
        let listed = |key: &str| {
            row.get(key)
                .is_some_and(|patterns| any_names(patterns, function))
        };
        let gpu = integer(row, "gpu");
        let hit = listed("function")
            && !listed("except")
            && gpu.is_none_or(|gpu| subject.is_some_and(|s| s.gpu as i64 == gpu))
            && i64::from(call) >= integer(row, "from").unwrap_or(1)
            && i64::from(call) <= integer(row, "until").unwrap_or(i64::MAX);
        if !hit {
            return None;
        }
        for (key, act) in MISDEEDS {
            if row.get(*key).and_then(Value::as_bool) == Some(true) {
                act();
            }
        }
        match row.get("codes").and_then(Value::as_array) {
            Some(codes) => {
                let code = u32::try_from(codes.get(subject?.gpu)?.as_integer()?).ok()?;
                (code != SUCCESS).then_some(code)
            }
            None => code(row.get("code")?.as_str()?),
        }
    })
}

/// The rows that the variable holds. One that cannot be read ends the process: a run without its fault would
/// show nothing.
fn faults_of_variable() -> &'static [Value] {
    static ROWS: OnceLock<Vec<Value>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let Ok(text) = env::var(FAULT_VARIABLE) else {
            return Vec::new();
        };
        rows_of(&text).unwrap_or_else(|mistake| {
            eprintln!("{FAULT_VARIABLE}: {mistake}");
            process::exit(1)
        })
    })
}

/// The rows that a text like that of [`FAULT_VARIABLE`] holds.
fn rows_of(text: &str) -> Result<Vec<Value>, String> {
    let rows = if text.starts_with('[') {
        text.to_owned()
    } else {
        format!("[{{ {text} }}]")
    };
    let mut table = keys::read(&format!("fault = {rows}"), keys::BOX)?;
    match table.remove("fault") {
        Some(Value::Array(rows)) => Ok(rows),
        _ => Ok(Vec::new()),
    }
}

/// Whether a pattern, or one of a list, names a function.
fn any_names(patterns: &Value, function: &str) -> bool {
    match patterns {
        Value::String(pattern) => names(pattern, function),
        Value::Array(patterns) => patterns.iter().any(|pattern| any_names(pattern, function)),
        _ => false,
    }
}

fn integer(row: &Table, key: &str) -> Option<i64> {
    data::at(row, key).and_then(i64::from_data)
}

fn log(function: &str, subject: Option<Device>, code: nvmlReturn_t) {
    static LOG: OnceLock<Option<File>> = OnceLock::new();
    let log = LOG.get_or_init(|| open_log(CALLS_VARIABLE));
    if let Some(mut log) = log.as_ref() {
        let gpu = subject.map_or("-".to_owned(), |s| s.gpu.to_string());
        // One write per line, so that processes that share the log do not mix theirs.
        let _ = log.write_all(format!("{function} {gpu} {code}\n").as_bytes());
    }
}

/// Opens the log file that a variable names, to append to.
pub fn open_log(variable: &str) -> Option<File> {
    let path = env::var_os(variable)?;
    OpenOptions::new().create(true).append(true).open(path).ok()
}

#[cfg(test)]
mod tests {
    use super::{MISDEEDS, names, rows_of};

    #[test]
    fn a_fault_may_have_each_misdeed_and_no_other_key() {
        for (misdeed, _) in MISDEEDS {
            let rows = rows_of(&format!("function = \"nvmlInit\", {misdeed} = true"));
            assert_eq!(rows.map(|rows| rows.len()), Ok(1), "{misdeed}");
        }
        for wrong in [
            "functions = \"nvmlInit\"",
            "hang = 1.5",
            "code = \"LOST\"",
            "hang =",
        ] {
            assert!(rows_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_without_a_version_names_every_version() {
        assert!(names(
            "nvmlDeviceGetMemoryInfo",
            "nvmlDeviceGetMemoryInfo_v2"
        ));
        assert!(names("nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo"));
        assert!(!names(
            "nvmlDeviceGetMemoryInfo_v2",
            "nvmlDeviceGetMemoryInfo"
        ));
        assert!(!names("nvmlDeviceGetMemory", "nvmlDeviceGetMemoryInfo"));
    }

    #[test]
    fn a_star_names_every_function_with_that_beginning() {
        assert!(names("nvmlDeviceGet*", "nvmlDeviceGetName"));
        assert!(!names("nvmlDeviceGet*", "nvmlDeviceSetEccMode"));
    }
}
