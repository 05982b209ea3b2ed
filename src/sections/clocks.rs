//! Clocks: now, as set, at most, and those that can be chosen.

use super::row::{Asked, Empty, List, Row, group, line, list, number};
use crate::nvml::{Clock, Missing, Reading};
use crate::value::Unit::Megahertz;
use crate::value::Value;

pub const CLOCKS: &[Row<()>] = &[
    group(
        "Clocks",
        "clocks",
        &[
            number("Graphics", "graphics_clock", Megahertz, |asked| {
                asked.gpu.clock(Clock::Graphics).map(Value::from)
            }),
            number("SM", "sm_clock", Megahertz, |asked| {
                asked.gpu.clock(Clock::SM).map(Value::from)
            }),
            number("Memory", "mem_clock", Megahertz, |asked| {
                asked.gpu.clock(Clock::Memory).map(Value::from)
            }),
            number("Video", "video_clock", Megahertz, |asked| {
                asked.gpu.clock(Clock::Video).map(Value::from)
            }),
        ],
    ),
    group(
        "Applications Clocks",
        "applications_clocks",
        &[
            number("Graphics", "graphics_clock", Megahertz, |asked| {
                asked
                    .gpu
                    .application_clock(Clock::Graphics)
                    .map(Value::from)
            }),
            number("Memory", "mem_clock", Megahertz, |asked| {
                asked.gpu.application_clock(Clock::Memory).map(Value::from)
            }),
        ],
    ),
    group(
        "Default Applications Clocks",
        "default_applications_clocks",
        &[
            number("Graphics", "graphics_clock", Megahertz, |asked| {
                asked
                    .gpu
                    .default_application_clock(Clock::Graphics)
                    .map(Value::from)
            }),
            number("Memory", "mem_clock", Megahertz, |asked| {
                asked
                    .gpu
                    .default_application_clock(Clock::Memory)
                    .map(Value::from)
            }),
        ],
    ),
    group(
        "Deferred Clocks",
        "deferred_clocks",
        // NVML has no question for it.
        &[number("Memory", "mem_clock", Megahertz, |_| {
            Err(Missing::NotSupported)
        })],
    ),
    group(
        "Max Clocks",
        "max_clocks",
        &[
            number("Graphics", "graphics_clock", Megahertz, |asked| {
                asked.gpu.max_clock(Clock::Graphics).map(Value::from)
            }),
            number("SM", "sm_clock", Megahertz, |asked| {
                asked.gpu.max_clock(Clock::SM).map(Value::from)
            }),
            number("Memory", "mem_clock", Megahertz, |asked| {
                asked.gpu.max_clock(Clock::Memory).map(Value::from)
            }),
            number("Video", "video_clock", Megahertz, |asked| {
                asked.gpu.max_clock(Clock::Video).map(Value::from)
            }),
        ],
    ),
    group(
        "Max Customer Boost Clocks",
        "max_customer_boost_clocks",
        &[number("Graphics", "graphics_clock", Megahertz, |asked| {
            asked.gpu.max_customer_boost().map(Value::from)
        })],
    ),
];

fn on(boosted: bool) -> Value {
    Value::word(if boosted { "On" } else { "Off" })
}

pub const POLICY: &[Row<()>] = &[group(
    "Clock Policy",
    "clock_policy",
    &[
        line("Auto Boost", "auto_boost", |asked| {
            asked.gpu.auto_boost().map(|(now, _)| on(now))
        }),
        line("Auto Boost Default", "auto_boost_default", |asked| {
            asked.gpu.auto_boost().map(|(_, default)| on(default))
        }),
    ],
)];

pub const SUPPORTED: &[Row<()>] = &[list(
    "Supported Clocks",
    "supported_clocks",
    &List {
        items: |asked: &Asked<()>| asked.gpu.supported_memory_clocks(),
        empty: Empty::Heading,
        row: MEMORY_CLOCK,
    },
)];

/// A memory clock, MHz.
const MEMORY_CLOCK: Row<u32> = group(
    "",
    "supported_mem_clock",
    &[
        number("Memory", "value", Megahertz, mhz),
        list("", "", &GRAPHICS_CLOCKS),
    ],
);

/// The graphics clocks that go with a memory clock.
const GRAPHICS_CLOCKS: List<u32, u32> = List {
    items: |asked| asked.gpu.supported_graphics_clocks(asked.item),
    empty: Empty::Heading,
    row: number("    Graphics", "supported_graphics_clock", Megahertz, mhz),
};

fn mhz(asked: &Asked<u32>) -> Reading<Value> {
    Ok(asked.item.into())
}
