//! The views that a survey asks for, and how to tell that an answer is whole.

/// A command line, and what its answer is like.
pub struct View {
    /// The heading of its column.
    pub name: &'static str,
    /// The words of the line, between blanks.
    pub line: &'static str,
    /// Whether an answer with exit status 0 is whole.
    pub is_whole: fn(&str) -> bool,
}

const fn view(name: &'static str, line: &'static str, is_whole: fn(&str) -> bool) -> View {
    View {
        name,
        line,
        is_whole,
    }
}

/// Views that only read.
#[rustfmt::skip]
pub const READING: &[View] = &[
    view("table", "", framed),
    view("-L", "-L", lines),
    view("gpu", "--query-gpu=index,name,uuid,driver_version,pstate,temperature.gpu,utilization.gpu,memory.used,memory.total,power.draw,power.limit,clocks.sm,ecc.mode.current,mig.mode.current --format=csv", columns),
    view("apps", "--query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv", columns),
    view("acct", "--query-accounted-apps=gpu_uuid,pid,gpu_utilization,mem_utilization,max_memory_usage,time --format=csv", columns),
    view("clk", "--query-supported-clocks=memory,graphics --format=csv", columns),
    view("pages", "--query-retired-pages=gpu_uuid,retired_pages.address,retired_pages.cause --format=csv", columns),
    view("rows", "--query-remapped-rows=gpu_uuid,remapped_rows.correctable,remapped_rows.uncorrectable,remapped_rows.pending,remapped_rows.failure --format=csv", columns),
    view("-q", "-q", blocks),
    view("-x", "-q -x", |text| text.trim_end().ends_with("</nvidia_smi_log>")),
    view("-m", "topo -m", |text| text.contains("\nLegend:\n")),
    view("-mp", "topo -mp", |text| text.contains("\nLegend:\n")),
    view("p2p", "topo -p2p r", |text| text.contains("\nLegend:\n")),
    view("nv-s", "nvlink -s", any),
    view("nv-c", "nvlink -c", any),
    view("nv-R", "nvlink -R", any),
    view("nv-e", "nvlink -e", any),
    view("dmon", "dmon -c 1", samples),
    view("pmon", "pmon -c 1", samples),
    view("lgip", "mig -lgip", framed_or_none),
    view("lgi", "mig -lgi", framed_or_none),
    view("lci", "mig -lci", framed_or_none),
    view("lcip", "mig -lcip", framed_or_none),
];

/// Views that change a GPU.
#[rustfmt::skip]
pub const CHANGING: &[View] = &[
    view("pm", "-pm 1", lines),
    view("e", "-e 1", lines),
    view("p", "-p 0", lines),
    view("c", "-c 3", lines),
    view("dm", "-dm 0", lines),
    view("fdm", "-fdm 0", lines),
    view("gom", "--gom=0", lines),
    view("gtt", "-gtt 80", lines),
    view("vm", "-vm 0", lines),
    view("lgc", "-lgc 1000", lines),
    view("rgc", "-rgc", lines),
    view("lmc", "-lmc 1000", lines),
    view("rmc", "-rmc", lines),
    view("lmcd", "-lmcd 1000", lines),
    view("rmcd", "-rmcd", lines),
    view("ac", "-ac 1000,1000", lines),
    view("rac", "-rac", lines),
    view("acp", "-acp 0", lines),
    view("pl", "-pl 250", lines),
    view("cc", "-cc 1", lines),
    view("am", "-am 1", lines),
    view("caa", "-caa", lines),
    view("abd", "--auto-boost-default=0", lines),
    view("abp", "--auto-boost-permission=0", lines),
    view("mig", "-mig 1", lines),
    view("r", "-r", lines),
    view("t", "-t 0", lines),
    view("cgi", "mig -cgi 19", lines),
    view("cci", "mig -cci 0", lines),
    view("dci", "mig -dci", lines),
    view("dgi", "mig -dgi", lines),
    view("drain", "drain -p 0000:01:00.0 -m 1", lines),
    view("srs", "conf-compute -srs 1", lines),
    view("lowp", "nvlink -sLowPwrThres 1", any),
    view("rc", "nvlink -re", any),
    view("pci", "pci -cErrCnt", lines),
    view("boost", "boost-slider --vboost 1", lines),
    view("slice", "compute-policy --set-timeslice 0", lines),
    view("psmo", "power-smoothing -s 1", lines),
];

/// Anything: where no GPU has NVLink, there is nothing to say.
fn any(_: &str) -> bool {
    true
}

/// Something, to the end of a line.
fn lines(text: &str) -> bool {
    text.ends_with('\n')
}

/// Closed by a frame.
fn framed(text: &str) -> bool {
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    last.starts_with("+-") && last.ends_with("-+")
}

/// The same, or the word that no GPU is in MIG mode.
fn framed_or_none(text: &str) -> bool {
    framed(text) || text == "No MIG-enabled devices found.\n"
}

/// As many cells in each row as in the heading.
fn columns(text: &str) -> bool {
    let mut cells = text.lines().map(|line| line.split(", ").count());
    let heading = cells.next().unwrap_or_default();
    lines(text) && cells.all(|cells| cells == heading)
}

/// As many GPUs as are attached.
fn blocks(text: &str) -> bool {
    let attached = text
        .lines()
        .find_map(|line| line.strip_prefix("Attached GPUs")?.split(": ").nth(1));
    let blocks = text.lines().filter(|line| line.starts_with("GPU ")).count();
    lines(text) && attached.and_then(|number| number.trim().parse().ok()) == Some(blocks)
}

/// A row below the headings.
fn samples(text: &str) -> bool {
    lines(text) && text.lines().any(|line| !line.starts_with('#'))
}
