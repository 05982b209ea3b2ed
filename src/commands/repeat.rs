//! Loops: the same answer again and again, without drift.

use std::io;
use std::time::{Duration, Instant};

use jiff::ZonedDateTime as Time;

use crate::host::clock;
use crate::host::signals;
use crate::nvml::{self, Gpu};
use crate::output::Output;

/// Below this, a loop would do nothing but sample.
const SHORTEST: Duration = Duration::from_millis(1);

/// How often a sample is taken.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// From one sample to the next.
    pub every: Duration,
    /// How many; without it there is no end.
    pub count: Option<u32>,
}

/// `-l` and `-lms`: without them there is one sample.
impl From<Option<Duration>> for Pace {
    fn from(every: Option<Duration>) -> Self {
        Self {
            every: every.unwrap_or_default(),
            count: every.is_none().then_some(1),
        }
    }
}

/// Takes samples, each of them one write, until there are enough or it is
/// stopped. Handles and buffers are kept, and so are facts that cannot change.
pub fn repeat<'d>(
    pace: impl Into<Pace>,
    gpus: &mut [Gpu<'d>],
    output: &mut Output,
    mut answer: Vec<u8>,
    mut sample: impl FnMut(&[Gpu<'d>], &Time, &mut Vec<u8>),
) -> io::Result<()> {
    let Pace { every, count } = pace.into();
    if count != Some(1) {
        signals::end_loops()?;
    }
    let mut due = Instant::now();
    let mut taken = 0;
    loop {
        nvml::begin_sample();
        sample(gpus, &clock::now(), &mut answer);
        output.write(&answer)?;
        if !nvml::stuck().is_empty() {
            return Ok(());
        }
        if let Some(count) = count {
            taken += 1;
            if taken == count {
                return Ok(());
            }
        }
        answer.clear();
        gpus.iter_mut().for_each(Gpu::forget);
        match next(due, every.max(SHORTEST), Instant::now()) {
            Some(next) => due = next,
            // Later than clocks go: never.
            None => loop {
                std::thread::park();
            },
        }
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
}

/// The next time that is due: a multiple of `every` after the first, those that
/// have passed left out.
fn next(due: Instant, every: Duration, now: Instant) -> Option<Instant> {
    let due = due.checked_add(every)?;
    match now.checked_duration_since(due) {
        None => Some(due),
        Some(late) => {
            let passed = late.as_nanos() / every.as_nanos().max(1) + 1;
            due.checked_add(every.saturating_mul(u32::try_from(passed).unwrap_or(u32::MAX)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_have_passed_are_left_out_and_the_others_do_not_drift() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let every = Duration::from_millis(100);
        for (now, due) in [(10, 100), (99, 100), (101, 200), (250, 300), (1000, 1100)] {
            assert_eq!(next(start, every, at(now)), Some(at(due)), "{now}");
        }
        assert_eq!(next(start, Duration::MAX, start), None);
    }
}
