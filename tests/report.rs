//! The report of `-q -x`: valid against its own definition on every kind of box, and well-formed
//! whatever things are called; and what it asks.
#![allow(clippy::expect_used, reason = "a test may stop where it stands")]

mod common;

use std::collections::{BTreeMap, HashMap};

use quick_xml::Reader;
use quick_xml::events::Event;

use common::{NVSMI, nvsmi, run, scratch, stdout};

/// How many of a child there may be, at least and at most.
type Times = (usize, usize);

/// What may be in an element.
#[derive(Clone, Debug, PartialEq)]
enum Model {
    /// Text, or these elements in any order.
    Mixed(Vec<String>),
    /// These elements in this order.
    Sequence(Vec<(String, Times)>),
}

/// The `<!ELEMENT name (model)>` lines of a definition.
fn models(definition: &str) -> HashMap<String, Model> {
    let lines = definition.lines();
    lines
        .filter_map(|line| line.strip_prefix("<!ELEMENT ")?.strip_suffix('>'))
        .map(|line| {
            let (name, model) = line.split_once(' ').expect("a name and a model");
            (name.to_owned(), model_of(model))
        })
        .collect()
}

fn model_of(text: &str) -> Model {
    let inner = text.trim_end_matches('*').trim_matches(['(', ')']);
    if let Some(names) = inner.strip_prefix("#PCDATA") {
        let names = names.split('|').map(str::trim);
        return Model::Mixed(
            names
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
        );
    }
    let children = inner
        .split(", ")
        .map(|child| match child.as_bytes().last() {
            Some(b'?') => (child[..child.len() - 1].to_owned(), (0, 1)),
            Some(b'*') => (child[..child.len() - 1].to_owned(), (0, usize::MAX)),
            _ => (child.to_owned(), (1, 1)),
        });
    Model::Sequence(children.collect())
}

/// Checks what an element has in it.
fn check(name: &str, children: &[String], text: bool, models: &HashMap<String, Model>) {
    match models.get(name) {
        None => panic!("{name} is not declared"),
        Some(Model::Mixed(names)) => {
            for child in children {
                assert!(names.contains(child), "{child} in {name}");
            }
        }
        Some(Model::Sequence(sequence)) => {
            assert!(!text, "text in {name}");
            let mut rest = children;
            for (child, (least, most)) in sequence {
                let count = rest.iter().take_while(|given| *given == child).count();
                assert!(
                    (*least..=*most).contains(&count),
                    "{count} {child} in {name}: {children:?}"
                );
                rest = &rest[count..];
            }
            assert_eq!(rest, &[] as &[String], "in {name}");
        }
    }
}

/// Reads a document to its end, and holds it to the definition inside it.
fn validate(document: &str) {
    let mut reader = Reader::from_str(document);
    let mut open: Vec<(String, Vec<String>, bool)> = Vec::new();
    let mut known = HashMap::new();
    let mut elements = 0;
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::DocType(definition) => known = models(&definition),
            Event::Start(start) => {
                let name = start.name().as_ref().to_owned();
                if let Some((_, children, _)) = open.last_mut() {
                    children.push(name.clone());
                }
                open.push((name, Vec::new(), false));
            }
            Event::Text(text) => {
                if let (Some((_, _, has_text)), false) = (open.last_mut(), text.trim().is_empty()) {
                    *has_text = true;
                }
            }
            Event::End(_) => {
                let (name, children, text) = open.pop().expect("a start");
                check(&name, &children, text, &known);
                elements += 1;
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty() && elements > 5, "{elements} elements");
}

#[test]
fn every_kind_of_box_has_a_valid_report() {
    for simulated in [
        "h200",
        "h200-busy",
        "a100x8",
        "desktop",
        "gb200-x4",
        "l40s-x4",
        "lost-midway",
        "mig",
        "old-driver",
        "sick",
        "t4",
        "v100",
    ] {
        let output = run(simulated, &["-q", "-x", "--dtd"]);
        assert!(output.status.success(), "{simulated}");
        validate(&stdout(&output));
    }
    validate(&stdout(&run("h200", &["-q", "-x", "-u", "--dtd"])));
    let lost = run("lost", &["-q", "-x", "--dtd"]);
    assert_eq!(lost.status.code(), Some(15));
    validate(&stdout(&lost));
    assert!(stdout(&lost).contains("<gpu id=\"3\">"));
}

#[test]
fn a_report_with_a_definition_inside_is_the_report_and_the_definition() {
    let with = stdout(&run("v100", &["-q", "-x", "--dtd"]));
    let without = stdout(&run("v100", &["-q", "-x"]));
    let definition = stdout(&run("none", &["--dtd"]));
    assert!(with.contains(&format!("<!DOCTYPE nvidia_smi_log [\n{definition}]>\n")));
    let body = |text: &str| {
        text.find("<gpu ")
            .map(|start| text[start..].to_owned())
            .expect("a GPU")
    };
    assert_eq!(body(&with), body(&without));
}

#[test]
fn no_name_breaks_the_report() {
    let simulated = scratch("odd-names.toml");
    let text = r#"
inherits = "h200"
[gpu.0]
name = "NVIDIA <H200> & co"
processes = [
    { pid = 7, type = "C", name = "a<b> & \"c\" 'd' ]]> \u0001\u001b[31m\r\n<!-- \uFFFE \u202e", memory = "1 MiB" },
    { pid = 8, type = "G", name = "", memory = "1 MiB" },
]
"#;
    std::fs::write(&simulated, text).expect("a file");
    let simulated = simulated.to_str().expect("UTF-8");
    let document = stdout(&run(simulated, &["-q", "-x", "--dtd"]));
    validate(&document);
    assert!(document.contains("<product_name>NVIDIA &lt;H200&gt; &amp; co</product_name>"));
    assert!(
        document.contains("a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos; ]]&gt; \\u{1}\\u{1b}[31m")
    );
    assert!(!document.contains('\u{1b}') && !document.contains('\u{fffe}'));
    let text = stdout(&run(simulated, &["-q", "-d", "PIDS"]));
    assert!(!text.contains('\u{1b}'));
    assert_eq!(
        text.lines().filter(|line| line.contains(" Name ")).count(),
        2
    );
}

/// The calls of one run, each with how often.
fn calls(simulated: &str, args: &[&str]) -> BTreeMap<String, usize> {
    let log = scratch(&format!(
        "report-{simulated}-{}",
        args.join("_").replace(',', "_")
    ));
    let output = nvsmi(simulated)
        .args(args)
        .env("NVSMI_SIMULATOR_CALLS", &log)
        .output()
        .expect("nvsmi runs");
    assert!(output.status.success(), "{NVSMI} {args:?}");
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(&log).expect("a log").lines() {
        let mut words = line.split(' ');
        if let (Some(function), Some(gpu)) = (words.next(), words.next()) {
            *counts.entry(format!("{function} {gpu}")).or_default() += 1;
        }
    }
    counts
}

#[test]
fn a_report_asks_nothing_twice() {
    // Questions with a parameter, and how many of it there are.
    let several = [
        ("nvmlDeviceGetMemoryErrorCounter", 32),
        ("nvmlDeviceGetTotalEccErrors", 4),
        ("nvmlDeviceGetTemperatureThreshold", 8),
        ("nvmlDeviceGetClockInfo", 4),
        ("nvmlDeviceGetMaxClockInfo", 4),
        ("nvmlDeviceGetApplicationsClock", 2),
        ("nvmlDeviceGetDefaultApplicationsClock", 2),
        ("nvmlDeviceGetInforomVersion", 3),
        ("nvmlDeviceGetRetiredPages_v2", 2),
        ("nvmlDeviceGetPcieThroughput", 2),
        ("nvmlDeviceGetSupportedGraphicsClocks", 8),
        ("nvmlDeviceGetSamples", 9),
        // A call for each section that has fields.
        ("nvmlDeviceGetFieldValues", 8),
        // nvml-wrapper asks too, to know how the driver numbers its fields.
        ("nvmlSystemGetDriverVersion", 2),
        ("nvmlSystemGetProcessName", usize::MAX),
    ];
    for simulated in ["h200", "v100", "desktop", "gb200-x4"] {
        for args in [
            &["-q"][..],
            &["-q", "-x"],
            &["-q", "-d", "POWER,UTILIZATION,CLOCK"],
        ] {
            for (call, count) in calls(simulated, args) {
                let function = call.split(' ').next().unwrap_or_default();
                let most = several.iter().find(|(name, _)| *name == function);
                let most = most.map_or(1, |(_, most)| *most);
                assert!(count <= most, "{simulated} {args:?}: {count} {call}");
            }
        }
    }
}

#[test]
fn a_section_asks_only_for_itself() {
    let calls = calls("h200", &["-q", "-d", "ACCOUNTING"]);
    let asked: Vec<&str> = calls
        .keys()
        .filter_map(|call| call.strip_suffix(" 0"))
        .filter(|function| !function.starts_with("nvmlDeviceGetHandle"))
        .collect();
    let expected = [
        "nvmlDeviceGetAccountingBufferSize",
        "nvmlDeviceGetAccountingMode",
        "nvmlDeviceGetAccountingPids",
        "nvmlDeviceGetPciInfo_v3",
        // Whether the machine hosts vGPUs, which the head tells.
        "nvmlDeviceGetVirtualizationMode",
    ];
    assert_eq!(asked, expected);
}
