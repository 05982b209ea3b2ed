//! What the kernel knows of the PCI bus, network cards, drives and NUMA nodes,
//! and NVML does not tell: sysfs.

use std::fs;
use std::path::{Path, PathBuf};

/// GT/s of the PCIe generations, the first at 1.
const SPEEDS: [f32; 6] = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0];

/// The tree of sysfs, `/sys` unless a test has its own.
pub struct Sysfs(PathBuf);

impl Sysfs {
    /// The tree below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    /// Where the PCI device of this name in `bus/pci/devices` is.
    pub fn place(&self, name: &str) -> Option<Place> {
        self.place_at(&self.devices().join(name))
    }

    /// The highest PCIe generation, from 1, of the bridge above a device; `None`
    /// if there is no bridge.
    pub fn slot_generation(&self, name: &str) -> Option<u32> {
        let bridge = self.devices().join(name).join("..");
        generation(&fs::read_to_string(bridge.join("max_link_speed")).ok()?)
    }

    fn devices(&self) -> PathBuf {
        self.0.join("bus/pci/devices")
    }

    /// The GPUs that NVIDIA's driver has, by their names in `bus/pci/devices`:
    /// those on loan to a virtual machine have another driver.
    pub fn gpus(&self) -> Vec<String> {
        const DISPLAY_CLASS: &str = "0x03";
        let is_gpu = |name: &String| {
            let device = self.devices().join(name);
            let driver = fs::read_link(device.join("driver"));
            let class = fs::read_to_string(device.join("class"));
            driver.is_ok_and(|driver| driver.ends_with("nvidia"))
                && class.is_ok_and(|class| class.starts_with(DISPLAY_CLASS))
        };
        names(&self.devices()).into_iter().filter(is_gpu).collect()
    }

    /// InfiniBand and RoCE cards, by name. nvidia-smi knows those of NVIDIA's own
    /// make, Mellanox once.
    pub fn network_cards(&self) -> Vec<(String, Place)> {
        const MELLANOX: &str = "0x15b3";
        let made_by = |name: &str| {
            let card = self.0.join("class/infiniband").join(name);
            fs::read_to_string(card.join("device/vendor"))
        };
        let mut cards = self.class("infiniband", "device");
        cards.retain(|(name, _)| made_by(name).is_ok_and(|vendor| vendor.trim() == MELLANOX));
        cards
    }

    /// NVMe namespaces, by name: `nvme0n1` of the controller `nvme0`.
    pub fn nvme_namespaces(&self) -> Vec<(String, Place)> {
        let mut disks = self.class("block", "device/device");
        disks.retain(|(name, _)| name.starts_with("nvme"));
        disks
    }

    /// The NUMA nodes that these CPUs belong to, ascending.
    pub fn nodes_of(&self, cpus: &[u32]) -> Vec<u32> {
        let nodes = self.0.join("devices/system/node");
        let mut found: Vec<u32> = names(&nodes)
            .into_iter()
            .filter_map(|name| {
                let node = name.strip_prefix("node")?.parse().ok()?;
                let list = fs::read_to_string(nodes.join(&name).join("cpulist")).ok()?;
                let ranges = ranges(list.trim())?;
                let near = |cpu: &u32| {
                    ranges
                        .iter()
                        .any(|&(first, last)| (first..=last).contains(cpu))
                };
                cpus.iter().any(near).then_some(node)
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// What a class lists, where the link `device` in it leads to the PCI bus.
    fn class(&self, class: &str, device: &str) -> Vec<(String, Place)> {
        let class = self.0.join("class").join(class);
        let mut devices: Vec<(String, Place)> = names(&class)
            .into_iter()
            .filter_map(|name| {
                let place = self.place_at(&class.join(&name).join(device))?;
                Some((name, place))
            })
            .collect();
        devices.sort_by_key(|(name, _)| (prefix(name).len(), name.len(), name.clone()));
        devices
    }

    fn place_at(&self, device: &Path) -> Option<Place> {
        let path = fs::canonicalize(device).ok()?;
        let devices = fs::canonicalize(self.0.join("devices")).ok()?;
        let steps: Vec<String> = path
            .strip_prefix(devices)
            .ok()?
            .iter()
            .map(|step| step.to_string_lossy().into_owned())
            .collect();
        let node = fs::read_to_string(path.join("numa_node"));
        Some(Place {
            node: node.ok().and_then(|node| node.trim().parse().ok()),
            steps,
        })
    }
}

/// The generation of `max_link_speed`: `16.0 GT/s PCIe`, or `16 GT/s` of older kernels.
fn generation(speed: &str) -> Option<u32> {
    let transfers: f32 = speed.split_whitespace().next()?.parse().ok()?;
    let place = SPEEDS.iter().position(|&known| known == transfers)?;
    u32::try_from(place + 1).ok()
}

/// A name without the number at its end: mlx5_2 comes before mlx5_10.
fn prefix(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// `0-3,8` as first and last of each range.
fn ranges(list: &str) -> Option<Vec<(u32, u32)>> {
    list.split(',')
        .filter(|range| !range.is_empty())
        .map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some((first.parse().ok()?, last.parse().ok()?))
        })
        .collect()
}

/// The nearest thing that two devices share, `nvmlGpuTopologyLevel_t`; nearer
/// ones are less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A board with several GPUs.
    Board,
    /// A single PCIe switch.
    Switch,
    /// Several PCIe switches, one behind another.
    Switches,
    /// A PCIe host bridge.
    HostBridge,
    /// A NUMA node.
    Node,
    /// Nothing nearer than the system.
    System,
}

impl Level {
    /// From the nearest to the farthest, as nvidia-smi numbers them from 0.
    pub const ALL: [Self; 6] = [
        Self::Board,
        Self::Switch,
        Self::Switches,
        Self::HostBridge,
        Self::Node,
        Self::System,
    ];
}

/// Where a device is on the PCI bus.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The host bridge, every bridge on the way, and the device: `pci0000:00`,
    /// `0000:00:01.0`, `0000:01:00.0`.
    steps: Vec<String>,
    /// Its NUMA node, where there is more than one; negative where the kernel
    /// does not know.
    node: Option<i32>,
}

impl Place {
    /// The nearest thing that two devices share. A switch is two bridges to the
    /// kernel: its upstream port, and a downstream port for each device.
    pub fn level(&self, other: &Self) -> Level {
        let same = |(one, two): &(&String, &String)| one == two;
        let shared = self.steps.iter().zip(&other.steps).take_while(same).count();
        let beyond = (self.steps.len().max(other.steps.len())).saturating_sub(shared);
        match shared {
            0 if self.node == other.node => Level::Node,
            0 => Level::System,
            1 => Level::HostBridge,
            _ if beyond <= 2 => Level::Switch,
            _ => Level::Switches,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where it stands")]
mod tests {
    use super::*;

    fn place(path: &str, node: i32) -> Place {
        Place {
            steps: path.split('/').map(str::to_owned).collect(),
            node: Some(node),
        }
    }

    #[test]
    fn devices_are_as_near_as_what_they_share() {
        let gpu = place("pci0000:00/00:01.0/01:00.0/02:00.0/03:00.0", 0);
        let cases = [
            (
                "pci0000:00/00:01.0/01:00.0/02:01.0/04:00.0",
                0,
                Level::Switch,
            ),
            (
                "pci0000:00/00:01.0/01:00.0/02:00.0/03:00.1",
                0,
                Level::Switch,
            ),
            (
                "pci0000:00/00:01.0/01:00.0/02:02.0/05:00.0/06:00.0/07:00.0",
                0,
                Level::Switches,
            ),
            ("pci0000:00/00:02.0/08:00.0", 0, Level::HostBridge),
            ("pci0000:80/80:01.0/81:00.0", 0, Level::Node),
            ("pci0000:c0/c0:01.0/c1:00.0", 1, Level::System),
        ];
        for (path, node, level) in cases {
            let other = place(path, node);
            assert_eq!(
                (gpu.level(&other), other.level(&gpu)),
                (level, level),
                "{path}"
            );
        }
    }

    #[test]
    fn a_tree_is_read_below_its_root() {
        use std::os::unix::fs::symlink;
        let root = std::env::temp_dir().join(format!("nvsmi-sysfs-{}", std::process::id()));
        let card = |device: &str, name: &str| {
            let device_path = root.join("devices/pci0000:00/0000:00:01.0").join(device);
            fs::create_dir_all(&device_path).unwrap();
            fs::write(device_path.join("numa_node"), "1\n").unwrap();
            let vendor = if name.starts_with("mlx") {
                "0x15b3\n"
            } else {
                "0x14e4\n"
            };
            fs::write(device_path.join("vendor"), vendor).unwrap();
            let class = root.join("class/infiniband").join(name);
            fs::create_dir_all(&class).unwrap();
            symlink(device_path, class.join("device")).unwrap();
        };
        card("0000:02:00.0", "mlx5_10");
        card("0000:03:00.0", "mlx5_2");
        card("0000:04:00.0", "bnxt_re0");
        let disk = |device: &str, controller: &str, disk: &str| {
            let device_path = root.join("devices/pci0000:00/0000:00:02.0").join(device);
            let controller = device_path.join("nvme").join(controller);
            fs::create_dir_all(controller.join(disk)).unwrap();
            symlink(device_path, controller.join("device")).unwrap();
            symlink(&controller, controller.join(disk).join("device")).unwrap();
            let class = root.join("class/block");
            fs::create_dir_all(&class).unwrap();
            symlink(controller.join(disk), class.join(disk)).unwrap();
            // A partition is below its disk, and no device of its own.
            let partition = controller.join(disk).join(format!("{disk}p1"));
            fs::create_dir_all(&partition).unwrap();
            symlink(partition, class.join(format!("{disk}p1"))).unwrap();
        };
        disk("0000:05:00.0", "nvme10", "nvme10n1");
        disk("0000:06:00.0", "nvme2", "nvme2n1");
        disk("0000:07:00.0", "ata1", "sda");
        let node = root.join("devices/system/node/node1");
        fs::create_dir_all(&node).unwrap();
        fs::write(node.join("cpulist"), "4-7,12-15\n").unwrap();

        let sysfs = Sysfs::new(&root);
        let cards = sysfs.network_cards();
        let disks = sysfs.nvme_namespaces();
        let nodes = [sysfs.nodes_of(&[5]), sysfs.nodes_of(&[8])];
        fs::remove_dir_all(&root).unwrap();

        let named = |found: &[(String, Place)]| -> Vec<String> {
            found.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(named(&cards), ["mlx5_2", "mlx5_10"]);
        assert_eq!(cards[0].1.level(&cards[1].1), Level::Switch);
        assert_eq!(cards[0].1.node, Some(1));
        assert_eq!(named(&disks), ["nvme2n1", "nvme10n1"]);
        assert_eq!(disks[0].1.level(&disks[1].1), Level::Switch);
        assert_eq!(nodes, [vec![1], vec![]]);
    }

    #[test]
    fn speeds_are_read_as_every_kernel_writes_them() {
        let cases = [
            ("2.5 GT/s PCIe\n", Some(1)),
            ("2.5 GT/s\n", Some(1)),
            ("8 GT/s\n", Some(3)),
            ("16.0 GT/s PCIe\n", Some(4)),
            ("64.0 GT/s PCIe\n", Some(6)),
            ("Unknown speed\n", None),
            ("", None),
        ];
        for (speed, expected) in cases {
            assert_eq!(generation(speed), expected, "{speed}");
        }
    }
}
