//! The links of a GPU: NVLink, to other GPUs or to switches, and C2C, to the CPU.

use super::facts::Pci;
use super::field_id::field_id;
use super::gpu::{FieldNumber, Gpu};
use super::raw::{self, forms, function, set};
use super::reading::{Missing, Reading};

/// Field ids of `nvmlDeviceGetFieldValues`, in the numbering of R580.
pub mod field {
    #![allow(missing_docs, reason = "named as in nvml.h, NVML_FI_DEV_*")]
    pub const NVLINK_LINK_COUNT: u32 = 91;
    pub const PCIE_REPLAY_COUNTER: u32 = 94;
    pub const PCIE_REPLAY_ROLLOVER_COUNTER: u32 = 95;
    /// KiB.
    pub const NVLINK_THROUGHPUT_DATA_TX: u32 = 138;
    pub const NVLINK_THROUGHPUT_DATA_RX: u32 = 139;
    pub const NVLINK_THROUGHPUT_RAW_TX: u32 = 140;
    pub const NVLINK_THROUGHPUT_RAW_RX: u32 = 141;
    pub const NVLINK_REMOTE_NVLINK_ID: u32 = 146;
    pub const NVSWITCH_CONNECTED_LINK_COUNT: u32 = 147;
    pub const NVLINK_ERROR_DL_REPLAY: u32 = 161;
    pub const NVLINK_ERROR_DL_RECOVERY: u32 = 162;
    pub const NVLINK_ERROR_DL_CRC: u32 = 163;
    /// MB/s.
    pub const NVLINK_GET_SPEED: u32 = 164;
    /// 1 while the link is up.
    pub const NVLINK_GET_STATE: u32 = 165;
    /// 0 high speed, 1 low power.
    pub const NVLINK_GET_POWER_STATE: u32 = 167;
    /// In the units of `NVLINK_GET_POWER_THRESHOLD_UNITS`.
    pub const NVLINK_GET_POWER_THRESHOLD: u32 = 168;
    pub const PCIE_L0_TO_RECOVERY_COUNTER: u32 = 169;
    pub const C2C_LINK_COUNT: u32 = 170;
    pub const C2C_LINK_GET_STATUS: u32 = 171;
    /// MB/s.
    pub const C2C_LINK_GET_MAX_BW: u32 = 172;
    pub const PCIE_COUNT_CORRECTABLE_ERRORS: u32 = 173;
    pub const PCIE_COUNT_NAKS_RECEIVED: u32 = 174;
    pub const PCIE_COUNT_RECEIVER_ERROR: u32 = 175;
    pub const PCIE_COUNT_BAD_TLP: u32 = 176;
    pub const PCIE_COUNT_NAKS_SENT: u32 = 177;
    pub const PCIE_COUNT_BAD_DLLP: u32 = 178;
    pub const PCIE_COUNT_NON_FATAL_ERROR: u32 = 179;
    pub const PCIE_COUNT_FATAL_ERROR: u32 = 180;
    pub const PCIE_COUNT_UNSUPPORTED_REQ: u32 = 181;
    pub const PCIE_COUNT_LCRC_ERROR: u32 = 182;
    /// By lane.
    pub const PCIE_COUNT_LANE_ERROR: u32 = 183;
    pub const PCIE_COUNT_TX_BYTES: u32 = 197;
    pub const PCIE_COUNT_RX_BYTES: u32 = 198;
    pub const NVLINK_GET_POWER_THRESHOLD_MAX: u32 = 200;
    pub const NVLINK_GET_POWER_THRESHOLD_MIN: u32 = 223;
    /// 0 for 100 us, 1 for 50 us.
    pub const NVLINK_GET_POWER_THRESHOLD_UNITS: u32 = 224;
    pub const C2C_LINK_ERROR_INTR: u32 = 231;
    pub const C2C_LINK_ERROR_REPLAY: u32 = 232;
    pub const C2C_LINK_ERROR_REPLAY_B2B: u32 = 233;
    /// 0 full power, 1 low power.
    pub const C2C_LINK_POWER_STATE: u32 = 234;
}

/// What an NVLink can do: `nvmlNvLinkCapability_t`, in its order.
pub const LINK_CAPABILITIES: u32 = 6;

impl Gpu<'_> {
    /// Several whole numbers by (field id, scope id), one call of
    /// `nvmlDeviceGetFieldValues`; not kept.
    pub fn numbers(&self, ids: &[(u32, u32)]) -> Vec<Reading<i64>> {
        self.numbers_or_none(ids)
            .unwrap_or_else(|missing| vec![Err(missing); ids.len()])
    }

    /// The same, where it matters that the call itself failed.
    pub fn numbers_or_none(&self, ids: &[(u32, u32)]) -> Reading<Vec<Reading<i64>>> {
        let device = self.device()?;
        let known: Vec<Reading<(u32, u32)>> = ids
            .iter()
            .map(|&(id, scope)| Ok((field_id(device, id)?, scope)))
            .collect();
        let sent: Vec<(u32, u32)> = known.iter().flatten().copied().collect();
        let mut values = raw::field_values(device, &sent)?.into_iter();
        Ok(known
            .into_iter()
            .map(|id| {
                id?;
                match values.next().unwrap_or(Err(Missing::UNKNOWN))? {
                    FieldNumber::Whole(number) => Ok(number),
                    FieldNumber::Real(_) => Err(Missing::UNKNOWN),
                }
            })
            .collect())
    }

    /// How many links there are, up or not, by the field that counts them:
    /// `NVLINK_LINK_COUNT`, `NVSWITCH_CONNECTED_LINK_COUNT` or `C2C_LINK_COUNT`.
    pub fn link_count(&self, field: u32) -> Reading<u32> {
        /// Many times what any GPU has.
        const MOST: u32 = 1024;
        let count = self.field_number(field, 0)?;
        raw::plausible(u32::try_from(count).map_err(|_| Missing::UNKNOWN)?, MOST)
    }

    /// Whether an NVLink can do something, `nvmlDeviceGetNvLinkCapability`.
    pub fn link_capability(&self, link: u32, capability: u32) -> Reading<bool> {
        let device = self.device()?;
        let ask = function!(nvmlDeviceGetNvLinkCapability);
        raw::get_for2(ask, device, link, capability).map(|can: u32| can != 0)
    }

    /// Where an NVLink leads, `nvmlDeviceGetNvLinkRemotePciInfo_v2`.
    pub fn link_remote(&self, link: u32) -> Reading<Pci> {
        let device = self.device()?;
        let ask = function!(nvmlDeviceGetNvLinkRemotePciInfo_v2);
        raw::get_for(ask, device, link).map(Pci::from)
    }

    /// Sets the error counters of an NVLink to zero,
    /// `nvmlDeviceResetNvLinkErrorCounters`.
    pub fn reset_link_errors(&self, link: u32) -> Reading<()> {
        let device = self.device()?;
        let reset = function!(nvmlDeviceResetNvLinkErrorCounters);
        set::set(reset, device, link)
    }

    /// Sets how long the NVLinks idle before they save power, in the units of
    /// `NVLINK_GET_POWER_THRESHOLD_UNITS`, or the default,
    /// `nvmlDeviceSetNvLinkDeviceLowPowerThreshold`.
    pub fn set_low_power_threshold(&self, threshold: Option<u32>) -> Reading<()> {
        const DEFAULT: u32 = nvml_wrapper_sys::bindings::NVML_NVLINK_LOW_POWER_THRESHOLD_RESET;
        set::low_power_threshold(self.device()?, threshold.unwrap_or(DEFAULT))
    }

    /// Sets counters to zero, by (field id, scope id): one call of
    /// `nvmlDeviceClearFieldValues`, one outcome each.
    pub fn clear_numbers(&self, ids: &[(u32, u32)]) -> Reading<Vec<Reading<()>>> {
        let device = self.device()?;
        let known: Vec<(u32, u32)> = ids
            .iter()
            .map(|&(id, scope)| Ok((field_id(device, id)?, scope)))
            .collect::<Reading<_>>()?;
        set::clear_fields(device, &known)
    }

    /// Whether what goes over the NVLinks is encrypted, `nvmlDeviceGetNvLinkInfo`.
    pub fn links_encrypted(&self) -> Reading<bool> {
        forms::links(self.device()?).map(|links| links.encrypted)
    }
}
