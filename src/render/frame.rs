//! Tables in a frame, drawn by comfy-table: nvidia-smi's borders, cells as they are.

use comfy_table::{ContentLineStyle, LineStyle, Table, TableStyle};

const BORDER: LineStyle = LineStyle::new('+', '-', '+', '+');
const SIDES: ContentLineStyle = ContentLineStyle::new('|', '|', '|');
const OPEN: TableStyle = TableStyle::new()
    .top_border(BORDER)
    .header_lines(SIDES)
    .header_separator(LineStyle::new('|', '=', '+', '|'))
    .content_lines(SIDES);

/// A table that has its lower border still to come.
pub struct Frame {
    text: String,
    ruled: bool,
    rows: usize,
}

impl Frame {
    /// A head, and rows with a line between them if it is `ruled`. Cells hold their
    /// own blanks: the columns are as wide as the cells.
    pub fn new(ruled: bool, head: &[&str], rows: Vec<Vec<String>>) -> Self {
        let count = rows.len();
        let mut table = Table::new();
        table.load_style(if ruled {
            OPEN.row_separator(BORDER)
        } else {
            OPEN
        });
        table.set_header(head.iter().copied());
        table.add_rows(rows);
        for column in table.column_iter_mut() {
            column.set_padding((0, 0));
        }
        Self {
            text: table.to_string(),
            ruled,
            rows: count,
        }
    }

    fn top(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// Room for so many more rows of so many lines, all of it empty.
    pub fn room(&mut self, rows: usize, height: usize) {
        let border = format!("\n{}", self.top());
        let blank = format!("\n|{:1$}|", "", self.top().len().saturating_sub(2));
        for _ in 0..rows {
            if self.ruled && self.rows > 0 {
                self.text += &border;
            }
            self.rows += 1;
            self.text += &blank.repeat(height);
        }
    }

    /// The table with its lower border.
    pub fn closed(self) -> String {
        format!("{}\n{}", self.text, self.top())
    }

    /// The table without rows, and a line in their place.
    pub fn saying(self, line: &str) -> String {
        format!("{}\n|{line}|\n{}", self.text, border(line.len()))
    }

    /// The head alone.
    pub fn open(self) -> String {
        self.text
    }
}

/// The border of a table of one column, so many places wide.
pub fn border(width: usize) -> String {
    format!("+{}+", "-".repeat(width))
}
