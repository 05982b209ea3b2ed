//! `encodersessions` and `fbcsessions`: one line a session and sample.

use std::ffi::OsString;

use super::repeat::{Pace, repeat};
use crate::args::{Args, ENCODERSESSIONS, FBCSESSIONS, Layout, Sessions, Stamps, Subcommand};
use crate::nvml::{Gpu, Missing, Reading, each};
use crate::output::Output;
use crate::render::scroll::{Again, End, Scroll, Style};
use crate::value::Value;
use crate::watch::{self, Column, Row};

/// Watches the video encoding sessions.
pub fn encoder(arguments: &[OsString]) -> anyhow::Result<()> {
    watch(&ENCODERSESSIONS, arguments, watch::ENCODER, |gpu| {
        gpu.encoder_sessions()
    })
}

/// Watches the frame buffer capture sessions.
pub fn capture(arguments: &[OsString]) -> anyhow::Result<()> {
    watch(&FBCSESSIONS, arguments, watch::CAPTURE, |gpu| {
        gpu.capture_sessions()
    })
}

fn watch<T: Send>(
    subcommand: &Subcommand,
    arguments: &[OsString],
    columns: &[Column<T>],
    sessions: fn(&Gpu) -> Reading<Vec<T>>,
) -> anyhow::Result<()> {
    let line = Sessions::read(subcommand, arguments)?;
    let driver = crate::open()?;
    let mut gpus = crate::select(&driver, &Args::of(line.ids.clone()))?;
    let pace = Pace {
        every: line.every()?,
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
                    scroll.line(time, gpu.index(), &cells, "", out);
                }
                for item in sessions.iter().flatten() {
                    let row = Row { gpu, item };
                    let cells: Vec<_> = columns.iter().map(|column| (column.get)(&row)).collect();
                    scroll.line(time, gpu.index(), &cells, "", out);
                }
            }
        },
    )?;
    Ok(())
}
