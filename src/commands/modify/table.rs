//! The table of changes: one row an option.

mod clocks;
mod limits;
mod modes;

use super::row::Row;

/// The row of an option, by its [`word`](crate::cli::Opt::word).
pub fn find(option: &str) -> Option<&'static Row> {
    let mut rows = [modes::ROWS, clocks::ROWS, limits::ROWS]
        .into_iter()
        .flatten();
    rows.find(|row| row.option == option)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::GROUPS;

    #[test]
    fn every_change_has_a_row() {
        let group = GROUPS
            .iter()
            .find(|group| group.title.starts_with("CHANGING A GPU"));
        let options = group.map_or(&[][..], |group| group.options);
        let without: Vec<_> = options
            .iter()
            .map(|option| option.word())
            .filter(|word| find(word).is_none())
            .collect();
        let expected = [
            "gpu-reset",
            "mode",
            "scope",
            "get-hostname",
            "error-on-warning",
            "dry-run",
        ];
        assert_eq!(without, expected);
    }
}
