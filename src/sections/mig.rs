//! MIG: the mode, and the devices that the GPU is cut into.

use super::row::{Empty, List, Row, group, line, list, number};
use crate::facts::{Context, modes};
use crate::nvml::{Bar1, Memory, MigAttributes, MigDevice, Missing, Reading};
use crate::render::document::Look;
use crate::value::Unit::Mebibytes;
use crate::value::{Value, whole_mebibytes};

/// A MIG device and what it answered.
struct Facts {
    index: u32,
    gpu_instance: Reading<u32>,
    compute_instance: Reading<u32>,
    attributes: Reading<MigAttributes>,
    errors: Reading<u64>,
    memory: Reading<Memory>,
    bar1: Reading<Bar1>,
}

impl From<&MigDevice<'_>> for Facts {
    fn from(device: &MigDevice) -> Self {
        Self {
            index: device.index(),
            gpu_instance: device.gpu_instance(),
            compute_instance: device.compute_instance(),
            attributes: device.attributes(),
            errors: device.uncorrected_errors(),
            memory: device.memory(),
            bar1: device.bar1(),
        }
    }
}

pub const DEVICES: &[Row<()>] = &[
    group(
        "MIG Mode",
        "mig_mode",
        &[
            line("Current", "current_mig", modes::mig),
            line("Pending", "pending_mig", modes::pending_mig),
        ],
    ),
    list("", "mig_devices", &MIG_DEVICES).look(Look::Flat),
];

const MIG_DEVICES: List<(), Facts> = List {
    items: |context| {
        let devices = context.gpu.mig_devices()?;
        Ok(devices.iter().map(Facts::from).collect())
    },
    empty: Empty::XmlLine("None"),
    row: group(
        "MIG Device",
        "mig_device",
        &[
            line("Index", "index", |context| Ok(context.item.index.into())),
            line("GPU Instance ID", "gpu_instance_id", |context| {
                context.item.gpu_instance.map(Value::from)
            }),
            line("Compute Instance ID", "compute_instance_id", |context| {
                context.item.compute_instance.map(Value::from)
            }),
            group(
                "Device Attributes",
                "device_attributes",
                &[group("Shared", "shared", ATTRIBUTES)],
            ),
            group(
                "ECC Errors",
                "ecc_error_count",
                &[group(
                    "Volatile",
                    "volatile_count",
                    &[line(
                        "SRAM Uncorrectable",
                        "sram_uncorrectable",
                        |context| context.item.errors.map(Value::from),
                    )],
                )],
            ),
            group("FB Memory Usage", "fb_memory_usage", MEMORY),
            group("BAR1 Memory", "bar1_memory_usage", BAR1),
        ],
    ),
};

fn attribute(context: &Context<Facts>, pick: fn(MigAttributes) -> u32) -> Reading<Value> {
    context.item.attributes.map(|has| pick(has).into())
}

const ATTRIBUTES: &[Row<Facts>] = &[
    line("Multiprocessor count", "multiprocessor_count", |context| {
        attribute(context, |has| has.multiprocessorCount)
    }),
    line("Copy Engine count", "copy_engine_count", |context| {
        attribute(context, |has| has.sharedCopyEngineCount)
    }),
    line("Encoder count", "encoder_count", |context| {
        attribute(context, |has| has.sharedEncoderCount)
    }),
    line("Decoder count", "decoder_count", |context| {
        attribute(context, |has| has.sharedDecoderCount)
    }),
    line("OFA count", "ofa_count", |context| {
        attribute(context, |has| has.sharedOfaCount)
    }),
    line("JPG count", "jpg_count", |context| {
        attribute(context, |has| has.sharedJpegCount)
    }),
];

fn memory(context: &Context<Facts>, pick: fn(Memory) -> Option<u64>) -> Reading<Value> {
    pick(context.item.memory?)
        .map(Value::mebibytes)
        .ok_or(Missing::FUNCTION_NOT_FOUND)
}

const MEMORY: &[Row<Facts>] = &[
    number("Total", "total", Mebibytes, |context| {
        memory(context, |memory| Some(memory.total))
    }),
    number("Reserved", "reserved", Mebibytes, |context| {
        memory(context, |memory| memory.reserved)
    }),
    number("Used", "used", Mebibytes, |context| {
        memory(context, |memory| Some(memory.used))
    }),
    number("Free", "free", Mebibytes, |context| {
        memory(context, |memory| Some(memory.free))
    }),
];

const BAR1: &[Row<Facts>] = &[
    number("Total", "total", Mebibytes, |context| {
        context
            .item
            .bar1
            .map(|bar1| whole_mebibytes(bar1.bar1Total).into())
    }),
    number("Used", "used", Mebibytes, |context| {
        context
            .item
            .bar1
            .map(|bar1| whole_mebibytes(bar1.bar1Used).into())
    }),
    number("Free", "free", Mebibytes, |context| {
        context.item.bar1.map(|bar1| {
            let [total, used] = [bar1.bar1Total, bar1.bar1Used].map(whole_mebibytes);
            total.saturating_sub(used).into()
        })
    }),
];
