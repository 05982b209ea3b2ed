//! How a GPU in MIG mode can be cut, and how it is: GPU instances, which share
//! its memory and engines among them, and compute instances within those.

use nvml_wrapper_sys::bindings::*;

use super::gpu::Gpu;
use super::raw::forms::older;
use super::raw::slices;
use super::raw::{self, function};
use super::reading::{Missing, Reading};

/// Numbers of compute profiles; the bindings do not have their count.
const COMPUTE_PROFILES: u32 = 8;

/// What an instance of some profile has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Engines {
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Copy engines.
    pub copy: u32,
    /// Video decoders.
    pub decoders: u32,
    /// Video encoders.
    pub encoders: u32,
    /// JPEG decoders.
    pub jpeg: u32,
    /// Optical flow accelerators.
    pub optical_flow: u32,
}

/// A way to cut a GPU, or a GPU instance.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The number by which an instance of it is asked for.
    pub id: u32,
    /// `MIG 1g.18gb`, `MIG 1c.3g.71gb`.
    pub name: String,
    /// How many slices an instance takes.
    pub slices: u32,
    /// How many instances there can be at most.
    pub instances: u32,
    /// What each has.
    pub engines: Engines,
}

/// A way to cut a GPU.
#[derive(Clone, Debug)]
pub struct GpuProfile {
    /// What both kinds have.
    pub profile: Profile,
    /// Memory of an instance, MiB.
    pub memory: u64,
    /// Whether instances reach those of other GPUs.
    pub peer_to_peer: bool,
}

/// Some slices next to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The first slice.
    pub start: u32,
    /// How many.
    pub size: u32,
}

/// A GPU instance.
pub struct GpuInstance {
    /// Its number on its GPU.
    pub id: u32,
    /// How it is cut.
    pub profile: Profile,
    /// Where on the GPU.
    pub placement: Placement,
    raw: slices::GpuInstance,
}

/// A compute instance.
pub struct ComputeInstance {
    /// Its number in its GPU instance.
    pub id: u32,
    /// How it is cut.
    pub profile: Profile,
    /// Where in the GPU instance.
    pub placement: Placement,
}

impl Gpu<'_> {
    /// The ways to cut it, the smaller ones first,
    /// `nvmlDeviceGetGpuInstanceProfileInfoV`.
    pub fn profiles(&self) -> Reading<Vec<GpuProfile>> {
        let device = self.device()?;
        let mut profiles = offered(NVML_GPU_INSTANCE_PROFILE_COUNT, |number| {
            slices::profile(device, number)
                .map(GpuProfile::from)
                .or_else(older(|| {
                    let profile = slices::nameless_profile(device, number)?;
                    Ok(GpuProfile::named(number, profile))
                }))
        })?;
        profiles.sort_by_key(|known| known.profile.slices);
        Ok(profiles)
    }

    /// How many more instances of a profile there is room for,
    /// `nvmlDeviceGetGpuInstanceRemainingCapacity`.
    pub fn room_for(&self, profile: &Profile) -> Reading<u32> {
        let device = self.device()?;
        let room = function!(nvmlDeviceGetGpuInstanceRemainingCapacity);
        raw::get_for(room, device, profile.id)
    }

    /// Where instances of a profile can be,
    /// `nvmlDeviceGetGpuInstancePossiblePlacements_v2`.
    pub fn placements(&self, profile: &Profile) -> Reading<Vec<Placement>> {
        let places = slices::placements(self.device()?, profile.id)?;
        Ok(places.into_iter().map(Placement::from).collect())
    }

    /// Its GPU instances in the order of their profiles,
    /// `nvmlDeviceGetGpuInstances` and `nvmlGpuInstanceGetInfo`.
    pub fn gpu_instances(&self) -> Reading<Vec<GpuInstance>> {
        let device = self.device()?;
        let mut instances = Vec::new();
        for GpuProfile { profile, .. } in self.profiles()? {
            for raw in slices::instances(device, profile.id)? {
                let info = raw.info()?;
                instances.push(GpuInstance {
                    id: info.id,
                    profile: profile.clone(),
                    placement: info.placement.into(),
                    raw,
                });
            }
        }
        Ok(instances)
    }
}

impl GpuInstance {
    /// The ways to cut it, the smaller ones first,
    /// `nvmlGpuInstanceGetComputeInstanceProfileInfoV`.
    pub fn profiles(&self) -> Reading<Vec<Profile>> {
        let mut profiles = offered(COMPUTE_PROFILES, |number| {
            self.raw
                .profile(number)
                .map(Profile::from)
                .or_else(older(|| {
                    let profile = self.raw.nameless_profile(number)?;
                    Ok(Profile::named(&self.profile, profile))
                }))
        })?;
        profiles.sort_by_key(|profile| profile.slices);
        Ok(profiles)
    }

    /// How many more instances of a profile there is room for,
    /// `nvmlGpuInstanceGetComputeInstanceRemainingCapacity`.
    pub fn room_for(&self, profile: &Profile) -> Reading<u32> {
        self.raw.free(profile.id)
    }

    /// Where instances of a profile can be,
    /// `nvmlGpuInstanceGetComputeInstancePossiblePlacements`.
    pub fn placements(&self, profile: &Profile) -> Reading<Vec<Placement>> {
        let places = self.raw.placements(profile.id)?;
        Ok(places.into_iter().map(Placement::from).collect())
    }

    /// Its compute instances in the order of their profiles,
    /// `nvmlGpuInstanceGetComputeInstances` and `nvmlComputeInstanceGetInfo_v2`.
    pub fn compute_instances(&self) -> Reading<Vec<ComputeInstance>> {
        let mut instances = Vec::new();
        for profile in self.profiles()? {
            let infos = self.raw.instances(profile.id)?;
            instances.extend(infos.into_iter().map(|info| ComputeInstance {
                id: info.id,
                profile: profile.clone(),
                placement: info.placement.into(),
            }));
        }
        Ok(instances)
    }
}

/// The profiles that there are, of all numbers. A driver does not know those that
/// came after it (`NVML_ERROR_INVALID_ARGUMENT`).
fn offered<T>(count: u32, profile: impl Fn(u32) -> Reading<T>) -> Reading<Vec<T>> {
    (0..count)
        .map(profile)
        .filter(|found| {
            !matches!(
                found,
                Err(Missing::NotSupported | Missing::INVALID_ARGUMENT)
            )
        })
        .collect()
}

impl From<nvmlGpuInstanceProfileInfo_v2_t> for GpuProfile {
    fn from(info: nvmlGpuInstanceProfileInfo_v2_t) -> Self {
        Self {
            profile: Profile {
                id: info.id,
                name: raw::member(&info.name),
                slices: info.sliceCount,
                instances: info.instanceCount,
                engines: Engines {
                    multiprocessors: info.multiprocessorCount,
                    copy: info.copyEngineCount,
                    decoders: info.decoderCount,
                    encoders: info.encoderCount,
                    jpeg: info.jpegCount,
                    optical_flow: info.ofaCount,
                },
            },
            memory: info.memorySizeMB,
            peer_to_peer: info.isP2pSupported != 0,
        }
    }
}

impl GpuProfile {
    /// A profile that NVML gave no name, with the name that newer libraries give it:
    /// slices and memory, and a mark for those that also have the engines of which
    /// there is only one.
    fn named(number: u32, info: nvmlGpuInstanceProfileInfo_t) -> Self {
        const WITH_MEDIA: [u32; 2] = [
            NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1,
            NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1,
        ];
        let media = if WITH_MEDIA.contains(&number) {
            "+me"
        } else {
            ""
        };
        let gibibytes = info.memorySizeMB.div_ceil(1024);
        Self {
            profile: Profile {
                id: info.id,
                name: format!("MIG {}g.{gibibytes}gb{media}", info.sliceCount),
                slices: info.sliceCount,
                instances: info.instanceCount,
                engines: Engines {
                    multiprocessors: info.multiprocessorCount,
                    copy: info.copyEngineCount,
                    decoders: info.decoderCount,
                    encoders: info.encoderCount,
                    jpeg: info.jpegCount,
                    optical_flow: info.ofaCount,
                },
            },
            memory: info.memorySizeMB,
            peer_to_peer: info.isP2pSupported != 0,
        }
    }
}

impl Profile {
    /// A part of a GPU instance that NVML gave no name, with the name that newer
    /// libraries give it: its slices, unless it is the whole, before the instance's name.
    fn named(whole: &Self, info: nvmlComputeInstanceProfileInfo_t) -> Self {
        let name = match whole.name.strip_prefix("MIG ") {
            Some(name) if info.sliceCount < whole.slices => {
                format!("MIG {}c.{name}", info.sliceCount)
            }
            _ => whole.name.clone(),
        };
        Self {
            id: info.id,
            name,
            slices: info.sliceCount,
            instances: info.instanceCount,
            engines: Engines {
                multiprocessors: info.multiprocessorCount,
                copy: info.sharedCopyEngineCount,
                decoders: info.sharedDecoderCount,
                encoders: info.sharedEncoderCount,
                jpeg: info.sharedJpegCount,
                optical_flow: info.sharedOfaCount,
            },
        }
    }
}

impl From<nvmlComputeInstanceProfileInfo_v2_t> for Profile {
    fn from(info: nvmlComputeInstanceProfileInfo_v2_t) -> Self {
        Self {
            id: info.id,
            name: raw::member(&info.name),
            slices: info.sliceCount,
            instances: info.instanceCount,
            engines: Engines {
                multiprocessors: info.multiprocessorCount,
                copy: info.sharedCopyEngineCount,
                decoders: info.sharedDecoderCount,
                encoders: info.sharedEncoderCount,
                jpeg: info.sharedJpegCount,
                optical_flow: info.sharedOfaCount,
            },
        }
    }
}

impl From<nvmlGpuInstancePlacement_t> for Placement {
    fn from(nvmlGpuInstancePlacement_t { start, size }: nvmlGpuInstancePlacement_t) -> Self {
        Self { start, size }
    }
}

impl From<nvmlComputeInstancePlacement_t> for Placement {
    fn from(
        nvmlComputeInstancePlacement_t { start, size }: nvmlComputeInstancePlacement_t,
    ) -> Self {
        Self { start, size }
    }
}
