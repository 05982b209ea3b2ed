//! `-pm`, `-pl` and the other changes: refused as a whole where the value is
//! wrong, then made GPU after GPU, each told of as it is made.

mod asked;
mod now;
pub mod reset;
mod row;
mod table;

use super::dry_run::{NOTHING_CHANGED, index_and_bus_id, unread};
use super::present::there;
use crate::cli::Modify;
use crate::error::{Error, Status};
use crate::nvml::{Effect, Gpu, Missing, is_root};
use crate::output::Say;
use crate::value::printable;
use asked::Asked;
use row::{Kind, Refusal, Row, fill};

/// A GPU and its bus id.
pub type Named<'g, 'd> = (&'g Gpu<'d>, String);

/// The GPUs with their bus ids. A command that cannot name them all, or has no
/// handle of one, does not begin.
pub fn named<'g, 'd>(gpus: &'g [Gpu<'d>]) -> Result<Vec<Named<'g, 'd>>, Error> {
    gpus.iter()
        .map(|gpu| {
            there(gpu)?;
            let bus_id = gpu.bus_id();
            let bus_id = bus_id.map_err(|why| Error::pci_info(gpu.index(), why))?;
            Ok((gpu, printable(&bus_id).into_owned()))
        })
        .collect()
}

/// Changes the GPUs, or with `--dry-run` says what would be changed.
pub fn modify(gpus: &[Gpu], modify: &Modify, say: Say) -> Result<Status, Error> {
    let gpus = named(gpus)?;
    let nothing = || Error::failed("Input combination for device modification is not valid.\n\n");
    let change = modify.change.as_ref().ok_or_else(nothing)?;
    // What has no row changes nothing.
    let row = table::find(change.option.word()).ok_or_else(Error::dry_run)?;
    let asked = (row.read)(change, modify);
    let mut report = Report(say);
    if let Err(refusal) = &asked
        && refusal.kind != Kind::Warning
    {
        return Ok(report.terminate(refusal, false));
    }
    let mut reboot = false;
    for (gpu, bus_id) in &gpus {
        let outcome = match &asked {
            Err(warning) => Err(warning.clone()),
            Ok(asked) if modify.dry_run => {
                rehearse(row, gpu, &index_and_bus_id(gpu.index(), bus_id), asked)
            }
            Ok(asked) => make(row, gpu, bus_id, asked),
        };
        match outcome {
            Ok(Done {
                text,
                reboots,
                fleeting,
            }) => {
                report.say(&text);
                reboot |= reboots;
                if fleeting && modify.error_on_warning {
                    return Ok(report.end(reboot, Status::Other));
                }
            }
            Err(refusal) if refusal.ends(modify.error_on_warning) => {
                return Ok(report.terminate(&refusal, reboot));
            }
            Err(refusal) => {
                report.say(&refusal.text);
                if refusal.kind == Kind::Warning {
                    report.say("Treating as warning and moving on.\n");
                }
            }
        }
    }
    if modify.dry_run {
        report.say(NOTHING_CHANGED);
        return Ok(Status::Success);
    }
    report.say(ALL_DONE);
    if reboot {
        report.say("Reboot required.\n");
    }
    Ok(Status::Success)
}

/// The last line of a change.
pub const ALL_DONE: &str = "All done.\n";
const TERMINATING: &str = "Terminating early due to previous errors.";

/// What was done to a GPU.
struct Done {
    /// The sentences.
    text: String,
    /// Whether the change is in force after a reboot only.
    reboots: bool,
    /// Whether the change is lost as soon as nobody uses the GPU.
    fleeting: bool,
}

impl Done {
    fn unchanged(text: String) -> Self {
        Self {
            text,
            reboots: false,
            fleeting: false,
        }
    }
}

impl Refusal {
    /// Whether the command ends with it. With `-eow` everything ends it that
    /// left a GPU as it was.
    fn ends(&self, error_on_warning: bool) -> bool {
        error_on_warning || matches!(self.kind, Kind::Failure | Kind::Reboot)
    }
}

/// Why a GPU cannot be changed, or that it need not be.
fn check(row: &Row, gpu: &Gpu, name: &str, asked: &Asked) -> Result<Option<Done>, Refusal> {
    if let Some(first) = &row.first {
        let now = (first.ask)(gpu).map_err(|why| {
            let sentence = match why {
                Missing::NotSupported => first.unsupported,
                Missing::Failed(_) => first.unreadable,
            };
            Refusal::by_nvml(why, fill(sentence, name, asked, &[("why", why.words())]))
        })?;
        if now == asked.numbers[0] {
            return Ok(Some(Done::unchanged(
                fill(first.already, name, asked, &[]) + "\n",
            )));
        }
    }
    (row.range)(gpu, name, asked)?;
    Ok(None)
}

/// Makes a change to a GPU.
fn make(row: &Row, gpu: &Gpu, bus_id: &str, asked: &Asked) -> Result<Done, Refusal> {
    if let Some(done) = check(row, gpu, bus_id, asked)? {
        return Ok(done);
    }
    let from = match row.done.contains("{from}") {
        true => (row.now)(gpu, asked).unwrap_or_else(unread),
        false => String::new(),
    };
    let reboots = (row.reboot)(gpu, asked);
    match (row.set)(gpu, asked) {
        Ok(Effect::Now) => {
            let mut text = String::new();
            if !row.done.is_empty() {
                text = fill(row.done, bus_id, asked, &[("from", &from)]) + "\n";
            }
            let fleeting = (row.volatile)(asked) && gpu.persistence() == Ok(false);
            if fleeting {
                text += &fill(NOT_PERSISTENT, bus_id, asked, &[]);
            }
            Ok(Done {
                text,
                reboots,
                fleeting,
            })
        }
        Ok(Effect::Later(why)) => Ok(Done {
            text: waiting(row, bus_id, asked, why),
            reboots,
            fleeting: false,
        }),
        Err(why) => Err(refusal(row, gpu, bus_id, asked, why)),
    }
}

const NOT_PERSISTENT: &str = "\nWarning: persistence mode is disabled on device {gpu}. See the Known Issues section of the nvidia-smi(1) man page for more information. Run with [--help | -h] switch to get more information on how to enable persistence mode.\n";

/// MIG mode, the only change that can wait.
fn waiting(row: &Row, bus_id: &str, asked: &Asked, why: Missing) -> String {
    let advice = match why {
        // The driver takes this for a GPU that needs no activation.
        Missing::NotSupported => return fill(row.done, bus_id, asked, &[]) + "\n",
        Missing::IN_USE => WAITS_FOR_USERS,
        _ => WAITS_FOR_RESET,
    };
    let sentence = |sentence| fill(sentence, bus_id, asked, &[("why", why.words())]) + "\n";
    sentence(WAITS) + &sentence(advice)
}

const WAITS: &str = "Warning: MIG mode is in pending {b} state for GPU {gpu}:{why}";
const WAITS_FOR_USERS: &str = "{gpu} is currently being used by one or more other processes (e.g. CUDA application or a monitoring application such as another instance of nvidia-smi). Please first kill all processes using the device and retry the command or reboot the system to make MIG mode effective.";
const WAITS_FOR_RESET: &str =
    "Reboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU {gpu}";

fn refusal(row: &Row, gpu: &Gpu, bus_id: &str, asked: &Asked, why: Missing) -> Refusal {
    let known = row.refusals.iter().find(|(code, _, _)| *code == why);
    let sentence = known.map_or(row.failed, |(_, _, sentence)| sentence);
    let mut refusal = Refusal::by_nvml(why, fill(sentence, bus_id, asked, &[("why", why.words())]));
    if let Some((_, kind, _)) = known {
        refusal.kind = *kind;
    }
    if why == Missing::NotSupported {
        let lines = (row.because)(gpu, asked);
        refusal.text = lines
            .into_iter()
            .map(|line| line + "\n")
            .collect::<String>()
            + &refusal.text;
    }
    refusal
}

/// Says what would be done to a GPU, and does nothing.
fn rehearse(row: &Row, gpu: &Gpu, name: &str, asked: &Asked) -> Result<Done, Refusal> {
    if let Some(done) = check(row, gpu, name, asked)? {
        return Ok(done);
    }
    if !is_root() && !(row.free)(gpu) {
        return Err(refusal(row, gpu, name, asked, Missing::NO_PERMISSION));
    }
    if let Err(why) = (row.lookup)(gpu, asked) {
        return Err(refusal(row, gpu, name, asked, why));
    }
    let from = (row.now)(gpu, asked).unwrap_or_else(unread);
    let sentence = match (row.already)(gpu, asked) {
        Ok(true) => row.would_not,
        _ => row.would,
    };
    Ok(Done::unchanged(
        fill(sentence, name, asked, &[("from", &from)]) + "\n",
    ))
}

/// What is said while the GPUs are changed.
struct Report<'s>(Say<'s>);

impl Report<'_> {
    fn say(&mut self, text: &str) {
        (self.0)(text);
    }

    /// Ends the command with a refusal.
    fn terminate(&mut self, refusal: &Refusal, reboot: bool) -> Status {
        let status = match refusal.kind {
            Kind::Failure | Kind::Reboot => refusal.status,
            Kind::Warning | Kind::Remark => Status::NotSupported,
        };
        self.say(&refusal.text);
        self.end(reboot || refusal.kind == Kind::Reboot, status)
    }

    fn end(&mut self, reboot: bool, status: Status) -> Status {
        let advice = if reboot { " Reboot required." } else { "" };
        self.say(&format!("{TERMINATING}{advice}\n"));
        status
    }
}
