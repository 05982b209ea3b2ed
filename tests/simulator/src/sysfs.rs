//! The kernel's tree of devices, as a box describes it: `sysfs` of the box says how many CPUs and NUMA
//! nodes there are, each `[[sysfs.device]]` where something is on the PCI bus, `resets` how the GPUs can be
//! reset, and `users` how many processes have one open. The launcher puts the
//! tree in the place of `/sys`, for the program alone.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

use crate::data;

/// A device on the PCI bus, or a bridge on the way to one.
pub struct Device {
    /// `pci0000:00/0000:00:01.0/0000:01:00.0`: the host bridge, each bridge on the way, and the device.
    pub path: String,
    /// Its NUMA node.
    pub node: i64,
    /// The class that the kernel lists it in, and its name there: `infiniband`, `mlx5_0`.
    class: Option<(String, String)>,
    /// Its maker's number; NVIDIA where the box does not say.
    vendor: u16,
    /// The speed that its link can have: `32.0 GT/s PCIe`.
    max_link_speed: Option<String>,
}

const NVIDIA: u16 = 0x10de;
/// The class of a GPU without a display, "3D controller".
const GPU: u32 = 0x03_0200;

impl Device {
    fn bus_id(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// The devices that a box describes.
pub fn devices(table: &Table) -> Vec<Device> {
    let list = data::at(table, "sysfs.device").and_then(Value::as_array);
    let device = |value: &Value| {
        let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
        Some(Device {
            path: text("path")?,
            node: value.get("node").and_then(Value::as_integer).unwrap_or(-1),
            class: text("class").zip(text("name")),
            vendor: value
                .get("vendor")
                .and_then(Value::as_integer)
                .and_then(|vendor| u16::try_from(vendor).ok())
                .unwrap_or(NVIDIA),
            max_link_speed: text("max_link_speed"),
        })
    };
    list.into_iter().flatten().filter_map(device).collect()
}

/// The device with a bus id, whatever the case and the width of its domain.
pub fn find<'d>(devices: &'d [Device], bus_id: &str) -> Option<&'d Device> {
    let key = |id: &str| {
        let (domain, rest) = id.split_once(':')?;
        let domain = u32::from_str_radix(domain, 16).ok()?;
        Some((domain, rest.to_lowercase()))
    };
    let wanted = key(bus_id)?;
    devices
        .iter()
        .find(|device| key(device.bus_id()).as_ref() == Some(&wanted))
}

/// Writes the tree below `root`, which is not there yet.
pub fn write(root: &Path, table: &Table) -> io::Result<()> {
    let count = |key: &str| {
        let count = data::at(table, key).and_then(Value::as_integer);
        count.and_then(|count| usize::try_from(count).ok())
    };
    let nodes = count("sysfs.nodes").unwrap_or(1).max(1);
    let cpus = count("sysfs.cpus").unwrap_or(nodes);
    processors(&root.join("devices/system"), cpus, nodes)?;
    // The driver is used by the other modules, and by whoever has a GPU open.
    let (module, others) = (root.join("module/nvidia"), ["nvidia_uvm", "nvidia_modeset"]);
    for other in others {
        fs::create_dir_all(module.join("holders").join(other))?;
    }
    let users = count("sysfs.users").unwrap_or(0);
    fs::write(module.join("refcnt"), format!("{}\n", others.len() + users))?;
    let devices = devices(table);
    // Every step of a path is a device of its own.
    let mut steps: BTreeMap<PathBuf, i64> = BTreeMap::new();
    for device in &devices {
        for step in Path::new(&device.path).ancestors() {
            if step.components().count() > 1 {
                steps.entry(step.to_owned()).or_insert(device.node);
            }
        }
    }
    for (path, node) in &steps {
        let device = devices
            .iter()
            .find(|device| Path::new(&device.path) == path);
        let class = device.and_then(|device| device.class.as_ref());
        let vendor = device.map_or(NVIDIA, |device| device.vendor);
        let below = steps
            .keys()
            .filter(|other| other.starts_with(path) && *other != path);
        let buses: Vec<u8> = below.filter_map(|path| bus(path)).collect();
        let folder = root.join("devices").join(path);
        fs::create_dir_all(&folder)?;
        let class = match class {
            Some((_, name)) if name.starts_with("roce") => 0x02_0000,
            Some((class, _)) if class == "infiniband" => 0x02_0700,
            Some(_) => 0x01_0802,
            None if buses.is_empty() => GPU,
            None => 0x06_0400,
        };
        fs::write(folder.join("class"), format!("0x{class:06x}\n"))?;
        fs::write(folder.join("numa_node"), format!("{node}\n"))?;
        fs::write(folder.join("vendor"), format!("0x{vendor:04x}\n"))?;
        fs::write(folder.join("device"), "0x2335\n")?;
        if let Some(speed) = device.and_then(|device| device.max_link_speed.as_ref()) {
            fs::write(folder.join("max_link_speed"), format!("{speed}\n"))?;
        }
        fs::write(
            folder.join("config"),
            configuration(vendor, class, bus(path), &buses),
        )?;
        let list = root.join("bus/pci/devices");
        fs::create_dir_all(&list)?;
        let name = path.file_name().unwrap_or_default();
        if vendor == NVIDIA && class == GPU {
            // Only the link's name is read, so that it may lead nowhere.
            symlink("nvidia", folder.join("driver"))?;
            fs::write(folder.join("boot_vga"), "0\n")?;
            if let Some(methods) = data::at(table, "sysfs.resets").and_then(Value::as_str) {
                fs::write(folder.join("reset_method"), format!("{methods}\n"))?;
                fs::write(folder.join("reset"), "")?;
            }
        }
        symlink(Path::new("../../../devices").join(path), list.join(name))?;
    }
    for device in &devices {
        let Some((class, name)) = &device.class else {
            continue;
        };
        let own = Path::new("devices")
            .join(&device.path)
            .join(class)
            .join(name);
        fs::create_dir_all(root.join(&own))?;
        symlink(
            "../../../".to_owned() + device.bus_id(),
            root.join(&own).join("device"),
        )?;
        list(root, class, name, &own)?;
        if class == "nvme" {
            let disk = format!("{name}n1");
            let namespace = own.join(&disk);
            fs::create_dir_all(root.join(&namespace))?;
            symlink("..", root.join(&namespace).join("device"))?;
            list(root, "block", &disk, &namespace)?;
        }
    }
    Ok(())
}

/// Lists a device, at `own` below the root, in a class.
fn list(root: &Path, class: &str, name: &str, own: &Path) -> io::Result<()> {
    let list = root.join("class").join(class);
    fs::create_dir_all(&list)?;
    symlink(Path::new("../..").join(own), list.join(name))
}

/// The bus that a path's device is on.
fn bus(path: &Path) -> Option<u8> {
    let name = path.file_name()?.to_str()?;
    u8::from_str_radix(name.split(':').nth(1)?, 16).ok()
}

/// The head of a PCI configuration: the maker, the class, and the buses behind a bridge.
fn configuration(vendor: u16, class: u32, bus: Option<u8>, behind: &[u8]) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..2].copy_from_slice(&vendor.to_le_bytes());
    bytes[2..4].copy_from_slice(&[0x35, 0x23]);
    bytes[9..12].copy_from_slice(&class.to_le_bytes()[..3]);
    if let (Some(first), Some(last)) = (behind.iter().min(), behind.iter().max()) {
        bytes[0x0e] = 1;
        bytes[0x18..0x1b].copy_from_slice(&[bus.unwrap_or(0), *first, *last]);
    }
    bytes
}

/// CPUs, dealt out to the nodes in turn from the first.
fn processors(system: &Path, cpus: usize, nodes: usize) -> io::Result<()> {
    let each = cpus.div_ceil(nodes).max(1);
    let mask = |first: usize, count: usize| {
        let bit = |cpu: usize| (first..first + count).contains(&cpu);
        let words = (0..cpus.div_ceil(32).max(1)).rev().map(|word| {
            let bits = (0..32).filter(|at| bit(word * 32 + at));
            format!("{:08x}", bits.map(|at| 1u32 << at).sum::<u32>())
        });
        words.collect::<Vec<_>>().join(",") + "\n"
    };
    for cpu in 0..cpus {
        let folder = system.join(format!("cpu/cpu{cpu}/topology"));
        fs::create_dir_all(&folder)?;
        let node = cpu / each;
        fs::write(folder.join("core_id"), format!("{cpu}\n"))?;
        fs::write(folder.join("physical_package_id"), format!("{node}\n"))?;
        fs::write(folder.join("thread_siblings"), mask(cpu, 1))?;
        fs::write(folder.join("core_siblings"), mask(node * each, each))?;
    }
    for file in ["online", "possible", "present"] {
        fs::write(
            system.join("cpu").join(file),
            format!("0-{}\n", cpus.saturating_sub(1)),
        )?;
    }
    for node in 0..nodes {
        let folder = system.join(format!("node/node{node}"));
        fs::create_dir_all(&folder)?;
        let (first, last) = (node * each, (node + 1) * each - 1);
        fs::write(folder.join("cpulist"), format!("{first}-{last}\n"))?;
        fs::write(folder.join("cpumap"), mask(first, each))?;
    }
    fs::write(system.join("node/online"), format!("0-{}\n", nodes - 1))
}
