//! `simulate BOX [COMMAND [ARGUMENT...]]`: runs a command on a simulated box. The plain word `nvsmi`, and
//! no command at all, is the nvsmi beside this program; so are arguments without a command, which begin
//! with a dash. Any other command, a shell say, finds it as `nvidia-smi` and keeps the changes that are made
//! to the box until it ends. `--latency PROFILE` before the box makes each call take its time.

use std::{
    env,
    ffi::{OsStr, OsString},
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus},
    thread,
    time::{Duration, Instant},
};

use simulator::launcher;
use toml::Table;

const USAGE: &str = "usage: simulate [--latency PROFILE] BOX [COMMAND [ARGUMENT...]] | \
     simulate [--latency PROFILE] BOX -OPTION... | simulate --list";

fn main() -> ExitCode {
    simulator::reader::end_with_it();
    match run(env::args_os().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("simulate: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Vec<OsString>) -> Result<(), String> {
    let (over, arguments) = latency(&arguments)?;
    let (name, rest) = arguments.split_first().ok_or(USAGE)?;
    let name = name.to_str().ok_or(USAGE)?;
    match name {
        "--list" => {
            for (name, about) in simulator::scenario::list()? {
                println!("{name:<14} {about}");
            }
            return Ok(());
        }
        "--help" | "-h" => {
            println!("{USAGE}");
            return Ok(());
        }
        _ => {}
    }
    let (program, arguments) = match rest.split_first() {
        Some((word, arguments)) if word == "nvsmi" => (None, arguments),
        Some((word, arguments)) if !word.as_encoded_bytes().starts_with(b"-") => {
            (Some(PathBuf::from(word)), arguments)
        }
        _ => (None, rest),
    };
    // A box that is not there is told before anything is built.
    simulator::scenario::resolve_under(name, over.clone())?;
    let nvsmi = match &program {
        Some(program) if !is_there(program) => {
            let line = rest.join(OsStr::new(" "));
            let (word, line) = (program.display(), line.display());
            return Err(format!(
                "there is no program `{word}`; for nvsmi's, write: simulate {name} nvsmi {line}"
            ));
        }
        // Another program can do without it.
        Some(_) => nvsmi().ok(),
        None => Some(nvsmi()?),
    };
    let program = program.or_else(|| nvsmi.clone()).ok_or(USAGE)?;
    let mut command = match over.is_empty() {
        true => simulator::command(name, &program),
        false => launcher::command_on(name, &over, &program),
    }?;
    if nvsmi.as_ref() != Some(&program) {
        launcher::keep_changes(&mut command)?;
        if let Some(nvsmi) = nvsmi {
            launcher::install(&nvsmi, &mut command)?;
        }
    }
    // Returns only if the program cannot be started.
    let problem = command.args(arguments).exec();
    Err(format!("{}: {problem}", program.display()))
}

/// Whether a program is where its path says, or in a folder of `PATH`.
fn is_there(program: &Path) -> bool {
    if program.components().count() > 1 {
        // The system says best what is wrong with a path.
        return true;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// What `--latency PROFILE` or `--latency=PROFILE` lays over the box, and what follows it.
fn latency(arguments: &[OsString]) -> Result<(Table, &[OsString]), String> {
    let (profile, rest) = match arguments {
        [option] if option == "--latency" => (None, &[][..]),
        [option, profile, rest @ ..] if option == "--latency" => (profile.to_str(), rest),
        [first, rest @ ..] => match first.to_str().and_then(|s| s.strip_prefix("--latency=")) {
            Some(profile) => (Some(profile), rest),
            None => return Ok((Table::new(), arguments)),
        },
        [] => return Err(USAGE.to_owned()),
    };
    let profile = profile.ok_or(USAGE)?;
    let over = Table::from_iter([("latency".to_owned(), profile.into())]);
    Ok((over, rest))
}

/// nvsmi, beside this program. Under Cargo it is built first, so that `cargo simulate BOX` works on a
/// fresh clone.
fn nvsmi() -> Result<PathBuf, String> {
    let here = env::current_exe().map_err(|e| format!("cannot tell where this program is: {e}"))?;
    let folder = here.parent().unwrap_or(Path::new("/"));
    if let Some(cargo) = env::var_os("CARGO") {
        let release = folder.file_name().is_some_and(|name| name == "release");
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--package", "nvsmi"]);
        if release {
            build.arg("--release");
        }
        let status = told_of(&mut build).map_err(|e| format!("cannot run cargo: {e}"))?;
        if !status.success() {
            return Err("nvsmi could not be built".to_owned());
        }
    }
    let program = folder.join("nvsmi");
    if program.is_file() {
        Ok(program)
    } else {
        Err(format!(
            "{} is not there: build it first",
            program.display()
        ))
    }
}

/// Waits for a build, and says so if there is anything to build.
fn told_of(build: &mut Command) -> io::Result<ExitStatus> {
    const NO_TIME: Duration = Duration::from_secs(1);
    let mut child = build.spawn()?;
    let began = Instant::now();
    while began.elapsed() < NO_TIME {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    eprintln!("simulate: building nvsmi, which takes a minute or two");
    child.wait()
}
