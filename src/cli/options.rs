//! Every option of the command line: one row an option. The parser and the
//! usage screen are both made from these rows.

use super::forms::Form::{self, Dtd, File, Help, List, Log, Modify, Query, Unit, Version};
use super::number;

use Takes::{Float, Int, Long, MaybeAny, MaybeText, Nothing, Text, Uint, Wide};

/// What an option takes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// Any text.
    Text,
    /// Any text that does not look like an option, or nothing.
    MaybeText,
    /// Any text, or nothing.
    MaybeAny,
    /// A whole number of 32 bits, or one of the words that stand for numbers.
    Int,
    /// The same without a sign.
    Uint,
    /// A number with a fraction.
    Float,
    /// A whole number as subcommands read it, cut to 32 bits.
    Long,
    /// A whole number of 64 bits without a sign, as subcommands read it.
    Wide,
}

impl Takes {
    /// Whether the option makes sense with nothing after it.
    pub fn may_be_alone(self) -> bool {
        matches!(self, Nothing | MaybeText | MaybeAny)
    }

    /// Whether a word that is no option itself is taken for the value.
    pub fn takes(self, word: &str) -> bool {
        let like_option = || {
            let letters = word.strip_prefix('-').and_then(|word| word.chars().next());
            letters.is_some_and(|first| first == '-' || first.is_ascii_alphabetic())
        };
        match self {
            Nothing => false,
            MaybeText => !like_option(),
            _ => true,
        }
    }

    /// Whether a value can be read.
    pub fn reads(self, text: &str) -> bool {
        match self {
            Int => number::int(text).is_some(),
            Uint => number::uint(text).is_some(),
            Float => number::float(text).is_some(),
            Long => number::long(text).is_some(),
            Wide => number::wide(text).is_some(),
            Nothing | Text | MaybeText | MaybeAny => true,
        }
    }
}

/// One option.
#[derive(Debug, PartialEq, Eq)]
pub struct Opt {
    /// Its spellings, a space between them, the short one first.
    pub names: &'static str,
    /// What follows it.
    pub takes: Takes,
    /// The forms of command line that know it; none for those of subcommands.
    pub forms: &'static [Form],
    /// Its value's name on the usage screen, empty without a value.
    pub value: &'static str,
    /// What it does; an option without this is accepted but not advertised.
    pub help: &'static str,
}

impl Opt {
    /// The name without dashes that stands for all the spellings.
    pub fn word(&self) -> &'static str {
        let long = self.spellings().find_map(|name| name.strip_prefix("--"));
        let short = || self.spellings().next().unwrap_or_default();
        long.unwrap_or_else(|| short().trim_start_matches('-'))
    }

    /// All its spellings.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.names.split(' ')
    }
}

/// Options under one heading of the usage screen.
#[derive(Debug)]
pub struct Group {
    /// The heading.
    pub title: &'static str,
    /// The options, in the order shown.
    pub options: &'static [Opt],
}

/// All options of all groups.
pub fn all() -> impl Iterator<Item = &'static Opt> {
    GROUPS.iter().flat_map(|group| group.options)
}

/// A row of a subcommand's table.
pub const fn opt(
    names: &'static str,
    takes: Takes,
    value: &'static str,
    help: &'static str,
) -> Opt {
    row(names, takes, &[], value, help)
}

const fn row(
    names: &'static str,
    takes: Takes,
    forms: &'static [Form],
    value: &'static str,
    help: &'static str,
) -> Opt {
    Opt {
        names,
        takes,
        forms,
        value,
        help,
    }
}

/// Every option there is.
#[rustfmt::skip]
pub const GROUPS: &[Group] = &[
    Group { title: "GENERAL", options: &[
        row("-h --help", Nothing, &[Help], "", "Show this screen"),
        row("--version", Nothing, &[Version], "", "Show the versions of the tool, NVML, the driver and CUDA"),
        row("-L --list-gpus", Nothing, &[List], "", "List the GPUs, with the MIG devices on them"),
        row("-B --list-excluded-gpus --list-blacklist-gpus", Nothing, &[List], "", "List the GPUs that the driver leaves out"),
        row("-col --columns", Uint, &[Log], "N", "Show the summary in N columns, 1 to 64"),
        row("--timeout", Text, &[], "SEC", "With anything, COMMANDS too: give up on a GPU that does\nnot answer within SEC seconds, and end with status 124;\nNVSMI_TIMEOUT=SEC does the same"),
    ]},
    Group { title: "WITH THE SUMMARY, -q OR --query-* (-i with changes too)", options: &[
        row("-i --id", Text, &[Modify, Unit, Query, Log], "IDS", "Only these GPUs: index, UUID, serial or PCI bus id,\nseveral with commas between them"),
        row("-g --gpu", Text, &[Modify, Query, Log], "", ""),
        row("-f --filename", Text, &[File, Dtd, Query, Log], "FILE", "Write to FILE instead of the terminal"),
        row("-l --loop", MaybeText, &[Query, Log], "SEC", "Again every SEC seconds (5), until interrupted"),
        row("-lms --loop-ms", MaybeText, &[Query, Log], "MS", "Again every MS milliseconds (100), until interrupted"),
    ]},
    Group { title: "FULL REPORT", options: &[
        row("-q --query", Nothing, &[Dtd, Log], "", "Report everything about the GPUs"),
        row("-a --all-gpus", Nothing, &[Log], "", ""),
        row("-u --unit", Nothing, &[Dtd, Log], "", "Report on S-class units instead of GPUs"),
        row("-x --xml-format", Nothing, &[Log], "", "Write the report as XML"),
        row("--dtd", Nothing, &[Dtd, Log], "", "With -q -x, put the DTD into the XML;\nby itself or with -u, print the DTD"),
        row("-d --display", Text, &[Log], "SECTIONS", "Only these sections, with commas between them: MEMORY,\nUTILIZATION, ECC, TEMPERATURE, POWER, CLOCK, COMPUTE,\nPIDS, PERFORMANCE, SUPPORTED_CLOCKS, PAGE_RETIREMENT,\nACCOUNTING, ENCODER_STATS, SUPPORTED_GPU_TARGET_TEMP,\nVOLTAGE, FBC_STATS, ROW_REMAPPER, GSP_FIRMWARE_VERSION,\nPOWER_SMOOTHING, POWER_PROFILES; not with -u or -x"),
    ]},
    Group { title: "SELECTED FIELDS AS CSV (one list at a time; each --help-query-* names its fields)", options: &[
        row("--query-gpu", Text, &[Query], "FIELDS", "Fields of each GPU"),
        row("--query-supported-clocks", Text, &[Query], "FIELDS", "Clock pairs that a GPU can run at"),
        row("--query-compute-apps", Text, &[Query], "FIELDS", "Processes computing on a GPU now"),
        row("--query-accounted-apps", Text, &[Query], "FIELDS", "Processes kept by accounting mode"),
        row("--query-retired-pages", Text, &[Query], "FIELDS", "Memory pages taken out of service"),
        row("--query-remapped-rows", Text, &[Query], "FIELDS", "Memory rows replaced by spare ones"),
        row("--help-query-gpu", Nothing, &[Query], "", "Fields of --query-gpu"),
        row("--help-query-supported-clocks", Nothing, &[Query], "", "Fields of --query-supported-clocks"),
        row("--help-query-compute-apps", Nothing, &[Query], "", "Fields of --query-compute-apps"),
        row("--help-query-accounted-apps", Nothing, &[Query], "", "Fields of --query-accounted-apps"),
        row("--help-query-retired-pages", Nothing, &[Query], "", "Fields of --query-retired-pages"),
        row("--help-query-remapped-rows", Nothing, &[Query], "", "Fields of --query-remapped-rows"),
        row("--format", MaybeAny, &[Query], "LIST", "csv, with noheader for no heading line and nounits\nfor bare numbers"),
    ]},
    Group { title: "CHANGING A GPU (one change at a time; most need root; refused: NVML has no public function)", options: &[
        row("-pm --persistence-mode", Int, &[Modify], "MODE", "Keep the driver loaded: 0/DISABLED, 1/ENABLED"),
        row("-e --ecc-config", Int, &[Modify], "MODE", "ECC memory: 0/DISABLED, 1/ENABLED"),
        row("-p --reset-ecc-errors", Int, &[Modify], "KIND", "Set ECC error counts to zero: 0/VOLATILE, 1/AGGREGATE"),
        row("-c --compute-mode", Int, &[Modify], "MODE", "Who may compute: 0/DEFAULT, 2/PROHIBITED,\n3/EXCLUSIVE_PROCESS (1/EXCLUSIVE_THREAD is obsolete)"),
        row("-dm --driver-model", Int, &[Modify], "", ""),
        row("-fdm --force-driver-model", Int, &[Modify], "", ""),
        row("--gom", Int, &[Modify], "MODE", "Operation mode: 0/ALL_ON, 1/COMPUTE, 2/LOW_DP"),
        row("-r --gpu-reset", MaybeText, &[Modify], "bus", "Reset the GPU; with bus, by a reset of its bus"),
        row("-vm --virt-mode", Int, &[Modify], "MODE", "Virtualization mode: 3 vGPU, 4 vSGA"),
        row("-lgc --lock-gpu-clocks", Text, &[Modify], "MIN,MAX", "Hold the GPU clock between two speeds, or at one, MHz"),
        row("-m --mode", Uint, &[Modify], "MODE", "How -lgc holds it: 0; 1 (refused)"),
        row("-rgc --reset-gpu-clocks", Nothing, &[Modify], "", "Let the GPU clock go"),
        row("-lmc --lock-memory-clocks", Text, &[Modify], "MIN,MAX", "Hold the memory clock between two speeds, or at one, MHz"),
        row("-rmc --reset-memory-clocks", Nothing, &[Modify], "", "Let the memory clock go"),
        row("-lmcd --lock-memory-clocks-deferred", Uint, &[Modify], "MHZ", "Hold the memory clock from the next driver load on\n(refused)"),
        row("-rmcd --reset-memory-clocks-deferred", Nothing, &[Modify], "", "Take that back (refused)"),
        row("-ac --applications-clocks --application-clocks", Text, &[Modify], "MEM,GPU", "Clocks to run applications at (MHz)"),
        row("-rac --reset-applications-clocks --reset-application-clocks", Nothing, &[Modify], "", "Set those clocks back to their defaults"),
        row("-acp --applications-clocks-permission", Int, &[Modify], "", ""),
        row("-pl --power-limit", Float, &[Modify], "WATTS", "Most power that the GPU may draw"),
        row("-sc --scope", Int, &[Modify], "SCOPE", "What -pl limits: 0 the GPU, 1 the module it is on"),
        row("-cc --cuda-clocks", Int, &[Modify], "MODE", "Higher clocks under CUDA: 0/RESTORE_DEFAULT, 1/OVERRIDE\n(refused)"),
        row("-am --accounting-mode", Int, &[Modify], "MODE", "Statistics of ended processes: 0/DISABLED, 1/ENABLED"),
        row("-caa --clear-accounted-apps", Nothing, &[Modify], "", "Forget the statistics kept so far"),
        row("--auto-boost-default", Int, &[Modify], "MODE", "Auto boost unless a program asks: 0/DISABLED, 1/ENABLED"),
        row("--auto-boost-permission", Int, &[Modify], "MODE", "Who may change auto boost: 0/UNRESTRICTED, 1/RESTRICTED"),
        row("-mig --multi-instance-gpu", Int, &[Modify], "MODE", "Multi-Instance GPU: 0/DISABLED, 1/ENABLED"),
        row("-gtt --gpu-target-temp", Int, &[Modify], "CELSIUS", "Temperature that the GPU aims at"),
        row("-den --dram-encryption", Int, &[Modify], "MODE", "Encryption of GPU memory: 0/DISABLED, 1/ENABLED"),
        row("--set-hostname", Text, &[Modify], "NAME", "Give the GPU a host name"),
        row("--get-hostname", Nothing, &[Modify], "", "Show the GPU's host name"),
        row("-eow --error-on-warning", Nothing, &[Modify], "", "Count warnings as failures"),
        row("--dry-run", Nothing, &[Modify, Unit], "", "Say what would be changed, and change nothing"),
    ]},
    Group { title: "CHANGING A UNIT", options: &[
        row("-t --toggle-led", Int, &[Unit], "STATE", "Colour of the unit's LED: 0/GREEN, 1/AMBER"),
    ]},
];
