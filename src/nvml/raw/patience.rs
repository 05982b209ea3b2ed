//! How long NVML is waited for.
//!
//! Without a limit a question is a plain call. With one, a thread of its own puts
//! it, and is left behind if it does not come back in time: so that it owns
//! everything that NVML may still write to. Whoever did not answer is asked
//! nothing more.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::library::Device;
use crate::nvml::reading::{Missing, Reading};

/// There is none without a limit.
static PATIENCE: OnceLock<Patience> = OnceLock::new();

struct Patience {
    limit: Duration,
    known: Mutex<Known>,
}

/// What is known of those that are asked: GPUs by index, `None` for the driver.
#[derive(Default)]
struct Known {
    /// The GPU of each handle.
    gpus: HashMap<usize, u32>,
    /// How each has used its time in this sample.
    clocks: HashMap<Option<u32>, Clock>,
    stuck: Vec<Stuck>,
}

impl Known {
    /// How many questions are out, or about to go out.
    fn asking(&self) -> u32 {
        self.clocks.values().map(|clock| clock.asking).sum()
    }
}

/// A time that passes while at least one question is out.
struct Clock {
    left: Duration,
    asking: u32,
    since: Instant,
}

impl Clock {
    fn new(limit: Duration) -> Self {
        Self {
            left: limit,
            asking: 0,
            since: Instant::now(),
        }
    }

    /// A question goes out. When it has to be back; never, if that is later than
    /// clocks go.
    fn start(&mut self) -> Option<Instant> {
        if self.asking == 0 {
            self.since = Instant::now();
        }
        self.asking += 1;
        self.since.checked_add(self.left)
    }

    /// It came back.
    fn stop(&mut self) {
        self.asking = self.asking.saturating_sub(1);
        if self.asking == 0 {
            self.left = self.left.saturating_sub(self.since.elapsed());
        }
    }
}

/// A question that did not come back in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The GPU, by index; without it the driver was asked.
    pub gpu: Option<u32>,
    /// The NVML function.
    pub function: &'static str,
}

impl Stuck {
    /// Whether the question was to change something, which NVML may have done or
    /// may still do.
    pub fn changes(&self) -> bool {
        let asks = [
            "Get", "Query", "Validate", "Alloc", "Free", "Init", "Shutdown",
        ];
        !asks.iter().any(|word| self.function.contains(word))
    }
}

impl Patience {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for each GPU no longer than this for all that a sample asks of it, and
/// likewise for the driver.
pub fn wait_at_most(limit: Duration) {
    let known = Mutex::default();
    let _ = PATIENCE.set(Patience { limit, known });
}

/// A sample begins: everybody has the whole time again.
pub fn begin_sample() {
    if let Some(patience) = PATIENCE.get() {
        patience.known().clocks.clear();
    }
}

/// The questions that did not come back, each once.
pub fn stuck() -> Vec<Stuck> {
    let stuck = |patience: &Patience| patience.known().stuck.clone();
    PATIENCE.get().map(stuck).unwrap_or_default()
}

/// Tells which GPU a handle is of, or is of a part of.
pub fn belongs_to(device: Device, index: u32) {
    if let Some(patience) = PATIENCE.get() {
        patience.known().gpus.insert(address_of(device), index);
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
    fn gpu(&self, known: &Known) -> Option<u32> {
        match self {
            Self::Driver => None,
            Self::Gpu(index) => Some(*index),
            Self::Device(device) => known.gpus.get(&address_of(*device)).copied(),
        }
    }
}

/// Puts a question by the function of this name. `NVML_ERROR_TIMEOUT` where the
/// answer does not come in time.
pub fn wait<R: Send + 'static>(
    asked: Asked,
    function: &'static str,
    call: impl FnOnce() -> Reading<R> + Send + 'static,
) -> Reading<R> {
    let Some(patience) = PATIENCE.get() else {
        return call();
    };
    let answer = Arc::new(Mutex::new(Err(Missing::TIMEOUT)));
    let put = Arc::clone(&answer);
    // One kind of box for all questions: the code below is there once.
    patience.wait(
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

impl Patience {
    fn wait(&self, asked: Asked, function: &'static str, call: Call) -> Reading<()> {
        let (gpu, deadline) = {
            let mut known = self.known();
            let gpu = asked.gpu(&known);
            if known.stuck.iter().any(|stuck| stuck.gpu == gpu) {
                return Err(Missing::TIMEOUT);
            }
            let clock = known.clocks.entry(gpu);
            (gpu, clock.or_insert_with(|| Clock::new(self.limit)).start())
        };
        let Some(deadline) = deadline else {
            call();
            return Ok(());
        };
        let time_left = || deadline.saturating_duration_since(Instant::now());
        let back_in_time = self.asker(deadline).map(|(ask, came_back)| {
            // It waits for nothing else.
            let _ = ask.send(call);
            came_back.recv_timeout(time_left())
        });
        if let Some(clock) = self.known().clocks.get_mut(&gpu) {
            clock.stop();
        }
        match back_in_time {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(_)) => {}
            Err(NoThread) => return Err(Missing::INSUFFICIENT_RESOURCES),
        }
        let stuck = Stuck { gpu, function };
        let mut known = self.known();
        if !known.stuck.contains(&stuck) {
            known.stuck.push(stuck);
        }
        Err(Missing::TIMEOUT)
    }

    /// A thread to put a question. Where the system has no more of them, the next
    /// one that comes back from NVML leaves room; where none is on its way, there
    /// is only that of one which has just come back to wait for.
    fn asker(&self, deadline: Instant) -> Result<Asker, NoThread> {
        const PAUSE: Duration = Duration::from_millis(1);
        const LEAVING: Duration = Duration::from_millis(100);
        let begun = Instant::now();
        loop {
            let (ask, asked) = sync_channel::<Call>(1);
            let (back, came_back) = sync_channel(1);
            let asker = thread::Builder::new().spawn(move || {
                if let Ok(call) = asked.recv() {
                    call();
                    // Nobody waits any more for what comes too late.
                    let _ = back.send(());
                }
            });
            if asker.is_ok() {
                return Ok((ask, came_back));
            }
            let alone = self.known().asking() <= 1;
            if Instant::now() >= deadline || alone && begun.elapsed() > LEAVING {
                return Err(NoThread);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// A question, ready to be put.
type Call = Box<dyn FnOnce() + Send>;

/// A thread that waits for its question, and where it says that it is back.
type Asker = (SyncSender<Call>, Receiver<()>);

/// The system has no thread left.
pub struct NoThread;

/// Keeps one thread from those who are about to start many, so that one is left
/// to put questions: nobody starts others who does not have it. Without a limit no
/// question needs one.
pub fn spare() -> Result<Option<Spare>, NoThread> {
    if PATIENCE.get().is_none() {
        return Ok(None);
    }
    let (release, released) = sync_channel::<()>(1);
    let thread = thread::Builder::new().spawn(move || {
        let _ = released.recv();
    });
    let thread = thread.map_err(|_| NoThread)?;
    Ok(Some(Spare {
        release: Some(release),
        thread: Some(thread),
    }))
}

/// A thread that does nothing; gone when this is.
pub struct Spare {
    release: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Spare {
    fn drop(&mut self) {
        drop(self.release.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
