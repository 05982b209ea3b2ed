//! What the kernel is asked for directly: who has a GPU open (procfs), and to
//! reset a PCI device (sysfs).

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Where the kernel's file systems are.
pub struct Kernel {
    /// `/proc`.
    pub procfs: PathBuf,
    /// `/sys`.
    pub sysfs: PathBuf,
    /// The major number of NVIDIA's device files.
    pub major: u32,
}

/// Who has a GPU open.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Users {
    /// The processes that were seen to.
    pub pids: Vec<u32>,
    /// Whether there may be others: processes that may not be looked into, or
    /// that are outside of this container.
    pub unseen: bool,
}

/// Ways to reset a PCI device, by the kernel's names for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Function-level reset, which leaves everything else on the bus alone.
    FunctionLevel,
    /// Reset of the bus that the device is alone on.
    Bus,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::FunctionLevel => "flr",
            Self::Bus => "bus",
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Self::FunctionLevel => "PCI function-level reset",
            Self::Bus => "PCI bus reset",
        })
    }
}

impl Kernel {
    /// Of this machine.
    pub fn of_this_machine() -> Self {
        Self {
            procfs: "/proc".into(),
            sysfs: "/sys".into(),
            major: 195,
        }
    }

    /// The other processes that have the device file of this minor number open,
    /// or that of any GPU where the number is not known. The path by which they
    /// opened it does not matter: a container has its own.
    pub fn users(&self, minor: Option<u32>) -> io::Result<Users> {
        let is_gpu = |file: &fs::Metadata| {
            let number = file.rdev();
            let found = libc::minor(number);
            file.file_type().is_char_device()
                && libc::major(number) == self.major
                && minor.map_or(found <= LAST_GPU, |minor| found == minor)
        };
        let mut users = Users {
            unseen: !self.sees_all_processes(),
            ..Users::default()
        };
        for entry in fs::read_dir(&self.procfs)? {
            let entry = entry?;
            let pid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            let Some(pid) = pid.filter(|&pid| pid != std::process::id()) else {
                continue;
            };
            match has_open(&entry.path().join("fd"), is_gpu) {
                Ok(true) => users.pids.push(pid),
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    users.unseen = true;
                }
                Err(error) => return Err(error),
            }
        }
        users.pids.sort_unstable();
        // What nobody has open is not open to a process that was not seen.
        users.unseen &= self.is_open() != Some(false);
        Ok(users)
    }

    /// Whether `/proc` lists the processes of the whole machine.
    fn sees_all_processes(&self) -> bool {
        /// The number that the kernel gives to its first namespace of processes.
        const FIRST: &str = "pid:[4026531836]";
        fs::read_link(self.procfs.join("self/ns/pid"))
            .is_ok_and(|namespace| namespace.as_os_str() == FIRST)
    }

    /// Whether any device file of the driver is open, by whomever: its uses but
    /// for those by other modules.
    fn is_open(&self) -> Option<bool> {
        let module = self.sysfs.join("module/nvidia");
        let uses = fs::read_to_string(module.join("refcnt")).ok()?;
        let modules = fs::read_dir(module.join("holders")).map_or(0, Iterator::count);
        Some(uses.trim().parse::<usize>().ok()? > modules)
    }

    /// What the driver's file about a GPU says, in the line that begins with `label`.
    fn information(&self, bus_id: &str, label: &str) -> Option<String> {
        let folder = self.procfs.join("driver/nvidia/gpus");
        let file = folder.join(bus_id.to_lowercase()).join("information");
        let text = fs::read_to_string(file).ok()?;
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(known, _)| known.trim() == label)?;
        Some(value.trim().to_owned())
    }

    /// The minor number of a GPU's device file.
    pub fn minor(&self, bus_id: &str) -> Option<u32> {
        self.information(bus_id, "Device Minor")?.parse().ok()
    }

    /// A GPU's UUID; the driver does not know that of a GPU that nobody has used.
    pub fn uuid(&self, bus_id: &str) -> Option<String> {
        let uuid = self.information(bus_id, "GPU UUID")?;
        (!uuid.contains('?')).then_some(uuid)
    }

    /// Whether the firmware shows its screen on the device, which makes it the
    /// primary one.
    pub fn is_primary(&self, bus_id: &str) -> bool {
        let answer = fs::read_to_string(self.device(bus_id).join("boot_vga"));
        answer.is_ok_and(|answer| answer.trim() == "1")
    }

    /// Whether nvidia-drm sets display modes, which keeps the driver on every GPU
    /// that has a display engine.
    pub fn sets_modes(&self) -> bool {
        let parameter = self.sysfs.join("module/nvidia_drm/parameters/modeset");
        fs::read_to_string(parameter).is_ok_and(|answer| answer.trim() == "Y")
    }

    /// Why a device cannot be reset in this way, if so.
    pub fn cannot_reset(&self, bus_id: &str, method: Method) -> Option<String> {
        let device = self.device(bus_id);
        let vendor = fs::read_to_string(device.join("vendor")).unwrap_or_default();
        if vendor.trim() != NVIDIA {
            return Some("the kernel has no NVIDIA device there".to_owned());
        }
        let driver = fs::read_link(device.join("driver"));
        if !driver.is_ok_and(|driver| driver.ends_with("nvidia")) {
            return Some("the device there does not have NVIDIA's driver".to_owned());
        }
        if !device.join("reset").exists() {
            return Some("the kernel has no way to reset it".to_owned());
        }
        match fs::read_to_string(device.join("reset_method")) {
            Ok(methods)
                if methods
                    .split_whitespace()
                    .any(|known| known == method.name()) =>
            {
                None
            }
            Ok(methods) => Some(format!(
                "the kernel offers no {method} for it, only: {}",
                methods.trim()
            )),
            // Before Linux 5.15 the kernel chose by itself.
            Err(_) if method == Method::FunctionLevel => None,
            Err(_) => Some(format!("this kernel does not let a {method} be chosen")),
        }
    }

    /// Resets a device, and looks whether it answers afterwards. What is set for
    /// other resets (`reset_method`) is left as it was.
    pub fn reset(&self, bus_id: &str, method: Method) -> io::Result<()> {
        let device = self.device(bus_id);
        let chosen = device.join("reset_method");
        let before = fs::read_to_string(&chosen).ok();
        if before.is_some() {
            write(&chosen, method.name())?;
        }
        let done = write(&device.join("reset"), "1");
        if let Some(before) = before {
            write(&chosen, before.trim())?;
        }
        done?;
        let mut vendor = [0; 2];
        fs::File::open(device.join("config"))?.read_exact(&mut vendor)?;
        match u16::from_le_bytes(vendor) {
            0xffff => Err(io::Error::other("it does not answer after the reset")),
            _ => Ok(()),
        }
    }

    fn device(&self, bus_id: &str) -> PathBuf {
        self.sysfs
            .join("bus/pci/devices")
            .join(bus_id.to_lowercase())
    }
}

/// Writes to a file that is there; never makes one.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(path)?;
    io::Write::write_all(&mut file, text.as_bytes())
}

/// Whether a process's folder of open files has one that `is_it`. The process may
/// end meanwhile.
fn has_open(folder: &Path, is_it: impl Fn(&fs::Metadata) -> bool) -> io::Result<bool> {
    let gone = |error: &io::Error| {
        error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(ESRCH)
    };
    let links = match fs::read_dir(folder) {
        Err(error) if gone(&error) => return Ok(false),
        links => links?,
    };
    for link in links {
        // Whoever may read the link may look at the file, unless its file system
        // refuses: a device file is on none that does.
        let path = link.and_then(|link| fs::read_link(link.path()).map(|_| link.path()));
        match path {
            Ok(path) if fs::metadata(&path).is_ok_and(|file| is_it(&file)) => return Ok(true),
            Err(error) if !gone(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(false)
}

/// The vendor's id, as the kernel writes it.
const NVIDIA: &str = "0x10de";

/// The last minor number of a GPU; those beyond it are of the driver itself.
const LAST_GPU: u32 = 253;

/// "No such process".
const ESRCH: i32 = 3;
