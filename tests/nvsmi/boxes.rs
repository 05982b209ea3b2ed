//! What a box can say, as nvsmi shows it.

use std::fs;

use crate::common::{run, scratch, stdout};

/// A box of these lines.
fn made(name: &str, text: &str) -> String {
    let path = scratch(&format!("box-{name}.toml"));
    fs::write(&path, text).expect("a box");
    path.to_str().expect("a path").to_owned()
}

/// What a line shows on it.
fn shown(simulated: &str, args: &[&str]) -> String {
    stdout(&run(simulated, args))
}

#[test]
fn the_bridge_above_a_gpu_has_a_speed() {
    if !simulator::can_replace_sysfs() {
        println!("left out: /sys cannot be replaced here");
        return;
    }
    for (speed, generation) in [
        ("2.5 GT/s PCIe", "1"),
        ("32.0 GT/s PCIe", "5"),
        ("64.0 GT/s PCIe", "6"),
    ] {
        let bridge = "pci0000:15/0000:15:01.0";
        let text = format!(
            "inherits = 'h200'\ngpu.0.pci.bus_id = '00000000:16:00.0'\n\
             [[sysfs.device]]\npath = '{bridge}'\nmax_link_speed = '{speed}'\n\
             [[sysfs.device]]\npath = '{bridge}/0000:16:00.0'\nmax_link_speed = '5.0 GT/s PCIe'\n"
        );
        let simulated = made(&format!("speed-{generation}"), &text);
        let field = "--query-gpu=pcie.link.gen.hostmax";
        let answer = shown(&simulated, &[field, "--format=csv,noheader"]);
        assert_eq!(answer, format!("{generation}\n"));
    }
}

#[test]
fn no_link_is_up_in_mig_mode() {
    let text = "inherits = 'h100x8'\ngpu.1.mig = { current = true, pending = true }\n";
    let simulated = made("mig-links", text);
    let answer = shown(&simulated, &["nvlink", "-s", "-i", "1"]);
    let told = "NVML: Unable to retrieve NVLink information as all links are inActive\n";
    assert!(answer.ends_with(told), "{answer}");
    let answer = shown(&simulated, &["nvlink", "-s", "-i", "2"]);
    assert!(answer.contains("Link 0: 26.562 GB/s\n"), "{answer}");
}

#[test]
fn numbers_have_all_64_bits() {
    let text = "inherits = 'h200'\n[gpu.0]\npdi = 18446744073709551614\n\
                ecc.uncorrected.volatile.total = 0x8000000000000000\n";
    let simulated = made("large", text);
    let answer = shown(&simulated, &["-q"]);
    assert!(answer.contains(": 0xfffffffffffffffe\n"), "{answer}");
    let field = "--query-gpu=ecc.errors.uncorrected.volatile.total";
    let answer = shown(&simulated, &[field, "--format=csv,noheader"]);
    assert_eq!(answer, "9223372036854775808\n");
}
