//! The driver: opened once, asked for GPUs by whatever name they are known.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::gpu::Gpu;
use super::parallel::each;
use super::raw::library::{Function, Library};
use super::raw::time_limit::{self, Asked};
use super::raw::{self, function, system};
use super::reading::{Missing, Reading};

/// Where NVML may be: by name first, which honours LD_LIBRARY_PATH and the
/// loader's cache; then the homes that some systems keep it in without telling
/// the loader (WSL, containers, NixOS, GKE, the driver container). There, only a
/// library that nobody but root can have put is loaded, whoever runs nvsmi: on other
/// systems `/home/kubernetes` may be the home of a user.
const LIBRARIES: &[&str] = &[
    "libnvidia-ml.so.1",
    "libnvidia-ml.so",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib/libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1",
    "/home/kubernetes/bin/nvidia/lib64/libnvidia-ml.so.1",
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1",
];

/// Why NVML could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// No library, or none that can be loaded.
    NoLibrary,
    /// The library is there, but `nvmlInit` failed.
    Init {
        /// Its code.
        code: Missing,
        /// The library's version as `580.159`, for the message about a mismatch.
        library: Option<String>,
    },
}

/// A GPU that does not tell whether it is the one that is looked for.
#[derive(Debug)]
pub struct Unanswered {
    /// Its PCI bus id, four digits of domain, or its index where that is not known.
    pub name: String,
    /// Whether NVML gives no handle for it.
    pub no_handle: bool,
    /// What NVML says of it; `INVALID_ARGUMENT` of what is no bus id.
    pub missing: Missing,
}

impl Unanswered {
    fn of(gpu: &Gpu, missing: Missing) -> Self {
        Self {
            name: gpu.short_name(),
            no_handle: gpu.device().is_err(),
            missing,
        }
    }
}

/// Loads the library of this name and initialises it.
fn init(name: &str) -> Result<&'static Library, OpenError> {
    let library = Library::load(name).ok_or(OpenError::NoLibrary)?;
    match system::init(library) {
        Ok(()) => Ok(library),
        Err(code) => {
            let version = system::version_without_init(library).ok();
            let library = version.map(|version| short_version(&version));
            Err(OpenError::Init { code, library })
        }
    }
}

/// The driver, by way of NVML.
///
/// It is not shut down: the process is about to end, which gives everything back
/// at once, and `nvmlShutdown` takes 2 to 8 ms.
pub struct Driver {
    library: &'static Library,
    count: OnceLock<Reading<u32>>,
    cuda_version: OnceLock<(i32, i32)>,
}

impl Driver {
    /// Loads NVML and initialises it (`nvmlInit_v2`). No GPU is touched.
    pub fn open() -> Result<Self, OpenError> {
        for name in LIBRARIES {
            let opened = time_limit::wait(Asked::Driver, "nvmlInit_v2", || Ok(init(name)));
            let library = match opened {
                Ok(Err(OpenError::NoLibrary)) => continue,
                Ok(library) => library?,
                Err(code) => {
                    let library = None;
                    return Err(OpenError::Init { code, library });
                }
            };
            return Ok(Self {
                library,
                count: OnceLock::new(),
                cuda_version: OnceLock::new(),
            });
        }
        Err(OpenError::NoLibrary)
    }

    /// For the questions that other files here put.
    pub(super) fn library(&self) -> &'static Library {
        self.library
    }

    /// Ends the use of NVML (`nvmlShutdown`), which lets go of the GPUs' device
    /// files; where it fails, they are still in use.
    pub fn close(self) -> Reading<()> {
        system::shutdown(self.library)
    }

    /// How many GPUs there are, those that cannot be used included,
    /// `nvmlDeviceGetCount_v2`.
    pub fn gpu_count(&self) -> Reading<u32> {
        *self
            .count
            .get_or_init(|| self.counted(function!(nvmlDeviceGetCount_v2)))
    }

    /// A count of devices. One that no machine can have is `UNKNOWN`: a row for each
    /// would take all memory.
    fn counted(&self, f: Function<unsafe extern "C" fn(*mut u32) -> u32>) -> Reading<u32> {
        /// Many times what any machine has.
        const MOST: u32 = 1024;
        raw::plausible(system::get(f, self.library)?, MOST)
    }

    /// The driver's version, `nvmlSystemGetDriverVersion`: `580.159.04`.
    pub fn version(&self) -> Reading<String> {
        self.library.driver_version()
    }

    /// The library's version, `nvmlSystemGetNVMLVersion`, without the CUDA
    /// release before it and the patch level behind it: `580.159`.
    pub fn library_version(&self) -> Reading<String> {
        system::library_version(self.library).map(|version| short_version(&version))
    }

    /// The newest CUDA that the driver serves, major and minor,
    /// `nvmlSystemGetCudaDriverVersion_v2`.
    pub fn cuda_version(&self) -> Reading<(i32, i32)> {
        if let Some(&version) = self.cuda_version.get() {
            return Ok(version);
        }
        let number: i32 = system::get(function!(nvmlSystemGetCudaDriverVersion_v2), self.library)?;
        let version = (number / 1000, number % 1000 / 10);
        Ok(*self.cuda_version.get_or_init(|| version))
    }

    /// How many GPUs the driver was told to leave alone, `nvmlGetExcludedDeviceCount`.
    pub fn excluded_count(&self) -> Reading<u32> {
        self.counted(function!(nvmlGetExcludedDeviceCount))
    }

    /// PCI bus id and UUID of one of them, `nvmlGetExcludedDeviceInfoByIndex`.
    pub fn excluded_gpu(&self, index: u32) -> Reading<(String, String)> {
        system::excluded_gpu(self.library, index)
    }

    /// What a process is called, `nvmlSystemGetProcessName`.
    pub fn process_name(&self, pid: u32) -> Reading<String> {
        system::process_name(self.library, pid)
    }

    /// Whether the driver can mix vGPU types on one GPU: 1 when it can, 0 when not,
    /// `nvmlGetVgpuDriverCapabilities`.
    pub fn heterogeneous_vgpus(&self) -> Reading<u32> {
        const HETEROGENEOUS_MULTI_VGPU: u32 = 0;
        let f = function!(nvmlGetVgpuDriverCapabilities);
        system::get_for(f, self.library, HETEROGENEOUS_MULTI_VGPU)
    }

    /// How many S-class units are attached, `nvmlUnitGetCount`.
    pub fn unit_count(&self) -> Reading<u32> {
        self.counted(function!(nvmlUnitGetCount))
    }

    /// Host interface cards and the version of their firmware,
    /// `nvmlSystemGetHicVersion`.
    pub fn interface_cards(&self) -> Reading<Vec<(u32, String)>> {
        system::interface_cards(self.library)
    }

    /// Every GPU, in NVML's order, each with its handle
    /// (`nvmlDeviceGetHandleByIndex_v2`) or the reason why it has none.
    pub fn gpus(&self) -> Reading<Vec<Gpu<'_>>> {
        let indices: Vec<u32> = (0..self.gpu_count()?).collect();
        Ok(each(&indices, |&index| self.gpu(index)))
    }

    /// The GPU at an index.
    pub fn gpu(&self, index: u32) -> Gpu<'_> {
        Gpu::at(self.library, index)
    }

    /// The GPUs that a list of identifiers names, each once, in NVML's order:
    /// index, UUID, serial number, PCI bus id. What names no GPU is skipped,
    /// unless it may be the name of one that does not answer; nothing between
    /// two commas is no name.
    /// Only the handles of the GPUs named are taken; for a serial number, NVML
    /// has to look at all of them.
    pub fn select(&self, identifiers: &str) -> Result<Vec<Gpu<'_>>, Unanswered> {
        let count = self.gpu_count().unwrap_or(0);
        let all = OnceCell::new();
        let mut gpus: BTreeMap<u32, Gpu> = BTreeMap::new();
        let named = identifiers.split(',').filter(|named| !named.is_empty());
        for identifier in named.map(str::trim_start) {
            if let Some(index) = index(identifier).filter(|&index| index < count) {
                gpus.entry(index).or_insert_with(|| self.gpu(index));
            } else if let Some(gpu) = self.find(identifier, &gpus, &all)? {
                gpus.entry(gpu.index()).or_insert(gpu);
            }
        }
        Ok(gpus.into_values().collect())
    }

    /// The GPU with this UUID, bus id or serial number, beside those found before.
    /// `all` keeps every GPU once a name had to be looked up among them, so that a
    /// list of many unknown names takes their handles once.
    fn find<'d>(
        &'d self,
        identifier: &str,
        before: &BTreeMap<u32, Gpu>,
        all: &OnceCell<Vec<Gpu<'d>>>,
    ) -> Result<Option<Gpu<'d>>, Unanswered> {
        let by = if identifier.starts_with("GPU-") {
            Some(function!(nvmlDeviceGetHandleByUUID))
        } else if identifier.contains(':') {
            Some(function!(nvmlDeviceGetHandleByPciBusId_v2))
        } else {
            None
        };
        let found = by.map(|f| raw::find(f, self.library, identifier));
        if let Some(Ok((index, device))) = found {
            return Ok(Some(Gpu::new(self.library, index, Ok(device))));
        }
        if identifier.contains(':') && !is_bus_id(identifier) {
            // No bus id at all: the first GPU that is compared with it is named.
            let compared =
                (0..self.gpu_count().unwrap_or(0)).find(|index| !before.contains_key(index));
            return compared.map_or(Ok(None), |index| {
                Err(Unanswered::of(&self.gpu(index), Missing::INVALID_ARGUMENT))
            });
        }
        let serial = !identifier.is_empty() && identifier.bytes().all(|b| b.is_ascii_digit());
        let mut unanswered = None;
        for gpu in all.get_or_init(|| self.gpus().unwrap_or_default()) {
            if gpu.device().is_err() && gpu.bus_id().is_ok_and(|id| same_place(&id, identifier)) {
                return Ok(Some(Gpu::new(self.library, gpu.index(), gpu.device())));
            }
            let failure = match gpu.device() {
                Ok(_) if serial => match gpu.serial() {
                    Ok(serial) if serial == identifier => {
                        return Ok(Some(Gpu::new(self.library, gpu.index(), gpu.device())));
                    }
                    Ok(_) | Err(Missing::NotSupported) => None,
                    Err(missing) => Some(missing),
                },
                handle => handle.err(),
            };
            if let Some(missing) = failure {
                unanswered.get_or_insert_with(|| Unanswered::of(gpu, missing));
            }
        }
        unanswered.map_or(Ok(None), Err)
    }
}

/// Whether it reads as `[domain:]bus:device.function`, or without the function
/// where there is a domain.
fn is_bus_id(text: &str) -> bool {
    let mut parts = text.split([':', '.']);
    let digits = |part: &str| part.starts_with(|first: char| first.is_ascii_hexdigit());
    (0..3).all(|_| parts.next().is_some_and(digits))
}

/// Whether two bus ids are of one place, whatever the case and the width of
/// their numbers; without a domain it is 0.
fn same_place(one: &str, two: &str) -> bool {
    let numbers = |text: &str| {
        let place = text.split_once('.').map_or(text, |(place, _)| place);
        let parts = place.split(':').map(|part| u32::from_str_radix(part, 16));
        let mut parts = parts.collect::<Result<Vec<u32>, _>>().ok()?;
        if parts.len() == 2 {
            parts.insert(0, 0);
        }
        (parts.len() == 3).then_some(parts)
    };
    let place = numbers(one);
    place.is_some() && place == numbers(two)
}

/// A number as C's `strtoul` reads it: decimal, 0x hex, 0 octal, with an
/// optional plus sign.
fn index(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => u32::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    }
}

/// `580.159` of `13.580.159.04` (CUDA release, driver branch, minor, patch).
fn short_version(version: &str) -> String {
    version
        .split('.')
        .skip(1)
        .take(2)
        .collect::<Vec<_>>()
        .join(".")
}

#[cfg(test)]
mod tests {
    use super::{index, is_bus_id, same_place, short_version};

    #[test]
    fn indices_are_read_as_c_reads_them() {
        let cases = [
            ("0", Some(0)),
            ("00", Some(0)),
            ("0x1f", Some(31)),
            ("010", Some(8)),
            ("+3", Some(3)),
        ];
        for (text, number) in cases {
            assert_eq!(index(text), number, "{text}");
        }
        for text in ["", "-1", "1 ", "x", "0x", "4294967296", "1650000000001"] {
            assert_eq!(index(text), None, "{text}");
        }
    }

    #[test]
    fn bus_ids_have_three_numbers() {
        for text in ["0:2:0.0", "2:0.0", "0000:19:00.0", "0:3b:0"] {
            assert!(is_bus_id(text), "{text}");
        }
        for text in ["3b:00", "0:0", "x:y", "a:b", ":", "x:y:z.0"] {
            assert!(!is_bus_id(text), "{text}");
        }
    }

    #[test]
    fn a_place_has_many_spellings() {
        for text in ["0000:5D:00.0", "0:5d:0", "5d:0.0", "00000000:5d:00.0"] {
            assert!(same_place("00000000:5D:00.0", text), "{text}");
        }
        for text in ["0000:5E:00.0", "1:5d:0.0", "5d", "", "GPU-5d", "x:5d:0.0"] {
            assert!(!same_place("00000000:5D:00.0", text), "{text}");
        }
    }

    #[test]
    fn library_versions_lose_their_cuda_release_and_patch() {
        assert_eq!(short_version("13.580.159.04"), "580.159");
        assert_eq!(short_version("12.550.163.01"), "550.163");
    }
}
