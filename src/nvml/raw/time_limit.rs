//! The time limit of `--timeout`.
//!
//! Without a limit, a question to NVML is a plain call. With one, a thread of its own
//! makes the call, and is left behind if it does not come back in time. So the thread
//! owns everything that NVML may still write to. A GPU that did not answer is asked
//! nothing more, and likewise the driver.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::library::Device;
use crate::nvml::reading::{Missing, Reading};

/// Empty without a limit.
static LIMIT: OnceLock<Limit> = OnceLock::new();

struct Limit {
    /// How long each GPU, and the driver, may take for all that a sample asks of it.
    time: Duration,
    state: Mutex<State>,
}

/// GPUs are known by index; `None` is the driver.
#[derive(Default)]
struct State {
    /// The GPU of each handle.
    gpus: HashMap<usize, u32>,
    /// What is left of each one's time in this sample.
    budgets: HashMap<Option<u32>, Budget>,
    stuck: Vec<Stuck>,
}

impl State {
    /// How many calls are in NVML, or about to be made.
    fn calls(&self) -> u32 {
        self.budgets.values().map(|budget| budget.calls).sum()
    }
}

/// An amount of time that is spent while at least one call is in NVML.
struct Budget {
    left: Duration,
    calls: u32,
    since: Instant,
}

impl Budget {
    fn new(left: Duration) -> Self {
        Self {
            left,
            calls: 0,
            since: Instant::now(),
        }
    }

    /// A call is made. Returns when it has to be back, or `None` if clocks do not go
    /// that far.
    fn start(&mut self) -> Option<Instant> {
        if self.calls == 0 {
            self.since = Instant::now();
        }
        self.calls += 1;
        self.since.checked_add(self.left)
    }

    /// A call came back, or was given up.
    fn stop(&mut self) {
        self.calls = self.calls.saturating_sub(1);
        if self.calls == 0 {
            self.left = self.left.saturating_sub(self.since.elapsed());
        }
    }
}

/// A call that did not come back in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The index of the GPU that was asked; `None` if it was the driver.
    pub gpu: Option<u32>,
    /// The NVML function.
    pub function: &'static str,
}

impl Stuck {
    /// Whether the call was to change something. NVML may have done so, or may yet.
    pub fn changes(&self) -> bool {
        let asks = [
            "Get", "Query", "Validate", "Alloc", "Free", "Init", "Shutdown",
        ];
        !asks.iter().any(|word| self.function.contains(word))
    }
}

/// From now on, waits no longer than this for each GPU in a sample, and for the driver.
pub fn wait_at_most(time: Duration) {
    let state = Mutex::default();
    let _ = LIMIT.set(Limit { time, state });
}

/// Begins a sample: each GPU and the driver have the whole time again.
pub fn begin_sample() {
    if let Some(limit) = LIMIT.get() {
        limit.state().budgets.clear();
    }
}

/// The calls that did not come back, each function once for each GPU.
pub fn stuck() -> Vec<Stuck> {
    let stuck = |limit: &Limit| limit.state().stuck.clone();
    LIMIT.get().map(stuck).unwrap_or_default()
}

/// Notes the GPU that a handle is of, or that the handle's MIG device is a part of.
pub fn belongs_to(device: Device, index: u32) {
    if let Some(limit) = LIMIT.get() {
        limit.state().gpus.insert(address_of(device), index);
    }
}

fn address_of(device: Device) -> usize {
    device.handle().addr()
}

/// Who is asked.
pub enum Asked<'d> {
    /// The driver.
    Driver,
    /// The GPU of this index.
    Gpu(u32),
    /// The GPU of this handle.
    Device(Device<'d>),
}

impl Asked<'_> {
    fn gpu(&self, state: &State) -> Option<u32> {
        match self {
            Self::Driver => None,
            Self::Gpu(index) => Some(*index),
            Self::Device(device) => state.gpus.get(&address_of(*device)).copied(),
        }
    }
}

/// Calls NVML's function of this name. `NVML_ERROR_TIMEOUT` if it does not come back in
/// time, `NVML_ERROR_INSUFFICIENT_RESOURCES` if there is no thread to keep the limit.
pub fn wait<R: Send + 'static>(
    asked: Asked,
    function: &'static str,
    call: impl FnOnce() -> Reading<R> + Send + 'static,
) -> Reading<R> {
    let Some(limit) = LIMIT.get() else {
        return call();
    };
    let answer = Arc::new(Mutex::new(Err(Missing::TIMEOUT)));
    let put = Arc::clone(&answer);
    // All types of answers share `Limit::wait`, so that it is compiled once.
    limit.wait(
        asked,
        function,
        Box::new(move || {
            let answer = call();
            *put.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        }),
    )?;
    let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut answer, Err(Missing::TIMEOUT))
}

impl Limit {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, asked: Asked, function: &'static str, call: Call) -> Reading<()> {
        let (gpu, deadline) = {
            let mut state = self.state();
            let gpu = asked.gpu(&state);
            if state.stuck.iter().any(|stuck| stuck.gpu == gpu) {
                return Err(Missing::TIMEOUT);
            }
            let budget = state.budgets.entry(gpu);
            (
                gpu,
                budget.or_insert_with(|| Budget::new(self.time)).start(),
            )
        };
        let Some(deadline) = deadline else {
            call();
            return Ok(());
        };
        let outcome = self.caller(deadline).map(|(caller, came_back)| {
            // The thread waits for nothing else.
            let _ = caller.send(call);
            came_back.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        });
        let mut state = self.state();
        if let Some(budget) = state.budgets.get_mut(&gpu) {
            budget.stop();
        }
        match outcome {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(_)) => {}
            Err(NoThread) => return Err(Missing::INSUFFICIENT_RESOURCES),
        }
        let stuck = Stuck { gpu, function };
        if !state.stuck.contains(&stuck) {
            state.stuck.push(stuck);
        }
        Err(Missing::TIMEOUT)
    }

    /// A thread to make a call. If the system has no more threads, this waits until
    /// another call comes back and its thread ends. If there is no other call, only a
    /// thread that is just ending is worth waiting for, and not for long.
    fn caller(&self, deadline: Instant) -> Result<Caller, NoThread> {
        const PAUSE: Duration = Duration::from_millis(1);
        const ENDING: Duration = Duration::from_millis(100);
        let began = Instant::now();
        loop {
            let (caller, calls) = sync_channel::<Call>(1);
            let (back, came_back) = sync_channel(1);
            let thread = thread::Builder::new().spawn(move || {
                if let Ok(call) = calls.recv() {
                    call();
                    // If it was given up, nobody receives this.
                    let _ = back.send(());
                }
            });
            if thread.is_ok() {
                return Ok((caller, came_back));
            }
            let alone = self.state().calls() <= 1;
            if Instant::now() >= deadline || alone && began.elapsed() > ENDING {
                return Err(NoThread);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// A call, ready to be made.
type Call = Box<dyn FnOnce() + Send>;

/// A thread that waits for a call to make, and where it says that the call came back.
type Caller = (SyncSender<Call>, Receiver<()>);

/// The system has no thread left.
pub struct NoThread;

/// Keeps a thread from those who are about to start many, so that one is left to make
/// calls. Whoever gets none should not start any. Without a limit, none is needed.
pub fn reserve_thread() -> Result<Option<ReservedThread>, NoThread> {
    if LIMIT.get().is_none() {
        return Ok(None);
    }
    let (release, released) = sync_channel::<()>(1);
    let thread = thread::Builder::new().spawn(move || {
        let _ = released.recv();
    });
    let thread = thread.map_err(|_| NoThread)?;
    Ok(Some(ReservedThread {
        release: Some(release),
        thread: Some(thread),
    }))
}

/// A thread that does nothing; it ends when this is dropped.
pub struct ReservedThread {
    release: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for ReservedThread {
    fn drop(&mut self) {
        drop(self.release.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
