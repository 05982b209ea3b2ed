//! Functions about the library and the machine.

use std::ffi::{c_char, c_int, c_uint};

use nvml_wrapper_sys::bindings::*;
use toml::Table;

use crate::{
    answer::{
        self, Answer, INVALID_ARGUMENT, NOT_FOUND, UNINITIALIZED, put, put_list, put_text,
        put_versioned,
    },
    data, gate,
    handle::Device,
    machine::Machine,
};

fn init(machine: &Machine) -> Answer {
    machine.read::<bool>("init").map_or_else(
        |code| {
            if code == answer::NOT_SUPPORTED {
                Ok(())
            } else {
                Err(code)
            }
        },
        |_| Ok(()),
    )?;
    machine.state().users += 1;
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit() -> nvmlReturn_t {
    gate::early_call("nvmlInit", init)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> nvmlReturn_t {
    gate::early_call("nvmlInit_v2", init)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInitWithFlags(_flags: c_uint) -> nvmlReturn_t {
    gate::early_call("nvmlInitWithFlags", init)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> nvmlReturn_t {
    gate::early_call("nvmlShutdown", |machine| {
        let mut state = machine.state();
        state.users = state.users.checked_sub(1).ok_or(UNINITIALIZED)?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(result: nvmlReturn_t) -> *const c_char {
    answer::text(result).as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetNVMLVersion(
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    gate::early_call("nvmlSystemGetNVMLVersion", |machine| {
        // SAFETY: NVML's contract.
        unsafe { put_text(version, length, &machine.read::<String>("driver.nvml")?) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion(version: *mut c_int) -> nvmlReturn_t {
    // SAFETY: NVML's contract.
    gate::early_call("nvmlSystemGetCudaDriverVersion", |machine| unsafe {
        put(version, cuda_version(machine)?)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion_v2(version: *mut c_int) -> nvmlReturn_t {
    // SAFETY: NVML's contract.
    gate::early_call("nvmlSystemGetCudaDriverVersion_v2", |machine| unsafe {
        put(version, cuda_version(machine)?)
    })
}

/// CUDA's encoding of a version: 13.0 is 13000.
fn cuda_version(machine: &Machine) -> Answer<c_int> {
    let version: String = machine.read("driver.cuda")?;
    let (major, minor) = version.split_once('.').ok_or(answer::NOT_SUPPORTED)?;
    let part = |text: &str| text.parse::<c_int>().map_err(|_| answer::NOT_SUPPORTED);
    Ok(part(major)? * 1000 + part(minor)? * 10)
}

/// A count of devices: what the box has, unless it says that the library reports another one.
fn reported(machine: &Machine, what: &str, count: usize) -> c_uint {
    machine
        .read(&format!("reported.{what}"))
        .unwrap_or(count as c_uint)
}

system_calls! {
    nvmlSystemGetDriverVersion(machine, version: *mut c_char, length: c_uint) {
        put_text(version, length, &machine.read::<String>("driver.version")?)
    }

    nvmlSystemGetDriverBranch(machine, branch: *mut nvmlSystemDriverBranchInfo_t, length: c_uint) {
        let text: String = machine.read("driver.branch")?;
        put_versioned(branch, |info| {
            answer::fill_text(&mut info.branch[..80.min(length as usize)], &text);
            Ok(())
        })
    }

    nvmlSystemGetProcessName(machine, pid: c_uint, name: *mut c_char, length: c_uint) {
        let process = super::processes::name(machine, pid).ok_or(NOT_FOUND)?;
        // NVML cuts a name that does not fit.
        let room = (length as usize).saturating_sub(1).min(process.len());
        put_text(name, length, process.get(..room).unwrap_or_default())
    }

    nvmlSystemGetHicVersion(machine, count: *mut c_uint, entries: *mut nvmlHwbcEntry_t) {
        let versions: Vec<String> = machine.read("interface_cards").unwrap_or_default();
        let cards: Vec<_> = (0..).zip(&versions).map(|(id, version)| {
            let mut card = nvmlHwbcEntry_t { hwbcId: id, firmwareVersion: [0; 32] };
            answer::fill_text(&mut card.firmwareVersion, version);
            card
        }).collect();
        put_list(count, entries, &cards)
    }

    nvmlGetVgpuDriverCapabilities(machine, capability: nvmlVgpuDriverCapability_t, result: *mut c_uint) {
        put(result, machine.read(&format!("vgpu.driver_capability.{capability}"))?)
    }

    nvmlUnitGetCount(machine, count: *mut c_uint) { put(count, reported(machine, "units", 0)) }

    nvmlUnitGetHandleByIndex(_, _index: c_uint, _unit: *mut nvmlUnit_t) { Err(INVALID_ARGUMENT) }

    nvmlGetExcludedDeviceCount(machine, count: *mut c_uint) {
        let excluded: Vec<Table> = machine.read("excluded").unwrap_or_default();
        put(count, reported(machine, "excluded", excluded.len()))
    }

    nvmlGetExcludedDeviceInfoByIndex(machine, index: c_uint, out: *mut nvmlExcludedDeviceInfo_t) {
        let excluded: Vec<Table> = machine.read("excluded").unwrap_or_default();
        let row = excluded.get(index as usize).ok_or(INVALID_ARGUMENT)?;
        let mut info = std::mem::zeroed::<nvmlExcludedDeviceInfo_t>();
        let bus_id: String = data::read(row.get("bus_id"))?;
        let [domain, bus, device, _] = super::table::bus_id_numbers(&bus_id).ok_or(INVALID_ARGUMENT)?;
        (info.pciInfo.domain, info.pciInfo.bus, info.pciInfo.device) = (domain, bus, device);
        answer::fill_text(&mut info.pciInfo.busId, &bus_id);
        answer::fill_text(&mut info.uuid, &data::read::<String>(row.get("uuid"))?);
        put(out, info)
    }

    nvmlDeviceGetCount(machine, count: *mut c_uint) { put(count, reported(machine, "gpus", machine.count())) }
    nvmlDeviceGetCount_v2(machine, count: *mut c_uint) { put(count, reported(machine, "gpus", machine.count())) }

    nvmlSystemGetConfComputeCapabilities(machine, out: *mut nvmlConfComputeSystemCaps_t) {
        put(out, nvmlConfComputeSystemCaps_t {
            cpuCaps: machine.read("confidential.cpu")?,
            gpusCaps: machine.read("confidential.gpus")?,
        })
    }

    nvmlSystemGetConfComputeState(machine, out: *mut nvmlConfComputeSystemState_t) {
        put(out, nvmlConfComputeSystemState_t {
            environment: machine.read("confidential.environment")?,
            ccFeature: machine.read("confidential.feature")?,
            devToolsMode: machine.read("confidential.dev_tools")?,
        })
    }

    nvmlSystemGetConfComputeSettings(machine, out: *mut nvmlSystemConfComputeSettings_t) {
        put_versioned(out, |settings| {
            settings.environment = machine.read("confidential.environment")?;
            settings.ccFeature = machine.read("confidential.feature")?;
            settings.devToolsMode = machine.read("confidential.dev_tools")?;
            settings.multiGpuMode = machine.read("confidential.multi_gpu")?;
            Ok(())
        })
    }

    nvmlSystemGetConfComputeGpusReadyState(machine, ready: *mut c_uint) {
        put(ready, machine.read("confidential.ready")?)
    }

    nvmlSystemGetNvlinkBwMode(machine, mode: *mut c_uint) { put(mode, machine.read("nvlink.bandwidth_mode")?) }
}

/// The functions that hand out a device handle pass the gate as a call about that device, so that a
/// fault or a delay can be put on one GPU's.
fn hand_out(
    function: &str,
    found: impl FnOnce(&'static Machine) -> Answer<Device>,
    out: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    let machine = Machine::get();
    let found = if machine.state().users == 0 {
        Err(UNINITIALIZED)
    } else {
        found(machine)
    };
    gate::pass(function, found.ok(), |_| {
        let device = found?;
        // SAFETY: NVML's contract: `out` is null or valid.
        unsafe { put(out, device.handle()) }
    })
}

fn by_index(machine: &Machine, index: c_uint) -> Answer<Device> {
    let device = Device {
        gpu: index as usize,
        mig: None,
    };
    if device.gpu < machine.count() {
        Ok(device)
    } else {
        Err(INVALID_ARGUMENT)
    }
}

/// The GPU (or MIG device) for which a key has a text, whatever its case.
fn by_text(machine: &'static Machine, key: &str, text: *const c_char) -> Answer<Device> {
    if text.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: NVML's contract: a NUL-ended string.
    let wanted = unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy();
    let same = |gpu: &crate::machine::Gpu| {
        let found: Answer<String> = gpu.read(key);
        found.is_ok_and(|found| comparable(&found) == comparable(&wanted))
    };
    let migs = machine.gpus().flat_map(super::mig::devices);
    machine
        .gpus()
        .chain(migs)
        .find(same)
        .map(|gpu| gpu.device)
        .ok_or(NOT_FOUND)
}

/// A text with bus ids in one form. NVML reads them as numbers, of which the domain and, behind one, the
/// function may be left out.
fn comparable(id: &str) -> String {
    let function = match id.matches(':').count() {
        2 if !id.contains('.') => ".0",
        _ => "",
    };
    match super::table::bus_id_numbers(&format!("{id}{function}")) {
        Some([domain, bus, device, function]) => {
            format!("{domain:08x}:{bus:02x}:{device:02x}.{function:x}")
        }
        None => id.to_ascii_lowercase(),
    }
}

macro_rules! handles {
    ($($name:ident($arg:ident: $type:ty) = $find:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($arg: $type, device: *mut nvmlDevice_t) -> nvmlReturn_t {
            hand_out(stringify!($name), $find, device)
        }
    )*};
}

handles! {
    nvmlDeviceGetHandleByIndex(index: c_uint) = |machine| by_index(machine, index);
    nvmlDeviceGetHandleByIndex_v2(index: c_uint) = |machine| by_index(machine, index);
    nvmlDeviceGetHandleBySerial(serial: *const c_char) = |machine| by_text(machine, "serial", serial);
    nvmlDeviceGetHandleByUUID(uuid: *const c_char) = |machine| by_text(machine, "uuid", uuid);
    nvmlDeviceGetHandleByPciBusId(id: *const c_char) = |machine| by_text(machine, "pci.bus_id", id);
    nvmlDeviceGetHandleByPciBusId_v2(id: *const c_char) = |machine| by_text(machine, "pci.bus_id", id);
}
