//! `-l` and `-lms`: the same answer again and again, without drift.

use std::io;
use std::time::{Duration, Instant};

use jiff::ZonedDateTime as Time;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::clock;
use crate::nvml::Gpu;
use crate::output::Output;

/// Below this, a loop would do nothing but sample.
const SHORTEST: Duration = Duration::from_millis(1);

/// Takes one sample, or one `every` so often until it is stopped; each is one
/// write. Handles are kept, and so are facts that cannot change.
pub fn repeat(
    every: Option<Duration>,
    gpus: &mut [Gpu],
    output: &mut Output,
    mut answer: Vec<u8>,
    sample: impl Fn(&[Gpu], &Time, &mut Vec<u8>),
) -> io::Result<()> {
    if every.is_some() {
        end_on_signals()?;
    }
    let mut due = Instant::now();
    loop {
        sample(gpus, &clock::now(), &mut answer);
        output.write(&answer)?;
        let Some(every) = every else {
            return Ok(());
        };
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

/// The real tool ends a loop on these signals with status 0, at once.
fn end_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            // At once, whatever the other thread is in the middle of.
            signal_hook::low_level::exit(0);
        }
    });
    Ok(())
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
