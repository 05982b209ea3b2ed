//! `dmon`: the GPUs, one line a GPU and sample.

use std::ffi::OsString;

use jiff::ZonedDateTime as Time;

use super::repeat::{Pace, repeat};
use crate::args::{Args, DMON, Layout, Levels, Stamps, Watch};
use crate::error::Error;
use crate::nvml::{Gpu, Meter, Missing, Reading};
use crate::output::Output;
use crate::render::scroll::{Again, End, Scroll, Style};
use crate::value::Value;
use crate::watch::{self, Column, PowerViolation, Row};

/// The most GPUs that a view shows.
pub const MOST: usize = 16;

const LONGEST_DELAY: u32 = 600;

/// Watches the GPUs. A line is refused in nvidia-smi's order: what can be told
/// of it alone, the file, the GPUs, then the other options.
pub fn dmon(arguments: &[OsString]) -> anyhow::Result<()> {
    let line = Watch::read(&DMON, LONGEST_DELAY, arguments)?;
    let driver = crate::open()?;
    let mut output = Output::open(line.file.as_deref(), Error::watch_file)?;
    let mut gpus = crate::select(&driver, &Args::of(line.ids))?;
    gpus.truncate(MOST);
    let columns = watch::select(watch::DEVICE, line.select.as_deref().unwrap_or("puc"))?;
    let metrics = watch::metric_ids(line.gpm_metrics.as_deref().unwrap_or_default())?;
    let stamps = Stamps::read(line.stamps.as_deref())?;
    let layout = Layout::read(line.format.as_deref())?;
    let levels = Levels::read(line.gpm_options.as_deref())?;
    let mut view = View::new(columns, metrics, levels, stamps, layout);
    let pace = Pace {
        every: line.every,
        count: line.count,
    };
    let mut kept: Vec<Kept> = gpus.iter().map(|_| Kept::default()).collect();
    repeat(
        pace,
        &mut gpus,
        &mut output,
        Vec::new(),
        |gpus, time, out| {
            for (gpu, kept) in gpus.iter().zip(&mut kept) {
                view.lines(gpu, kept, time, out);
            }
        },
    )?;
    Ok(crate::all_there(&gpus)?)
}

/// What is kept of a GPU from line to line.
#[derive(Default)]
struct Kept<'d> {
    power: PowerViolation,
    meter: Option<Meter<'d>>,
    /// By the index of the MIG device.
    migs: Vec<(u32, Meter<'d>)>,
}

struct View {
    /// Those of the whole GPU; none where only MIG devices are asked for.
    columns: Vec<&'static Column<PowerViolation>>,
    metrics: Vec<u32>,
    levels: Levels,
    scroll: Scroll,
}

impl View {
    fn new(
        mut columns: Vec<&'static Column<PowerViolation>>,
        metrics: Vec<u32>,
        levels: Levels,
        stamps: Stamps,
        layout: Layout,
    ) -> Self {
        if !levels.gpu {
            columns.clear();
        }
        let mut headings: Vec<_> = columns
            .iter()
            .map(|column| column.heading.clone())
            .collect();
        if levels.mig {
            headings.extend_from_slice(watch::MIG_DEVICE);
        }
        headings.extend(metrics.iter().map(|&id| watch::metric(id)));
        let style = Style {
            index: "gpu",
            again: Again::Lines(44),
            end: End::Blank,
        };
        Self {
            columns,
            metrics,
            levels,
            scroll: Scroll::new(style, headings, stamps, layout),
        }
    }

    /// The lines about a GPU: its own, then those of its MIG devices. A GPU
    /// without any has a line in any case.
    fn lines<'d>(&mut self, gpu: &Gpu<'d>, kept: &mut Kept<'d>, time: &Time, out: &mut Vec<u8>) {
        let migs = match self.levels.mig {
            true => gpu.mig_devices().unwrap_or_default(),
            false => Vec::new(),
        };
        kept.migs
            .retain(|(index, _)| migs.iter().any(|mig| mig.index() == *index));
        if self.levels.gpu || migs.is_empty() {
            self.gpu_line(gpu, kept, time, out);
        }
        for mig in &migs {
            let instance = mig.gpu_instance();
            let counters = match instance {
                Ok(instance) => {
                    self.counters(gpu, || meter(&mut kept.migs, gpu, mig.index(), instance))
                }
                Err(missing) => self.none(missing),
            };
            let ids = [Ok(mig.index()), instance, mig.compute_instance()];
            let mut cells = vec![Err(Missing::NotSupported); self.columns.len()];
            cells.extend(ids.map(|id| id.map(Value::from)));
            cells.extend(counters);
            self.scroll.line(time, gpu.index(), &cells, "", out);
        }
    }

    fn gpu_line<'d>(&mut self, gpu: &Gpu<'d>, kept: &mut Kept<'d>, time: &Time, out: &mut Vec<u8>) {
        let row = Row {
            gpu,
            item: &kept.power,
        };
        let mut cells: Vec<Reading<Value>> = self
            .columns
            .iter()
            .map(|column| (column.get)(&row))
            .collect();
        if self.levels.mig {
            cells.extend([const { Err(Missing::NotSupported) }; watch::MIG_DEVICE.len()]);
        }
        cells.extend(match self.levels.gpu {
            true => self.counters(gpu, || whole_meter(&mut kept.meter, gpu)),
            false => self.none(Missing::NotSupported),
        });
        self.scroll.line(time, gpu.index(), &cells, "", out);
    }

    /// The metrics since the last line, their fractions cut.
    fn counters<'m, 'd: 'm>(
        &self,
        gpu: &Gpu<'d>,
        meter: impl FnOnce() -> Reading<&'m mut Meter<'d>>,
    ) -> Vec<Reading<Value>> {
        if self.metrics.is_empty() {
            return Vec::new();
        }
        match meter().and_then(|meter| meter.read(gpu, &self.metrics)) {
            Ok(metrics) => metrics
                .into_iter()
                .map(|metric| metric.and_then(whole))
                .collect(),
            Err(missing) => self.none(missing),
        }
    }

    fn none(&self, missing: Missing) -> Vec<Reading<Value>> {
        vec![Err(missing); self.metrics.len()]
    }
}

/// A metric without its fraction.
fn whole(metric: f64) -> Reading<Value> {
    match metric.is_finite() {
        true => Ok(Value::Whole(metric as i64)),
        false => Err(Missing::UNKNOWN),
    }
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

/// The meter of a MIG device.
fn meter<'m, 'd>(
    meters: &'m mut Vec<(u32, Meter<'d>)>,
    gpu: &Gpu<'d>,
    index: u32,
    instance: u32,
) -> Reading<&'m mut Meter<'d>> {
    let known = meters.iter().position(|(known, _)| *known == index);
    let at = match known {
        Some(at) => at,
        None => {
            meters.push((index, Meter::new(gpu, Some(instance))?));
            meters.len() - 1
        }
    };
    Ok(&mut meters[at].1)
}
