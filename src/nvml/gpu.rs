//! One GPU: one method per question, each asked at most once per pass.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::Clock;
use nvml_wrapper_sys::bindings::*;

use super::facts::*;
use super::raw;
pub use super::raw::FieldNumber;
use super::reading::{Missing, Reading};

/// A GPU, by its handle or by the reason why NVML gave none.
///
/// A question is put to NVML when it is first asked, and its answer kept:
/// facts that cannot change for the life of the handle, the others until
/// [`Gpu::forget`].
pub struct Gpu<'d> {
    index: u32,
    device: Reading<Device<'d>>,
    lasting: Lasting,
    moving: Moving,
    pub(super) report: super::report::Report,
}

impl<'d> Gpu<'d> {
    /// The GPU with this `index` and what `nvmlDeviceGetHandleBy...` said.
    pub fn new(index: u32, device: Reading<Device<'d>>) -> Self {
        if let Ok(device) = &device {
            raw::patience::belongs_to(device, index);
        }
        Self {
            index,
            device,
            lasting: Lasting::default(),
            moving: Moving::default(),
            report: Default::default(),
        }
    }

    /// Its place in NVML's order, from 0.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The handle, or why there is none.
    pub fn device(&self) -> Reading<&Device<'d>> {
        self.device.as_ref().map_err(|missing| *missing)
    }

    /// Forgets what may have changed and what could not be read, so that it is
    /// asked anew.
    pub fn forget(&mut self) {
        self.moving = Moving::default();
        self.report = Default::default();
        self.lasting.forget_failures();
    }

    /// Memory error counts, `nvmlDeviceGetMemoryErrorCounter`: `error` and
    /// `period` and `location` as in NVML's enums.
    pub fn memory_errors(&self, error: u32, period: u32, location: u32) -> Reading<u64> {
        let key = (error, period, location);
        self.moving.memory_errors.get_or_ask(key, || {
            let device = self.device()?;
            raw::get_for3(
                &device.nvml().lib().nvmlDeviceGetMemoryErrorCounter,
                device,
                key,
            )
        })
    }

    /// Error counts over all memories, `nvmlDeviceGetTotalEccErrors`.
    pub fn total_errors(&self, error: u32, period: u32) -> Reading<u64> {
        self.moving.total_errors.get_or_ask((error, period), || {
            let device = self.device()?;
            raw::get_for2(
                &device.nvml().lib().nvmlDeviceGetTotalEccErrors,
                device,
                error,
                period,
            )
        })
    }

    /// A number by its field id, `nvmlDeviceGetFieldValues`. `id` is the number
    /// of the R580.82 header and later; see [`field_id`].
    pub fn field(&self, id: u32, scope: u32) -> Reading<FieldNumber> {
        self.moving.fields.get_or_ask((id, scope), || {
            let device = self.device()?;
            let id = field_id(device, id)?;
            raw::field_values(device, &[(id, scope)])?
                .pop()
                .unwrap_or(Err(Missing::UNKNOWN))
        })
    }

    /// Asks for several fields in one call, so that [`Gpu::field`] has them.
    pub fn ask_fields(&self, ids: impl IntoIterator<Item = (u32, u32)>) {
        let Ok(device) = self.device() else { return };
        let unknown = ids.into_iter().filter(|key| !self.moving.fields.has(key));
        let (keys, asked): (Vec<_>, Vec<_>) = unknown
            .filter_map(|(id, scope)| Some(((id, scope), (field_id(device, id).ok()?, scope))))
            .unzip();
        if asked.is_empty() {
            return;
        }
        let answers = match raw::field_values(device, &asked) {
            Ok(answers) => answers,
            Err(missing) => vec![Err(missing); keys.len()],
        };
        for (key, answer) in keys.into_iter().zip(answers) {
            let _ = self.moving.fields.get_or_ask(key, || answer);
        }
    }

    /// As [`Gpu::field`], for whole numbers.
    pub fn field_number(&self, id: u32, scope: u32) -> Reading<i64> {
        match self.field(id, scope)? {
            FieldNumber::Whole(number) => Ok(number),
            FieldNumber::Real(_) => Err(Missing::UNKNOWN),
        }
    }

    /// A clock now, MHz, `nvmlDeviceGetClockInfo`.
    pub fn clock(&self, kind: Clock) -> Reading<u32> {
        self.moving.clocks.get_or_ask(kind.as_c(), || {
            let device = self.device()?;
            raw::get_for(
                &device.nvml().lib().nvmlDeviceGetClockInfo,
                device,
                kind.as_c(),
            )
        })
    }

    /// The highest that a clock can be, MHz, `nvmlDeviceGetMaxClockInfo`.
    pub fn max_clock(&self, kind: Clock) -> Reading<u32> {
        self.moving.max_clocks.get_or_ask(kind.as_c(), || {
            let device = self.device()?;
            raw::get_for(
                &device.nvml().lib().nvmlDeviceGetMaxClockInfo,
                device,
                kind.as_c(),
            )
        })
    }

    /// The clock that applications run at, MHz, `nvmlDeviceGetApplicationsClock`.
    pub fn application_clock(&self, kind: Clock) -> Reading<u32> {
        self.moving.application_clocks.get_or_ask(kind.as_c(), || {
            let device = self.device()?;
            raw::get_for(
                &device.nvml().lib().nvmlDeviceGetApplicationsClock,
                device,
                kind.as_c(),
            )
        })
    }

    /// What the applications clock is without anybody's wish, MHz,
    /// `nvmlDeviceGetDefaultApplicationsClock`.
    pub fn default_application_clock(&self, kind: Clock) -> Reading<u32> {
        self.moving
            .default_application_clocks
            .get_or_ask(kind.as_c(), || {
                let device = self.device()?;
                raw::get_for(
                    &device.nvml().lib().nvmlDeviceGetDefaultApplicationsClock,
                    device,
                    kind.as_c(),
                )
            })
    }

    /// The version of an infoROM object, `nvmlDeviceGetInforomVersion`:
    /// 0 OEM, 1 ECC, 2 power.
    pub fn inforom_version(&self, object: u32) -> Reading<String> {
        self.moving.inforom_versions.get_or_ask(object, || {
            let device = self.device()?;
            raw::get_string_for(
                &device.nvml().lib().nvmlDeviceGetInforomVersion,
                device,
                object,
                16,
            )
        })
    }

    /// What the GPU can do for vGPUs, `nvmlDeviceGetVgpuCapabilities`: 1 when it can.
    pub fn vgpu_capability(&self, capability: u32) -> Reading<u32> {
        let device = self.device()?;
        raw::get_for(
            &device.nvml().lib().nvmlDeviceGetVgpuCapabilities,
            device,
            capability,
        )
    }

    /// Pages retired for a cause (0 multiple single-bit errors, 1 a double-bit
    /// error), as (address, seconds since 1970), `nvmlDeviceGetRetiredPages_v2`.
    pub fn retired_pages(&self, cause: u32) -> Reading<Vec<(u64, u64)>> {
        self.moving
            .retired_pages
            .get_or_ask(cause, || raw::retired_pages(self.device()?, cause))
    }

    /// Every memory clock that can be chosen, MHz, `nvmlDeviceGetSupportedMemoryClocks`.
    pub fn supported_memory_clocks(&self) -> Reading<Vec<u32>> {
        let device = self.device()?;
        raw::get_list(
            &device.nvml().lib().nvmlDeviceGetSupportedMemoryClocks,
            device,
            16,
        )
    }

    /// Every graphics clock that goes with a memory clock, MHz,
    /// `nvmlDeviceGetSupportedGraphicsClocks`.
    pub fn supported_graphics_clocks(&self, memory: u32) -> Reading<Vec<u32>> {
        let device = self.device()?;
        raw::get_list_for(
            &device.nvml().lib().nvmlDeviceGetSupportedGraphicsClocks,
            device,
            memory,
            256,
        )
    }

    /// How long a policy (`NVML_PERF_POLICY_*`) has held the clocks down,
    /// `nvmlDeviceGetViolationStatus`.
    pub fn violation(&self, policy: u32) -> Reading<Violation> {
        let device = self.device()?;
        raw::get_for(
            &device.nvml().lib().nvmlDeviceGetViolationStatus,
            device,
            policy,
        )
        .map(|time: nvmlViolationTime_t| time.into())
    }

    /// How busy processes kept the GPU since a time, microseconds since 1970,
    /// `nvmlDeviceGetProcessesUtilizationInfo`.
    pub fn process_loads(&self, since: u64) -> Reading<Vec<ProcessLoad>> {
        raw::processes::loads(self.device()?, since)
    }

    /// The video encoding sessions, `nvmlDeviceGetEncoderSessions`.
    pub fn encoder_sessions(&self) -> Reading<Vec<EncoderSession>> {
        let device = self.device()?;
        let sessions = &device.nvml().lib().nvmlDeviceGetEncoderSessions;
        raw::get_list(sessions, device, 64)
    }

    /// The frame buffer capture sessions, `nvmlDeviceGetFBCSessions`.
    pub fn capture_sessions(&self) -> Reading<Vec<CaptureSession>> {
        let device = self.device()?;
        let sessions = &device.nvml().lib().nvmlDeviceGetFBCSessions;
        raw::get_list(sessions, device, 64)
    }

    /// What ended and running processes did, `nvmlDeviceGetAccountingPids` and
    /// `nvmlDeviceGetAccountingStats`; a process that NVML drops in between
    /// (`NVML_ERROR_NOT_FOUND`) is left out.
    pub fn accounted(&self) -> Reading<Vec<(u32, Reading<Accounted>)>> {
        let device = self.device()?;
        let lib = device.nvml().lib();
        let room = self.accounting_buffer_size()? as usize;
        let pids: Vec<u32> = raw::get_list(&lib.nvmlDeviceGetAccountingPids, device, room.max(1))?;
        Ok(pids
            .into_iter()
            .map(|pid| {
                let stats = raw::get_for(&lib.nvmlDeviceGetAccountingStats, device, pid);
                (pid, stats.map(Accounted::from))
            })
            .filter(|(_, stats)| !matches!(stats, Err(Missing::NOT_FOUND)))
            .collect())
    }
}

/// The id that the loaded library knows a field by.
///
/// The header of R570 and early R580 numbered 251 to 273 differently: clocks
/// event reasons at 251 to 255, power smoothing from 256. nvml-wrapper finds
/// out from the driver's version which of the two it has; where there is no
/// version, a number would be that of another field.
pub(super) fn field_id(device: &Device, id: u32) -> Reading<u32> {
    use nvml_wrapper::FieldIdScheme::*;
    let scheme = device.nvml().field_id_scheme();
    if scheme == V12 && id >= 251 {
        raw::driver_version(device.nvml())?;
    }
    match (scheme, id) {
        (V13Update1, id) => Ok(id),
        (V12, 251..=268) => Ok(id + 5),
        (V12, 269..=273) => Ok(id - 18),
        (V12, 274..) => Err(Missing::NotSupported),
        (V12, id) => Ok(id),
    }
}

/// Answers by key, for questions with a parameter.
pub(super) struct Memo<K, T>(Mutex<Vec<(K, Reading<T>)>>);

impl<K, T> Default for Memo<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, T: Clone> Memo<K, T> {
    fn answers(&self) -> MutexGuard<'_, Vec<(K, Reading<T>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is an answer.
    fn has(&self, key: &K) -> bool {
        self.answers().iter().any(|(known, _)| known == key)
    }

    pub(super) fn get_or_ask(&self, key: K, ask: impl FnOnce() -> Reading<T>) -> Reading<T> {
        if let Some((_, answer)) = self.answers().iter().find(|(known, _)| *known == key) {
            return answer.clone();
        }
        let answer = ask();
        self.answers().push((key, answer.clone()));
        answer
    }
}

/// Declares the questions without a parameter: a cell for each answer, and the
/// method that asks on first use.
macro_rules! questions {
    ($kept:ident / $Kept:ident { $($extra:tt)* }
     $($(#[$doc:meta])* $name:ident: $answer:ty = |$device:ident, $lib:ident| $ask:expr;)*) => {
        #[derive(Default)]
        pub struct $Kept { $($name: OnceLock<Reading<$answer>>,)* $($extra)* }

        #[allow(dead_code, reason = "of use only to what is kept longer than a pass")]
        impl $Kept {
            fn forget_failures(&mut self) {
                $(if let Some(Err(_)) = self.$name.get() {
                    self.$name.take();
                })*
            }
        }

        impl Gpu<'_> {
            $(
                $(#[$doc])*
                pub fn $name(&self) -> Reading<$answer> {
                    self.$kept.$name.get_or_init(|| {
                        let $device = self.device()?;
                        let $lib = $device.nvml().lib();
                        let _ = $lib;
                        $ask
                    }).clone()
                }
            )*
        }
    };
}

pub(super) use questions;

questions! { lasting / Lasting {}
    /// What the board is called, `nvmlDeviceGetName`.
    name: String = |device, lib| raw::get_string(&lib.nvmlDeviceGetName, device, 96);
    /// `GPU-` and a UUID, `nvmlDeviceGetUUID`.
    uuid: String = |device, lib| raw::get_string(&lib.nvmlDeviceGetUUID, device, 96);
    /// The number printed on the board, `nvmlDeviceGetSerial`.
    serial: String = |device, lib| raw::get_string(&lib.nvmlDeviceGetSerial, device, 30);
    /// Where it sits, `nvmlDeviceGetPciInfo_v3`.
    pci: Pci = |device, lib| raw::get(&lib.nvmlDeviceGetPciInfo_v3, device).map(Pci::from);
    /// The PCI base class and sub class, `nvmlDeviceGetPciInfoExt`.
    pci_class: (u32, u32) = |device, lib| raw::get_versioned(&lib.nvmlDeviceGetPciInfoExt, device, |_| ())
        .map(|pci| (pci.baseClass, pci.subClass));
    /// `nvmlDeviceGetVbiosVersion`.
    vbios_version: String = |device, lib| raw::get_string(&lib.nvmlDeviceGetVbiosVersion, device, 32);
    /// The infoROM's own version, `nvmlDeviceGetInforomImageVersion`.
    inforom_image_version: String = |device, lib|
        raw::get_string(&lib.nvmlDeviceGetInforomImageVersion, device, 16);
    /// Major and minor, `nvmlDeviceGetCudaComputeCapability`.
    compute_capability: (i32, i32) = |device, lib|
        raw::get_pair(&lib.nvmlDeviceGetCudaComputeCapability, device);
    /// The module's place on its base board, `nvmlDeviceGetModuleId`.
    module_id: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetModuleId, device);
    /// The place in the rack, `nvmlDeviceGetPlatformInfo`.
    platform: Platform = |device, lib|
        raw::get_versioned(&lib.nvmlDeviceGetPlatformInfo, device, |_| ()).map(Platform::from);
    /// The highest PCIe generation of the GPU alone, `nvmlDeviceGetGpuMaxPcieLinkGeneration`.
    gpu_max_pcie_generation: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetGpuMaxPcieLinkGeneration, device);
    /// The highest PCIe generation here, `nvmlDeviceGetMaxPcieLinkGeneration`.
    max_pcie_generation: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetMaxPcieLinkGeneration, device);
    /// The widest PCIe link here, lanes, `nvmlDeviceGetMaxPcieLinkWidth`.
    max_pcie_width: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetMaxPcieLinkWidth, device);
    /// How many MIG devices there can be, `nvmlDeviceGetMaxMigDeviceCount`.
    max_mig_devices: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetMaxMigDeviceCount, device);
}

questions! { moving / Moving {
        memory_errors: Memo<(u32, u32, u32), u64>,
        total_errors: Memo<(u32, u32), u64>,
        fields: Memo<(u32, u32), FieldNumber>,
        inforom_versions: Memo<u32, String>,
        clocks: Memo<u32, u32>,
        max_clocks: Memo<u32, u32>,
        application_clocks: Memo<u32, u32>,
        default_application_clocks: Memo<u32, u32>,
        retired_pages: Memo<u32, Vec<(u64, u64)>>,
    }
    /// The PCIe generation in use, `nvmlDeviceGetCurrPcieLinkGeneration`.
    pcie_generation: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetCurrPcieLinkGeneration, device);
    /// The PCIe lanes in use, `nvmlDeviceGetCurrPcieLinkWidth`.
    pcie_width: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetCurrPcieLinkWidth, device);
    /// Whether a display could be connected, `nvmlDeviceGetDisplayMode`.
    display_connected: bool = |device, lib| raw::get_switch(&lib.nvmlDeviceGetDisplayMode, device);
    /// Whether a display is initialised, `nvmlDeviceGetDisplayActive`.
    display_active: bool = |device, lib| raw::get_switch(&lib.nvmlDeviceGetDisplayActive, device);
    /// Whether the driver stays loaded without clients, `nvmlDeviceGetPersistenceMode`.
    persistence: bool = |device, lib| raw::get_switch(&lib.nvmlDeviceGetPersistenceMode, device);
    /// How the GPU reaches system memory, `nvmlDeviceGetAddressingMode`: 0 none, 1 HMM, 2 ATS.
    addressing_mode: u32 = |device, lib|
        raw::get_versioned(&lib.nvmlDeviceGetAddressingMode, device, |_| ()).map(|mode| mode.value);
    /// Whether ended processes are accounted for, `nvmlDeviceGetAccountingMode`.
    accounting: bool = |device, lib| raw::get_switch(&lib.nvmlDeviceGetAccountingMode, device);
    /// How many processes accounting can hold, `nvmlDeviceGetAccountingBufferSize`.
    accounting_buffer_size: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetAccountingBufferSize, device);
    /// Windows' driver models, current and pending (0 WDDM, 1 TCC, 2 MCDM),
    /// `nvmlDeviceGetDriverModel_v2`.
    driver_models: (u32, u32) = |device, lib|
        match raw::get_pair(&lib.nvmlDeviceGetDriverModel_v2, device) {
            Err(Missing::FUNCTION_NOT_FOUND) => raw::get_pair(&lib.nvmlDeviceGetDriverModel, device),
            models => models,
        };
    /// The infoROM's checksums, `nvmlDeviceValidateInforom`: slow, about 70 ms.
    inforom_valid: () = |device, lib| raw::check(&lib.nvmlDeviceValidateInforom, device);
    /// GPU operation modes, current and pending (0 all on, 1 compute, 2 low double
    /// precision), `nvmlDeviceGetGpuOperationMode`.
    operation_modes: (u32, u32) = |device, lib| raw::get_pair(&lib.nvmlDeviceGetGpuOperationMode, device);
    /// The speed that the fan should have, percent, `nvmlDeviceGetFanSpeed`.
    fan_speed: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetFanSpeed, device);
    /// 0 (fastest) to 15, 32 unknown, `nvmlDeviceGetPerformanceState`.
    performance_state: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetPerformanceState, device);
    /// `nvmlClocksEventReason*` bits that this board can report,
    /// `nvmlDeviceGetSupportedClocksThrottleReasons`.
    supported_clocks_reasons: u64 = |device, lib|
        raw::get(&lib.nvmlDeviceGetSupportedClocksThrottleReasons, device);
    /// `nvmlClocksEventReason*` bits that hold the clocks down now,
    /// `nvmlDeviceGetCurrentClocksThrottleReasons`.
    clocks_reasons: u64 = |device, lib| raw::get(&lib.nvmlDeviceGetCurrentClocksThrottleReasons, device);
    /// Frame buffer, `nvmlDeviceGetMemoryInfo_v2`, or without `reserved` where
    /// the library is older than that.
    memory: Memory = |device, lib| raw::memory(device);
    /// Memory that confidential computing protects, bytes,
    /// `nvmlDeviceGetConfComputeProtectedMemoryUsage`.
    protected_memory: nvmlMemory_t = |device, lib|
        raw::get(&lib.nvmlDeviceGetConfComputeProtectedMemoryUsage, device);
    /// `NVML_COMPUTEMODE_*`, `nvmlDeviceGetComputeMode`.
    compute_mode: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetComputeMode, device);
    /// Percent of the last sample that kernels ran and memory was used,
    /// `nvmlDeviceGetUtilizationRates`.
    utilization: nvmlUtilization_t = |device, lib| raw::get(&lib.nvmlDeviceGetUtilizationRates, device);
    /// Percent, `nvmlDeviceGetEncoderUtilization`.
    encoder_utilization: u32 = |device, lib|
        raw::get_pair(&lib.nvmlDeviceGetEncoderUtilization, device).map(|(percent, _): (_, u32)| percent);
    /// Percent, `nvmlDeviceGetDecoderUtilization`.
    decoder_utilization: u32 = |device, lib|
        raw::get_pair(&lib.nvmlDeviceGetDecoderUtilization, device).map(|(percent, _): (_, u32)| percent);
    /// Percent, `nvmlDeviceGetJpgUtilization`.
    jpeg_utilization: u32 = |device, lib|
        raw::get_pair(&lib.nvmlDeviceGetJpgUtilization, device).map(|(percent, _): (_, u32)| percent);
    /// Percent, `nvmlDeviceGetOfaUtilization`.
    ofa_utilization: u32 = |device, lib|
        raw::get_pair(&lib.nvmlDeviceGetOfaUtilization, device).map(|(percent, _): (_, u32)| percent);
    /// What the encoder does, `nvmlDeviceGetEncoderStats`.
    encoder_stats: EncoderStats = |device, lib| raw::get_triple(&lib.nvmlDeviceGetEncoderStats, device)
        .map(|(sessions, average_fps, average_latency)| EncoderStats { sessions, average_fps, average_latency });
    /// Whether memory is encrypted, now and after a reset, `nvmlDeviceGetDramEncryptionMode`.
    dram_encryption: (bool, bool) = |device, lib| raw::dram_encryption(device);
    /// Whether ECC is on, now and after a reset, `nvmlDeviceGetEccMode`.
    ecc: (bool, bool) = |device, lib| raw::get_pair(&lib.nvmlDeviceGetEccMode, device)
        .map(|(current, pending): (u32, u32)| (current != 0, pending != 0));
    /// SRAM errors by kind, `nvmlDeviceGetSramEccErrorStatus`.
    sram_errors: Sram = |device, lib| raw::get_versioned(&lib.nvmlDeviceGetSramEccErrorStatus, device, |_| ());
    /// Whether retired pages wait for a reboot, `nvmlDeviceGetRetiredPagesPendingStatus`.
    retirement_pending: bool = |device, lib| raw::get_switch(&lib.nvmlDeviceGetRetiredPagesPendingStatus, device);
    /// Remapped rows, `nvmlDeviceGetRemappedRows`.
    remapped_rows: RemappedRows = |device, lib| raw::get_four(&lib.nvmlDeviceGetRemappedRows, device)
        .map(|[correctable, uncorrectable, pending, failure]| RemappedRows {
            correctable,
            uncorrectable,
            pending: pending != 0,
            failure: failure != 0,
        });
    /// Remapped rows with those not in use apart, `nvmlDeviceGetRemappedRows_v2`.
    remapped_rows_by_use: raw::RemappedRows = |device, lib| raw::remapped_rows(device);
    /// Spare rows, `nvmlDeviceGetRowRemapperHistogram`.
    remapper_histogram: Histogram = |device, lib| raw::get(&lib.nvmlDeviceGetRowRemapperHistogram, device);
    /// Degrees Celsius, `nvmlDeviceGetTemperatureV`, or its older form where the library lacks it.
    temperature: i32 = |device, lib| match raw::get_versioned(&lib.nvmlDeviceGetTemperatureV, device, |_| ()) {
        Err(Missing::FUNCTION_NOT_FOUND) =>
            raw::get_for(&lib.nvmlDeviceGetTemperature, device, 0).map(|degrees: u32| degrees as i32),
        temperature => temperature.map(|now| now.temperature),
    };
    /// Degrees below the point where the GPU slows down, `nvmlDeviceGetMarginTemperature`.
    temperature_margin: i32 = |device, lib|
        raw::get_versioned(&lib.nvmlDeviceGetMarginTemperature, device, |_| ()).map(|now| now.marginTemperature);
    /// Whether power is managed, `nvmlDeviceGetPowerManagementMode`.
    power_management: bool = |device, lib| raw::get(&lib.nvmlDeviceGetPowerManagementMode, device)
        .map(|mode: u32| mode != 0);
    /// Milliwatts, averaged over a second on most boards, `nvmlDeviceGetPowerUsage`.
    power_usage: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetPowerUsage, device);
    /// The limit that was asked for, milliwatts, `nvmlDeviceGetPowerManagementLimit`.
    power_limit: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetPowerManagementLimit, device);
    /// The limit in force, milliwatts, `nvmlDeviceGetEnforcedPowerLimit`.
    enforced_power_limit: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetEnforcedPowerLimit, device);
    /// The limit without anybody's wish, milliwatts, `nvmlDeviceGetPowerManagementDefaultLimit`.
    default_power_limit: u32 = |device, lib| raw::get(&lib.nvmlDeviceGetPowerManagementDefaultLimit, device);
    /// The lowest and the highest limit, milliwatts, `nvmlDeviceGetPowerManagementLimitConstraints`.
    power_limit_range: (u32, u32) = |device, lib|
        raw::get_pair(&lib.nvmlDeviceGetPowerManagementLimitConstraints, device);
    /// Whether MIG is on, now and after a reset, `nvmlDeviceGetMigMode`.
    mig: (bool, bool) = |device, lib| raw::get_pair(&lib.nvmlDeviceGetMigMode, device)
        .map(|(current, pending): (u32, u32)| (current != 0, pending != 0));
    /// Whether the performance counters stream, `nvmlGpmQueryIfStreamingEnabled`.
    gpm_streaming: bool = |device, lib| raw::get(&lib.nvmlGpmQueryIfStreamingEnabled, device)
        .map(|on: u32| on != 0);
    /// Protected memory of the processes with a compute, a graphics or an MPS
    /// context, bytes by pid, `nvmlDeviceGetRunningProcessDetailList`.
    protected_memory_by_process: Vec<(u32, u64)> = |device, lib| {
        [0, 1, 2]
            .map(|mode| raw::processes::protected_memory(device, mode))
            .into_iter()
            .collect::<Reading<Vec<_>>>()
            .map(|lists| lists.concat())
    };
    /// Whether the GSP firmware runs the GPU, and whether it does by default,
    /// `nvmlDeviceGetGspFirmwareMode`.
    gsp: (bool, bool) = |device, lib| raw::get_pair(&lib.nvmlDeviceGetGspFirmwareMode, device)
        .map(|(on, default): (u32, u32)| (on != 0, default != 0));
    /// Whether the chip-to-chip link is on, `nvmlDeviceGetC2cModeInfoV`.
    c2c: bool = |device, lib| raw::get(&lib.nvmlDeviceGetC2cModeInfoV, device)
        .map(|mode: nvmlC2cModeInfo_v1_t| mode.isC2cEnabled != 0);
    /// The NVLink fabric, `nvmlDeviceGetGpuFabricInfoV`.
    fabric: Fabric = |device, lib|
        raw::get_versioned(&lib.nvmlDeviceGetGpuFabricInfoV, device, |_| ()).map(Fabric::from);
    /// The name that an administrator gave the GPU, `nvmlDeviceGetHostname_v1`.
    hostname: String = |device, lib| raw::hostname(device);
    /// Time lost to each clocks event reason: power cap, sync boost, software
    /// thermal, hardware thermal, hardware power brake; nanoseconds, one call of
    /// `nvmlDeviceGetFieldValues`.
    clocks_reason_times: [Reading<i64>; 5] = |device, lib| {
        const IDS: [u32; 5] = [74, 76, 269, 270, 271];
        raw::whole_fields(device, IDS.map(|id| field_id(device, id)), 0)
    };
    /// Processes with a compute context, `nvmlDeviceGetComputeRunningProcesses_v3`.
    compute_processes: Vec<Context> = |device, lib|
        raw::processes(&lib.nvmlDeviceGetComputeRunningProcesses_v3, c"nvmlDeviceGetComputeRunningProcesses_v2", device);
    /// Processes with a graphics context, `nvmlDeviceGetGraphicsRunningProcesses_v3`.
    graphics_processes: Vec<Context> = |device, lib|
        raw::processes(&lib.nvmlDeviceGetGraphicsRunningProcesses_v3, c"nvmlDeviceGetGraphicsRunningProcesses_v2", device);
    /// Processes that share the GPU through MPS, `nvmlDeviceGetMPSComputeRunningProcesses_v3`.
    mps_processes: Vec<Context> = |device, lib|
        raw::processes(&lib.nvmlDeviceGetMPSComputeRunningProcesses_v3, c"nvmlDeviceGetMPSComputeRunningProcesses_v2", device);
}
