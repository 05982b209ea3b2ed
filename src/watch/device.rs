//! `dmon`: one line a GPU.

use std::cell::Cell;

use super::{Column, Set, column};
use crate::facts::{clocks, ecc, load, memory, pcie, temperature};
use crate::nvml::{Gpu, Missing, Reading, Violation};
use crate::value::Value;

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
    column("pwr", "W", WIDTH, |context| {
        context
            .gpu
            .power_usage()
            .map(|milliwatts| (milliwatts / 1000).into())
    }),
    column("gtemp", "C", WIDTH, temperature::gpu),
    column("mtemp", "C", WIDTH, temperature::memory),
];

const UTILIZATION: &[Column<PowerViolation>] = &[
    column("sm", "%", WIDTH, load::gpu),
    column("mem", "%", WIDTH, load::memory),
    column("enc", "%", WIDTH, load::encoder),
    column("dec", "%", WIDTH, load::decoder),
    column("jpg", "%", WIDTH, load::jpeg),
    column("ofa", "%", WIDTH, load::ofa),
];

const CLOCKS: &[Column<PowerViolation>] = &[
    column("mclk", "MHz", WIDTH, clocks::memory),
    column("pclk", "MHz", WIDTH, clocks::sm),
];

const VIOLATIONS: &[Column<PowerViolation>] = &[
    column("pviol", "%", WIDTH, |context| {
        context.item.since_last(context.gpu).map(Value::from)
    }),
    // The real tool asks a function of the library that has no name; this is what
    // NVML tells of the same.
    column("tviol", "bool", WIDTH, |context| {
        const THERMAL: u64 = 0x20 | 0x40;
        let reasons = context.gpu.clocks_reasons()?;
        Ok(u32::from(reasons & THERMAL != 0).into())
    }),
];

const MEMORY: &[Column<PowerViolation>] = &[
    column("fb", "MB", WIDTH, memory::used),
    column("bar1", "MB", WIDTH, memory::bar1_used),
    column("ccpm", "MB", WIDTH, memory::protected_used),
];

const ERRORS: &[Column<PowerViolation>] = &[
    column("sbecc", "errs", WIDTH, |context| {
        errors(context.gpu, ecc::CORRECTED)
    }),
    column("dbecc", "errs", WIDTH, |context| {
        errors(context.gpu, ecc::UNCORRECTED)
    }),
    column("pci", "errs", WIDTH, pcie::replays),
];

const TRAFFIC: &[Column<PowerViolation>] = &[
    column("rxpci", "MB/s", WIDTH, |context| {
        traffic(context.gpu, |(_, received)| received)
    }),
    column("txpci", "MB/s", WIDTH, |context| {
        traffic(context.gpu, |(sent, _)| sent)
    }),
];

/// Memory errors since the driver was loaded, where ECC is on to count them.
fn errors(gpu: &Gpu, kind: u32) -> Reading<Value> {
    match gpu.ecc()? {
        (true, _) => gpu.total_errors(kind, ecc::VOLATILE).map(Value::from),
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
    if passed > 0.0 {
        (lasted / passed * 100.0).round().min(100.0) as u64
    } else {
        0
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
