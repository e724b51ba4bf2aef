//! Flushes, and when they share the drive with no other command.

use super::ssd::Ssd;

/// What a drive knows that flushes alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flushing {
    /// When the last of all commands is answered.
    answered_ns: u64,
    /// When the last flush began, once those before it were answered, and when it was over.
    begun_ns: u64,
    over_ns: u64,
}

impl Flushing {
    /// A command is answered at `done_ns`.
    pub(super) fn answer(&mut self, done_ns: u64) {
        self.answered_ns = self.answered_ns.max(done_ns);
    }

    pub(super) fn visit(&self, mix: impl FnMut(u64)) {
        [self.answered_ns, self.begun_ns, self.over_ns]
            .into_iter()
            .for_each(mix);
    }
}

impl Ssd {
    /// Programs what is being gathered and waits for all that is in the buffer; where that outlives
    /// a power cut, only for its turn.
    pub(super) fn flush(&mut self, at_ns: u64) -> u64 {
        if let Some(flushing) = self.flushing {
            return self.flush_alone(flushing, at_ns);
        }
        if self.params.power_loss_protection {
            self.front.free_ns = at_ns.max(self.front.free_ns) + self.times.flush;
            return self.front.free_ns + self.times.ack;
        }
        self.pad(at_ns.max(self.admitted_ns));
        at_ns.max(self.drained_ns) + self.times.flush + self.times.ack
    }

    /// The same when no other command is under way: one that comes before the last flush begins
    /// is done with it.
    #[cold]
    fn flush_alone(&mut self, flushing: Flushing, at_ns: u64) -> u64 {
        let Flushing {
            answered_ns,
            mut begun_ns,
            mut over_ns,
        } = flushing;
        if over_ns == 0 || at_ns > begun_ns {
            begun_ns = at_ns.max(answered_ns).max(self.front.free_ns);
            let mut saved_ns = begun_ns;
            if !self.params.power_loss_protection {
                self.pad(begun_ns.max(self.admitted_ns));
                saved_ns = begun_ns.max(self.drained_ns);
            }
            over_ns = saved_ns + self.times.flush;
            self.front.free_ns = over_ns;
        }
        self.flushing = Some(Flushing {
            answered_ns: answered_ns.max(over_ns + self.times.ack),
            begun_ns,
            over_ns,
        });
        over_ns + self.times.ack
    }
}
