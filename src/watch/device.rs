//! `dmon`: one line a GPU.

use std::cell::Cell;

use super::{Column, Set, column};
use crate::nvml::{Clock, Gpu, Missing, Reading, Violation};
use crate::value::{Value, mebibytes, whole_mebibytes};

/// The columns, by the letter of `-s`.
pub const DEVICE: &[Set<PowerViolation>] = &[
    ('p', POWER),
    ('u', UTILIZATION),
    ('c', CLOCKS),
    ('v', VIOLATIONS),
    ('m', MEMORY),
    ('e', ERRORS),
    ('t', TRAFFIC),
];

const WIDTH: usize = 6;

const POWER: &[Column<PowerViolation>] = &[
    column("pwr", "W", WIDTH, |row| {
        row.gpu
            .power_usage()
            .map(|milliwatts| (milliwatts / 1000).into())
    }),
    column("gtemp", "C", WIDTH, |row| {
        row.gpu.temperature().map(Value::from)
    }),
    column("mtemp", "C", WIDTH, |row| {
        const MEMORY_TEMP: u32 = 82;
        row.gpu.field_number(MEMORY_TEMP, 0).map(Value::from)
    }),
];

const UTILIZATION: &[Column<PowerViolation>] = &[
    column("sm", "%", WIDTH, |row| {
        row.gpu.utilization().map(|busy| busy.gpu.into())
    }),
    column("mem", "%", WIDTH, |row| {
        row.gpu.utilization().map(|busy| busy.memory.into())
    }),
    column("enc", "%", WIDTH, |row| {
        row.gpu.encoder_utilization().map(Value::from)
    }),
    column("dec", "%", WIDTH, |row| {
        row.gpu.decoder_utilization().map(Value::from)
    }),
    column("jpg", "%", WIDTH, |row| {
        row.gpu.jpeg_utilization().map(Value::from)
    }),
    column("ofa", "%", WIDTH, |row| {
        row.gpu.ofa_utilization().map(Value::from)
    }),
];

const CLOCKS: &[Column<PowerViolation>] = &[
    column("mclk", "MHz", WIDTH, |row| {
        row.gpu.clock(Clock::Memory).map(Value::from)
    }),
    column("pclk", "MHz", WIDTH, |row| {
        row.gpu.clock(Clock::SM).map(Value::from)
    }),
];

const VIOLATIONS: &[Column<PowerViolation>] = &[
    column("pviol", "%", WIDTH, |row| {
        row.item.since_last(row.gpu).map(Value::from)
    }),
    // The real tool asks a function of the library that has no name; this is what
    // NVML tells of the same.
    column("tviol", "bool", WIDTH, |row| {
        const THERMAL: u64 = 0x20 | 0x40;
        let reasons = row.gpu.clocks_reasons()?;
        Ok(u32::from(reasons & THERMAL != 0).into())
    }),
];

const MEMORY: &[Column<PowerViolation>] = &[
    column("fb", "MB", WIDTH, |row| {
        row.gpu.memory().map(|fb| mebibytes(fb.used).into())
    }),
    column("bar1", "MB", WIDTH, |row| {
        row.gpu
            .bar1()
            .map(|bar1| whole_mebibytes(bar1.bar1Used).into())
    }),
    column("ccpm", "MB", WIDTH, |row| {
        row.gpu
            .protected_memory()
            .map(|protected| mebibytes(protected.used).into())
    }),
];

const CORRECTED: u32 = 0;
const UNCORRECTED: u32 = 1;

const ERRORS: &[Column<PowerViolation>] = &[
    column("sbecc", "errs", WIDTH, |row| errors(row.gpu, CORRECTED)),
    column("dbecc", "errs", WIDTH, |row| errors(row.gpu, UNCORRECTED)),
    column("pci", "errs", WIDTH, |row| {
        row.gpu.pcie_replays().map(Value::from)
    }),
];

const TRAFFIC: &[Column<PowerViolation>] = &[
    column("rxpci", "MB/s", WIDTH, |row| {
        traffic(row.gpu, |(_, received)| received)
    }),
    column("txpci", "MB/s", WIDTH, |row| {
        traffic(row.gpu, |(sent, _)| sent)
    }),
];

/// Memory errors since the driver was loaded, where ECC is on to count them.
fn errors(gpu: &Gpu, kind: u32) -> Reading<Value> {
    const VOLATILE: u32 = 0;
    match gpu.ecc()? {
        (true, _) => gpu.total_errors(kind, VOLATILE).map(Value::from),
        (false, _) => Err(Missing::NotSupported),
    }
}

/// Kilobytes a second sent and received.
type Traffic = (Reading<u32>, Reading<u32>);

fn traffic(gpu: &Gpu, direction: fn(Traffic) -> Reading<u32>) -> Reading<Value> {
    direction(gpu.pcie_throughput()?).map(|kilobytes| (kilobytes / 1000).into())
}

/// How long the power limit had held a GPU's clocks down when it was last asked.
#[derive(Default)]
pub struct PowerViolation(Cell<Option<Violation>>);

impl PowerViolation {
    /// Percent of the time since it was last asked; 0 at first, for no time has
    /// passed then.
    fn since_last(&self, gpu: &Gpu) -> Reading<u64> {
        const POWER: u32 = 0;
        let before = self.0.take();
        let now = gpu.violation(POWER)?;
        self.0.set(Some(now));
        Ok(before.map_or(0, |before| percent(before, now)))
    }
}

fn percent(before: Violation, now: Violation) -> u64 {
    let passed = now.at.saturating_sub(before.at) as f64 * 1000.0;
    let lasted = now.lasted.saturating_sub(before.lasted) as f64;
    match passed > 0.0 {
        true => (lasted / passed * 100.0).round().min(100.0) as u64,
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_are_a_share_of_the_time_that_passed() {
        let at = |at, lasted| Violation { at, lasted };
        // Two samples of a busy H200 at its power limit.
        let before = at(0x6_6187_bf53_75a9, 0x1_288c_15c0);
        let now = at(0x6_6187_bf63_9df9, 0x1_67a8_d2a0);
        assert_eq!(percent(before, now), 100);
        assert_eq!(percent(at(0, 0), at(1000, 500_000)), 50);
        assert_eq!(percent(at(0, 0), at(1000, 2_000_000)), 100);
        assert_eq!(percent(at(5, 7), at(5, 7)), 0);
    }
}
