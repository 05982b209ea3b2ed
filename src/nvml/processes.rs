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
    /// All processes of the lists of [`Gpu::process_lists`] by id, each once; a
    /// list that could not be read adds none.
    pub fn merge([compute, graphics, mps]: [Reading<Vec<Context>>; 3]) -> Vec<Self> {
        let mut all = Vec::new();
        add(&mut all, compute, |process| process.compute = true);
        add(&mut all, graphics, |process| process.graphics = true);
        add(&mut all, mps, |process| process.mps = true);
        all.sort_by_key(|process| process.context.pid);
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
        let failures: Vec<Missing> = lists
            .iter()
            .filter_map(|list| list.as_ref().err().copied())
            .collect();
        let absent = [Missing::NotSupported, Missing::FUNCTION_NOT_FOUND];
        let unread = failures
            .iter()
            .copied()
            .find(|missing| !absent.contains(missing));
        let none = failures.len() == lists.len();
        let all = Running::merge(lists);
        match unread.or(failures.first().copied().filter(|_| none)) {
            Some(missing) if all.is_empty() => Err(missing),
            _ => Ok(all.into_iter().map(Ok).chain(unread.map(Err)).collect()),
        }
    }
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
