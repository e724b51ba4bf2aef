//! When a die is free: it programs and reads one page after the other, and a read may suspend what
//! else it does.

/// When a die is free, and what cleaning it still has to spread over coming programs.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_field_names, reason = "every field is a time in ns")]
pub(super) struct DieClock {
    pub(super) busy_until_ns: u64,
    /// The last read of this die; reads that suspend a program queue behind each other.
    pub(super) read_until_ns: u64,
    pub(super) debt_ns: u64,
    pub(super) share_ns: u64,
    /// Until when the die is busy with an erase that reads may suspend.
    pub(super) erase_until_ns: u64,
}

/// How long a read waits at the most before it suspends what the die does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    pub(super) longest_ns: u64,
    /// For an erase; never longer than for the rest.
    pub(super) erase_ns: u64,
}

impl DieClock {
    /// Programs a page that is there at `at_ns` and takes `program_ns`, and with it a share of what
    /// cleaning owes; returns when that is done.
    #[inline]
    pub(super) fn program(&mut self, at_ns: u64, program_ns: u64) -> u64 {
        let share_ns = self.share_ns.min(self.debt_ns);
        self.debt_ns -= share_ns;
        self.busy_until_ns = self.busy_until_ns.max(at_ns) + program_ns + share_ns;
        self.busy_until_ns
    }

    /// Reads a page that is asked for at `ready_ns` and takes `page_ns`; returns when that is done.
    #[inline]
    pub(super) fn read(&mut self, ready_ns: u64, page_ns: u64, waits: Waits) -> u64 {
        let wait_ns = if self.erase_until_ns == self.busy_until_ns {
            waits.erase_ns
        } else {
            waits.longest_ns
        };
        let begin_ns = self.busy_until_ns.clamp(ready_ns, ready_ns + wait_ns);
        let begin_ns = begin_ns.max(self.read_until_ns);
        let done_ns = begin_ns + page_ns;
        self.read_until_ns = done_ns;
        if self.busy_until_ns > begin_ns {
            if self.erase_until_ns == self.busy_until_ns {
                self.erase_until_ns += page_ns;
            }
            self.busy_until_ns += page_ns;
        } else {
            self.busy_until_ns = done_ns;
        }
        done_ns
    }
}
