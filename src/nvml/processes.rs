//! The processes on a GPU, each once.

use super::facts::Context;
use super::gpu::Gpu;
use super::reading::{Missing, Reading};

/// A process with a context on a GPU, and which lists NVML has it in.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// What the first of the lists says of it.
    pub context: Context,
    compute: bool,
    graphics: bool,
    mps: bool,
}

impl Running {
    /// All processes of the lists of [`Gpu::process_lists`], each once, by MIG
    /// instances and id; a list that could not be read adds none.
    pub fn merge([compute, graphics, mps]: [Reading<Vec<Context>>; 3]) -> Vec<Self> {
        let listed = |list: Reading<Vec<Context>>, [compute, graphics, mps]: [bool; 3]| {
            let contexts = list.unwrap_or_default().into_iter();
            contexts.map(move |context| Self {
                context,
                compute,
                graphics,
                mps,
            })
        };
        let mut all: Vec<Self> = listed(compute, [true, false, false])
            .chain(listed(graphics, [false, true, false]))
            .chain(listed(mps, [false, false, true]))
            .collect();
        // The sort keeps the order of the lists, so that the first one's entry stays.
        all.sort_by_key(Self::place);
        all.dedup_by(|later, first| {
            let same = later.place() == first.place();
            if same {
                first.compute |= later.compute;
                first.graphics |= later.graphics;
                first.mps |= later.mps;
            }
            same
        });
        all
    }

    /// MIG instances and id, which together are one process on a GPU.
    fn place(&self) -> (Option<u32>, Option<u32>, u32) {
        let context = &self.context;
        (context.gpu_instance, context.compute_instance, context.pid)
    }

    /// C for compute, G for graphics, M for compute through MPS.
    pub fn kind(&self) -> &'static str {
        match (self.mps, self.compute, self.graphics) {
            (true, _, true) => "M+C+G",
            (true, _, false) => "M+C",
            (false, true, true) => "C+G",
            (false, true, false) => "C",
            (false, false, _) => "G",
        }
    }
}

impl Gpu<'_> {
    /// The lists of compute, graphics and MPS contexts.
    pub fn process_lists(&self) -> [Reading<Vec<Context>>; 3] {
        [
            self.compute_processes(),
            self.graphics_processes(),
            self.mps_processes(),
        ]
    }

    /// All processes by id, and after them why a list could not be read. A list
    /// that this board or driver does not have is empty; where there is none at
    /// all, or nothing but one that could not be read, that is the answer.
    pub fn processes(&self) -> Reading<Vec<Reading<Running>>> {
        let lists = self.process_lists();
        let unread = unread(&lists);
        let absent = lists.iter().all(|list| list.is_err());
        let all = Running::merge(lists);
        match unread {
            Some(missing) if all.is_empty() => Err(missing),
            None if absent => Err(Missing::NotSupported),
            _ => Ok(all.into_iter().map(Ok).chain(unread.map(Err)).collect()),
        }
    }
}

/// Why the reader does not see all processes, if so: a list that could not be read, or a
/// library that has none of them. A single one that the board or the library does not
/// have would be empty.
pub fn unread(lists: &[Reading<Vec<Context>>; 3]) -> Option<Missing> {
    let failures = lists.iter().filter_map(|list| list.as_ref().err().copied());
    let is_absent =
        |missing: &Missing| [Missing::NotSupported, Missing::FUNCTION_NOT_FOUND].contains(missing);
    let of_the_library = || {
        let none = lists.iter().all(|list| list.is_err());
        failures
            .clone()
            .find(|&missing| none && missing == Missing::FUNCTION_NOT_FOUND)
    };
    failures
        .clone()
        .find(|missing| !is_absent(missing))
        .or_else(of_the_library)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn context(pid: u32, gpu_instance: Option<u32>, bytes: u64) -> Context {
        Context {
            pid,
            memory: Ok(bytes),
            gpu_instance,
            compute_instance: None,
        }
    }

    #[test]
    fn a_process_of_several_lists_is_one_with_what_the_first_says() {
        let lists = [
            Ok(vec![
                context(7, None, 1),
                context(3, None, 2),
                context(7, None, 3),
            ]),
            Ok(vec![context(3, None, 4), context(3, Some(1), 5)]),
            Ok(vec![context(7, None, 6), context(9, None, 7)]),
        ];
        let merged: Vec<_> = Running::merge(lists)
            .into_iter()
            .map(|it| {
                (
                    it.context.gpu_instance,
                    it.context.pid,
                    it.context.memory,
                    it.kind(),
                )
            })
            .collect();
        let expected = [
            (None, 3, Ok(2), "C+G"),
            (None, 7, Ok(1), "M+C"),
            (None, 9, Ok(7), "M+C"),
            (Some(1), 3, Ok(5), "G"),
        ];
        assert_eq!(merged, expected);
        let unread = [
            Err(Missing::TIMEOUT),
            Err(Missing::TIMEOUT),
            Ok(vec![context(1, None, 1)]),
        ];
        assert_eq!(Running::merge(unread).len(), 1);
    }

    #[test]
    fn many_processes_take_no_time() {
        const MANY: u32 = 300_000;
        let list = || Ok((0..MANY).rev().map(|pid| context(pid, None, 0)).collect());
        let began = Instant::now();
        let merged = Running::merge([list(), list(), list()]);
        // Comparing each with each would take minutes.
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!(merged.len(), MANY as usize);
    }
}
