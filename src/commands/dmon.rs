//! `dmon`: the GPUs, one line a GPU and sample.

use std::env;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::repeat::repeat;
use super::watching::{COUNT, FILE, OPTIONS, layout, no_file, pace, refuse, stamps};
use crate::cli::Takes::Text;
use crate::cli::{ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::commands::begin;
use crate::error::Status;
use crate::facts::Context;
use crate::nvml::{Driver, Gpu, Meter, MigDevice, Missing, Reading, each, if_any};
use crate::output::Output;
use crate::render::scroll::{Again, End, Heading, Scroll, Style};
use crate::value::Value;
use crate::watch::{self, Column, PowerViolation};

/// `dmon`.
#[rustfmt::skip]
pub static DMON: Subcommand = Subcommand {
    name: "dmon",
    about: "Watch the GPUs, one line a sample",
    notes: "At most 16 of them, or all with NVSMI_SHOW_ALL_DEVICES=1, until interrupted. A value\nthat is not to be had is shown as -.",
    options: &[
        ID,
        opt("-d --delay", Text, "SEC", "A sample every SEC seconds, 1 to 600 (1)"),
        COUNT,
        opt("-s --select", Text, "LETTERS", "Columns (puc): p power and temperatures,\nu utilization of the engines, c clocks,\nv time lost to power and thermal limits,\nm memory: frame buffer, BAR1, protected,\ne ECC errors and PCIe replays, t PCIe traffic"),
        opt("--gpm-metrics", Text, "NUMBERS", "Also these performance counters, see below"),
        opt("--gpm-options", Text, "LETTERS", "Counters (d) of: d whole GPUs, m their MIG devices,\ndm or md both"),
        OPTIONS,
        FILE,
        opt("--format", Text, "LIST", "csv: commas between values; noheader: no line with the\nnames; nounit: no line with the units"),
    ],
    refuses: Refuses::WithUsage,
    needs: Needs::Nothing,
    run: Run::Endlessly(dmon),
};

/// The most GPUs that a view shows unasked.
const MOST: usize = 16;

/// With this variable a view shows all of them.
const SHOW_ALL: &str = "NVSMI_SHOW_ALL_DEVICES";

/// Seconds.
const LONGEST_DELAY: i32 = 600;

/// Watches the GPUs. A line is refused in nvidia-smi's order: what can be told
/// of it alone, the file, the GPUs, then the other options.
fn dmon(line: &Line) -> anyhow::Result<Status> {
    let pace = match pace(line, LONGEST_DELAY) {
        Ok(pace) => pace,
        Err(complaint) => return refuse(&DMON, &complaint),
    };
    let file = line.text("filename").map(Path::new);
    let driver = begin::open()?;
    let mut output = Output::open(file, no_file)?;
    let mut gpus = shown(&driver, line.text("id"))?;
    let columns = watch::select(watch::DEVICE, line.text("select").unwrap_or("puc"))?;
    let metrics = watch::metric_ids(line.text("gpm-metrics").unwrap_or_default())?;
    let stamps = stamps(line.text("options"))?;
    let layout = layout(line.text("format"))?;
    let Some(levels) = Levels::read(line.text("gpm-options")) else {
        return refuse(&DMON, "");
    };
    let view = View {
        columns: if levels.gpu { columns } else { Vec::new() },
        metrics,
        levels,
    };
    let style = Style {
        index: "gpu",
        again: Again::Lines(44),
        end: End::Blank,
    };
    let mut scroll = Scroll::new(style, view.headings(), stamps, layout);
    let kept: Vec<Mutex<Kept>> = gpus.iter().map(|_| Mutex::default()).collect();
    repeat(
        pace,
        &mut gpus,
        &mut output,
        Vec::new(),
        |gpus, time, out| {
            let gpus: Vec<_> = gpus.iter().zip(&kept).collect();
            let lines = each(&gpus, |(gpu, kept)| {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let context = Context {
                    time,
                    driver: &driver,
                    gpu,
                    item: &(),
                };
                view.lines(&context, gpu, &mut kept)
            });
            for ((gpu, _), lines) in gpus.iter().zip(lines) {
                for cells in lines {
                    scroll.line(time, gpu.index(), &cells, Ok(""), out);
                }
            }
        },
    )?;
    Ok(begin::all_answer(&gpus).and(all_shown(&kept)))
}

/// What performance counters are shown of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Levels {
    /// Whole GPUs.
    gpu: bool,
    /// MIG devices.
    mig: bool,
}

impl Levels {
    /// Reads the letters of `--gpm-options`; nvidia-smi has nothing to say about
    /// bad ones but its usage.
    fn read(letters: Option<&str>) -> Option<Self> {
        let (gpu, mig) = match letters {
            None | Some("d") => (true, false),
            Some("m") => (false, true),
            Some("dm" | "md") => (true, true),
            Some(_) => return None,
        };
        Some(Self { gpu, mig })
    }
}

/// The GPUs that a view shows of those that are meant, and a warning where these
/// are too many.
pub fn shown<'d>(driver: &'d Driver, ids: Option<&str>) -> anyhow::Result<Vec<Gpu<'d>>> {
    let mut gpus = begin::select(driver, ids)?;
    if gpus.len() > MOST && env::var_os(SHOW_ALL).is_none() {
        let warning = format!(
            "\nWARNING: Only monitoring up to {MOST} GPUs is supported by default.\n\
            {SHOW_ALL}=1 in the environment shows all {}; that costs more.\n\n",
            gpus.len()
        );
        Output::stdout()?.write(warning.as_bytes())?;
        gpus.truncate(MOST);
    }
    Ok(gpus)
}

/// MIG devices that could not be listed have no lines; the exit status tells.
fn all_shown(kept: &[Mutex<Kept>]) -> Status {
    let unlisted =
        |kept: &Mutex<Kept>| kept.lock().unwrap_or_else(PoisonError::into_inner).unlisted;
    kept.iter()
        .find_map(unlisted)
        .map_or(Status::Success, Status::from)
}

/// What is kept of a GPU from line to line.
#[derive(Default)]
struct Kept<'d> {
    power: PowerViolation,
    meter: Option<Meter<'d>>,
    migs: Vec<(Place, Meter<'d>)>,
    /// Why the MIG devices could not be listed when they were last asked for.
    unlisted: Option<Missing>,
}

/// A MIG device's index, and the GPU instance that it is part of.
type Place = (u32, u32);

/// A line: one cell a column.
type Cells = Vec<Reading<Value>>;

/// What is shown of each GPU.
struct View {
    /// Those of whole GPUs; none where only MIG devices are asked for.
    columns: Vec<&'static Column<PowerViolation>>,
    metrics: Vec<u32>,
    levels: Levels,
}

impl View {
    fn headings(&self) -> Vec<Heading> {
        let columns = self.columns.iter().map(|column| column.heading.clone());
        let mig = watch::MIG_DEVICE
            .iter()
            .filter(|_| self.levels.mig)
            .cloned();
        let metrics = self.metrics.iter().map(|&id| watch::metric(id));
        columns.chain(mig).chain(metrics).collect()
    }

    /// The lines about a GPU: its own, then those of its MIG devices. A GPU
    /// without any has a line in any case.
    fn lines<'d>(&self, context: &Context<()>, gpu: &Gpu<'d>, kept: &mut Kept<'d>) -> Vec<Cells> {
        let migs = match self.levels.mig {
            // A mode that cannot be read does not say that there are none.
            true => if_any(gpu.mig().map(drop)).and_then(|()| gpu.mig_devices()),
            false => Ok(Vec::new()),
        };
        kept.unlisted = migs.as_ref().err().copied();
        let migs = migs.unwrap_or_default();
        kept.migs
            .retain(|((index, _), _)| migs.iter().any(|mig| mig.index() == *index));
        let mut lines = Vec::with_capacity(1 + migs.len());
        if self.levels.gpu || migs.is_empty() {
            lines.push(self.gpu_line(context, gpu, kept));
        }
        lines.extend(migs.iter().map(|mig| self.mig_line(gpu, mig, kept)));
        lines
    }

    fn gpu_line<'d>(&self, context: &Context<()>, gpu: &Gpu<'d>, kept: &mut Kept<'d>) -> Cells {
        let context = context.about(&kept.power);
        let mut cells: Cells = self
            .columns
            .iter()
            .map(|column| (column.get)(&context))
            .collect();
        if self.levels.mig {
            cells.extend(none(watch::MIG_DEVICE.len()));
        }
        cells.extend(if self.levels.gpu {
            self.counters(gpu, || whole_meter(&mut kept.meter, gpu))
        } else {
            none(self.metrics.len())
        });
        cells
    }

    fn mig_line<'d>(&self, gpu: &Gpu<'d>, mig: &MigDevice, kept: &mut Kept<'d>) -> Cells {
        let instance = mig.gpu_instance();
        let ids = [Ok(mig.index()), instance, mig.compute_instance()];
        let mut cells = none(self.columns.len());
        cells.extend(ids.map(|id| id.map(Value::from)));
        cells.extend(self.counters(gpu, || {
            mig_meter(&mut kept.migs, gpu, (mig.index(), instance?))
        }));
        cells
    }

    /// The metrics since the last line.
    fn counters<'m, 'd: 'm>(
        &self,
        gpu: &Gpu<'d>,
        meter: impl FnOnce() -> Reading<&'m mut Meter<'d>>,
    ) -> Cells {
        if self.metrics.is_empty() {
            return Vec::new();
        }
        match meter().and_then(|meter| meter.read(gpu, &self.metrics)) {
            Ok(metrics) => metrics
                .into_iter()
                .map(|metric| Value::cut(metric?).ok_or(Missing::UNKNOWN))
                .collect(),
            Err(_) => none(self.metrics.len()),
        }
    }
}

/// Cells without a value.
fn none(count: usize) -> Cells {
    vec![Err(Missing::NO_DATA); count]
}

/// The meter of a GPU, made when it is first read.
fn whole_meter<'m, 'd>(
    meter: &'m mut Option<Meter<'d>>,
    gpu: &Gpu<'d>,
) -> Reading<&'m mut Meter<'d>> {
    match meter {
        Some(meter) => Ok(meter),
        None => Ok(meter.insert(Meter::new(gpu, None)?)),
    }
}

/// The meter of a MIG device, likewise.
fn mig_meter<'m, 'd>(
    meters: &'m mut Vec<(Place, Meter<'d>)>,
    gpu: &Gpu<'d>,
    place: Place,
) -> Reading<&'m mut Meter<'d>> {
    // An index may have become that of another instance.
    meters.retain(|(known, _)| *known == place || known.0 != place.0);
    let known = meters.iter().position(|(known, _)| *known == place);
    let at = match known {
        Some(at) => at,
        None => {
            meters.push((place, Meter::new(gpu, Some(place.1))?));
            meters.len() - 1
        }
    };
    Ok(&mut meters[at].1)
}
