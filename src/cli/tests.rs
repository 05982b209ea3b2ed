//! What nvidia-smi says to these lines (580.159.04, and 550.163.01 where a
//! change is asked for), and what is made of the good ones.

use super::*;
use crate::error::Status;

static KNOWN: &[&Subcommand] = &[&DMON, &TOPO, &Subcommand::not_built("prm", "")];
static DMON: Subcommand = Subcommand {
    options: &[opt("-c --count", Takes::Text, "", "")],
    refuses: Refuses::WithUsage,
    run: Run::Endlessly(|_| Ok(Status::Success)),
    ..Subcommand::not_built("dmon", "")
};
static TOPO: Subcommand = Subcommand {
    options: &[
        opt("-m --matrix", Takes::Nothing, "", ""),
        ID,
        opt("-c --cpu", Takes::Long, "N", ""),
        opt("-w --wide", Takes::Wide, "N", ""),
        opt("-o", Takes::MaybeAny, "TEXT", ""),
    ],
    needs: Needs::Command,
    run: Run::Once(|_| Ok(Status::Success)),
    ..Subcommand::not_built("topo", "")
};

fn read(line: &str) -> Result<Request, Error> {
    read_all(line.split_whitespace())
}

fn read_all<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<Request, Error> {
    super::read(arguments.into_iter().map(OsString::from), KNOWN)
}

/// Lines that are refused: the status, the message, and lines with the words that
/// stand for the `{}` of the message.
type Refused = (u8, &'static str, &'static str);

#[rustfmt::skip] // a table
const REFUSED: &[Refused] = &[
    // The report does not know an option.
    (255, "ERROR: Option {} is not recognized. Please run 'nvidia-smi -h'.\n\n", "
        --bogus => --bogus; -q --bogus => --bogus; bogus => bogus; -- => --; - => -; -qx => -qx; -eow => -eow;
        --format=csv => --format=csv; -q=0 => 0; -q=0=1 => 0=1; -i a=b --bogus => --bogus;
        -i a=-pm --bogus => --bogus; bogus=-pm 1 => bogus=-pm; bogus=-L => bogus=-L;
        -l --nothing => --nothing; -t 0 -t 1 => -t"),
    // Other forms do not.
    (255, "ERROR: Option {} is not recognized. Please run 'nvidia-smi -h' for help.\n\n", "
        stats -c 1 -d pwrDraw => stats; -pm 1 -q => -q; -eow -eow -q => -q; -t 0 -pm 1 => -t;
        -i 0 -i 0 --query-gpu=index --format=csv => --query-gpu=index; --dtd bogus -pm 1 => --dtd;
        --dtd -x => -x; --dtd -a => -a"),
    (2, "ERROR: Option {} is not recognized. Please run 'nvidia-smi -h' for help.\n\n", "
        -t 0 -q => -q; -t 0 --dtd => --dtd; --query-gpu=index -q => -q; --query-gpu=index -eow => -eow"),
    // Some commands stand alone.
    (2, "ERROR: Option {} is not valid for this command. Please run 'nvidia-smi -h' for help.\n\n", "
        -q -h => -q; -h bogus => bogus; foo -h => foo; --version -h => --version; --version -q => -q;
        -L --version => -L; -i 0 -L => -i; --id=0 -L => --id=0; -i -L => -i; -L extra => extra; -L=0 => 0;
        -L -pm x => -pm; -h=x => x"),
    (2, "ERROR: Only one command can be run at a time. Please run 'nvidia-smi -h' for help.\n\n", "
        --list-gpus -L; -L -B; -B -L x; -L=-L; --version --version"),
    // Values are missing, or cannot be read.
    (255, "ERROR: Option {} is missing its value. Please run 'nvidia-smi -h' for help.\n\n", "
        -i => -i; -i -q => -i; -i=-q => -i=-q; -f=-i => -f=-i; -i=-f => -i=-f; -f -i => -i; -q -d => -d; -f => -f;
        -col => -col; --query-gpu => --query-gpu; --query-gpu -i 0 => --query-gpu; -pm => -pm; -e -pm => -e;
        -i -t 0 => -i; -i -eow => -i; -t 0 -t => -t; bogus -pm => -pm; -pm x -f => -f; -t x -i => -i"),
    (2, "ERROR: Option {} is invalid for {}. Please run 'nvidia-smi -h' for help.\n\n", "
        -col x => x -col; -col -1 => -1 -col; -pm x => x -pm; -pm=x => x -pm=x; -pm -q => -q -pm;
        -pm 1=2 => 1=2 -pm; -pl abc => abc -pl; -m -1 => -1 -m; -t x => x -t; -t x bogus => x -t;
        -pm x -d => x -pm; -i -pm x => x -pm; -e x -pm x => x -e; -t x -pm y => y -pm;
        --help-query-gpu -t x => x -t"),
    // Options that do not go together are refused in this order.
    (2, "Invalid combination of input arguments. Specify -q/--query and -u/--unit to run a unit query.  Please run 'nvidia-smi -h' for help.\n\n", "
        -u; -x -u; -l 0 -u; -u -d MEMORY"),
    (2, "Invalid combination of input arguments. Specify -q/--query and -x/--xml-format to run an XML query.  Please run 'nvidia-smi -h' for help.\n\n", "
        -x; -x -d MEMORY; -x -l 0"),
    (2, "Invalid combination of input arguments. Specify -q/--query and -d/--display to run a filtered query.  Please run 'nvidia-smi -h' for help.\n\n", "
        -d MEMORY"),
    (2, "Invalid combination of input arguments: --display/-d flags can not be combined with {} flags.\n", "
        -q -x -u -d MEMORY => -x/--xml-format; -q -u -d MEMORY => -u/--unit"),
    (2, "Invalid combination of input arguments: Specify -x/--xml-format with the -q/--query and --dtd flags to embed DTD.\n", "-q --dtd"),
    (2, "Invalid combination of input arguments. Only one device modification may be done at a time.\n\n", "
        -pm 1 -pl 300; -i 0 -i 0 -i 0"),
    (2, "Invalid combination of input arguments. '--mode' can only be used with '--lock-gpu-clocks'.\n\n", "-m 0 -sc 0 -pl 1"),
    (2, "Invalid combination of input arguments. '--scope' can only be used with '--power-limits'.\n\n", "-sc 0 -pm 1 bogus"),
    (2, "Only one --query-* switch can be used at a time.\n", "--query-gpu=name --query-compute-apps=pid bogus"),
    // A loop needs a time.
    (2, "Provided [-l(ms) | --loop(-ms)=] value is incorrect. Loop frequency must be greater than 0.\n\n", "
        -l 0; -lms 0; --loop=0; -l 1 -lms 0; -l 0 -l; -lms 0 -lms; -l 0.0; -q -x -d MEMORY -l 0"),
    (2, "Provided [-l(ms) | --loop(-ms)=] value \"{}\" is not a number greater than 0.\n\n", "
        -l x => x; -l -1 => -1; -l 1s => 1s; -l nan => nan; -l inf => inf; -l 1e99 => 1e99"),
    // Subcommands: an invalid value comes first, then an unknown word, then a missing value.
    (2, "Option \"{}\" is not recognized.\n", "
        topo -z => -z; topo -m bogus => bogus; topo -m=3 => 3; topo -x=3 => -x=3; topo -m=3=-m => 3=-m;
        topo -c -h -z => -z; topo -z -c -h => -z"),
    (2, "Option \"{}\" is missing its value.\n", "topo -c => -c; topo -c=-m => -c=-m; topo -c -h => -c"),
    (2, "Option \"{}\" is invalid for \"{}\".\n", "
        topo -c -z => -z -c; topo -c 1x => 1x -c; topo -c=1x => 1x -c=1x; topo -c 1=3 => 1=3 -c;
        topo -w -1 => -1 -w; topo -i -z -c 1x => 1x -c; topo -c 1x -i => 1x -c"),
    (255, "nvsmi does not have {}.\n", "prm -z => prm"),
    // A time is a number above 0.
    (2, "Option \"--timeout\" is missing its value.\n", "-L --timeout"),
    (2, "Provided --timeout value \"{}\" is not a number of seconds greater than 0.\n", "
        --timeout=; --timeout=0 => 0; -L --timeout -1 => -1; --timeout=x => x; --timeout=5s => 5s;
        --timeout=nan => nan; --timeout=inf => inf; --timeout=1e99 => 1e99; --timeout=1e-12 => 1e-12;
        -L --timeout -q => -q"),
    // --debug wants a file.
    (2, "Invalid input arguments. Please supply an argument for --debug. Run 'nvidia-smi -h' for help.\n\n", "
        --debug; -L --debug; -h --debug"),
    (2, "Invalid input arguments. Please run 'nvidia-smi -h' for help.\n\n", "--debug -q; --debug=-"),
];

#[test]
fn bad_lines_are_refused_as_nvidia_smi_refuses_them() {
    for (status, message, cases) in REFUSED {
        for case in cases.split(';') {
            let (line, words) = case.split_once("=>").unwrap_or((case, ""));
            let words = words.split_whitespace().chain([""]);
            let message = words.fold((*message).to_owned(), |text, word| {
                text.replacen("{}", word, 1)
            });
            let refusal = read(line).map_err(|error| (error.status() as u8, error.to_string()));
            assert_eq!(refusal, Err((*status, message)), "{line}");
        }
    }
}

#[test]
fn loops_have_a_time_of_their_own() -> Result<(), Error> {
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
        let every = Some(Ok(Duration::from_millis(milliseconds)));
        assert_eq!(read(line)?.every, every, "{line}");
    }
    assert_eq!(read("-q")?.every, None);
    Ok(())
}

#[test]
fn a_timeout_may_stand_anywhere() -> Result<(), Error> {
    for (line, rest) in [
        ("--timeout=5 -q -x", "-q -x"),
        ("--timeout 5 -q -x", "-q -x"),
        ("-q --timeout 5 -x", "-q -x"),
        ("-q -x --timeout=5.0", "-q -x"),
        ("--timeout 5 dmon -c 1", "dmon -c 1"),
        ("dmon -c 1 --timeout 5", "dmon -c 1"),
        ("--timeout 9 -L --timeout 5", "-L"),
    ] {
        let timeout = Some(Duration::from_secs(5));
        let rest = read(rest)?;
        assert_eq!(read(line)?, Request { timeout, ..rest }, "{line}");
    }
    assert!(read("--timeouts=1").is_err());
    Ok(())
}

#[test]
fn subcommands_read_their_values() -> Result<(), Error> {
    let topo = |text| line(&TOPO, text);
    let all = topo("--id=0,1 -c 5 -o -c 0x10 --matrix")?;
    assert_eq!((all.text("id"), all.number("cpu")), (Some("0,1"), Some(16)));
    assert_eq!(all.commands(), ["matrix", "cpu", "o"]);
    let empty = topo("-c= -o x")?;
    assert_eq!((empty.number("cpu"), empty.text("o")), (Some(0), Some("x")));
    assert_eq!(topo("-m -i 0=x")?.text("id"), Some("0=x"));
    assert_eq!(topo("-m --id=0=x")?.text("id"), Some("0=x"));
    assert!(!topo("-o -i 0=-m")?.has("matrix"));
    Ok(())
}

#[test]
fn a_line_that_asks_for_nothing_gets_the_usage_screen() -> Result<(), Error> {
    for line in ["topo", "topo -i 0", "topo -h", "topo -m -h"] {
        assert_eq!(read(line)?.command, Command::Usage(&TOPO, None), "{line}");
    }
    let complaint = Some("Option \"-z\" is not recognized.\n".to_owned());
    let usage = Command::Usage(&DMON, complaint);
    assert_eq!(read("dmon -z")?.command, usage);
    assert_eq!(read("dmon -z -h")?.command, Command::Usage(&DMON, None));
    assert!(matches!(read("dmon")?.command, Command::Subcommand(..)));
    Ok(())
}

#[test]
fn columns_go_from_1_to_64() -> Result<(), Error> {
    let message = "Invalid number of columns. Please provide a value between 1 and 64.\n";
    for line in ["-col 0", "-col 65", "-col 4294967295"] {
        let columns = Err(Error::refused(message));
        assert_eq!(read(line)?.command, Command::Summary { columns }, "{line}");
    }
    let columns = Ok(3);
    assert_eq!(read("-col 3")?.command, Command::Summary { columns });
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
        ("--debug=f -L", "-L"),
        ("-L --debug f", "-L"),
        ("--debug=f topo -m", "topo -m"),
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
    let expected = Request {
        command: Command::Query {
            list: List::Gpu,
            fields: "name,,uuid ".to_owned(),
            format: Some("csv, noheader".to_owned()),
        },
        ids: Some(String::new()),
        file: Some(PathBuf::new()),
        every: None,
        ..Request::default()
    };
    assert_eq!(query, expected);
    assert_eq!(read("-i -1")?.ids.as_deref(), Some("-1"));
    assert_eq!(read("-i --nothing")?.ids.as_deref(), Some("--nothing"));
    assert_eq!(read("--dtd -u")?.command, Command::Dtd { unit: true });
    let led = |dry_run| Command::Led { color: 1, dry_run };
    assert_eq!(read("-t AMBER")?.command, led(false));
    assert_eq!(read("-t AMBER --dry-run")?.command, led(true));
    assert_eq!(read("")?, Request::default());
    Ok(())
}

#[test]
fn changes_arrive_with_their_values() -> Result<(), Error> {
    let modify = |line| match read(line)?.command {
        Command::Modify(modify) => Ok::<_, Error>(modify),
        other => panic!("{line} was taken for {other:?}"),
    };
    for (line, option, text) in [
        ("-pm 1", "persistence-mode", Some("1")),
        ("-pl 300.5W", "power-limit", Some("300.5W")),
        ("-rgc", "reset-gpu-clocks", None),
        ("-lgc -q", "lock-gpu-clocks", Some("-q")),
        ("-i 0 --gom=1", "gom", Some("1")),
    ] {
        let change = modify(line)?.change;
        let change = change
            .as_ref()
            .map(|given| (given.option.word(), given.text.as_deref()));
        assert_eq!(change, Some((option, text)), "{line}");
    }
    let bits = |line| Ok::<_, Error>(modify(line)?.change.map(|given| given.bits()));
    assert_eq!(
        (bits("-pm 1")?, bits("-pm -2")?),
        (Some(1), Some(u32::MAX - 1))
    );
    let nothing = "-pm -1; -pl -1; -pl nan; -lmcd 0; -i 0 -i 0; -eow -eow";
    for line in nothing.split(';') {
        assert_eq!(modify(line)?.change, None, "{line}");
    }
    let beside = modify("-eow -sc 1 -i 2 -pl 300")?;
    assert_eq!((beside.scope, beside.mode), (Some(1), None));
    assert!(beside.error_on_warning && !beside.dry_run);
    assert_eq!(read("-eow -sc 1 -i 2 -pl 300")?.ids.as_deref(), Some("2"));
    Ok(())
}

#[test]
fn a_reset_is_a_command_of_its_own() -> Result<(), Error> {
    for (line, kind, dry_run) in [
        ("-r", None, false),
        ("-r bus -i 0", Some("bus"), false),
        ("-r --dry-run", None, true),
    ] {
        let kind = kind.map(str::to_owned);
        let expected = Command::Reset { kind, dry_run };
        assert_eq!(read(line)?.command, expected, "{line}");
    }
    assert_eq!(read("--get-hostname")?.command, Command::Hostnames);
    Ok(())
}

#[test]
fn every_row_of_the_table_is_read() {
    for option in all_options() {
        for name in option.spellings() {
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
            match read(&line).map(|request| request.command) {
                Ok(Command::Modify(asked)) => assert!(asked.change.is_some(), "{line}"),
                other => assert!(other.is_ok(), "{line}: {other:?}"),
            }
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
