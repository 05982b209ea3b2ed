//! Lists in a frame, as `mig` prints them: a head of fixed words, and rows of
//! several lines with cells that begin at known places.

use super::width;

/// What a list looks like.
pub struct Listing {
    /// The lines of the head, between the borders; the first one tells how wide
    /// the list is.
    pub head: &'static [&'static str],
    /// Where in a line each cell begins, and at last where the border is.
    pub places: &'static [usize],
}

impl Listing {
    /// The head, with the border under which rows begin.
    pub fn head(&self) -> String {
        let mut text = self.border('-', '+');
        for line in self.head {
            text += line;
            text.push('\n');
        }
        text + &self.border('=', '|')
    }

    /// A row, its lines given as cells, and the border below it.
    pub fn row(&self, lines: &[&[String]]) -> String {
        let mut text = String::new();
        for cells in lines {
            let first = self.places.first().copied().unwrap_or_default();
            text += &format!("|{:1$}", "", first.saturating_sub(1));
            for (ends, cell) in self.places.windows(2).zip(*cells) {
                let room = ends[1] - ends[0];
                // The last place is a blank, for the next cell.
                text += &width::left(cell, room.saturating_sub(1));
                text.push(' ');
            }
            text += "|\n";
        }
        text + &self.border('-', '+')
    }

    fn border(&self, line: char, corner: char) -> String {
        let width = self.head.first().map_or(0, |line| line.len());
        let line: String = std::iter::repeat_n(line, width.saturating_sub(2)).collect();
        format!("{corner}{line}{corner}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_places() {
        let listing = Listing {
            head: &["| GPU  Name    |"],
            places: &[2, 7, 15],
        };
        assert_eq!(
            listing.head(),
            "+--------------+\n| GPU  Name    |\n|==============|\n"
        );
        let row = |name: &str| listing.row(&[&["  0".to_owned(), name.to_owned()]]);
        assert_eq!(row("one"), "|   0  one     |\n+--------------+\n");
        assert_eq!(row("much longer"), "|   0  much... |\n+--------------+\n");
    }
}
