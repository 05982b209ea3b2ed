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
        let mut all = Vec::new();
        add(&mut all, compute, |process| process.compute = true);
        add(&mut all, graphics, |process| process.graphics = true);
        add(&mut all, mps, |process| process.mps = true);
        all.sort_by_key(|Self { context, .. }| {
            (context.gpu_instance, context.compute_instance, context.pid)
        });
        all
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

fn add(all: &mut Vec<Running>, contexts: Reading<Vec<Context>>, mark: fn(&mut Running)) {
    for context in contexts.unwrap_or_default() {
        let place = all
            .iter()
            .position(|known| same(&known.context, &context))
            .unwrap_or_else(|| {
                all.push(Running {
                    context,
                    compute: false,
                    graphics: false,
                    mps: false,
                });
                all.len() - 1
            });
        mark(&mut all[place]);
    }
}

fn same(one: &Context, other: &Context) -> bool {
    (one.pid, one.gpu_instance, one.compute_instance)
        == (other.pid, other.gpu_instance, other.compute_instance)
}
