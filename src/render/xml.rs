//! The report for programs, as XML: well-formed whatever a process is called.

use std::io;

use quick_xml::Writer;
use quick_xml::escape::escape;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use super::dtd::dtd;
use super::spelt;
use crate::render::document::{Content, Document, Look, Node, Shape};
use crate::value::printable;

/// Appends a report, with its document type definition inside if its shape is given.
pub fn xml(document: &Document, definition: Option<&Shape>, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = Printer(Writer::new(out)).document(document, definition);
}

struct Printer<'a>(Writer<&'a mut Vec<u8>>);

impl Printer<'_> {
    fn document(&mut self, document: &Document, definition: Option<&Shape>) -> io::Result<()> {
        const ROOT: &str = "nvidia_smi_log";
        let declaration = BytesStart::from_content("xml version=\"1.0\" ", 3);
        self.event(Event::Decl(BytesDecl::from_start(declaration)))?;
        self.raw("\n")?;
        let kind = match definition {
            Some(report) => {
                let mut definition = Vec::new();
                dtd(document.subject, report, &mut definition);
                format!("{ROOT} [\n{}]", String::from_utf8_lossy(&definition))
            }
            None => format!("{ROOT} SYSTEM \"{}\"", document.subject.dtd()),
        };
        self.event(Event::DocType(BytesText::from_escaped(kind)))?;
        self.raw("\n")?;
        self.open(BytesStart::new(ROOT), 0)?;
        self.nodes(&document.head, 1)?;
        self.nodes(&document.attached, 1)?;
        for (bus_id, nodes) in &document.gpus {
            let id = allowed(&printable(bus_id));
            let start = BytesStart::new("gpu").with_attributes([("id", id.as_str())]);
            self.open(start, 1)?;
            self.nodes(nodes, 2)?;
            self.close("gpu", 1)?;
            self.raw("\n")?;
        }
        self.close(ROOT, 0)
    }

    fn nodes(&mut self, nodes: &[Node], depth: usize) -> io::Result<()> {
        nodes.iter().try_for_each(|node| self.node(node, depth))
    }

    fn node(&mut self, node: &Node, depth: usize) -> io::Result<()> {
        match &node.content {
            Content::Leaf(..) if node.tag.is_empty() && !node.label.is_empty() => Ok(()),
            Content::Leaf(value, unit) => {
                let text = allowed(&spelt(value, *unit));
                self.indent(depth)?;
                if node.tag.is_empty() {
                    self.text(&text)?;
                } else {
                    self.event(Event::Start(BytesStart::new(node.tag)))?;
                    self.text(&text)?;
                    self.event(Event::End(BytesEnd::new(node.tag)))?;
                }
                self.raw("\n")
            }
            Content::Group(children) if node.tag.is_empty() => self.nodes(children, depth),
            Content::Group(children) => {
                let step = match (node.look, children.as_slice()) {
                    (Look::Flat, [first, ..]) if !first.tag.is_empty() => 0,
                    _ => 1,
                };
                let depth = match node.look {
                    Look::Inwards => depth + 1,
                    _ => depth,
                };
                let mut start = BytesStart::new(node.tag);
                if let Some(id) = node.id {
                    start.push_attribute(("id", id.to_string().as_str()));
                }
                self.open(start, depth)?;
                self.nodes(children, depth + step)?;
                self.close(node.tag, depth)
            }
        }
    }

    fn open(&mut self, start: BytesStart, depth: usize) -> io::Result<()> {
        self.indent(depth)?;
        self.event(Event::Start(start))?;
        self.raw("\n")
    }

    fn close(&mut self, tag: &str, depth: usize) -> io::Result<()> {
        self.indent(depth)?;
        self.event(Event::End(BytesEnd::new(tag)))?;
        self.raw("\n")
    }

    fn indent(&mut self, depth: usize) -> io::Result<()> {
        self.raw(&"\t".repeat(depth))
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.raw(&escape(text))
    }

    fn raw(&mut self, text: &str) -> io::Result<()> {
        self.event(Event::Text(BytesText::from_escaped(text)))
    }

    fn event(&mut self, event: Event) -> io::Result<()> {
        self.0.write_event(event)
    }
}

/// XML allows two characters less than text that has no control characters.
fn allowed(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
