//! The sections of the report that `-q` prints, in nvidia-smi's order: which
//! rows there are, what they are called, and where their values come from.
//!
//! A section is one row of [`SECTIONS`]; its lines are a table in the file of its
//! topic.

mod board;
mod clocks;
mod ecc;
mod fabric;
pub mod head;
mod load;
mod mig;
mod pci;
mod power;
mod processes;
mod retirement;
mod row;
mod samples;
mod smoothing;
mod temperature;

use jiff::ZonedDateTime;

use crate::error::Error;
use crate::facts::{self, Context};
use crate::nvml::{Driver, Gpu, each};
use crate::render::document::{Node, Shape};

pub use row::Form;
use row::{Row, shapes};

/// The words of `-d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Memory,
    Utilization,
    Ecc,
    Temperature,
    Power,
    Clock,
    Compute,
    Pids,
    Performance,
    SupportedClocks,
    PageRetirement,
    Accounting,
    EncoderStats,
    SupportedGpuTargetTemp,
    Voltage,
    FbcStats,
    RowRemapper,
    GspFirmwareVersion,
    PowerSmoothing,
    PowerProfiles,
}

/// Each word as it is typed.
const WORDS: &[(&str, Word)] = &[
    ("MEMORY", Word::Memory),
    ("UTILIZATION", Word::Utilization),
    ("ECC", Word::Ecc),
    ("TEMPERATURE", Word::Temperature),
    ("POWER", Word::Power),
    ("CLOCK", Word::Clock),
    ("COMPUTE", Word::Compute),
    ("PIDS", Word::Pids),
    ("PERFORMANCE", Word::Performance),
    ("SUPPORTED_CLOCKS", Word::SupportedClocks),
    ("PAGE_RETIREMENT", Word::PageRetirement),
    ("ACCOUNTING", Word::Accounting),
    ("ENCODER_STATS", Word::EncoderStats),
    ("SUPPORTED_GPU_TARGET_TEMP", Word::SupportedGpuTargetTemp),
    // Shows nothing: R580 has no voltage of any board.
    ("VOLTAGE", Word::Voltage),
    ("FBC_STATS", Word::FbcStats),
    ("ROW_REMAPPER", Word::RowRemapper),
    ("GSP_FIRMWARE_VERSION", Word::GspFirmwareVersion),
    ("POWER_SMOOTHING", Word::PowerSmoothing),
    ("POWER_PROFILES", Word::PowerProfiles),
];

/// In which reports a section is without being asked for by its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Full {
    /// In text and in XML.
    Always,
    /// In XML; text has it for the asking.
    Xml,
    /// In none.
    Never,
}

/// Rows that are shown or left out together.
pub struct Section {
    word: Option<Word>,
    full: Full,
    /// Fields that are asked for at once, before the rows: ids and scopes.
    ahead: &'static [(u32, u32)],
    rows: &'static [Row<()>],
}

impl Section {
    const fn ahead(mut self, fields: &'static [(u32, u32)]) -> Self {
        self.ahead = fields;
        self
    }
}

const fn always(rows: &'static [Row<()>]) -> Section {
    Section {
        word: None,
        full: Full::Always,
        ahead: &[],
        rows,
    }
}

const fn section(word: Word, full: Full, rows: &'static [Row<()>]) -> Section {
    Section {
        word: Some(word),
        full,
        ..always(rows)
    }
}

/// Every section, in the order of the report.
const SECTIONS: &[Section] = &[
    always(board::PRODUCT),
    always(mig::DEVICES),
    section(Word::Accounting, Full::Always, processes::ACCOUNTING),
    always(board::IDENTITY),
    section(
        Word::GspFirmwareVersion,
        Full::Always,
        board::GSP_FIRMWARE_VERSION,
    ),
    always(pci::PCI),
    always(load::FAN),
    section(Word::Performance, Full::Always, load::PERFORMANCE),
    section(Word::Memory, Full::Always, load::MEMORY),
    section(Word::Compute, Full::Always, load::COMPUTE_MODE),
    section(Word::Utilization, Full::Always, load::UTILIZATION),
    section(Word::Utilization, Full::Never, samples::UTILIZATION),
    section(Word::EncoderStats, Full::Always, load::ENCODER),
    section(Word::FbcStats, Full::Always, load::FRAME_CAPTURE),
    always(ecc::ENCRYPTION),
    section(Word::Ecc, Full::Always, ecc::ECC),
    section(Word::PageRetirement, Full::Always, retirement::PAGES),
    section(Word::RowRemapper, Full::Always, retirement::ROWS),
    section(Word::Temperature, Full::Always, temperature::TEMPERATURE)
        .ahead(facts::temperature::FIELDS),
    section(
        Word::SupportedGpuTargetTemp,
        Full::Xml,
        temperature::TARGETS,
    ),
    section(Word::Power, Full::Always, power::GPU).ahead(facts::power::FIELDS),
    section(Word::Power, Full::Never, samples::POWER),
    section(Word::Power, Full::Always, power::PARTS),
    section(Word::PowerSmoothing, Full::Always, smoothing::SMOOTHING)
        .ahead(facts::smoothing::FIELDS),
    section(Word::PowerProfiles, Full::Always, power::PROFILES),
    section(Word::Clock, Full::Always, clocks::CLOCKS),
    section(Word::Clock, Full::Never, samples::CLOCKS),
    section(Word::Clock, Full::Always, clocks::POLICY),
    always(fabric::FABRIC),
    section(Word::SupportedClocks, Full::Xml, clocks::SUPPORTED),
    section(Word::Pids, Full::Always, processes::PROCESSES),
    section(Word::Accounting, Full::Xml, processes::ACCOUNTED),
    always(board::CAPABILITIES),
];

/// Which sections a report has.
pub struct Selection {
    form: Form,
    words: Option<Vec<Word>>,
}

impl Selection {
    /// All of a form.
    pub fn all(form: Form) -> Self {
        Self { form, words: None }
    }

    /// Those that a list of `-d` names, in text; empty items do not count.
    pub fn named(list: &str) -> Result<Self, Error> {
        let word = |name: &str| {
            let known = WORDS
                .iter()
                .find(|(word, _)| word.eq_ignore_ascii_case(name));
            known.map(|&(_, word)| word).ok_or(unknown_section())
        };
        let names = list.split(',').filter(|name| !name.is_empty());
        Ok(Self {
            form: Form::Text,
            words: Some(names.map(word).collect::<Result<_, _>>()?),
        })
    }

    /// The form.
    pub fn form(&self) -> Form {
        self.form
    }

    fn has(&self, section: &Section) -> bool {
        match (&self.words, section.full) {
            (Some(words), _) => section.word.is_some_and(|word| words.contains(&word)),
            (_, Full::Always) => true,
            (_, Full::Xml) => self.form == Form::Xml,
            (_, Full::Never) => false,
        }
    }

    /// What one GPU has to say. Its questions are put one after another: NVML
    /// answers them so, and watches the PCIe link for its traffic, to which each
    /// question beside would add.
    fn build(&self, context: &Context<()>) -> Vec<Node> {
        let mut nodes = Vec::new();
        for section in SECTIONS.iter().filter(|section| self.has(section)) {
            if !section.ahead.is_empty() {
                context.gpu.ask_fields(section.ahead.iter().copied());
            }
            for row in section.rows {
                row.build(self.form, context, &mut nodes);
            }
        }
        nodes
    }

    /// What all GPUs have to say, each with its bus id, or with its index where
    /// that is not known. They are asked side by side: NVML makes some
    /// questions wait, and each GPU for itself.
    pub fn build_all(
        &self,
        time: &ZonedDateTime,
        driver: &Driver,
        gpus: &[Gpu],
    ) -> Vec<(String, Vec<Node>)> {
        each(gpus, |gpu| {
            let context = Context {
                time,
                driver,
                gpu,
                item: &(),
            };
            let id = gpu.bus_id().unwrap_or_else(|_| gpu.index().to_string());
            (id, self.build(&context))
        })
    }
}

/// What an XML report can say of a GPU.
pub fn gpu_shapes() -> Vec<Shape> {
    SECTIONS
        .iter()
        .filter(|section| section.full != Full::Never)
        .flat_map(|section| shapes(section.rows))
        .collect()
}

/// A name in the list of `-d` that is no section.
fn unknown_section() -> Error {
    Error::refused("Failed to parse --display/-d flags\n")
}
