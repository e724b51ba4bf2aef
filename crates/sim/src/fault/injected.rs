//! What was done to I/Os, counted: what the model knows and a real device would not say.

/// What was done to the I/Os, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Injected {
    /// I/Os that failed with an I/O error.
    pub errors: u64,
    /// I/Os that came in while nothing was answered.
    pub held: u64,
    /// I/Os the host gave up.
    pub timed_out: u64,
    /// I/Os that came in when the device was gone.
    pub refused: u64,
    pub power_cuts: u64,
    /// I/Os that a power cut ended.
    pub cut_in_flight: u64,
    /// Acknowledged, and taken by a power cut: here, and in the part.
    pub lost_bytes: u64,
    pub lost_below_bytes: u64,
    /// Writes that thin provisioning had no room for.
    pub no_space: u64,
    /// Reads that brought what was there before.
    pub stale: u64,
    /// Writes that were not stored, and not wholly.
    pub dropped: u64,
    pub torn: u64,
    /// Reads with a wrong bit.
    pub flipped: u64,
    /// Flushes that did nothing.
    pub ignored_flushes: u64,
    /// I/Os that took longer.
    pub slowed: u64,
}

impl Injected {
    /// Every count with its name, in the order they are documented.
    pub fn table(&self) -> [(&'static str, u64); 15] {
        [
            ("errors", self.errors),
            ("held", self.held),
            ("timed_out", self.timed_out),
            ("refused", self.refused),
            ("power_cuts", self.power_cuts),
            ("cut_in_flight", self.cut_in_flight),
            ("lost_bytes", self.lost_bytes),
            ("lost_below_bytes", self.lost_below_bytes),
            ("no_space", self.no_space),
            ("stale", self.stale),
            ("dropped", self.dropped),
            ("torn", self.torn),
            ("flipped", self.flipped),
            ("ignored_flushes", self.ignored_flushes),
            ("slowed", self.slowed),
        ]
    }
}
