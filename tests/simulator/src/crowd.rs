//! A box of many GPUs that are alike, each with the first one's values but for its names, and nowhere
//! a 0: so that one run fails a question in as many ways as there are GPUs, and a 0 that is shown is
//! a failure that was taken for a value.

use toml::{Table, Value};

use crate::{data::merge, scenario};

/// What tells GPUs apart.
fn names(gpu: usize) -> Table {
    let bus = gpu + 0x11;
    let text = format!(
        "uuid = 'GPU-{gpu:08x}-1000-2000-3000-{gpu:012x}'\nserial = '16500000{gpu:05}'\npci.bus_id = '00000000:{bus:02X}:00.0'"
    );
    text.parse().unwrap_or_default()
}

/// The text of a box of `count` GPUs like the first one of a box, with the keys of `over` laid over it.
pub fn crowd(name: &str, count: usize, over: &str) -> Result<String, String> {
    let mut table = scenario::resolve(name)?;
    let take = |table: &mut Table, key: &str| match table.remove(key) {
        Some(Value::Table(inner)) => inner,
        _ => Table::new(),
    };
    let mut boards = take(&mut table, "boards");
    let mut whole = take(&mut table, "every");
    let first = take(&mut take(&mut table, "gpu"), "0");
    merge(&mut whole, first);
    let board = whole.remove("board");
    let mut gpu = match board.as_ref().and_then(Value::as_str) {
        Some(board) => take(&mut boards, board),
        None => Table::new(),
    };
    merge(&mut gpu, whole);
    let over: Table = over.parse().map_err(|e| format!("{over}: {e}"))?;
    merge(&mut gpu, over);
    gpu.iter_mut().for_each(|(_, value)| without_zero(value));
    let gpus = (0..count).map(|index| (index.to_string(), names(index).into()));
    table.insert("gpu".to_owned(), Table::from_iter(gpus).into());
    table.insert("every".to_owned(), gpu.into());
    table.insert("count".to_owned(), (count as i64).into());
    Ok(table.to_string())
}

fn without_zero(value: &mut Value) {
    match value {
        Value::Integer(number) if *number == 0 => *number = 1,
        Value::Float(number) if *number == 0.0 => *number = 1.0,
        Value::String(text) => {
            if let Some(unit) = text.strip_prefix("0 ") {
                *text = format!("1 {unit}");
            }
        }
        Value::Array(values) => values.iter_mut().for_each(without_zero),
        Value::Table(table) => table.iter_mut().for_each(|(_, value)| without_zero(value)),
        _ => {}
    }
}
