//! What the library of a driver version has: `driver = "535.54"` in a box.

use toml::{Table, Value};

use crate::data::merge;

/// One `[[since]]` for each change.
const HISTORY: &str = include_str!("../../scenarios/drivers/history.toml");

/// Major and minor number of a version.
fn number(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// If a box says no more of its driver than the version, adds the rest: the other versions, the functions
/// that are missing, and `library`'s layouts.
pub fn complete(table: &mut Table) -> Result<(), String> {
    let Some(Value::String(version)) = table.get("driver") else {
        return Ok(());
    };
    let version = version.clone();
    let history: Table = HISTORY.parse().map_err(|e| format!("drivers: {e}"))?;
    let rows = history.get("since").and_then(Value::as_array);
    let mut layouts = Table::new();
    let mut missing = Vec::new();
    for row in rows.into_iter().flatten().filter_map(Value::as_table) {
        let mut row = row.clone();
        let since = row.remove("driver");
        let since = since.as_ref().and_then(Value::as_str).unwrap_or_default();
        let functions = row.remove("functions");
        if number(since) <= number(&version) {
            merge(&mut layouts, row);
        } else if let Some(Value::Array(functions)) = functions {
            missing.extend(functions);
        }
    }
    let Some(cuda) = layouts.get("cuda").and_then(Value::as_str) else {
        return Err(format!(
            "there is no driver {version}: the first one is 470"
        ));
    };
    let (major, _) = number(cuda);
    let branch = number(&version).0;
    let driver = Table::from_iter([
        ("nvml".to_owned(), format!("{major}.{version}").into()),
        ("cuda".to_owned(), cuda.into()),
        ("branch".to_owned(), format!("r{branch}_00").into()),
        ("version".to_owned(), version.into()),
    ]);
    table.insert("driver".to_owned(), driver.into());
    table.insert("layouts".to_owned(), layouts.into());
    if let Some(Value::Array(own)) = table.remove("missing") {
        missing.extend(own);
    }
    table.insert("missing".to_owned(), missing.into());
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::complete;
    use crate::data::at;
    use toml::{Table, Value};

    fn of(version: &str) -> Table {
        let mut table = Table::from_iter([("driver".to_owned(), version.into())]);
        complete(&mut table).unwrap();
        table
    }

    #[test]
    fn a_driver_lacks_what_came_after_it() {
        let lacks = |version: &str, function: &str| {
            let table = of(version);
            let missing = table.get("missing").unwrap().as_array().unwrap();
            missing.contains(&Value::from(function))
        };
        for (first, function) in [
            ("510", "nvmlDeviceGetComputeRunningProcesses_v3"),
            ("535.98", "nvmlDeviceGetRunningProcessDetailList"),
            ("550", "nvmlDeviceGetGpuFabricInfoV"),
        ] {
            assert!(!lacks(first, function), "{function} in {first}");
            assert!(lacks("470.256.02", function), "{function} in 470");
        }
        assert!(lacks("535.54.03", "nvmlDeviceGetRunningProcessDetailList"));
    }

    #[test]
    fn a_driver_has_the_layouts_of_its_time() {
        let entry = |version: &str| {
            let table = of(version);
            at(&table, "layouts.process_entry").unwrap().as_integer()
        };
        assert_eq!(entry("530.30"), Some(24));
        assert_eq!(entry("535.54.03"), Some(32));
        assert_eq!(entry("535.104"), Some(24));
        let table = of("555.42.02");
        assert_eq!(
            at(&table, "layouts.structs.GpuFabricInfo").and_then(Value::as_integer),
            Some(2)
        );
        assert_eq!(
            at(&table, "driver.cuda").and_then(Value::as_str),
            Some("12.5")
        );
    }
}
