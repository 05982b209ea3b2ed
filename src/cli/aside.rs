//! Options that are taken out of the line before anything else is read, so that
//! they may stand anywhere.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use super::line::words;
use super::number;
use crate::error::Error;

/// It waits for NVML no longer than its value, in seconds. nvidia-smi lacks it.
const TIMEOUT: &str = "--timeout";

/// It says the same for every line.
const VARIABLE: &str = "NVSMI_TIMEOUT";

/// The line without `--timeout`, and what that says; the last one counts.
pub fn without_timeout(arguments: Vec<String>) -> Result<(Vec<String>, Option<Duration>), Error> {
    let mut rest = Vec::with_capacity(arguments.len());
    let mut timeout = None;
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let value = match argument.strip_prefix(TIMEOUT) {
            Some("") => arguments.next().ok_or_else(|| {
                Error::refused(format!("Option \"{TIMEOUT}\" is missing its value.\n"))
            })?,
            Some(text) if text.starts_with('=') => text[1..].to_owned(),
            _ => {
                rest.push(argument);
                continue;
            }
        };
        timeout = Some(time(TIMEOUT, value.as_ref())?);
    }
    Ok((rest, timeout))
}

/// What the environment says of it; nothing where the variable is empty.
pub fn timeout_from_environment() -> Result<Option<Duration>, Error> {
    from_variable(std::env::var_os(VARIABLE))
}

fn from_variable(value: Option<OsString>) -> Result<Option<Duration>, Error> {
    let value = value.filter(|value| !value.is_empty());
    value.map(|value| time(VARIABLE, &value)).transpose()
}

/// A number of seconds greater than 0.
fn time(name: &str, value: &OsStr) -> Result<Duration, Error> {
    let time = value.to_str().and_then(|text| number::seconds(text, 1.0));
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| no_time(name, value))
}

/// The line without `--debug FILE`, nvidia-smi's log for NVIDIA's own eyes; nothing
/// is written to it. nvidia-smi finds it even as the value of another option, and
/// has no place for a second: only the last one goes.
pub fn without_debug(mut arguments: Vec<String>) -> Result<Vec<String>, Error> {
    let debug = arguments
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, argument)| {
            let debug = words(argument).find(|word| word.name == "--debug")?;
            let file = debug.rest.split_once('=').map(|(_, file)| file.to_owned());
            Some((at, file))
        });
    let Some((at, file)) = debug else {
        return Ok(arguments);
    };
    let refuse = |advice| {
        let message = format!("Invalid input arguments. {advice} 'nvidia-smi -h' for help.\n\n");
        Err(Error::refused(message))
    };
    arguments.remove(at);
    let file = match file {
        Some(file) => file,
        None if at < arguments.len() => arguments.remove(at),
        None => return refuse("Please supply an argument for --debug. Run"),
    };
    if file.starts_with('-') {
        refuse("Please run")
    } else {
        Ok(arguments)
    }
}

/// A `--timeout`, or what stands for it, that is no time.
fn no_time(name: &str, value: &OsStr) -> Error {
    let value = value.display();
    Error::refused(format!(
        "Provided {name} value \"{value}\" is not a number of seconds greater than 0.\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_has_a_time_or_nothing() {
        let read = |text: &str| from_variable(Some(text.into()));
        assert_eq!(read("0.5"), Ok(Some(Duration::from_millis(500))));
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("x"), Err(no_time(VARIABLE, OsStr::new("x"))));
    }
}
