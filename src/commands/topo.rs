//! `topo`: how the GPUs, CPUs, network cards and drives are connected.

use std::io::IsTerminal;

use crate::commands::begin;
use crate::error::{Error, Status};
use crate::host::sysfs::{Level, Place, Sysfs};
use crate::nvml::{Driver, Gpu, Missing, P2pCapability, Reading, each, field, if_any};
use crate::render::matrix::{Affinity, Kind, Matrix, Row, matrix, peers, ranges};

use super::present::Present;
use crate::cli::Takes::{Long, Nothing, Text};
use crate::cli::{Line, Needs, Refuses, Run, Subcommand, opt};
use crate::output;
use crate::render::put;

/// `topo`.
#[rustfmt::skip]
pub static TOPO: Subcommand = Subcommand {
    name: "topo",
    about: "How the GPUs, CPUs and network cards are connected",
    notes: "",
    options: &[
        opt("-m --matrix", Nothing, "", "How every two devices are connected"),
        opt("-mp --matrix_pci", Nothing, "", "The same over PCIe alone, without NVLinks"),
        opt("-nvme --matrix_nvme", Nothing, "", "How the GPUs and the NVMe drives are connected"),
        opt("-i --id", Text, "IDS", "The GPUs that -n, -p, -C, -M and -gnid ask about:\nindex, UUID, serial or PCI bus id"),
        opt("-c --cpu", Long, "N", "The GPUs next to this CPU"),
        opt("-n --nearest_gpus", Long, "LEVEL", "The GPUs that share this with the GPU of -i, and\nnothing nearer: 0 a board, 1 a PCIe switch,\n2 several PCIe switches, 3 a PCIe host bridge,\n4 a NUMA node, 5 the system"),
        opt("-p --gpu_path", Nothing, "", "The way between the two GPUs of -i"),
        opt("-p2p --p2pstatus", Text, "LETTER", "Which GPUs reach each other's memory: r to read,\nw to write, n over NVLink, a for atomics, p over PCIe"),
        opt("-C --get-numa-id-of-nearby-cpu", Nothing, "", "The NUMA nodes of the CPUs next to the GPU of -i"),
        opt("-M --get-numa-id-of-nearby-mem", Nothing, "", "The NUMA nodes of the memory next to the GPU of -i"),
        opt("-gnid --gpu-numa-id", Nothing, "", "The NUMA node that the memory of the GPU of -i is on"),
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Option,
    run: Run::Once(topo),
};

/// The capabilities of `-p2p` by their letter.
const CAPABILITIES: &[(char, P2pCapability)] = &[
    ('r', P2pCapability::Read),
    ('w', P2pCapability::Write),
    ('n', P2pCapability::NvLink),
    ('a', P2pCapability::Atomics),
    ('p', P2pCapability::Prop),
];

/// What asks for exactly one GPU: the option, and how its refusal begins.
const FOR_ONE: &[(&str, &str)] = &[
    ("nearest_gpus", "Nearest GPUs argument"),
    ("get-numa-id-of-nearby-cpu", "NUMA ID of nearest CPU"),
    ("get-numa-id-of-nearby-mem", "NUMA ID of nearest memory"),
    ("gpu-numa-id", "GPU NUMA ID command"),
];

fn topo(line: &Line) -> anyhow::Result<Status> {
    let driver = begin::open()?;
    output::answer(|out| run(&driver, line, out))
}

fn run(driver: &Driver, line: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let sysfs = Sysfs::new("/sys");
    let named = if line.has("id") {
        Some(Present::named(driver, line)?)
    } else {
        None
    };
    let mut left_out = Ok(());
    if let Some(level) = line.number("nearest_gpus") {
        nearest(one("nearest_gpus", named.as_deref())?, level, out)?;
    }
    if line.has("gpu_path") {
        path(named.as_deref(), out)?;
    }
    if let Some(cpu) = line.number("cpu") {
        near_cpu(driver, cpu, out)?;
    }
    if let Some(letter) = line.text("p2pstatus") {
        let capability = capability(letter)?;
        let gpus = Present::all(driver).map_err(Error::count)?;
        p2p(&gpus, capability, out)?;
        left_out = left_out.and(gpus.none_left_out());
    }
    if line.has("get-numa-id-of-nearby-cpu") {
        let gpu = one("get-numa-id-of-nearby-cpu", named.as_deref())?;
        // NVML has no question for the CPUs' nodes; they are those of the memory,
        // or else what the kernel says of the CPUs.
        let nodes = match gpu.memory_affinity() {
            Ok(nodes) if !nodes.is_empty() => Ok(nodes),
            _ => gpu.cpu_affinity().map(|cpus| sysfs.nodes_of(&cpus)),
        };
        nodes_of("CPU", nodes, out)?;
    }
    if line.has("get-numa-id-of-nearby-mem") {
        nodes_of(
            "memory",
            one("get-numa-id-of-nearby-mem", named.as_deref())?.memory_affinity(),
            out,
        )?;
    }
    if line.has("gpu-numa-id") {
        let node = one("gpu-numa-id", named.as_deref())?.numa_node();
        put(out, &format!("{}\n", node_id(node)));
    }
    let needs_id = [
        "nearest_gpus",
        "gpu_path",
        "get-numa-id-of-nearby-cpu",
        "get-numa-id-of-nearby-mem",
        "gpu-numa-id",
    ];
    if line.has("id") && !line.has_any(&needs_id) {
        return Err(Error::failed(
            "The -i command line argument must be used in conjunction with -n or -p.\n\n",
        ));
    }
    for (option, kind) in [
        ("matrix", Kind::All),
        ("matrix_pci", Kind::Pci),
        ("matrix_nvme", Kind::Drives),
    ] {
        if line.has(option) {
            let gpus = Present::all(driver).map_err(|_| no_matrix())?;
            let facts = facts(&gpus, &sysfs, kind)?;
            matrix(&facts, std::io::stdout().is_terminal(), out);
            left_out = left_out.and(gpus.none_left_out());
        }
    }
    left_out
}

/// The one GPU of `-i`, for an option that wants exactly one.
fn one<'g, 'd>(option: &str, named: Option<&'g [Gpu<'d>]>) -> Result<&'g Gpu<'d>, Error> {
    if let Some([gpu]) = named {
        return Ok(gpu);
    }
    let what = FOR_ONE.iter().find(|(known, _)| *known == option);
    let what = what.map_or("", |(_, what)| what);
    Err(Error::refused(format!(
        "{what} must be used in conjunction with the -i argument which must be a single identifier.\n\n"
    )))
}

/// `-n`.
fn nearest(gpu: &Gpu, level: i32, out: &mut Vec<u8>) -> Result<(), Error> {
    const BY: [&str; 6] = [
        "way of an single on-board PCIe switch",
        "way of a single PCIe switch",
        "way of potentially multiple PCIe switches",
        "the same PCIe host bridge",
        "way of an on-CPU interconnect between PCIe host bridges",
        "way of an SMP interconnect link between NUMA nodes",
    ];
    let failed = || Error::failed("Failed to display the nearest GPUs\n\n");
    let place = usize::try_from(level).map_err(|_| failed())?;
    let (Some(by), Some(&level)) = (BY.get(place), Level::ALL.get(place)) else {
        return Err(failed());
    };
    let near = gpu.nearest(level).map_err(|_| failed())?;
    let index = gpu.index();
    if near.is_empty() {
        put(
            out,
            &format!("Device {index} is not connected to other devices by {by}.\n\n"),
        );
    } else {
        let near = listed(near);
        put(
            out,
            &format!("Device {index} is connected by {by} to device(s): {near}\n\n"),
        );
    }
    Ok(())
}

/// `-p`.
fn path(named: Option<&[Gpu]>, out: &mut Vec<u8>) -> Result<(), Error> {
    let Some([from, to]) = named else {
        return Err(Error::refused(
            "Path command line flag must be used in conjection with the -i argument \
             which must be two GPU identifiers.\n\n",
        ));
    };
    let level = from
        .common_ancestor(to)
        .map_err(|_| Error::failed("Failed to display the GPU path information\n\n"))?;
    let way = match level {
        Level::Board => "an on-board PCIe switch",
        Level::Switch => "a single PCIe switch",
        Level::Switches => "multiple PCIe switches",
        Level::HostBridge => "a PCIe host bridge",
        Level::Node => "an on-CPU interconnect between PCIe host bridges",
        Level::System => "an SMP interconnect link between NUMA nodes",
    };
    let (from, to) = (from.index(), to.index());
    put(
        out,
        &format!("Device {from} is connected to device {to} by way of {way}.\n\n"),
    );
    Ok(())
}

/// `-c`.
fn near_cpu(driver: &Driver, cpu: i32, out: &mut Vec<u8>) -> Result<(), Error> {
    // NVML counts CPUs from 0; none has any other number.
    let near = u32::try_from(cpu).map_or(Ok(Vec::new()), |cpu| driver.gpus_near_cpu(cpu));
    let near = near.map_err(|_| {
        Error::failed("Failed to display GPUs with affinity for a given CPU information\n\n")
    })?;
    if near.is_empty() {
        put(
            out,
            &format!("No GPUs were found to have an affinity with CPU {cpu}.\n\n"),
        );
    } else {
        let near = listed(near);
        put(
            out,
            &format!("The GPUs that have an affinity with CPU {cpu} are:\n{near}\n\n"),
        );
    }
    Ok(())
}

/// `-C` and `-M`.
fn nodes_of(what: &str, nodes: Reading<Vec<u32>>, out: &mut Vec<u8>) -> Result<(), Error> {
    match nodes {
        Ok(nodes) if !nodes.is_empty() => {
            put(
                out,
                &format!("NUMA IDs of closest {what}: {}\n", ranges(&nodes)),
            );
            Ok(())
        }
        _ => Err(Error::failed(format!(
            "Failed to display NUMA ID of nearest {what}\n\n"
        ))),
    }
}

fn node_id(node: Reading<u32>) -> String {
    node.map_or_else(
        |missing| missing.words_or_not_available().to_owned(),
        |node| node.to_string(),
    )
}

fn listed(mut indices: Vec<u32>) -> String {
    indices.sort_unstable();
    let indices: Vec<String> = indices.iter().map(u32::to_string).collect();
    indices.join(", ")
}

/// What the word after `-p2p` asks about: its first letter tells.
fn capability(letter: &str) -> Result<P2pCapability, Error> {
    let letter = letter.chars().next();
    let capability = CAPABILITIES
        .iter()
        .find(|(known, _)| Some(*known) == letter);
    let Some((_, capability)) = capability else {
        return Err(Error::refused(
            "Invalid p2p capability index specified at the command-line\n",
        ));
    };
    Ok(*capability)
}

/// `-p2p`: the pairs that could be asked, then whether any could not.
fn p2p(gpus: &[Gpu], capability: P2pCapability, out: &mut Vec<u8>) -> Result<(), Error> {
    let rows = each(gpus, |gpu| {
        let cells = gpus.iter().map(|other| {
            if other.index() == gpu.index() {
                None
            } else {
                Some(gpu.p2p_status(other, capability))
            }
        });
        (gpu.index(), cells.collect::<Vec<_>>())
    });
    let there: Vec<u32> = gpus.iter().map(Gpu::index).collect();
    peers(&there, &rows, std::io::stdout().is_terminal(), out);
    let mut cells = rows.iter().flat_map(|(_, cells)| cells).flatten();
    if cells.any(Result::is_err) {
        Err(Error::failed(
            "Failed to display p2p capability matrix for the specified p2p Index\n\n",
        ))
    } else {
        Ok(())
    }
}

/// A GPU with what the matrix needs of it.
struct Node<'g, 'd> {
    gpu: &'g Gpu<'d>,
    place: Option<Place>,
    bus_id: String,
    /// The CPUs and the memory next to it.
    cpus: Reading<Vec<u32>>,
    memory: Reading<Vec<u32>>,
    /// NVLinks that lead to switches.
    switched: u32,
    /// The bus ids that the other NVLinks lead to, one a link.
    remotes: Vec<String>,
}

/// `-m`, `-mp` and `-nvme`.
fn facts(gpus: &[Gpu], sysfs: &Sysfs, kind: Kind) -> Result<Matrix, Error> {
    let nodes: Vec<Node> = gpus
        .iter()
        .map(|gpu| node(gpu, sysfs, kind, gpus.len() > 1))
        .collect::<Result<_, _>>()?;
    if nodes.is_empty() {
        return Err(no_matrix());
    }
    let others = match kind {
        Kind::Drives => sysfs.nvme_namespaces(),
        Kind::All | Kind::Pci => sysfs.network_cards(),
    };
    let between_gpus = match kind {
        Kind::Drives => vec![Vec::new(); nodes.len()],
        Kind::All | Kind::Pci => pairs(&nodes, connection)?,
    };
    let between_others = pairs(&others, |(_, one), (_, two)| {
        Ok(label(one.level(two)).to_owned())
    })?;
    let across = |node: &Node, (_, other): &(String, Place)| {
        let level = node.place.as_ref().map(|place| place.level(other));
        level.map_or("Unknown", label).to_owned()
    };
    let mut rows = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let to_gpus = between_gpus[at].clone();
        rows.push(Row {
            name: format!("GPU{}", node.gpu.index()),
            cells: to_gpus
                .into_iter()
                .chain(others.iter().map(|other| across(node, other)))
                .collect(),
            affinity: (kind != Kind::Drives).then(|| Affinity {
                cpus: node.cpus.clone(),
                memory: node.memory.clone(),
                own: node_id(node.gpu.numa_node()),
            }),
        });
    }
    if kind != Kind::Drives {
        for (at, other) in others.iter().enumerate() {
            let to_gpus = nodes.iter().map(|node| across(node, other));
            rows.push(Row {
                name: format!("NIC{at}"),
                cells: to_gpus.chain(between_others[at].clone()).collect(),
                affinity: None,
            });
        }
    }
    Ok(Matrix {
        kind,
        others: others.into_iter().map(|(name, _)| name).collect(),
        rows,
    })
}

fn no_matrix() -> Error {
    Error::failed("Failed to run topology matrix\n\n")
}

fn node<'g, 'd>(
    gpu: &'g Gpu<'d>,
    sysfs: &Sysfs,
    kind: Kind,
    several: bool,
) -> Result<Node<'g, 'd>, Error> {
    let pci = gpu.pci().map_err(|_| no_matrix())?;
    let mut node = Node {
        gpu,
        place: sysfs.place(&pci.kernel_name()),
        bus_id: pci.bus_id,
        cpus: gpu.cpu_affinity(),
        memory: gpu.memory_affinity(),
        switched: 0,
        remotes: Vec::new(),
    };
    // A GPU that fails now would have wrong cells.
    if let Err(Missing::Failed(_)) = node.cpus {
        return Err(no_matrix());
    }
    if kind == Kind::All && several {
        (node.switched, node.remotes) =
            links(gpu).map_err(|missing| no_matrix_for("the NVLinks", gpu, missing))?;
    }
    Ok(node)
}

/// How many NVLinks lead to switches, and if none do, where the others lead.
fn links(gpu: &Gpu) -> Reading<(u32, Vec<String>)> {
    let count = if_any(gpu.link_count(field::NVLINK_LINK_COUNT))?;
    if count == 0 {
        return Ok((0, Vec::new()));
    }
    let switched = if_any(gpu.link_count(field::NVSWITCH_CONNECTED_LINK_COUNT))?;
    if switched > 0 {
        return Ok((switched, Vec::new()));
    }
    let mut remotes = Vec::new();
    for link in 0..count {
        match gpu.link_remote(link) {
            Ok(pci) => remotes.push(pci.bus_id),
            // Nothing is at the other end.
            Err(Missing::NotSupported) => {}
            Err(missing) => return Err(missing),
        }
    }
    Ok((0, remotes))
}

/// The same, with what could not be read and why: a wrong connection is worse
/// than none.
fn no_matrix_for(what: &str, gpu: &Gpu, missing: Missing) -> Error {
    let (index, words) = (gpu.index(), missing.words());
    Error::failed(format!(
        "Unable to determine {what} of GPU {index}: {words}\nFailed to run topology matrix\n\n"
    ))
}

/// How two GPUs are connected: the NVLinks between them, through switches or
/// not, and else what they share of the PCI bus.
fn connection(one: &Node, two: &Node) -> Result<String, Error> {
    let direct = one.remotes.iter().filter(|id| **id == two.bus_id).count();
    match one.switched.min(two.switched) as usize + direct {
        0 => match one.gpu.common_ancestor(two.gpu) {
            Ok(level) => Ok(label(level).to_owned()),
            Err(missing) => Err(no_matrix_for("the PCI connections", one.gpu, missing)),
        },
        links => Ok(format!("NV{links}")),
    }
}

fn label(level: Level) -> &'static str {
    match level {
        Level::Board | Level::Switch => "PIX",
        Level::Switches => "PXB",
        Level::HostBridge => "PHB",
        Level::Node => "NODE",
        Level::System => "SYS",
    }
}

/// A square of cells: each pair is asked once and told in both directions.
fn pairs<T>(
    items: &[T],
    tell: impl Fn(&T, &T) -> Result<String, Error>,
) -> Result<Vec<Vec<String>>, Error> {
    let mut cells = vec![vec![" X ".to_owned(); items.len()]; items.len()];
    for (at, one) in items.iter().enumerate() {
        for (to, two) in items.iter().enumerate().skip(at + 1) {
            let told = tell(one, two)?;
            cells[to][at].clone_from(&told);
            cells[at][to] = told;
        }
    }
    Ok(cells)
}
