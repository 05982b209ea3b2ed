//! `encodersessions` and `fbcsessions`: one line a session.

use super::{Column, column};
use crate::nvml::{CaptureSession, EncoderSession};
use crate::value::{Value, enabled};

/// The columns of `encodersessions`.
#[rustfmt::skip]
pub const ENCODER: &[Column<EncoderSession>] = &[
    column("Session", "Id", 7, |context| Ok(context.item.sessionId.into())),
    column("Process", "Id", 10, |context| Ok(context.item.pid.into())),
    column("Codec", "Type", 7, |context| Ok(word(CODECS, context.item.codecType))),
    column("H", "Res", 7, |context| Ok(context.item.hResolution.into())),
    column("V", "Res", 7, |context| Ok(context.item.vResolution.into())),
    column("Average", "FPS", 7, |context| Ok(context.item.averageFps.into())),
    column("Average", "Latency(us)", 11, |context| Ok(context.item.averageLatency.into())),
];

/// The columns of `fbcsessions`.
#[rustfmt::skip]
pub const CAPTURE: &[Column<CaptureSession>] = &[
    column("Session", "Id", 9, |context| Ok(context.item.sessionId.into())),
    column("Process", "Id", 9, |context| Ok(context.item.pid.into())),
    column("Display", "Ordinal", 9, |context| Ok(context.item.displayOrdinal.into())),
    column("Session", "Type", 9, |context| Ok(word(SESSIONS, context.item.sessionType))),
    column("Diff. Map", "State", 9, |context| Ok(enabled(context.item.sessionFlags & DIFFERENCE_MAP != 0))),
    column("Class. Map", "State", 11, |context| Ok(enabled(context.item.sessionFlags & CLASSIFICATION_MAP != 0))),
    column("Capture", "Mode", 13, |context| Ok(capture_mode(context.item.sessionFlags))),
    column("Max H", "Res", 7, |context| Ok(context.item.hMaxResolution.into())),
    column("Max V", "Res", 7, |context| Ok(context.item.vMaxResolution.into())),
    column("H", "Res", 5, |context| Ok(context.item.hResolution.into())),
    column("V", "Res", 5, |context| Ok(context.item.vResolution.into())),
    column("Average", "FPS", 9, |context| Ok(context.item.averageFPS.into())),
    column("Average", "Latency(us)", 13, |context| Ok(context.item.averageLatency.into())),
];

/// `nvmlEncoderType_t`.
const CODECS: &[&str] = &["H.264", "H.265", "AV1"];

/// `nvmlFBCSessionType_t`.
const SESSIONS: &[&str] = &["Unknown", "ToSys", "Cuda", "Vid", "HWEnc"];

/// `NVML_NVFBC_SESSION_FLAG_*`.
const DIFFERENCE_MAP: u32 = 1;
const CLASSIFICATION_MAP: u32 = 1 << 1;
const CAPTURE_MODES: &[(u32, &str)] = &[
    (1 << 2, "Non-blocking"),
    (1 << 3, "Blocking"),
    (1 << 4, "Timed"),
];

fn word(words: &'static [&'static str], number: u32) -> Value {
    Value::word(words.get(number as usize).unwrap_or(&"Unknown"))
}

fn capture_mode(flags: u32) -> Value {
    let mode = CAPTURE_MODES.iter().find(|(flag, _)| flags & flag != 0);
    Value::word(mode.map_or("Unknown", |(_, word)| word))
}
