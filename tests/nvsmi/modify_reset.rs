//! `-r` on boxes whose GPUs the kernel can reset. Each has a `/sys` of its own, so that no GPU of this
//! machine is within reach; where that cannot be, nothing here runs.

use std::path::Path;
use std::process::Output;

use crate::common::{NVSMI, nvsmi, run, scratch, skipped, stdout};

/// A box of one test's own, for what is written to its `/sys` stays.
fn own(name: &str, more: &str) -> Option<String> {
    if !simulator::can_replace_sysfs() {
        skipped("/sys cannot be replaced here");
        return None;
    }
    let path = scratch(&format!("reset-{name}.toml"));
    let text = format!("about = \"of the test {name}\"\ninherits = \"resettable\"\n{more}");
    std::fs::write(&path, text).expect("a file of our own");
    Some(path.display().to_string())
}

/// What nvsmi says, and which GPUs the kernel of the box was told to reset.
fn reset(simulated: &str, args: &[&str]) -> (Output, String) {
    let script = "for device in /sys/bus/pci/devices/*/reset; do : >$device; done; \
        \"$0\" \"$@\"; status=$?; \
        grep -l 1 /sys/bus/pci/devices/*/reset | cut -d/ -f6 >&2; \
        grep -Lx 'flr bus' /sys/bus/pci/devices/*/reset_method >&2; exit $status";
    let mut bash = simulator::command(simulated, Path::new("bash")).expect("a simulated box");
    let output = bash.args(["-c", script, NVSMI]).args(args).output();
    let output = output.expect("bash runs");
    let told = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
    (output, told.trim_end().to_owned())
}

#[test]
fn a_reset_is_made_by_the_kernel_of_the_box() {
    let Some(simulated) = own("made", "") else {
        return;
    };
    for (args, said, devices) in [
        (
            &["-r", "-i", "0", "--dry-run"][..],
            "Would reset GPU 0 (00000000:01:00.0) by a PCI function-level reset.\nNothing was changed.\n",
            "",
        ),
        (
            &["-r", "-i", "0"],
            "GPU 00000000:01:00.0 was successfully reset.\nThe kernel did this by a PCI function-level reset.\nAll done.\n",
            "0000:01:00.0",
        ),
        (
            &["-r", "bus", "-i", "1,2"],
            "GPU 00000000:21:00.0 was successfully reset.\nGPU 00000000:41:00.0 was successfully reset.\nThe kernel did this by a PCI bus reset.\nAll done.\n",
            "0000:21:00.0 0000:41:00.0",
        ),
        // GPU 3 answers nearly everything with "GPU requires reset".
        (
            &["-r", "-i", "3"],
            "GPU 00000000:61:00.0 was successfully reset.\nThe kernel did this by a PCI function-level reset.\nAll done.\n",
            "0000:61:00.0",
        ),
        (
            &["-r", "--dry-run"],
            "Would reset GPU 0 (00000000:01:00.0) by a PCI function-level reset.\n\
             Would reset GPU 1 (00000000:21:00.0) by a PCI function-level reset.\n\
             Would reset GPU 2 (00000000:41:00.0) by a PCI function-level reset.\n\
             Would reset GPU 3 (00000000:61:00.0) by a PCI function-level reset.\n\
             Nothing was changed.\n",
            "",
        ),
    ] {
        let (output, told) = reset(&simulated, args);
        assert_eq!(stdout(&output), said, "{args:?}");
        assert_eq!(told, devices, "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

/// The kernel knows where it is, and that suffices.
#[test]
fn a_lost_gpu_is_reset_without_a_handle() {
    let fault = "[[fault]]\nfunction = \"nvmlDeviceGetHandle*\"\ngpu = 2\ncode = \"GPU_IS_LOST\"\n";
    let Some(simulated) = own("lost", fault) else {
        return;
    };
    let (output, told) = reset(&simulated, &["-r", "-i", "2"]);
    assert_eq!(
        stdout(&output),
        "GPU 00000000:41:00.0 was successfully reset.\nThe kernel did this by a PCI function-level reset.\nAll done.\n"
    );
    assert_eq!((&*told, output.status.code()), ("0000:41:00.0", Some(0)));
}

/// What speaks against a reset, each with its status, and that no GPU is touched then.
#[test]
fn what_is_in_the_way_is_told() {
    let end = "Terminating early due to previous errors.\n";
    for (name, more, told, status) in [
        (
            "users",
            "[sysfs]\nusers = 1\n",
            "GPU Reset couldn't run because processes that cannot be seen from here may use GPU 00000000:01:00.0. Please run this as root on the host, or in a container that sees the host's processes (docker run --privileged --pid=host).\n",
            255,
        ),
        (
            "busy",
            "[gpu.1]\nprocesses = [{ pid = 9, type = \"C\", name = \"x\", memory = \"1 MiB\" }]\n",
            "GPU 00000000:21:00.0 is currently in use by another process.\nPlease end these processes first: 9\n",
            19,
        ),
        (
            "persistent",
            "[gpu.2]\npersistence_mode = true\n",
            "GPU Reset couldn't run because persistence mode keeps the driver on GPU 00000000:41:00.0. Please turn it off first (-pm 0, and stop nvidia-persistenced).\n",
            19,
        ),
        (
            "no-bus",
            "[sysfs]\nresets = \"bus\"\n",
            "Resetting GPU 00000000:01:00.0 is not supported: the kernel offers no PCI function-level reset for it, only: bus. Please reboot the system instead.\n",
            3,
        ),
    ] {
        let Some(simulated) = own(name, more) else {
            return;
        };
        for args in [&["-r"][..], &["-r", "--dry-run"]] {
            let (output, touched) = reset(&simulated, args);
            assert_eq!(stdout(&output), format!("{told}{end}"), "{name} {args:?}");
            assert_eq!(output.status.code(), Some(status), "{name} {args:?}");
            let kept = if name == "no-bus" { 4 } else { 0 };
            assert_eq!(
                touched.split_whitespace().count(),
                kept,
                "{name}: {touched}"
            );
        }
    }
}

/// Persistence mode is on too, and GPU 7 of the second box cannot be asked; no user can change that the
/// GPUs are on NVSwitches.
#[test]
fn a_gpu_on_switches_is_told_so_first() {
    for (simulated, gpu, name) in [
        ("h100x8", "0", "19"),
        ("h100x8", "0,1", "19"),
        ("sick", "7", "DB"),
    ] {
        let output = run(simulated, &["-r", "-i", gpu, "--dry-run"]);
        assert_eq!(
            stdout(&output),
            format!(
                "Resetting GPU 00000000:{name}:00.0 is not supported: it is linked to NVSwitches or a CPU, which would have to be reset with it. Please reboot the system instead.\nTerminating early due to previous errors.\n"
            )
        );
        assert_eq!(output.status.code(), Some(3));
    }
}

/// Without a `/sys` of its own a box has no GPU that the kernel knows.
#[test]
fn a_box_without_its_own_sys_resets_nothing() {
    let output = nvsmi("l40s-x4")
        .args(["-r", "-i", "0", "--dry-run"])
        .output()
        .expect("nvsmi runs");
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    assert!(
        stdout(&output).contains("the kernel has no NVIDIA device there"),
        "{}",
        stdout(&output)
    );
}
