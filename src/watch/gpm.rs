//! The metrics of GPU performance monitoring that `dmon` can add to its lines.

use crate::error::Error;
use crate::render::scroll::{Heading, heading};

const WIDTH: usize = 10;

/// Above the three columns that say which MIG device a line is about.
pub const MIG_DEVICE: &[Heading] = &[
    heading("mig_id", "Idx", WIDTH),
    heading("gi_id", "Idx", WIDTH),
    heading("ci_id", "Idx", WIDTH),
];

const PERCENT: &str = "GPM:%";
const RATE: &str = "GPM:MiB/s";
const COUNT: &str = "GPM:#";
const CYCLES: &str = "GPM:C/R";
/// Above a metric that has no name.
const UNKNOWN: &str = "GPM";

/// `NVML_GPM_METRIC_*` up to R580: the ids of one kind of metric, and what each
/// is headed. Where there are several of a kind, one follows another `every` so
/// many ids, and `#` stands for its number.
#[rustfmt::skip]
const METRICS: &[Metrics] = &[
    one(1, "gract", PERCENT, "graphics or compute engine busy"),
    one(2, "smutil", PERCENT, "multiprocessors busy"),
    one(3, "smocc", PERCENT, "warps that multiprocessors hold"),
    one(4, "intutil", PERCENT, "integer units busy"),
    one(5, "mmaact", PERCENT, "tensor cores busy"),
    one(6, "dfmat", PERCENT, "tensor cores busy, double precision"),
    one(7, "hmmat", PERCENT, "tensor cores busy, half precision"),
    one(9, "immat", PERCENT, "tensor cores busy, integers"),
    one(10, "dram", PERCENT, "memory interface busy"),
    one(11, "fp64", PERCENT, "double precision units busy"),
    one(12, "fp32", PERCENT, "single precision units busy"),
    one(13, "fp16", PERCENT, "half precision units busy"),
    one(20, "pcitx", RATE, "sent over PCIe"),
    one(21, "pcirx", RATE, "received over PCIe"),
    many(30, 8, 1, "nvdec#", PERCENT, "video decoder busy"),
    many(40, 8, 1, "nvjpg#", PERCENT, "JPEG decoder busy"),
    many(50, 2, 1, "nvofa#", PERCENT, "optical flow accelerator busy"),
    one(60, "nvlrx", RATE, "received over all NVLinks"),
    one(61, "nvltx", RATE, "sent over all NVLinks"),
    many(62, 18, 2, "nvl#rx", RATE, "received over one NVLink"),
    many(63, 18, 2, "nvl#tx", RATE, "sent over one NVLink"),
    one(100, "c2cttx", RATE, "sent over C2C"),
    one(101, "c2ctrx", RATE, "received over C2C"),
    one(102, "c2cdtx", RATE, "data sent over C2C"),
    one(103, "c2cdrx", RATE, "data received over C2C"),
    many(104, 14, 4, "c2c#ttx", RATE, "sent over one C2C link"),
    many(105, 14, 4, "c2c#trx", RATE, "received over one C2C link"),
    many(106, 14, 4, "c2c#dtx", RATE, "data sent over one C2C link"),
    many(107, 14, 4, "c2c#drx", RATE, "data received over one C2C link"),
    one(160, "hmhit", PERCENT, "host memory cache hits"),
    one(161, "hmmiss", PERCENT, "host memory cache misses"),
    one(162, "pmhit", PERCENT, "peer memory cache hits"),
    one(163, "pmmiss", PERCENT, "peer memory cache misses"),
    one(164, "dmhit", PERCENT, "device memory cache hits"),
    one(165, "dmmiss", PERCENT, "device memory cache misses"),
    many(166, 4, 1, "nvenc#", PERCENT, "video encoder busy"),
    many(170, 8, 5, "cs#elp", COUNT, "context switching, cycles passed"),
    many(171, 8, 5, "cs#act", COUNT, "context switching, cycles active"),
    many(172, 8, 5, "cs#req", COUNT, "context switches asked for"),
    many(173, 8, 5, "cs#cperq", CYCLES, "cycles for a context switch"),
    many(174, 8, 5, "cs#actpt", PERCENT, "context switching, share of cycles"),
];

/// The highest id there is.
const HIGHEST: u32 = 209;

struct Metrics {
    first: u32,
    count: u32,
    every: u32,
    name: &'static str,
    unit: &'static str,
    about: &'static str,
}

const fn one(id: u32, name: &'static str, unit: &'static str, about: &'static str) -> Metrics {
    many(id, 1, 1, name, unit, about)
}

const fn many(
    first: u32,
    count: u32,
    every: u32,
    name: &'static str,
    unit: &'static str,
    about: &'static str,
) -> Metrics {
    Metrics {
        first,
        count,
        every,
        name,
        unit,
        about,
    }
}

impl Metrics {
    /// Which of its kind an id is.
    fn number(&self, id: u32) -> Option<u32> {
        let distance = id.checked_sub(self.first)?;
        let number = distance / self.every;
        (distance % self.every == 0 && number < self.count).then_some(number)
    }
}

/// The numbers of each kind of metric, and what it is.
pub fn metrics() -> impl Iterator<Item = (String, &'static str)> {
    METRICS.iter().map(|kind| {
        let Metrics {
            first,
            count,
            every,
            ..
        } = *kind;
        let last = first + (count - 1) * every;
        let numbers = match (count, every) {
            (1, _) => first.to_string(),
            (_, 1) => format!("{first}-{last}"),
            _ => format!("{first},{},...,{last}", first + every),
        };
        (numbers, kind.about)
    })
}

/// What the metric of an id is headed.
pub fn metric(id: u32) -> Heading {
    let known = METRICS
        .iter()
        .find_map(|metrics| Some((metrics, metrics.number(id)?)));
    let (name, unit) = match known {
        Some((metrics, number)) => (metrics.name.replace('#', &number.to_string()), metrics.unit),
        None => (format!("id={id}"), UNKNOWN),
    };
    Heading {
        name: name.into(),
        unit: unit.into(),
        width: WIDTH,
    }
}

/// Reads a list of ids; empty items are dropped.
pub fn metric_ids(list: &str) -> Result<Vec<u32>, Error> {
    if let Some(strange) = list.chars().find(|c| !c.is_ascii_digit() && *c != ',') {
        return Err(wrong_metric(&format!(
            "Found offending character: {strange}"
        )));
    }
    list.split(',')
        .filter(|item| !item.is_empty())
        .map(|item| match item.parse() {
            Ok(id) if id <= HIGHEST => Ok(id),
            _ => Err(wrong_metric(&format!("Metric value too high: {item}"))),
        })
        .collect()
}

/// A list of performance metrics with something wrong in it.
fn wrong_metric(reason: &str) -> Error {
    Error::watch(&format!("{reason}\nCould not parse GPM metrics\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_headed_as_nvml_names_them() {
        let expected = [
            (1, "gract", "GPM:%"),
            (8, "id=8", "GPM"),
            (21, "pcirx", "GPM:MiB/s"),
            (37, "nvdec7", "GPM:%"),
            (38, "id=38", "GPM"),
            (51, "nvofa1", "GPM:%"),
            (62, "nvl0rx", "GPM:MiB/s"),
            (97, "nvl17tx", "GPM:MiB/s"),
            (98, "id=98", "GPM"),
            (157, "c2c13trx", "GPM:MiB/s"),
            (169, "nvenc3", "GPM:%"),
            (175, "cs1elp", "GPM:#"),
            (208, "cs7cperq", "GPM:C/R"),
            (209, "cs7actpt", "GPM:%"),
        ];
        for (id, name, unit) in expected {
            let heading = metric(id);
            assert_eq!((&*heading.name, &*heading.unit), (name, unit), "{id}");
        }
    }

    #[test]
    fn no_id_is_of_two_kinds() {
        for id in 0..=HIGHEST {
            let kinds = METRICS.iter().filter(|kind| kind.number(id).is_some());
            assert!(kinds.count() <= 1, "{id}");
        }
    }
}
