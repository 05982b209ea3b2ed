//! The processes on a GPU, each once.

use super::facts::Context;
use super::gpu::Gpu;
use super::reading::Reading;

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
    /// All processes by id, from the lists of compute, graphics and MPS contexts.
    /// A list that this board does not have is empty; one that cannot be read
    /// leaves nothing to be sure of.
    pub fn processes(&self) -> Reading<Vec<Running>> {
        let mut all: Vec<Running> = Vec::new();
        let compute = self.compute_processes()?;
        let graphics = self.graphics_processes().unwrap_or_default();
        let mps = self.mps_processes().unwrap_or_default();
        add(&mut all, compute, |process| process.compute = true);
        add(&mut all, graphics, |process| process.graphics = true);
        add(&mut all, mps, |process| process.mps = true);
        all.sort_by_key(|process| process.context.pid);
        Ok(all)
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
