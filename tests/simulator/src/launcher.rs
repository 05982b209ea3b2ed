//! Puts a program on a box: lays out a folder that looks like an installed driver, and starts the
//! program with it.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs::{self, File},
    hash::{DefaultHasher, Hash, Hasher},
    io,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    process::{self, Command},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use toml::{Table, Value};

use crate::{
    elf,
    machine::{BOX_VARIABLE, STATE_VARIABLE},
    scenario, sysfs,
};

/// The folder of a box that stands for /sys, if the box describes one.
const SYSFS: &str = "sys";

/// The names under which programs open the library.
const LIBRARY_NAMES: &[&str] = &["libnvidia-ml.so.1", "libnvidia-ml.so"];

/// A command that will run `program` on the box of that name (or file), ready for arguments.
///
/// For tests: the library is the one that Cargo built beside the running test.
pub fn command(name: &str, program: &Path) -> Result<Command, String> {
    Ok(installed(&prepare(name)?, program))
}

/// As [`command`], with a table laid over the box.
pub fn command_on(name: &str, over: &Table, program: &Path) -> Result<Command, String> {
    let table = scenario::resolve_under(name, over.clone())?;
    Ok(installed(
        &lay_out(&own_name(name, &table), &table)?,
        program,
    ))
}

/// Puts a tree in the place of /sys, for a program alone: `sh -c` of this, the tree, the program.
const WITH_SYSFS: &str = "mount --bind \"$0\" /sys && exec \"$@\"";

/// Whether programs can have a `/sys` of their own here: not in every container.
pub fn can_replace_sysfs() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "mount", "--bind"]);
    // Any folder will do but /sys itself, which may hold mounts of its own.
    command.arg(env::temp_dir()).arg("/sys");
    command.output().is_ok_and(|output| output.status.success())
}

/// The program, with the folder of a box first on the loader's path.
fn installed(folder: &Path, program: &Path) -> Command {
    let tree = folder.join(SYSFS);
    let mut command = if tree.exists() {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", WITH_SYSFS]);
        command.arg(tree).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.env(BOX_VARIABLE, folder.join("box.toml"));
    let mut path: OsString = folder.into();
    if let Some(inherited) = env::var_os("LD_LIBRARY_PATH") {
        path.push(":");
        path.push(inherited);
    }
    command.env("LD_LIBRARY_PATH", path);
    command
}

/// Puts `nvsmi` first on the path of a command and of what it starts, by the name of nvidia-smi.
pub fn install(nvsmi: &Path, command: &mut Command) -> Result<(), String> {
    let mut hasher = DefaultHasher::new();
    nvsmi.hash(&mut hasher);
    let folder = home(&library()?)?.join(format!("path-{:016x}", hasher.finish()));
    let problem = |e: io::Error| format!("{}: {e}", folder.display());
    let link = folder.join("nvidia-smi");
    if fs::read_link(&link).ok().as_deref() != Some(nvsmi) {
        fs::create_dir_all(&folder).map_err(problem)?;
        place(&link, |path| symlink(nvsmi, path)).map_err(problem)?;
    }
    let mut path: OsString = folder.into();
    if let Some(inherited) = env::var_os("PATH") {
        path.push(":");
        path.push(inherited);
    }
    command.env("PATH", path);
    Ok(())
}

/// Has a command and what it starts keep the changes that they make to a box, for as long as it runs. It
/// is to take this process's place.
pub fn keep_changes(command: &mut Command) -> Result<(), String> {
    if env::var_os(STATE_VARIABLE).is_some() {
        return Ok(());
    }
    let folder = home(&library()?)?.join("changes");
    let problem = |e: io::Error| format!("{}: {e}", folder.display());
    fs::create_dir_all(&folder).map_err(problem)?;
    let own = process::id().to_string();
    // What processes that have ended left behind, one with this number among them.
    for entry in fs::read_dir(&folder).map_err(problem)?.flatten() {
        let name = entry.file_name();
        if name == *own || !Path::new("/proc").join(&name).exists() {
            let _ = fs::remove_file(entry.path());
        }
    }
    command.env(STATE_VARIABLE, folder.join(own));
    Ok(())
}

/// Fails unless the library that a program will load first is the simulated one. Whatever changes a
/// GPU in a test asks this before.
pub fn require_simulator(command: &Command) -> Result<(), String> {
    let path = command
        .get_envs()
        .find_map(|(name, value)| value.filter(|_| name == "LD_LIBRARY_PATH"))
        .ok_or("the loader's path is not set")?;
    let first = env::split_paths(path).next().unwrap_or_default();
    let library = first.join(LIBRARY_NAMES[0]);
    match is_simulator(&library).map_err(|e| format!("{}: {e}", library.display()))? {
        true => Ok(()),
        false => Err(format!(
            "{} is not the simulated library",
            library.display()
        )),
    }
}

/// Whether a file is the simulated library. It is large, and tests ask thousands of times: it is read
/// again only when it is another file than before, or has changed.
fn is_simulator(library: &Path) -> io::Result<bool> {
    type File = (u64, u64, u64, i64, i64);
    static KNOWN: Mutex<BTreeMap<File, bool>> = Mutex::new(BTreeMap::new());
    let about = fs::metadata(library)?;
    let file = (
        about.dev(),
        about.ino(),
        about.size(),
        about.ctime(),
        about.ctime_nsec(),
    );
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = known.get(&file) {
        return Ok(known);
    }
    let image = fs::read(library)?;
    let marker = BOX_VARIABLE.as_bytes();
    let is_ours =
        image.starts_with(b"\x7fELF") && image.windows(marker.len()).any(|bytes| bytes == marker);
    known.insert(file, is_ours);
    Ok(is_ours)
}

/// Lays out the folder of a box, and says where it is: the library under both its names, and
/// `box.toml`. Processes may do this at once: each file appears whole, by renaming.
pub fn prepare(name: &str) -> Result<PathBuf, String> {
    // An embedded box stays as it is for as long as this program runs.
    static LAID_OUT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let laid_out = || LAID_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = laid_out().get(name) {
        return Ok(folder.clone());
    }
    let table = scenario::resolve(name)?;
    if scenario::is_file(name) {
        return lay_out(&own_name(name, &table), &table);
    }
    let folder = lay_out(name, &table)?;
    laid_out().insert(name.to_owned(), folder.clone());
    Ok(folder)
}

/// The folder's name for a box that is not one of the embedded ones: no two that differ share one.
fn own_name(name: &str, table: &Table) -> String {
    let mut hasher = DefaultHasher::new();
    table.to_string().hash(&mut hasher);
    let stem = Path::new(name).file_stem().unwrap_or_default();
    format!("{}-{:016x}", stem.display(), hasher.finish())
}

fn lay_out(name: &str, table: &Table) -> Result<PathBuf, String> {
    let library = library()?;
    let folder = home(&library)?.join(name);
    let problem = |e: io::Error| format!("{}: {e}", folder.display());
    fs::create_dir_all(&folder).map_err(problem)?;

    let text = toml::to_string(table).map_err(|e| format!("{name}: {e}"))?;
    let current = |name: &&str| is_current(&folder.join(name), &library);
    let tree = table.contains_key("sysfs").then_some(SYSFS);
    let is_laid_out = || {
        let unchanged = fs::read_to_string(folder.join("box.toml")).is_ok_and(|old| old == text);
        unchanged && LIBRARY_NAMES.iter().chain(&tree).all(current)
    };
    if is_laid_out() {
        return Ok(folder);
    }
    // One at a time, in this process and others: a tree does not take an old one's place in one step.
    let lock = File::create(folder.join("lock")).map_err(problem)?;
    lock.lock().map_err(problem)?;
    if is_laid_out() {
        return Ok(folder);
    }
    if let Some(tree) = tree {
        // Half removed it would look new.
        let (tree, old) = (folder.join(tree), folder.join("old"));
        let clear = || fs::remove_dir_all(&old).or_else(unless_there_is_none);
        clear()
            .and_then(|()| fs::rename(&tree, &old).or_else(unless_there_is_none))
            .and_then(|()| place(&tree, |path| sysfs::write(path, table)))
            .and_then(|()| clear())
            .map_err(problem)?;
    }
    place(&folder.join("box.toml"), |path| fs::write(path, &text)).map_err(problem)?;

    let image = image(table, &library)?;
    for name in LIBRARY_NAMES {
        place(&folder.join(name), |path| symlink(&image, path)).map_err(problem)?;
    }
    Ok(folder)
}

/// The file that is to be the box's library: the library itself, a copy without the symbols that the box
/// lacks, or a file that is no library. Boxes that lack the same share a copy.
fn image(table: &Table, library: &Path) -> Result<PathBuf, String> {
    let make = |name: &str, image: &[u8]| {
        let path = home(library)?.join(name);
        place(&path, |path| fs::write(path, image))
            .map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path)
    };
    if table.get("library").and_then(Value::as_bool) == Some(false) {
        return make("none.so", b"no library\n");
    }
    let missing = table.get("missing").and_then(Value::as_array);
    let missing = missing.into_iter().flatten().filter_map(Value::as_str);
    let symbols: Vec<String> = missing.map(str::to_owned).collect();
    if symbols.is_empty() {
        return Ok(library.to_owned());
    }
    let mut hasher = DefaultHasher::new();
    symbols.hash(&mut hasher);
    let name = format!("without-{:016x}.so", hasher.finish());
    let made = home(library)?.join(&name);
    if is_current(&made, library) {
        return Ok(made);
    }
    let mut image = fs::read(library).map_err(|e| format!("{}: {e}", library.display()))?;
    elf::strip(&mut image);
    elf::hide(&mut image, &symbols)?;
    make(&name, &image)
}

/// Whether a file stands for the library as it is now: a link to it, or made after it.
fn is_current(path: &Path, library: &Path) -> bool {
    let linked = path.canonicalize().is_ok_and(|target| target == library);
    let time = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    linked || time(path) > time(library)
}

/// Makes a file beside its place and renames it there.
fn place(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let new = path.with_extension(format!("new-{}-{number}", process::id()));
    make(&new)?;
    fs::rename(&new, path)
}

fn unless_there_is_none(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

/// Where the folders of the boxes are: beside the library, or for each user in the temporary folder
/// when that cannot be written.
fn home(library: &Path) -> Result<PathBuf, String> {
    let beside = library.with_file_name("simulated");
    if fs::create_dir_all(&beside).is_ok() && !readonly(&beside) {
        return Ok(beside);
    }
    let user = env::var("USER").unwrap_or_else(|_| "user".to_owned());
    let own = env::temp_dir().join(format!("nvml-simulated-{user}"));
    fs::create_dir_all(&own).map_err(|e| format!("{}: {e}", own.display()))?;
    Ok(own)
}

fn readonly(folder: &Path) -> bool {
    let probe = folder.join(format!(".probe-{}", process::id()));
    let written = fs::write(&probe, "").is_ok();
    let _ = fs::remove_file(&probe);
    !written
}

/// The simulated library: in the folder of the running program, or in those beside it where Cargo
/// puts what it builds.
fn library() -> Result<PathBuf, String> {
    let program =
        env::current_exe().map_err(|e| format!("cannot tell where this program is: {e}"))?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let places = [folder.to_owned(), folder.join("deps"), folder.join("..")];
    let mut files = places.iter().map(|place| place.join("libsimulator.so"));
    let found = files.find(|file| file.is_file());
    found
        .and_then(|file| file.canonicalize().ok())
        .ok_or_else(|| format!("no libsimulator.so in {}", folder.display()))
}
