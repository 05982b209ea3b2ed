//! The links of GPUs, as `nvlink` and `c2c` list them.

use std::cell::OnceCell;

use super::present::{Present, failed, heading, named, of_each};
use crate::cli::Line;
use crate::error::{Error, Outcome};
use crate::nvml::{Gpu, Missing, Reading, if_any};
use crate::output::Say;

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

/// Shows something of the links of a GPU.
pub type Act = fn(&Links, &mut Outcome) -> Result<(), Stop>;

/// Why no more is shown of a GPU.
pub enum Stop {
    /// A failure.
    Failed(Error),
    /// There is no more to show, of any GPU.
    End,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Lists the links of each GPU that has any, and tells whether one has, and what is
/// left to say. If one GPU fails, its part of the answer says so and the others
/// follow, unless they are to be changed.
pub fn list(
    family: &'static Family,
    gpus: &Present,
    line: &Line,
    changes: bool,
    view: impl Fn(&Links, &mut Outcome) -> Result<(), Stop> + Sync,
    say: Say,
) -> Result<(bool, Outcome), Error> {
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
        let mut part = Outcome {
            text: heading(gpu),
            ..Outcome::default()
        };
        let mut stop = view(&links, &mut part).err();
        if let Some(Stop::Failed(failure)) = &stop
            && is_of_one_gpu(failure)
            && !changes
        {
            part.note(Err(failure.clone()));
            stop = None;
        }
        Ok(Some((part, stop)))
    };
    let mut any = false;
    let mut left = Outcome::default();
    for (gpu, answer) in gpus.iter().zip(of_each(gpus, changes, of_gpu)) {
        let (part, stop) = match answer {
            Ok(Some(answer)) => answer,
            Ok(None) => continue,
            Err(uncounted) => {
                left.note(Err(uncounted));
                continue;
            }
        };
        any = true;
        if family.names {
            left.fail(named(gpu));
        }
        left.fail(part.status);
        say(&part.text);
        match stop {
            None => {}
            Some(Stop::Failed(failure)) => return Err(failure),
            Some(Stop::End) => return Ok((any, Outcome::default())),
        }
    }
    left.note(gpus.none_left_out());
    Ok((any, left))
}

/// Whether another GPU may answer all the same.
pub fn is_of_one_gpu(failure: &Error) -> bool {
    let of_all = [Missing::NotSupported, Missing::FUNCTION_NOT_FOUND];
    failure.missing().is_some_and(|why| !of_all.contains(&why))
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
    pub fn any_up(&self, what: [&str; 2], out: &mut Outcome) -> Result<bool, Error> {
        let mut any = false;
        for link in self.shown() {
            any |= self.state(link)?;
        }
        let [one, all] = what;
        match self.named() {
            _ if any => {}
            Some(link) => {
                out.text += &format!("NVML: Unable to {one} for link {link} - inActive\n");
            }
            None => out.text += &format!("NVML: Unable to {all} as all links are inActive\n"),
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
        out: &mut Outcome,
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
                out.text += &self.line(link, &format!("{name}: {value}"));
            }
            out.text += end;
        }
    }
}

/// The speeds, `-s`.
pub fn speeds(links: &Links, out: &mut Outcome) -> Result<(), Stop> {
    let (field, what) = links.family.speed;
    let ids: Vec<_> = links.shown().map(|link| (field, link)).collect();
    for (&(_, link), speed) in ids.iter().zip(links.gpu.numbers(&ids)) {
        let what = format!("NVML: Unable to retrieve {what} for link {link}");
        match speed.map_err(failed(&what)) {
            _ if links.is_up(link) != Ok(true) => out.text += &links.line(link, "<inactive>"),
            Ok(speed) => out.text += &links.line(link, &gigabytes(speed)),
            Err(failure) if links.family.all_speeds => return Err(failure.into()),
            failed => out.note(failed.map(drop)),
        }
    }
    Ok(())
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
