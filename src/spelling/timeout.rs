//! `--timeout SECONDS`, which nvidia-smi does not have: it is taken out of the
//! line before anything else is read, so that it may stand before a subcommand
//! as well as after it.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use crate::error::Error;

const OPTION: &str = "--timeout";

/// What says the same for every line.
pub const VARIABLE: &str = "NVSMI_TIMEOUT";

/// The line without it, and what it says; the last one counts.
pub fn without(arguments: Vec<OsString>) -> Result<(Vec<OsString>, Option<Duration>), Error> {
    let mut rest = Vec::with_capacity(arguments.len());
    let mut timeout = None;
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let value = match argument.to_str().and_then(|text| text.strip_prefix(OPTION)) {
            Some("") => arguments.next().ok_or_else(|| {
                Error::refused(format!("Option \"{OPTION}\" is missing its value.\n"))
            })?,
            Some(text) if text.starts_with('=') => OsString::from(&text[1..]),
            _ => {
                rest.push(argument);
                continue;
            }
        };
        timeout = Some(seconds(&value).ok_or_else(|| Error::timeout(OPTION, &value))?);
    }
    Ok((rest, timeout))
}

/// What the variable says; nothing where it is empty.
pub fn from_variable(value: Option<OsString>) -> Result<Option<Duration>, Error> {
    match value {
        Some(value) if !value.is_empty() => match seconds(&value) {
            None => Err(Error::timeout(VARIABLE, &value)),
            time => Ok(time),
        },
        _ => Ok(None),
    }
}

/// A number of seconds greater than 0.
fn seconds(text: &OsStr) -> Option<Duration> {
    let seconds = text.to_str()?.parse().ok()?;
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    (!time.is_zero()).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<(String, Option<Duration>), String> {
        let words = line.split(' ').map(OsString::from).collect();
        let (rest, timeout) = without(words).map_err(|error| error.to_string())?;
        Ok((rest.join(OsStr::new(" ")).to_string_lossy().into(), timeout))
    }

    #[test]
    fn it_may_stand_anywhere() {
        let five = Some(Duration::from_secs(5));
        for (line, rest) in [
            ("--timeout=5 -q -x", "-q -x"),
            ("--timeout 5 -q -x", "-q -x"),
            ("-q --timeout 5 -x", "-q -x"),
            ("-q -x --timeout=5.0", "-q -x"),
            ("--timeout 5 dmon -c 1", "dmon -c 1"),
            ("dmon -c 1 --timeout 5", "dmon -c 1"),
            ("--timeout 9 -L --timeout 5", "-L"),
        ] {
            assert_eq!(read(line), Ok((rest.to_owned(), five)), "{line}");
        }
        assert_eq!(read("-L"), Ok(("-L".to_owned(), None)));
        assert_eq!(read("--timeouts=1"), Ok(("--timeouts=1".to_owned(), None)));
    }

    #[test]
    fn a_time_is_a_number_above_0() {
        for value in [
            "", "0", "-1", "x", "5s", "nan", "inf", "1e99", "1e-12", "-q",
        ] {
            let refused = Err(format!(
                "Provided --timeout value \"{value}\" is not a number of seconds greater than 0.\n"
            ));
            assert_eq!(read(&format!("--timeout={value}")), refused);
            assert_eq!(read(&format!("-L --timeout {value}")), refused);
        }
        let missing = "Option \"--timeout\" is missing its value.\n";
        assert_eq!(read("-L --timeout"), Err(missing.to_owned()));
        let variable =
            |text: &str| from_variable(Some(text.into())).map_err(|error| error.to_string());
        assert_eq!(variable("0.5"), Ok(Some(Duration::from_millis(500))));
        assert_eq!(variable(""), Ok(None));
        assert!(variable("x").is_err_and(|text| text.contains(VARIABLE)));
    }
}
