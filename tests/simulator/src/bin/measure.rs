//! `measure [--box BOX] [--runs N] [NVIDIA-SMI]`: what whole processes of the nvsmi beside this program
//! cost, and of another nvidia-smi.
//!
//! Each round runs every program once for a view, so that a busy machine is busy for all of them. Wall
//! time, CPU time and peak memory are medians of the rounds; the ratios are of nvsmi to the floor and to
//! nvidia-smi. Without `--box` the real GPUs are read. Nothing here changes a GPU.

use std::{
    env, io,
    mem::MaybeUninit,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, ExitStatus, Stdio},
    time::Instant,
};

const USAGE: &str = "usage: measure [--box BOX] [--runs N] [NVIDIA-SMI]";

/// A view: its name for the floor program (empty without one), and the command line.
const VIEWS: &[(&str, &[&str])] = &[
    ("table", &[]),
    (
        "three-fields",
        &[
            "--query-gpu=name,memory.used,utilization.gpu",
            "--format=csv",
        ],
    ),
    ("list", &["-L"]),
    (
        "compute-apps",
        &["--query-compute-apps=pid,used_memory", "--format=csv"],
    ),
    ("", &["-q"]),
    ("", &["-q", "-x"]),
    ("", &["topo", "-m"]),
    ("", &["nvlink", "-s"]),
    ("", &["dmon", "-c", "1"]),
    ("", &["pmon", "-c", "1"]),
    ("", &["--version"]),
    ("", &["-h"]),
];

/// What one process cost.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// From start to end, milliseconds.
    wall: f64,
    /// On all processors, milliseconds.
    cpu: f64,
    /// Peak resident memory, mebibytes.
    memory: f64,
}

struct Options {
    simulated: Option<String>,
    rounds: usize,
    nvidia_smi: Option<PathBuf>,
}

fn main() -> ExitCode {
    simulator::reader::end_with_it();
    match options(env::args().skip(1)).and_then(|options| measure(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("measure: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let (mut simulated, mut rounds, mut nvidia_smi) = (None, 20, None);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or(format!("{argument} lacks its value"))
        };
        match argument.as_str() {
            "--box" => simulated = Some(value()?),
            "--runs" => rounds = value()?.parse().map_err(|e| format!("--runs: {e}"))?,
            _ if argument.starts_with('-') || nvidia_smi.is_some() => {
                return Err(USAGE.to_owned());
            }
            _ => nvidia_smi = Some(PathBuf::from(argument)),
        }
    }
    Ok(Options {
        simulated,
        rounds: rounds.max(1),
        nvidia_smi,
    })
}

fn measure(options: &Options) -> Result<(), String> {
    let beside = env::current_exe().map_err(|e| e.to_string())?;
    let (nvsmi, floor) = (
        beside.with_file_name("nvsmi"),
        beside.with_file_name("floor"),
    );
    println!(
        "{:<14}{:<12}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "view", "program", "wall ms", "cpu ms", "peak MiB", "of floor", "of smi"
    );
    for (view, args) in VIEWS {
        let title = match *view {
            "" => args.join(" "),
            view => view.to_owned(),
        };
        let floor_args = [*view];
        let mut programs = vec![("nvsmi", nvsmi.as_path(), *args)];
        if let Some(nvidia_smi) = &options.nvidia_smi {
            programs.push(("nvidia-smi", nvidia_smi, args));
        }
        if !view.is_empty() {
            programs.push(("floor", &floor, &floor_args));
        }
        let mut costs = vec![Vec::new(); programs.len()];
        for _ in 0..options.rounds {
            for ((_, program, args), costs) in programs.iter().zip(&mut costs) {
                costs.push(cost(options, program, args)?);
            }
        }
        let medians: Vec<Cost> = costs.iter().map(|costs| median(costs)).collect();
        let wall = |wanted| {
            let at = programs.iter().position(|(name, ..)| *name == wanted)?;
            Some(medians[at].wall)
        };
        for ((name, ..), cost) in programs.iter().zip(&medians) {
            let ratio = |other: Option<f64>| match other.filter(|_| *name == "nvsmi") {
                Some(other) => format!("{:.3}", cost.wall / other),
                None => String::new(),
            };
            println!(
                "{title:<14}{name:<12}{:>10.2}{:>10.2}{:>10.1}{:>10}{:>10}",
                cost.wall,
                cost.cpu,
                cost.memory,
                ratio(wall("floor")),
                ratio(wall("nvidia-smi"))
            );
        }
    }
    Ok(())
}

fn cost(options: &Options, program: &Path, args: &[&str]) -> Result<Cost, String> {
    let mut command = match &options.simulated {
        Some(simulated) => simulator::command(simulated, program)?,
        None => Command::new(program),
    };
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let begun = Instant::now();
    let run = |problem: String| format!("{} {}: {problem}", program.display(), args.join(" "));
    let child = command.spawn().map_err(|e| run(e.to_string()))?;
    let usage = usage(&child).map_err(run)?;
    Ok(Cost {
        wall: begun.elapsed().as_secs_f64() * 1000.0,
        ..usage
    })
}

/// The middle of each figure.
fn median(costs: &[Cost]) -> Cost {
    let middle = |figure: fn(&Cost) -> f64| {
        let mut figures: Vec<f64> = costs.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().unwrap_or_default()
    };
    Cost {
        wall: middle(|cost| cost.wall),
        cpu: middle(|cost| cost.cpu),
        memory: middle(|cost| cost.memory),
    }
}

/// Waits for the child to end, and says what the kernel counted for it; the wall time is left to the
/// caller. Std has no name for that.
fn usage(child: &Child) -> Result<Cost, String> {
    let pid = libc::pid_t::try_from(child.id()).map_err(|e| e.to_string())?;
    let (mut status, mut usage) = (0, MaybeUninit::uninit());
    // SAFETY: our own child, not waited for before, and room for what is written; which it is where the
    // child is the answer.
    let usage = unsafe {
        if libc::wait4(pid, &mut status, 0, usage.as_mut_ptr()) != pid {
            return Err(io::Error::last_os_error().to_string());
        }
        usage.assume_init()
    };
    match ExitStatus::from_raw(status) {
        ended if ended.success() => {}
        ended => return Err(ended.to_string()),
    }
    let milliseconds = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3;
    Ok(Cost {
        wall: 0.0,
        cpu: milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime),
        memory: usage.ru_maxrss as f64 / 1024.0,
    })
}
