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

use crate::{
    gate::{CALLS_VARIABLE, TABLE_VARIABLE},
    launcher,
    machine::STATE_VARIABLE,
};

/// What separates stdout from the files that were written.
pub const FILE_MARK: &str = "\n[file ";
/// What would pass from one run to the next, or slow one down.
const VARIABLES: &[&str] = &[STATE_VARIABLE, CALLS_VARIABLE, TABLE_VARIABLE];

/// Where a GPU shows itself.
const DEVICES: &[&str] = &[
    "/dev/nvidia0",
    "/dev/nvidiactl",
    "/proc/driver/nvidia/version",
];
/// Linux's words for a device file behind which there is none: nvidia-smi leaves one.
const NOTHING_BEHIND: &[i32] = &[6, 19];

/// What tells of a GPU in this machine, beside which nothing is tried that changes one: programs see a
/// simulated library, but one mistake in that would be one too many.
pub fn device() -> Option<&'static str> {
    let there = |path: &&&str| match File::open(path) {
        Ok(_) => true,
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => false,
        Err(problem) => !problem
            .raw_os_error()
            .is_some_and(|code| NOTHING_BEHIND.contains(&code)),
    };
    DEVICES.iter().find(there).copied()
}

/// How a program answered.
pub struct Outcome {
    /// The exit status; none if it ran on, and negative for a signal.
    pub exit: Option<i32>,
    /// What it printed, and the files that it wrote, each after [`FILE_MARK`].
    pub stdout: String,
}

/// How to run programs.
pub struct Trial {
    /// A folder of this trial's own, which is made.
    pub folder: PathBuf,
    /// How long a program may run.
    pub patience: Duration,
    /// The file that gets a line for each NVML call.
    pub calls: Option<PathBuf>,
}

impl Trial {
    /// Runs a program on a box. Nothing passes from one run to the next: no state file, and the folder
    /// that it runs in is emptied.
    pub fn run(&self, program: &Path, simulated: &str, args: &[String]) -> Result<Outcome, String> {
        let folder = &self.folder;
        let problem = |e: io::Error| format!("{}: {e}", folder.display());
        let place = folder.join("place");
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).map_err(problem)?;
        let output = folder.join("stdout");
        let mut command = launcher::command(simulated, program)?;
        command
            .args(args)
            .current_dir(&place)
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        if let Some(calls) = &self.calls {
            command.env(CALLS_VARIABLE, calls);
        }
        command.stdout(File::create(&output).map_err(problem)?);
        let mut child = command
            .spawn()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        let status = wait(&mut child, self.patience).map_err(problem)?;
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
}

/// Waits for the end of a program, but not for ever: it is stopped when patience is.
fn wait(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            None if start.elapsed() > patience => {
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
