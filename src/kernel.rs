//! What the kernel is asked for directly: who has a GPU open (procfs), and to
//! reset a PCI device (sysfs).

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where the kernel's file systems are.
pub struct Kernel {
    /// `/proc`.
    pub procfs: PathBuf,
    /// `/sys`.
    pub sysfs: PathBuf,
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
        }
    }

    /// The other processes that have `/dev/nvidiaN` open, whatever they do with it.
    pub fn users(&self, minor: u32) -> io::Result<Vec<u32>> {
        let file = PathBuf::from(format!("/dev/nvidia{minor}"));
        let mut users = Vec::new();
        for entry in fs::read_dir(&self.procfs)? {
            let entry = entry?;
            let pid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            let Some(pid) = pid.filter(|&pid| pid != std::process::id()) else {
                continue;
            };
            if has_open(&entry.path().join("fd"), &file)? {
                users.push(pid);
            }
        }
        users.sort_unstable();
        Ok(users)
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

/// Whether a process's folder of open files has a link to `file`. The process may
/// end meanwhile.
fn has_open(folder: &Path, file: &Path) -> io::Result<bool> {
    let gone = |error: &io::Error| {
        error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(ESRCH)
    };
    let links = match fs::read_dir(folder) {
        Err(error) if gone(&error) => return Ok(false),
        links => links?,
    };
    for link in links {
        match link.and_then(|link| fs::read_link(link.path())) {
            Ok(target) if target == file => return Ok(true),
            Err(error) if !gone(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(false)
}

/// The vendor's id, as the kernel writes it.
const NVIDIA: &str = "0x10de";

/// "No such process".
const ESRCH: i32 = 3;
