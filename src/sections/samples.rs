//! What the driver sampled lately, in five numbers.

use super::row::{Row, group, number};
use crate::facts::Context;
use crate::nvml::{Missing, Reading, Sample};
use crate::value::Unit::{Megahertz, Percent, Seconds, Watts};
use crate::value::{Unit, Value};

/// `NVML_*_SAMPLES`.
const TOTAL_POWER: u32 = 0;
const GPU_UTILIZATION: u32 = 1;
const MEMORY_UTILIZATION: u32 = 2;
const ENCODER_UTILIZATION: u32 = 3;
const DECODER_UTILIZATION: u32 = 4;
const PROCESSOR_CLOCK: u32 = 5;
const MEMORY_CLOCK: u32 = 6;
const JPEG_UTILIZATION: u32 = 8;
const OFA_UTILIZATION: u32 = 9;

/// Samples in short; the values in the unit that was sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Digest {
    seconds: f64,
    number: usize,
    max: f64,
    min: f64,
    average: f64,
}

impl Digest {
    /// The average is over time: each sample stands for the time since the one
    /// before it, so that the first stands for none.
    fn of(samples: &[Sample]) -> Option<Self> {
        let (first, last) = (samples.first()?, samples.last()?);
        let values = || samples.iter().map(|sample| sample.value);
        let span = |from: &Sample, to: &Sample| to.time.saturating_sub(from.time) as f64;
        let duration = span(first, last);
        let weighed: f64 = samples
            .windows(2)
            .map(|pair| pair[1].value * span(&pair[0], &pair[1]))
            .sum();
        Some(Self {
            seconds: duration / 1e6,
            number: samples.len(),
            max: values().fold(f64::MIN, f64::max),
            min: values().fold(f64::MAX, f64::min),
            average: if duration > 0.0 {
                weighed / duration
            } else {
                last.value
            },
        })
    }
}

fn digest(context: &Context<()>, which: u32) -> Reading<Digest> {
    Digest::of(&context.gpu.samples(which)?).ok_or(Missing::NOT_FOUND)
}

/// A number without a fraction, which is cut.
fn whole(number: f64) -> Value {
    Value::Whole(number as i128)
}

/// A group of five lines: heading, `NVML_*_SAMPLES`, unit, and how a value is written.
macro_rules! samples {
    ($label:literal, $which:ident, $unit:expr, $value:expr) => {
        group(
            $label,
            "",
            &[
                number("Duration", "", Seconds, |context| {
                    digest(context, $which).map(|digest| Value::Hundredths(digest.seconds))
                }),
                number("Number of Samples", "", Unit::None, |context| {
                    digest(context, $which).map(|digest| digest.number.into())
                }),
                number("Max", "", $unit, |context| {
                    digest(context, $which).map(|digest| $value(digest.max))
                }),
                number("Min", "", $unit, |context| {
                    digest(context, $which).map(|digest| $value(digest.min))
                }),
                number("Avg", "", $unit, |context| {
                    digest(context, $which).map(|digest| $value(digest.average))
                }),
            ],
        )
    };
}

/// Milliwatts as watts. nvidia-smi reckons samples with more precision than other powers.
fn watts(milliwatts: f64) -> Value {
    Value::Hundredths(milliwatts / 1000.0)
}

pub const POWER: &[Row<()>] = &[samples!("Power Samples", TOTAL_POWER, Watts, watts)];

pub const UTILIZATION: &[Row<()>] = &[
    samples!("GPU Utilization Samples", GPU_UTILIZATION, Percent, whole),
    samples!(
        "Memory Utilization Samples",
        MEMORY_UTILIZATION,
        Percent,
        whole
    ),
    samples!(
        "ENC Utilization Samples",
        ENCODER_UTILIZATION,
        Percent,
        whole
    ),
    samples!(
        "DEC Utilization Samples",
        DECODER_UTILIZATION,
        Percent,
        whole
    ),
    samples!("JPG Utilization Samples", JPEG_UTILIZATION, Percent, whole),
    samples!("OFA Utilization Samples", OFA_UTILIZATION, Percent, whole),
];

pub const CLOCKS: &[Row<()>] = &[
    samples!("SM Clock Samples", PROCESSOR_CLOCK, Megahertz, whole),
    samples!("Memory Clock Samples", MEMORY_CLOCK, Megahertz, whole),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(samples: &[(u64, f64)]) -> Option<Digest> {
        let samples: Vec<Sample> = samples
            .iter()
            .map(|&(time, value)| Sample { time, value })
            .collect();
        Digest::of(&samples)
    }

    #[test]
    fn a_sample_stands_for_the_time_before_it() {
        let expected = Digest {
            seconds: 4.0,
            number: 3,
            max: 900.0,
            min: 10.0,
            average: 17.5,
        };
        let given = digest(&[(0, 900.0), (1_000_000, 10.0), (4_000_000, 20.0)]);
        assert_eq!(given, Some(expected));
    }

    #[test]
    fn one_sample_is_its_own_average_and_none_has_none() {
        assert_eq!(digest(&[(7, 3.0)]).map(|one| one.average), Some(3.0));
        assert_eq!(digest(&[]), None);
    }
}
