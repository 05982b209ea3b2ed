//! `pmon`: the processes on the GPUs, one line a process and sample.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::dmon::shown;
use super::repeat::{Pace, repeat};
use crate::args::{COUNT, FILE, Layout, OPTIONS, Stamps, Watch};
use crate::error::Error;
use crate::nvml::{Driver, Gpu, Missing, Reading, Running, each};
use crate::output::Output;
use crate::render::scroll::{Again, End, Scroll, Style};
use crate::spelling::options::Takes::Text;
use crate::spelling::subcommand::{ID, Line, Needs, Refuses, Subcommand, opt};
use crate::value::Value;
use crate::watch::{self, Column, Process, Row};

/// `pmon`.
#[rustfmt::skip]
pub static PMON: Subcommand = Subcommand {
    name: "pmon",
    about: "Watch the processes on the GPUs",
    notes: "At most 16 GPUs, or all with NVSMI_SHOW_ALL_DEVICES=1, one line a process and sample, until interrupted.",
    options: &[
        ID,
        opt("-d --delay", Text, "SEC", "A sample every SEC seconds, 1 to 10 (1)"),
        COUNT,
        opt("-s --select", Text, "LETTERS", "Columns (u): u utilization of the engines,\nm memory: frame buffer, protected"),
        OPTIONS,
        FILE,
    ],
    refuses: Refuses::WithUsage,
    needs: Needs::Nothing,
    run: Some(pmon),
};

const LONGEST_DELAY: u32 = 10;

/// Watches the processes.
fn pmon(line: &Line) -> anyhow::Result<()> {
    let line = Watch::read(line, LONGEST_DELAY)?;
    let driver = crate::open()?;
    let mut output = Output::open(line.file.as_deref(), Error::watch_file)?;
    let mut gpus = shown(&driver, line.ids)?;
    let columns = watch::select(watch::PROCESS, line.select.as_deref().unwrap_or("u"))?;
    let of_memory = line.select.is_some_and(|letters| letters.contains('m'));
    let stamps = Stamps::read(line.stamps.as_deref())?;
    let style = Style {
        index: "gpu",
        again: Again::Lines(44),
        end: End::Command,
    };
    let headings = watch::PROCESS_ID
        .iter()
        .chain(columns.iter().map(|column| &column.heading));
    let mut scroll = Scroll::new(style, headings.cloned().collect(), stamps, Layout::PLAIN);
    let pace = Pace {
        every: line.every,
        count: line.count,
    };
    // The first sample looks as far back as the others.
    let mut since = now().saturating_sub(line.every);
    repeat(
        pace,
        &mut gpus,
        &mut output,
        Vec::new(),
        |gpus, time, out| {
            let began = now();
            let running = each(gpus, |gpu| running(&driver, gpu, since, of_memory));
            for (gpu, processes) in gpus.iter().zip(running) {
                if processes.is_empty() {
                    let cells = vec![Err(Missing::NotSupported); columns.len() + 2];
                    scroll.line(time, gpu.index(), &cells, "-", out);
                }
                for process in &processes {
                    let cells = cells(gpu, process, &columns);
                    let name = process.name.as_deref().unwrap_or("-");
                    scroll.line(time, gpu.index(), &cells, base_name(name), out);
                }
            }
            since = began;
        },
    )?;
    Ok(crate::all_there(&gpus)?)
}

fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

fn cells(gpu: &Gpu, process: &Process, columns: &[&Column<Process>]) -> Vec<Reading<Value>> {
    let row = Row { gpu, item: process };
    let mut cells = vec![Ok(process.pid.into()), Ok(Value::word(process.kind))];
    cells.extend(columns.iter().map(|column| (column.get)(&row)));
    cells
}

/// The processes of a GPU by id, with what they did since a time.
fn running(driver: &Driver, gpu: &Gpu, since: Duration, of_memory: bool) -> Vec<Process> {
    let mut contexts = Running::merge(gpu.process_lists());
    contexts.sort_by_key(|process| process.context.pid);
    if contexts.is_empty() {
        return Vec::new();
    }
    let since = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
    let loads = gpu.process_loads(since);
    let protected = match of_memory {
        true => gpu.protected_memory_by_process(),
        false => Err(Missing::NO_DATA),
    };
    let processes = contexts.into_iter().filter_map(|process| {
        let pid = process.context.pid;
        let name = match driver.process_name(pid) {
            // It has ended since, or it is not of this container.
            Err(Missing::NOT_FOUND) => return None,
            name => name,
        };
        Some(Process {
            pid,
            kind: process.kind(),
            name,
            memory: process.context.memory,
            protected: of(&protected, |(of, _)| *of == pid).map(|(_, bytes)| bytes),
            load: of(&loads, |load| load.pid == pid),
        })
    });
    processes.collect()
}

/// What a list says about a process.
fn of<T: Copy>(list: &Reading<Vec<T>>, process: impl Fn(&&T) -> bool) -> Reading<T> {
    match list {
        Ok(list) => list.iter().find(process).copied().ok_or(Missing::NO_DATA),
        Err(missing) => Err(*missing),
    }
}

/// What follows the last slash: a path is cut to its end.
fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
