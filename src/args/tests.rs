//! What nvidia-smi says to these lines (580.159.04, and 550.163.01 where a
//! change is asked for), and what is made of the good ones.

use super::*;
use crate::args::change::Change;

fn read(line: &str) -> Result<Args, Error> {
    read_all(line.split_whitespace())
}

fn read_all<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<Args, Error> {
    Args::read(arguments.into_iter().map(OsString::from))
}

/// Asserts that a line is refused with this status and text; `error(...)` rows
/// share nvidia-smi's frame.
fn assert_refused(line: &str, status: u8, message: &str) {
    let error = read(line).map(|args| args.command);
    let Err(error) = error else {
        panic!("{line} was taken for {error:?}");
    };
    assert_eq!(
        (error.status() as u8, error.to_string()),
        (status, message.to_owned()),
        "{line}"
    );
}

fn assert_error(line: &str, status: u8, what: &str) {
    let message = format!("ERROR: {what}. Please run 'nvidia-smi -h' for help.\n\n");
    assert_refused(line, status, &message);
}

#[test]
fn the_report_does_not_know_an_option() {
    for (line, option) in [
        ("--bogus", "--bogus"),
        ("-q --bogus", "--bogus"),
        ("bogus", "bogus"),
        ("--", "--"),
        ("-", "-"),
        ("-qx", "-qx"),
        ("-eow", "-eow"),
        ("--format=csv", "--format=csv"),
        ("-q=0", "0"),
        ("-q=0=1", "0=1"),
        ("-i a=b --bogus", "--bogus"),
        ("-i a=-pm --bogus", "--bogus"),
        ("bogus=-pm 1", "bogus=-pm"),
        ("bogus=-L", "bogus=-L"),
        ("-l --nothing", "--nothing"),
        ("-t 0 -t 1", "-t"),
    ] {
        let message =
            format!("ERROR: Option {option} is not recognized. Please run 'nvidia-smi -h'.\n\n");
        assert_refused(line, 255, &message);
    }
}

#[test]
fn other_forms_do_not_know_an_option() {
    for (line, status, option) in [
        ("stats -c 1 -d pwrDraw", 255, "stats"),
        ("-pm 1 -q", 255, "-q"),
        (
            "-i 0 -i 0 --query-gpu=index --format=csv",
            255,
            "--query-gpu=index",
        ),
        ("-eow -eow -q", 255, "-q"),
        ("-t 0 -pm 1", 255, "-t"),
        ("--dtd bogus -pm 1", 255, "--dtd"),
        ("--dtd -x", 255, "-x"),
        ("--dtd -a", 255, "-a"),
        ("-t 0 -q", 2, "-q"),
        ("-t 0 --dtd", 2, "--dtd"),
        ("--query-gpu=index -q", 2, "-q"),
        ("--query-gpu=index -eow", 2, "-eow"),
    ] {
        assert_error(line, status, &format!("Option {option} is not recognized"));
    }
}

#[test]
fn some_commands_stand_alone() {
    for (line, option) in [
        ("-q -h", "-q"),
        ("-h bogus", "bogus"),
        ("foo -h", "foo"),
        ("--version -h", "--version"),
        ("--version -q", "-q"),
        ("-L --version", "-L"),
        ("-i 0 -L", "-i"),
        ("--id=0 -L", "--id=0"),
        ("-i -L", "-i"),
        ("-L extra", "extra"),
        ("-L=0", "0"),
        ("-L -pm x", "-pm"),
        ("-h=x", "x"),
    ] {
        assert_error(
            line,
            2,
            &format!("Option {option} is not valid for this command"),
        );
    }
    for line in [
        "--list-gpus -L",
        "-L -B",
        "-B -L x",
        "-L=-L",
        "--version --version",
    ] {
        assert_error(line, 2, "Only one command can be run at a time");
    }
}

#[test]
fn values_are_missing() {
    for (line, option) in [
        ("-i", "-i"),
        ("-i -q", "-i"),
        ("-i=-q", "-i=-q"),
        ("-f=-i", "-f=-i"),
        ("-i=-f", "-i=-f"),
        ("-f -i", "-i"),
        ("-q -d", "-d"),
        ("-f", "-f"),
        ("-col", "-col"),
        ("--query-gpu", "--query-gpu"),
        ("--query-gpu -i 0", "--query-gpu"),
        ("-pm", "-pm"),
        ("-e -pm", "-e"),
        ("-i -t 0", "-i"),
        ("-i -eow", "-i"),
        ("-t 0 -t", "-t"),
        ("bogus -pm", "-pm"),
        ("-pm x -f", "-f"),
        ("-t x -i", "-i"),
    ] {
        assert_error(line, 255, &format!("Option {option} is missing its value"));
    }
}

#[test]
fn values_are_invalid() {
    for (line, value, option) in [
        ("-col x", "x", "-col"),
        ("-col -1", "-1", "-col"),
        ("-pm x", "x", "-pm"),
        ("-pm=x", "x", "-pm=x"),
        ("-pm -q", "-q", "-pm"),
        ("-pm 1=2", "1=2", "-pm"),
        ("-pl abc", "abc", "-pl"),
        ("-m -1", "-1", "-m"),
        ("-t x", "x", "-t"),
        ("-t x bogus", "x", "-t"),
        ("-pm x -d", "x", "-pm"),
        ("-i -pm x", "x", "-pm"),
        ("-e x -pm x", "x", "-e"),
        ("-t x -pm y", "y", "-pm"),
        ("--help-query-gpu -t x", "x", "-t"),
    ] {
        assert_error(line, 2, &format!("Option {value} is invalid for {option}"));
    }
}

#[test]
fn combinations_are_refused_in_order() {
    let specify = |what| {
        format!(
            "Invalid combination of input arguments. Specify -q/--query and {what}.  Please run 'nvidia-smi -h' for help.\n\n"
        )
    };
    for line in ["-u", "-x -u", "-l 0 -u", "-u -d MEMORY"] {
        assert_refused(line, 2, &specify("-u/--unit to run a unit query"));
    }
    for line in ["-x", "-x -d MEMORY", "-x -l 0"] {
        assert_refused(line, 2, &specify("-x/--xml-format to run an XML query"));
    }
    assert_refused(
        "-d MEMORY",
        2,
        &specify("-d/--display to run a filtered query"),
    );
    for (line, why) in [
        (
            "-q -x -u -d MEMORY",
            ": --display/-d flags can not be combined with -x/--xml-format flags.\n",
        ),
        (
            "-q -u -d MEMORY",
            ": --display/-d flags can not be combined with -u/--unit flags.\n",
        ),
        (
            "-q --dtd",
            ": Specify -x/--xml-format with the -q/--query and --dtd flags to embed DTD.\n",
        ),
        (
            "-pm 1 -pl 300",
            ". Only one device modification may be done at a time.\n\n",
        ),
        (
            "-i 0 -i 0 -i 0",
            ". Only one device modification may be done at a time.\n\n",
        ),
        (
            "-m 0 -sc 0 -pl 1",
            ". '--mode' can only be used with '--lock-gpu-clocks'.\n\n",
        ),
        (
            "-sc 0 -pm 1 bogus",
            ". '--scope' can only be used with '--power-limits'.\n\n",
        ),
    ] {
        assert_refused(
            line,
            2,
            &format!("Invalid combination of input arguments{why}"),
        );
    }
    let two_lists = "Only one --query-* switch can be used at a time.\n";
    assert_refused(
        "--query-gpu=name --query-compute-apps=pid bogus",
        2,
        two_lists,
    );
}

#[test]
fn the_interval_is_a_number_above_0() -> Result<(), Error> {
    let zero = "Provided [-l(ms) | --loop(-ms)=] value is incorrect. Loop frequency must be greater than 0.\n\n";
    for line in [
        "-l 0",
        "-lms 0",
        "--loop=0",
        "-l 1 -lms 0",
        "-l 0 -l",
        "-lms 0 -lms",
        "-l 0.0",
        "-q -x -d MEMORY -l 0",
    ] {
        assert_refused(line, 2, zero);
    }
    for value in ["x", "-1", "1s", "nan", "inf", "1e99"] {
        let message = format!(
            "Provided [-l(ms) | --loop(-ms)=] value \"{value}\" is not a number greater than 0.\n\n"
        );
        assert_refused(&format!("-l {value}"), 2, &message);
    }
    for (line, milliseconds) in [
        ("-l", 5000),
        ("-lms", 100),
        ("-l 2", 2000),
        ("-l=0x10", 16000),
        ("-l 0.5", 500),
        ("--loop-ms=250 -q", 250),
        ("-l 1 -lms 200", 200),
        ("-lms 200 -l 1", 1000),
        ("-l 1 -l", 1000),
        ("-lms 200 -lms", 200),
        ("-l 1 -lms", 1000),
        ("-l -lms", 100),
        ("-lms -l", 5000),
        ("-l -l", 5000),
        ("--query-gpu=index -l -i 0", 5000),
    ] {
        assert_eq!(
            read(line)?.every.as_ref().map(Interval::read),
            Some(Ok(Duration::from_millis(milliseconds))),
            "{line}"
        );
    }
    assert_eq!(read("-q")?.every, None);
    Ok(())
}

#[test]
fn columns_go_from_1_to_64() -> Result<(), Error> {
    let message = "Invalid number of columns. Please provide a value between 1 and 64.\n";
    for asked in [Some(0), Some(65), Some(u32::MAX)] {
        let refusal = columns(asked).err().map(|error| error.to_string());
        assert_eq!(refusal.as_deref(), Some(message), "{asked:?}");
    }
    assert_eq!(
        read("-col 3")?.command,
        Command::Summary { columns: Some(3) }
    );
    Ok(())
}

#[test]
fn debug_wants_a_file_and_is_forgotten() -> Result<(), Error> {
    let message = "Invalid input arguments. Please supply an argument for --debug. Run 'nvidia-smi -h' for help.\n\n";
    for line in ["--debug", "-L --debug", "-h --debug"] {
        assert_refused(line, 2, message);
    }
    let message = "Invalid input arguments. Please run 'nvidia-smi -h' for help.\n\n";
    for line in ["--debug -q", "--debug=-"] {
        assert_refused(line, 2, message);
    }
    for line in ["--debug=f -L", "-L --debug f"] {
        assert_eq!(read(line)?.command, Command::ListGpus);
    }
    let args = read("--debug=f topo -m")?.command;
    assert_eq!(args, read("topo -m")?.command);
    Ok(())
}

#[test]
fn spellings_of_one_request_are_one() -> Result<(), Error> {
    for (one, other) in [
        ("-q -i 0 -d MEMORY", "--display=MEMORY --id=0 --query"),
        ("-q -x", "-a=-x"),
        ("-q -g 0", "-q -i 0"),
        ("-q -i 1 -g 0", "-q -i 0"),
        ("-q -q -x -x", "-x -q"),
        ("-q -d ECC -d MEMORY", "-q -d=MEMORY"),
        (
            "--query-gpu name --format csv",
            "--format=csv --query-gpu=name",
        ),
        ("--query-gpu=a --query-gpu=b", "--query-gpu=b"),
        ("-pm ENABLED", "--persistence-mode=0x1"),
        ("-ac 1,2", "--application-clocks=1,2"),
        ("-rac", "--reset-application-clocks"),
        ("-B", "--list-blacklist-gpus"),
        ("-dmon -c 1", "dmon -c 1"),
        ("-h -h", "--help"),
        ("--help-query-gpu bogus -q", "--help-query-gpu"),
        ("-q=-x=-f=a", "-x -q -f a"),
    ] {
        assert_eq!(read(one)?, read(other)?, "{one} | {other}");
    }
    Ok(())
}

#[test]
fn requests_keep_their_values_as_written() -> Result<(), Error> {
    let query = read_all([
        "--query-gpu=name,,uuid ",
        "--format=csv, noheader",
        "-i",
        "",
        "-f",
        "",
    ])?;
    let expected = Args {
        command: Command::Query {
            list: List::Gpu,
            fields: "name,,uuid ".to_owned(),
            format: Some("csv, noheader".to_owned()),
        },
        ids: Some(String::new()),
        file: Some(PathBuf::new()),
        every: None,
        ..Args::default()
    };
    assert_eq!(query, expected);
    assert_eq!(read("-i -1")?.ids.as_deref(), Some("-1"));
    assert_eq!(read("-i --nothing")?.ids.as_deref(), Some("--nothing"));
    assert_eq!(read("--dtd -u")?.command, Command::Dtd { unit: true });
    let led = |dry_run| Command::Led { color: 1, dry_run };
    assert_eq!(read("-t AMBER")?.command, led(false));
    assert_eq!(read("-t AMBER --dry-run")?.command, led(true));
    assert_eq!(read("")?, Args::default());
    Ok(())
}

#[test]
fn the_format_is_a_list_of_words() {
    let format = |list| {
        Format::read(list)
            .map(|format| (format.header, format.units))
            .ok()
    };
    assert_eq!(format("csv"), Some((true, true)));
    assert_eq!(format("noheader,csv"), Some((false, true)));
    assert_eq!(format("csv,,nounits,"), Some((true, false)));
    assert_eq!(format(""), Some((true, true)));
    for list in ["json", "CSV", "csv, noheader"] {
        assert_eq!(format(list), None, "{list}");
    }
}

#[test]
fn changes_arrive_with_their_values() -> Result<(), Error> {
    let change = |line| match read(line)?.command {
        Command::Modify(modify) => Ok::<_, Error>(modify.change),
        other => panic!("{line} was taken for {other:?}"),
    };
    assert_eq!(change("-pm 1")?, Some(Change::PersistenceMode { mode: 1 }));
    assert_eq!(
        change("-pm -2")?,
        Some(Change::PersistenceMode {
            mode: 4_294_967_294
        })
    );
    assert_eq!(
        change("-pl 300.5W")?,
        Some(Change::PowerLimit { watts: 300.5 })
    );
    assert_eq!(change("-r")?, Some(Change::GpuReset { kind: None }));
    assert_eq!(
        change("-r bus -i 0")?,
        Some(Change::GpuReset {
            kind: Some("bus".to_owned())
        })
    );
    assert_eq!(change("-rgc")?, Some(Change::ResetGpuClocks));
    let clocks = "-q".to_owned();
    assert_eq!(change("-lgc -q")?, Some(Change::LockGpuClocks { clocks }));
    for nothing in [
        "-pm -1",
        "-pl -1",
        "-pl nan",
        "-lmcd 0",
        "-i 0 -i 0",
        "-eow -eow",
    ] {
        assert_eq!(change(nothing)?, None, "{nothing}");
    }
    let args = read("-eow -sc 1 -i 2 -pl 300")?;
    let expected = Modify {
        change: Some(Change::PowerLimit { watts: 300.0 }),
        mode: None,
        scope: Some(1),
        error_on_warning: true,
        dry_run: false,
    };
    assert_eq!(
        (args.command, args.ids.as_deref()),
        (Command::Modify(expected), Some("2"))
    );
    Ok(())
}

/// Clap must take every spelling that the option table has.
#[test]
fn every_row_of_the_table_is_read() {
    use crate::spelling::options::{GROUPS, Takes};
    for option in GROUPS.iter().flat_map(|group| group.options) {
        for name in option.names.split(' ') {
            let mut line = match option.takes {
                Takes::Nothing => name.to_owned(),
                _ => format!("{name}=1"),
            };
            line += match option.word() {
                "mode" => " -lgc 1",
                "scope" => " -pl 1",
                "error-on-warning" | "dry-run" => " -pm 1",
                "unit" | "xml-format" | "display" => " -q",
                "format" => " --query-gpu=index",
                _ => "",
            };
            assert!(read(&line).is_ok(), "{line}: {:?}", read(&line));
        }
    }
}

#[test]
fn an_obsolete_word_is_warned_of_before_all_else() -> Result<(), Error> {
    let args = read("-c EXCLUSIVE_THREAD")?;
    assert!(args.warnings.starts_with("Warning: EXCLUSIVE_THREAD"));
    assert!(read("-c 1")?.warnings.is_empty());
    let refused = read("-c EXCLUSIVE_THREAD -c EXCLUSIVE_THREAD");
    let told = refused.map_err(|error| error.to_string());
    assert!(told.is_err_and(|text| text.matches("Warning: ").count() == 2));
    Ok(())
}
