//! `pmon`: the processes on the GPUs, one line a process and sample.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::dmon::shown;
use super::repeat::repeat;
use super::watching::{COUNT, FILE, OPTIONS, no_file, pace, refuse, stamps};
use crate::cli::Takes::Text;
use crate::cli::{ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::commands::begin;
use crate::error::Status;
use crate::facts::Context;
use crate::nvml::{Driver, Gpu, Missing, Reading, Running, each};
use crate::output::Output;
use crate::render::scroll::{Again, End, Layout, Scroll, Style};
use crate::value::Value;
use crate::watch::{self, Column, Process};

/// `pmon`.
#[rustfmt::skip]
pub static PMON: Subcommand = Subcommand {
    name: "pmon",
    about: "Watch the processes on the GPUs",
    notes: "At most 16 GPUs, or all with NVSMI_SHOW_ALL_DEVICES=1, one line a process and\nsample, until interrupted.",
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
    run: Run::Endlessly(pmon),
};

/// Seconds.
const LONGEST_DELAY: i32 = 10;

/// Watches the processes.
fn pmon(line: &Line) -> anyhow::Result<Status> {
    let pace = match pace(line, LONGEST_DELAY) {
        Ok(pace) => pace,
        Err(complaint) => return refuse(&PMON, &complaint),
    };
    let file = line.text("filename").map(Path::new);
    let driver = begin::open()?;
    let mut output = Output::open(file, no_file)?;
    let mut gpus = shown(&driver, line.text("id"))?;
    let letters = line.text("select").unwrap_or("u");
    let columns = watch::select(watch::PROCESS, letters)?;
    let of_memory = letters.contains('m');
    let stamps = stamps(line.text("options"))?;
    let style = Style {
        index: "gpu",
        again: Again::Lines(44),
        end: End::Command,
    };
    let headings = watch::PROCESS_ID
        .iter()
        .chain(columns.iter().map(|column| &column.heading));
    let mut scroll = Scroll::new(style, headings.cloned().collect(), stamps, Layout::PLAIN);
    // Why processes could not be listed when they were last asked for.
    let mut unlisted = None;
    // The first sample looks as far back as the others.
    let mut since = now().saturating_sub(pace.every);
    repeat(
        pace,
        &mut gpus,
        &mut output,
        Vec::new(),
        |gpus, time, out| {
            let began = now();
            let from = look_back(since, began, pace.every);
            let running = each(gpus, |gpu| running(&driver, gpu, from, of_memory));
            unlisted = running
                .iter()
                .flatten()
                .find_map(|it| it.as_ref().err())
                .copied();
            let none = vec![Err(Missing::NO_DATA); columns.len() + 2];
            for (gpu, processes) in gpus.iter().zip(running) {
                let context = Context {
                    time,
                    driver: &driver,
                    gpu,
                    item: &(),
                };
                if processes.is_empty() {
                    scroll.line(time, gpu.index(), &none, Ok("-"), out);
                }
                for process in processes {
                    match process {
                        Ok(process) => {
                            let cells = cells(&context.about(&process), &columns);
                            let name = process.name.as_deref().unwrap_or("-");
                            scroll.line(time, gpu.index(), &cells, Ok(base_name(name)), out);
                        }
                        Err(missing) => {
                            scroll.line(time, gpu.index(), &none, Err(missing), out);
                        }
                    }
                }
            }
            since = began;
        },
    )?;
    let listed = unlisted.map_or(Status::Success, Status::from);
    Ok(begin::all_answer(&gpus).and(listed))
}

/// Since when a sample tells what processes did: since the last one, unless the
/// clock was set back meanwhile.
fn look_back(last: Duration, now: Duration, every: Duration) -> Duration {
    if last < now {
        last
    } else {
        now.saturating_sub(every)
    }
}

fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

fn cells(context: &Context<Process>, columns: &[&Column<Process>]) -> Vec<Reading<Value>> {
    let process = context.item;
    let mut cells = vec![Ok(process.pid.into()), Ok(Value::word(process.kind))];
    cells.extend(columns.iter().map(|column| (column.get)(context)));
    cells
}

/// The processes of a GPU by id, with what they did since a time, and after them
/// why a list of them could not be read.
fn running(driver: &Driver, gpu: &Gpu, since: Duration, of_memory: bool) -> Vec<Reading<Process>> {
    let mut contexts = match gpu.processes() {
        Ok(contexts) => contexts,
        // The board has none.
        Err(Missing::NotSupported) => return Vec::new(),
        Err(missing) => return vec![Err(missing)],
    };
    if contexts.is_empty() {
        return Vec::new();
    }
    let pid = |process: &Running| u64::from(process.context.pid);
    contexts.sort_by_key(|process| process.as_ref().map_or(u64::MAX, pid));
    let since = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
    let loads = gpu.process_loads(since);
    let loads = by_pid(loads.map(|loads| loads.into_iter().map(|load| (load.pid, load))));
    let protected = if of_memory {
        gpu.protected_memory_by_process()
    } else {
        Err(Missing::NO_DATA)
    };
    let protected = by_pid(protected.map(Vec::into_iter));
    let processes = contexts.into_iter().filter_map(|process| {
        let process = match process {
            Ok(process) => process,
            Err(missing) => return Some(Err(missing)),
        };
        let pid = process.context.pid;
        let name = match driver.process_name(pid) {
            // It has ended since, or it is not of this container.
            Err(Missing::NOT_FOUND) => return None,
            name => name,
        };
        Some(Ok(Process {
            pid,
            kind: process.kind(),
            name,
            memory: process.context.memory,
            protected: of(&protected, pid),
            load: of(&loads, pid),
        }))
    });
    processes.collect()
}

/// A list by process; of several entries for one, the first counts.
fn by_pid<T>(list: Reading<impl DoubleEndedIterator<Item = (u32, T)>>) -> Reading<HashMap<u32, T>> {
    Ok(list?.rev().collect())
}

/// What a list says about a process.
fn of<T: Copy>(list: &Reading<HashMap<u32, T>>, pid: u32) -> Reading<T> {
    let list = list.as_ref().map_err(|missing| *missing)?;
    list.get(&pid).copied().ok_or(Missing::NO_DATA)
}

/// What follows the last slash: a path is cut to its end.
fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_hides_no_work() {
        let seconds = Duration::from_secs;
        for (last, now, from) in [(9, 10, 9), (6, 10, 6), (10, 10, 9), (3610, 10, 9)] {
            let found = look_back(seconds(last), seconds(now), seconds(1));
            assert_eq!(found, seconds(from), "{last} {now}");
        }
    }

    #[test]
    fn of_two_entries_for_a_process_the_first_counts() {
        let list = by_pid(Ok(vec![(7, 'a'), (3, 'b'), (7, 'c')].into_iter()));
        let found = [7, 3, 5].map(|pid| of(&list, pid));
        assert_eq!(found, [Ok('a'), Ok('b'), Err(Missing::NO_DATA)]);
        let unread = by_pid(Err::<std::vec::IntoIter<(u32, char)>, _>(Missing::TIMEOUT));
        assert_eq!(of(&unread, 7), Err(Missing::TIMEOUT));
    }
}
