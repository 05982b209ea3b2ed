//! `compare_random NVIDIA-SMI NVSMI [COUNT [SEED]]`: gives random command lines on random boxes to a real
//! nvidia-smi and to nvsmi, and shows where exit status or stdout differ: how often, in which ways, and
//! with which lines. The files that a line writes count as stdout.
//!
//! Options that change a GPU are among them only where there is no GPU: the programs see a simulated
//! library, but one mistake in that would be one too many.

mod known;
mod layout;
mod line;
mod pair;
#[rustfmt::skip] // a table
mod themes;

use std::{
    collections::{BTreeMap, HashMap},
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use simulator::trial::{self, Trial};

use known::KNOWN;
use line::{Fields, Random};
use pair::{Pair, masked};
use themes::LISTS;

/// The boxes that lines run on: what they differ in, the table of lines brings out.
#[rustfmt::skip]
const BOXES: &[&str] = &[
    "h200", "h200", "h200-busy", "h100x8", "h100x8", "a100x8", "a100x16", "l40s-x4", "t4", "v100",
    "gb200-x4", "gb10", "desktop", "laptop", "mixed", "mig", "mig-empty", "mig-pending", "sick", "none",
    "no-driver", "no-library", "mismatch",
];
/// How long a command line may run; those with a loop run on.
const PATIENCE: Duration = Duration::from_millis(1300);
/// A part of an answer, and whether both are the same in it.
type Part = (&'static str, fn(&Pair) -> bool);

const PARTS: &[Part] = &[
    ("exit status", Pair::same_exit),
    ("stdout", Pair::same_text),
];
/// How many lines run at once for each processor: most of the time goes by in loops that sleep.
const AT_ONCE: usize = 4;
/// How many lines are shown of each kind.
const EXAMPLES: usize = 3;

fn main() -> ExitCode {
    simulator::reader::end_with_it();
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |place: usize, otherwise: u64| {
        arguments
            .get(place)
            .map_or(Some(otherwise), |text| text.parse().ok())
    };
    let (Some(real), Some(nvsmi), Some(count), Some(seed)) = (
        arguments.first(),
        arguments.get(1),
        number(2, 500),
        number(3, 1),
    ) else {
        eprintln!("usage: compare_random NVIDIA-SMI NVSMI [COUNT [SEED]]");
        return ExitCode::from(2);
    };
    match compare(Path::new(real), Path::new(nvsmi), count as usize, seed) {
        Ok(pairs) => {
            report(&pairs, seed);
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("compare_random: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Runs `count` lines through both programs.
fn compare(real: &Path, nvsmi: &Path, count: usize, seed: u64) -> Result<Vec<Pair>, String> {
    let whole = |path: &Path| {
        path.canonicalize()
            .map_err(|e| format!("{}: {e}", path.display()))
    };
    let (real, nvsmi) = (whole(real)?, whole(nvsmi)?);
    let device = trial::device();
    if let Some(path) = device {
        println!("{path} is there: no options that change a GPU");
    }
    let scratch = env::temp_dir().join(format!("compare-random-{}", std::process::id()));
    let fields = fields(&real, &scratch)?;
    let mut random = Random::new(seed);
    let lines: Vec<_> = (0..count)
        .map(|_| {
            (
                *random.of(BOXES),
                line::line(&mut random, &fields, device.is_none()),
            )
        })
        .collect();
    let (next, pairs) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = |worker: usize| -> Result<(), String> {
        let trial = trial_in(scratch.join(worker.to_string()));
        while let Some((simulated, args)) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
            let real = trial.run(&real, simulated, args)?;
            let nvsmi = trial.run(&nvsmi, simulated, args)?;
            let pair = Pair {
                simulated,
                args: args.clone(),
                real,
                nvsmi,
            };
            pairs
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(pair);
        }
        Ok(())
    };
    let workers = AT_ONCE * thread::available_parallelism().map_or(2, usize::from);
    let results: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> = (0..workers)
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        started
            .into_iter()
            .map(|worker| worker.join().map_err(|_| "a worker stopped".to_owned()))
            .collect()
    });
    let _ = fs::remove_dir_all(&scratch);
    results.into_iter().try_for_each(|result| result?)?;
    Ok(pairs.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn trial_in(folder: PathBuf) -> Trial {
    Trial {
        folder,
        patience: PATIENCE,
        calls: None,
    }
}

/// The fields that nvidia-smi's help names, by list.
fn fields(real: &Path, scratch: &Path) -> Result<Vec<Fields>, String> {
    let trial = trial_in(scratch.to_owned());
    LISTS
        .iter()
        .map(|&list| {
            let help = trial
                .run(real, "h200", &[format!("--help-query-{list}")])?
                .stdout;
            let names: Vec<String> = help
                .lines()
                .filter(|line| line.starts_with('"'))
                .flat_map(|line| line.split('"').skip(1).step_by(2))
                // Values are in quotes, too.
                .filter(|name| !name.contains(' '))
                .map(str::to_owned)
                .collect();
            if names.is_empty() {
                Err(format!(
                    "{} names no fields of --query-{list}",
                    real.display()
                ))
            } else {
                Ok(Fields { list, names })
            }
        })
        .collect()
}

/// Prints the shares, and the kinds of disagreement, the most frequent first.
fn report(pairs: &[Pair], seed: u64) {
    let mut meant: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kinds: HashMap<String, Vec<&Pair>> = HashMap::new();
    let mut agree = 0;
    for pair in pairs {
        let Some(kind) = pair.difference(masked) else {
            agree += 1;
            continue;
        };
        match KNOWN.iter().find(|known| (known.holds)(pair)) {
            Some(known) => *meant.entry(known.name).or_default() += 1,
            None => kinds.entry(kind).or_default().push(pair),
        }
    }
    let share = |count: usize| {
        format!(
            "{count:>6}  {:5.1} %",
            100.0 * count as f64 / pairs.len().max(1) as f64
        )
    };
    println!("seed {seed}, {} lines", pairs.len());
    println!("{}  agree", share(agree));
    for (what, same) in PARTS {
        let count = pairs.iter().filter(|pair| same(pair)).count();
        println!("{}  agree in {what}", share(count));
    }
    for (name, count) in &meant {
        println!("{}  {name}", share(*count));
    }
    println!(
        "{}  differ, in {} ways",
        share(kinds.values().map(Vec::len).sum()),
        kinds.len()
    );
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    for (kind, mut pairs) in kinds {
        pairs.sort_by_key(|pair| pair.args.concat().len());
        let shown = pairs
            .first()
            .and_then(|pair| pair.difference(str::to_owned));
        println!("\n{:>5}  {}", pairs.len(), shown.unwrap_or(kind));
        for pair in pairs.iter().take(EXAMPLES) {
            println!("      $ simulate {}", pair.line());
        }
    }
}
