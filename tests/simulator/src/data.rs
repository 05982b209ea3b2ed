//! What a box file says: values by dotted path, and how they become NVML's numbers and strings.

use nvml_wrapper_sys::bindings::nvmlReturn_t;
use toml::{Table, Value};

use crate::answer::{Answer, NOT_SUPPORTED, code};

/// The value at a dotted path. A value met on the way there (an error for a whole group) ends the walk.
pub fn at<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    let mut table = table;
    let mut rest = path;
    loop {
        let (key, tail) = rest.split_once('.').unwrap_or((rest, ""));
        match table.get(key)? {
            Value::Table(inner) if !tail.is_empty() => (table, rest) = (inner, tail),
            value => return Some(value),
        }
    }
}

/// Overlays `over` on `base`: tables merge key by key, anything else replaces.
pub fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(over)) => merge(base, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// The error that a value stands for, if it is one: `"error:GPU_IS_LOST"`, `"error:15"`.
pub fn error_of(value: &Value) -> Option<nvmlReturn_t> {
    code(value.as_str()?.strip_prefix("error:")?)
}

/// A type that a box file can say.
pub trait FromData: Sized {
    fn from_data(value: &Value) -> Option<Self>;
}

/// Reads a value, which may stand for an error. A value of another kind is a mistake in the box
/// file; it answers NOT_SUPPORTED, as an absent one does.
pub fn read<T: FromData>(value: Option<&Value>) -> Answer<T> {
    let value = value.ok_or(NOT_SUPPORTED)?;
    match error_of(value) {
        Some(code) => Err(code),
        None => T::from_data(value).ok_or(NOT_SUPPORTED),
    }
}

/// Words for NVML's enumerations, and units: what a string stands for as a number. NVML counts memory
/// in bytes, power in milliwatts, and the time of clock events in nanoseconds.
fn number(text: &str) -> Option<i64> {
    const UNITS: &[(&str, f64)] = &[
        (" KiB", 1024.0),
        (" MiB", 1_048_576.0),
        (" GiB", 1_073_741_824.0),
        (" W", 1000.0),
        (" us", 1000.0),
    ];
    const WORDS: &[(&str, &[&str])] = &[
        (
            "brand",
            &[
                "unknown", "quadro", "tesla", "nvs", "grid", "geforce", "titan",
            ],
        ),
        (
            "brand from 12",
            &[
                "quadro-rtx",
                "nvidia-rtx",
                "nvidia",
                "geforce-rtx",
                "titan-rtx",
            ],
        ),
        (
            "architecture from 2",
            &[
                "kepler",
                "maxwell",
                "pascal",
                "volta",
                "turing",
                "ampere",
                "ada",
                "hopper",
                "blackwell",
            ],
        ),
        (
            "compute mode",
            &[
                "default",
                "exclusive-thread",
                "prohibited",
                "exclusive-process",
            ],
        ),
        (
            "virtualization",
            &["none", "pass-through", "vgpu", "host-vgpu", "host-vsga"],
        ),
        ("addressing from 1", &["hmm", "ats"]),
        (
            "fabric state",
            &["not-supported", "not-started", "in-progress", "completed"],
        ),
        (
            "fabric health from 1",
            &["healthy", "unhealthy", "limited-capacity"],
        ),
        (
            "peer-to-peer",
            &[
                "ok",
                "chipset-not-supported",
                "gpu-not-supported",
                "topology-not-supported",
                "disabled-by-regkey",
                "p2p-not-supported",
            ],
        ),
        ("remote device", &["gpu", "npu", "switch"]),
    ];
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(|n| n as i64);
    }
    for (unit, factor) in UNITS {
        if let Some(amount) = text.strip_suffix(unit) {
            return amount
                .parse::<f64>()
                .ok()
                .map(|amount| (amount * factor).round() as i64);
        }
    }
    WORDS.iter().find_map(|(kind, words)| {
        let first: i64 = kind
            .split_once(" from ")
            .map_or(Some(0), |(_, n)| n.parse().ok())?;
        words
            .iter()
            .position(|word| *word == text)
            .map(|place| first + place as i64)
    })
}

impl FromData for i64 {
    fn from_data(value: &Value) -> Option<i64> {
        match value {
            Value::Integer(n) => Some(*n),
            Value::Boolean(b) => Some((*b).into()),
            Value::String(text) => number(text),
            _ => None,
        }
    }
}

macro_rules! narrower {
    ($($type:ty),*) => {$(
        impl FromData for $type {
            fn from_data(value: &Value) -> Option<$type> {
                i64::from_data(value).map(|n| n as $type)
            }
        }
    )*};
}
narrower!(u8, i32, u32, u64);

impl FromData for bool {
    fn from_data(value: &Value) -> Option<bool> {
        value.as_bool()
    }
}

impl FromData for f64 {
    fn from_data(value: &Value) -> Option<f64> {
        value
            .as_float()
            .or_else(|| value.as_integer().map(|n| n as f64))
    }
}

/// A number that is written with its fraction.
pub struct Fraction(pub f64);

impl FromData for Fraction {
    fn from_data(value: &Value) -> Option<Fraction> {
        value.as_float().map(Fraction)
    }
}

impl FromData for String {
    fn from_data(value: &Value) -> Option<String> {
        value.as_str().map(str::to_owned)
    }
}

/// Text as NVML hands it out: whatever bytes. A box says it as a string, or as numbers where it is not UTF-8.
#[derive(Clone, Debug)]
pub struct Text(pub Vec<u8>);

impl FromData for Text {
    fn from_data(value: &Value) -> Option<Text> {
        match value {
            Value::String(text) => Some(Text(text.as_bytes().to_vec())),
            bytes => Vec::from_data(bytes).map(Text),
        }
    }
}

impl FromData for Table {
    fn from_data(value: &Value) -> Option<Table> {
        value.as_table().cloned()
    }
}

impl<T: FromData> FromData for Vec<T> {
    fn from_data(value: &Value) -> Option<Vec<T>> {
        value.as_array()?.iter().map(T::from_data).collect()
    }
}
