//! `drain`: takes a GPU out of use, and back.

use crate::args::Drain;
use crate::error::{Error, Status};
use crate::nvml::{Driver, Reading};

/// Does what the line asks for, in the real tool's order, up to the first failure.
/// What was done is told by `say` as it is done.
pub fn drain(driver: &Driver, asked: &Drain, mut say: impl FnMut(&str)) -> Result<(), Error> {
    let mut done = |step: Reading<String>, failed: &str| match step {
        Ok(text) => {
            say(&text);
            Ok(())
        }
        // The real tool gives no reason here, and this status whatever it is.
        Err(_) => Err(Error::new(Status::Other, failed)),
    };
    if let Some(place) = asked.place {
        let (domain, bus, device) = place;
        let gpu = format!("{domain:08X}:{bus:02X}:{device:02X}.0");
        if let Some(wish) = asked.modify {
            let text = format!(
                "Successfully set GPU {gpu} drain state to: {}.\n",
                word(wish)
            );
            let step = driver.set_draining(place, wish).map(|()| text);
            done(step, "Failed to modify the GPU drain state.\n")?;
        }
        if asked.query {
            let text = |state| {
                format!(
                    "The current drain state of GPU {gpu} is: {}.\n",
                    word(state)
                )
            };
            let step = driver.is_draining(place).map(text);
            done(step, "Failed to query the GPU drain state.\n")?;
        }
        if asked.remove {
            let step = driver
                .remove(place)
                .map(|()| format!("GPU {gpu} successfully removed.\n"));
            done(step, "Failed to remove the specified GPU.\n")?;
        }
    }
    if asked.discover {
        let text = "Discovery completed successfully.  Any discovered GPUs will now appear in the enumeration list and device count.\n";
        let step = driver.discover().map(|()| text.to_owned());
        done(step, "Failed to perform a PCI discover for GPUs.\n")?;
    }
    Ok(())
}

fn word(draining: bool) -> &'static str {
    ["not draining", "draining"][usize::from(draining)]
}
