//! What a drive knows whose flushes share it with no other command; what it does is in `face`.

/// The last of its commands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flushing {
    /// When the last of all commands is answered.
    pub(super) answered_ns: u64,
    /// When the last flush began, once those before it were answered, and when it was over.
    pub(super) begun_ns: u64,
    pub(super) over_ns: u64,
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
