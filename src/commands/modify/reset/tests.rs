//! Resets below a folder that stands for the kernel's file systems. Nothing here
//! names a file of the machine that it runs on.
#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// Device files that every machine has, with their minor numbers.
const NULL_LIKE: [(&str, u32); 2] = [("/dev/null", 3), ("/dev/zero", 5)];

/// A machine of two GPUs, gone when the test is over.
struct Machine {
    folder: PathBuf,
    kernel: Kernel,
}

impl Machine {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("nvsmi-reset-{}-{number}", std::process::id()));
        let kernel = Kernel {
            procfs: folder.join("proc"),
            sysfs: folder.join("sys"),
            // Of /dev/null and its like: what stands for GPU N is NULL_LIKE[N].
            major: 1,
        };
        let machine = Self { folder, kernel };
        for gpu in 0..2 {
            fs::create_dir_all(machine.device(gpu)).unwrap();
            machine.put(gpu, "vendor", "0x10de\n");
            machine.put(gpu, "reset", "");
            machine.put(gpu, "reset_method", "flr bus\n");
            machine.put(gpu, "boot_vga", "0\n");
            symlink("nvidia", machine.device(gpu).join("driver")).unwrap();
            fs::write(machine.device(gpu).join("config"), [0xde, 0x10, 0x35, 0x23]).unwrap();
        }
        let namespaces = machine.kernel.procfs.join("self/ns");
        fs::create_dir_all(&namespaces).unwrap();
        symlink("pid:[4026531836]", namespaces.join("pid")).unwrap();
        machine
    }

    fn device(&self, gpu: u32) -> PathBuf {
        self.kernel
            .sysfs
            .join(format!("bus/pci/devices/0000:a{gpu}:00.0"))
    }

    fn put(&self, gpu: u32, file: &str, text: &str) {
        fs::write(self.device(gpu).join(file), text).unwrap();
    }

    fn get(&self, gpu: u32, file: &str) -> String {
        fs::read_to_string(self.device(gpu).join(file)).unwrap()
    }

    /// A process that has a file open.
    fn open(&self, pid: u32, file: &str) {
        let folder = self.kernel.procfs.join(pid.to_string()).join("fd");
        fs::create_dir_all(&folder).unwrap();
        symlink(file, folder.join("3")).unwrap();
    }

    /// A line of the driver's file about a GPU.
    fn driver_says(&self, gpu: u32, line: &str) {
        let gpus = self.kernel.procfs.join("driver/nvidia/gpus");
        let folder = gpus.join(format!("0000:a{gpu}:00.0"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("information"), format!("Model: x\n{line}\n")).unwrap();
    }

    fn run(&self, gpus: &[Facts]) -> (Result<(), Error>, String) {
        self.run_with(gpus, Method::FunctionLevel, true, false)
    }

    fn run_with(
        &self,
        gpus: &[Facts],
        method: Method,
        root: bool,
        dry_run: bool,
    ) -> (Result<(), Error>, String) {
        let reset = Reset {
            method,
            kernel: &self.kernel,
            root,
            dry_run,
        };
        let mut told = String::new();
        let done = reset.run(gpus, |text| told += text);
        (done, told)
    }

    /// Whether a GPU was left alone.
    fn untouched(&self) -> bool {
        (0..2).all(|gpu| {
            self.get(gpu, "reset").is_empty() && self.get(gpu, "reset_method") == "flr bus\n"
        })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A GPU that nothing speaks against resetting.
fn idle(index: u32) -> Facts {
    Facts {
        index,
        bus_id: format!("00000000:A{index}:00.0"),
        short_bus_id: format!("0000:A{index}:00.0"),
        uuid: Ok(Some(format!("GPU-{index}"))),
        device_file: Ok(Some(NULL_LIKE[index as usize].1)),
        persistent: Ok(Some(false)),
        vgpu: Ok(Some(false)),
        operation_modes: Ok(None),
        mig_devices: Ok(Some(0)),
        processes: Vec::new(),
        peers: Ok(None),
    }
}

#[test]
fn an_idle_gpu_is_reset_and_told_of() {
    let machine = Machine::new();
    let (done, told) = machine.run(&[idle(1)]);
    assert_eq!(done, Ok(()));
    assert_eq!(
        told,
        "GPU 00000000:A1:00.0 was successfully reset.\nThe kernel did this by a PCI function-level reset.\nAll done.\n"
    );
    assert_eq!(
        (machine.get(1, "reset"), machine.get(0, "reset")),
        ("1".to_owned(), String::new())
    );
    assert_eq!(
        machine.get(1, "reset_method"),
        "flr bus",
        "as it was before"
    );
}

#[test]
fn what_speaks_against_it_is_found_before_any_gpu_is_touched() {
    let peer = || Ok(Some(vec![Peer::Gpu("00000000:A0:00.0".to_owned())]));
    let cases: Vec<(Facts, Status, &str)> = vec![
        (
            Facts {
                persistent: Ok(Some(true)),
                ..idle(1)
            },
            Status::InUse,
            "persistence mode",
        ),
        (
            Facts {
                vgpu: Ok(Some(true)),
                ..idle(1)
            },
            Status::NotSupported,
            "vGPU mode",
        ),
        (
            Facts {
                operation_modes: Ok(Some((0, 1))),
                ..idle(1)
            },
            Status::Other,
            "in flight",
        ),
        (
            Facts {
                mig_devices: Ok(Some(2)),
                ..idle(1)
            },
            Status::InUse,
            "MIG devices",
        ),
        (
            Facts {
                peers: peer(),
                ..idle(1)
            },
            Status::InvalidArgument,
            "reset together",
        ),
        (
            Facts {
                peers: Ok(Some(vec![Peer::Other])),
                ..idle(1)
            },
            Status::NotSupported,
            "NVSwitches",
        ),
        (
            Facts {
                device_file: Err(Missing::NO_PERMISSION),
                ..idle(1)
            },
            Status::NoPermission,
            "could not be determined",
        ),
        (
            Facts {
                persistent: Err(Missing::GPU_IS_LOST),
                ..idle(1)
            },
            Status::GpuLost,
            "could not be determined",
        ),
        (
            Facts {
                peers: Err(Missing::UNKNOWN),
                ..idle(1)
            },
            Status::Other,
            "could not be determined",
        ),
        (
            Facts {
                short_bus_id: String::new(),
                ..idle(1)
            },
            Status::NotSupported,
            "no NVIDIA device",
        ),
        (
            Facts {
                short_bus_id: "0000:ff:00.0".to_owned(),
                ..idle(1)
            },
            Status::NotSupported,
            "no NVIDIA device",
        ),
    ];
    for (gpu, status, words) in cases {
        let machine = Machine::new();
        let other = Facts {
            bus_id: "00000000:B0:00.0".to_owned(),
            ..idle(0)
        };
        let (done, told) = machine.run(&[other, gpu]);
        let error = done.unwrap_err();
        assert_eq!((error.status(), told.as_str()), (status, ""), "{words}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(
            error
                .to_string()
                .ends_with("Terminating early due to previous errors.\n"),
            "{error}"
        );
        assert!(machine.untouched(), "{words}");
    }
}

#[test]
fn linked_gpus_are_reset_together() {
    let machine = Machine::new();
    let linked = |index, to: &str| Facts {
        peers: Ok(Some(vec![Peer::Gpu(to.to_owned()); 4])),
        ..idle(index)
    };
    let (done, told) = machine.run(&[linked(0, "00000000:A1:00.0"), linked(1, "00000000:A0:00.0")]);
    assert_eq!(done, Ok(()), "{told}");
    assert_eq!(told.matches("was successfully reset").count(), 2);
}

#[test]
fn a_gpu_that_the_console_is_on_is_left_alone() {
    let machine = Machine::new();
    let folder = machine.kernel.sysfs.join("module/nvidia_drm/parameters");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("modeset"), "Y\n").unwrap();
    let error = machine.run(&[idle(0)]).0.unwrap_err();
    assert_eq!(error.status(), Status::InUse);
    assert!(machine.untouched());
    fs::write(folder.join("modeset"), "N\n").unwrap();
    machine.put(0, "boot_vga", "1\n");
    let error = machine.run(&[idle(0)]).0.unwrap_err();
    assert!(error.to_string().contains("is the primary GPU"), "{error}");
    assert!(machine.untouched());
}

#[test]
fn only_root_resets() {
    let machine = Machine::new();
    let (done, _) = machine.run_with(&[idle(0)], Method::FunctionLevel, false, false);
    let error = done.unwrap_err();
    assert_eq!(error.status(), Status::NoPermission);
    assert!(machine.untouched());
}

/// Whatever the path is by which the process opened the device.
#[test]
fn a_gpu_that_a_process_has_open_is_left_alone() {
    let machine = Machine::new();
    let elsewhere = machine.folder.join("chroot-dev-gpu");
    symlink(NULL_LIKE[1].0, &elsewhere).unwrap();
    machine.open(4321, elsewhere.to_str().unwrap());
    machine.open(4322, "/dev/full");
    machine.open(4323, "/dev/nvidia1");
    let (done, _) = machine.run(&[idle(1)]);
    let error = done.unwrap_err();
    assert_eq!(error.status(), Status::InUse);
    assert!(error.to_string().contains("first: 4321\n"), "{error}");
    assert!(machine.untouched());
    assert_eq!(machine.run(&[idle(0)]).0, Ok(()));
}

#[test]
fn a_process_that_only_nvml_knows_of_counts_too() {
    let machine = Machine::new();
    let busy = Facts {
        processes: vec![7, 5, 7],
        ..idle(1)
    };
    let error = machine.run(&[busy]).0.unwrap_err();
    assert_eq!(error.status(), Status::InUse);
    assert!(error.to_string().contains("first: 5, 7\n"), "{error}");
    assert!(machine.untouched());
}

/// A GPU that does not tell its device file: the driver does, or whoever uses any GPU is in the way.
#[test]
fn a_gpu_that_cannot_be_asked_is_reset_if_nobody_uses_it() {
    let dead = || Facts {
        uuid: Ok(None),
        device_file: Ok(None),
        persistent: Ok(None),
        vgpu: Ok(None),
        mig_devices: Ok(None),
        ..idle(1)
    };
    let machine = Machine::new();
    assert_eq!(machine.run(&[dead()]).0, Ok(()));
    let machine = Machine::new();
    machine.open(4321, NULL_LIKE[0].0);
    let error = machine.run(&[dead()]).0.unwrap_err();
    assert!(error.to_string().contains("first: 4321\n"), "{error}");
    machine.driver_says(1, "Device Minor: \t 5");
    assert_eq!(machine.run(&[dead()]).0, Ok(()));
}

#[test]
fn a_gpu_of_another_machine_is_left_alone() {
    let machine = Machine::new();
    machine.driver_says(0, "GPU UUID: \t GPU-????????-????");
    assert_eq!(machine.run(&[idle(0)]).0, Ok(()));
    machine.driver_says(1, "GPU UUID: \t GPU-7");
    let error = machine.run(&[idle(1)]).0.unwrap_err();
    assert!(
        error.to_string().contains("as GPU-7, and NVML as GPU-1"),
        "{error}"
    );
    assert_eq!(machine.get(1, "reset"), "");
}

#[test]
fn processes_that_cannot_be_seen_are_in_the_way_unless_nothing_is_open() {
    let machine = Machine::new();
    let namespace = machine.kernel.procfs.join("self/ns/pid");
    fs::remove_file(&namespace).unwrap();
    symlink("pid:[4026532000]", &namespace).unwrap();
    let module = machine.kernel.sysfs.join("module/nvidia");
    fs::create_dir_all(module.join("holders/nvidia_uvm")).unwrap();
    for (uses, is_refused) in [("2\n", true), ("", true), ("1\n", false)] {
        fs::write(module.join("refcnt"), uses).unwrap();
        let done = machine.run(&[idle(0)]).0;
        assert_eq!(done.is_err(), is_refused, "{uses}");
        if let Err(error) = done {
            assert_eq!(error.status(), Status::Other);
            assert!(error.to_string().contains("--pid=host"), "{error}");
            assert!(machine.untouched());
        }
    }
}

/// What can never be is said before what one can change, of whichever GPU.
#[test]
fn the_impossible_comes_first() {
    let machine = Machine::new();
    let busy = Facts {
        persistent: Ok(Some(true)),
        processes: vec![1],
        ..idle(0)
    };
    let on_switches = Facts {
        persistent: Ok(Some(true)),
        peers: Ok(Some(vec![Peer::Other])),
        ..idle(1)
    };
    let gpus = [busy, on_switches];
    for root in [true, false] {
        let (done, _) = machine.run_with(&gpus, Method::FunctionLevel, root, false);
        let error = done.unwrap_err();
        assert_eq!(error.status(), Status::NotSupported);
        assert!(error.to_string().contains("NVSwitches"), "{error}");
    }
}

#[test]
fn a_method_that_the_kernel_lacks_is_not_replaced_by_another() {
    let machine = Machine::new();
    machine.put(0, "reset_method", "bus\n");
    let error = machine.run(&[idle(0)]).0.unwrap_err();
    assert_eq!(error.status(), Status::NotSupported);
    assert!(
        error
            .to_string()
            .contains("no PCI function-level reset for it, only: bus"),
        "{error}"
    );
    assert_eq!(machine.get(0, "reset"), "");
    assert_eq!(
        machine.run_with(&[idle(0)], Method::Bus, true, false).0,
        Ok(())
    );
    assert_eq!(machine.get(0, "reset"), "1");
}

#[test]
fn no_other_device_is_reset() {
    let machine = Machine::new();
    machine.put(0, "vendor", "0x1af4\n");
    assert_eq!(
        machine.run(&[idle(0)]).0.unwrap_err().status(),
        Status::NotSupported
    );
    machine.put(0, "vendor", "0x10de\n");
    fs::remove_file(machine.device(0).join("reset")).unwrap();
    let error = machine.run(&[idle(0)]).0.unwrap_err();
    assert!(error.to_string().contains("no way to reset it"), "{error}");
    assert!(!machine.device(0).join("reset").exists(), "no file is made");
}

#[test]
fn a_failed_reset_is_no_success() {
    let machine = Machine::new();
    fs::write(machine.device(1).join("config"), [0xff; 4]).unwrap();
    let (done, told) = machine.run(&[idle(0), idle(1)]);
    assert_eq!(done.unwrap_err().status(), Status::Other);
    assert!(
        told.contains("GPU 00000000:A0:00.0 was successfully reset.\n"),
        "{told}"
    );
    assert!(
        told.contains("Error encountered during reset of GPU 00000000:A1:00.0: it does not answer"),
        "{told}"
    );
    assert!(!told.contains("All done."), "{told}");
}

#[test]
fn a_dry_run_touches_nothing() {
    let machine = Machine::new();
    let (done, told) = machine.run_with(&[idle(0)], Method::FunctionLevel, true, true);
    assert_eq!(done, Ok(()));
    assert_eq!(
        told,
        "Would reset GPU 0 (00000000:A0:00.0) by a PCI function-level reset.\nNothing was changed.\n"
    );
    assert!(machine.untouched());
}

#[test]
fn kinds_of_reset() {
    assert_eq!(method(None), Ok(Method::FunctionLevel));
    assert_eq!(method(Some("bus")), Ok(Method::Bus));
    assert_eq!(
        method(Some("x")).unwrap_err().status(),
        Status::InvalidArgument
    );
}
