//! Text by the places that it takes on a terminal, where a letter may take two.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands for the part that was cut off.
const CUT: &str = "...";

/// So many places wide: blanks behind what is shorter, the end cut off what is longer.
pub fn left(text: &str, width: usize) -> String {
    match text.width() {
        taken if taken <= width => padded(text, width),
        _ => {
            let kept = beginning(text, width.saturating_sub(CUT.len()));
            padded(&format!("{kept}{CUT}"), width)
        }
    }
}

/// As [`left`], with the blanks in front.
pub fn right(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.width());
    format!("{:blanks$}{}", "", left(text, width - blanks))
}

/// As [`left`], with the beginning cut off what is longer.
pub fn left_end(text: &str, width: usize) -> String {
    match text.width() {
        taken if taken <= width => padded(text, width),
        _ => {
            let kept = end(text, width.saturating_sub(CUT.len()));
            padded(&format!("{CUT}{kept}"), width)
        }
    }
}

/// So many places wide, as nvidia-smi cuts the names of processes: the end of what is
/// longer is cut off without a mark.
pub fn cut(text: &str, width: usize) -> String {
    padded(beginning(text, width), width)
}

/// A cell of several lines, each of them so many places wide, so that no value,
/// however long, bursts the frame.
pub fn cell(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| left(line, width)).collect();
    lines.join("\n")
}

fn padded(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.width());
    format!("{text}{:blanks$}", "")
}

/// As much of the beginning as there is room for.
fn beginning(text: &str, room: usize) -> &str {
    let places = text.char_indices().map(|(at, c)| (at + c.len_utf8(), c));
    let mut kept = &text[..fitting(places, room).unwrap_or(0)];
    while kept.width() > room {
        let mut characters = kept.chars();
        characters.next_back();
        kept = characters.as_str();
    }
    kept
}

/// As much of the end as there is room for.
fn end(text: &str, room: usize) -> &str {
    let mut kept = &text[fitting(text.char_indices().rev(), room).unwrap_or(text.len())..];
    while kept.width() > room {
        let mut characters = kept.chars();
        characters.next();
        kept = characters.as_str();
    }
    kept
}

/// The place of the last character that there is room for, by what each takes
/// alone: together, some take more.
fn fitting(characters: impl Iterator<Item = (usize, char)>, room: usize) -> Option<usize> {
    let mut taken = 0;
    characters
        .take_while(|(_, c)| {
            taken += c.width().unwrap_or(0);
            taken <= room
        })
        .last()
        .map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_takes_its_places() {
        let cases = [
            ("", "     ", "     "),
            ("abc", "abc  ", "abc  "),
            ("abcde", "abcde", "abcde"),
            ("abcdef", "ab...", "...ef"),
            ("用户用", "用...", "...用"),
            ("a用户b", "a... ", "...b "),
        ];
        for (text, from_start, from_end) in cases {
            assert_eq!(left(text, 5), from_start, "{text}");
            assert_eq!(left_end(text, 5), from_end, "{text}");
        }
        for (text, from_end) in [("", "     "), ("abc", "  abc"), ("abcdef", "ab...")] {
            assert_eq!(right(text, 5), from_end, "{text}");
        }
    }

    #[test]
    fn every_line_of_a_cell_takes_its_places() {
        assert_eq!(cell("ab\nabcde\n用户户", 4), "ab  \na...\n... ");
    }
}
