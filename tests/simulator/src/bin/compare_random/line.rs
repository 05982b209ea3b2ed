//! Makes random command lines, from plausible to nonsense.

use super::themes::{CHANGE, FORMATS, JUNK, LISTS, ODD, QUERY, Row, SHOW, Theme};

/// A generator of random numbers, xorshift64*: the same seed gives the same lines everywhere.
pub struct Random(u64);

impl Random {
    /// A generator; each seed, 0 too, starts a sequence of its own.
    pub fn new(seed: u64) -> Self {
        // A state of 0 would stay 0; nearby seeds are spread apart.
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    /// True as often as `percent` says.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of a list.
    pub fn of<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
}

/// Fields of one of the --query-* options.
pub struct Fields {
    /// `gpu`, `compute-apps`, ...
    pub list: &'static str,
    /// The names that nvidia-smi's help has.
    pub names: Vec<String>,
}

/// A random command line.
pub fn line(random: &mut Random, fields: &[Fields], changes: bool) -> Vec<String> {
    if random.chance(2) {
        return vec![(*random.of(JUNK)).to_owned()];
    }
    let themes: Vec<&Theme> = SHOW
        .iter()
        .chain(if changes { CHANGE } else { &[] })
        .collect();
    let mut words = Vec::new();
    if random.chance(30) {
        query(random, fields, &mut words);
        some(random, 3, QUERY, &themes, &mut words);
    } else {
        let all: usize = themes.iter().map(|theme| theme.weight).sum();
        let mut place = random.below(all);
        let theme = themes.iter().find(|theme| {
            let here = place < theme.weight;
            place = place.saturating_sub(theme.weight);
            here
        });
        let Some(theme) = theme else { return words };
        words.extend(theme.first.iter().map(|word| (*word).to_owned()));
        some(random, 4, theme.options, &themes, &mut words);
        // Order is free but for a subcommand: turn the words about.
        if theme.first == ["-q"] && random.chance(40) {
            words.rotate_left(1);
        }
    }
    words
}

/// A --query-* with some fields, and mostly a format.
fn query(random: &mut Random, fields: &[Fields], words: &mut Vec<String>) {
    let gpu = random.chance(60);
    let list = if gpu { &fields[0] } else { random.of(fields) };
    let mut names: Vec<&str> = (0..=random.below(4))
        .map(|_| random.of(&list.names).as_str())
        .collect();
    if random.chance(8) {
        let odd = *random.of(&["", "bogus", "index", "NAME", " name", "all"]);
        names.insert(random.below(names.len() + 1), odd);
    }
    let option = format!("--query-{}", list.list);
    put(random, words, &option, &names.join(","));
    if random.chance(85) {
        let format = if random.chance(80) {
            FORMATS[random.below(4)]
        } else {
            random.of(FORMATS)
        };
        put(random, words, "--format", format);
    }
    if random.chance(15) {
        let middle = words.len() / 2;
        words.rotate_left(middle);
    }
    if random.chance(3) {
        words.push(format!("--help-query-{}", random.of(LISTS)));
    }
}

/// Up to `most` options of a theme, now and then one of another, or a word that belongs nowhere.
fn some(
    random: &mut Random,
    most: usize,
    options: &[Row],
    themes: &[&Theme],
    words: &mut Vec<String>,
) {
    for _ in 0..random.below(most + 1) {
        let (name, values) = match random.below(100) {
            0..4 => {
                words.push((*random.of(JUNK)).to_owned());
                continue;
            }
            4..12 => {
                let other = *random.of(themes);
                *random.of(other.options)
            }
            _ => *random.of(options),
        };
        match (values.is_empty(), random.below(100)) {
            (true, 0..4) => words.push(format!("{name}={}", random.of(ODD))),
            (true, _) | (false, 0..4) => words.push(name.to_owned()),
            (false, 4..12) => {
                let value = *random.of(ODD);
                put(random, words, name, value)
            }
            (false, _) => {
                let value = *random.of(values);
                put(random, words, name, value)
            }
        }
    }
}

/// An option and its value, as one word or two.
fn put(random: &mut Random, words: &mut Vec<String>, name: &str, value: &str) {
    if random.chance(50) {
        words.push(format!("{name}={value}"));
    } else {
        words.extend([name.to_owned(), value.to_owned()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(seed: u64, changes: bool) -> Vec<Vec<String>> {
        let fields: Vec<Fields> = LISTS
            .iter()
            .map(|list| Fields {
                list,
                names: vec!["a".to_owned(), "b".to_owned()],
            })
            .collect();
        let mut random = Random::new(seed);
        (0..3000)
            .map(|_| line(&mut random, &fields, changes))
            .collect()
    }

    #[test]
    fn a_seed_tells_the_lines() {
        assert_eq!(lines(7, true), lines(7, true));
        assert_ne!(lines(7, true), lines(8, true));
    }

    #[test]
    fn changes_are_made_only_where_they_may_be() {
        let changing = |lines: &[Vec<String>]| {
            lines
                .iter()
                .flatten()
                .filter(|word| *word == "-pm" || word.starts_with("-pl") || *word == "drain")
                .count()
        };
        assert_eq!(changing(&lines(1, false)), 0);
        assert!(changing(&lines(1, true)) > 10);
    }

    #[test]
    fn nothing_stays_behind() {
        assert!(
            lines(1, true)
                .iter()
                .flatten()
                .all(|word| word != "daemon" && !word.starts_with('/'))
        );
    }
}
