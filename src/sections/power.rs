//! Power of the GPU, of its memory and of its module; and power profiles.

use super::row::{Empty, List, Row, group, line, list, number};
use crate::facts::{Context, clocks, power, words};
use crate::nvml::{Reading, profiles_of};
use crate::value::Unit::Watts;
use crate::value::Value;

/// The lines about something that has a limit.
macro_rules! readings {
    ($average:path, $instant:path, $current:path, $requested:path, $default:path, $min:path, $max:path) => {
        &[
            // Kept for the programs that look for it here.
            line("", "power_state", clocks::performance_state),
            number("Average Power Draw", "average_power_draw", Watts, $average),
            number(
                "Instantaneous Power Draw",
                "instant_power_draw",
                Watts,
                $instant,
            ),
            number(
                "Current Power Limit",
                "current_power_limit",
                Watts,
                $current,
            ),
            number(
                "Requested Power Limit",
                "requested_power_limit",
                Watts,
                $requested,
            ),
            number(
                "Default Power Limit",
                "default_power_limit",
                Watts,
                $default,
            ),
            number("Min Power Limit", "min_power_limit", Watts, $min),
            number("Max Power Limit", "max_power_limit", Watts, $max),
        ]
    };
}

pub const GPU: &[Row<()>] = &[group(
    "GPU Power Readings",
    "gpu_power_readings",
    readings!(
        power::report_average,
        power::report_instant,
        power::report_current_limit,
        power::report_requested_limit,
        power::report_default_limit,
        power::report_min_limit,
        power::report_max_limit
    ),
)];

pub const PARTS: &[Row<()>] = &[
    group(
        "GPU Memory Power Readings ",
        "gpu_memory_power_readings",
        &[
            number(
                "Average Power Draw",
                "average_power_draw",
                Watts,
                power::memory_average,
            ),
            number(
                "Instantaneous Power Draw",
                "instant_power_draw",
                Watts,
                power::memory_instant,
            ),
        ],
    ),
    group(
        "Module Power Readings",
        "module_power_readings",
        readings!(
            power::module_average,
            power::module_instant,
            power::module_current_limit,
            power::module_requested_limit,
            power::module_default_limit,
            power::module_min_limit,
            power::module_max_limit
        ),
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
                items: |context| {
                    let (requested, _) = context.gpu.power_profiles()?;
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
                items: |context| {
                    let (_, enforced) = context.gpu.power_profiles()?;
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

fn profile(context: &Context<u32>) -> Reading<Value> {
    let number = *context.item;
    let name = words::power_profile(number).unwrap_or("N/A");
    Ok(format!("{number}. {name}").into())
}
