//! Hides symbols of a shared library, so that looking them up fails, as it does in an older driver.

use std::{collections::BTreeSet, ops::Range};

/// Overwrites the first letter of each named symbol, a function of NVML, in the image of a library. A
/// symbol's name lies in the string table between two NULs. The hash of the old name no longer finds it,
/// nor does the new name's.
pub fn hide(image: &mut [u8], symbols: &[String]) -> Result<(), String> {
    let mut missed: BTreeSet<&[u8]> = symbols.iter().map(String::as_bytes).collect();
    let wanted = missed.clone();
    let mut found = Vec::new();
    let mut start = 0;
    // A library has millions of texts, of which few begin as a name does.
    for end in (0..image.len()).filter(|&place| image[place] == 0) {
        if image[start] == b'n' && wanted.contains(&image[start..end]) {
            missed.remove(&image[start..end]);
            found.push(start);
        }
        start = end + 1;
    }
    for start in found {
        image[start] = b'-';
    }
    match missed.first() {
        Some(symbol) => Err(format!(
            "the library has no symbol {} to hide",
            String::from_utf8_lossy(symbol)
        )),
        None => Ok(()),
    }
}

/// Cuts off what no program loads, such as what debuggers read: nine tenths of a library.
pub fn strip(image: &mut Vec<u8>) {
    if let Some(end) = loaded(image).filter(|end| *end <= image.len()) {
        image.truncate(end);
        // There is no table of sections any more: its place, and how many it lists.
        for place in [SECTIONS, SECTION_COUNT] {
            image[place].fill(0);
        }
    }
}

/// The bytes of the header of a 64-bit file that tell of its sections.
const SECTIONS: Range<usize> = 0x28..0x30;
const SECTION_COUNT: Range<usize> = 0x3C..0x40;

/// The end of the last segment, if the image is that of a 64-bit little-endian file.
fn loaded(image: &[u8]) -> Option<usize> {
    if !image.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let half = |at: usize| Some(u16::from_le_bytes(image.get(at..at + 2)?.try_into().ok()?));
    let long = |at: usize| {
        let number = u64::from_le_bytes(image.get(at..at + 8)?.try_into().ok()?);
        usize::try_from(number).ok()
    };
    let (first, size, count) = (long(0x20)?, half(0x36)?, half(0x38)?);
    let ends = (0..usize::from(count)).map(|number| {
        let segment = first + number * usize::from(size);
        Some(long(segment + 8)? + long(segment + 32)?)
    });
    let headers = first + usize::from(size) * usize::from(count);
    ends.collect::<Option<Vec<_>>>()?
        .into_iter()
        .max()
        .map(|end| end.max(headers))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::{hide, strip};

    #[test]
    fn only_the_whole_name_is_hidden() {
        let mut image = b"\0nvmlInit\0nvmlInit_v2\0".to_vec();
        hide(&mut image, &["nvmlInit".to_owned()]).unwrap();
        assert_eq!(image, b"\0-vmlInit\0nvmlInit_v2\0");
    }

    #[test]
    fn a_name_that_is_not_there_is_an_error() {
        assert!(hide(&mut b"\0nvmlInit\0".to_vec(), &["nvmlShutdown".to_owned()]).is_err());
    }

    #[test]
    fn what_is_no_library_stays_whole() {
        for image in [&b"no library\n"[..], b"\x7fELF\x02\x01 and no more"] {
            let mut stripped = image.to_vec();
            strip(&mut stripped);
            assert_eq!(stripped, image);
        }
    }
}
