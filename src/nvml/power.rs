//! Workload power profiles, and the setters of power smoothing (Blackwell and
//! later). What smoothing is set to is read through fields.

use nvml_wrapper_sys::bindings::*;

use super::gpu::Gpu;
use super::raw::set::set_versioned;
use super::raw::{self, function};
use super::reading::Reading;

/// Numbers of profiles, one bit each.
pub type ProfileMask = [u32; 8];

/// The highest number that a profile can have.
pub const HIGHEST_PROFILE: u32 = 254;

/// The mask of some profiles; numbers beyond [`HIGHEST_PROFILE`] have no bit.
pub fn profile_mask(profiles: &[u32]) -> ProfileMask {
    let mut mask = [0; 8];
    for &profile in profiles {
        if let Some(word) = mask.get_mut(profile as usize / 32) {
            *word |= 1 << (profile % 32);
        }
    }
    mask
}

/// The profiles of a mask, in order.
pub fn profiles_of(mask: &ProfileMask) -> Vec<u32> {
    let set = |profile: &u32| mask[*profile as usize / 32] >> (profile % 32) & 1 != 0;
    (0..256).filter(set).collect()
}

/// A workload power profile of a GPU. NVML does not describe each that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerProfile {
    /// `NVML_POWER_PROFILE_*`.
    pub id: u32,
    /// How it gets on with others, if NVML describes it.
    pub rank: Option<Rank>,
}

/// How a power profile gets on with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Which of several goes first, 1 the highest.
    pub priority: u32,
    /// Those that cannot be in force beside it.
    pub conflicts: Vec<u32>,
}

impl Gpu<'_> {
    /// The profiles that there are, `nvmlDeviceWorkloadPowerProfileGetProfilesInfo`.
    pub fn supported_power_profiles(&self) -> Reading<Vec<PowerProfile>> {
        let device = self.device()?;
        let f = function!(nvmlDeviceWorkloadPowerProfileGetProfilesInfo);
        let info: nvmlWorkloadPowerProfileProfilesInfo_v1_t = raw::get(f, device)?;
        let profile = |id: u32| {
            let entry = info.perfProfile.get(id as usize);
            let known = entry.filter(|entry| entry.profileId == id);
            let rank = known.map(|entry| Rank {
                priority: entry.priority,
                conflicts: profiles_of(&entry.conflictingMask.mask),
            });
            PowerProfile { id, rank }
        };
        let there = profiles_of(&info.perfProfilesMask.mask);
        Ok(there.into_iter().map(profile).collect())
    }

    /// Asks for more profiles, `nvmlDeviceWorkloadPowerProfileSetRequestedProfiles`.
    pub fn request_power_profiles(&self, profiles: &[u32]) -> Reading<()> {
        let device = self.device()?;
        let f = function!(nvmlDeviceWorkloadPowerProfileSetRequestedProfiles);
        set_versioned(f, device, |wish| wanted(wish, profiles))
    }

    /// Asks for profiles no longer, `nvmlDeviceWorkloadPowerProfileClearRequestedProfiles`.
    pub fn clear_power_profiles(&self, profiles: &[u32]) -> Reading<()> {
        let device = self.device()?;
        let f = function!(nvmlDeviceWorkloadPowerProfileClearRequestedProfiles);
        set_versioned(f, device, |wish| wanted(wish, profiles))
    }

    /// Turns power smoothing on or off, `nvmlDevicePowerSmoothingSetState`.
    pub fn set_power_smoothing(&self, on: bool) -> Reading<()> {
        let device = self.device()?;
        let f = function!(nvmlDevicePowerSmoothingSetState);
        set_versioned(f, device, |wish: &mut nvmlPowerSmoothingState_v1_t| {
            wish.state = on.into();
        })
    }

    /// Puts a preset profile in force, `nvmlDevicePowerSmoothingActivatePresetProfile`.
    pub fn activate_smoothing_profile(&self, profile: u32) -> Reading<()> {
        let device = self.device()?;
        let f = function!(nvmlDevicePowerSmoothingActivatePresetProfile);
        set_versioned(f, device, |wish: &mut nvmlPowerSmoothingProfile_v1_t| {
            wish.profileId = profile;
        })
    }

    /// Sets one parameter (`NVML_POWER_SMOOTHING_PROFILE_PARAM_*`) of a preset
    /// profile, in NVML's unit for it: percent, watts a second, milliseconds,
    /// watts or a factor. `nvmlDevicePowerSmoothingUpdatePresetProfileParam`.
    pub fn update_smoothing_profile(
        &self,
        profile: u32,
        parameter: u32,
        value: f64,
    ) -> Reading<()> {
        let device = self.device()?;
        let f = function!(nvmlDevicePowerSmoothingUpdatePresetProfileParam);
        set_versioned(f, device, |wish: &mut nvmlPowerSmoothingProfile_v1_t| {
            wish.profileId = profile;
            wish.paramId = parameter;
            wish.value = value;
        })
    }
}

fn wanted(wish: &mut nvmlWorkloadPowerProfileRequestedProfiles_v1_t, profiles: &[u32]) {
    wish.requestedProfilesMask.mask = profile_mask(profiles);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_keep_every_number() {
        let all: Vec<u32> = (0..=HIGHEST_PROFILE).collect();
        for profiles in [&[][..], &[0], &[31, 32], &[254], &all] {
            assert_eq!(profiles_of(&profile_mask(profiles)), profiles);
        }
        assert_eq!(profile_mask(&[256, u32::MAX]), [0; 8]);
    }
}
