//! Several GPUs at once: NVML can be asked from several threads, and waits for
//! each GPU by itself where it has to wait.

use std::thread;

/// What `ask` says of each item, in their order; a thread each where there are several.
pub fn each<T: Sync, R: Send>(items: &[T], ask: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if items.len() < 2 {
        return items.iter().map(ask).collect();
    }
    thread::scope(|scope| {
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(|| ask(item))).collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}
