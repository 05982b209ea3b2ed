//! Hides symbols of a shared library, so that looking them up fails, as it does in an older driver.

/// Overwrites the first letter of each named symbol in the image of a library. A symbol's name lies in
/// the string table between two NULs. The hash of the old name no longer finds it, nor does the new
/// name's.
pub fn hide(image: &mut [u8], symbols: &[String]) -> Result<(), String> {
    for symbol in symbols {
        let needle = [b"\0", symbol.as_bytes(), b"\0"].concat();
        let mut places: Vec<usize> = Vec::new();
        while let Some(place) = find(&image[places.last().map_or(0, |last| last + 1)..], &needle) {
            places.push(place + places.last().map_or(0, |last| last + 1));
        }
        if places.is_empty() {
            return Err(format!("the library has no symbol {symbol} to hide"));
        }
        for place in places {
            image[place + 1] = b'-';
        }
    }
    Ok(())
}

fn find(image: &[u8], needle: &[u8]) -> Option<usize> {
    image
        .windows(needle.len())
        .position(|window| window == needle)
}

#[cfg(test)]
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
