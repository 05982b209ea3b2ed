//! `mig`: how GPUs in MIG mode can be cut, and how they are. Cutting itself is not
//! built.

use crate::cli::Takes::{MaybeAny, Nothing, Text};
use crate::cli::{ID, Line, Needs, Refuses, Run, Subcommand, opt};
use crate::commands::begin;
use crate::error::{Error, Outcome, Status};
use crate::nvml::{Driver, GpuInstance, Missing, Placement, Profile, Reading, each, if_any};
use crate::output;
use crate::render::listing::Listing;
use crate::render::put;
use crate::value::printable;

use super::present::{Present, failed};

/// `mig`.
#[rustfmt::skip]
pub static MIG: Subcommand = Subcommand {
    name: "mig",
    about: "GPU instances and compute instances",
    notes: "Creating and destroying them is not built.",
    options: &[
        ID,
        opt("-gi --gpu-instance-id", Text, "IDS", "Only these GPU instances, by their numbers"),
        opt("-ci --compute-instance-id", Text, "IDS", "Only these compute instances, for -dci"),
        opt("-lgip --list-gpu-instance-profiles", Nothing, "", "The ways to cut a GPU, and for how many more instances\nthere is room"),
        opt("-lgipp --list-gpu-instance-possible-placements", Nothing, "", "The slices at which GPU instances can begin, and how\nmany they take"),
        opt("-C --default-compute-instance", Nothing, "", "With -cgi: a compute instance in each"),
        opt("-cgi --create-gpu-instance", Text, "PROFILES", "Create GPU instances: not built"),
        opt("-dgi --destroy-gpu-instance", Nothing, "", "Destroy GPU instances: not built"),
        opt("-lgi --list-gpu-instances", Nothing, "", "The GPU instances"),
        opt("-lcip --list-compute-instance-profiles", Nothing, "", "The ways to cut a GPU instance; the default one has a star"),
        opt("-lcipp --list-compute-instance-possible-placements", Nothing, "", "The slices at which compute instances can begin, and\nhow many they take"),
        opt("-cci --create-compute-instance", MaybeAny, "PROFILES", "Create compute instances: not built"),
        opt("-dci --destroy-compute-instance", Nothing, "", "Destroy compute instances: not built"),
        opt("-lci --list-compute-instances", Nothing, "", "The compute instances"),
    ],
    refuses: Refuses::Tersely,
    needs: Needs::Command,
    run: Run::Once(mig),
};

type View = fn(&[&Gpu], &Line, &mut Vec<u8>) -> Result<(), Error>;
type Gpu<'d> = crate::nvml::Gpu<'d>;

/// What a line can ask for; of several, the first one here is done.
const VIEWS: &[(&str, Whose, View)] = &[
    ("list-gpu-instance-profiles", Whose::Able, gpu_profiles),
    (
        "list-gpu-instance-possible-placements",
        Whose::Able,
        gpu_placements,
    ),
    ("create-gpu-instance", Whose::Enabled, not_built),
    ("list-gpu-instances", Whose::Enabled, gpu_instances),
    ("destroy-gpu-instance", Whose::Enabled, not_built),
    (
        "list-compute-instance-profiles",
        Whose::Enabled,
        compute_profiles,
    ),
    (
        "list-compute-instance-possible-placements",
        Whose::Enabled,
        compute_placements,
    ),
    ("create-compute-instance", Whose::Enabled, not_built),
    ("list-compute-instances", Whose::Enabled, compute_instances),
    ("destroy-compute-instance", Whose::Enabled, not_built),
    ("compute-instance-id", Whose::Enabled, named),
    ("gpu-instance-id", Whose::Enabled, named),
    ("default-compute-instance", Whose::Enabled, named),
];

/// Which GPUs a view is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Those that can be in MIG mode.
    Able,
    /// Those that are in MIG mode.
    Enabled,
}

const GPU_PROFILES: Listing = Listing {
    head: concat!(
        " GPU instance profiles:                                                        \n",
        " GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC  \n",
        "                                Free/Total   GiB              CE    JPEG  OFA  ",
    ),
    places: &[0, 6, 26, 32, 44, 55, 62, 68, 74, 79],
};

const GPU_INSTANCES: Listing = Listing {
    head: concat!(
        " GPU instances:                                          \n",
        " GPU   Name               Profile  Instance   Placement  \n",
        "                            ID       ID       Start:Size ",
    ),
    places: &[0, 6, 28, 37, 48, 57],
};

const COMPUTE_PROFILES: Listing = Listing {
    head: concat!(
        " Compute instance profiles:                                                           \n",
        " GPU     GPU       Name             Profile  Instances   Exclusive       Shared       \n",
        "       Instance                       ID     Free/Total     SM       DEC   ENC   OFA  \n",
        "         ID                                                          CE    JPEG       ",
    ),
    places: &[0, 9, 18, 38, 45, 60, 69, 75, 81, 86],
};

const COMPUTE_INSTANCES: Listing = Listing {
    head: concat!(
        " Compute instances:                                                 \n",
        " GPU     GPU       Name             Profile   Instance   Placement  \n",
        "       Instance                       ID        ID       Start:Size \n",
        "         ID                                                         ",
    ),
    places: &[0, 9, 18, 38, 48, 59, 68],
};

fn mig(line: &Line) -> anyhow::Result<Status> {
    let driver = begin::open()?;
    output::answer(|out| run(&driver, line, out))
}

fn run(driver: &Driver, line: &Line, out: &mut Vec<u8>) -> Result<Outcome, Error> {
    let mut views = VIEWS.iter().filter(|(option, ..)| line.has(option));
    let Some((_, whose, view)) = views.next() else {
        return Ok(Outcome::default());
    };
    let present = Present::named(driver, line)?;
    // All at once; the answers are kept.
    each(&present, Gpu::mig);
    let mut gpus: Vec<&Gpu> = present.iter().filter(|gpu| gpu.mig().is_ok()).collect();
    // A GPU that does not tell whether it is in MIG mode is left out, and told of.
    let mut left = Outcome::default();
    for gpu in present.iter() {
        let known = if_any(gpu.mig().map(drop));
        left.note(known.map_err(|why| Error::uncounted("MIG mode", gpu.index(), why)));
    }
    left.note(present.none_left_out());
    if gpus.is_empty() {
        left.into_result()?;
        let message = "No MIG-supported devices found.\n";
        return Err(Error::new(Status::NotFound, message));
    }
    if *whose == Whose::Enabled {
        gpus.retain(|gpu| gpu.in_mig_mode());
        if gpus.is_empty() {
            put(out, "No MIG-enabled devices found.\n");
            return Ok(left);
        }
    }
    view(&gpus, line, out)?;
    Ok(left)
}

/// The rows of all, asked at once; of those that fail, the first is told at the end.
fn rows<T: Sync>(
    all: &[T],
    ask: impl Fn(&T, &mut Vec<String>) -> Result<(), Error> + Sync,
) -> (Vec<String>, Result<(), Error>) {
    let answers = each(all, |one| {
        let mut rows = Vec::new();
        let told = ask(one, &mut rows);
        (rows, told)
    });
    let (rows, told): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
    (rows.concat(), told.into_iter().collect())
}

/// Whatever creates or destroys instances.
fn not_built(_: &[&Gpu], _: &Line, _: &mut Vec<u8>) -> Result<(), Error> {
    Err(Error::failed(
        "nvsmi does not create or destroy MIG instances: nothing was changed.\n",
    ))
}

/// `-lgip`.
fn gpu_profiles(gpus: &[&Gpu], _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let failed = failed("Failed to display GPU instance profiles");
    let (rows, told) = rows(gpus, |gpu, rows| {
        for known in gpu.profiles().map_err(failed)? {
            let (profile, engines) = (&known.profile, &known.profile.engines);
            let room = gpu.room_for(profile).map_err(failed)?;
            rows.push(GPU_PROFILES.row(&[
                &[
                    right4(gpu.index()),
                    printable(&profile.name).into_owned(),
                    right(profile.id),
                    share(room, profile.instances),
                    gibibytes(known.memory),
                    if known.peer_to_peer { "Yes" } else { "No" }.to_owned(),
                    right(engines.multiprocessors),
                    right(engines.decoders),
                    right(engines.encoders),
                ],
                &below(6, [engines.copy, engines.jpeg, engines.optical_flow]),
            ]));
        }
        Ok(())
    });
    put(out, &GPU_PROFILES.draw(rows));
    told
}

/// `-lgipp`.
fn gpu_placements(gpus: &[&Gpu], _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let failed = failed("Failed to display GPU instance placements");
    let (rows, told) = rows(gpus, |gpu, rows| {
        for known in gpu.profiles().map_err(failed)? {
            let id = known.profile.id;
            let places = places(&gpu.placements(&known.profile).map_err(failed)?);
            rows.push(format!(
                "GPU {:>2} Profile ID {id:>2} {places}\n",
                gpu.index()
            ));
        }
        Ok(())
    });
    put(out, &rows.concat());
    told
}

/// `-lgi`.
fn gpu_instances(gpus: &[&Gpu], _: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let (rows, told) = rows(gpus, |gpu, rows| {
        let instances = gpu.gpu_instances().map_err(|missing| match missing {
            Missing::NOT_FOUND => no_gpu_instances(missing),
            _ => failed("Failed to display GPU instances")(missing),
        })?;
        for instance in instances {
            rows.push(GPU_INSTANCES.row(&[&[
                right4(gpu.index()),
                printable(&instance.profile.name).into_owned(),
                right(instance.profile.id),
                right(instance.id),
                start_and_size(instance.placement),
            ]]));
        }
        Ok(())
    });
    if rows.is_empty() {
        return told.and(Err(no_gpu_instances(Missing::NOT_FOUND)));
    }
    put(out, &GPU_INSTANCES.draw(rows));
    told
}

/// `-lcip`.
fn compute_profiles(gpus: &[&Gpu], line: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let failed = failed("Failed to display compute instance profiles");
    let (instances, untold) = chosen(gpus, line)?;
    let (rows, told) = rows(&instances, |(gpu, instance), rows| {
        let profiles = instance.profiles().map_err(failed)?;
        let whole = default(instance, &profiles).map_err(failed)?;
        for profile in &profiles {
            let room = instance.room_for(profile).map_err(failed)?;
            let (engines, star) = (&profile.engines, if profile.id == whole { "*" } else { "" });
            rows.push(COMPUTE_PROFILES.row(&[
                &[
                    right4(*gpu),
                    right(instance.id),
                    printable(&profile.name).into_owned(),
                    right(profile.id) + star,
                    share(room, profile.instances),
                    right(engines.multiprocessors),
                    right(engines.decoders),
                    right(engines.encoders),
                    right(engines.optical_flow),
                ],
                &below(6, [engines.copy, engines.jpeg]),
            ]));
        }
        Ok(())
    });
    put(out, &COMPUTE_PROFILES.draw(rows));
    untold.and(told)
}

/// `-lcipp`.
fn compute_placements(gpus: &[&Gpu], line: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let failed = failed("Failed to display compute instance placements");
    let (instances, untold) = chosen(gpus, line)?;
    let (rows, told) = rows(&instances, |(gpu, instance), rows| {
        for profile in instance.profiles().map_err(failed)? {
            let places = places(&instance.placements(&profile).map_err(failed)?);
            let (within, id) = (instance.id, profile.id);
            rows.push(format!(
                "GPU {gpu:>2} GI {within:>2} Profile ID {id:>2} {places}\n"
            ));
        }
        Ok(())
    });
    put(out, &rows.concat());
    untold.and(told)
}

/// `-lci`.
fn compute_instances(gpus: &[&Gpu], line: &Line, out: &mut Vec<u8>) -> Result<(), Error> {
    let (instances, untold) = chosen(gpus, line)?;
    let (rows, told) = rows(&instances, |(gpu, instance), rows| {
        let found = instance
            .compute_instances()
            .map_err(|missing| match missing {
                Missing::NOT_FOUND => no_compute_instances(missing),
                _ => failed("Failed to display compute instances")(missing),
            })?;
        for compute in found {
            rows.push(COMPUTE_INSTANCES.row(&[&[
                right4(*gpu),
                right(instance.id),
                printable(&compute.profile.name).into_owned(),
                right(compute.profile.id),
                right(compute.id),
                start_and_size(compute.placement),
            ]]));
        }
        Ok(())
    });
    let told = untold.and(told);
    if rows.is_empty() {
        return told.and(Err(no_compute_instances(Missing::NOT_FOUND)));
    }
    put(out, &COMPUTE_INSTANCES.draw(rows));
    told
}

/// Instances, and nothing to do with them: whether they are there.
fn named(gpus: &[&Gpu], line: &Line, _: &mut Vec<u8>) -> Result<(), Error> {
    let (instances, untold) = chosen(gpus, line)?;
    let Some(wanted) = line.text("compute-instance-id").map(numbers) else {
        return untold;
    };
    for (_, instance) in instances {
        let computing = instance.compute_instances();
        let computing = computing.map_err(no_compute_instances)?;
        if computing.iter().any(|one| wanted.contains(&one.id)) {
            return untold;
        }
    }
    untold.and(Err(no_compute_instances(Missing::NOT_FOUND)))
}

/// GPU instances, each with the index of its GPU, and the first failure to list those
/// of a GPU.
type Chosen = (Vec<(u32, GpuInstance)>, Result<(), Error>);

/// The GPU instances that `-gi` names, or all.
fn chosen(gpus: &[&Gpu], line: &Line) -> Result<Chosen, Error> {
    let wanted = line.text("gpu-instance-id").map(numbers);
    let mut found = Vec::new();
    let mut untold = Ok(());
    for (gpu, instances) in gpus.iter().zip(each(gpus, |gpu| gpu.gpu_instances())) {
        match instances {
            Ok(instances) => found.extend(instances.into_iter().map(|one| (gpu.index(), one))),
            Err(missing) => untold = untold.and(Err(no_gpu_instances(missing))),
        }
    }
    if let Some(wanted) = wanted {
        found.retain(|(_, instance)| wanted.contains(&instance.id));
    }
    if found.is_empty() {
        Err(untold
            .err()
            .unwrap_or_else(|| no_gpu_instances(Missing::NOT_FOUND)))
    } else {
        Ok((found, untold))
    }
}

/// Numbers with commas between them.
fn numbers(list: &str) -> Vec<u32> {
    let numbers = list.split(',').filter(|number| !number.is_empty());
    numbers.map(leading_number).collect()
}

/// The number that a text begins with, else 0: C's `atoi`, 32 bits of it.
fn leading_number(text: &str) -> u32 {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits
        .bytes()
        .map_while(|byte| char::from(byte).to_digit(10));
    let number = digits.fold(0u32, |number, digit| {
        number.wrapping_mul(10).wrapping_add(digit)
    });
    if negative {
        number.wrapping_neg()
    } else {
        number
    }
}

/// The profile of a compute instance that takes all of a GPU instance.
fn default(instance: &GpuInstance, profiles: &[Profile]) -> Reading<u32> {
    let whole = |profile: &&Profile| profile.slices == instance.profile.slices;
    let found = profiles.iter().find(whole).ok_or(Missing::NotSupported)?;
    Ok(found.id)
}

fn no_gpu_instances(missing: Missing) -> Error {
    failed("No GPU instances found")(missing)
}

fn no_compute_instances(missing: Missing) -> Error {
    failed("No compute instances found")(missing)
}

/// A number of two places or more.
fn right(number: u32) -> String {
    format!("{number:>2}")
}

/// The index of a GPU.
fn right4(index: u32) -> String {
    format!("{index:>4}")
}

/// How many of how many.
fn share(part: u32, all: u32) -> String {
    format!("{part:>2}/{all}")
}

fn gibibytes(mebibytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
    let gibibytes = mebibytes as f64 / 1024.0;
    format!("{gibibytes:.2}")
}

fn start_and_size(Placement { start, size }: Placement) -> String {
    format!("{start:>2}:{size}")
}

/// A second line: numbers under the cells after some.
fn below<const N: usize>(empty: usize, numbers: [u32; N]) -> Vec<String> {
    let blanks = std::iter::repeat_n(String::new(), empty);
    let mut cells: Vec<String> = blanks.chain(numbers.map(right)).collect();
    cells.resize(9, String::new());
    cells
}

/// Where instances can begin, and how many slices they take.
fn places(places: &[Placement]) -> String {
    let starts: Vec<String> = places.iter().map(|place| place.start.to_string()).collect();
    let word = if starts.len() > 1 {
        "Placements"
    } else {
        "Placement "
    };
    let size = places
        .first()
        .map_or(String::new(), |place| format!(":{}", place.size));
    format!("{word}: {{{}}}{size}", starts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_far_as_they_go() {
        let cases = [
            ("2", 2),
            (" 2x", 2),
            ("+07", 7),
            ("x", 0),
            ("-1", u32::MAX),
            ("4294967298", 2),
        ];
        for (text, number) in cases {
            assert_eq!(leading_number(text), number, "{text}");
        }
    }

    #[test]
    fn places_are_counted() {
        let at = |starts: &[u32]| {
            let list: Vec<_> = starts
                .iter()
                .map(|&start| Placement { start, size: 2 })
                .collect();
            places(&list)
        };
        assert_eq!(at(&[0, 2]), "Placements: {0,2}:2");
        assert_eq!(at(&[4]), "Placement : {4}:2");
        assert_eq!(at(&[]), "Placement : {}");
    }
}
