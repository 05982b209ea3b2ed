//! A report as a tree: what is said, and by which names. Printers decide how it
//! looks and how a missing reading is spelt.

use std::borrow::Cow;

use crate::nvml::Reading;
use crate::value::{Unit, Value};

/// A whole report.
#[derive(Debug)]
pub struct Document {
    /// What the report is about.
    pub subject: Subject,
    /// About the moment and the driver.
    pub head: Vec<Node>,
    /// About what is attached.
    pub attached: Vec<Node>,
    /// Each GPU by its bus id, or by its index where that is not known.
    pub gpus: Vec<(String, Vec<Node>)>,
}

/// What a report is about, which is also which document type its XML has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// GPUs.
    Devices,
    /// S-class units.
    Units,
}

impl Subject {
    /// Where consumers of the XML expect the document type definition.
    pub fn dtd(self) -> &'static str {
        match self {
            Self::Devices => "nvsmi_device_v13.dtd",
            Self::Units => "nvsmi_unit_v13.dtd",
        }
    }
}

/// A line, or a heading with lines under it.
#[derive(Debug)]
pub struct Node {
    /// Its name in text; one without a name is not shown there, and lets its
    /// parent have its children.
    pub label: Cow<'static, str>,
    /// The name of its XML element; one without is not shown there, and lets its
    /// parent have its children.
    pub tag: &'static str,
    /// The `id` of its XML element.
    pub id: Option<u32>,
    /// What is under the name.
    pub content: Content,
    /// What is odd about it.
    pub look: Look,
}

impl Node {
    /// A line.
    pub fn leaf(
        label: impl Into<Cow<'static, str>>,
        tag: &'static str,
        value: Reading<Value>,
        unit: Unit,
    ) -> Self {
        Self {
            label: label.into(),
            tag,
            id: None,
            content: Content::Leaf(value, unit),
            look: Look::Usual,
        }
    }
}

/// What is under a node's name.
#[derive(Debug)]
pub enum Content {
    /// A reading and the unit of its numbers.
    Leaf(Reading<Value>, Unit),
    /// More nodes.
    Group(Vec<Node>),
}

/// How nvidia-smi sets some groups apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Not at all.
    Usual,
    /// In text, values stand in the column of the releases before R575.
    Narrow,
    /// In text, an empty line follows.
    Apart,
    /// In XML, children stand under the group's name instead of a step inwards.
    Flat,
    /// In XML, it stands a step further inwards.
    Inwards,
}

/// What a node can be, known before any GPU is asked: for the DTD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The name of its XML element; empty where its children take its place.
    pub tag: &'static str,
    /// How many there can be.
    pub times: Times,
    /// What can be in it.
    pub content: ShapeContent,
}

impl Shape {
    /// The same, or a word in the place of what is in it.
    pub fn or_word(self) -> Self {
        let content = match self.content {
            ShapeContent::Elements(elements) => ShapeContent::ElementsOrWord(elements),
            other => other,
        };
        Self { content, ..self }
    }
}

/// How many of an element there can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Exactly one.
    One,
    /// None or one.
    Optional,
    /// Any number.
    Any,
}

/// What can be in an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeContent {
    /// Text.
    Text,
    /// Elements in this order.
    Elements(Vec<Shape>),
    /// Elements, or a word in their place.
    ElementsOrWord(Vec<Shape>),
}
