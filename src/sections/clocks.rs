//! Clocks: now, as set, at most, and those that can be chosen.

use super::row::{Empty, List, Row, group, line, list, number};
use crate::facts::{Context, clocks};
use crate::nvml::Reading;
use crate::value::Unit::Megahertz;
use crate::value::Value;

pub const CLOCKS: &[Row<()>] = &[
    group(
        "Clocks",
        "clocks",
        &[
            number("Graphics", "graphics_clock", Megahertz, clocks::graphics),
            number("SM", "sm_clock", Megahertz, clocks::sm),
            number("Memory", "mem_clock", Megahertz, clocks::memory),
            number("Video", "video_clock", Megahertz, clocks::video),
        ],
    ),
    group(
        "Applications Clocks",
        "applications_clocks",
        &[
            number(
                "Graphics",
                "graphics_clock",
                Megahertz,
                clocks::application_graphics,
            ),
            number("Memory", "mem_clock", Megahertz, clocks::application_memory),
        ],
    ),
    group(
        "Default Applications Clocks",
        "default_applications_clocks",
        &[
            number(
                "Graphics",
                "graphics_clock",
                Megahertz,
                clocks::default_application_graphics,
            ),
            number(
                "Memory",
                "mem_clock",
                Megahertz,
                clocks::default_application_memory,
            ),
        ],
    ),
    group(
        "Deferred Clocks",
        "deferred_clocks",
        &[number(
            "Memory",
            "mem_clock",
            Megahertz,
            clocks::deferred_memory,
        )],
    ),
    group(
        "Max Clocks",
        "max_clocks",
        &[
            number(
                "Graphics",
                "graphics_clock",
                Megahertz,
                clocks::max_graphics,
            ),
            number("SM", "sm_clock", Megahertz, clocks::max_sm),
            number("Memory", "mem_clock", Megahertz, clocks::max_memory),
            number("Video", "video_clock", Megahertz, clocks::max_video),
        ],
    ),
    group(
        "Max Customer Boost Clocks",
        "max_customer_boost_clocks",
        &[number(
            "Graphics",
            "graphics_clock",
            Megahertz,
            clocks::max_customer_boost,
        )],
    ),
];

pub const POLICY: &[Row<()>] = &[group(
    "Clock Policy",
    "clock_policy",
    &[
        line("Auto Boost", "auto_boost", clocks::auto_boost),
        line(
            "Auto Boost Default",
            "auto_boost_default",
            clocks::default_auto_boost,
        ),
    ],
)];

pub const SUPPORTED: &[Row<()>] = &[list(
    "Supported Clocks",
    "supported_clocks",
    &List {
        items: |context: &Context<()>| context.gpu.supported_memory_clocks(),
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
    items: |context| context.gpu.supported_graphics_clocks(*context.item),
    empty: Empty::Heading,
    row: number("    Graphics", "supported_graphics_clock", Megahertz, mhz),
};

fn mhz(context: &Context<u32>) -> Reading<Value> {
    Ok((*context.item).into())
}
