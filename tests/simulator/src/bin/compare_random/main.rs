//! `compare_random NVIDIA-SMI NVSMI [COUNT [SEED]]`: gives random command lines on random boxes to a real
//! nvidia-smi and to nvsmi, and shows where exit status or stdout differ: how often, in which ways, and
//! with which lines. The files that a line writes count as stdout.
//!
//! Options that change a GPU are among them only where there is no GPU: the programs see a simulated
//! library, but one mistake in that would be one too many.

mod known;
mod layout;
mod line;
#[rustfmt::skip] // a table
mod themes;

use std::{
    collections::{BTreeMap, HashMap},
    env,
    fmt::Write as _,
    fs::{self, File},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{ExitCode, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use known::KNOWN;
use layout::alike;
use line::{Fields, Random};
use themes::LISTS;

/// The boxes that lines run on: what they differ in, the table of lines brings out.
const BOXES: &[&str] = &[
    "h200",
    "h200",
    "h200-busy",
    "h100x8",
    "h100x8",
    "a100x8",
    "a100x16",
    "l40s-x4",
    "t4",
    "v100",
    "gb200-x4",
    "gb10",
    "desktop",
    "laptop",
    "mixed",
    "mig",
    "mig-empty",
    "mig-pending",
    "sick",
    "none",
    "no-driver",
    "no-library",
    "mismatch",
];
/// Where a GPU shows itself.
const DEVICES: &[&str] = &["/dev/nvidia0", "/dev/nvidiactl"];
/// How long a command line may run; those with a loop run on.
const PATIENCE: Duration = Duration::from_millis(1300);
/// What separates stdout from the files that were written.
pub const FILE_MARK: &str = "\n[file ";
/// How many lines are shown of each kind.
const EXAMPLES: usize = 3;

/// How a program answered: the exit status (none: it ran on; a signal's is negative), and stdout.
pub struct Outcome {
    exit: Option<i32>,
    stdout: String,
}

/// A command line, and both answers.
pub struct Pair {
    simulated: &'static str,
    args: Vec<String>,
    real: Outcome,
    nvsmi: Outcome,
}

impl Pair {
    fn same_exit(&self) -> bool {
        self.real.exit == self.nvsmi.exit
    }

    /// Whether the line has one of these options.
    fn has(&self, names: &[&str]) -> bool {
        self.args
            .iter()
            .any(|word| names.contains(&word.split('=').next().unwrap_or(word)))
    }

    /// Whether a word of the line has this text in it.
    fn mentions(&self, text: &str) -> bool {
        self.args.iter().any(|word| word.contains(text))
    }

    /// What differs first, its lines shown through `form`; nothing if the answers are the same.
    fn difference(&self, form: fn(&str) -> String) -> Option<String> {
        let (real, nvsmi) = (alike(&self.real.stdout), alike(&self.nvsmi.stdout));
        // Programs that were stopped had not said all.
        let ran_on = self.real.exit.is_none() && self.nvsmi.exit.is_none();
        let same =
            real == nvsmi || ran_on && (real.starts_with(&nvsmi) || nvsmi.starts_with(&real));
        if same && self.same_exit() {
            return None;
        }
        let status = |outcome: &Outcome| {
            outcome
                .exit
                .map_or("runs on".to_owned(), |code| code.to_string())
        };
        let mut text = match self.same_exit() {
            true => format!("exit {}", status(&self.real)),
            false => format!("exit {}, nvsmi {}", status(&self.real), status(&self.nvsmi)),
        };
        if !same {
            let (real, nvsmi): (Vec<&str>, Vec<&str>) =
                (real.split('\n').collect(), nvsmi.split('\n').collect());
            let at = (0..).find(|&at| real.get(at) != nvsmi.get(at)).unwrap_or(0);
            let show = |lines: &[&str]| {
                lines
                    .get(at)
                    .map_or("(nothing)".to_owned(), |line| form(line))
            };
            let _ = write!(
                text,
                "\n      nvidia-smi: {}\n      nvsmi:      {}",
                show(&real),
                show(&nvsmi)
            );
        }
        Some(text)
    }

    /// The line, ready for a shell.
    fn line(&self) -> String {
        let plain = |word: &String| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-./:=,".contains(c))
        };
        let quoted = self.args.iter().map(|word| {
            if plain(word) {
                word.clone()
            } else {
                format!("'{word}'")
            }
        });
        let mut line = format!("{} nvsmi", self.simulated);
        quoted.for_each(|word| {
            let _ = write!(line, " {word}");
        });
        line
    }
}

/// A line with each number as `9`.
fn masked(line: &str) -> String {
    let mut masked = String::new();
    for c in line.chars().take(200) {
        match c.is_ascii_digit() {
            true if masked.ends_with('9') => {}
            true => masked.push('9'),
            false => masked.push(c),
        }
    }
    masked
}

fn main() -> ExitCode {
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
    let device = DEVICES.iter().find(|path| Path::new(path).exists());
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
        let folder = scratch.join(worker.to_string());
        while let Some((simulated, args)) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
            let real = run(&real, simulated, args, &folder)?;
            let nvsmi = run(&nvsmi, simulated, args, &folder)?;
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
    let workers = thread::available_parallelism().map_or(2, usize::from);
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

/// The fields that nvidia-smi's help names, by list.
fn fields(real: &Path, scratch: &Path) -> Result<Vec<Fields>, String> {
    LISTS
        .iter()
        .map(|&list| {
            let help = run(real, "h200", &[format!("--help-query-{list}")], scratch)?.stdout;
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

/// Runs a program on a box in an empty folder. Nothing passes from one run to the next: no state file,
/// and the folder is emptied.
fn run(program: &Path, simulated: &str, args: &[String], folder: &Path) -> Result<Outcome, String> {
    let problem = |e: std::io::Error| format!("{}: {e}", folder.display());
    let place = folder.join("place");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).map_err(problem)?;
    let output = folder.join("stdout");
    let mut command = simulator::command(simulated, program)?;
    command
        .args(args)
        .current_dir(&place)
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    for variable in [
        "NVSMI_SIMULATOR_STATE",
        "NVSMI_SIMULATOR_CALLS",
        "NVSMI_SIMULATOR_TABLE",
    ] {
        command.env_remove(variable);
    }
    command.stdout(File::create(&output).map_err(problem)?);
    let mut child = command
        .spawn()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(problem)? {
            Some(status) => break Some(status),
            None if start.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let exit = status.map(|status| {
        status
            .code()
            .or(status.signal().map(|signal| -signal))
            .unwrap_or_default()
    });
    let mut stdout = text(&output);
    for file in written(&place) {
        let name = file
            .strip_prefix(&place)
            .unwrap_or(&file)
            .display()
            .to_string();
        let _ = write!(stdout, "{FILE_MARK}{name}]\n{}", text(&file));
    }
    Ok(Outcome { exit, stdout })
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

fn written(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
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
