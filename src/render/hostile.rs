//! Whatever a GPU or a process is called, what is printed keeps its form, and
//! nothing in it reaches the terminal but as text.
#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;
use unicode_width::UnicodeWidthStr;

use super::summary::{Ecc, GpuLines, MigLines, ProcessLine, Summary};
use super::{csv, summary, text, width, xml};
use crate::nvml::Missing;
use crate::render::document::{Content, Document, Look, Node, Subject};
use crate::value::{Unit, Value, printable};

/// What has broken programs before: markup, quotes, separators, terminal
/// sequences, text that changes direction, takes no place, or grows together.
const NASTY: &[&str] = &[
    "<b>",
    "&amp;",
    "]]>",
    "<!--",
    "\"",
    "'",
    ",",
    ", ",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\u{7f}",
    "\u{9b}31m",
    "\u{1b}[2J",
    "\u{1b}]52;c;AAAA\u{7}",
    "\u{202e}",
    "\u{2066}",
    "\u{200d}",
    "\u{feff}",
    "\u{fffe}",
    "\u{301}",
    "\u{fe0f}",
    "\u{e0041}",
    "用户",
    "لا",
    "👩\u{1f3fd}",
    "🇩🇪",
    "1\u{fe0f}\u{20e3}",
    "|",
    "...",
    "\\x1b",
    "=cmd()",
    " ",
];

fn name() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        select(NASTY).prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
        "[a-z/.]{0,12}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// What a terminal may get: no control characters but the ends of lines.
fn harmless(text: &str) -> bool {
    text.chars()
        .all(|c| c == '\n' || printable(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8())
}

fn gpu(name: &str) -> GpuLines {
    GpuLines {
        index: 0,
        name: Ok(name.to_owned()),
        persistence: Ok(true),
        bus_id: Ok(name.to_owned()),
        display_active: Ok(false),
        ecc: Ok(Ecc::Off { changes: false }),
        fan_speed: Ok(100),
        temperature: Ok(-40),
        performance_state: Ok(8),
        power_usage: Err(Missing::UNKNOWN),
        power_limit: Ok(u32::MAX),
        handle: Ok(()),
        memory: Err(Missing::GPU_IS_LOST),
        utilization: Ok(u32::MAX),
        compute_mode: Ok(9),
        mig: Ok((true, false)),
    }
}

fn mig_device() -> MigLines {
    MigLines {
        gpu: u32::MAX,
        gpu_instance: Ok(u32::MAX),
        compute_instance: Err(Missing::GPU_IS_LOST),
        index: Ok(u32::MAX),
        memory: Ok((u64::MAX, u64::MAX)),
        bar1: Err(Missing::NotSupported),
        multiprocessors: Ok(u32::MAX),
        errors: Ok(u64::MAX),
        engines: Ok([u32::MAX; 5]),
    }
}

fn process(name: &str) -> ProcessLine {
    ProcessLine {
        gpu: 0,
        gpu_instance: Some(u32::MAX),
        compute_instance: None,
        pid: Ok(u32::MAX),
        kind: "M+C+G",
        name: name.to_owned(),
        memory: Ok(u64::MAX),
    }
}

fn report(name: &str) -> Document {
    let leaf = |name: &str| Node::leaf("Name", "name", Ok(name.to_owned().into()), Unit::None);
    Document {
        subject: Subject::Devices,
        head: vec![leaf(name)],
        attached: Vec::new(),
        gpus: vec![(
            name.to_owned(),
            vec![Node {
                label: "Processes".into(),
                tag: "processes",
                id: None,
                content: Content::Group(vec![leaf(name), leaf("next")]),
                look: Look::Usual,
            }],
        )],
    }
}

/// The texts of all elements of this name, and whether the document is whole.
fn elements(document: &str, name: &str) -> (Vec<String>, bool) {
    let mut reader = Reader::from_str(document);
    let (mut texts, mut depth, mut inside) = (Vec::new(), 0, false);
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                depth += 1;
                inside = start.name().as_ref() == name;
                if inside {
                    texts.push(String::new());
                }
            }
            Ok(Event::End(_)) => {
                depth -= 1;
                inside = false;
            }
            Ok(Event::Text(text)) if inside => texts.last_mut().unwrap().push_str(&text),
            Ok(Event::GeneralRef(reference)) if inside => {
                let reference = format!("&{};", &*reference);
                texts
                    .last_mut()
                    .unwrap()
                    .push_str(&unescape(&reference).unwrap());
            }
            Ok(Event::Eof) => return (texts, depth == 0),
            Ok(_) => {}
            Err(_) => return (texts, false),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_takes_exactly_its_places(name in name(), room in 3usize..60) {
        let name = printable(&name);
        prop_assert_eq!(width::left(&name, room).width(), room);
        prop_assert_eq!(width::left_end(&name, room).width(), room);
        prop_assert_eq!(width::cell(&name, room).width(), room);
    }

    #[test]
    fn the_frame_stays_straight(name in name(), columns in 1usize..4) {
        let table = Summary {
            time: String::new(),
            tool_version: Ok(name.clone()),
            driver_version: Ok(name.clone()),
            cuda_version: Err(Missing::UNKNOWN),
            gpus: vec![gpu(&name), gpu("NVIDIA H200"), gpu(&name)],
            mig_devices: Some(vec![mig_device()]),
            processes: vec![process(&name), process("python"), process(&name), process(&name)],
        };
        let mut out = Vec::new();
        summary::summary(&table, columns, &mut out);
        let shown = String::from_utf8(out).unwrap();
        prop_assert!(harmless(&shown), "{:?}", shown);
        let lines = shown.lines().skip(1).filter(|line| !line.is_empty());
        let widths: BTreeSet<usize> = lines.clone().map(UnicodeWidthStr::width).collect();
        prop_assert_eq!(widths, BTreeSet::from([91 * columns]), "{}", shown);
        for line in lines {
            prop_assert!(line.starts_with(['|', '+']) && line.ends_with(['|', '+']));
        }
    }

    #[test]
    fn a_csv_reader_gets_back_what_was_shown(names in proptest::collection::vec(name(), 2..6)) {
        // As with nvidia-smi, a line that begins with a quote is read as a quoted field.
        prop_assume!(!names[0].starts_with('"') || names[0].contains(','));
        let cells = names.iter().map(|name| csv::cell(Ok(Value::Text(name.clone().into())), Unit::None, true));
        let mut out = Vec::new();
        csv::line(cells.clone().map(Into::into), &mut out);
        prop_assert!(harmless(&String::from_utf8(out.clone()).unwrap()));
        prop_assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 1);
        let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(&out[..]);
        let records: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let read: Vec<String> = records.iter().flatten().enumerate()
            .map(|(place, cell)| cell.strip_prefix(if place == 0 { "" } else { " " }).unwrap().to_owned())
            .collect();
        prop_assert_eq!(records.len(), 1);
        prop_assert_eq!(read, cells.collect::<Vec<_>>());
    }

    #[test]
    fn an_xml_reader_gets_back_what_was_shown(name in name()) {
        let shape = crate::sections::head::shape(Subject::Devices);
        let mut out = Vec::new();
        xml::xml(&report(&name), Some(&shape), &mut out);
        let document = String::from_utf8(out).unwrap();
        let forbidden = |c: char| matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
        prop_assert_eq!(document.find(forbidden), None);
        let shown = printable(&name).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
        let (texts, whole) = elements(&document, "name");
        prop_assert!(whole, "{}", document);
        prop_assert_eq!(texts, [shown.clone(), shown, "next".to_owned()]);
    }

    #[test]
    fn a_report_has_a_line_for_each_row(name in name()) {
        let shown = |name: &str| {
            let mut out = Vec::new();
            text::text(&report(name), &mut out);
            String::from_utf8(out).unwrap()
        };
        let given = shown(&name);
        prop_assert!(harmless(&given));
        prop_assert_eq!(given.lines().count(), shown("name").lines().count(), "{}", given);
        let rows = given.lines().filter(|line| line.trim_start().starts_with("Name ")).count();
        prop_assert_eq!(rows, 3);
    }
}
