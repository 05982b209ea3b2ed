//! nvsmi against what the real nvidia-smi answered, on simulated boxes: stdout byte for byte, times
//! aside, and the exit status. Where nvsmi differs on purpose, `tests/golden/on-purpose.toml` says why
//! and what it prints instead.
//!
//! With `NVIDIA_SMI=path`, the same lines also run that binary now, and nvsmi is held to its answers
//! instead of the recorded ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use simulator::golden::{self, Case, comparable};

use crate::common::trials::all;
use crate::common::{NVSMI, skipped};

/// How many differences are shown of each area.
const SHOWN: usize = 8;

/// The file of the cases that were written by hand, whose expectations the real tool does not meet.
const ON_PURPOSE: &str = "on-purpose.toml";

#[test]
fn nvsmi_answers_as_nvidia_smi_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let files = golden::files(&folder).expect("golden files");
    let by_hand: Vec<Case> = files
        .iter()
        .filter(|file| area(&folder, file) == ON_PURPOSE)
        .flat_map(|file| golden::cases(file).expect("a golden file"))
        .collect();
    let instead = golden::instead(&folder.join(ON_PURPOSE)).expect("rows");
    let laid_over = |case: Case| {
        let mut rows = instead.iter().filter(|row| row.is_of(&case));
        rows.try_fold(case.clone(), |case, row| row.laid_over(case))
            .expect("a text of the recording")
    };
    let mut cases: Vec<(String, Case)> = Vec::new();
    for file in &files {
        let area = area(&folder, file);
        for case in golden::cases(file).expect("a golden file") {
            let overruled = by_hand.iter().any(|other| {
                (&other.simulated, &other.faults, &other.args)
                    == (&case.simulated, &case.faults, &case.args)
            });
            if area == ON_PURPOSE || !overruled {
                cases.push((area.clone(), case));
            }
        }
    }
    if !simulator::can_replace_sysfs() {
        skipped("/sys cannot be replaced here, as topo-cards needs");
        cases.retain(|(area, _)| area != "topo-cards");
    }
    assert!(cases.len() > 4000, "only {} golden cases", cases.len());

    let live = std::env::var_os("NVIDIA_SMI").map(PathBuf::from);
    let failures: Vec<(&String, String, String)> = all(&cases, |(area, case)| {
        let expected = match &live {
            Some(program) if area != ON_PURPOSE => laid_over(run(case, program)),
            _ if area != ON_PURPOSE => laid_over(case.clone()),
            _ => case.clone(),
        };
        let given = run(case, Path::new(NVSMI));
        let failure = difference(&expected, &given);
        let failure = failure.map(|difference| (area, case.simulated.clone(), difference));
        failure.into_iter().collect()
    });
    print_table(&cases, &failures);
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for (area, _, difference) in &failures {
        let count = shown.entry(area).or_default();
        *count += 1;
        if *count <= SHOWN {
            println!("[{area}] {difference}");
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} lines differ",
        failures.len(),
        cases.len()
    );
}

fn area(folder: &Path, file: &Path) -> String {
    let below = file.strip_prefix(folder).unwrap_or(file);
    below
        .components()
        .next()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn run(case: &Case, program: &Path) -> Case {
    let output = case
        .command(program)
        .expect("a simulated box")
        .output()
        .expect("a program that runs");
    if output.status.success() {
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "",
            "on stderr: {}",
            case.line()
        );
    }
    case.clone().answered(&output)
}

/// The first line that differs, or the exit status.
fn difference(expected: &Case, given: &Case) -> Option<String> {
    let (left, right) = (comparable(&expected.stdout), comparable(&given.stdout));
    if left != right {
        let mut lines = left.split('\n').zip(right.split('\n'));
        let line = lines.position(|(left, right)| left != right);
        let at = line.unwrap_or(left.split('\n').count().min(right.split('\n').count()));
        let show = |text: &str| {
            text.split('\n')
                .nth(at)
                .map_or("(nothing)".to_owned(), |line| format!("{line:?}"))
        };
        return Some(format!(
            "{}\n  line {}\n  expected {}\n  given    {}",
            expected.line(),
            at + 1,
            show(&left),
            show(&right)
        ));
    }
    (expected.exit != given.exit).then(|| {
        format!(
            "{}\n  exit status {}, not {}",
            expected.line(),
            given.exit,
            expected.exit
        )
    })
}

/// Area by box: how many lines are identical, of how many; and of all.
fn print_table(cases: &[(String, Case)], failures: &[(&String, String, String)]) {
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for (area, case) in cases {
        counts.entry((area, &case.simulated)).or_default().1 += 1;
    }
    for (area, simulated, _) in failures {
        counts.entry((area, simulated)).or_default().0 += 1;
    }
    let mut area = "";
    for ((name, simulated), (failed, all)) in counts {
        if name != area {
            print!("\n{name:<16}");
            area = name;
        }
        print!(" {simulated} {}/{all}", all - failed);
    }
    let boxes: BTreeSet<&str> = cases
        .iter()
        .map(|(_, case)| case.simulated.as_str())
        .collect();
    println!(
        "\n{} of {} lines on {} boxes are identical",
        cases.len() - failures.len(),
        cases.len(),
        boxes.len()
    );
}
