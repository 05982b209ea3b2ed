//! A box with hundreds of processes whose names hold what names should not hold, some of which end while
//! they are asked: every view keeps its form, and no control character reaches the terminal.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::Event;
use unicode_width::UnicodeWidthStr;

use crate::common::{run, scratch};

/// How many processes there are, and which of their names cannot be asked for any more.
const PROCESSES: usize = 500;
const ENDED: std::ops::RangeInclusive<usize> = 101..=150;

/// What the names hold; bytes, for some are no UTF-8.
const NAMES: &[&[u8]] = &[
    b"/usr/bin/python3",
    b"",
    b" ",
    b"<b>&amp;</b>]]><!-- -- -->",
    b"\"quoted\", 'single', `back`",
    b"tab\tnewline\nreturn\rnul is the end",
    b"\x1b]52;c;cm0gLXJmIC8=\x07",
    b"\x1b[2J\x1b[H\x1b[31mred",
    b"\x9b31m a C1 byte",
    "\u{9b}31m a C1 character".as_bytes(),
    "bidi \u{202e}cod.exe\u{202c} \u{2066}x\u{2069}".as_bytes(),
    "nothing to see \u{200b}\u{200d}\u{feff}\u{e0041}".as_bytes(),
    "\u{2028}\u{2029}\u{85}".as_bytes(),
    "用户的训练任务/用户的训练任务/用户的训练任务".as_bytes(),
    "1\u{fe0f}\u{20e3}👩\u{1f3fd}\u{200d}🚀🇩🇪 e\u{301}\u{301}\u{301} لا".as_bytes(),
    b"\xff\xfe\x80 half a letter \xe7\x94",
    b"=HYPERLINK(1),@x,+1,-1",
    b"|======|+------+|",
    b"{\"json\": \"\\u0000\"} %s %n \\x1b",
];

/// A name of this many bytes, the longest that NVML hands out, which ends within a letter.
const LONGEST: usize = 4095;

fn name(pid: usize) -> Vec<u8> {
    match pid {
        24 => "用".repeat(LONGEST).into_bytes()[..LONGEST].to_vec(),
        25 => vec![b'x'; LONGEST],
        _ => NAMES[pid % NAMES.len()].to_vec(),
    }
}

/// A name as a box says it.
fn said(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) => toml_string(text),
        Err(_) => format!("{name:?}"),
    }
}

fn toml_string(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            'a'..='z' | ' ' | '/' => c.to_string(),
            c => format!("\\U{:08X}", u32::from(c)),
        })
        .collect();
    format!("\"{escaped}\"")
}

fn simulated(file: &str) -> String {
    let rows: String = (1..=PROCESSES)
        .map(|pid| {
            let name = said(&name(pid));
            format!("  {{ pid = {pid}, type = \"C\", memory = \"{pid} MiB\", name = {name} }},\n")
        })
        .collect();
    let (first, last) = (ENDED.start(), ENDED.end());
    let text = format!(
        "inherits = \"hostile\"\n[gpu.0]\nprocesses = [\n{rows}]\n\
         [[fault]]\nfunction = \"nvmlSystemGetProcessName\"\n\
         from = {first}\nuntil = {last}\ncode = \"NOT_FOUND\"\n"
    );
    let path = scratch(file);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

/// What a view prints, which is text with no control character but the ends of lines, and what sets
/// XML inwards.
fn shown(simulated: &str, args: &[&str]) -> String {
    let output = run(simulated, args);
    assert!(output.status.success(), "{args:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let indent = if args.contains(&"-x") { '\t' } else { '\n' };
    let control = text.find(|c: char| c.is_control() && c != '\n' && c != indent);
    assert_eq!(control, None, "{args:?}");
    let hidden = text.find([
        '\u{200b}',
        '\u{202e}',
        '\u{2028}',
        '\u{2066}',
        '\u{feff}',
        '\u{e0041}',
    ]);
    assert_eq!(hidden, None, "{args:?}");
    text
}

fn left() -> usize {
    PROCESSES - ENDED.count()
}

#[test]
fn the_frame_of_the_table_stays_straight() {
    let simulated = simulated("hostile-table.toml");
    for args in [&[][..], &["-col", "1"]] {
        let text = shown(&simulated, args);
        let lines: Vec<&str> = text
            .lines()
            .skip(1)
            .filter(|line| !line.is_empty())
            .collect();
        let widths: BTreeSet<usize> = lines.iter().map(|line| line.width()).collect();
        assert_eq!(widths, BTreeSet::from([91]));
        let processes = lines.iter().filter(|line| line.contains("   C   ")).count();
        assert_eq!(processes, left());
    }
}

#[test]
fn a_csv_reader_reads_every_process_back() {
    let simulated = simulated("hostile-csv.toml");
    let fields = "--query-compute-apps=pid,process_name,gpu_name,used_memory";
    let text = shown(&simulated, &[fields, "--format=csv,nounits"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let records: Vec<csv::StringRecord> = reader
        .records()
        .map(|record| record.expect("a record"))
        .collect();
    // As with nvidia-smi, one that has ended in the meantime is still a row.
    assert_eq!(records.len(), PROCESSES);
    let ended = records.iter().filter(|record| &record[1] == " [Not Found]");
    assert_eq!(ended.count(), PROCESSES - left());
    for record in records {
        assert_eq!(record.len(), 4, "{record:?}");
        assert_eq!(record[0], record[3][1..], "{record:?}");
        let pid: usize = record[0].parse().expect("a number");
        if let (Ok(name), 0) = (String::from_utf8(name(pid)), pid % NAMES.len()) {
            assert!([format!(" {name}").as_str(), " [Not Found]"].contains(&&record[1]));
        }
    }
}

#[test]
fn an_xml_reader_finds_every_process() {
    let simulated = simulated("hostile-xml.toml");
    let text = shown(&simulated, &["-q", "-x"]);
    let mut reader = Reader::from_str(&text);
    let mut names = 0;
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(start) if start.name().as_ref() == "process_name" => names += 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(names, left());
}

#[test]
fn every_view_of_text_has_a_line_for_each_process() {
    let simulated = simulated("hostile-text.toml");
    let report = shown(&simulated, &["-q", "-d", "PIDS"]);
    let names = report
        .lines()
        .filter(|line| line.starts_with("            Name  "));
    assert_eq!(names.count(), left());
    assert_eq!(
        report.lines().count(),
        shown(&simulated, &["-q", "-d", "COMPUTE"]).lines().count() + 6 * left()
    );
    let watch = shown(&simulated, &["pmon", "-c", "1", "-s", "m"]);
    let lines = watch.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.count(), left());
    assert_eq!(shown(&simulated, &["-L"]).lines().count(), 1);
}
