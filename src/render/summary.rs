//! The table that nvidia-smi shows without arguments: 91 columns, three lines a
//! GPU, then MIG devices, then processes.

use std::borrow::Cow;
use std::io::Write;

use super::frame::{self, Frame};
use super::width::{self, left};
use crate::nvml::{Memory, Missing, Reading};
use crate::value::{mebibytes, printable, whole_mebibytes};

/// Everything that the table shows.
pub struct Summary {
    /// When it was taken, local time: `Mon Nov 30 23:43:58 2026`.
    pub time: String,
    /// The version that nvidia-smi gives as its own.
    pub tool_version: Reading<String>,
    /// The driver's version.
    pub driver_version: Reading<String>,
    /// The newest CUDA that the driver serves.
    pub cuda_version: Reading<(i32, i32)>,
    /// The GPUs.
    pub gpus: Vec<GpuLines>,
    /// The MIG devices; `None` where no GPU is in MIG mode.
    pub mig_devices: Option<Vec<MigLines>>,
    /// The processes.
    pub processes: Vec<ProcessLine>,
}

/// What three lines show of a GPU.
pub struct GpuLines {
    /// Its index.
    pub index: u32,
    /// Its name, cut to 24 characters where it is longer than 27.
    pub name: Reading<String>,
    /// Persistence mode.
    pub persistence: Reading<bool>,
    /// PCI bus id, eight digits of domain.
    pub bus_id: Reading<String>,
    /// Whether a display is active on it.
    pub display_active: Reading<bool>,
    /// Its uncorrected errors, or the mode that takes their place.
    pub ecc: Reading<Ecc>,
    /// Percent.
    pub fan_speed: Reading<u32>,
    /// Degrees Celsius.
    pub temperature: Reading<i32>,
    /// 0 to 15; 32 where unknown.
    pub performance_state: Reading<u32>,
    /// Milliwatts.
    pub power_usage: Reading<u32>,
    /// Milliwatts.
    pub power_limit: Reading<u32>,
    /// Whether NVML gave a handle, without which there is no other reading.
    pub handle: Reading<()>,
    /// Frame buffer.
    pub memory: Reading<Memory>,
    /// Percent of the last sample that kernels ran.
    pub utilization: Reading<u32>,
    /// `NVML_COMPUTEMODE_*`.
    pub compute_mode: Reading<u32>,
    /// MIG mode, now and after a reset.
    pub mig: Reading<(bool, bool)>,
}

/// What stands under "Volatile Uncorr. ECC"; a star tells of a mode that waits
/// for a reset.
pub enum Ecc {
    /// ECC is off.
    Off {
        /// It will be on after a reset.
        changes: bool,
    },
    /// ECC is on, and counted by the MIG devices.
    On {
        /// It will be off after a reset.
        changes: bool,
    },
    /// ECC is on, and so many errors could not be corrected since the driver was loaded.
    Errors {
        /// The count.
        count: u64,
        /// ECC will be off after a reset.
        changes: bool,
    },
}

/// What two lines show of a MIG device.
pub struct MigLines {
    /// Its GPU's index.
    pub gpu: u32,
    /// Its GPU instance.
    pub gpu_instance: Reading<u32>,
    /// Its compute instance.
    pub compute_instance: Reading<u32>,
    /// Its index on its GPU, or why the GPU's MIG devices cannot be read.
    pub index: Reading<u32>,
    /// Bytes used and in all, of the GPU instance.
    pub memory: Reading<(u64, u64)>,
    /// BAR1 bytes used and in all, of the GPU instance.
    pub bar1: Reading<(u64, u64)>,
    /// Multiprocessors.
    pub multiprocessors: Reading<u32>,
    /// Uncorrected errors since the driver was loaded.
    pub errors: Reading<u64>,
    /// Copy engines, encoders, decoders, optical flow engines, JPEG engines.
    pub engines: Reading<[u32; 5]>,
}

/// What one line shows of a process.
pub struct ProcessLine {
    /// Its GPU's index.
    pub gpu: u32,
    /// Its GPU instance, in MIG mode.
    pub gpu_instance: Option<u32>,
    /// Its compute instance, in MIG mode.
    pub compute_instance: Option<u32>,
    /// Its id, or why the GPU's list of processes cannot be read.
    pub pid: Reading<u32>,
    /// `C`, `G`, `M+C` and so on: which lists it is in.
    pub kind: &'static str,
    /// What it is called.
    pub name: String,
    /// Bytes that it holds.
    pub memory: Reading<u64>,
}

const GPU_WIDTHS: [usize; 3] = [41, 24, 22];
const MIG_WIDTHS: [usize; 4] = [18, 34, 11, 23];
const PROCESS_WIDTH: usize = 89;

const GPU_HEAD: [&str; 3] = [
    " GPU  Name                 Persistence-M \n Fan  Temp   Perf          Pwr:Usage/Cap \n                                         ",
    " Bus-Id          Disp.A \n           Memory-Usage \n                        ",
    " Volatile Uncorr. ECC \n GPU-Util  Compute M. \n               MIG M. ",
];

const MIG_TITLE: &str =
    " MIG devices:                                                                            ";

const MIG_HEAD: [&str; 4] = [
    " GPU  GI  CI  MIG \n      ID  ID  Dev \n                  ",
    "              Shared Memory-Usage \n                Shared BAR1-Usage \n                                  ",
    "        Vol\n SM     Unc\n        ECC",
    "        Shared         \n CE ENC  DEC  OFA  JPG \n                       ",
];

const NO_MIG_DEVICES: &str =
    "  No MIG devices found                                                                   ";

const PROCESS_HEAD: &str = concat!(
    " Processes:                                                                              \n",
    "  GPU   GI   CI              PID   Type   Process name                        GPU Memory \n",
    "        ID   ID                                                               Usage      ",
);

const NO_PROCESSES: &str =
    "  No running processes found                                                             ";

/// Writes the table, the GPUs, MIG devices and processes in so many columns side
/// by side.
pub fn summary(summary: &Summary, columns: usize, out: &mut Vec<u8>) {
    let gpus = summary.gpus.iter();
    let gpus = gpus.map(|gpu| fitted(gpu.cells(), GPU_WIDTHS)).collect();
    let mut blocks = vec![format!(
        "{}\n{}",
        across(&banner(summary), columns),
        GPUS.beside(gpus, columns)
    )];
    if let Some(devices) = &summary.mig_devices {
        let devices = devices.iter();
        let devices = devices.map(|device| fitted(device.cells(), MIG_WIDTHS));
        blocks.push(MIG_DEVICES.beside(devices.collect(), columns));
    }
    let processes = summary.processes.iter();
    let processes = processes.map(|process| fitted([process.cell()], [PROCESS_WIDTH]));
    blocks.push(PROCESSES.beside(processes.collect(), columns));
    // Writing to memory does not fail.
    let _ = writeln!(out, "{:<31}\n{}", summary.time, blocks.join("\n\n"));
}

/// One of the three tables.
struct Block {
    /// A line above the head, in a frame of its own: it is as wide as all columns.
    title: Option<&'static str>,
    head: &'static [&'static str],
    /// Whether there are lines between the rows.
    ruled: bool,
    /// The lines of a row.
    height: usize,
    /// What stands in the place of rows where there are none.
    none: &'static str,
}

const GPUS: Block = Block {
    title: None,
    head: &GPU_HEAD,
    ruled: true,
    height: 3,
    none: "",
};

const MIG_DEVICES: Block = Block {
    title: Some(MIG_TITLE),
    head: &MIG_HEAD,
    ruled: true,
    height: 2,
    none: NO_MIG_DEVICES,
};

const PROCESSES: Block = Block {
    title: None,
    head: &[PROCESS_HEAD],
    ruled: false,
    height: 1,
    none: NO_PROCESSES,
};

impl Block {
    /// Deals rows to columns as cards are dealt, and sets the columns side by side.
    /// Where a column got one row less, its last place stays empty.
    fn beside(&self, rows: Vec<Vec<String>>, columns: usize) -> String {
        let places = rows.len().div_ceil(columns);
        let mut dealt = vec![Vec::new(); columns];
        for (place, row) in rows.into_iter().enumerate() {
            dealt[place % columns].push(row);
        }
        let drawn = dealt.into_iter().map(|rows| self.column(rows, places));
        drawn.reduce(beside).unwrap_or_default()
    }

    /// A column with room for so many rows.
    fn column(&self, rows: Vec<Vec<String>>, places: usize) -> String {
        let empty = places - rows.len();
        let mut frame = Frame::new(self.ruled, self.head, rows);
        let table = if places == 0 {
            frame.saying(self.none)
        } else {
            frame.room(empty, self.height);
            frame.closed()
        };
        match self.title {
            Some(title) => format!("{}\n{table}", across(title, 1)),
            None => table,
        }
    }
}

/// A line across so many columns, with their borders above and none below.
fn across(line: &str, columns: usize) -> String {
    let border = frame::border(PROCESS_WIDTH).repeat(columns);
    let line = left(line, border.len() - 2);
    format!("{border}\n|{line}|")
}

/// Texts of the same height side by side.
fn beside(left: String, right: String) -> String {
    let lines = left.lines().zip(right.lines());
    let lines: Vec<String> = lines
        .map(|(left, right)| format!("{left}{right}"))
        .collect();
    lines.join("\n")
}

/// Cells of the widths that their columns have, whatever is in them.
fn fitted<const N: usize>(cells: [String; N], widths: [usize; N]) -> Vec<String> {
    cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| width::cell(cell, width))
        .collect()
}

fn banner(summary: &Summary) -> String {
    let tool = shown(&summary.tool_version);
    let driver = shown(&summary.driver_version);
    let cuda = text(&summary.cuda_version, |(major, minor)| {
        format!("{major}.{minor}")
    });
    let banner = format!(
        " NVIDIA-SMI {} Driver Version: {}     CUDA Version: {}",
        left(&tool, 22),
        left(&driver, 10),
        left(&cuda, 9)
    );
    width::cell(&banner, PROCESS_WIDTH)
}

impl GpuLines {
    fn cells(&self) -> [String; 3] {
        const UNKNOWN_STATE: u32 = 32;
        let fan = inner(&self.fan_speed, |percent| format!("{percent:>3}%"));
        let temperature = inner(&self.temperature, |degrees| format!("{degrees:>3}C"));
        let state = match &self.performance_state {
            Ok(UNKNOWN_STATE) => word(Missing::UNKNOWN).to_owned(),
            Ok(state) => format!("{:>5}", format!("P{state}")),
            missing => inner(missing, |_| String::new()),
        };
        let power = inner(&self.power_usage, |milliwatts| {
            // As in the report, no less than a watt.
            format!("{:>4}W", (milliwatts / 1000).max(1))
        });
        let limit = inner(&self.power_limit, |milliwatts| {
            format!("{:>4}W", milliwatts / 1000)
        });
        [
            format!(
                " {} {}   {:<4} \n{} {}{}           {} / {} \n{:41}",
                left(&format!("{:>3}", self.index), 4),
                left(&shown(&self.name), 27),
                text(&self.persistence, |on| on_off(*on)),
                left(&fan, 5),
                left(&temperature, 5),
                left(&state, 5),
                left(&power, 5),
                left(&limit, 5),
                "",
            ),
            format!(
                "   {}{:>4} \n {} \n{:24}",
                left(&shown(&self.bus_id), 16),
                text(&self.display_active, |on| on_off(*on).trim_end().to_owned()),
                left(&memory_usage(self.handle, &self.memory), 22),
                "",
            ),
            format!(
                " {} \n    {} {:>10} \n           {:>10} ",
                width::right(&text(&self.ecc, Ecc::cell), 20),
                left(
                    &inner(&self.utilization, |percent| format!("{percent:>3}%")),
                    6
                ),
                text(&self.compute_mode, |&mode| compute_mode(mode).to_owned()),
                mig_mode(&self.mig),
            ),
        ]
    }
}

impl Ecc {
    fn cell(&self) -> String {
        let star = |changes: &bool| if *changes { "*" } else { "" };
        match self {
            Self::Off { changes } => format!("Off{}", star(changes)),
            Self::On { changes } => format!("On{}", star(changes)),
            Self::Errors { count, changes } => format!("{count}{}", star(changes)),
        }
    }
}

impl MigLines {
    fn cells(&self) -> [String; 4] {
        let pair = |reading, mebibytes: fn(u64) -> u64| {
            let pair = text(reading, |&(used, total): &(u64, u64)| {
                format!(" {:>5}MiB / {:>5}MiB", mebibytes(used), mebibytes(total))
            });
            left(&pair, 23)
        };
        let id = |reading| left(&text(reading, |id| format!("{id:>4}")), 4);
        let engine = |which: usize| {
            let count = text(&self.engines, |engines| format!("{:>3}", engines[which]));
            left(&count, 4)
        };
        [
            format!(
                "{}{}{} {} \n{:18}",
                left(&format!("{:>3}", self.gpu), 4),
                id(&self.gpu_instance),
                id(&self.compute_instance),
                left(&text(&self.index, |index| format!("{index:>3}")), 4),
                "",
            ),
            format!(
                "          {} \n          {} ",
                pair(&self.memory, mebibytes),
                pair(&self.bar1, whole_mebibytes)
            ),
            format!(
                "{}  {}\n{:11}",
                left(
                    &text(&self.multiprocessors, |count| format!("{count:>3}")),
                    4
                ),
                left(&text(&self.errors, |count| format!("{count:>4}")), 5),
                "",
            ),
            format!(
                "{}{} {} {} {}\n{:23}",
                engine(0),
                engine(1),
                engine(2),
                engine(3),
                engine(4),
                "",
            ),
        ]
    }
}

impl ProcessLine {
    fn cell(&self) -> String {
        let instance =
            |id: Option<u32>| id.map_or("N/A".to_owned(), |id| left(&format!("{id:>2}"), 3));
        format!(
            "{:>5}   {}  {} {:>15}{:>7}   {}{} ",
            self.gpu,
            instance(self.gpu_instance),
            instance(self.compute_instance),
            text(&self.pid, u32::to_string),
            self.kind,
            width::left_end(&printable(&self.name), 32),
            width::right(
                &match self.memory {
                    Ok(bytes) => format!("{}MiB", whole_mebibytes(bytes)),
                    Err(missing) => format!("{:<8}", word(missing)),
                },
                14
            ),
        )
    }
}

/// The word for a reading without a value: a GPU that has no such thing, has not
/// found it or has no data yet shows N/A, any other failure ERR!.
fn word(missing: Missing) -> &'static str {
    match missing {
        Missing::NotSupported | Missing::NOT_FOUND | Missing::NO_DATA => "N/A",
        Missing::Failed(_) => "ERR!",
    }
}

fn text<T>(reading: &Reading<T>, show: impl FnOnce(&T) -> String) -> String {
    match reading {
        Ok(value) => show(value),
        Err(missing) => word(*missing).to_owned(),
    }
}

fn shown(reading: &Reading<String>) -> String {
    text(reading, |text| printable(text).into_owned())
}

/// As [`text`], for fields whose N/A stands one blank to the right.
fn inner<T>(reading: &Reading<T>, show: impl FnOnce(&T) -> String) -> String {
    match text(reading, show).as_str() {
        "N/A" => " N/A".to_owned(),
        text => text.to_owned(),
    }
}

fn on_off(on: bool) -> String {
    if on { " On " } else { " Off" }.to_owned()
}

/// Used and total; where there is neither, the whole words of the failure.
fn memory_usage(handle: Reading<()>, memory: &Reading<Memory>) -> Cow<'static, str> {
    const WIDTH: usize = 22;
    if let Err(missing) = handle {
        return left(missing.words(), WIDTH).into();
    }
    match memory {
        Ok(memory) => {
            let pair = format!(
                "{}MiB / {:>6}MiB",
                mebibytes(memory.used),
                mebibytes(memory.total)
            );
            format!(" {}", width::right(&pair, 21)).into()
        }
        Err(Missing::NO_PERMISSION) => "                 N/A  ".into(),
        Err(missing) => left(missing.words(), WIDTH).into(),
    }
}

fn compute_mode(mode: u32) -> &'static str {
    ["Default", "E. Thread", "Prohibited", "E. Process"]
        .get(mode as usize)
        .unwrap_or(&"Unknown")
}

/// MIG mode, or with a star the one that waits for a reset; unlike the other
/// fields, it is N/A only where there is no MIG.
fn mig_mode(mig: &Reading<(bool, bool)>) -> Cow<'static, str> {
    let (current, pending) = match mig {
        Ok(modes) => *modes,
        Err(Missing::NotSupported) => return "N/A".into(),
        Err(_) => return "ERR!".into(),
    };
    let word = if pending { "Enabled" } else { "Disabled" };
    if current == pending {
        word.into()
    } else {
        format!("{word}*").into()
    }
}
