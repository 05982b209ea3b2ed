//! Many runs that are alike: all of them or a sample, on all cores.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

/// Whoever keeps the cores busy holds this alone; tests that look at the clock share it.
static CORES: RwLock<()> = RwLock::new(());

/// Runs jobs on all cores and gathers what they find. One call at a time: test threads do not multiply
/// the load, and no test that holds [`quiet`] runs meanwhile.
pub fn all<'a, J: Sync, F: Send>(jobs: &'a [J], run: impl Fn(&'a J) -> Vec<F> + Sync) -> Vec<F> {
    let _alone = CORES.write().unwrap_or_else(PoisonError::into_inner);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    // Some runs wait.
    let threads = 2 * std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let findings = run(job);
                    found.lock().expect("no panic").extend(findings);
                }
            });
        }
    });
    found.into_inner().expect("no panic")
}

/// Keeps [`all`] from taking the cores while a test measures time. Do not hold two at once in a thread.
pub fn quiet() -> RwLockReadGuard<'static, ()> {
    CORES.read().unwrap_or_else(PoisonError::into_inner)
}

/// How much of a sweep runs.
#[derive(Clone, Copy, PartialEq)]
pub enum Share {
    /// A part that is the same each time, for every run of the tests.
    Sample,
    /// All of it, for `--ignored`.
    Whole,
}

impl Share {
    /// A name for files: the sample and the whole may run at once.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Whole => "whole",
        }
    }

    /// The jobs to run. A sample has every value of every aspect of a job at least once; what else the
    /// jobs that show them have is spread over all there is.
    pub fn of<J>(self, jobs: Vec<J>, aspects: impl Fn(&J) -> Vec<String>) -> Vec<J> {
        let mut seen = BTreeSet::new();
        self.chosen(jobs, |_, job| {
            let aspects = aspects(job).into_iter().enumerate();
            let new = aspects.filter(|aspect| seen.insert(aspect.clone()));
            new.count() > 0
        })
    }

    /// The jobs to run. A sample has every `n`th, as they lie scattered.
    pub fn one_in<J>(self, n: usize, jobs: Vec<J>) -> Vec<J> {
        self.chosen(jobs, |place, _| place % n == 0)
    }

    /// Those to take, which are asked for in a scattered order, and stay in their own.
    fn chosen<J>(self, jobs: Vec<J>, mut take: impl FnMut(usize, &J) -> bool) -> Vec<J> {
        if self == Self::Whole {
            return jobs;
        }
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|&job| (job as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut taken = vec![false; jobs.len()];
        for (place, job) in order.into_iter().enumerate() {
            taken[job] = take(place, &jobs[job]);
        }
        let jobs = jobs.into_iter().zip(taken);
        jobs.filter_map(|(job, taken)| taken.then_some(job))
            .collect()
    }
}

#[test]
fn a_sample_has_every_value_of_every_aspect() {
    let jobs: Vec<(u32, u32)> = (0..40).flat_map(|a| (0..9).map(move |b| (a, b))).collect();
    let aspects = |job: &(u32, u32)| vec![job.0.to_string(), job.1.to_string()];
    let sample = Share::Sample.of(jobs.clone(), aspects);
    assert!((40..80).contains(&sample.len()), "{sample:?}");
    let values = |of: fn(&(u32, u32)) -> u32| sample.iter().map(of).collect::<BTreeSet<_>>().len();
    assert_eq!((values(|job| job.0), values(|job| job.1)), (40, 9));
    assert_eq!(Share::Whole.of(jobs.clone(), aspects), jobs);
    assert_eq!(Share::Sample.one_in(4, jobs).len(), 90);
}
