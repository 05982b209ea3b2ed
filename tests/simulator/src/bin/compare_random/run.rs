//! Runs a program on a box, alone with an empty folder.

use std::{
    fmt::Write,
    fs::{self, File},
    io,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How long a command line may run; those with a loop run on.
const PATIENCE: Duration = Duration::from_millis(1300);
/// What separates stdout from the files that were written.
pub const FILE_MARK: &str = "\n[file ";
/// What would pass from one run to the next, or slow one down.
const VARIABLES: &[&str] = &[
    "NVSMI_SIMULATOR_STATE",
    "NVSMI_SIMULATOR_CALLS",
    "NVSMI_SIMULATOR_TABLE",
];

/// How a program answered: the exit status (none: it ran on; a signal's is negative), and stdout.
pub struct Outcome {
    pub exit: Option<i32>,
    pub stdout: String,
}

/// Runs a program on a box in an empty folder. Nothing passes from one run to the next: no state file,
/// and the folder is emptied.
pub fn run(
    program: &Path,
    simulated: &str,
    args: &[String],
    folder: &Path,
) -> Result<Outcome, String> {
    let problem = |e: io::Error| format!("{}: {e}", folder.display());
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
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command.stdout(File::create(&output).map_err(problem)?);
    let mut child = command
        .spawn()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let status = wait(&mut child).map_err(problem)?;
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

/// Waits for the end of a program, but not for ever: it is stopped when patience is.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            None if start.elapsed() > PATIENCE => {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            None => thread::sleep(Duration::from_millis(2)),
            ended => return Ok(ended),
        }
    }
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
