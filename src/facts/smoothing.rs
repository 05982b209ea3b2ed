//! Power smoothing, which keeps the draw from jumping (Blackwell and later):
//! `NVML_FI_PWR_SMOOTHING_*`, with the numbers of R580.82 and later.

use super::Context;
use crate::nvml::{FieldNumber, Reading};
use crate::value::Value;

/// The profile in use, as the scope of a question.
pub const CURRENT_PROFILE: u32 = 5;

/// The fields, which a report asks for at once.
pub const FIELDS: &[(u32, u32)] = &fields();

/// 251 to 268 and 275 to 288.
const fn fields() -> [(u32, u32); 32] {
    let mut fields = [(0, CURRENT_PROFILE); 32];
    let mut place = 0;
    while place < fields.len() {
        let number = place as u32;
        fields[place].0 = if number < 18 {
            251 + number
        } else {
            257 + number
        };
        place += 1;
    }
    fields
}

/// A number as it comes: watts are real numbers.
pub fn plain(number: FieldNumber) -> Value {
    match number {
        FieldNumber::Whole(number) => number.into(),
        FieldNumber::Real(number) => Value::Hundredths(number),
    }
}

/// Percent, with so many decimals.
pub fn percent(number: FieldNumber, decimals: usize) -> Value {
    format!("{:.decimals$}%", real(number)).into()
}

/// Watts a second, of which NVML tells thousandths.
pub fn rate(number: FieldNumber) -> Value {
    Value::Hundredths(real(number) / 1000.0)
}

/// A number, whether it came whole or real.
pub fn real(number: FieldNumber) -> f64 {
    match number {
        FieldNumber::Whole(number) => number as f64,
        FieldNumber::Real(number) => number,
    }
}

/// Whether a field of the current profile is on.
pub fn is_on<T>(context: &Context<T>, id: u32) -> Reading<bool> {
    Ok(real(context.gpu.field(id, CURRENT_PROFILE)?) != 0.0)
}
