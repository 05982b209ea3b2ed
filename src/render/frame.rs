//! The frames of the summary, drawn by comfy-table: a table's own style, cells as
//! they are, and several tables side by side.

use comfy_table::{ContentLineStyle, LineStyle, Table, TableStyle};
use unicode_width::UnicodeWidthStr;

use super::width;

const BORDER: LineStyle = LineStyle::new('+', '-', '+', '+');
const SIDES: ContentLineStyle = ContentLineStyle::new('|', '|', '|');

/// Lines between rows, as between GPUs.
const RULED: TableStyle = TableStyle::new()
    .top_border(BORDER)
    .header_lines(SIDES)
    .header_separator(LineStyle::new('|', '=', '+', '|'))
    .content_lines(SIDES)
    .row_separator(BORDER)
    .bottom_border(BORDER);

/// No lines between rows, as between processes.
const PLAIN: TableStyle = RULED.row_separator(LineStyle::none());

/// No lower border: another frame follows right below.
const OPEN: TableStyle = PLAIN.bottom_border(LineStyle::none());

/// No upper border: another frame ends right above.
const FOLLOWING: TableStyle = PLAIN.top_border(LineStyle::none());

/// A head and rows with lines between them.
pub fn ruled(head: &[&str], rows: Vec<Vec<String>>) -> String {
    draw(RULED, head, rows)
}

/// A head and rows without lines between them.
pub fn plain(head: &[&str], rows: Vec<Vec<String>>) -> String {
    draw(PLAIN, head, rows)
}

/// A head over something of other columns.
pub fn head(head: &[&str]) -> String {
    draw(OPEN, head, Vec::new())
}

/// Rows under a [`head`] of other columns.
pub fn following(rows: Vec<Vec<String>>) -> String {
    draw(FOLLOWING, &[], rows)
}

/// One cell across so many columns, with their borders above and none below.
pub fn banner(text: String, columns: usize) -> String {
    let across = (text.width() + 2) * columns - 2;
    let column = draw(OPEN, &[], vec![vec![text.clone()]]);
    let border = column.lines().next().unwrap_or_default().repeat(columns);
    format!("{border}\n|{}|", width::left(&text, across))
}

/// Deals rows to columns as cards are dealt, draws each column, and sets them
/// side by side. Where a column got one row less, its last place stays empty.
pub fn columns(
    rows: Vec<Vec<String>>,
    columns: usize,
    draw: impl Fn(Vec<Vec<String>>) -> String,
) -> String {
    let Some(first) = rows.first().cloned() else {
        return beside((0..columns).map(|_| draw(Vec::new())));
    };
    let height = first.first().map_or(0, |cell| cell.lines().count());
    let places = rows.len().div_ceil(columns);
    let mut dealt = vec![Vec::new(); columns];
    for (place, row) in rows.into_iter().enumerate() {
        dealt[place % columns].push(row);
    }
    beside(dealt.into_iter().map(|mut rows| {
        let empty = (places - rows.len()) * height;
        rows.resize(places, first.clone());
        let column = draw(rows);
        let mut lines: Vec<&str> = column.lines().collect();
        let blank = format!("|{:1$}|", "", lines[0].len() - 2);
        for line in lines
            .iter_mut()
            .rev()
            .filter(|line| line.starts_with('|'))
            .take(empty)
        {
            *line = &blank;
        }
        lines.join("\n")
    }))
}

/// Texts of the same height side by side.
fn beside(columns: impl Iterator<Item = String>) -> String {
    columns
        .reduce(|left, right| {
            let lines: Vec<String> = left
                .lines()
                .zip(right.lines())
                .map(|(left, right)| format!("{left}{right}"))
                .collect();
            lines.join("\n")
        })
        .unwrap_or_default()
}

/// Cells hold their own blanks, so that the columns are as wide as the cells.
fn draw(style: TableStyle, head: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(style);
    if !head.is_empty() {
        table.set_header(head.iter().copied());
    }
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 0));
    }
    table.to_string()
}
