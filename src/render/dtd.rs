//! The document type definition of the XML report, made from the tables that the
//! report is made from.

use std::collections::BTreeSet;

use crate::render::document::{Shape, ShapeContent, Subject, Times};

/// The elements that say which of several they are.
const WITH_ID: &[&str] = &["gpu", "hic"];

/// Appends the definition of a report of this shape.
pub fn dtd(subject: Subject, report: &Shape, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("<!-- {} -->\n", subject.dtd()).as_bytes());
    declare(report, &mut BTreeSet::new(), out);
}

/// Declares an element and those under it, each name once: rows of one name are
/// alike wherever they stand.
fn declare(shape: &Shape, known: &mut BTreeSet<&'static str>, out: &mut Vec<u8>) {
    let inner = flat(shape);
    if known.insert(shape.tag) {
        let names: Vec<String> = inner
            .iter()
            .map(|(child, times)| counted(child, *times))
            .collect();
        let model = match &shape.content {
            ShapeContent::Text => "(#PCDATA)".to_owned(),
            ShapeContent::Elements(_) => format!("({})", names.join(", ")),
            ShapeContent::ElementsOrWord(_) => {
                let names: Vec<&str> = inner.iter().map(|(child, _)| child.tag).collect();
                format!("(#PCDATA | {})*", names.join(" | "))
            }
        };
        let line = format!("<!ELEMENT {} {model}>\n", shape.tag);
        out.extend_from_slice(line.as_bytes());
        if WITH_ID.contains(&shape.tag) {
            let line = format!("<!ATTLIST {} id CDATA #REQUIRED>\n", shape.tag);
            out.extend_from_slice(line.as_bytes());
        }
    }
    for (child, _) in inner {
        declare(child, known, out);
    }
}

/// The elements in an element; what has no name of its own gives its place to
/// what is in it.
fn flat(shape: &Shape) -> Vec<(&Shape, Times)> {
    let (ShapeContent::Elements(children) | ShapeContent::ElementsOrWord(children)) =
        &shape.content
    else {
        return Vec::new();
    };
    children
        .iter()
        .flat_map(|child| match child.tag {
            "" => flat(child),
            _ => vec![(child, child.times)],
        })
        .collect()
}

fn counted(shape: &Shape, times: Times) -> String {
    let mark = match times {
        Times::One => "",
        Times::Optional => "?",
        Times::Any => "*",
    };
    format!("{}{mark}", shape.tag)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::sections::head::shape;

    /// Two rows of one name with different children would make one of them
    /// invalid.
    #[test]
    fn rows_of_one_name_are_alike() {
        fn collect(shape: &Shape, models: &mut BTreeMap<&'static str, String>) {
            let children: Vec<String> = flat(shape)
                .iter()
                .map(|(child, times)| counted(child, *times))
                .collect();
            let model = children.join(", ");
            if let Some(known) = models.insert(shape.tag, model.clone()) {
                assert_eq!(known, model, "{}", shape.tag);
            }
            for (child, _) in flat(shape) {
                collect(child, models);
            }
        }
        for subject in [Subject::Devices, Subject::Units] {
            let mut models = BTreeMap::new();
            collect(&shape(subject), &mut models);
            assert!(models.len() > 5);
        }
    }

    #[test]
    fn each_element_is_declared_once() {
        let mut out = Vec::new();
        dtd(Subject::Devices, &shape(Subject::Devices), &mut out);
        let text = String::from_utf8_lossy(&out).into_owned();
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("<!ELEMENT "))
            .filter_map(|line| line.split(' ').next())
            .collect();
        let distinct: BTreeSet<&&str> = names.iter().collect();
        assert_eq!(names.len(), distinct.len());
        assert!(text.contains("<!ELEMENT mig_devices (#PCDATA | mig_device)*>"));
        assert!(text.contains("gpu_temp_tlimit, gpu_temp_max_tlimit_threshold?,"));
    }
}
