//! Where time comes from. Nothing else in the engine reads a clock.

/// A monotonic clock in nanoseconds; its zero is arbitrary but fixed for the life of a session.
pub trait Clock {
    fn now_ns(&self) -> u64;
}
