//! The simulated machine of this process: its box, and what has happened since the library was loaded.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    env, fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use toml::{Table, Value};

use crate::{
    answer::Answer,
    data::{self, FromData},
    handle::{Device, GPUS},
};

/// Where the launcher says which box this is: the path of a resolved box file.
pub const BOX_VARIABLE: &str = "NVSMI_SIMULATOR_BOX";
/// A file that keeps what the setters changed, from one process to the next.
pub const STATE_VARIABLE: &str = "NVSMI_SIMULATOR_STATE";

pub struct Machine {
    pub file: Table,
    /// For each GPU the tables to look a key up in, the most particular first.
    gpus: Vec<[Table; 3]>,
    state_file: Option<PathBuf>,
    state: Mutex<State>,
    /// For each GPU what the calls that take time wait for.
    turns: Vec<Mutex<()>>,
}

#[derive(Default)]
pub struct State {
    /// How often nvmlInit was called, less nvmlShutdown.
    pub users: u32,
    /// How often each function was called, for each device.
    pub calls: HashMap<(String, Option<Device>), u32>,
    /// The rows of the latency profile that have been paid in full, for each GPU.
    pub served: HashSet<(String, Option<usize>)>,
    /// What setters stored, laid out as a box.
    changes: Table,
}

impl Machine {
    /// The machine of this process, read on first use.
    pub fn get() -> &'static Machine {
        static MACHINE: OnceLock<Machine> = OnceLock::new();
        MACHINE.get_or_init(|| {
            Self::load().unwrap_or_else(|problem| {
                eprintln!("simulator: {problem}");
                Self::new(
                    Table::from_iter([("init".to_owned(), "error:UNKNOWN".into())]),
                    None,
                )
            })
        })
    }

    fn load() -> Result<Machine, String> {
        let path = env::var_os(BOX_VARIABLE).ok_or(format!("{BOX_VARIABLE} is not set"))?;
        let file = parse(Path::new(&path))?;
        Ok(Self::new(
            file,
            env::var_os(STATE_VARIABLE).map(PathBuf::from),
        ))
    }

    fn new(file: Table, state_file: Option<PathBuf>) -> Machine {
        let table = |path: &str| data::at(&file, path).and_then(Value::as_table).cloned();
        let count = data::at(&file, "count")
            .and_then(i64::from_data)
            .unwrap_or(0);
        let gpus: Vec<_> = (0..(count.max(0) as usize).min(GPUS))
            .map(|gpu| {
                let own = table(&format!("gpu.{gpu}")).unwrap_or_default();
                let every = table("every").unwrap_or_default();
                let board = [&own, &every]
                    .into_iter()
                    .find_map(|t| t.get("board")?.as_str());
                let board = board
                    .and_then(|name| table(&format!("boards.{name}")))
                    .unwrap_or_default();
                [own, every, board]
            })
            .collect();
        let changes = state_file
            .as_deref()
            .and_then(|path| parse(path).ok())
            .unwrap_or_default();
        let state = Mutex::new(State {
            changes,
            ..State::default()
        });
        Machine {
            turns: gpus.iter().map(|_| Mutex::new(())).collect(),
            file,
            gpus,
            state_file,
            state,
        }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other call keeps a GPU, and keeps it.
    pub fn turn(&self, gpu: usize) -> Option<MutexGuard<'_, ()>> {
        let turn = self.turns.get(gpu)?;
        Some(turn.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many GPUs the box has.
    pub fn count(&self) -> usize {
        self.gpus.len()
    }

    /// A key of the box itself, such as `driver.version`: what a setter stored, or else what the box says.
    pub fn read<T: FromData>(&self, path: &str) -> Answer<T> {
        let state = self.state();
        data::read(data::at(&state.changes, path).or_else(|| data::at(&self.file, path)))
    }

    /// Stores what a setter changes, in this process and in the state file.
    pub fn store(&self, path: &str, value: impl Into<Value>) -> Answer {
        let mut change = value.into();
        for key in path.rsplit('.') {
            change = Table::from_iter([(key.to_owned(), change)]).into();
        }
        let mut state = self.state();
        if let Value::Table(change) = change {
            data::merge(&mut state.changes, change);
        }
        let Some(path) = &self.state_file else {
            return Ok(());
        };
        fs::write(path, state.changes.to_string()).map_err(|_| crate::answer::OPERATING_SYSTEM)
    }

    pub fn gpu(&'static self, device: Device) -> Gpu {
        Gpu {
            machine: self,
            device,
        }
    }

    pub fn gpus(&'static self) -> impl Iterator<Item = Gpu> {
        (0..self.count()).map(|gpu| self.gpu(Device { gpu, mig: None }))
    }
}

fn parse(path: &Path) -> Result<Table, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    text.parse().map_err(|e| format!("{}: {e}", path.display()))
}

/// One GPU of the box, or one MIG device, to ask.
#[derive(Clone, Copy)]
pub struct Gpu {
    pub machine: &'static Machine,
    pub device: Device,
}

impl Gpu {
    /// A key of this device: what a setter stored, or else the first layer of the box that has it.
    pub fn read<T: FromData>(&self, path: &str) -> Answer<T> {
        let Device { gpu, mig } = self.device;
        match mig {
            Some(row) => {
                let rows: Vec<Table> = self.parent().read("mig.devices")?;
                data::read(rows.get(row).and_then(|table| data::at(table, path)))
            }
            None => {
                let state = self.machine.state();
                let changed = data::at(&state.changes, &format!("gpu.{gpu}.{path}"));
                data::read(
                    changed.or_else(|| self.layers().find_map(|table| data::at(table, path))),
                )
            }
        }
    }

    /// The keys that any layer of the box has in a table.
    pub fn keys(&self, path: &str) -> BTreeSet<String> {
        let tables = self
            .layers()
            .filter_map(|table| data::at(table, path)?.as_table());
        tables.flat_map(Table::keys).cloned().collect()
    }

    fn layers(&self) -> impl Iterator<Item = &'static Table> {
        self.machine.gpus[self.device.gpu].iter()
    }

    /// A key, or a value for when the box does not say it.
    pub fn read_or<T: FromData>(&self, path: &str, otherwise: T) -> Answer<T> {
        match self.read(path) {
            Err(crate::answer::NOT_SUPPORTED) => Ok(otherwise),
            answer => answer,
        }
    }

    /// The GPU that a MIG device is a part of; a GPU itself.
    pub fn parent(&self) -> Gpu {
        let device = Device {
            gpu: self.device.gpu,
            mig: None,
        };
        Gpu {
            machine: self.machine,
            device,
        }
    }

    /// Stores what a setter changes, as [`Machine::store`].
    pub fn store(&self, path: &str, value: impl Into<Value>) -> Answer {
        self.machine
            .store(&format!("gpu.{}.{path}", self.device.gpu), value)
    }
}
