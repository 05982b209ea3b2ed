//! Numbers that come with their type: fields by id, and samples.

use nvml_wrapper_sys::bindings::*;

use super::library::{Device, function};
use super::{ask, checked, list, zeroed};
use crate::nvml::reading::{Missing, Reading};

/// A number out of `nvmlDeviceGetFieldValues`, by the type that NVML gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldNumber {
    /// Any of the whole numbers.
    Whole(i64),
    /// A floating-point number.
    Real(f64),
}

/// `nvmlDeviceGetFieldValues` for several ids at once: one call, one reading
/// each. `ids` holds (field id, scope id) pairs; the ids are sent as they are.
pub fn field_values(device: Device, ids: &[(u32, u32)]) -> Reading<Vec<Reading<FieldNumber>>> {
    let mut values = asked_fields(ids);
    ask(
        function!(nvmlDeviceGetFieldValues),
        device,
        move |f, device| {
            // SAFETY: a live handle and as many values as are told.
            checked(unsafe { f(device.handle(), values.len() as i32, values.as_mut_ptr()) })?;
            Ok(values
                .into_iter()
                .map(|value| {
                    checked(value.nvmlReturn)?;
                    number(value.valueType, value.value)
                })
                .collect())
        },
    )
}

/// Fields by (field id, scope id), for NVML to fill or to clear. One that it leaves as
/// it is has no value.
pub fn asked_fields(ids: &[(u32, u32)]) -> Vec<nvmlFieldValue_t> {
    let field = |&(id, scope)| nvmlFieldValue_t {
        fieldId: id,
        scopeId: scope,
        nvmlReturn: nvmlReturn_enum_NVML_ERROR_UNKNOWN,
        ..zeroed()
    };
    ids.iter().map(field).collect()
}

/// The number in a union, by the type that NVML says it has.
fn number(kind: nvmlValueType_t, union: nvmlValue_t) -> Reading<FieldNumber> {
    // SAFETY: `kind` tells which member NVML wrote; the bytes of the others are
    // zero or numbers, so that any member can be read.
    Ok(unsafe {
        match kind {
            nvmlValueType_enum_NVML_VALUE_TYPE_DOUBLE => FieldNumber::Real(union.dVal),
            nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_INT => {
                FieldNumber::Whole(union.uiVal.into())
            }
            nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_LONG => {
                FieldNumber::Whole(union.ulVal as i64)
            }
            nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_LONG_LONG => {
                FieldNumber::Whole(union.ullVal as i64)
            }
            nvmlValueType_enum_NVML_VALUE_TYPE_SIGNED_LONG_LONG => FieldNumber::Whole(union.sllVal),
            nvmlValueType_enum_NVML_VALUE_TYPE_SIGNED_INT => FieldNumber::Whole(union.siVal.into()),
            nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_SHORT => {
                FieldNumber::Whole(union.usVal.into())
            }
            _ => return Err(Missing::UNKNOWN),
        }
    })
}

/// Several whole numbers in one call of `nvmlDeviceGetFieldValues`; an id that
/// the library does not know is not sent and keeps its reason.
pub fn whole_fields<const N: usize>(
    device: Device,
    ids: [Reading<u32>; N],
    scope: u32,
) -> Reading<[Reading<i64>; N]> {
    let known: Vec<(u32, u32)> = ids.iter().flatten().map(|&id| (id, scope)).collect();
    let mut values = field_values(device, &known)?.into_iter();
    Ok(ids.map(|id| {
        id?;
        match values.next().unwrap_or(Err(Missing::UNKNOWN))? {
            FieldNumber::Whole(number) => Ok(number),
            FieldNumber::Real(_) => Err(Missing::UNKNOWN),
        }
    }))
}

/// A number that the driver sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When, microseconds since 1970.
    pub time: u64,
    /// The number, in the unit of what was sampled.
    pub value: f64,
}

/// `nvmlDeviceGetSamples`: all that the driver keeps, oldest first, of
/// `NVML_*_SAMPLES`.
pub fn samples(device: Device, which: u32) -> Reading<Vec<Sample>> {
    ask(function!(nvmlDeviceGetSamples), device, move |f, device| {
        let mut kind = 0;
        let samples: Vec<nvmlSample_t> = list(256, |count, samples| {
            // SAFETY: a live handle, numbers, a pointer to a number of our own;
            // `samples` has room for `*count` values.
            unsafe { f(device.handle(), which, 0, &mut kind, count, samples) }
        })?;
        samples
            .into_iter()
            .map(|sample| {
                Ok(Sample {
                    time: sample.timeStamp,
                    value: match number(kind, sample.sampleValue)? {
                        FieldNumber::Whole(number) => number as f64,
                        FieldNumber::Real(number) => number,
                    },
                })
            })
            .collect()
    })
}
