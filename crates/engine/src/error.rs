//! Everything that can go wrong in the engine, by name.

use std::fmt;

use crate::backend::Streak;
use crate::flight::{write_stuck, Stuck};

/// A device that fails this often without one success is taken for gone.
const FAILURES_IN_A_ROW_MAX: u64 = 1_000;

/// Why the engine refuses a plan, cannot start, or had to end a lap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// The plan asks for something that has no meaning.
    PlanRefused { reason: &'static str },
    /// `continues` was asked for, but the streams are not those of the stimulus that runs.
    NothingToContinue,
    /// The device wants other block sizes or offsets for direct I/O.
    DirectRefused {
        block_bytes: u32,
        offset_alignment_bytes: u32,
        memory_alignment_bytes: u32,
    },
    /// The device is gone, or every I/O of a long run failed.
    DeviceGone { errno: i32, failures: u64 },
    /// The same of one member of a target; members count from 0.
    MemberGone {
        member: usize,
        errno: i32,
        failures: u64,
    },
    /// A block of one stream lies on so many pieces that no ring holds those of its depth.
    TooManyParts {
        block_bytes: u32,
        smallest_bytes: u64,
        queue_depth: u32,
    },
    /// Direct I/O cannot be cut where one member ends and the next begins.
    BorderUnaligned {
        border_bytes: u64,
        alignment_bytes: u32,
    },
    /// These I/Os were in flight when the lap was left, the oldest first; none where all came
    /// back in time.
    Left { stuck: Vec<Stuck> },
    /// The kernel refuses a ring (`EPERM`, `ENOSYS`, `ENOMEM`).
    RingRefused { errno: i32 },
    /// No memory for the buffers.
    BuffersRefused { bytes: usize, errno: i32 },
    /// A thread could not be started, or died.
    ThreadLost { errno: i32 },
    /// A worker cannot be kept on its processor.
    PinRefused { cpu: u32, errno: i32 },
    /// Waiting for completions failed, which is no failure of an I/O.
    WaitFailed { errno: i32 },
}

/// Whether a device that fails so is gone, and need not be asked again.
pub(crate) fn says_gone(errno: i32) -> bool {
    matches!(errno, libc::ENODEV | libc::ENXIO)
}

impl EngineError {
    /// What the failures in a row say, those of the whole target or of its `worst` member; None
    /// as long as they may be chance.
    pub(crate) fn of_failures(errno: i32, failures: u64, worst: Option<Streak>) -> Option<Self> {
        let is_gone = |errno, failures| says_gone(errno) || failures >= FAILURES_IN_A_ROW_MAX;
        match worst {
            Some(Streak {
                member,
                errno,
                failures,
            }) if is_gone(errno, failures) => Some(Self::MemberGone {
                member,
                errno,
                failures,
            }),
            _ => is_gone(errno, failures).then_some(Self::DeviceGone { errno, failures }),
        }
    }
}

/// A system call's errno, 0 where there is none.
pub(crate) fn errno_of(error: &std::io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

struct Errno(i32);

impl fmt::Display for Errno {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(out, "short or zero-byte I/O"),
            errno => write!(out, "{}", std::io::Error::from_raw_os_error(errno)),
        }
    }
}

fn write_gone(out: &mut fmt::Formatter<'_>, who: &str, failures: u64, errno: i32) -> fmt::Result {
    let errno = Errno(errno);
    write!(
        out,
        "the {who} is gone: {failures} I/Os in a row failed, last: {errno}"
    )
}

impl fmt::Display for EngineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PlanRefused { reason } => write!(out, "the plan cannot be run: {reason}"),
            Self::NothingToContinue => {
                out.write_str("no open-ended stimulus of these streams is running to go on with")
            }
            Self::DirectRefused {
                block_bytes,
                offset_alignment_bytes,
                memory_alignment_bytes,
            } => write!(
                out,
                "the target refuses direct I/O of {block_bytes} B: it wants offsets and lengths \
                 in multiples of {offset_alignment_bytes} B and memory aligned to \
                 {memory_alignment_bytes} B (0: it does not say)"
            ),
            Self::DeviceGone { errno, failures } => write_gone(out, "device", *failures, *errno),
            Self::MemberGone {
                member,
                errno,
                failures,
            } => {
                let who = format!("target's member {}", member + 1);
                write_gone(out, &who, *failures, *errno)
            }
            Self::TooManyParts {
                block_bytes,
                smallest_bytes,
                queue_depth,
            } => write!(
                out,
                "blocks of {block_bytes} B, {queue_depth} at a time, lie on more pieces of \
                 {smallest_bytes} B than a ring of the kernel holds (32768)"
            ),
            Self::BorderUnaligned {
                border_bytes,
                alignment_bytes,
            } => {
                write!(
                    out,
                    "a member or a chunk of {border_bytes} B ends within what direct I/O moves \
                     at least, {alignment_bytes} B"
                )
            }
            Self::Left { stuck } if stuck.is_empty() => write!(out, "the lap was left"),
            Self::Left { stuck } => {
                write!(out, "the device does not answer: ")?;
                write_stuck(out, stuck)
            }
            Self::RingRefused { errno } => {
                write!(out, "the kernel refuses io_uring: {}", Errno(*errno))
            }
            Self::BuffersRefused { bytes, errno } => {
                write!(
                    out,
                    "no memory for {bytes} B of I/O buffers: {}",
                    Errno(*errno)
                )
            }
            Self::ThreadLost { errno } => write!(out, "a worker was lost: {}", Errno(*errno)),
            Self::PinRefused { cpu, errno } => {
                let why = std::io::Error::from_raw_os_error(*errno);
                write!(out, "no thread can be kept on processor {cpu}: {why}")
            }
            Self::WaitFailed { errno } => {
                write!(out, "waiting for completions failed: {}", Errno(*errno))
            }
        }
    }
}

impl std::error::Error for EngineError {}
