//! Hides symbols of a shared library, so that looking them up fails, as it does in an older driver.

use std::collections::BTreeSet;

/// Overwrites the first letter of each named symbol, a function of NVML, in the image of a library. A
/// symbol's name lies in the string table between two NULs. The hash of the old name no longer finds it,
/// nor does the new name's.
pub fn hide(image: &mut [u8], symbols: &[String]) -> Result<(), String> {
    let mut missed: BTreeSet<&[u8]> = symbols.iter().map(String::as_bytes).collect();
    let wanted = missed.clone();
    for text in image.split_mut(|&byte| byte == 0) {
        // Few of a million texts begin as a name does.
        if text.first() == Some(&b'n') && wanted.contains(&*text) {
            missed.remove(&*text);
            text[0] = b'-';
        }
    }
    match missed.first() {
        Some(symbol) => Err(format!(
            "the library has no symbol {} to hide",
            String::from_utf8_lossy(symbol)
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::hide;

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
}
