//! What random command lines are made of: options by kind of line, and values for them.

/// An option, and what may follow it: nothing, or one of these.
pub type Row = (&'static str, &'static [&'static str]);

/// A kind of command line: how often it is made, its first words, and the options that it has.
pub struct Theme {
    pub weight: usize,
    pub first: &'static [&'static str],
    pub options: &'static [Row],
}

const NOTHING: &[&str] = &[];
const IDS: &[&str] = &[
    "0", "1", "0,1", "2,0", "7", "99", "-1", "0,0", "00000000:19:00.0", "0000:19:00.0", "19:00.0",
    "GPU-00000000-1000-2000-3000-000000000000", "GPU-00000003-0000-0000-0000-000000000003",
    "MIG-00000000-0000-0000-0000-000000000000", "gpu-00000003-0000-0000-0000-000000000003", "1650000000003",
    "1320000000400", "0,", ",0", "0x1", "01", "0:0", "0/1/0",
];
const FILES: &[&str] = &["log", "log.csv", "no/such/folder/log", ".", "a b"];
pub const FORMATS: &[&str] = &[
    "csv", "csv,noheader", "csv,noheader,nounits", "csv,nounits", "noheader,csv", "CSV", "noheader", "csv,",
    "csv,bogus", "csv, noheader", "csv,csv", "xml",
];
const SWITCH: &[&str] = &[
    "0", "1", "ENABLED", "DISABLED", "enabled", "2", "-1", "0x1", "1.0", "on",
];
const CLOCKS: &[&str] = &[
    "1500", "1500,1600", "1600,1500", "210,1980", "0", "-5", "x", "1500,", "1,2,3", "99999",
];
const SECTIONS: &[&str] = &[
    "MEMORY", "UTILIZATION", "ECC", "TEMPERATURE", "POWER", "CLOCK", "COMPUTE", "PIDS", "PERFORMANCE",
    "SUPPORTED_CLOCKS", "PAGE_RETIREMENT", "ACCOUNTING", "ENCODER_STATS", "SUPPORTED_GPU_TARGET_TEMP",
    "VOLTAGE", "FBC_STATS", "ROW_REMAPPER", "GSP_FIRMWARE_VERSION", "ECC,POWER", "clock", "BOGUS", "PIDS,",
    "MEMORY,MEMORY", "CLOCK,BOGUS",
];
const COUNT: &[&str] = &["1", "1", "1", "2", "0", "-1", "x"];
const GPU: Row = ("-i", IDS);
const SOME: &[&str] = &["0", "1", "2", "x", "-1"];

/// Options that show.
pub const SHOW: &[Theme] = &[
    Theme { weight: 12, first: &[], options: &[
        GPU, ("--id", IDS), ("-f", FILES), ("-l", &["1", "0", "x", "5", "-1", "0.5"]), ("-g", IDS),
        ("-a", NOTHING), ("-lms", &["200", "0", "x", "1000"]),
    ] },
    Theme { weight: 8, first: &["-q"], options: &[
        GPU, ("-d", SECTIONS), ("--display", SECTIONS), ("-x", NOTHING), ("-u", NOTHING), ("-f", FILES),
        ("-a", NOTHING), ("--dtd", NOTHING), ("--xml-format", NOTHING), ("-lms", &["300", "0"]),
    ] },
    Theme { weight: 6, first: &[], options: &[
        ("-L", NOTHING), ("--list-gpus", NOTHING), ("-B", NOTHING), ("--list-excluded-gpus", NOTHING), GPU,
        ("--version", NOTHING), ("-h", NOTHING),
    ] },
    Theme { weight: 3, first: &[], options: &[
        ("--dtd", NOTHING), ("-u", NOTHING), ("-f", FILES), ("-x", NOTHING), ("-q", NOTHING),
    ] },
    Theme { weight: 3, first: &["topo"], options: &[
        ("-m", NOTHING), ("-p2p", &["r", "w", "n", "a", "p", "x", "rw"]), ("-i", IDS), ("-c", COUNT),
        ("-n", SOME), ("-p", NOTHING), ("-C", NOTHING), ("-M", NOTHING), ("-mp", NOTHING), ("-h", NOTHING),
    ] },
    Theme { weight: 3, first: &["nvlink"], options: &[
        ("-s", NOTHING), ("--status", NOTHING), ("-c", NOTHING), ("-e", NOTHING), ("-R", NOTHING),
        ("-p", NOTHING), ("-i", IDS), ("-l", &["0", "3", "17", "99", "x"]), ("-gt", &["d", "r", "x"]),
        ("-h", NOTHING),
    ] },
    Theme { weight: 2, first: &["dmon"], options: &[
        ("-c", COUNT), ("-d", SOME), ("-s", &["p", "pu", "pucvmet", "x", "m"]), ("-i", IDS),
        ("-o", &["D", "T", "DT", "x"]), ("-f", FILES), ("--format", FORMATS), ("-h", NOTHING),
    ] },
    Theme { weight: 2, first: &["pmon"], options: &[
        ("-c", COUNT), ("-d", SOME), ("-s", &["u", "m", "um", "x"]), ("-i", IDS),
        ("-o", &["D", "T", "DT", "x"]), ("-f", FILES), ("-h", NOTHING),
    ] },
    Theme { weight: 2, first: &["mig"], options: &[
        ("-lgip", NOTHING), ("-lgipp", NOTHING), ("-lgi", NOTHING), ("-lcip", NOTHING), ("-lcipp", NOTHING),
        ("-lci", NOTHING), ("-i", IDS), ("-gi", SOME), ("-ci", SOME), ("-h", NOTHING),
    ] },
    Theme { weight: 2, first: &["pci"], options: &[
        ("-i", IDS), ("-gErrCnt", NOTHING), ("-gCnt", NOTHING), ("-h", NOTHING),
    ] },
    Theme { weight: 1, first: &["c2c"], options: &[
        ("-s", NOTHING), ("-i", IDS), ("-l", SOME), ("-h", NOTHING),
    ] },
    Theme { weight: 1, first: &["encodersessions"], options: &[
        ("-c", COUNT), ("-i", IDS), ("-d", SOME), ("-h", NOTHING),
    ] },
    Theme { weight: 1, first: &["fbcsessions"], options: &[
        ("-c", COUNT), ("-i", IDS), ("-d", SOME), ("-h", NOTHING),
    ] },
    Theme { weight: 1, first: &["conf-compute"], options: &[
        ("-gc", NOTHING), ("-f", NOTHING), ("-q", NOTHING), ("-gm", NOTHING), ("-d", NOTHING),
        ("-e", NOTHING), ("-h", NOTHING),
    ] },
    Theme { weight: 1, first: &["vgpu"], options: &[
        ("-q", NOTHING), ("-s", NOTHING), ("-c", NOTHING), ("-i", IDS), ("-h", NOTHING),
    ] },
    Theme { weight: 1, first: &["base-clocks"], options: &[
        ("-i", IDS), ("-h", NOTHING),
    ] },
];

/// What --query-* takes its fields from, and the options beside it.
pub const QUERY: &[Row] = &[
    GPU,
    ("--id", IDS),
    ("-f", FILES),
    ("-lms", &["300", "0", "x"]),
    ("-l", &["1", "0", "x"]),
    ("--format", FORMATS),
    ("-g", IDS),
];

/// Options that change a GPU.
pub const CHANGE: &[Theme] = &[
    Theme { weight: 8, first: &[], options: &[
        ("-pm", SWITCH), ("--persistence-mode", SWITCH), ("-e", SWITCH), ("-p", &["0", "1", "VOLATILE", "2"]),
        ("-c", &["0", "1", "2", "3", "4", "DEFAULT", "PROHIBITED", "EXCLUSIVE_PROCESS"]),
        ("--gom", &["0", "1", "2", "ALL_ON"]), ("-vm", &["3", "4", "5", "VGPU"]), ("-lgc", CLOCKS),
        ("-m", SOME), ("-rgc", NOTHING), ("-lmc", CLOCKS), ("-rmc", NOTHING), ("-lmcd", CLOCKS),
        ("-rmcd", NOTHING), ("-ac", &["3201,1980", "2619,1980", "5001,1590", "1,2", "1980", "x,y"]),
        ("-rac", NOTHING), ("-acp", &["0", "1", "UNRESTRICTED"]),
        ("-pl", &["500", "300.5", "60", "0", "-5", "9999", "x", ""]), ("-sc", SOME), ("-cc", SWITCH),
        ("-am", SWITCH), ("-caa", NOTHING), ("--auto-boost-default", SWITCH),
        ("--auto-boost-permission", SWITCH), ("-mig", SWITCH), ("-gtt", &["80", "65", "x", "0", "500"]),
        ("-eow", NOTHING), GPU, ("-t", &["0", "1", "GREEN", "2"]), ("-u", NOTHING), ("-dm", &["0", "WDDM"]),
        ("-fdm", &["0", "TCC"]),
    ] },
    Theme { weight: 1, first: &["drain"], options: &[
        ("-p", &["0000:19:00.0", "00000000:00:06.0", "x"]), ("-m", SWITCH), ("-q", NOTHING), ("-r", NOTHING),
        ("-h", NOTHING),
    ] },
    Theme { weight: 1, first: &["nvlink"], options: &[
        ("-r", &["0", "1", "x"]), ("-sLowPwrThres", SOME), ("-i", IDS), ("-re", NOTHING),
    ] },
    Theme { weight: 1, first: &["mig"], options: &[
        ("-cgi", &["19", "0", "9,9", "x"]), ("-C", NOTHING), ("-dgi", NOTHING), ("-cci", &["0", "x"]),
        ("-dci", NOTHING), ("-gi", SOME), ("-ci", SOME), ("-i", IDS),
    ] },
    Theme { weight: 1, first: &["compute-policy"], options: &[
        ("-l", NOTHING), ("--set-timeslice", SOME), ("-i", IDS), ("-h", NOTHING),
    ] },
    Theme { weight: 1, first: &["clocks"], options: &[
        ("--sync-boost", IDS), ("-l", NOTHING), ("-h", NOTHING),
    ] },
    Theme { weight: 1, first: &["boost-slider"], options: &[
        ("-l", NOTHING), ("--vboost", SOME), ("-i", IDS), ("-h", NOTHING),
    ] },
    Theme { weight: 1, first: &["power-hint"], options: &[
        ("-l", NOTHING), ("-gc", CLOCKS), ("-t", SOME), ("-p", SOME), ("-i", IDS), ("-h", NOTHING),
    ] },
];

/// Words that belong nowhere. (`daemon` is not among the subcommands: it would stay.)
pub const JUNK: &[&str] = &[
    "bogus", "--bogus", "-", "--", "", "=", "a=b", "-qx", "0", "--format=csv", "x=-q", "-Z", "-L=0", "--ID",
    "q", "-I", "--help-me",
];
/// Values that no option wants.
pub const ODD: &[&str] = &[
    "", " ", "=", "-", "--", "bogus", "a=b", "0=1", "-foo", "1e3", "99999999999", "é", "0x", "-q", "-i",
    "--format=csv",
];

/// The lists that nvidia-smi can be asked for.
pub const LISTS: &[&str] = &[
    "gpu", "supported-clocks", "compute-apps", "accounted-apps", "retired-pages", "remapped-rows",
];
