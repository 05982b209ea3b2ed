//! The links of GPUs, as `nvlink` and `c2c` list them.

use std::cell::OnceCell;

use super::present::{Present, both, failed, heading, named, of_each};
use crate::cli::Line;
use crate::error::Error;
use crate::nvml::{Gpu, Missing, Reading, if_any};

/// A kind of links: the fields that NVML has for it, and the words that messages use.
pub struct Family {
    /// All links of a GPU.
    pub name: &'static str,
    /// What stands before the number of a link.
    pub label: &'static str,
    /// The field with the number of links.
    pub count: u32,
    /// The field that is 1 while a link is up, and what messages call it.
    pub state: (u32, &'static str),
    /// The field with the speed of a link, MB/s, and what messages call it.
    pub speed: (u32, &'static str),
    /// Whether the first speed that cannot be read ends the list of speeds.
    pub all_speeds: bool,
    /// Whether the exit status shows that a GPU does not tell its name.
    pub names: bool,
}

/// The links of a GPU.
pub struct Links<'a> {
    pub gpu: &'a Gpu<'a>,
    pub line: &'a Line,
    pub count: u32,
    family: &'static Family,
    states: OnceCell<Vec<Reading<i64>>>,
}

/// A line about each link: its name, the field that it shows, and how.
pub type Row<'r> = (&'r str, u32, &'r dyn Fn(Reading<i64>) -> String);

/// Stands for a field whose id no public header of NVML has yet.
pub const NO_FIELD: u32 = 0;

/// Lists the links of each GPU that has any, and returns whether one has. If one GPU
/// fails, its part of the answer says so and the others follow, unless they are to be
/// changed.
pub fn list(
    family: &'static Family,
    gpus: &Present,
    line: &Line,
    changes: bool,
    view: impl Fn(&Links, &mut String) -> Result<(), Error> + Sync,
    say: &mut dyn FnMut(&str),
) -> Result<bool, Error> {
    let of_gpu = |gpu: &Gpu| {
        let count = if_any(gpu.link_count(family.count))
            .map_err(|missing| Error::uncounted(family.name, gpu.index(), missing))?;
        if count == 0 {
            return Ok(None);
        }
        let links = Links {
            gpu,
            line,
            count,
            family,
            states: OnceCell::new(),
        };
        let mut text = heading(gpu);
        let shown = view(&links, &mut text);
        Ok(Some((text, shown)))
    };
    let mut any = false;
    let mut unread = Ok(());
    for (gpu, answer) in gpus.iter().zip(of_each(gpus, changes, of_gpu)) {
        let (mut text, mut shown) = match answer {
            Ok(Some(answer)) => answer,
            Ok(None) => continue,
            Err(uncounted) => {
                unread = both(unread, Err(uncounted));
                continue;
            }
        };
        any = true;
        if family.names {
            unread = both(unread, named(gpu));
        }
        if let Err(failure) = &shown
            && failure.is_of_one_gpu()
            && !changes
        {
            unread = both(unread, show_failure(failure, &mut text));
            shown = Ok(());
        }
        say(&text);
        shown?;
    }
    both(unread, gpus.none_left_out()).map(|()| any)
}

/// Shows a failure where it happened, for the answer goes on. Only its status is left.
pub fn show_failure(failure: &Error, out: &mut String) -> Result<(), Error> {
    *out += &failure.to_string();
    Err(Error::told(failure.status()))
}

impl Links<'_> {
    /// A line about a link.
    pub fn line(&self, link: u32, text: &str) -> String {
        format!("\t {} {link}: {text}\n", self.family.label)
    }

    /// The link that `-l` names.
    pub fn named(&self) -> Option<u32> {
        u32::try_from(self.line.number("link")?).ok()
    }

    /// The links to show: the one that `-l` names, or all.
    pub fn shown(&self) -> impl Iterator<Item = u32> {
        let named = self.named();
        (0..self.count).filter(move |&link| named.is_none_or(|named| named == link))
    }

    /// Whether a link is up.
    pub fn is_up(&self, link: u32) -> Reading<bool> {
        let states = self.states.get_or_init(|| {
            let ids: Vec<_> = (0..self.count)
                .map(|link| (self.family.state.0, link))
                .collect();
            self.gpu.numbers(&ids)
        });
        let state = states.get(link as usize).copied();
        state
            .unwrap_or(Err(Missing::UNKNOWN))
            .map(|state| state == 1)
    }

    /// The same; refuses to go on without the state.
    pub fn state(&self, link: u32) -> Result<bool, Error> {
        let what = self.family.state.1;
        let message = format!("NVML: Unable to retrieve {what} for link {link}");
        self.is_up(link).map_err(failed(&message))
    }

    /// The links to show that are up. A link without a state is not.
    pub fn shown_up(&self) -> Result<Vec<u32>, Error> {
        let mut links = Vec::new();
        for link in self.shown() {
            if self.is_up(link) != Err(Missing::NotSupported) && self.state(link)? {
                links.push(link);
            }
        }
        Ok(links)
    }

    /// Whether a link to show is up; says so if none is. `what` is what cannot be
    /// retrieved then, of the link that `-l` names and of all links.
    pub fn any_up(&self, what: [&str; 2], out: &mut String) -> Result<bool, Error> {
        let mut any = false;
        for link in self.shown() {
            any |= self.state(link)?;
        }
        let [one, all] = what;
        match self.named() {
            _ if any => {}
            Some(link) => *out += &format!("NVML: Unable to {one} for link {link} - inActive\n"),
            None => *out += &format!("NVML: Unable to {all} as all links are inActive\n"),
        }
        Ok(any)
    }

    /// Rows about each of some links, whose fields are asked for in one call; below
    /// those of a link stands `end`.
    pub fn rows(
        &self,
        links: impl IntoIterator<Item = u32>,
        rows: &[Row],
        end: &str,
        out: &mut String,
    ) {
        let links: Vec<u32> = links.into_iter().collect();
        let fields = rows.iter().map(|&(_, field, _)| field);
        let fields = fields.filter(|field| *field != NO_FIELD);
        let of_link = |&link: &u32| fields.clone().map(move |field| (field, link));
        let ids: Vec<_> = links.iter().flat_map(of_link).collect();
        let mut values = self.gpu.numbers(&ids).into_iter();
        for link in links {
            for (name, field, show) in rows {
                let value = (*field != NO_FIELD).then(|| values.next()).flatten();
                let value = show(value.unwrap_or(Err(Missing::NotSupported)));
                *out += &self.line(link, &format!("{name}: {value}"));
            }
            *out += end;
        }
    }
}

/// The speeds, `-s`.
pub fn speeds(links: &Links, out: &mut String) -> Result<(), Error> {
    let (field, what) = links.family.speed;
    let ids: Vec<_> = links.shown().map(|link| (field, link)).collect();
    let mut unread = Ok(());
    for (&(_, link), speed) in ids.iter().zip(links.gpu.numbers(&ids)) {
        let what = format!("NVML: Unable to retrieve {what} for link {link}");
        match speed.map_err(failed(&what)) {
            _ if links.is_up(link) != Ok(true) => *out += &links.line(link, "<inactive>"),
            Ok(speed) => *out += &links.line(link, &gigabytes(speed)),
            Err(failure) if links.family.all_speeds => return Err(failure),
            Err(failure) => unread = both(unread, show_failure(&failure, out)),
        }
    }
    unread
}

/// MB/s as GB/s, without zeros at the end.
fn gigabytes(megabytes: i64) -> String {
    format!("{} GB/s", megabytes as f64 / 1000.0)
}

/// A count, or "N/A" or the words for why there is none.
pub fn count(reading: Reading<i64>) -> String {
    reading.map_or_else(
        |missing| missing.words_or_not_available().to_owned(),
        |count| count.to_string(),
    )
}

/// A state that is one of two, by its number.
pub fn state(words: [&'static str; 2]) -> impl Fn(Reading<i64>) -> String {
    move |reading| match reading {
        Ok(0) => words[0].to_owned(),
        Ok(1) => words[1].to_owned(),
        Ok(_) => "Unknown".to_owned(),
        missing => count(missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_have_no_zeros_at_the_end() {
        let cases = [
            (26562, "26.562 GB/s"),
            (50000, "50 GB/s"),
            (25781, "25.781 GB/s"),
        ];
        for (megabytes, shown) in cases {
            assert_eq!(gigabytes(megabytes), shown);
        }
    }

    #[test]
    fn states_have_words() {
        let cases = [
            (Ok(0), "off"),
            (Ok(1), "on"),
            (Ok(2), "Unknown"),
            (Ok(-1), "Unknown"),
            (Err(Missing::NotSupported), "N/A"),
        ];
        for (number, words) in cases {
            assert_eq!(state(["off", "on"])(number), words);
        }
    }
}
