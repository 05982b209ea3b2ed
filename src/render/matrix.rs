//! The matrices of `topo`: who is connected with whom, and how.

use super::put;
use crate::nvml::{Missing, P2pStatus, Reading};

/// What a matrix is about.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// GPUs and network cards, with NVLinks.
    All,
    /// GPUs and network cards, by PCIe alone.
    Pci,
    /// GPUs against NVMe drives.
    Drives,
}

/// A matrix.
pub struct Matrix {
    /// What it is about.
    pub kind: Kind,
    /// The names of the network cards or drives.
    pub others: Vec<String>,
    /// GPUs, then network cards.
    pub rows: Vec<Row>,
}

/// A row of a matrix.
pub struct Row {
    /// `GPU0`, `NIC0`.
    pub name: String,
    /// One a column.
    pub cells: Vec<String>,
    /// What is next to a GPU.
    pub affinity: Option<Affinity>,
}

/// What is next to a GPU.
pub struct Affinity {
    /// CPUs.
    pub cpus: Reading<Vec<u32>>,
    /// NUMA nodes whose memory is near.
    pub memory: Reading<Vec<u32>>,
    /// The NUMA node that the GPU is.
    pub own: String,
}

/// Words of a row of a legend: the sign, and what it means.
type Legend = &'static [(&'static str, &'static str)];

const CONNECTIONS: Legend = &[
    ("X", "The device itself"),
    (
        "SYS",
        "Through PCIe and the link between NUMA nodes (QPI, UPI, Infinity Fabric)",
    ),
    (
        "NODE",
        "Through PCIe and the link between the host bridges of one NUMA node",
    ),
    (
        "PHB",
        "Through PCIe and one host bridge, which is mostly the CPU's",
    ),
    ("PXB", "Through several PCIe bridges, but no host bridge"),
    ("PIX", "Through one PCIe bridge or none"),
];
const NVLINK: Legend = &[("NV#", "Through # NVLinks taken together")];
const PEERS: Legend = &[
    ("X", "The GPU itself"),
    ("OK", "It works"),
    ("CNS", "The chipset cannot"),
    ("GNS", "The GPU cannot"),
    ("TNS", "The topology does not allow it"),
    ("NS", "Not supported"),
    ("U", "Not known"),
];

fn sign(status: &P2pStatus) -> &'static str {
    match status {
        P2pStatus::Ok => "OK",
        P2pStatus::ChipsetNotSupported => "CNS",
        P2pStatus::GpuNotSupported => "GNS",
        P2pStatus::IohTopologyNotSupported => "TNS",
        P2pStatus::DisabledByRegkey => "DR",
        P2pStatus::NotSupported => "NS",
        P2pStatus::Unknown => "U",
    }
}

/// Prints a matrix and its legend; its heading is underlined on a terminal.
pub fn matrix(matrix: &Matrix, terminal: bool, out: &mut Vec<u8>) {
    let Matrix { kind, others, rows } = matrix;
    let card = if *kind == Kind::Drives { "NVMe" } else { "NIC" };
    let gpus = rows.iter().filter(|_| *kind != Kind::Drives);
    let mut heading: Vec<String> = gpus
        .filter(|row| row.affinity.is_some())
        .map(|row| row.name.clone())
        .chain((0..others.len()).map(|at| format!("{card}{at}")))
        .collect();
    if *kind != Kind::Drives {
        heading.extend(["CPU Affinity", "NUMA Affinity", "GPU NUMA ID"].map(str::to_owned));
    }
    let mut heading = heading.join("\t");
    if *kind == Kind::Drives && !others.is_empty() {
        heading.push('\t');
    }
    put(out, &format!("\t{}\n", underlined(&heading, terminal)));
    for row in rows {
        put(out, &format!("{}\t", row.name));
        for cell in &row.cells {
            put(out, &format!("{cell}\t"));
        }
        match &row.affinity {
            Some(Affinity { cpus, memory, own }) => {
                let shown = |set: &Reading<Vec<u32>>| match set {
                    Ok(set) => ranges(set),
                    Err(Missing::NotSupported) => String::new(),
                    Err(missing) => missing.words().to_owned(),
                };
                put(
                    out,
                    &format!("{}\t{}\t\t{own}\n", shown(cpus), shown(memory)),
                );
            }
            None if *kind == Kind::Drives => put(out, "\n"),
            None => put(out, "\t\t\t\n"),
        }
    }
    let nvlink = if *kind == Kind::All { NVLINK } else { &[] };
    legend(CONNECTIONS.iter().chain(nvlink), out);
    if !others.is_empty() {
        put(out, &format!("\n{card} Legend:\n\n"));
        for (at, name) in others.iter().enumerate() {
            put(out, &format!("  {card}{at}: {name}\n"));
        }
        put(out, "\n");
    }
}

/// Prints the peer-to-peer matrix: the GPUs that have a column, and for every
/// GPU its index and its status towards each, none towards itself.
pub fn peers(
    columns: &[u32],
    rows: &[(u32, Vec<Option<Reading<P2pStatus>>>)],
    terminal: bool,
    out: &mut Vec<u8>,
) {
    let heading: String = columns
        .iter()
        .map(|index| format!("GPU{index}\t"))
        .collect();
    put(out, &format!(" \t{}\n", underlined(&heading, terminal)));
    for (index, cells) in rows {
        put(out, &format!(" GPU{index}\t"));
        for cell in cells {
            match cell {
                None => put(out, "X\t"),
                Some(Ok(status)) => put(out, &format!("{}\t", sign(status))),
                // nvidia-smi leaves out what it could not read, so that what
                // follows stands under other GPUs.
                Some(Err(_)) => put(out, "U\t"),
            }
        }
        put(out, "\n");
    }
    legend(PEERS.iter(), out);
}

fn underlined(heading: &str, terminal: bool) -> String {
    if terminal {
        format!("\x1b[4m{heading}\x1b[0m")
    } else {
        heading.to_owned()
    }
}

fn legend<'l>(rows: impl Iterator<Item = &'l (&'static str, &'static str)>, out: &mut Vec<u8>) {
    put(out, "\nLegend:\n\n");
    for (sign, meaning) in rows {
        put(out, &format!("  {sign:<4} = {meaning}\n"));
    }
}

/// Numbers in ascending order, as `0-3,8`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let ranges: Vec<String> = ranges
        .into_iter()
        .map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect();
    ranges.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_told_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 8, 10, 11]), "0-2,8,10-11");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn network_cards_have_columns_rows_and_a_legend() {
        let row = |name: &str, cells: [&str; 2], affinity| Row {
            name: name.to_owned(),
            cells: cells.map(str::to_owned).to_vec(),
            affinity,
        };
        let affinity = Affinity {
            cpus: Ok(vec![0, 1]),
            memory: Ok(vec![0]),
            own: "N/A".to_owned(),
        };
        let facts = Matrix {
            kind: Kind::All,
            others: vec!["mlx5_0".to_owned()],
            rows: vec![
                row("GPU0", [" X ", "PIX"], Some(affinity)),
                row("NIC0", ["PIX", " X "], None),
            ],
        };
        let print = |terminal| {
            let mut out = Vec::new();
            matrix(&facts, terminal, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        let plain = print(false);
        let lines: Vec<&str> = plain.lines().collect();
        assert_eq!(
            lines[0],
            "\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID"
        );
        assert_eq!(lines[1], "GPU0\t X \tPIX\t0-1\t0\t\tN/A");
        assert_eq!(lines[2], "NIC0\tPIX\t X \t\t\t\t");
        assert!(plain.ends_with("\nNIC Legend:\n\n  NIC0: mlx5_0\n\n"));
        assert!(print(true).starts_with("\t\x1b[4mGPU0\t"));
        assert!(print(true).contains("GPU NUMA ID\x1b[0m\n"));
    }
}
