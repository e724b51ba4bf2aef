//! Everything that can go wrong in the engine, by name.

use std::fmt;

use crate::request::Op;

/// A device that fails this often without one success is taken for gone.
const FAILURES_IN_A_ROW_MAX: u64 = 1_000;

/// So many are named in a message.
const NAMED_MAX: usize = 4;

/// Why the engine refuses a plan, cannot start, or had to end a lap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// The plan asks for something that has no meaning.
    PlanRefused { reason: &'static str },
    /// `continues` was asked for, but the streams are not those of the stimulus that runs.
    NothingToContinue,
    /// The device wants other block sizes or offsets for direct I/O.
    DirectRefused {
        block_size_bytes: u32,
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
        block_size_bytes: u32,
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
    /// The file system has no room left, or the quota has none.
    DiskFull,
    /// A file cannot be opened or made ready for the work.
    FileRefused { call: &'static str, errno: i32 },
    /// Work on files was left in this call; no name where nobody waits in one.
    CallLeft { call: &'static str, age_ns: u64 },
    /// Waiting for completions failed, which is no failure of an I/O.
    WaitFailed { errno: i32 },
}

/// Failures of one member without a success between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streak {
    /// Number of the member, from 0.
    pub member: usize,
    /// Of the last one; 0 for an I/O that moved nothing.
    pub errno: i32,
    pub failures: u64,
}

/// An I/O that the device does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    pub op: Op,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    /// Since it was issued.
    pub age_ns: u64,
}

impl fmt::Display for Stuck {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let op = self.op.name();
        let seconds = self.age_ns as f64 / 1e9;
        if self.op == Op::Flush {
            return write!(out, "a {op} since {seconds:.1} s");
        }
        let (length, offset) = (self.length_bytes, self.offset_bytes);
        write!(out, "a {op} of {length} B at {offset} since {seconds:.1} s")
    }
}

/// Names the oldest of several, and counts the others.
fn write_stuck(out: &mut fmt::Formatter<'_>, stuck: &[Stuck]) -> fmt::Result {
    for (number, one) in stuck.iter().take(NAMED_MAX).enumerate() {
        write!(out, "{}{one}", if number > 0 { ", " } else { "" })?;
    }
    match stuck.len().saturating_sub(NAMED_MAX) {
        0 => Ok(()),
        more => write!(out, " and {more} more"),
    }
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

/// What a target or its file system does not do.
fn write_refusal(error: &EngineError, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error {
        EngineError::DirectRefused {
            block_size_bytes,
            offset_alignment_bytes,
            memory_alignment_bytes,
        } => write!(
            out,
            "the target refuses direct I/O of {block_size_bytes} B: it wants offsets and \
             lengths in multiples of {offset_alignment_bytes} B and memory aligned to \
             {memory_alignment_bytes} B (0: it does not say)"
        ),
        EngineError::FileRefused { call, errno } => {
            write!(out, "the file system refuses {call}: {}", Errno(*errno))
        }
        EngineError::CallLeft { call, age_ns } => {
            let seconds = *age_ns as f64 / 1e9;
            write!(
                out,
                "the file system does not answer: {call} since {seconds:.1} s"
            )
        }
        _ => out.write_str("the disk is full"),
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PlanRefused { reason } => write!(out, "the plan cannot be run: {reason}"),
            Self::NothingToContinue => {
                out.write_str("no open-ended stimulus of these streams is running to go on with")
            }
            Self::DirectRefused { .. }
            | Self::DiskFull
            | Self::FileRefused { .. }
            | Self::CallLeft { .. } => write_refusal(self, out),
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
                block_size_bytes,
                smallest_bytes,
                queue_depth,
            } => write!(
                out,
                "blocks of {block_size_bytes} B, {queue_depth} at a time, lie on more pieces of \
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_first_few_and_counts_the_rest() {
        struct Said(Vec<Stuck>);
        impl fmt::Display for Said {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_stuck(out, &self.0)
            }
        }
        let stuck = |op, number: u64| Stuck {
            op,
            offset_bytes: number * 512,
            length_bytes: 512,
            age_ns: number * 1_500_000_000,
        };
        let mut all = vec![stuck(Op::Write, 2), stuck(Op::Flush, 1)];
        let first = "a write of 512 B at 1024 since 3.0 s, a flush since 1.5 s";
        assert_eq!(Said(all.clone()).to_string(), first);
        all.extend((3..7).map(|number| stuck(Op::Discard, number)));
        assert!(Said(all).to_string().ends_with(" since 6.0 s and 2 more"));
    }
}
