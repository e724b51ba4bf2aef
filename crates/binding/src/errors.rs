//! Every error of the Rust rooms as a class of `teijo.errors`, with what to do about it. The only
//! place that knows both trees.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use teijo_engine::error::EngineError;
use teijo_sim::compose::{ComposeError, Fault};
use teijo_sim::flash::params::ParamError;

/// A Rust error as Python has it: the class in `teijo.errors`, and the remedy.
pub struct Face {
    pub class: &'static str,
    pub remedy: &'static str,
}

/// An error that has a face.
pub trait Faced: std::fmt::Display {
    fn face(&self) -> Face;
}

impl Faced for EngineError {
    fn face(&self) -> Face {
        let (class, remedy) = match self {
            Self::PlanRefused { .. } => ("PlanError", "Change the setting it names."),
            Self::NothingToContinue => (
                "PlanError",
                "Run an open-ended step of the same streams first.",
            ),
            Self::DirectRefused { .. } => (
                "DeviceError",
                "Use a block size that is a multiple of the logical block size, and a file only \
                 on a file system with direct I/O (ext4, xfs, btrfs; not tmpfs).",
            ),
            Self::TooManyParts { .. } => (
                "PlanError",
                "Use a larger chunk, a smaller block size or a smaller queue depth, or the sync \
                 backend.",
            ),
            Self::BorderUnaligned { .. } => (
                "PlanError",
                "Give members and chunks sizes of whole blocks.",
            ),
            Self::DeviceGone { .. } | Self::MemberGone { .. } => (
                "DeviceError",
                "Look at the kernel's log (dmesg) for the device; what was measured is kept.",
            ),
            Self::RingRefused { .. } => (
                "HostError",
                "Use the sync backend, or allow io_uring (kernel.io_uring_disabled = 0).",
            ),
            Self::BuffersRefused { .. } => (
                "HostError",
                "Use fewer threads, a smaller queue depth or a smaller block size.",
            ),
            Self::ThreadLost { .. } => (
                "HostError",
                "Use fewer threads, or raise the limit of processes (ulimit -u).",
            ),
            Self::PinRefused { .. } => (
                "HostError",
                "Look which processors this program may use: taskset -p $$, the cgroup's cpuset.",
            ),
            Self::Left { .. } => (
                "StuckDevice",
                "Look at the kernel's log (dmesg), and at what the device stands on.",
            ),
            Self::WaitFailed { .. } => ("HostError", "Use the sync backend."),
            Self::DiskFull | Self::FileRefused { .. } | Self::CallLeft { .. } => {
                return of_files(self);
            }
        };
        Face { class, remedy }
    }
}

/// What goes wrong in work on files.
fn of_files(error: &EngineError) -> Face {
    let (class, remedy) = match error {
        EngineError::DiskFull => ("HostError", "Free space there, and resume the run."),
        EngineError::FileRefused { .. } => (
            "DeviceError",
            "Look at how the file system is mounted, and whether it has what was asked for \
             (direct I/O: not tmpfs, and chunks of whole blocks).",
        ),
        _ => (
            "StuckDevice",
            "Look at the kernel's log (dmesg), and at what the file system stands on.",
        ),
    };
    Face { class, remedy }
}

impl Faced for ParamError {
    fn face(&self) -> Face {
        let (class, remedy) = match self {
            Self::UnknownPreset { .. } => ("TargetError", "Name one of these: sim:NAME."),
            Self::UnknownParameter { .. } => ("PlanError", "Write sim:NAME?parameter=value."),
            Self::BadValue { .. } | Self::Impossible { .. } => ("PlanError", "Give another value."),
        };
        Face { class, remedy }
    }
}

impl Faced for ComposeError {
    fn face(&self) -> Face {
        let (class, remedy) = match &self.fault {
            Fault::Unreadable { .. } => (
                "TargetError",
                "Write sim:NAME?key=value, or an array of such: sim:raid5(4×hdd-7200)?chunk=64KiB.",
            ),
            Fault::Unknown { .. } => ("TargetError", "Name one of these: sim:NAME."),
            Fault::Refused { .. } => ("PlanError", "Give another value, or other parts."),
            Fault::Ssd(error) => return error.face(),
            Fault::NoRoom { .. } => (
                "HostError",
                "Take a larger scale= or a smaller capacity=, fewer devices or smaller caches, or \
                 raise the limit (ulimit -v, the container's memory).",
            ),
        };
        Face { class, remedy }
    }
}

/// The Python exception of a Rust error.
pub fn raised(py: Python<'_>, error: &impl Faced) -> PyErr {
    let face = error.face();
    let exception = || {
        let class = py.import("teijo.errors")?.getattr(face.class)?;
        let remedy = PyDict::new(py);
        remedy.set_item("remedy", face.remedy)?;
        class.call((sentence(&error.to_string()),), Some(&remedy))
    };
    exception().map_or_else(|problem| problem, PyErr::from_value)
}

/// A text with a capital letter, unless it begins with a name: a device's, or a parameter's.
fn sentence(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    let is_word = !first.is_empty() && first.bytes().all(|letter| letter.is_ascii_lowercase());
    if !is_word || text.contains(" has no parameter") && first != "a" {
        return text.into();
    }
    text[..1].to_ascii_uppercase() + &text[1..]
}

/// A session used by two threads at once, or after its end: a mistake of the program's.
pub fn not_free() -> PyErr {
    PyRuntimeError::new_err("the session is running a lap in another thread, or is closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = include_str!("../../../python/teijo/errors.py");

    fn engine_errors() -> Vec<(EngineError, &'static str)> {
        vec![
            (EngineError::PlanRefused { reason: "no" }, "PlanError"),
            (EngineError::NothingToContinue, "PlanError"),
            (
                EngineError::DirectRefused {
                    block_size_bytes: 512,
                    offset_alignment_bytes: 4096,
                    memory_alignment_bytes: 4,
                },
                "DeviceError",
            ),
            (
                EngineError::DeviceGone {
                    errno: 5,
                    failures: 1,
                },
                "DeviceError",
            ),
            (
                EngineError::MemberGone {
                    member: 0,
                    errno: 5,
                    failures: 1,
                },
                "DeviceError",
            ),
            (
                EngineError::TooManyParts {
                    block_size_bytes: 1 << 20,
                    smallest_bytes: 4096,
                    queue_depth: 256,
                },
                "PlanError",
            ),
            (
                EngineError::BorderUnaligned {
                    border_bytes: 1000,
                    alignment_bytes: 512,
                },
                "PlanError",
            ),
            (EngineError::Left { stuck: Vec::new() }, "StuckDevice"),
            (EngineError::RingRefused { errno: 1 }, "HostError"),
            (
                EngineError::BuffersRefused {
                    bytes: 1,
                    errno: 12,
                },
                "HostError",
            ),
            (EngineError::ThreadLost { errno: 11 }, "HostError"),
            (EngineError::PinRefused { cpu: 9, errno: 22 }, "HostError"),
            (EngineError::WaitFailed { errno: 5 }, "HostError"),
        ]
    }

    fn errors_of_files() -> Vec<(EngineError, &'static str)> {
        let (call, age_ns) = ("fsync", 1);
        vec![
            (EngineError::DiskFull, "HostError"),
            (EngineError::FileRefused { call, errno: 22 }, "DeviceError"),
            (EngineError::CallLeft { call, age_ns }, "StuckDevice"),
        ]
    }

    #[test]
    fn every_error_has_a_class_of_the_tree_and_a_remedy() {
        let mut engine = engine_errors();
        engine.extend(errors_of_files());
        let text = String::from("x");
        let params = [
            (
                ParamError::UnknownPreset {
                    name: text.clone(),
                    known: text.clone(),
                },
                "TargetError",
            ),
            (
                ParamError::UnknownParameter {
                    name: text.clone(),
                    known: text.clone(),
                },
                "PlanError",
            ),
            (
                ParamError::BadValue {
                    name: "seed",
                    value: text.clone(),
                    why: text.clone(),
                },
                "PlanError",
            ),
            (ParamError::Impossible { why: text.clone() }, "PlanError"),
        ];
        let faults = [
            (Fault::Unreadable { why: text.clone() }, "TargetError"),
            (
                Fault::Unknown {
                    name: text.clone(),
                    known: text.clone(),
                },
                "TargetError",
            ),
            (Fault::Refused { why: text.clone() }, "PlanError"),
            (Fault::Ssd(params[3].0.clone()), "PlanError"),
            (
                Fault::NoRoom {
                    need_bytes: 2,
                    room_bytes: 1,
                },
                "HostError",
            ),
        ];
        let composed = faults.map(|(fault, class)| (ComposeError { place: None, fault }, class));
        let faces = engine.iter().map(|(error, class)| (error.face(), *class));
        let faces = faces.chain(params.iter().map(|(error, class)| (error.face(), *class)));
        let faces = faces.chain(composed.iter().map(|(error, class)| (error.face(), *class)));
        for (face, class) in faces {
            assert_eq!(face.class, class);
            assert!(
                TREE.contains(&format!("class {class}(")),
                "{class} is not in the tree"
            );
            assert!(face.remedy.ends_with('.'), "{}", face.remedy);
        }
    }
}
