//! Lists in a frame, as `mig` prints them: a head of fixed words, and rows of
//! several lines with cells that begin at known places.

use super::frame::Frame;
use super::width;

/// What a list looks like.
pub struct Listing {
    /// The lines of the head, without borders.
    pub head: &'static str,
    /// Where in a line each cell begins, and at last where the line ends.
    pub places: &'static [usize],
}

impl Listing {
    /// The head, and the rows under it.
    pub fn draw(&self, rows: Vec<String>) -> String {
        let empty = rows.is_empty();
        let rows = rows.into_iter().map(|row| vec![row]).collect();
        let frame = Frame::new(true, &[self.head], rows);
        let text = if empty { frame.open() } else { frame.closed() };
        text + "\n"
    }

    /// A row, its lines given as cells.
    pub fn row(&self, lines: &[&[String]]) -> String {
        let lines: Vec<String> = lines.iter().map(|cells| self.line(cells)).collect();
        lines.join("\n")
    }

    fn line(&self, cells: &[String]) -> String {
        let mut line = " ".repeat(self.places.first().copied().unwrap_or_default());
        for (ends, cell) in self.places.windows(2).zip(cells) {
            // The last place is a blank, for the next cell.
            line += &width::left(cell, (ends[1] - ends[0]).saturating_sub(1));
            line.push(' ');
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_places() {
        let listing = Listing {
            head: " GPU  Name    ",
            places: &[1, 6, 14],
        };
        let row = |name: &str| listing.row(&[&["  0".to_owned(), name.to_owned()]]);
        let rows = ["one", "much longer"].map(row);
        let expected = "\
+--------------+
| GPU  Name    |
|==============|
|   0  one     |
+--------------+
|   0  much... |
+--------------+
";
        assert_eq!(listing.draw(rows.to_vec()), expected);
    }

    #[test]
    fn without_rows_there_is_a_head() {
        let listing = Listing {
            head: " GPU ",
            places: &[1, 5],
        };
        let expected = "+-----+\n| GPU |\n|=====|\n";
        assert_eq!(listing.draw(Vec::new()), expected);
    }
}
