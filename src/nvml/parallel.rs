//! Several GPUs at once: NVML can be asked from several threads, and waits for
//! each GPU by itself where it has to wait.

use std::{iter, thread};

/// What `ask` says of each item, in their order: the first one in this thread,
/// each of the others in one of its own, or in this one where there is no other
/// to be had.
pub fn each<T: Sync, R: Send>(items: &[T], ask: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let Some((first, others)) = items.split_first() else {
        return Vec::new();
    };
    thread::scope(|scope| {
        let ask = &ask;
        let threads: Vec<_> = others
            .iter()
            .map(|item| {
                let thread = thread::Builder::new().spawn_scoped(scope, move || ask(item));
                (item, thread)
            })
            .collect();
        let first = ask(first);
        let others = threads.into_iter().map(|(item, thread)| match thread {
            Ok(thread) => thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => ask(item),
        });
        iter::once(first).chain(others).collect()
    })
}
