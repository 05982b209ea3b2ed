//! `mig`: how GPUs in MIG mode can be cut, and how they are. Cutting itself is not
//! built.

use crate::error::{Error, Status};
use crate::nvml::{Driver, GpuInstance, Missing, Placement, Profile, Reading};
use crate::render::listing::Listing;
use crate::value::printable;

use super::subcommand::{Given, Opt, Subcommand, Takes, put};

/// The subcommand.
#[rustfmt::skip]
pub const MIG: Subcommand = Subcommand {
    name: "mig",
    about: "How GPUs in MIG mode are cut. (Creating and destroying instances is not built.)",
    options: &[
        Opt::new("-i --id", Takes::Text, "Only these GPUs: index, UUID or PCI bus id."),
        Opt::new("-gi --gpu-instance-id", Takes::Text, "Only these GPU instances, by their numbers."),
        Opt::new("-ci --compute-instance-id", Takes::Text, "Only these compute instances, for -dci."),
        Opt::new("-lgip --list-gpu-instance-profiles", Takes::Nothing, "The ways to cut a GPU, and for how many more instances there is room."),
        Opt::new("-lgipp --list-gpu-instance-possible-placements", Takes::Nothing, "The slices at which GPU instances can begin, and how many they take."),
        Opt::new("-C --default-compute-instance", Takes::Nothing, "With -cgi: a compute instance in each."),
        Opt::new("-cgi --create-gpu-instance", Takes::Text, "Create GPU instances. Not built."),
        Opt::new("-dgi --destroy-gpu-instance", Takes::Nothing, "Destroy GPU instances. Not built."),
        Opt::new("-lgi --list-gpu-instances", Takes::Nothing, "The GPU instances."),
        Opt::new("-lcip --list-compute-instance-profiles", Takes::Nothing, "The ways to cut a GPU instance; the default one has a star."),
        Opt::new("-lcipp --list-compute-instance-possible-placements", Takes::Nothing, "The slices at which compute instances can begin, and how many they take."),
        Opt::new("-cci --create-compute-instance", Takes::MaybeText, "Create compute instances. Not built."),
        Opt::new("-dci --destroy-compute-instance", Takes::Nothing, "Destroy compute instances. Not built."),
        Opt::new("-lci --list-compute-instances", Takes::Nothing, "The compute instances."),
    ],
    run,
};

type View = fn(&[Gpu], &Given, &mut Vec<u8>) -> Result<(), Error>;
type Gpu<'d> = crate::nvml::Gpu<'d>;

/// What a line can ask for; of several, the first one here is done.
const VIEWS: &[(&str, Whose, View)] = &[
    ("-lgip", Whose::Able, gpu_profiles),
    ("-lgipp", Whose::Able, gpu_placements),
    ("-cgi", Whose::Enabled, not_built),
    ("-lgi", Whose::Enabled, gpu_instances),
    ("-dgi", Whose::Enabled, not_built),
    ("-lcip", Whose::Enabled, compute_profiles),
    ("-lcipp", Whose::Enabled, compute_placements),
    ("-cci", Whose::Enabled, not_built),
    ("-lci", Whose::Enabled, compute_instances),
    ("-dci", Whose::Enabled, not_built),
    ("-ci", Whose::Enabled, named),
    ("-gi", Whose::Enabled, named),
    ("-C", Whose::Enabled, named),
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
    head: &[
        "| GPU instance profiles:                                                        |",
        "| GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC  |",
        "|                                Free/Total   GiB              CE    JPEG  OFA  |",
    ],
    places: &[1, 7, 27, 33, 45, 56, 63, 69, 75, 80],
};

const GPU_INSTANCES: Listing = Listing {
    head: &[
        "| GPU instances:                                          |",
        "| GPU   Name               Profile  Instance   Placement  |",
        "|                            ID       ID       Start:Size |",
    ],
    places: &[1, 7, 29, 38, 49, 58],
};

const COMPUTE_PROFILES: Listing = Listing {
    head: &[
        "| Compute instance profiles:                                                           |",
        "| GPU     GPU       Name             Profile  Instances   Exclusive       Shared       |",
        "|       Instance                       ID     Free/Total     SM       DEC   ENC   OFA  |",
        "|         ID                                                          CE    JPEG       |",
    ],
    places: &[1, 10, 19, 39, 46, 61, 70, 76, 82, 87],
};

const COMPUTE_INSTANCES: Listing = Listing {
    head: &[
        "| Compute instances:                                                 |",
        "| GPU     GPU       Name             Profile   Instance   Placement  |",
        "|       Instance                       ID        ID       Start:Size |",
        "|         ID                                                         |",
    ],
    places: &[1, 10, 19, 39, 49, 60, 69],
};

fn run(driver: &Driver, given: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut views = VIEWS.iter().filter(|(option, ..)| given.has(option));
    let Some((_, whose, view)) = views.next() else {
        MIG.usage(out);
        return Ok(());
    };
    let mut gpus = given.gpus(driver)?;
    gpus.retain(|gpu| gpu.mig().is_ok());
    if gpus.is_empty() {
        let message = "No MIG-supported devices found.\n";
        return Err(Error::new(Status::NotFound, message));
    }
    if *whose == Whose::Enabled {
        gpus.retain(Gpu::in_mig_mode);
        if gpus.is_empty() {
            put(out, "No MIG-enabled devices found.\n");
            return Ok(());
        }
    }
    view(&gpus, given, out)
}

/// Whatever creates or destroys instances.
fn not_built(_: &[Gpu], _: &Given, _: &mut Vec<u8>) -> Result<(), Error> {
    Err(Error::failed(
        "nvsmi does not create or destroy MIG instances: nothing was changed.\n",
    ))
}

/// `-lgip`.
fn gpu_profiles(gpus: &[Gpu], _: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let failed = |missing| unread("Failed to display GPU instance profiles", missing);
    put(out, &GPU_PROFILES.head());
    for gpu in gpus {
        for known in gpu.profiles().map_err(failed)? {
            let (profile, engines) = (&known.profile, &known.profile.engines);
            let room = gpu.room_for(profile).map_err(failed)?;
            let row = GPU_PROFILES.row(&[
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
            ]);
            put(out, &row);
        }
    }
    Ok(())
}

/// `-lgipp`.
fn gpu_placements(gpus: &[Gpu], _: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let failed = |missing| unread("Failed to display GPU instance placements", missing);
    for gpu in gpus {
        for known in gpu.profiles().map_err(failed)? {
            let id = known.profile.id;
            let places = places(&gpu.placements(&known.profile).map_err(failed)?);
            put(
                out,
                &format!("GPU {:>2} Profile ID {id:>2} {places}\n", gpu.index()),
            );
        }
    }
    Ok(())
}

/// `-lgi`.
fn gpu_instances(gpus: &[Gpu], _: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut rows = String::new();
    for gpu in gpus {
        let instances = gpu.gpu_instances().map_err(|missing| match missing {
            Missing::NOT_FOUND => no_gpu_instances(missing),
            failed => unread("Failed to display GPU instances", failed),
        })?;
        for instance in instances {
            rows += &GPU_INSTANCES.row(&[&[
                right4(gpu.index()),
                printable(&instance.profile.name).into_owned(),
                right(instance.profile.id),
                right(instance.id),
                start_and_size(instance.placement),
            ]]);
        }
    }
    if rows.is_empty() {
        return Err(no_gpu_instances(Missing::NOT_FOUND));
    }
    put(out, &GPU_INSTANCES.head());
    put(out, &rows);
    Ok(())
}

/// `-lcip`.
fn compute_profiles(gpus: &[Gpu], given: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let failed = |missing| unread("Failed to display compute instance profiles", missing);
    let instances = chosen(gpus, given)?;
    put(out, &COMPUTE_PROFILES.head());
    for (gpu, instance) in instances {
        let profiles = instance.profiles().map_err(failed)?;
        let whole = default(&instance, &profiles).map_err(failed)?;
        for profile in &profiles {
            let room = instance.room_for(profile).map_err(failed)?;
            let (engines, star) = (&profile.engines, if profile.id == whole { "*" } else { "" });
            let row = COMPUTE_PROFILES.row(&[
                &[
                    right4(gpu),
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
            ]);
            put(out, &row);
        }
    }
    Ok(())
}

/// `-lcipp`.
fn compute_placements(gpus: &[Gpu], given: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let failed = |missing| unread("Failed to display compute instance placements", missing);
    for (gpu, instance) in chosen(gpus, given)? {
        for profile in instance.profiles().map_err(failed)? {
            let places = places(&instance.placements(&profile).map_err(failed)?);
            let (within, id) = (instance.id, profile.id);
            put(
                out,
                &format!("GPU {gpu:>2} GI {within:>2} Profile ID {id:>2} {places}\n"),
            );
        }
    }
    Ok(())
}

/// `-lci`.
fn compute_instances(gpus: &[Gpu], given: &Given, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut rows = String::new();
    for (gpu, instance) in chosen(gpus, given)? {
        let found = instance
            .compute_instances()
            .map_err(|missing| match missing {
                Missing::NOT_FOUND => no_compute_instances(missing),
                failed => unread("Failed to display compute instances", failed),
            })?;
        for compute in found {
            rows += &COMPUTE_INSTANCES.row(&[&[
                right4(gpu),
                right(instance.id),
                printable(&compute.profile.name).into_owned(),
                right(compute.profile.id),
                right(compute.id),
                start_and_size(compute.placement),
            ]]);
        }
    }
    if rows.is_empty() {
        return Err(no_compute_instances(Missing::NOT_FOUND));
    }
    put(out, &COMPUTE_INSTANCES.head());
    put(out, &rows);
    Ok(())
}

/// Instances, and nothing to do with them: whether they are there.
fn named(gpus: &[Gpu], given: &Given, _: &mut Vec<u8>) -> Result<(), Error> {
    let instances = chosen(gpus, given)?;
    let Some(wanted) = given.text("-ci").map(numbers) else {
        return Ok(());
    };
    for (_, instance) in instances {
        let computing = instance.compute_instances();
        let computing = computing.map_err(no_compute_instances)?;
        if computing.iter().any(|one| wanted.contains(&one.id)) {
            return Ok(());
        }
    }
    Err(no_compute_instances(Missing::NOT_FOUND))
}

/// The GPU instances that `-gi` names, or all, each with the index of its GPU.
fn chosen<'d>(gpus: &[Gpu<'d>], given: &Given) -> Result<Vec<(u32, GpuInstance<'d>)>, Error> {
    let wanted = given.text("-gi").map(numbers);
    let mut found = Vec::new();
    for gpu in gpus {
        let instances = gpu.gpu_instances().map_err(no_gpu_instances)?;
        found.extend(instances.into_iter().map(|one| (gpu.index(), one)));
    }
    if let Some(wanted) = wanted {
        found.retain(|(_, instance)| wanted.contains(&instance.id));
    }
    match found.is_empty() {
        true => Err(no_gpu_instances(Missing::NOT_FOUND)),
        false => Ok(found),
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
    unread("No GPU instances found", missing)
}

fn no_compute_instances(missing: Missing) -> Error {
    unread("No compute instances found", missing)
}

fn unread(what: &str, missing: Missing) -> Error {
    Error::unread(missing, format!("{what}: {}\n", missing.words()))
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
