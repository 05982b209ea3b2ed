//! The keys that a box file may have, and what they hold: whatever else it says is a mistake, told with
//! its line.

use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

use crate::{
    answer,
    data::{self, FromData, Text},
};

/// What a key holds. Where it holds a value it may hold `"error:NAME"` instead.
pub enum Kind {
    /// A whole number, a switch, an amount with its unit, a word of NVML's.
    Number,
    /// A number that may have a fraction.
    Real,
    /// `true` or `false`.
    Switch,
    /// A string.
    Word,
    /// A string, or its bytes.
    Bytes,
    /// A number, with or without a fraction, or one for each scope.
    Field,
    /// Numbers.
    Numbers,
    /// Numbers, or the one that stands for all.
    NumberOrNumbers,
    /// Strings.
    Words,
    /// A string, or several.
    WordOrWords,
    /// The name or the number of a return code.
    Code,
    /// A table with these keys.
    Keys(&'static [Row]),
    /// Tables with these keys.
    Rows(&'static [Row]),
    /// Whatever: the simulator itself puts it there.
    Anything,
}
use Kind::*;

/// Keys that hold the same. Their parts have dots between them: a word, several in braces of which one is
/// meant, or `*` for a number.
pub type Row = (Kind, &'static str);

/// The keys of a box.
#[rustfmt::skip]
pub static BOX: &[Row] = &[
    (Keys(GPU), "every gpu.*"),
    (Word, "about inherits driver driver.{version,nvml,cuda,branch} sysfs.resets"),
    (Switch, "init library"),
    (Words, "missing interface_cards"),
    (Number, "count confidential.{cpu,gpus,environment,feature,dev_tools,multi_gpu,ready}"),
    (Number, "nvlink.bandwidth_mode sysfs.{cpus,nodes,users} vgpu.driver_capability.*"),
    (Number, "reported.{units,excluded} lists.{length,answer}"),
    (Rows(&[(Word, "bus_id uuid")]), "excluded"),
    (Rows(FAULT), "fault"),
    (Rows(SYSFS_DEVICE), "sysfs.device"),
    (Anything, "boards latency layouts"),
];

#[rustfmt::skip]
static FAULT: &[Row] = &[
    (WordOrWords, "function except"),
    (Code, "code"),
    (Numbers, "codes"),
    (Number, "gpu from until"),
    (Switch, "hang stop crash exit quit end_thread leave_child"),
];

#[rustfmt::skip]
static SYSFS_DEVICE: &[Row] = &[
    (Word, "path class name max_link_speed"),
    (Number, "node vendor"),
];

/// The keys of a GPU, and of a board.
#[rustfmt::skip]
pub static GPU: &[Row] = &[
    (Word, "inherits board"),
    // What it is.
    (Bytes, "name serial uuid board_part_number inforom.image vbios_version vgpu.metadata"),
    (Word, "compute_capability gpu_part_number fru_part_number gsp.version hostname pci.bus_id"),
    (Word, "inforom.{oem,ecc,power,den} platform.{fabric_guid,chassis_serial,rack_guid}"),
    (Number, "brand architecture board_id multi_gpu_board minor_number cores irq numa_node pdi"),
    (Number, "inforom.checksum capabilities platform.{slot,tray,host_id,peer_type,module_id}"),
    (Number, "pci.{device_id,subsystem_id,base_class,sub_class,bus_type} bridge_chip.{type,firmware}"),
    (Number, "pcie.{generation,width,max_generation,gpu_max_generation,host_max_generation,max_width}"),
    (Number, "pcie.{speed,max_speed,replays,replay_rollovers,tx,rx,inbound_atomics,outbound_atomics}"),
    (Word, "topology.cpus"),
    (Number, "topology.{board,switch,switches,host_bridge,numa_node} p2p.{read,write,nvlink,atomics,pci}"),
    // How it is set.
    (Words, "settable"),
    (Number, "display.{mode,active} persistence_mode compute_mode c2c draining addressing_mode"),
    (Number, "{driver_model,operation_mode,dram_encryption}.{current,pending} sparse_operation_mode"),
    (Number, "gsp.{mode,default} auto_boost.{enabled,default} restricted.{application_clocks,auto_boost}"),
    (Number, "virtualization.{mode,host_vgpu,heterogeneous} vgpu.licensable vgpu.capability.*"),
    (Rows(LICENSE), "vgpu.licenses"),
    (Switch, "inforom.valid"),
    // What it measures.
    (Number, "performance_state fan.{count,speed,rpm,min_speed,max_speed,target_speed,policy} voltage"),
    (Number, "temperature.{gpu,memory,margin} temperature.tlimit.{shutdown,slowdown,memory_max,gpu_max}"),
    (Number, "temperature.threshold.{shutdown,slowdown,memory_max,gpu_max,gps_current}"),
    (Number, "temperature.threshold.{acoustic_min,acoustic_current,acoustic_max}"),
    (Number, "{power,module_power,memory_power,base_power}.{average,instant,limit,enforced_limit}"),
    (Number, "{power,module_power,memory_power,base_power}.{default_limit,min_limit,max_limit}"),
    (Number, "power.{management,usage,energy,source}"),
    (Number, "clocks.{current,application,default_application,customer_boost,max}.{graphics,sm,memory,video}"),
    (Number, "clocks.base.graphics clocks.{graphics_offset,memory_offset,adaptive}"),
    (Numbers, "clocks.locked.{graphics,memory}"),
    (Number, "clocks.locked.memory_deferred"),
    (Rows(&[(Real, "memory max min step")]), "supported_clocks"),
    (Numbers, "supported_performance_states"),
    (Number, "memory.{total,reserved,used,free,bus_width} bar1.{total,used,free}"),
    (Number, "protected_memory.{total,used,free,protected_kib,unprotected_kib}"),
    (Number, "utilization.{gpu,memory,encoder,decoder,jpeg,ofa,period}"),
    (Number, "event_reasons.{active,supported} event_types"),
    (Number, "event_counters.{sw_power_cap,sync_boost,sw_thermal_slowdown,hw_thermal_slowdown}"),
    (Number, "event_counters.hw_power_brake_slowdown"),
    (Number, "violations.{power,thermal,sync_boost,board_limit,low_utilization,reliability}"),
    (Number, "violations.{total_application_clocks,total_base_clocks}"),
    (Number, "{encoder,fbc}.{sessions,average_fps,average_latency} encoder.capacity.*"),
    (Rows(SESSION), "{encoder,fbc}.session"),
    (Number, "bbx_flush.{timestamp,duration} bbx_time.run"),
    (Keys(SAMPLES), "samples.{power,gpu,memory,encoder,decoder,sm_clock,memory_clock,module_power,jpeg,ofa}"),
    (Switch, "gpm.supported"),
    (Number, "gpm.streaming"),
    (Real, "gpm.metric.*"),
    // How it fares.
    (Number, "ecc.{current,pending,default} ecc.sram.threshold_exceeded"),
    (Number, "ecc.{corrected,uncorrected}.{volatile,aggregate}.{total,l1_cache,l2_cache,dram,register_file}"),
    (Number, "ecc.{corrected,uncorrected}.{volatile,aggregate}.{texture_memory,texture_shm,cbu,sram}"),
    (Number, "ecc.sram.{volatile,aggregate}.{parity,secded,corrected} ecc.sram.source.{l2,sm,pcie,mcu,other}"),
    (Number, "retired_pages.pending"),
    (Rows(&[(Number, "address timestamp")]), "retired_pages.{single_bit,double_bit}"),
    (Number, "remapped_rows.{corrected,corrected_inactive,uncorrected,uncorrected_inactive,pending,failure}"),
    (Number, "remapped_rows.histogram.{max,high,partial,low,none}"),
    (Number, "repair.{channel_pending,tpc_pending,unrepairable_memory}"),
    (Number, "recovery.{action,reset_required,drain_and_reset_recommended}"),
    // Its links.
    (NumberOrNumbers, "nvlink.{links,switch_links,active,speed,version,power_state,power_threshold}"),
    (NumberOrNumbers, "nvlink.errors.{replay,recovery,crc,crc_data,ecc_data} nvlink.remote.link"),
    (NumberOrNumbers, "nvlink.throughput.{data_tx,data_rx,raw_tx,raw_rx}"),
    (Number, "nvlink.capability.{p2p,system_memory,p2p_atomics,system_memory_atomics,sli_bridge,valid}"),
    (Number, "nvlink.{bridge,encrypted} nvlink.remote.{type,device_id}"),
    (Numbers, "nvlink.inactive"),
    (Words, "nvlink.remote.bus_ids"),
    (NumberOrNumbers, "c2c_links.{count,status,max_bandwidth,power_state}"),
    (NumberOrNumbers, "c2c_links.errors.{interrupt,replay,replay_b2b}"),
    (Number, "fabric.{state,status,clique_id,health,health_mask}"),
    (Word, "fabric.cluster_uuid"),
    // What runs on it, and the parts that it is cut into.
    (Rows(PROCESS), "processes"),
    (Number, "accounting.{mode,buffer_size}"),
    (Rows(ACCOUNT), "accounting.processes"),
    (Number, "mig.{current,pending,max_devices,multiprocessors_per_slice,resetless}"),
    (Switch, "mig.activation"),
    (Rows(MIG_PROFILE), "mig.profiles"),
    (Rows(MIG_DEVICE), "mig.devices"),
    // Numbers without names.
    (Numbers, "power_profiles.{supported,requested,enforced,undescribed} power_profiles.conflicts.*"),
    (Number, "power_profiles.priority.* export_table.*"),
    (Field, "field.*"),
];

#[rustfmt::skip]
static LICENSE: &[Row] = &[
    (Word, "product"),
    (Number, "enabled licensed"),
    (NumberOrNumbers, "expiry"),
];

#[rustfmt::skip]
static SESSION: &[Row] = &[(Number, "id pid codec width height fps latency display type flags max_width max_height")];

#[rustfmt::skip]
static SAMPLES: &[Row] = &[(Number, "number period_us"), (Numbers, "values")];

#[rustfmt::skip]
static PROCESS: &[Row] = &[
    (Number, "pid memory gi ci utilization.{sm,memory,encoder,decoder,jpeg,ofa}"),
    (Word, "type"),
    (Bytes, "name"),
];

#[rustfmt::skip]
static ACCOUNT: &[Row] = &[(Number, "pid gpu memory max_memory time_ms start_us running")];

#[rustfmt::skip]
static MIG_PROFILE: &[Row] = &[
    (Word, "name"),
    (Number, "number id p2p graphics slices instances multiprocessors copy_engines decoders encoders"),
    (Number, "jpeg ofa memory_mib size"),
    (Numbers, "starts"),
];

#[rustfmt::skip]
static MIG_DEVICE: &[Row] = &[
    (Bytes, "name uuid"),
    (Number, "gi ci profile placement.{start,size} compute.{profile,start,size}"),
    (Number, "attributes.{multiprocessors,copy_engines,decoders,encoders,jpeg,ofa}"),
    (Number, "attributes.{gpu_slices,compute_slices,memory_mib}"),
    (Number, "memory.{total,reserved,used,free} bar1.{total,used,free}"),
    (Number, "ecc.{corrected,uncorrected}.{volatile,aggregate}.{total,dram,sram,l1_cache,l2_cache,register_file}"),
];

/// Reads a file, and refuses one with a key that is none of `keys`, or that holds something else than it
/// should.
pub fn read(text: &str, keys: &[Row]) -> Result<Table, String> {
    let file = DeTable::parse(text).map_err(|e| e.to_string())?;
    check(file.get_ref(), keys, "", "").map_err(|Mistake(place, what)| {
        let line = text[..place].matches('\n').count() + 1;
        format!("line {line}: {what}")
    })?;
    Ok(plain_table(file.get_ref()))
}

/// Where in the text, and what it is.
struct Mistake(usize, String);

/// Checks a table. `path` is where it lies below the table that `keys` are of, which lies at `above`.
fn check(table: &DeTable, keys: &[Row], above: &str, path: &str) -> Result<(), Mistake> {
    let join = |path: &str, key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    for (key, value) in table {
        let path = join(path, key.get_ref());
        let name = join(above, &path);
        let (kind, begins) = find(keys, &path);
        if kind.is_none() && !begins {
            let what = format!("there is no key `{name}`");
            return Err(Mistake(key.span().start, what));
        }
        let right = match (kind, value.get_ref()) {
            (Some(Anything), _) => true,
            (Some(Keys(keys)), DeValue::Table(inner)) => {
                check(inner, keys, &name, "")?;
                true
            }
            (_, DeValue::Table(inner)) if begins => {
                check(inner, keys, above, &path)?;
                true
            }
            (Some(Rows(keys)), DeValue::Array(rows)) => {
                for row in rows {
                    if let DeValue::Table(row) = row.get_ref() {
                        check(row, keys, &name, "")?;
                    }
                }
                rows.iter().all(|row| row.get_ref().is_table())
            }
            (kind, value) => {
                let value = plain(value);
                data::error_of(&value).is_some() || kind.is_some_and(|kind| kind.is_of(&value))
            }
        };
        if !right {
            let what = kind.map_or("keys of its own", Kind::words);
            let what = format!("`{name}` should have {what}");
            return Err(Mistake(value.span().start, what));
        }
    }
    Ok(())
}

/// What a key holds, if it is one, and whether others begin with it.
fn find<'k>(keys: &'k [Row], path: &str) -> (Option<&'k Kind>, bool) {
    let (mut found, mut begins) = (None, false);
    for (kind, patterns) in keys {
        for pattern in patterns.split(' ') {
            let mut parts = pattern.split('.');
            let mut words = path.split('.');
            if words.all(|word| parts.next().is_some_and(|part| is_one(part, word))) {
                match parts.next() {
                    None => found = Some(kind),
                    Some(_) => begins = true,
                }
            }
        }
    }
    (found, begins)
}

/// Whether a part of a pattern means a word.
fn is_one(part: &str, word: &str) -> bool {
    match part
        .strip_prefix('{')
        .and_then(|part| part.strip_suffix('}'))
    {
        Some(several) => several.split(',').any(|one| one == word),
        None if part == "*" => word.bytes().all(|byte| byte.is_ascii_digit()),
        None => part == word,
    }
}

impl Kind {
    fn is_of(&self, value: &Value) -> bool {
        match self {
            Number => i64::from_data(value).is_some(),
            Real => f64::from_data(value).is_some(),
            Switch => bool::from_data(value).is_some(),
            Word => String::from_data(value).is_some(),
            Bytes => Text::from_data(value).is_some(),
            Field => Real.is_of(value) || NumberOrNumbers.is_of(value),
            Numbers => Vec::<i64>::from_data(value).is_some(),
            NumberOrNumbers => Number.is_of(value) || Numbers.is_of(value),
            Words => Vec::<String>::from_data(value).is_some(),
            WordOrWords => Word.is_of(value) || Words.is_of(value),
            Code => value
                .as_str()
                .is_some_and(|name| answer::code(name).is_some()),
            Keys(_) | Rows(_) => false,
            Anything => true,
        }
    }

    fn words(&self) -> &'static str {
        match self {
            Number => "a number, a switch, an amount or a word of NVML's",
            Real => "a number",
            Switch => "true or false",
            Word => "a text",
            Bytes => "a text or its bytes",
            Field | NumberOrNumbers => "a number or several",
            Numbers => "numbers",
            Words => "texts",
            WordOrWords => "a text or several",
            Code => "the name of a return code",
            Keys(_) => "keys of its own",
            Rows(_) => "a list of tables",
            Anything => "anything",
        }
    }
}

fn plain_table(table: &DeTable) -> Table {
    let pairs = table.iter();
    pairs
        .map(|(key, value)| (key.get_ref().to_string(), plain(value.get_ref())))
        .collect()
}

/// A value as the simulator keeps it. Whole numbers from 2^63 on, which TOML's own do not reach, are texts.
fn plain(value: &DeValue) -> Value {
    match value {
        DeValue::String(text) => text.to_string().into(),
        DeValue::Integer(number) => {
            let (digits, radix) = (number.as_str(), number.radix());
            let small = i64::from_str_radix(digits, radix).map(Value::Integer);
            small
                .or_else(|_| {
                    u64::from_str_radix(digits, radix).map(|large| format!("{large:#x}").into())
                })
                .unwrap_or_else(|_| digits.into())
        }
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map_or_else(|_| number.as_str().into(), Value::Float),
        DeValue::Boolean(switch) => (*switch).into(),
        DeValue::Datetime(time) => (*time).into(),
        DeValue::Array(values) => values
            .iter()
            .map(|value| plain(value.get_ref()))
            .collect::<Vec<_>>()
            .into(),
        DeValue::Table(table) => plain_table(table).into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_with_its_line() {
        for (text, told) in [
            (
                "about = 'x'\ntemperatur = 1",
                "line 2: there is no key `temperatur`",
            ),
            (
                "[gpu.0]\n\ntemperatur.gpu = 91",
                "line 3: there is no key `gpu.0.temperatur`",
            ),
            (
                "[gpu.0]\ntemperature.gpus = 91",
                "line 2: there is no key `gpu.0.temperature.gpus`",
            ),
            (
                "[every]\nproceses = []",
                "line 2: there is no key `every.proceses`",
            ),
            ("[gpu.x]\nname = ''", "line 1: there is no key `gpu.x`"),
            (
                "[every]\nprocesses = [\n{ pid = 1 },\n{ id = 2 }]",
                "line 4: there is no key `every.processes.id`",
            ),
            (
                "[every.samples.power]\nsize = 3",
                "line 2: there is no key `every.samples.power.size`",
            ),
            (
                "every.mig.devices = [{ gi = 1,\nslot = 2 }]",
                "line 2: there is no key `every.mig.devices.slot`",
            ),
            (
                "[[fault]]\nfunctoin = 'x'",
                "line 2: there is no key `fault.functoin`",
            ),
            (
                "[[sysfs.device]]\npth = 'x'",
                "line 2: there is no key `sysfs.device.pth`",
            ),
            (
                "gpu.0.temperature.gpu = 'warm'",
                "line 1: `gpu.0.temperature.gpu` should have a number, a switch, an amount or a word of NVML's",
            ),
            (
                "gpu.0.architecture = 'hoper'",
                "line 1: `gpu.0.architecture` should have a number",
            ),
            (
                "gpu.0.power.usage = 'error:TIMEUOT'",
                "line 1: `gpu.0.power.usage` should have a number",
            ),
            (
                "gpu.0.power.usage = '70 w'",
                "line 1: `gpu.0.power.usage` should have a number",
            ),
            (
                "gpu.0.power.usage = [70]",
                "line 1: `gpu.0.power.usage` should have a number",
            ),
            (
                "gpu.0.power = 70",
                "line 1: `gpu.0.power` should have keys of its own",
            ),
            (
                "gpu.0.uuid = 7",
                "line 1: `gpu.0.uuid` should have a text or its bytes",
            ),
            (
                "gpu.0.pci.bus_id = [7]",
                "line 1: `gpu.0.pci.bus_id` should have a text",
            ),
            (
                "gpu.0.gpm.supported = 1",
                "line 1: `gpu.0.gpm.supported` should have true or false",
            ),
            (
                "gpu.0.processes = { pid = 1 }",
                "line 1: `gpu.0.processes` should have a list of tables",
            ),
            (
                "gpu.0.processes = [7]",
                "line 1: `gpu.0.processes` should have a list of tables",
            ),
            (
                "every.nvlink.inactive = ['x']",
                "line 1: `every.nvlink.inactive` should have numbers",
            ),
            (
                "fault = [{ code = 'TIMEUOT' }]",
                "line 1: `fault.code` should have the name of a return code",
            ),
            (
                "missing = 'nvmlInit'",
                "line 1: `missing` should have texts",
            ),
            (
                "library = 'no'",
                "line 1: `library` should have true or false",
            ),
            ("every = 3", "line 1: `every` should have keys of its own"),
        ] {
            let mistake = read(text, BOX).unwrap_err();
            assert!(mistake.starts_with(told), "{text}: {mistake}");
        }
    }

    #[test]
    fn what_is_right_is_taken() {
        for text in [
            "gpu.0.power = 'error:TIMEOUT'",
            "gpu.0.power.usage = 'error:999'",
            "gpu.0.power.usage = '70 W'",
            "gpu.0.processes = 'error:UNKNOWN'",
            "gpu.0.persistence_mode = 7",
            "gpu.0.field = { 94 = [1, 2], 95 = 1.5, 96 = 'error:UNKNOWN' }",
            "gpu.0.name = [0x2F, 0xFF]",
            "driver = '535.54'",
            "driver = { version = '535.54' }",
            "[[fault]]\nfunction = ['a', 'b*']\ncode = '15'",
        ] {
            read(text, BOX).unwrap_or_else(|mistake| panic!("{text}: {mistake}"));
        }
    }

    #[test]
    fn numbers_have_all_64_bits() {
        for (text, number) in [
            ("pdi = 18446744073709551615", u64::MAX),
            ("pdi = 0xFFFFFFFFFFFFFFFE", u64::MAX - 1),
            ("pdi = 9223372036854775808", 1 << 63),
            ("pdi = 9223372036854775807", (1 << 63) - 1),
            ("pdi = 1_000", 1000),
        ] {
            let table = read(text, GPU).unwrap();
            assert_eq!(
                u64::from_data(table.get("pdi").unwrap()),
                Some(number),
                "{text}"
            );
        }
        assert!(read("pdi = 18446744073709551616", GPU).is_err());
    }

    #[test]
    fn what_the_library_reads_may_be_said() {
        // What a board lists under `settable`, and not a key.
        const NO_KEYS: [&str; 1] = ["ecc.errors"];
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/exports");
        let mut seen = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let texts = source
                .lines()
                .flat_map(|line| line.split('"').skip(1).step_by(2));
            let is_key = |text: &&str| {
                let plain = |byte: u8| byte.is_ascii_lowercase() || b"._".contains(&byte);
                text.contains('.')
                    && text.bytes().all(plain)
                    && !NO_KEYS.contains(text)
                    && !text.starts_with("layouts.")
            };
            for key in texts.filter(is_key) {
                seen += 1;
                let nvlink = format!("nvlink.{key}");
                let known = [(GPU, key), (BOX, key), (MIG_DEVICE, key), (GPU, &nvlink)]
                    .into_iter()
                    .any(|(keys, key)| matches!(find(keys, key), (Some(_), _) | (_, true)));
                assert!(known, "{key}");
            }
        }
        assert!(seen > 200, "{seen}");
    }
}
