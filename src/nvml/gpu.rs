//! One GPU: one method per question, each asked at most once per pass.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use nvml_wrapper::enum_wrappers::device::Clock;
use nvml_wrapper_sys::bindings::*;

use super::facts::*;
use super::field_id::field_id;
pub use super::raw::FieldNumber;
use super::raw::forms::{self, older};
use super::raw::library::Library;
use super::raw::{self, Device, function};
use super::reading::{Missing, Reading};

/// A GPU, by its handle or by the reason why NVML gave none.
///
/// A question is put to NVML when it is first asked, and its answer kept:
/// facts that cannot change for the life of the handle, the others until
/// [`Gpu::forget`].
pub struct Gpu<'d> {
    library: &'static Library,
    index: u32,
    device: Reading<Device<'d>>,
    lasting: Lasting,
    moving: Moving,
    pub(super) report: super::report::Report,
    /// What [`Gpu::bus_id`] has found for a GPU without a handle.
    pub(super) left_over: OnceLock<Option<String>>,
}

impl<'d> Gpu<'d> {
    /// The GPU with this `index` and what `nvmlDeviceGetHandleBy...` said.
    pub fn new(library: &'static Library, index: u32, device: Reading<Device<'d>>) -> Self {
        if let Ok(device) = device {
            raw::time_limit::belongs_to(device, index);
        }
        Self {
            library,
            index,
            device,
            lasting: Lasting::default(),
            moving: Moving::default(),
            report: Default::default(),
            left_over: OnceLock::new(),
        }
    }

    /// Its place in NVML's order, from 0.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The handle, or why there is none.
    pub fn device(&self) -> Reading<Device<'d>> {
        self.device
    }

    /// Whether NVML still knows which GPU the handle is of, or why not. One that
    /// tells its place on the bus does; the others are asked for their number,
    /// `nvmlDeviceGetIndex`.
    pub fn is_known(&self) -> Reading<()> {
        self.pci().map(drop).or_else(|_| self.number().map(drop))
    }

    /// Whether the GPU tells its place on the bus, if it is on one.
    pub fn has_place(&self) -> Reading<()> {
        match self.pci() {
            Err(Missing::NotSupported) => Ok(()),
            place => place.map(drop),
        }
    }

    /// Whether the machine is a host of vGPUs, as far as the GPU tells
    /// (`NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU`).
    pub fn hosts_vgpus(&self) -> bool {
        const HOST_VGPU: u32 = 3;
        self.virtualization_mode() == Ok(HOST_VGPU)
    }

    /// The GPU at this `index`, `nvmlDeviceGetHandleByIndex`.
    pub fn at(library: &'static Library, index: u32) -> Self {
        Self::new(library, index, raw::handle(library, index))
    }

    /// How many GPUs there are, `nvmlDeviceGetCount_v2`.
    pub(super) fn gpu_count(&self) -> Reading<u32> {
        raw::system::get(function!(nvmlDeviceGetCount_v2), self.library)
    }

    /// Another GPU of the machine.
    pub(super) fn neighbour(&self, index: u32) -> Gpu<'d> {
        Self::at(self.library, index)
    }

    /// Forgets what may have changed and what could not be read, so that it is
    /// asked anew; a handle that could not be had is asked for at once.
    pub fn forget(&mut self) {
        if self.device.is_err() {
            *self = Self::at(self.library, self.index);
        }
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
            raw::get_for3(function!(nvmlDeviceGetMemoryErrorCounter), device, key)
        })
    }

    /// Error counts over all memories, `nvmlDeviceGetTotalEccErrors`.
    pub fn total_errors(&self, error: u32, period: u32) -> Reading<u64> {
        self.moving.total_errors.get_or_ask((error, period), || {
            let device = self.device()?;
            raw::get_for2(
                function!(nvmlDeviceGetTotalEccErrors),
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
        let Ok(device) = self.device else { return };
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
            raw::get_for(function!(nvmlDeviceGetClockInfo), device, kind.as_c())
        })
    }

    /// The highest that a clock can be, MHz, `nvmlDeviceGetMaxClockInfo`.
    pub fn max_clock(&self, kind: Clock) -> Reading<u32> {
        self.moving.max_clocks.get_or_ask(kind.as_c(), || {
            let device = self.device()?;
            raw::get_for(function!(nvmlDeviceGetMaxClockInfo), device, kind.as_c())
        })
    }

    /// The clock that applications run at, MHz, `nvmlDeviceGetApplicationsClock`.
    pub fn application_clock(&self, kind: Clock) -> Reading<u32> {
        self.moving.application_clocks.get_or_ask(kind.as_c(), || {
            let device = self.device()?;
            raw::get_for(
                function!(nvmlDeviceGetApplicationsClock),
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
                    function!(nvmlDeviceGetDefaultApplicationsClock),
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
            raw::get_string_for(function!(nvmlDeviceGetInforomVersion), device, object, 16)
        })
    }

    /// What the GPU can do for vGPUs, `nvmlDeviceGetVgpuCapabilities`: 1 when it can.
    pub fn vgpu_capability(&self, capability: u32) -> Reading<u32> {
        let device = self.device()?;
        raw::get_for(function!(nvmlDeviceGetVgpuCapabilities), device, capability)
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
        /// No GPU has so many, and each has a list of its own below.
        const MOST: usize = 256;
        let device = self.device()?;
        let clocks = raw::get_list(function!(nvmlDeviceGetSupportedMemoryClocks), device, 16)?;
        short(clocks, MOST)
    }

    /// Every graphics clock that goes with a memory clock, MHz,
    /// `nvmlDeviceGetSupportedGraphicsClocks`.
    pub fn supported_graphics_clocks(&self, memory: u32) -> Reading<Vec<u32>> {
        /// No GPU has so many.
        const MOST: usize = 4096;
        let list = function!(nvmlDeviceGetSupportedGraphicsClocks);
        short(raw::get_list_for(list, self.device()?, memory, 256)?, MOST)
    }

    /// How long a policy (`NVML_PERF_POLICY_*`) has held the clocks down,
    /// `nvmlDeviceGetViolationStatus`.
    pub fn violation(&self, policy: u32) -> Reading<Violation> {
        let device = self.device()?;
        raw::get_for(function!(nvmlDeviceGetViolationStatus), device, policy)
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
        let sessions = function!(nvmlDeviceGetEncoderSessions);
        raw::get_list(sessions, device, 64)
    }

    /// The frame buffer capture sessions, `nvmlDeviceGetFBCSessions`.
    pub fn capture_sessions(&self) -> Reading<Vec<CaptureSession>> {
        let device = self.device()?;
        let sessions = function!(nvmlDeviceGetFBCSessions);
        raw::get_list(sessions, device, 64)
    }

    /// What ended and running processes did, `nvmlDeviceGetAccountingPids` and
    /// `nvmlDeviceGetAccountingStats`; a process that NVML drops in between
    /// (`NVML_ERROR_NOT_FOUND`) is left out.
    pub fn accounted(&self) -> Reading<Vec<(u32, Reading<Accounted>)>> {
        let device = self.device()?;
        let room = self.accounting_buffer_size()? as usize;
        let pids: Vec<u32> =
            raw::get_list(function!(nvmlDeviceGetAccountingPids), device, room.max(1))?;
        Ok(pids
            .into_iter()
            .map(|pid| {
                let stats = raw::get_for(function!(nvmlDeviceGetAccountingStats), device, pid);
                (pid, stats.map(Accounted::from))
            })
            .filter(|(_, stats)| !matches!(stats, Err(Missing::NOT_FOUND)))
            .collect())
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
     $($(#[$doc:meta])* $name:ident: $answer:ty = |$device:ident| $ask:expr;)*) => {
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
    name: String = |device| raw::get_string(function!(nvmlDeviceGetName), device, 96);
    /// `GPU-` and a UUID, `nvmlDeviceGetUUID`.
    uuid: String = |device| raw::get_string(function!(nvmlDeviceGetUUID), device, 96);
    /// The number printed on the board, `nvmlDeviceGetSerial`.
    serial: String = |device| raw::get_string(function!(nvmlDeviceGetSerial), device, 30);
    /// Where it sits, `nvmlDeviceGetPciInfo_v3`.
    pci: Pci = |device| raw::get(function!(nvmlDeviceGetPciInfo_v3), device).map(Pci::from);
    /// Its number as the handle has it, `nvmlDeviceGetIndex`.
    number: u32 = |device| raw::get(function!(nvmlDeviceGetIndex), device);
    /// The PCI base class and sub class, `nvmlDeviceGetPciInfoExt`.
    pci_class: (u32, u32) = |device| raw::get(function!(nvmlDeviceGetPciInfoExt), device)
        .map(|pci| (pci.baseClass, pci.subClass));
    /// `nvmlDeviceGetVbiosVersion`.
    vbios_version: String = |device| raw::get_string(function!(nvmlDeviceGetVbiosVersion), device, 32);
    /// The infoROM's own version, `nvmlDeviceGetInforomImageVersion`.
    inforom_image_version: String = |device|
        raw::get_string(function!(nvmlDeviceGetInforomImageVersion), device, 16);
    /// Major and minor, `nvmlDeviceGetCudaComputeCapability`.
    compute_capability: (i32, i32) = |device|
        raw::get_pair(function!(nvmlDeviceGetCudaComputeCapability), device);
    /// The module's place on its base board, `nvmlDeviceGetModuleId`.
    module_id: u32 = |device| raw::get(function!(nvmlDeviceGetModuleId), device);
    /// The place in the rack, `nvmlDeviceGetPlatformInfo`.
    platform: Platform = |device| forms::platform(device);
    /// The highest PCIe generation of the GPU alone, `nvmlDeviceGetGpuMaxPcieLinkGeneration`.
    gpu_max_pcie_generation: u32 = |device| raw::get(function!(nvmlDeviceGetGpuMaxPcieLinkGeneration), device);
    /// The highest PCIe generation here, `nvmlDeviceGetMaxPcieLinkGeneration`.
    max_pcie_generation: u32 = |device| raw::get(function!(nvmlDeviceGetMaxPcieLinkGeneration), device);
    /// The widest PCIe link here, lanes, `nvmlDeviceGetMaxPcieLinkWidth`.
    max_pcie_width: u32 = |device| raw::get(function!(nvmlDeviceGetMaxPcieLinkWidth), device);
    /// How many MIG devices there can be, `nvmlDeviceGetMaxMigDeviceCount`.
    max_mig_devices: u32 = |device| raw::get(function!(nvmlDeviceGetMaxMigDeviceCount), device);
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
    pcie_generation: u32 = |device| raw::get(function!(nvmlDeviceGetCurrPcieLinkGeneration), device);
    /// The PCIe lanes in use, `nvmlDeviceGetCurrPcieLinkWidth`.
    pcie_width: u32 = |device| raw::get(function!(nvmlDeviceGetCurrPcieLinkWidth), device);
    /// Whether a display could be connected, `nvmlDeviceGetDisplayMode`.
    display_connected: bool = |device| raw::get_switch(function!(nvmlDeviceGetDisplayMode), device);
    /// Whether a display is initialised, `nvmlDeviceGetDisplayActive`.
    display_active: bool = |device| raw::get_switch(function!(nvmlDeviceGetDisplayActive), device);
    /// Whether the driver stays loaded without clients, `nvmlDeviceGetPersistenceMode`.
    persistence: bool = |device| raw::get_switch(function!(nvmlDeviceGetPersistenceMode), device);
    /// How the GPU reaches system memory, `nvmlDeviceGetAddressingMode`: 0 none, 1 HMM, 2 ATS.
    addressing_mode: u32 = |device|
        raw::get(function!(nvmlDeviceGetAddressingMode), device).map(|mode| mode.value);
    /// Whether ended processes are accounted for, `nvmlDeviceGetAccountingMode`.
    accounting: bool = |device| raw::get_switch(function!(nvmlDeviceGetAccountingMode), device);
    /// How many processes accounting can hold, `nvmlDeviceGetAccountingBufferSize`.
    accounting_buffer_size: u32 = |device| raw::get(function!(nvmlDeviceGetAccountingBufferSize), device);
    /// Windows' driver models, current and pending (0 WDDM, 1 TCC, 2 MCDM),
    /// `nvmlDeviceGetDriverModel_v2`.
    driver_models: (u32, u32) = |device|
        raw::get_pair(function!(nvmlDeviceGetDriverModel_v2), device)
            .or_else(older(|| raw::get_pair(function!(nvmlDeviceGetDriverModel), device)));
    /// The infoROM's checksums, `nvmlDeviceValidateInforom`: slow, about 70 ms.
    inforom_valid: () = |device| raw::check(function!(nvmlDeviceValidateInforom), device);
    /// GPU operation modes, current and pending (0 all on, 1 compute, 2 low double
    /// precision), `nvmlDeviceGetGpuOperationMode`.
    operation_modes: (u32, u32) = |device| raw::get_pair(function!(nvmlDeviceGetGpuOperationMode), device);
    /// The speed that the fan should have, percent, `nvmlDeviceGetFanSpeed`.
    fan_speed: u32 = |device| raw::get(function!(nvmlDeviceGetFanSpeed), device);
    /// 0 (fastest) to 15, 32 unknown, `nvmlDeviceGetPerformanceState`.
    performance_state: u32 = |device| raw::get(function!(nvmlDeviceGetPerformanceState), device);
    /// `nvmlClocksEventReason*` bits that this board can report,
    /// `nvmlDeviceGetSupportedClocksThrottleReasons`.
    supported_clocks_reasons: u64 = |device|
        raw::get(function!(nvmlDeviceGetSupportedClocksThrottleReasons), device);
    /// `nvmlClocksEventReason*` bits that hold the clocks down now,
    /// `nvmlDeviceGetCurrentClocksThrottleReasons`.
    clocks_reasons: u64 = |device| raw::get(function!(nvmlDeviceGetCurrentClocksThrottleReasons), device);
    /// Frame buffer, `nvmlDeviceGetMemoryInfo_v2`, or without `reserved` where
    /// the library is older than that.
    memory: Memory = |device| forms::memory(device);
    /// Memory that confidential computing protects, bytes,
    /// `nvmlDeviceGetConfComputeProtectedMemoryUsage`.
    protected_memory: nvmlMemory_t = |device|
        raw::get(function!(nvmlDeviceGetConfComputeProtectedMemoryUsage), device);
    /// `NVML_COMPUTEMODE_*`, `nvmlDeviceGetComputeMode`.
    compute_mode: u32 = |device| raw::get(function!(nvmlDeviceGetComputeMode), device);
    /// Percent of the last sample that kernels ran and memory was used,
    /// `nvmlDeviceGetUtilizationRates`.
    utilization: nvmlUtilization_t = |device| raw::get(function!(nvmlDeviceGetUtilizationRates), device);
    /// Percent, `nvmlDeviceGetEncoderUtilization`.
    encoder_utilization: u32 = |device|
        raw::get_pair(function!(nvmlDeviceGetEncoderUtilization), device).map(|(percent, _): (_, u32)| percent);
    /// Percent, `nvmlDeviceGetDecoderUtilization`.
    decoder_utilization: u32 = |device|
        raw::get_pair(function!(nvmlDeviceGetDecoderUtilization), device).map(|(percent, _): (_, u32)| percent);
    /// Percent, `nvmlDeviceGetJpgUtilization`.
    jpeg_utilization: u32 = |device|
        raw::get_pair(function!(nvmlDeviceGetJpgUtilization), device).map(|(percent, _): (_, u32)| percent);
    /// Percent, `nvmlDeviceGetOfaUtilization`.
    ofa_utilization: u32 = |device|
        raw::get_pair(function!(nvmlDeviceGetOfaUtilization), device).map(|(percent, _): (_, u32)| percent);
    /// What the encoder does, `nvmlDeviceGetEncoderStats`.
    encoder_stats: EncoderStats = |device| raw::get_triple(function!(nvmlDeviceGetEncoderStats), device)
        .map(|(sessions, average_fps, average_latency)| EncoderStats { sessions, average_fps, average_latency });
    /// Whether memory is encrypted, now and after a reset, `nvmlDeviceGetDramEncryptionMode`.
    dram_encryption: (bool, bool) = |device| raw::dram_encryption(device);
    /// Whether ECC is on, now and after a reset, `nvmlDeviceGetEccMode`.
    ecc: (bool, bool) = |device| raw::get_pair(function!(nvmlDeviceGetEccMode), device)
        .map(|(current, pending): (u32, u32)| (current != 0, pending != 0));
    /// SRAM errors by kind, `nvmlDeviceGetSramEccErrorStatus`.
    sram_errors: Sram = |device| raw::get(function!(nvmlDeviceGetSramEccErrorStatus), device);
    /// Whether retired pages wait for a reboot, `nvmlDeviceGetRetiredPagesPendingStatus`.
    retirement_pending: bool = |device| raw::get_switch(function!(nvmlDeviceGetRetiredPagesPendingStatus), device);
    /// Remapped rows, `nvmlDeviceGetRemappedRows`.
    remapped_rows: RemappedRows = |device| raw::get_four(function!(nvmlDeviceGetRemappedRows), device)
        .map(|[correctable, uncorrectable, pending, failure]| RemappedRows {
            correctable,
            uncorrectable,
            pending: pending != 0,
            failure: failure != 0,
        });
    /// Remapped rows with those not in use apart, `nvmlDeviceGetRemappedRows_v2`.
    remapped_rows_by_use: raw::RemappedRows = |device| raw::remapped_rows(device);
    /// Spare rows, `nvmlDeviceGetRowRemapperHistogram`.
    remapper_histogram: Histogram = |device| raw::get(function!(nvmlDeviceGetRowRemapperHistogram), device);
    /// Degrees Celsius, `nvmlDeviceGetTemperatureV`, or its older form.
    temperature: i32 = |device| forms::temperature(device);
    /// Degrees below the point where the GPU slows down, `nvmlDeviceGetMarginTemperature`.
    temperature_margin: i32 = |device|
        raw::get(function!(nvmlDeviceGetMarginTemperature), device).map(|now| now.marginTemperature);
    /// Whether power is managed, `nvmlDeviceGetPowerManagementMode`.
    power_management: bool = |device| raw::get(function!(nvmlDeviceGetPowerManagementMode), device)
        .map(|mode: u32| mode != 0);
    /// Milliwatts, averaged over a second on most boards, `nvmlDeviceGetPowerUsage`.
    power_usage: u32 = |device| raw::get(function!(nvmlDeviceGetPowerUsage), device);
    /// The limit that was asked for, milliwatts, `nvmlDeviceGetPowerManagementLimit`.
    power_limit: u32 = |device| raw::get(function!(nvmlDeviceGetPowerManagementLimit), device);
    /// The limit in force, milliwatts, `nvmlDeviceGetEnforcedPowerLimit`.
    enforced_power_limit: u32 = |device| raw::get(function!(nvmlDeviceGetEnforcedPowerLimit), device);
    /// The limit without anybody's wish, milliwatts, `nvmlDeviceGetPowerManagementDefaultLimit`.
    default_power_limit: u32 = |device| raw::get(function!(nvmlDeviceGetPowerManagementDefaultLimit), device);
    /// The lowest and the highest limit, milliwatts, `nvmlDeviceGetPowerManagementLimitConstraints`.
    power_limit_range: (u32, u32) = |device|
        raw::get_pair(function!(nvmlDeviceGetPowerManagementLimitConstraints), device);
    /// Whether MIG is on, now and after a reset, `nvmlDeviceGetMigMode`.
    mig: (bool, bool) = |device| raw::get_pair(function!(nvmlDeviceGetMigMode), device)
        .map(|(current, pending): (u32, u32)| (current != 0, pending != 0));
    /// Whether the performance counters stream, `nvmlGpmQueryIfStreamingEnabled`.
    gpm_streaming: bool = |device| raw::get(function!(nvmlGpmQueryIfStreamingEnabled), device)
        .map(|on: u32| on != 0);
    /// Protected memory of the processes with a compute, a graphics or an MPS
    /// context, bytes by pid, `nvmlDeviceGetRunningProcessDetailList`.
    protected_memory_by_process: Vec<(u32, u64)> = |device| {
        [0, 1, 2]
            .map(|mode| raw::processes::protected_memory(device, mode))
            .into_iter()
            .collect::<Reading<Vec<_>>>()
            .map(|lists| lists.concat())
    };
    /// Whether the GSP firmware runs the GPU, and whether it does by default,
    /// `nvmlDeviceGetGspFirmwareMode`.
    gsp: (bool, bool) = |device| raw::get_pair(function!(nvmlDeviceGetGspFirmwareMode), device)
        .map(|(on, default): (u32, u32)| (on != 0, default != 0));
    /// Whether the chip-to-chip link is on, `nvmlDeviceGetC2cModeInfoV`.
    c2c: bool = |device| raw::get(function!(nvmlDeviceGetC2cModeInfoV), device)
        .map(|mode: nvmlC2cModeInfo_v1_t| mode.isC2cEnabled != 0);
    /// The NVLink fabric, `nvmlDeviceGetGpuFabricInfoV`.
    fabric: Fabric = |device| forms::fabric(device);
    /// The name that an administrator gave the GPU, `nvmlDeviceGetHostname_v1`.
    hostname: String = |device| raw::hostname(device);
    /// Seconds that a driver has run the board, all in all, `nvmlDeviceGetBBXTimeData_v1`.
    time_run: u32 = |device| raw::time_run(device);
    /// Time lost to each clocks event reason: power cap, sync boost, software
    /// thermal, hardware thermal, hardware power brake; nanoseconds, one call of
    /// `nvmlDeviceGetFieldValues`.
    clocks_reason_times: [Reading<i64>; 5] = |device| {
        const IDS: [u32; 5] = [74, 76, 269, 270, 271];
        raw::whole_fields(device, IDS.map(|id| field_id(device, id)), 0)
    };
    /// Processes with a compute context, `nvmlDeviceGetComputeRunningProcesses_v3`.
    compute_processes: Vec<Context> = |device| raw::processes::compute(device);
    /// Processes with a graphics context, `nvmlDeviceGetGraphicsRunningProcesses_v3`.
    graphics_processes: Vec<Context> = |device| raw::processes::graphics(device);
    /// Processes that share the GPU through MPS, `nvmlDeviceGetMPSComputeRunningProcesses_v3`.
    mps_processes: Vec<Context> = |device| raw::processes::mps(device);
}

/// A list, if there can be so many entries.
fn short<T>(list: Vec<T>, most: usize) -> Reading<Vec<T>> {
    if list.len() > most {
        return Err(Missing::UNKNOWN);
    }
    Ok(list)
}
