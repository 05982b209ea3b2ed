//! `-q`: everything about GPUs, or the sections that `-d` names; `-x` for
//! programs. And `--dtd`, which says what `-x` can be.
//!
//! At its end, nvidia-smi also checks the infoROM of idle GPUs
//! (`nvmlDeviceValidateInforom`), to warn of a corrupted one. That takes 67 ms a
//! GPU, and is left out: `--query-gpu=inforom.checksum_validation` asks for it.

use jiff::ZonedDateTime as Time;

use crate::error::Error;
use crate::nvml::{Driver, Gpu, Missing};
use crate::render;
use crate::render::document::{Document, Subject};
use crate::sections::head::{self, Moment};
use crate::sections::{Form, Selection};

/// A report that can be made again and again.
pub struct Report {
    selection: Selection,
    embed_dtd: bool,
}

impl Report {
    /// Reads the list of `-d`, which goes with text only.
    pub fn new(display: Option<&str>, xml: bool, embed_dtd: bool) -> Result<Self, Error> {
        let selection = match (display, xml) {
            (Some(words), _) => Selection::named(words)?,
            (None, true) => Selection::all(Form::Xml),
            (None, false) => Selection::all(Form::Text),
        };
        Ok(Self {
            selection,
            embed_dtd,
        })
    }

    /// Asks the GPUs, and appends what they say.
    pub fn gpus(&self, driver: &Driver, gpus: &[Gpu], time: &Time, out: &mut Vec<u8>) {
        let (head, attached) = head::devices(&Moment { time, driver }, gpus);
        let document = Document {
            subject: Subject::Devices,
            head,
            attached,
            gpus: self.selection.build_all(time, driver, gpus),
        };
        self.print(&document, out);
    }

    /// Appends what there is to say of units: that no driver of today has any.
    pub fn units(&self, driver: &Driver, time: &Time, out: &mut Vec<u8>) {
        let (head, attached) = head::units(&Moment { time, driver });
        let document = Document {
            subject: Subject::Units,
            head,
            attached,
            gpus: Vec::new(),
        };
        self.print(&document, out);
    }

    fn print(&self, document: &Document, out: &mut Vec<u8>) {
        match self.selection.form() {
            Form::Text => render::text::text(document, out),
            Form::Xml => {
                let definition = self.embed_dtd.then(|| head::shape(document.subject));
                render::xml::xml(document, definition.as_ref(), out);
            }
        }
    }
}

/// Units are known by their index alone, and `-i` may name one that there is.
/// Where they cannot be counted there is no report.
pub fn no_units(driver: &Driver, id: Option<&str>) -> Result<(), Error> {
    let named = id.map(unit_index).transpose()?;
    let count = driver.unit_count().map_err(no_unit_count)?;
    match named.filter(|&index| index >= count) {
        Some(index) => Err(no_unit(index)),
        None => Ok(()),
    }
}

/// Appends the document type definition of the XML.
pub fn dtd(units: bool, out: &mut Vec<u8>) {
    let subject = if units {
        Subject::Units
    } else {
        Subject::Devices
    };
    render::dtd::dtd(subject, &head::shape(subject), out);
}

/// `nvmlUnitGetCount` failed under the units' report.
fn no_unit_count(missing: Missing) -> Error {
    let words = missing.words_or_not_available();
    let message = format!("Unable to determine number of available units: {words}\n");
    Error::new(missing.into(), message)
}

/// The unit that `-i` names: nvidia-smi knows units by their number.
pub fn unit_index(id: &str) -> Result<u32, Error> {
    let message = format!("Invalid format for Unit index id: {id}\n");
    id.parse().map_err(|_| Error::refused(message))
}

/// There is no such unit.
fn no_unit(index: u32) -> Error {
    Error::refused(format!("Specified unit index {index} is not valid\n"))
}
