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
    /// All processes by id, from the lists of compute, graphics and MPS contexts,
    /// and after them why a list could not be read. A list that this board or
    /// driver does not have is empty; none is known when no list can be read.
    pub fn processes(&self) -> Reading<Vec<Reading<Running>>> {
        let mut all: Vec<Running> = Vec::new();
        let mut unread = None;
        let mut read = |contexts: Reading<_>, mark| match contexts {
            Ok(contexts) => add(&mut all, contexts, mark),
            Err(Missing::NotSupported | Missing::FUNCTION_NOT_FOUND) => {}
            Err(missing) => unread = unread.or(Some(missing)),
        };
        read(self.compute_processes(), |process| process.compute = true);
        read(self.graphics_processes(), |process| process.graphics = true);
        read(self.mps_processes(), |process| process.mps = true);
        if let (true, Some(missing)) = (all.is_empty(), unread) {
            return Err(missing);
        }
        all.sort_by_key(|process| process.context.pid);
        Ok(all.into_iter().map(Ok).chain(unread.map(Err)).collect())
    }
}

fn add(all: &mut Vec<Running>, contexts: Vec<Context>, mark: fn(&mut Running)) {
    for context in contexts {
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
