//! `encodersessions` and `fbcsessions`: one line a session and sample.

use std::time::Duration;

use super::repeat::{Pace, repeat};
use crate::cli::Takes::MaybeAny;
use crate::cli::number::signed;
use crate::cli::{ID, Line, Needs, Opt, Refuses, Run, Subcommand, opt};
use crate::commands::begin;
use crate::error::{Error, Status};
use crate::facts::Context;
use crate::nvml::{Gpu, Missing, Reading, each};
use crate::output::Output;
use crate::render::scroll::{Again, End, Layout, Scroll, Stamps, Style};
use crate::value::Value;
use crate::watch::{self, Column};

/// `encodersessions`.
#[rustfmt::skip]
pub static ENCODERSESSIONS: Subcommand = Subcommand {
    name: "encodersessions",
    about: "Video encoding sessions",
    notes: "One line a session and sample, until interrupted.",
    options: &[ID, LOOP],
    refuses: Refuses::Tersely,
    needs: Needs::Nothing,
    run: Run::Endlessly(encoder),
};

/// `fbcsessions`.
#[rustfmt::skip]
pub static FBCSESSIONS: Subcommand = Subcommand {
    name: "fbcsessions",
    about: "Frame buffer capture sessions",
    notes: "One line a session and sample, until interrupted.",
    options: &[ID, LOOP],
    refuses: Refuses::Tersely,
    needs: Needs::Nothing,
    run: Run::Endlessly(capture),
};

const LOOP: Opt = opt(
    "-l --loop",
    MaybeAny,
    "SEC",
    "A sample every SEC seconds, 1 to 10; every 5 without a\nnumber, every second without this option",
);

/// Watches the video encoding sessions.
fn encoder(line: &Line) -> anyhow::Result<Status> {
    watch(line, watch::ENCODER, |gpu| gpu.encoder_sessions())
}

/// Watches the frame buffer capture sessions.
fn capture(line: &Line) -> anyhow::Result<Status> {
    watch(line, watch::CAPTURE, |gpu| gpu.capture_sessions())
}

/// How long from one sample to the next: 1 to 10 seconds.
pub fn every(line: &Line) -> Result<Duration, Error> {
    let seconds = match line.last("loop").map(|given| given.text.as_deref()) {
        None => Some(1),
        Some(None | Some("")) => Some(5),
        Some(Some(text)) => signed(text).filter(|seconds| (1..=10).contains(seconds)),
    };
    let seconds = seconds.ok_or_else(wrong_interval)?;
    Ok(Duration::from_secs(seconds.unsigned_abs().into()))
}

fn watch<T: Send>(
    line: &Line,
    columns: &[Column<T>],
    sessions: fn(&Gpu) -> Reading<Vec<T>>,
) -> anyhow::Result<Status> {
    let driver = begin::open()?;
    let mut gpus = begin::select(&driver, line.text("id"))?;
    let pace = Pace {
        every: every(line)?,
        count: None,
    };
    let style = Style {
        index: "GPU",
        again: Again::Samples(10),
        end: End::Bare,
    };
    let headings = columns
        .iter()
        .map(|column| column.heading.clone())
        .collect();
    let mut scroll = Scroll::new(style, headings, Stamps::default(), Layout::PLAIN);
    let mut output = Output::stdout()?;
    repeat(
        pace,
        &mut gpus,
        &mut output,
        Vec::new(),
        |gpus, time, out| {
            scroll.sample(out);
            for (gpu, sessions) in gpus.iter().zip(each(gpus, sessions)) {
                // A dash says that there is no session; what cannot be read says why.
                let other = match &sessions {
                    Ok(sessions) if sessions.is_empty() => Some(Err(Missing::NO_DATA)),
                    Ok(_) => None,
                    Err(missing) => Some(Ok(Value::word(missing.words_or_not_available()))),
                };
                if let Some(cell) = other {
                    let cells = vec![cell; columns.len()];
                    scroll.line(time, gpu.index(), &cells, Ok(""), out);
                }
                for item in sessions.iter().flatten() {
                    let context = Context {
                        time,
                        driver: &driver,
                        gpu,
                        item,
                    };
                    let cells: Vec<_> = columns
                        .iter()
                        .map(|column| (column.get)(&context))
                        .collect();
                    scroll.line(time, gpu.index(), &cells, Ok(""), out);
                }
            }
        },
    )?;
    Ok(Status::Success)
}

/// An interval of `encodersessions` or `fbcsessions` that is none.
fn wrong_interval() -> Error {
    Error::refused(
        "Provided [-l(sec) | --loop(sec)=] value is incorrect. Loop frequency must be between 1 and 10.\n\n",
    )
}
