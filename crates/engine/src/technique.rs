//! What the engine does to cost little, each by its name: everything is wished for, the kernel
//! grants what it can, and what was granted is recorded. `docs/engine.md` has the gain of each.

use std::fmt;

/// One of them. The order of the ring's flags is that in which a refusing kernel loses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Technique {
    /// The kernel takes entries by their place in the ring (Linux 6.6).
    NoSqArray,
    /// Completions are posted when the worker asks for them, not in an interrupt (6.1).
    DeferTaskrun,
    /// One thread alone submits (6.0).
    SingleIssuer,
    /// Completions are posted at the worker's next system call, and nobody interrupts it for that
    /// (5.19). Only where they are not deferred anyhow.
    CoopTaskrun,
    /// A bad entry does not end a submission (5.18).
    SubmitAll,
    /// The ring is named by its number in the thread's table (5.18).
    RegisteredRing,
    RegisteredFile,
    /// The arena is registered as one buffer, so no page is pinned per I/O.
    RegisteredBuffers,
    /// The arena lies in huge pages, as the kernel confirmed.
    HugePages,
    /// A submission that is likely to complete at once is not followed by a wait.
    InlineGuess,
    /// A deep closed loop wakes for several completions at once, within a bounded time (6.12).
    CoalescedWakes,
    /// Reads leave the time of the last access alone.
    NoAccessTime,
    /// Time is read from the processor's counter.
    TscClock,
}

impl Technique {
    pub const ALL: [Self; 13] = [
        Self::NoSqArray,
        Self::DeferTaskrun,
        Self::SingleIssuer,
        Self::CoopTaskrun,
        Self::SubmitAll,
        Self::RegisteredRing,
        Self::RegisteredFile,
        Self::RegisteredBuffers,
        Self::HugePages,
        Self::InlineGuess,
        Self::CoalescedWakes,
        Self::NoAccessTime,
        Self::TscClock,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::NoSqArray => "no-sqarray",
            Self::DeferTaskrun => "defer-taskrun",
            Self::SingleIssuer => "single-issuer",
            Self::CoopTaskrun => "coop-taskrun",
            Self::SubmitAll => "submit-all",
            Self::RegisteredRing => "registered-ring",
            Self::RegisteredFile => "registered-file",
            Self::RegisteredBuffers => "registered-buffers",
            Self::HugePages => "huge-pages",
            Self::InlineGuess => "inline-guess",
            Self::CoalescedWakes => "coalesced-wakes",
            Self::NoAccessTime => "no-access-time",
            Self::TscClock => "tsc-clock",
        }
    }

    /// The technique of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// A set of techniques.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Techniques(u16);

impl fmt::Debug for Techniques {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.names()).finish()
    }
}

impl Techniques {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self((1 << Technique::ALL.len()) - 1);

    #[must_use]
    pub fn with(self, technique: Technique) -> Self {
        Self(self.0 | 1 << technique as u8)
    }

    #[must_use]
    pub fn without(self, technique: Technique) -> Self {
        Self(self.0 & !(1 << technique as u8))
    }

    /// Both sets together.
    #[must_use]
    pub fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Those that are in both sets.
    #[must_use]
    pub fn common(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    #[inline]
    pub fn has(self, technique: Technique) -> bool {
        self.0 & 1 << technique as u8 != 0
    }

    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let mine = Technique::ALL.into_iter().filter(move |&one| self.has(one));
        mine.map(Technique::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technique_is_found_by_its_name_and_can_be_left_out_alone() {
        for technique in Technique::ALL {
            assert_eq!(Technique::named(technique.name()), Some(technique));
            let others = Techniques::ALL.without(technique);
            assert!(!others.has(technique));
            assert_eq!(others.with(technique), Techniques::ALL);
            assert_eq!(others.names().count(), Technique::ALL.len() - 1);
        }
        assert_eq!(Technique::named("magic"), None);
        assert_eq!(Techniques::NONE.names().count(), 0);
    }
}
