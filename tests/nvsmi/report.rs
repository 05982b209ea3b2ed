//! The report of `-q -x`: valid against its own definition on every kind of box, and well-formed
//! whatever things are called; and what it asks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::common::calls::{LOG, logged, watched};
use crate::common::trials::{Share, all};
use crate::common::{NVSMI, has_program, nvsmi, run, scratch, stdout};

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

/// Every box there is.
fn boxes() -> Vec<&'static str> {
    let boxes = simulator::scenario::list().expect("the boxes");
    boxes.into_iter().map(|(name, _)| name).collect()
}

/// What a box reports, where it has a driver to ask.
fn report(simulated: &str, args: &[&str]) -> Option<String> {
    let output = run(simulated, args);
    let document = stdout(&output);
    let begun = document.starts_with("<?xml");
    assert!(begun || !output.status.success(), "{simulated} {args:?}");
    begun.then_some(document)
}

#[test]
fn every_box_has_a_valid_report() {
    let boxes = boxes();
    let reports: Vec<String> = boxes
        .iter()
        .filter_map(|simulated| report(simulated, &["-q", "-x", "--dtd"]))
        .collect();
    reports.iter().for_each(|document| validate(document));
    assert!(reports.len() > 25, "{} of {boxes:?}", reports.len());
    validate(&stdout(&run("h200", &["-q", "-x", "-u", "--dtd"])));
    let lost = run("lost", &["-q", "-x", "--dtd"]);
    assert_eq!(lost.status.code(), Some(15));
    assert!(stdout(&lost).contains("<gpu id=\"3\">"));
}

/// The same, by another's validator, and with the definition in a file of its own.
#[test]
fn xmllint_finds_every_report_valid() {
    if !has_program("xmllint") {
        return;
    }
    let folder = scratch("xmllint");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    write("nvsmi_device_v13.dtd", &stdout(&run("none", &["--dtd"])));
    write(
        "nvsmi_unit_v13.dtd",
        &stdout(&run("none", &["--dtd", "-u"])),
    );
    let mut files = Vec::new();
    for simulated in boxes() {
        for args in [
            &["-q", "-x"][..],
            &["-q", "-x", "--dtd"],
            &["-q", "-x", "-u"],
            &["-q", "-x", "-u", "--dtd"],
        ] {
            if let Some(document) = report(simulated, args) {
                files.push(write(
                    &format!("{simulated}{}.xml", args.concat()),
                    &document,
                ));
            }
        }
    }
    assert!(files.len() > 100, "{} reports", files.len());
    let lint = std::process::Command::new("xmllint")
        .args(["--noout", "--valid"])
        .args(&files)
        .output();
    let found = lint.expect("xmllint runs");
    assert!(
        found.status.success(),
        "{}",
        String::from_utf8_lossy(&found.stderr)
    );
}

/// A box file of this test's own.
fn box_file(name: &str, text: &str) -> String {
    let simulated = scratch(&format!("{name}.toml"));
    std::fs::write(&simulated, text).expect("a file");
    simulated.to_str().expect("UTF-8").to_owned()
}

/// The same box, on which a function fails.
fn failing(text: &str, function: &str, code: u32, test: &str) -> String {
    let name = format!("{test}-{function}-{code}");
    box_file(&name, &format!("{text}{}", fault(function, code, "")))
}

fn fault(function: &str, code: u32, rest: &str) -> String {
    format!("[[fault]]\nfunction = {function:?}\ncode = \"{code}\"\n{rest}\n")
}

/// What few boards have: licences, a host of vGPUs.
const LICENSED: &str = r#"
virtualization.mode = "host-vgpu"
vgpu.licensable = true
vgpu.licenses = [
    { product = "NVIDIA Virtual PC", enabled = false, licensed = true, expiry = 4 },
    { product = "NVIDIA <vGPU> & more", enabled = true, licensed = true, expiry = [2027, 1, 31, 23, 59, 59] },
]
"#;

fn licensed() -> String {
    format!("inherits = \"h200-busy\"\n[gpu.0]\n{LICENSED}")
}

/// Codes of each kind that a view may treat in its own way, and one that NVML does not have.
const CODES: [u32; 11] = [2, 3, 4, 6, 7, 13, 15, 21, 27, 999, 12345];

/// As many GPUs as there are codes, on each of which a function fails in another way.
fn failing_in_every_way(function: &str, test: &str) -> String {
    let more = (8..CODES.len()).map(|gpu| {
        format!("[gpu.{gpu}]\nuuid = \"GPU-{gpu}\"\npci.bus_id = \"00000000:{gpu:02X}:00.0\"\n")
    });
    let gpus: String = more.collect();
    let faults = CODES.iter().enumerate();
    let faults: String = faults
        .map(|(gpu, code)| fault(function, *code, &format!("gpu = {gpu}")))
        .collect();
    let text = format!("inherits = \"h100x8\"\n[every]\n{LICENSED}{gpus}{faults}");
    box_file(&format!("every-way-{test}-{function}"), &text)
}

#[test]
fn a_report_is_valid_when_something_fails() {
    valid_reports(Share::Sample);
}

#[test]
#[ignore = "20 seconds"]
fn a_report_is_valid_whatever_fails() {
    valid_reports(Share::Whole);
}

/// A sample has a part of the functions that each GPU is asked fail, each in every way.
fn valid_reports(share: Share) {
    let asked = |simulated: &str| -> BTreeSet<String> {
        let calls = calls(simulated, &["-q", "-x"]);
        let names = calls.keys().filter_map(|call| call.split(' ').next());
        names.map(str::to_owned).collect()
    };
    // What all GPUs are asked, and what is asked of no GPU or of a few boards alone.
    let common = asked(&failing_in_every_way("nothing", share.name()));
    let mut rare = Vec::new();
    for name in ["h200-busy", "mig", "v100"] {
        let functions = asked(name).into_iter();
        let only = functions
            .filter(|function| !common.contains(function) || function.starts_with("nvmlSystem"));
        for function in only {
            rare.extend(CODES.map(|code| (function.clone(), name, code)));
        }
    }
    assert!(common.len() > 90 && rare.len() > 110, "{common:?} {rare:?}");
    let common = share.one_in(5, common.into_iter().collect());
    let rare = share.of(rare, |(function, _, code)| {
        vec![function.clone(), code.to_string()]
    });
    let of_rare = rare.into_iter().map(|(function, name, code)| {
        let text = format!("inherits = {name:?}\n");
        failing(&text, &function, code, &format!("{}-{name}", share.name()))
    });
    let of_common = common
        .iter()
        .map(|function| failing_in_every_way(function, share.name()));
    let simulated: Vec<String> = of_common.chain(of_rare).collect();
    all(&simulated, |simulated| {
        if let Some(document) = report(simulated, &["-q", "-x", "--dtd"]) {
            validate(&document);
        }
        let _ = std::fs::remove_file(simulated);
        Vec::<()>::new()
    });
}

/// Whatever cannot be read says so: no line holds what it did not hold before, except words.
#[test]
fn a_failed_reading_is_never_a_number() {
    let lines = |simulated: &str| -> Vec<String> {
        let text = stdout(&run(simulated, &["-q"]));
        text.lines()
            .map(|line| line.trim_end().to_owned())
            .collect()
    };
    let base = box_file("number", &licensed());
    let healthy = lines(&base);
    let functions = calls(&base, &["-q"]);
    let functions: Vec<&str> = functions
        .keys()
        .filter_map(|call| call.strip_suffix(" 0"))
        .filter(|function| function.starts_with("nvmlDeviceGet") && !function.contains("Handle"))
        .collect();
    assert!(functions.len() > 90, "{} functions", functions.len());
    for function in functions {
        let simulated = failing(&licensed(), function, 999, "number");
        for line in lines(&simulated) {
            let value = line.split_once(": ").map_or("", |(_, value)| value);
            let is_word = ["Unknown Error", "N/A", "None"].contains(&value);
            let is_same = healthy.contains(&line) || line.starts_with("Timestamp");
            assert!(
                is_word || is_same || line == "GPU 0",
                "{function}: {line:?}"
            );
        }
        let _ = std::fs::remove_file(&simulated);
    }
}

#[test]
fn units_come_after_the_interface_cards() {
    let lines = |args: &[&str]| -> Vec<String> {
        let text = stdout(&run("rich", args));
        let lines = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines
            .skip_while(|line| !line.contains("13.0"))
            .skip(1)
            .collect()
    };
    let text = [
        "vGPU Driver Capability",
        "Heterogenous Multi-vGPU : Supported",
        "",
        "HIC Info",
        "HIC 0",
        "Firmware Version : 1.04",
        "HIC 1",
        "Firmware Version : 2.11",
        "",
        "Attached Units : 0",
        "",
    ];
    assert_eq!(lines(&["-q", "-u"]), text);
    let xml = lines(&["-q", "-u", "-x"]).concat();
    assert!(
        xml.contains("<hic_info><hic id=\"0\"><firmware>1.04</firmware></hic><hic id=\"1\">"),
        "{xml}"
    );
    for code in CODES {
        let simulated = failing(
            "inherits = \"rich\"\n",
            "nvmlSystemGetHicVersion",
            code,
            "units",
        );
        validate(&stdout(&run(&simulated, &["-q", "-u", "-x", "--dtd"])));
    }
}

#[test]
fn a_licence_says_when_it_ends_and_licences_that_cannot_be_read_say_why() {
    let shown = |simulated: &str| -> Vec<String> {
        let text = stdout(&run(simulated, &["-q"]));
        let lines = text.lines().map(str::trim);
        let lines = lines.skip_while(|line| !line.starts_with("vGPU Heterogeneous Mode"));
        lines
            .skip(1)
            .take_while(|line| !line.starts_with("GPU Recovery"))
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    let expected = [
        "vGPU Software Licensed Product",
        "Product Name : NVIDIA <vGPU> & more",
        "License Status : Licensed (Expiry: 2027-1-31 23:59:59 GMT)",
    ];
    assert_eq!(shown(&box_file("licensed", &licensed())), expected);
    for (number, words) in [
        "Not available",
        "ERR!",
        "0-0-0 0:0:0 GMT",
        "N/A",
        "Permanent",
    ]
    .iter()
    .enumerate()
    {
        let row =
            format!("{{ product = \"P\", enabled = true, licensed = true, expiry = {number} }}");
        let text = format!(
            "inherits = \"h200-busy\"\n[gpu.0]\nvirtualization.mode = \"host-vgpu\"\n\
             vgpu.licensable = true\nvgpu.licenses = [{row}]\n"
        );
        let status = format!("License Status : Licensed (Expiry: {words})");
        assert_eq!(shown(&box_file("expiry", &text))[2], status);
    }
    for (code, words) in [
        (2, Some("Invalid Argument")),
        (4, Some("Insufficient Permissions")),
        (6, Some("Not Found")),
        (10, Some("Timeout")),
        (999, Some("Unknown Error")),
        (12345, Some("Unknown Error")),
        // There are none, as far as this board and this library know.
        (3, None),
        (13, None),
        // The GPU is gone, as all its other lines say.
        (15, None),
        (16, None),
    ] {
        let function = "nvmlDeviceGetGridLicensableFeatures";
        let simulated = failing(&licensed(), function, code, "licensed");
        let line = |words| format!("vGPU Software Licensed Product : {words}");
        let expected: Vec<String> = words.map(line).into_iter().collect();
        assert_eq!(shown(&simulated), expected, "{code}");
        let tag = "vgpu_software_licensed_product";
        let xml = report(&simulated, &["-q", "-x"]).expect("a report");
        let element = |words| format!("<{tag}>{words}</{tag}>");
        let told = words.map_or(!xml.contains(tag), |words| xml.contains(&element(words)));
        assert!(told, "{code}: {xml}");
    }
}

/// The lines of a view of a box, blanks squeezed.
fn squeezed(name: &str, text: &str, args: &[&str]) -> Vec<String> {
    let text = stdout(&run(&box_file(name, text), args));
    text.lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// Either of two questions tells it; one that this board does not have hides no failure of the other.
#[test]
fn a_target_temperature_that_cannot_be_read_says_why() {
    for (faults, target) in [
        (&["until = 1\ncode = \"UNKNOWN\""][..], "Unknown Error"),
        (&["until = 1\ncode = \"GPU_IS_LOST\""], "GPU is lost"),
        (
            &[
                "until = 1\ncode = \"NOT_SUPPORTED\"",
                "from = 2\ncode = \"TIMEOUT\"",
            ],
            "Timeout",
        ),
        (&["code = \"NOT_SUPPORTED\""], "N/A"),
    ] {
        let fault = |rest: &&str| {
            format!("[[fault]]\nfunction = \"nvmlDeviceGetTemperatureThreshold\"\n{rest}\n")
        };
        let faults: String = faults.iter().map(fault).collect();
        let text = format!("inherits = \"h200\"\n{faults}");
        let lines = squeezed("target", &text, &["-q", "-d", "TEMPERATURE"]);
        let line = format!("GPU Target Temperature : {target}");
        assert!(lines.contains(&line), "{line}: {lines:#?}");
    }
}

#[test]
fn each_driver_model_is_read() {
    let text = "inherits = \"h200\"\n[gpu.0]\ndriver_model = { current = 1, pending = 2 }\n";
    let lines = squeezed("models", text, &["-q"]);
    for line in ["Current : TCC", "Pending : MCDM"] {
        assert!(lines.iter().any(|given| given == line), "{line}");
    }
}

#[test]
fn a_total_is_of_the_locations_that_there_are_and_of_none_that_cannot_be_read() {
    let totals = |counts: &str| -> Vec<String> {
        let text = format!("inherits = \"v100\"\n[gpu.0.ecc]\ncorrected.volatile = {counts}\n");
        let lines = squeezed("totals", &text, &["-q", "-d", "ECC"]);
        let totals = lines.into_iter().filter(|line| line.starts_with("Total"));
        totals.take(1).collect()
    };
    let counts = |texture: &str| {
        format!(
            "{{ total = 99, dram = 1, register_file = 2, l1_cache = 4, l2_cache = 8, \
             texture_memory = {texture}, texture_shm = 32, cbu = 64 }}"
        )
    };
    for (texture, total) in [
        ("16", "Total : 127"),
        ("\"error:NOT_SUPPORTED\"", "Total : 111"),
        ("\"error:UNKNOWN\"", "Total : Unknown Error"),
        ("\"error:GPU_IS_LOST\"", "Total : GPU is lost"),
    ] {
        assert_eq!(totals(&counts(texture)), [total]);
    }
    assert_eq!(totals("\"error:NOT_SUPPORTED\""), ["Total : N/A"]);
}

/// The box `ecc-off` has counts on every GPU; ECC is on only on GPU 3.
#[test]
fn a_report_counts_no_errors_unless_ecc_is_enabled() {
    const REPAIRS: [&str; 3] = ["Channel Repair", "TPC Repair", "Unrepairable"];
    let counts = |gpu: &str, args: &[&str]| -> Vec<String> {
        let text = stdout(&run("ecc-off", &[args, &["-i", gpu]].concat()));
        let mut lines = text.lines().skip_while(|line| line.trim() != "ECC Errors");
        lines.next();
        lines
            .take_while(|line| line.starts_with("     "))
            .filter(|line| !REPAIRS.iter().any(|known| line.trim().starts_with(known)))
            .filter_map(|line| Some(line.split_once(" : ")?.1.to_owned()))
            .collect()
    };
    for args in [&["-q"][..], &["-q", "-d", "ECC"]] {
        for (gpu, lines) in [(0, 16), (1, 16), (2, 16), (4, 8), (5, 8), (6, 32), (7, 32)] {
            let expected = vec!["N/A"; lines];
            assert_eq!(
                counts(&gpu.to_string(), args),
                expected,
                "GPU {gpu} {args:?}"
            );
        }
        let on = "22 5 6 11 55 44 7 8 33 77 Yes 1 2 3 4 5";
        assert_eq!(counts("3", args).join(" "), on);
    }
    for gpu in ["0", "4", "6", "8"] {
        let xml = report("ecc-off", &["-q", "-x", "-i", gpu]).expect("a report");
        let (_, errors) = xml.split_once("<ecc_errors>").expect("errors");
        let (errors, _) = errors.split_once("</ecc_errors>").expect("their end");
        let mut texts = errors.split('>');
        let counted = texts.any(|text| text.starts_with(|c: char| c.is_ascii_digit()));
        assert!(!counted, "{errors}");
    }
    let fields = "ecc.errors.corrected.volatile.dram,ecc.errors.uncorrected.aggregate.total";
    let asked = [&format!("--query-gpu={fields}"), "--format=csv,noheader"];
    let shown = stdout(&run("ecc-off", &asked));
    let (new, old) = ("11, 155\n", "202, 501\n");
    let expected = [new, new, new, new, new, new, old, old, new, new].concat();
    assert_eq!(shown, expected);
}

#[test]
fn power_smoothing_has_shares_and_rates_of_whole_and_of_broken_numbers() {
    let text = "inherits = \"rich\"\n[gpu.0.field]\n256 = 56.789\n258 = 99.123456789012\n\
                260 = 12\n261 = 1500.5\n262 = 1500\n";
    let lines = squeezed(
        "smoothing",
        text,
        &["-q", "-i", "0", "-d", "POWER_SMOOTHING"],
    );
    for line in [
        "Max % TMP Floor : 56.79%",
        "HW Lifetime % Remaining : 99.123456789012%",
        "% TMP Floor : 12.00%",
        "Ramp Up Rate : 1.50 W/s",
        "Ramp Down Rate : 1.50 W/s",
    ] {
        assert!(
            lines.iter().any(|given| given == line),
            "{line}: {lines:#?}"
        );
    }
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
    let name = format!("report-{simulated}{}", args.concat());
    let (output, calls) = watched(nvsmi(simulated).args(args), &name);
    assert!(output.status.success(), "{NVSMI} {args:?}");
    let mut counts = BTreeMap::new();
    for call in calls {
        *counts
            .entry(format!("{} {}", call.function, call.gpu))
            .or_default() += 1;
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

/// A question put while NVML watches the PCIe link would be seen there.
#[test]
fn nothing_is_asked_while_the_traffic_is_measured() {
    const SLOW: &str = "nvmlDeviceGetPcieThroughput";
    let (output, calls) = watched(nvsmi("h200-timed").arg("-q"), "report-order");
    assert!(output.status.success());
    let slow = |&at: &usize| calls[at].function == SLOW;
    let places: Vec<usize> = (0..calls.len()).filter(slow).collect();
    let [first, second] = places[..] else {
        panic!("{places:?}");
    };
    assert_eq!(second, first + 1, "{calls:?}");
}

/// All GPUs are waited for together: none keeps another from answering.
#[test]
fn the_gpus_are_asked_side_by_side() {
    const HANDLE: &str = "nvmlDeviceGetHandleByIndex_v2";
    let query = "--query-gpu=name,power.draw,temperature.gpu";
    let apps = "--query-compute-apps=pid";
    for args in [
        &[][..],
        &["-L"],
        &["-q"],
        &["-q", "-x"],
        &[query],
        &[apps],
        &["topo", "-m"],
        &["nvlink", "-s"],
        &["dmon"],
        &["pmon"],
    ] {
        for gpu in [0, 1] {
            let fault = format!("function = '{HANDLE}', gpu = {gpu}, hang = true");
            assert_eq!(answers(args, &fault, HANDLE, 7), 7, "{args:?} {gpu}");
        }
    }
    // Where readings take long too, all have answered one before one has answered the next.
    let power = "nvmlDeviceGetPowerUsage";
    for (args, first) in [
        (&[][..], "nvmlDeviceGetName"),
        (&["-q"], "nvmlDeviceGetName"),
        (&["-q", "-x"], "nvmlDeviceGetName"),
        (&[query], "nvmlDeviceGetName"),
        (&["dmon"], power),
    ] {
        let before = [
            "nvmlDeviceGetHandle*",
            "nvmlDeviceGetCount",
            "nvmlDeviceGetMigMode",
            "nvmlDeviceGetPciInfo",
            "nvmlDeviceGetVirtualizationMode",
            first,
        ];
        let fault = format!("function = 'nvmlDevice*', except = {before:?}, hang = true");
        assert_eq!(answers(args, &fault, first, 8), 8, "{args:?}");
    }
}

/// How many GPUs answer a question in a run that hangs, up to as many as are expected.
fn answers(args: &[&str], fault: &str, question: &str, expected: usize) -> usize {
    let log = scratch("report-side-by-side");
    let mut child = nvsmi("h100x8")
        .args(args)
        .env("NVSMI_SIMULATOR_FAULT", fault)
        .env(LOG, &log)
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("nvsmi runs");
    let began = std::time::Instant::now();
    let mut answers = 0;
    while answers < expected && began.elapsed() < std::time::Duration::from_secs(10) {
        std::thread::sleep(std::time::Duration::from_millis(2));
        let calls = logged(&log).into_iter();
        answers = calls.filter(|call| call.function == question).count();
    }
    child.kill().expect("it hangs");
    child.wait().expect("its end");
    answers
}
