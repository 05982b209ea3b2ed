//! The selective queries: chosen fields of GPUs or of what is on them, as csv.

use jiff::ZonedDateTime as Time;

use crate::cli::List;
use crate::error::Error;
use crate::facts::Context;
use crate::facts::processes::Account;
use crate::facts::retirement::{self, RetiredPage};
use crate::fields::{self, ClockPair, Field, Process, Table};
use crate::nvml::{Driver, Gpu, Missing, each};
use crate::render::csv;

/// One sample: appends the lines about these GPUs.
pub type Sample = Box<dyn Fn(&Driver, &[Gpu], &Time, &mut Vec<u8>)>;

/// A query whose fields have all been found.
pub struct Query {
    /// The line with the names, empty when it was not asked for.
    pub header: Vec<u8>,
    /// Asks and prints once.
    pub sample: Sample,
}

/// `--format`, understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Format {
    /// Whether a heading line comes first (no `noheader`).
    header: bool,
    /// Whether numbers carry their unit (no `nounits`).
    units: bool,
}

impl Format {
    /// Reads the list; `csv` says nothing, empty items are dropped.
    fn read(list: &str) -> Result<Self, Error> {
        let mut format = Self {
            header: true,
            units: true,
        };
        for item in list.split(',').filter(|item| !item.is_empty()) {
            match item {
                "csv" => {}
                "noheader" => format.header = false,
                "nounits" => format.units = false,
                _ => return Err(Error::refused("Format modifier is not recognized.\n")),
            }
        }
        Ok(format)
    }
}

/// Looks up a comma separated list of field names; empty items do not count.
pub fn prepare(list: List, names: &str, format: Option<&str>) -> Result<Query, Error> {
    match list {
        List::Gpu => query(fields::GPU, names, format, |_, _| vec![()]),
        List::RemappedRows => query(fields::REMAPPED_ROWS, names, format, |_, _| vec![()]),
        List::ComputeApps => query(fields::COMPUTE_APPS, names, format, compute_apps),
        List::AccountedApps => query(fields::ACCOUNTED_APPS, names, format, accounted_apps),
        List::SupportedClocks => query(fields::SUPPORTED_CLOCKS, names, format, supported_clocks),
        List::RetiredPages => query(fields::RETIRED_PAGES, names, format, retired_pages),
    }
}

/// A list that cannot be read is one line that says so: no line would claim that
/// there is nothing.
fn query<T: 'static>(
    table: &Table<T>,
    names: &str,
    format: Option<&str>,
    items: fn(&Gpu, &[&Field<T>]) -> Vec<T>,
) -> Result<Query, Error> {
    let fields: Vec<&'static Field<T>> = names
        .split(',')
        .filter(|name| !name.is_empty())
        .map(|name| fields::find(table, name).ok_or_else(|| unknown_field(name)))
        .collect::<Result<_, _>>()?;
    let format = Format::read(format.unwrap_or("csv"))?;
    let mut header = Vec::new();
    if format.header {
        let names = fields.iter().map(|field| (field.name(), field.unit));
        csv::header(names, &mut header);
    }
    let sample = move |driver: &Driver, gpus: &[Gpu], time: &Time, out: &mut Vec<u8>| {
        let lines = each(gpus, |gpu| {
            let mut lines = Vec::new();
            for item in &items(gpu, &fields) {
                let context = Context {
                    time,
                    driver,
                    gpu,
                    item,
                };
                let value = |field: &&Field<T>| ((field.get)(&context), field.unit);
                let values = fields.iter().map(value).collect();
                csv::row(values, format.units, &mut lines);
            }
            lines
        });
        out.extend(lines.concat());
    };
    Ok(Query {
        header,
        sample: Box::new(sample),
    })
}

/// Processes with a compute context.
fn compute_apps(gpu: &Gpu, _: &[&Field<Process>]) -> Vec<Process> {
    match gpu.compute_processes() {
        Ok(contexts) => contexts
            .into_iter()
            .map(|context| Process {
                pid: Ok(context.pid),
                memory: context.memory,
            })
            .collect(),
        Err(missing) => vec![Process {
            pid: Err(missing),
            memory: Err(missing),
        }],
    }
}

/// Processes that the driver keeps accounts of.
fn accounted_apps(gpu: &Gpu, _: &[&Field<Account>]) -> Vec<Account> {
    match gpu.accounted() {
        Ok(processes) => processes
            .into_iter()
            .map(|(pid, stats)| Account {
                pid: Ok(pid),
                stats,
            })
            .collect(),
        Err(missing) => vec![Account {
            pid: Err(missing),
            stats: Err(missing),
        }],
    }
}

/// Every memory clock with every graphics clock that goes with it; where only one
/// of the two is asked for, each of its clocks once, and where neither is, one line.
fn supported_clocks(gpu: &Gpu, fields: &[&Field<ClockPair>]) -> Vec<ClockPair> {
    let asked = |name| fields.iter().any(|field| field.name() == name);
    let unasked = Err(Missing::NotSupported);
    let memory_clocks = match (asked("memory"), asked("graphics")) {
        (false, false) => {
            return vec![ClockPair {
                memory: unasked,
                graphics: unasked,
            }];
        }
        _ => gpu.supported_memory_clocks(),
    };
    let memory_clocks = match memory_clocks {
        Ok(clocks) => clocks,
        Err(missing) => {
            return vec![ClockPair {
                memory: Err(missing),
                graphics: Err(missing),
            }];
        }
    };
    if !asked("graphics") {
        let pair = |memory| ClockPair {
            memory: Ok(memory),
            graphics: unasked,
        };
        return memory_clocks.into_iter().map(pair).collect();
    }
    let mut pairs: Vec<ClockPair> = memory_clocks
        .into_iter()
        .flat_map(|memory| {
            let pair = move |graphics| ClockPair {
                memory: Ok(memory),
                graphics,
            };
            match gpu.supported_graphics_clocks(memory) {
                Ok(clocks) => clocks
                    .into_iter()
                    .map(|graphics| pair(Ok(graphics)))
                    .collect(),
                Err(missing) => vec![pair(Err(missing))],
            }
        })
        .collect();
    if !asked("memory") {
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.graphics.ok()));
        pairs.dedup_by_key(|pair| pair.graphics);
    }
    pairs
}

/// The pages retired for each cause; a cause without an answer has one line.
fn retired_pages(gpu: &Gpu, _: &[&Field<RetiredPage>]) -> Vec<RetiredPage> {
    let causes = (0..).zip(retirement::CAUSES);
    let pages = |(number, cause)| match retirement::pages(gpu, number) {
        Ok(pages) => pages,
        Err(missing) => vec![RetiredPage {
            address: Err(missing),
            time: Err(missing),
            cause,
        }],
    };
    causes.flat_map(pages).collect()
}

/// A name in a `--query-*` list that is no field.
fn unknown_field(name: &str) -> Error {
    let message = format!("Field \"{name}\" is not a valid field to query.\n\n");
    Error::refused(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_a_list_of_words() {
        let format = |list| {
            Format::read(list)
                .map(|format| (format.header, format.units))
                .ok()
        };
        assert_eq!(format("csv"), Some((true, true)));
        assert_eq!(format("noheader,csv"), Some((false, true)));
        assert_eq!(format("csv,,nounits,"), Some((true, false)));
        assert_eq!(format(""), Some((true, true)));
        for list in ["json", "CSV", "csv, noheader"] {
            assert_eq!(format(list), None, "{list}");
        }
    }
}
