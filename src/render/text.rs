//! The report for people: names to the left, values in one column.

use super::spelt;
use crate::render::document::{Content, Document, Look, Node};
use crate::value::printable;

/// Where values begin, a colon and a blank before them.
const COLUMN: usize = 55;
/// The same in [`Look::Narrow`] groups.
const NARROW: usize = 42;
/// How far each level stands inwards.
const STEP: usize = 4;

/// Appends a report.
pub fn text(document: &Document, out: &mut Vec<u8>) {
    line(out, "");
    line(out, "==============NVSMI LOG==============");
    line(out, "");
    nodes(&document.head, 0, COLUMN, out);
    line(out, "");
    nodes(&document.attached, 0, COLUMN, out);
    for (bus_id, rows) in &document.gpus {
        line(out, &format!("GPU {}", printable(bus_id)));
        nodes(rows, STEP, COLUMN, out);
        line(out, "");
    }
    if document.gpus.is_empty() {
        line(out, "");
    }
}

fn nodes(nodes: &[Node], indent: usize, column: usize, out: &mut Vec<u8>) {
    nodes.iter().for_each(|one| node(one, indent, column, out));
}

fn node(node: &Node, indent: usize, column: usize, out: &mut Vec<u8>) {
    let column = match node.look {
        Look::Narrow => NARROW,
        _ => column,
    };
    let label = format!("{:indent$}{}", "", node.label);
    match &node.content {
        Content::Leaf(..) if node.label.is_empty() => {}
        Content::Leaf(value, unit) => {
            // A word in the place of a group stands where all values do.
            let column = match node.look {
                Look::Narrow => COLUMN,
                _ => column,
            };
            line(out, &format!("{label:<column$}: {}", spelt(value, *unit)));
        }
        Content::Group(children) if node.label.is_empty() => nodes(children, indent, column, out),
        Content::Group(children) => {
            line(out, &label);
            nodes(children, indent + STEP, column, out);
            if node.look == Look::Apart {
                line(out, "");
            }
        }
    }
}

fn line(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
}
