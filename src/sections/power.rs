//! Power of the GPU, of its memory and of its module; and power profiles.

use super::row::{Asked, Empty, List, Row, group, line, list, number};
use super::words::{self, word};
use crate::nvml::{Missing, Reading, profiles_of};
use crate::value::Unit::Watts;
use crate::value::Value;

/// Fields of power, milliwatts.
const AVERAGE: u32 = 185;
const INSTANT: u32 = 186;
const MIN_LIMIT: u32 = 187;
const MAX_LIMIT: u32 = 188;
const DEFAULT_LIMIT: u32 = 189;
const CURRENT_LIMIT: u32 = 190;
const REQUESTED_LIMIT: u32 = 192;

const DRAWS: [u32; 2] = [AVERAGE, INSTANT];
const LIMITS: [u32; 5] = [
    CURRENT_LIMIT,
    REQUESTED_LIMIT,
    DEFAULT_LIMIT,
    MIN_LIMIT,
    MAX_LIMIT,
];

/// Scopes of the fields, `NVML_POWER_SCOPE_*`.
const GPU_SCOPE: u32 = 0;
const MODULE_SCOPE: u32 = 1;
const MEMORY_SCOPE: u32 = 2;

/// The fields of all three scopes come with the first of them.
fn watts(asked: &Asked<()>, field: u32, scope: u32) -> Reading<Value> {
    let whole = [GPU_SCOPE, MODULE_SCOPE].map(|scope| {
        DRAWS
            .into_iter()
            .chain(LIMITS)
            .map(move |field| (field, scope))
    });
    let memory = DRAWS.map(|field| (field, MEMORY_SCOPE));
    asked
        .gpu
        .ask_fields(whole.into_iter().flatten().chain(memory));
    match asked.gpu.field_number(field, scope) {
        Err(Missing::INVALID_ARGUMENT) if scope == GPU_SCOPE => {
            without_field(asked, field).map(Value::watts)
        }
        milliwatts => milliwatts.map(|milliwatts| Value::watts(milliwatts as f64)),
    }
}

/// What a driver before R530, which does not know the field, has a question of
/// its own for.
fn without_field(asked: &Asked<()>, field: u32) -> Reading<u32> {
    let averages = asked.gpu.architecture()? >= words::AMPERE;
    match field {
        AVERAGE if averages => asked.gpu.power_usage(),
        INSTANT if !averages => asked.gpu.power_usage(),
        CURRENT_LIMIT => asked.gpu.enforced_power_limit(),
        REQUESTED_LIMIT => asked.gpu.power_limit(),
        DEFAULT_LIMIT => asked.gpu.default_power_limit(),
        MIN_LIMIT => asked.gpu.power_limit_range().map(|(lowest, _)| lowest),
        MAX_LIMIT => asked.gpu.power_limit_range().map(|(_, highest)| highest),
        _ => Err(Missing::NotSupported),
    }
}

/// The lines about a scope that has a limit.
macro_rules! readings {
    ($scope:ident) => {
        &[
            // Kept for the programs that look for it here.
            line("", "power_state", |asked| {
                word(asked.gpu.performance_state()?, words::PERFORMANCE_STATES)
            }),
            number("Average Power Draw", "average_power_draw", Watts, |asked| {
                watts(asked, AVERAGE, $scope)
            }),
            number(
                "Instantaneous Power Draw",
                "instant_power_draw",
                Watts,
                |asked| watts(asked, INSTANT, $scope),
            ),
            number(
                "Current Power Limit",
                "current_power_limit",
                Watts,
                |asked| watts(asked, CURRENT_LIMIT, $scope),
            ),
            number(
                "Requested Power Limit",
                "requested_power_limit",
                Watts,
                |asked| watts(asked, REQUESTED_LIMIT, $scope),
            ),
            number(
                "Default Power Limit",
                "default_power_limit",
                Watts,
                |asked| watts(asked, DEFAULT_LIMIT, $scope),
            ),
            number("Min Power Limit", "min_power_limit", Watts, |asked| {
                watts(asked, MIN_LIMIT, $scope)
            }),
            number("Max Power Limit", "max_power_limit", Watts, |asked| {
                watts(asked, MAX_LIMIT, $scope)
            }),
        ]
    };
}

pub const GPU: &[Row<()>] = &[group(
    "GPU Power Readings",
    "gpu_power_readings",
    readings!(GPU_SCOPE),
)];

pub const PARTS: &[Row<()>] = &[
    group(
        "GPU Memory Power Readings ",
        "gpu_memory_power_readings",
        &[
            number("Average Power Draw", "average_power_draw", Watts, |asked| {
                watts(asked, AVERAGE, MEMORY_SCOPE)
            }),
            number(
                "Instantaneous Power Draw",
                "instant_power_draw",
                Watts,
                |asked| watts(asked, INSTANT, MEMORY_SCOPE),
            ),
        ],
    ),
    group(
        "Module Power Readings",
        "module_power_readings",
        readings!(MODULE_SCOPE),
    ),
];

pub const PROFILES: &[Row<()>] = &[group(
    "Workload Power Profiles",
    "power_profiles",
    &[
        list(
            "Requested Profiles",
            "power_profile_requested_profiles",
            &List {
                items: |asked| {
                    let (requested, _) = asked.gpu.power_profiles()?;
                    Ok(profiles_of(&requested))
                },
                empty: Empty::WordInBoth("N/A"),
                row: line(UNNAMED, "power_profile_requested_profile", profile),
            },
        ),
        list(
            "Enforced Profiles",
            "power_profile_enforced_profiles",
            &List {
                items: |asked| {
                    let (_, enforced) = asked.gpu.power_profiles()?;
                    Ok(profiles_of(&enforced))
                },
                empty: Empty::WordInBoth("N/A"),
                row: line(UNNAMED, "power_profile_enforced_profile", profile),
            },
        ),
    ],
)];

/// The label of a line that has only its value.
const UNNAMED: &str = " ";

fn profile(asked: &Asked<u32>) -> Reading<Value> {
    let number = asked.item;
    let name = words::power_profile(number).unwrap_or("N/A");
    Ok(format!("{number}. {name}").into())
}
