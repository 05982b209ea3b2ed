//! Several GPUs at once: NVML can be asked from several threads, and waits for
//! each GPU by itself where it has to wait.

use std::{iter, thread};

use super::raw::time_limit::reserve_thread;

/// What `ask` says of each item, in their order: the first one in this thread,
/// each of the others in one of its own, or in this one where there is no other
/// to be had.
pub fn each<T: Sync, R: Send>(items: &[T], ask: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let Some((first, others)) = items.split_first() else {
        return Vec::new();
    };
    thread::scope(|scope| {
        let ask = &ask;
        // If all the threads that the system allows waited for answers, none could ask.
        let reserved = reserve_thread();
        let threads: Vec<_> = others
            .iter()
            .map(|item| {
                let start = || thread::Builder::new().spawn_scoped(scope, move || ask(item));
                (item, reserved.as_ref().ok().and_then(|_| start().ok()))
            })
            .collect();
        drop(reserved);
        let first = ask(first);
        let others = threads.into_iter().map(|(item, thread)| match thread {
            Some(thread) => thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => ask(item),
        });
        iter::once(first).chain(others).collect()
    })
}
