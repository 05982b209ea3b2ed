//! The time that calls take on a box with a latency profile. Sleeps are never shorter than told, so that
//! only the upper bounds leave room for a busy machine.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    env,
    ffi::c_uint,
    ptr, thread,
    time::{Duration, Instant},
};

use nvml_wrapper_sys::bindings::{NvmlLib, nvmlDevice_t};

/// Set in the process that runs on the box.
const ON_THE_BOX: &str = "SIMULATOR_TEST_LATENCY";
/// GPUs of the box.
const GPUS: c_uint = 8;
/// `latencies/h200.toml`, ms.
const INIT: f64 = 8.9;
const HANDLE: f64 = 6.7;
const POWER: f64 = 1.8;
const THROUGHPUT: f64 = 20.6;
const MAX_CLOCK: f64 = 1.4;
/// What a call that costs nothing may take, ms.
const NOTHING: f64 = 1.0;

/// One NVML handle, for threads to share.
#[derive(Clone, Copy)]
struct Gpu(usize);

struct Client {
    nvml: NvmlLib,
}

impl Client {
    fn initialise(&self) {
        // SAFETY: it takes nothing.
        unsafe { self.nvml.nvmlInit_v2() };
    }

    fn handle(&self, index: c_uint) -> Gpu {
        let mut device = ptr::null_mut();
        // SAFETY: a valid place for the handle.
        unsafe {
            self.nvml
                .nvmlDeviceGetHandleByIndex_v2(index, &raw mut device)
        };
        Gpu(device.expose_provenance())
    }

    fn by_bus_id(&self, id: &std::ffi::CStr) {
        let mut device = ptr::null_mut();
        // SAFETY: as above, and a C string.
        unsafe {
            self.nvml
                .nvmlDeviceGetHandleByPciBusId_v2(id.as_ptr(), &raw mut device)
        };
    }

    fn power(&self, gpu: Gpu) {
        let mut milliwatts: c_uint = 0;
        // SAFETY: a handle of this library, and a valid place.
        unsafe {
            self.nvml
                .nvmlDeviceGetPowerUsage(device(gpu), &raw mut milliwatts)
        };
    }

    fn throughput(&self, gpu: Gpu) {
        let mut kilobytes: c_uint = 0;
        // SAFETY: as above.
        unsafe {
            self.nvml
                .nvmlDeviceGetPcieThroughput(device(gpu), 0, &raw mut kilobytes)
        };
    }

    fn max_clock(&self, gpu: Gpu) {
        let mut megahertz: c_uint = 0;
        // SAFETY: as above.
        unsafe {
            self.nvml
                .nvmlDeviceGetMaxClockInfo(device(gpu), 0, &raw mut megahertz)
        };
    }
}

fn device(gpu: Gpu) -> nvmlDevice_t {
    ptr::with_exposed_provenance_mut(gpu.0)
}

/// How long something takes, ms.
fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1000.0
}

/// A question about each of these GPUs, asked at once.
fn at_once(gpus: &[Gpu], ask: impl Fn(Gpu) + Sync) -> f64 {
    timed(|| {
        thread::scope(|scope| {
            for gpu in gpus {
                scope.spawn(|| ask(*gpu));
            }
        });
    })
}

/// The least of a few runs: a busy machine adds time, but never takes any.
fn least(runs: usize, mut run: impl FnMut() -> f64) -> f64 {
    (0..runs).map(|_| run()).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "the other test runs it, on a box"]
fn client() {
    if env::var_os(ON_THE_BOX).is_none() {
        return;
    }
    // SAFETY: the simulated library has the functions of NVML.
    let nvml = unsafe { NvmlLib::new("libnvidia-ml.so.1") }.unwrap();
    let client = Client { nvml };
    assert!(timed(|| client.initialise()) >= INIT);
    let gpus: Vec<Gpu> = (0..GPUS)
        .map(|index| {
            let mut gpu = Gpu(0);
            assert!(
                timed(|| gpu = client.handle(index)) >= HANDLE,
                "each GPU has a first call"
            );
            gpu
        })
        .collect();
    assert!(
        least(5, || timed(|| {
            client.handle(0);
        })) < NOTHING,
        "a later call is free"
    );
    assert!(
        least(5, || timed(|| client.by_bus_id(c"00000000:19:00.0"))) < NOTHING,
        "by whatever name"
    );

    for gpu in &gpus[..2] {
        assert!(timed(|| client.power(*gpu)) >= POWER);
        assert!(least(5, || timed(|| client.power(*gpu))) < NOTHING);
    }
    assert!(timed(|| client.throughput(gpus[0])) >= THROUGHPUT);
    assert!(
        timed(|| client.throughput(gpus[0])) >= THROUGHPUT,
        "every call of it costs"
    );

    let apart = least(3, || at_once(&gpus, |gpu| client.max_clock(gpu)));
    assert!(
        apart < 8.0 * MAX_CLOCK,
        "eight GPUs at once took {apart} ms"
    );
    let one = [gpus[0]; 8];
    let kept = at_once(&one, |gpu| client.max_clock(gpu));
    assert!(
        kept >= 8.0 * MAX_CLOCK,
        "one GPU eight times took {kept} ms"
    );
    let asleep = least(3, || at_once(&one, |gpu| client.throughput(gpu)));
    assert!(
        asleep < 2.0 * THROUGHPUT,
        "eight times asleep took {asleep} ms"
    );
    let beside = least(3, || {
        thread::scope(|scope| {
            scope.spawn(|| client.throughput(gpus[0]));
            timed(|| client.max_clock(gpus[0]))
        })
    });
    assert!(beside < THROUGHPUT, "beside one asleep: {beside} ms");
}

#[test]
fn calls_take_the_time_of_the_profile() {
    let start = Instant::now();
    let mut command = simulator::command("h100x8-timed", &env::current_exe().unwrap()).unwrap();
    command
        .args(["--exact", "client", "--ignored", "--nocapture"])
        .env(ON_THE_BOX, "1");
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    assert!(start.elapsed() > Duration::from_millis(250), "it ran");
}
