//! `conf-compute`: state and settings of confidential computing.

use super::dry_run::{NOTHING_CHANGED, by_root, name, would_change};
use super::present::{able, all_there, heading, named};
use crate::cli::Takes::{Nothing, Wide};
use crate::cli::{DRY_RUN, ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::commands::begin;
use crate::error::{Error, Outcome, Status};
use crate::nvml::{Driver, Gpu, Missing, Reading};
use crate::output;
use crate::render::put;

/// `conf-compute`.
#[rustfmt::skip]
pub static CONF_COMPUTE: Subcommand = Subcommand {
    name: "conf-compute",
    about: "Confidential computing",
    notes: "One question or setting at a time.",
    options: &[
        ID,
        opt("-gc --get-cpu-caps", Nothing, "", "What the CPU can do for it"),
        opt("-gg --get-gpus-caps", Nothing, "", "Whether the GPUs can do it"),
        opt("-d --get-devtools-mode", Nothing, "", "Whether developer tools may look inside"),
        opt("-e --get-environment", Nothing, "", "The environment"),
        opt("-f --get-cc-feature", Nothing, "", "Whether it is on"),
        opt("-gm --get-mem-size-info", Nothing, "", "Protected and unprotected memory of the GPUs"),
        opt("-sm --set-unprotected-mem-size", Wide, "KIB", "Leave so much memory of the GPUs unprotected"),
        opt("-srs --set-gpus-ready-state", Wide, "STATE", "Whether the GPUs accept work: 0, 1"),
        opt("-grs --get-gpus-ready-state", Nothing, "", "Whether the GPUs accept work"),
        opt("-skr --set-key-rotation-max-attacker-advantage", Wide, "N", "Rotate keys before an attacker gains 2^N"),
        opt("-gkr --get-key-rotation-threshold-info", Nothing, "", "When keys are rotated"),
        opt("-mgm --get-multigpu-mode", Nothing, "", "How several GPUs work together"),
        opt("-q --query-conf-compute", Nothing, "", "All of the state"),
        DRY_RUN,
    ],
    refuses: Refuses::Tersely,
    needs: Needs::OneCommand,
    run: Run::Once(confidential),
};

/// One question about the system: the option, the answer's heading, what is said
/// where there is none, and how to ask.
struct Question {
    word: &'static str,
    heading: &'static str,
    subject: &'static str,
    ask: Ask,
}

type Ask = fn(&Driver) -> Reading<String>;

const QUESTIONS: &[Question] = &[
    Question {
        word: "get-cpu-caps",
        heading: "CPU CC capabilities: ",
        subject: "CPU capabilities",
        ask: |driver| cpu(driver),
    },
    Question {
        word: "get-gpus-caps",
        heading: "GPU CC capabilities: ",
        subject: "GPUs capabilities",
        ask: |driver| gpus(driver),
    },
    Question {
        word: "get-devtools-mode",
        heading: "DevTools Mode: ",
        subject: "DevTools Mode",
        ask: |driver| {
            driver
                .cc_state()
                .map(|state| word(SWITCH, state.devToolsMode))
        },
    },
    Question {
        word: "get-environment",
        heading: "CC Environment: ",
        subject: "Environment",
        ask: |driver| {
            driver
                .cc_state()
                .map(|state| word(ENVIRONMENTS, state.environment))
        },
    },
    Question {
        word: "get-cc-feature",
        heading: "CC status: ",
        subject: "CC feature status",
        ask: |driver| feature(driver),
    },
    Question {
        word: "get-multigpu-mode",
        heading: "Multi-GPU Mode: ",
        subject: "Multi-GPU Mode",
        ask: |driver| multi_gpu(driver),
    },
];

/// The words of NVML's numbers; the first also stands for what is unknown.
const CPUS: &[&str] = &[
    "None",
    "AMD SEV",
    "INTEL TDX",
    "AMD SEV-SNP",
    "AMD SEV-SNP(vTOM Mode)",
];
const GPUS: &[&str] = &["None", "CC Capable"];
const ENVIRONMENTS: &[&str] = &["UNAVAILABLE", "INTERNAL", "PRODUCTION"];
const SWITCH: &[&str] = &["OFF", "ON"];
const READY: &[&str] = &["Not Ready", "Ready"];
const MULTI_GPU: &[&str] = &["None", "Protected PCIe"];

fn word(words: &[&str], number: u32) -> String {
    let known = words.get(number as usize).or(words.first());
    known.copied().unwrap_or_default().to_owned()
}

fn cpu(driver: &Driver) -> Reading<String> {
    driver.cc_capabilities().map(|can| word(CPUS, can.cpuCaps))
}

fn gpus(driver: &Driver) -> Reading<String> {
    driver.cc_capabilities().map(|can| word(GPUS, can.gpusCaps))
}

fn feature(driver: &Driver) -> Reading<String> {
    driver.cc_state().map(|state| word(SWITCH, state.ccFeature))
}

fn ready(driver: &Driver) -> Reading<String> {
    driver.cc_ready().map(|ready| word(READY, ready))
}

fn multi_gpu(driver: &Driver) -> Reading<String> {
    driver.cc_multi_gpu().map(|mode| word(MULTI_GPU, mode))
}

/// The option that a line asks for, and its number, 0 where it takes none.
fn asked(line: &Line) -> Result<(&'static str, u64), Error> {
    let word = line.commands().first().copied().unwrap_or_default();
    match line.wide(word).unwrap_or(0) {
        _ if line.text(word) == Some("") => Err(line.invalid(word)),
        2.. if word == "set-gpus-ready-state" => Err(line.invalid(word)),
        value => Ok((word, value)),
    }
}

fn confidential(line: &Line) -> anyhow::Result<Status> {
    let dry_run = line.dry_run(SETTINGS)?;
    let (option, value) = asked(line)?;
    let driver = begin::open()?;
    let gpus = begin::select(&driver, line.text("id"))?;
    output::answer(|out| {
        if dry_run {
            rehearse(&driver, &gpus, option, value, out).map(Outcome::from)
        } else {
            run(&driver, &gpus, option, value, out)
        }
    })
}

/// Answers one option, or makes its change.
fn run(
    driver: &Driver,
    gpus: &[Gpu],
    option: &str,
    value: u64,
    out: &mut Vec<u8>,
) -> Result<Outcome, Error> {
    let mut left = Outcome::default();
    // No setting is begun, nor memory told, without one of the GPUs.
    if option.starts_with("set-") || option == "get-mem-size-info" {
        all_there(gpus)?;
    }
    let capable = capable(gpus)?;
    if let Some(question) = QUESTIONS.iter().find(|question| question.word == option) {
        let answer =
            (question.ask)(driver).map_err(|why| failed("display", question.subject, why))?;
        put(out, &format!("{}{answer}\n", question.heading));
        left.note(all_there(gpus));
        return Ok(left);
    }
    match option {
        "get-gpus-ready-state" => {
            let ready = driver
                .cc_ready()
                .map_err(|why| failed("display", "GPUs Ready State", why))?;
            let word = if ready == 1 { "ready" } else { "not-ready" };
            put(
                out,
                &format!("\nConfidential Compute GPUs Ready state: {word}\n\n"),
            );
        }
        "get-key-rotation-threshold-info" => {
            let advantage = driver
                .cc_key_rotation()
                .map_err(|why| failed("display", "key rotation threshold info", why))?;
            put(
                out,
                &format!(
                    "\nConfidential Compute Key Rotation Threshold Attacker Advantage: {advantage}\n\n"
                ),
            );
        }
        "get-mem-size-info" => left.fail(memory(&capable, out)?),
        "query-conf-compute" => report(driver, out)?,
        "set-gpus-ready-state" => driver
            .set_cc_ready(value as u32)
            .map_err(|why| failed("set", "GPUs Ready State", why))?,
        "set-key-rotation-max-attacker-advantage" => driver
            .set_cc_key_rotation(value)
            .map_err(|why| failed("set", "key max attacker advantage", why))?,
        _ => {
            for gpu in capable {
                gpu.set_cc_unprotected_memory(value)
                    .map_err(|why| failed("set", "Unprotected Memory Size", why))?;
            }
        }
    }
    // The system answers without one of the GPUs, which the status tells of.
    left.note(all_there(gpus));
    Ok(left)
}

/// The options that change something.
const SETTINGS: &[&str] = &[
    "set-unprotected-mem-size",
    "set-gpus-ready-state",
    "set-key-rotation-max-attacker-advantage",
];

/// Tells what a setting would change.
fn rehearse(
    driver: &Driver,
    gpus: &[Gpu],
    option: &str,
    value: u64,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    all_there(gpus)?;
    let capable = capable(gpus)?;
    let tell = |subject, what: &str, now, wanted: &str| {
        by_root()
            .and_then(|()| would_change(what, now, wanted))
            .map_err(|why| failed("set", subject, why))
    };
    match option {
        "set-gpus-ready-state" => {
            let wanted = word(READY, u32::from(value != 0));
            let change = tell(
                "GPUs Ready State",
                "the GPUs Ready State",
                ready(driver),
                &wanted,
            )?;
            put(out, &format!("{change}.\n"));
        }
        "set-key-rotation-max-attacker-advantage" => {
            let now = driver.cc_key_rotation().map(|now| now.to_string());
            let (subject, wanted) = ("key max attacker advantage", value.to_string());
            let change = tell(subject, "the key max attacker advantage", now, &wanted)?;
            put(out, &format!("{change}.\n"));
        }
        _ => {
            let kib = |size: u64| format!("{size} KiB");
            let (subject, wanted) = ("Unprotected Memory Size", kib(value));
            for gpu in capable {
                let now = gpu.cc_memory().map(|size| kib(size.unprotectedMemSizeKib));
                let change = tell(subject, "the Unprotected Memory Size", now, &wanted)?;
                put(out, &format!("{change} for GPU {}.\n", name(gpu)));
            }
        }
    }
    put(out, NOTHING_CHANGED);
    Ok(())
}

/// The GPUs whose architecture has it.
fn capable<'g, 'd>(gpus: &'g [Gpu<'d>]) -> Result<Vec<&'g Gpu<'d>>, Error> {
    able(gpus, Gpu::has_cc, "No CC capable devices found.\n")
}

fn memory(gpus: &[&Gpu], out: &mut Vec<u8>) -> Result<Status, Error> {
    let mut outcome = Outcome::default();
    for gpu in gpus {
        put(out, &heading(gpu));
        outcome.fail(named(gpu));
        let memory = gpu
            .cc_memory()
            .map_err(|why| failed("display", "GPU Memory Size Info", why))?;
        put(
            out,
            &format!(
                "Protected memory size:   {} KiB\n",
                memory.protectedMemSizeKib
            ),
        );
        put(
            out,
            &format!(
                "Unprotected memory size: {} KiB\n",
                memory.unprotectedMemSizeKib
            ),
        );
    }
    Ok(outcome.status)
}

/// `-q`: all or, where one answer lacks, the reason.
fn report(driver: &Driver, out: &mut Vec<u8>) -> Result<(), Error> {
    put(
        out,
        "\n==============NVSMI CONF-COMPUTE LOG==============\n\n",
    );
    let rows: [(&str, Ask); 5] = [
        ("CC State", feature),
        ("Multi-GPU Mode", multi_gpu),
        ("CPU CC Capabilities", cpu),
        ("GPU CC Capabilities", gpus),
        ("CC GPUs Ready State", ready),
    ];
    let lines: String = rows
        .into_iter()
        .map(|(label, ask)| Ok(format!("    {label:<27}: {}\n", ask(driver)?)))
        .collect::<Reading<_>>()
        .map_err(|why| failed("display", "Detailed Info", why))?;
    put(out, &format!("{lines}\n"));
    Ok(())
}

fn failed(verb: &str, subject: &str, why: Missing) -> Error {
    let message = format!(
        "Failed to {verb} Conf. Compute {subject}: {}\n",
        why.words()
    );
    Error::new(why.into(), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::line;

    #[test]
    fn a_line_asks_for_one_thing() {
        let read = |text| asked(&line(&CONF_COMPUTE, text)?);
        assert_eq!(read("-i 0 -sm 0x10"), Ok(("set-unprotected-mem-size", 16)));
        for text in ["-srs 2", "-sm -1", "-sm x", "-sm ", "-srs ", "-gc -f"] {
            let status = read(text).map_err(|error| error.status());
            assert_eq!(status, Err(Status::InvalidArgument), "{text}");
        }
    }
}
