//! What the report begins with: the moment, the driver, and what is attached.

use jiff::ZonedDateTime as Time;

use crate::nvml::{Driver, Gpu, Reading};
use crate::render::document::{Content, Look, Node, Shape, ShapeContent, Subject, Times};
use crate::value::{Unit, Value, date, supported};

/// What the head is asked about.
pub struct Moment<'a> {
    /// When the pass began.
    pub time: &'a Time,
    /// The driver.
    pub driver: &'a Driver,
}

/// A line of the head.
struct Line {
    label: &'static str,
    tag: &'static str,
    get: fn(&Moment) -> Reading<Value>,
}

impl Line {
    fn build(&self, moment: &Moment) -> Node {
        Node::leaf(self.label, self.tag, (self.get)(moment), Unit::None)
    }

    fn shape(&self) -> Shape {
        text(self.tag)
    }
}

const MOMENT: &[Line] = &[
    Line {
        label: "Timestamp",
        tag: "timestamp",
        get: |moment| Ok(date(moment.time).into()),
    },
    Line {
        label: "Driver Version",
        tag: "driver_version",
        get: |moment| moment.driver.version().map(Value::from),
    },
    Line {
        label: "CUDA Version",
        tag: "cuda_version",
        get: |moment| {
            let (major, minor) = moment.driver.cuda_version()?;
            Ok(format!("{major}.{minor}").into())
        },
    },
];

/// What the driver can do for vGPUs, on machines that host them.
const VGPU_CAPABILITY: (&str, &str) = ("vGPU Driver Capability", "vgpu_driver_capability");

const HETEROGENEOUS: Line = Line {
    label: "    Heterogenous Multi-vGPU",
    tag: "heterogenous_multivGPU",
    get: |moment| {
        let can = moment.driver.heterogeneous_vgpus()?;
        Ok(supported(can != 0))
    },
};

const ATTACHED_GPUS: Line = Line {
    label: "Attached GPUs",
    tag: "attached_gpus",
    get: |moment| moment.driver.gpu_count().map(Value::from),
};

const ATTACHED_UNITS: Line = Line {
    label: "Attached Units",
    tag: "attached_units",
    get: |moment| moment.driver.unit_count().map(Value::from),
};

const INTERFACE_CARDS: (&str, &str) = ("HIC Info", "hic_info");

/// The head of the report about these GPUs.
pub fn devices(moment: &Moment, gpus: &[Gpu]) -> (Vec<Node>, Vec<Node>) {
    let head = head(moment, gpus.first());
    (head, vec![ATTACHED_GPUS.build(moment)])
}

/// The head of the report about units; of GPUs, it only asks the first one
/// whether there may be vGPUs.
pub fn units(moment: &Moment) -> (Vec<Node>, Vec<Node>) {
    let has_gpus = moment.driver.gpu_count().is_ok_and(|count| count > 0);
    let first = has_gpus.then(|| moment.driver.gpu(0));
    let head = head(moment, first.as_ref());
    let (label, tag) = INTERFACE_CARDS;
    let card = |(id, firmware): (u32, String)| {
        let version = Node::leaf(
            "Firmware Version",
            "firmware",
            Ok(firmware.into()),
            Unit::None,
        );
        Node {
            label: format!("HIC {id}").into(),
            id: Some(id),
            ..group("", "hic", vec![version])
        }
    };
    let mut attached = match moment.driver.interface_cards() {
        // Text says that there are none, XML has an empty element.
        Ok(cards) if cards.is_empty() => vec![
            Node::leaf(label, "", Ok(Value::word("N/A")), Unit::None),
            group("", tag, Vec::new()),
        ],
        Ok(cards) => vec![Node {
            look: Look::Apart,
            ..group(label, tag, cards.into_iter().map(card).collect())
        }],
        Err(missing) => vec![Node::leaf(label, tag, Err(missing), Unit::None)],
    };
    attached.push(ATTACHED_UNITS.build(moment));
    (head, attached)
}

fn head(moment: &Moment, first: Option<&Gpu>) -> Vec<Node> {
    let mut head: Vec<Node> = MOMENT.iter().map(|line| line.build(moment)).collect();
    if first.is_some_and(Gpu::hosts_vgpus) {
        let (label, tag) = VGPU_CAPABILITY;
        head.push(Node {
            look: Look::Inwards,
            ..group(label, tag, vec![HETEROGENEOUS.build(moment)])
        });
    }
    head
}

fn group(label: &'static str, tag: &'static str, nodes: Vec<Node>) -> Node {
    Node {
        label: label.into(),
        tag,
        id: None,
        content: Content::Group(nodes),
        look: Look::Usual,
    }
}

/// What a report can be in XML.
pub fn shape(subject: Subject) -> Shape {
    let mut elements: Vec<Shape> = MOMENT.iter().map(Line::shape).collect();
    let (_, tag) = VGPU_CAPABILITY;
    elements.push(Shape {
        times: Times::Optional,
        ..nested(tag, vec![HETEROGENEOUS.shape()])
    });
    match subject {
        Subject::Devices => elements.extend([
            ATTACHED_GPUS.shape(),
            Shape {
                times: Times::Any,
                ..nested("gpu", super::gpu_shapes())
            },
        ]),
        Subject::Units => {
            let (_, tag) = INTERFACE_CARDS;
            let card = Shape {
                times: Times::Any,
                ..nested("hic", vec![text("firmware")])
            };
            let cards = nested(tag, vec![card]).or_word();
            elements.extend([cards, ATTACHED_UNITS.shape()]);
        }
    }
    nested("nvidia_smi_log", elements)
}

fn text(tag: &'static str) -> Shape {
    Shape {
        tag,
        times: Times::One,
        content: ShapeContent::Text,
    }
}

fn nested(tag: &'static str, elements: Vec<Shape>) -> Shape {
    Shape {
        tag,
        times: Times::One,
        content: ShapeContent::Elements(elements),
    }
}
