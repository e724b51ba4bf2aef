//! One number over a state: equal states have equal digests.

/// Numbers mixed in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn mix(&mut self, values: impl IntoIterator<Item = u64>) {
        for value in values {
            self.0 = (self.0 ^ value)
                .wrapping_mul(0x0000_0100_0000_01b3)
                .rotate_left(23);
        }
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}
