//! nvmlInternalGetExportTable: the unnamed functions that nvidia-smi takes from the library by place.
//! What is known of them was published in NVIDIA/k8s-test-infra; the rest answers "success, 0".

use std::{
    ffi::{CStr, c_char, c_uint, c_void},
    fs::File,
    io::Write,
    mem, ptr,
    sync::OnceLock,
};

use nvml_wrapper_sys::bindings::*;

use super::{
    processes::{self, Process},
    setters, topology,
};
use crate::{
    answer::{
        Answer, INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, SUCCESS, put, put_list, put_text,
    },
    gate,
    handle::Device,
    machine::{Gpu, Machine},
    sysfs,
};

/// Numbers below this are no pointers: the first page is never mapped.
const LOWEST_ADDRESS: usize = 4096;

/// 6c3efec4-8fc9-4e6c-a327-ee696e12f7c4, in the byte order of a GUID structure.
const GUID: [u8; 16] = [
    0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e, 0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4,
];

#[repr(transparent)]
struct Table([[*const (); 16]; 32]);

// SAFETY: the table is never written; its pointers are a number and the addresses of functions.
unsafe impl Sync for Table {}

macro_rules! rows {
    ($($high:literal)*) => { [$(rows!(@row $high)),*] };
    (@row $high:literal) => { rows!(@cells $high: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) };
    (@cells $high:literal: $($low:literal)*) => { [$(entry::<{ $high * 16 + $low }> as *const ()),*] };
}

static TABLE: Table = {
    let mut entries = rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    entries[0][0] = ptr::without_provenance(mem::size_of::<Table>());
    Table(entries)
};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlInternalGetExportTable(
    table: *mut *const c_void,
    guid: *const u8,
) -> nvmlReturn_t {
    gate::early_call("nvmlInternalGetExportTable", |_| {
        if guid.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: a GUID has 16 bytes; `table` is null or valid.
        unsafe {
            if *guid.cast::<[u8; 16]>() != GUID {
                return Err(NOT_SUPPORTED);
            }
            put(table, (&raw const TABLE).cast())
        }
    })
}

/// One process as entries 213 to 215 list it.
#[repr(C)]
#[derive(Clone, Copy)]
struct NamedProcess {
    pid: u32,
    used_memory: u64,
    gpu_instance: u32,
    compute_instance: u32,
    protected_memory: u64,
    name: [u8; 4096],
}
const _: () = assert!(mem::size_of::<NamedProcess>() == 4128);

impl NamedProcess {
    fn of(process: &Process) -> NamedProcess {
        let mut name = [0; 4096];
        for (to, from) in name[..4095].iter_mut().zip(process.name.iter()) {
            *to = *from;
        }
        NamedProcess {
            pid: process.pid,
            used_memory: process.memory,
            gpu_instance: process.gpu_instance,
            compute_instance: process.compute_instance,
            protected_memory: 0,
            name,
        }
    }
}

/// Any argument of an entry: a number or a pointer.
type Word = *mut c_void;

unsafe extern "C" fn entry<const N: usize>(
    a: Word,
    b: Word,
    c: Word,
    d: Word,
    e: Word,
    f: Word,
) -> nvmlReturn_t {
    log(N, [a, b, c, d, e, f]);
    // SAFETY: nvidia-smi's arguments, as described for each entry: null or valid.
    unsafe {
        match N {
            12 => parse_bus_id("nvmlInternalGetExportTable.12", a.cast(), [b, c, d, e]),
            23 => distance("nvmlInternalGetExportTable.23", a.cast(), b.cast(), c),
            75 => location("nvmlInternalGetExportTable.75", a.addr(), [b, c, d]),
            81 => bus_id("nvmlInternalGetExportTable.81", a.addr(), b, c),
            108 => number(
                "nvmlInternalGetExportTable.108",
                a,
                "power.enforced_limit",
                b,
            ),
            145 => device_entry("nvmlInternalGetExportTable.145", a, |gpu| {
                put(
                    c.cast::<nvmlValueType_t>(),
                    nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_INT,
                )?;
                utilizations(&gpu, b.addr() as u64, d, e)
            }),
            209 => number("nvmlInternalGetExportTable.209", a, "voltage", b),
            210 => device_entry("nvmlInternalGetExportTable.210", a, |gpu| {
                put(c.cast::<c_uint>(), gpu.read("clocks.base.graphics")?)
            }),
            213 => device_entry("nvmlInternalGetExportTable.213", a, |gpu| {
                list(&gpu, "C", b, c)
            }),
            214 => device_entry("nvmlInternalGetExportTable.214", a, |gpu| {
                list(&gpu, "M", b, c)
            }),
            215 => device_entry("nvmlInternalGetExportTable.215", a, |gpu| {
                list(&gpu, "G", b, c)
            }),
            223 => device_entry("nvmlInternalGetExportTable.223", a, |gpu| {
                topology::put_numa_node(&gpu, b.addr() as c_uint, c.cast())
            }),
            226 => number(
                "nvmlInternalGetExportTable.226",
                a,
                "pcie.outbound_atomics",
                b,
            ),
            230 => number(
                "nvmlInternalGetExportTable.230",
                a,
                "pcie.host_max_generation",
                b,
            ),
            231 => device_entry("nvmlInternalGetExportTable.231", a, |gpu| {
                text(&gpu, "gpu_part_number", b, c)
            }),
            237 => device_entry("nvmlInternalGetExportTable.237", a, |gpu| {
                text(&gpu, "fru_part_number", b, c)
            }),
            239 => device_entry("nvmlInternalGetExportTable.239", a, |gpu| {
                put(b.cast(), gpu.read_or::<c_uint>("nvlink.bridge", 0)?)
            }),
            240 => number("nvmlInternalGetExportTable.240", a, "temperature.margin", b),
            242 => number("nvmlInternalGetExportTable.242", a, "addressing_mode", b),
            249 => number(
                "nvmlInternalGetExportTable.249",
                a,
                "sparse_operation_mode",
                b,
            ),
            // A control call: a command, a structure for it, and its size.
            32 => device_entry("nvmlInternalGetExportTable.32", a, |_| Err(NOT_SUPPORTED)),
            // A memory clock in kHz, in force once the driver is loaded anew; 234 takes it back.
            233 => device_entry("nvmlInternalGetExportTable.233", a, |gpu| {
                setters::set(&gpu, "clocks.locked.memory_deferred", b.addr() as i64)
            }),
            234 => device_entry("nvmlInternalGetExportTable.234", a, |gpu| {
                setters::set(&gpu, "clocks.locked.memory_deferred", 0)
            }),
            _ => unnamed(N, a, b),
        }
    }
}

/// An entry that nothing is known of. A box can still answer it, under `export_table`, by its place.
///
/// # Safety
/// `out` is null, a number below the lowest address, or valid.
unsafe fn unnamed(entry: usize, device: Word, out: Word) -> nvmlReturn_t {
    let Some(device) = Device::of(device) else {
        return SUCCESS;
    };
    let answer = Machine::get()
        .gpu(device)
        .read::<c_uint>(&format!("export_table.{entry}"));
    match answer {
        // A small number here chooses among things that no box has.
        _ if (1..LOWEST_ADDRESS).contains(&out.addr()) => NOT_SUPPORTED,
        _ if out.is_null() => SUCCESS,
        Err(code) if code != NOT_SUPPORTED => code,
        answer => {
            // SAFETY: by the caller's word.
            unsafe { out.cast::<c_uint>().write(answer.unwrap_or(0)) };
            SUCCESS
        }
    }
}

/// # Safety
/// As [`put`].
unsafe fn number(function: &str, device: Word, key: &str, out: Word) -> nvmlReturn_t {
    // SAFETY: by the caller's word.
    device_entry(function, device, |gpu| unsafe {
        put(out.cast::<c_uint>(), gpu.read(key)?)
    })
}

/// The bus id of a GPU by its index, with the short domain: told even when there is no handle for it.
///
/// # Safety
/// As [`put_text`].
unsafe fn bus_id(function: &str, index: usize, out: Word, length: Word) -> nvmlReturn_t {
    let device = Device {
        gpu: index,
        mig: None,
    };
    gate::pass(function, Some(device), |machine| {
        let gpu = (index < machine.count())
            .then(|| machine.gpu(device))
            .ok_or(INVALID_ARGUMENT)?;
        let id: String = gpu.read("pci.bus_id")?;
        // SAFETY: by the caller's word.
        unsafe {
            put_text(
                out.cast(),
                length.addr() as c_uint,
                id.get(4..).unwrap_or(&id),
            )
        }
    })
}

/// Takes a bus id apart: `[domain:]bus:device.function`, in hex.
///
/// # Safety
/// `text` is null or a C string; `parts` as for [`put`].
unsafe fn parse_bus_id(function: &str, text: *const c_char, parts: [Word; 4]) -> nvmlReturn_t {
    gate::early_call(function, |_| {
        if text.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: by the caller's word.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        let numbers = bus_id_numbers(&text).ok_or(INVALID_ARGUMENT)?;
        for (part, number) in parts.into_iter().zip(numbers) {
            // SAFETY: by the caller's word.
            unsafe { put(part.cast::<c_uint>(), number)? };
        }
        Ok(())
    })
}

/// What is between two GPUs, told by the texts of their bus ids, as `topo -m` asks it: PIX, PXB, PHB,
/// NODE and SYS are 0 to 4.
///
/// # Safety
/// `a` and `b` are null or C strings; `out` as for [`put`].
unsafe fn distance(function: &str, a: *const c_char, b: *const c_char, out: Word) -> nvmlReturn_t {
    gate::early_call(function, |machine| {
        let find = |text: *const c_char| {
            if text.is_null() {
                return Err(INVALID_ARGUMENT);
            }
            // SAFETY: by the caller's word.
            let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
            let is_it = |gpu: &Gpu| {
                gpu.read::<String>("pci.bus_id")
                    .is_ok_and(|id| *id == *text)
            };
            machine.gpus().find(is_it).ok_or(NOT_FOUND)
        };
        let level = match (find(a), find(b)) {
            (Ok(one), Ok(two)) => topology::common_ancestor(&one, &two)?,
            // A card: the box tells where it is.
            _ => {
                let devices = sysfs::devices(&machine.file);
                // SAFETY: by the caller's word.
                let place = |text| unsafe {
                    sysfs::find(&devices, &CStr::from_ptr(text).to_string_lossy())
                };
                let (one, two) = (place(a).ok_or(NOT_FOUND)?, place(b).ok_or(NOT_FOUND)?);
                topology::between(one, two)
            }
        };
        // NVML's levels go by tens, and begin with GPUs on one board.
        // SAFETY: by the caller's word.
        unsafe { put(out.cast::<c_uint>(), (level / 10).saturating_sub(1)) }
    })
}

/// Domain (0 where it is left out), bus, device and function.
pub fn bus_id_numbers(text: &str) -> Option<[c_uint; 4]> {
    let (place, function) = text.split_once('.')?;
    let mut parts: Vec<&str> = place.split(':').collect();
    if parts.len() == 2 {
        parts.insert(0, "0");
    }
    parts.push(function);
    let numbers: Vec<c_uint> = parts
        .iter()
        .map(|part| c_uint::from_str_radix(part, 16).ok())
        .collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Domain, bus and device of a GPU by its index.
///
/// # Safety
/// `parts` as for [`put`].
unsafe fn location(function: &str, index: usize, parts: [Word; 3]) -> nvmlReturn_t {
    let device = Device {
        gpu: index,
        mig: None,
    };
    gate::pass(function, Some(device), |machine| {
        let gpu = (index < machine.count())
            .then(|| machine.gpu(device))
            .ok_or(INVALID_ARGUMENT)?;
        let id: String = gpu.read("pci.bus_id")?;
        let numbers = bus_id_numbers(&id).ok_or(INVALID_ARGUMENT)?;
        for (part, number) in parts.into_iter().zip(numbers) {
            // SAFETY: by the caller's word.
            unsafe { put(part.cast::<c_uint>(), number)? };
        }
        Ok(())
    })
}

fn device_entry(function: &str, device: Word, body: impl FnOnce(Gpu) -> Answer) -> nvmlReturn_t {
    gate::device_call(function, device, body)
}

/// # Safety
/// As [`put_text`].
unsafe fn text(gpu: &Gpu, key: &str, out: Word, length: Word) -> Answer {
    // SAFETY: by the caller's word.
    unsafe {
        put_text(
            out.cast(),
            length.addr() as c_uint,
            &gpu.read::<String>(key)?,
        )
    }
}

/// # Safety
/// As [`put_list`].
unsafe fn list(gpu: &Gpu, letter: &str, count: Word, array: Word) -> Answer {
    let processes: Vec<_> = processes::of_kind(gpu, letter)?
        .iter()
        .map(NamedProcess::of)
        .collect();
    // SAFETY: by the caller's word.
    unsafe { put_list(count.cast(), array.cast::<NamedProcess>(), &processes) }
}

/// How busy one process keeps one engine.
#[repr(C)]
#[derive(Clone, Copy)]
struct EngineSample {
    value: u64,
    pid: u32,
    sub_process: [u32; 17],
}

/// One process as entry 145 lists it for pmon: SM, memory, encoder, decoder, JPEG, OFA. An engine for
/// which there is no sample names no process.
#[repr(C)]
#[derive(Clone, Copy)]
struct ProcessSample {
    timestamp: u64,
    engines: [EngineSample; 6],
}
const _: () = assert!(mem::size_of::<ProcessSample>() == 488);

/// # Safety
/// As [`put_list`].
unsafe fn utilizations(gpu: &Gpu, last_seen: u64, count: Word, array: Word) -> Answer {
    const ENGINES: [&str; 6] = ["sm", "memory", "encoder", "decoder", "jpeg", "ofa"];
    let timestamp = super::lists::now_us();
    let samples: Vec<_> = processes::sampled(gpu, last_seen, timestamp)?
        .iter()
        .map(|process| ProcessSample {
            timestamp,
            engines: ENGINES.map(|engine| {
                let percent = process.percent(engine);
                let pid = if percent.is_some() { process.pid } else { 0 };
                EngineSample {
                    value: percent.unwrap_or(0).into(),
                    pid,
                    sub_process: [0; 17],
                }
            }),
        })
        .collect();
    if samples.is_empty() {
        return Err(NOT_FOUND);
    }
    // SAFETY: by the caller's word.
    unsafe { put_list(count.cast(), array.cast::<ProcessSample>(), &samples) }
}

fn log(entry: usize, arguments: [Word; 6]) {
    static LOG: OnceLock<Option<File>> = OnceLock::new();
    if let Some(mut log) = LOG
        .get_or_init(|| gate::open_log(gate::TABLE_VARIABLE))
        .as_ref()
    {
        let say = |argument: Word| match Device::of(argument) {
            Some(device) => format!("{device:?}"),
            None => format!("{argument:p}"),
        };
        let _ = log.write_all(format!("{entry} {}\n", arguments.map(say).join(" ")).as_bytes());
    }
}
