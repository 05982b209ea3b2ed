//! Limits of power and temperature, and the accounts of processes.

use super::super::asked::{self, Asked, switch};
use super::super::now::{in_mig_mode, on, power_limit, power_range, watts};
use super::super::row::{First, Kind, ROW, Refusal, Row, fill};
use crate::nvml::{Missing, Reading};

use Kind::{Remark, Warning};

const NOT_IN_SCOPE: &str =
    "Changing power management limit is not supported in current scope for GPU: {gpu}.";
const OUT_OF_RANGE: &str = "Provided power limit {a} W is not a valid power limit which should be between {min} W and {max} W for GPU {gpu}";

pub const ROWS: &[Row] = &[
    Row {
        option: "power-limit",
        read: |watts, modify| asked::power_limit(watts.float(), modify.scope.unwrap_or(0)),
        range: |gpu, name, asked| {
            let [wanted, scope] = asked.numbers;
            let range = match power_limit(gpu, scope) {
                Err(Missing::NotSupported) => Err(Missing::NotSupported),
                _ => power_range(gpu, scope),
            };
            let (min, max) = match range {
                Ok(range) => range,
                Err(Missing::NotSupported) => {
                    return Err(Refusal {
                        kind: Remark,
                        ..Refusal::by_nvml(
                            Missing::NotSupported,
                            fill(NOT_IN_SCOPE, name, asked, &[]),
                        )
                    });
                }
                // NVML knows the range, and will say what is wrong.
                Err(_) => return Ok(()),
            };
            if (min..=max).contains(&wanted) {
                return Ok(());
            }
            let bounds = [("min", &*watts(min)), ("max", &watts(max))];
            Err(Refusal::of_value(fill(OUT_OF_RANGE, name, asked, &bounds)))
        },
        set: |gpu, asked| gpu.set_power_limit(asked.numbers[0], asked.numbers[1]),
        done: "Power limit for GPU {gpu} was set to {a} W from {from}.",
        failed: "Failed to set power management limit for GPU {gpu}: {why}",
        refusals: &[(
            Missing::NotSupported,
            Warning,
            "Changing power management limit is not supported for GPU: {gpu}.",
        )],
        volatile: |_| true,
        now: |gpu, asked| {
            let limit = power_limit(gpu, asked.numbers[1])?;
            Ok(format!("{} W", watts(limit)))
        },
        would: "Would change the power limit from {from} to {a} W for GPU {gpu}.",
        already: |gpu, asked| {
            power_limit(gpu, asked.numbers[1]).map(|limit| limit == asked.numbers[0])
        },
        would_not: "The power limit is already {from} for GPU {gpu}.",
        lookup: |gpu, asked| power_range(gpu, asked.numbers[1]).map(drop),
        ..ROW
    },
    Row {
        option: "gpu-target-temp",
        read: |celsius, _| Ok(Asked::number(celsius.bits())),
        first: Some(First {
            ask: |gpu| gpu.target_temperature(),
            unsupported: "GPU Target Temperature Threshold not supported for GPU {gpu}.",
            unreadable: "Unable to determine current Target Temperature for GPU {gpu}: {why}",
            already: "Requested GPU Target Temperature {a} is already set for GPU {gpu}",
        }),
        range: |gpu, name, asked| {
            let bound = |reading: Reading<u32>, sentence: &str| {
                reading.map_err(|why| {
                    Refusal::by_nvml(why, fill(sentence, name, asked, &[("why", why.words())]))
                })
            };
            let min = bound(
                gpu.lowest_target_temperature(),
                "Unable to get Min Target Temperature for GPU {gpu}: {why}",
            )?;
            let max = bound(
                gpu.highest_target_temperature(),
                "Unable to get Max Target Temperature for GPU {gpu}: {why}",
            )?;
            if (min..=max).contains(&asked.numbers[0]) {
                return Ok(());
            }
            let bounds = [("min", &*min.to_string()), ("max", &max.to_string())];
            let sentence = "Invalid input. GPU Target Temperature should be in range {min} - {max} for GPU {gpu}";
            Err(Refusal::of_value(fill(sentence, name, asked, &bounds)))
        },
        set: |gpu, asked| gpu.set_target_temperature(asked.numbers[0]),
        failed: "Unable to set requested Target Temperature for GPU {gpu}: {why}",
        now: |gpu, _| gpu.target_temperature().map(|celsius| celsius.to_string()),
        would: "Would change the target temperature from {from} to {a} °C for GPU {gpu}.",
        ..ROW
    },
    Row {
        option: "accounting-mode",
        read: |mode, _| switch(mode, "Invalid accounting mode"),
        first: Some(First {
            ask: |gpu| gpu.accounting().map(u32::from),
            unsupported: "Accounting features not supported for GPU {gpu}.",
            unreadable: "Unable to determine Accounting mode for GPU {gpu}: {why}",
            already: "Accounting Mode is already {a} for GPU {gpu}.",
        }),
        set: |gpu, asked| gpu.set_accounting(asked.numbers[0]),
        done: "{a} Accounting Mode for GPU {gpu}.",
        failed: "Unable to set Accounting Mode for GPU {gpu}: {why}",
        because: |gpu, asked| {
            if in_mig_mode(gpu) {
                vec![format!(
                    "Setting accounting mode to {} is not supported on a MIG-enabled device.",
                    asked.shown[0]
                )]
            } else {
                Vec::new()
            }
        },
        // What is off without a driver stays off.
        volatile: |asked| asked.numbers[0] != 0,
        now: |gpu, _| gpu.accounting().map(on),
        would: "Would change accounting mode from {from} to {a} for GPU {gpu}.",
        ..ROW
    },
    Row {
        option: "clear-accounted-apps",
        set: |gpu, _| gpu.clear_accounted(),
        done: "Cleared Accounted PIDs for GPU {gpu}.",
        failed: "Unable to clear Accounted PIDs for GPU {gpu}: {why}",
        now: |gpu, _| gpu.accounted().map(|processes| processes.len().to_string()),
        would: "Would forget the accounts of {from} processes for GPU {gpu}.",
        already: |gpu, _| gpu.accounted().map(|processes| processes.is_empty()),
        would_not: "There are no accounts of processes for GPU {gpu}.",
        ..ROW
    },
];
