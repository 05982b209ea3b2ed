//! The processes of a GPU: NVML's three lists of them as one.

use crate::nvml::{Context, Gpu, Reading};

/// Those with a compute, a graphics and an MPS context.
pub fn lists(gpu: &Gpu) -> [Reading<Vec<Context>>; 3] {
    [
        gpu.compute_processes(),
        gpu.graphics_processes(),
        gpu.mps_processes(),
    ]
}

/// The processes by id, each once, with the letters of the lists that it is in.
pub fn merged(lists: [Reading<Vec<Context>>; 3]) -> Vec<(Context, &'static str)> {
    let mut processes: Vec<(Context, [bool; 3])> = Vec::new();
    for (list, contexts) in lists.into_iter().enumerate() {
        for context in contexts.unwrap_or_default() {
            match processes
                .iter_mut()
                .find(|(known, _)| same(known, &context))
            {
                Some((_, lists)) => lists[list] = true,
                None => {
                    let mut lists = [false; 3];
                    lists[list] = true;
                    processes.push((context, lists));
                }
            }
        }
    }
    processes.sort_by_key(|(context, _)| context.pid);
    processes
        .into_iter()
        .map(|(context, lists)| (context, kind(lists)))
        .collect()
}

fn same(one: &Context, other: &Context) -> bool {
    (one.pid, one.gpu_instance, one.compute_instance)
        == (other.pid, other.gpu_instance, other.compute_instance)
}

/// C for compute, G for graphics, M for compute through MPS.
fn kind([compute, graphics, mps]: [bool; 3]) -> &'static str {
    match (mps, compute, graphics) {
        (true, _, true) => "M+C+G",
        (true, _, false) => "M+C",
        (false, true, true) => "C+G",
        (false, true, false) => "C",
        (false, false, _) => "G",
    }
}
