//! The boxes: where their files are, and how one inherits from another.
//!
//! A box file has `about`, `driver`, `every` (keys of every GPU), `gpu.N` (keys of one), `count`, and
//! for trouble `init`, `missing`, `fault`, `latency`. `inherits` names a box to start from. `board`,
//! in `every` or in a GPU, names a file of `boards/`, which may inherit from another one. A key that
//! no layer has answers NOT_SUPPORTED; `"error:NAME"` answers that code.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
};

use toml::{Table, Value};

use crate::{data::merge, drivers, keys};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));
}

/// Each box's name and its line of description.
pub fn list() -> Result<Vec<(&'static str, String)>, String> {
    let about = |table: &Table| {
        table
            .get("about")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    embedded::BOXES
        .iter()
        .map(|(name, text)| Ok((*name, about(&read_embedded(name, text, keys::BOX)?))))
        .collect()
}

/// Whether a box is told by the path of its file, rather than by name.
pub fn is_file(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "toml")
}

/// A box by its name or by the path of a file, with all that it inherits, as one table.
pub fn resolve(name: &str) -> Result<Table, String> {
    resolve_under(name, Table::new())
}

/// As [`resolve`], with a table laid over the box, which may name boards and a latency profile as well.
pub fn resolve_under(name: &str, over: Table) -> Result<Table, String> {
    let own = if is_file(name) {
        let text = fs::read_to_string(name).map_err(|e| format!("{name}: {e}"))?;
        read(name, &text, keys::BOX)?
    } else {
        embedded_box(name)?
    };
    let mut whole = inherit(own, embedded_box)?;
    merge(&mut whole, over);
    complete(whole)
}

fn embedded_box(name: &str) -> Result<Table, String> {
    let known = || {
        embedded::BOXES
            .iter()
            .map(|row| row.0)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let found = embedded::BOXES.iter().find(|row| row.0 == name);
    let (name, text) =
        found.ok_or_else(|| format!("there is no box `{name}`; the boxes are {}", known()))?;
    read_embedded(name, text, keys::BOX)
}

fn board(name: &str) -> Result<Table, String> {
    let found = embedded::BOARDS.iter().find(|row| row.0 == name);
    let (name, text) = found.ok_or_else(|| format!("there is no board `{name}`"))?;
    read_embedded(name, text, keys::GPU)
}

/// Reads a file whose keys are known.
fn read(name: &str, text: &str, keys: &[keys::Row]) -> Result<Table, String> {
    keys::read(text, keys).map_err(|e| format!("{name}: {e}"))
}

/// As [`read`], once for each of the embedded files.
fn read_embedded(name: &str, text: &'static str, keys: &[keys::Row]) -> Result<Table, String> {
    static READ: Mutex<BTreeMap<&str, Table>> = Mutex::new(BTreeMap::new());
    let known = || READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(table) = known().get(text) {
        return Ok(table.clone());
    }
    let table = read(name, text, keys)?;
    known().insert(text, table.clone());
    Ok(table)
}

fn parse(name: &str, text: &str) -> Result<Table, String> {
    text.parse().map_err(|e| format!("{name}: {e}"))
}

/// Lays a table over what it inherits.
fn inherit(mut own: Table, load: fn(&str) -> Result<Table, String>) -> Result<Table, String> {
    let Some(Value::String(parent)) = own.remove("inherits") else {
        return Ok(own);
    };
    let mut whole = inherit(load(&parent)?, load)?;
    merge(&mut whole, own);
    Ok(whole)
}

/// Adds what a box refers to: its boards, its latency profile, and how many GPUs it has.
fn complete(mut table: Table) -> Result<Table, String> {
    let gpus: Table = table
        .get("gpu")
        .and_then(Value::as_table)
        .cloned()
        .unwrap_or_default();
    let users = table.get("every").into_iter().chain(gpus.values());
    let names: Vec<String> = users
        .filter_map(|user| Some(user.get("board")?.as_str()?.to_owned()))
        .collect();
    let mut boards = Table::new();
    for name in names {
        let whole = inherit(board(&name)?, board)?;
        boards.insert(name, whole.into());
    }
    table.insert("boards".to_owned(), boards.into());
    drivers::complete(&mut table)?;
    if !table.contains_key("count") {
        let count = gpus
            .keys()
            .filter_map(|key| key.parse::<i64>().ok())
            .max()
            .map_or(0, |last| last + 1);
        table.insert("count".to_owned(), count.into());
    }
    if let Some(profile) = table.get("latency").and_then(Value::as_str) {
        let found = embedded::LATENCIES.iter().find(|row| row.0 == profile);
        let (name, text) = found.ok_or_else(|| {
            let known: Vec<_> = embedded::LATENCIES.iter().map(|row| row.0).collect();
            let known = known.join(", ");
            format!("there is no latency profile `{profile}`; the profiles are {known}")
        })?;
        let rows = parse(name, text)?;
        table.insert("latency".to_owned(), rows.into());
    }
    Ok(table)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::data::at;

    #[test]
    fn every_box_resolves() {
        for (name, about) in list().unwrap() {
            assert!(!about.is_empty(), "{name} has no `about`");
            resolve(name).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        }
    }

    #[test]
    fn a_child_overrides_its_parent_key_by_key() {
        let load: fn(&str) -> Result<Table, String> =
            |_| parse("parent", "[memory]\ntotal = 8\nused = 1");
        let child = parse("child", "inherits = 'parent'\n[memory]\nused = 2").unwrap();
        let whole = inherit(child, load).unwrap();
        assert_eq!(
            at(&whole, "memory.total").and_then(Value::as_integer),
            Some(8)
        );
        assert_eq!(
            at(&whole, "memory.used").and_then(Value::as_integer),
            Some(2)
        );
    }

    #[test]
    fn an_unknown_box_is_told_with_the_known_ones() {
        let problem = resolve("nonesuch").unwrap_err();
        assert!(
            problem.contains("`nonesuch`") && problem.contains("h200"),
            "{problem}"
        );
    }
}
