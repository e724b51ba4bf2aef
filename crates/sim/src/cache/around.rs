//! What a file system asks of its page cache besides reads, writes and write-back: to send I/O
//! around it, to forget what was deleted, to drop what is clean.

use teijo_engine::request::Op;

use super::extents::Span;
use super::in_flight::IoPurpose;
use super::params::HostCacheParams;
use super::policy::{Flushes, Settings};
use super::ram::Cache;
use super::streams::Streams;
use crate::clip::clip;
use crate::device::{Device, Outcome, Ticket};

impl<D: Device> Cache<D> {
    /// The page cache under a file system, which counts copies and calls itself and sends its own
    /// flushes: a flush of this one ends when what was dirty is below. Memory is not scaled.
    pub(crate) fn under_files(
        params: HostCacheParams,
        part: D,
        stripe_bytes: u64,
    ) -> Result<Self, String> {
        let settings = Settings::Host(params);
        let mut policy = settings.policy(1.0, stripe_bytes)?;
        (policy.ram_ns, policy.ram_ns_q24) = (0, 0);
        policy.flushes = Flushes::Drained;
        Ok(Self::with_policy("host-cache", settings, policy, part))
    }

    /// Sends one I/O straight below; `None`: its end is known later. A write takes its place out
    /// of the cache, and so does a discard.
    pub(crate) fn direct(
        &mut self,
        ticket: Ticket,
        op: Op,
        offset_bytes: u64,
        length_bytes: u32,
        at_ns: u64,
    ) -> Option<Outcome> {
        let mut sent_bytes = 0;
        if op != Op::Flush {
            sent_bytes = match clip(op, offset_bytes, length_bytes, self.capacity_bytes) {
                Ok(length_bytes) => length_bytes,
                Err(result) => {
                    return Some(Outcome {
                        done_ns: at_ns,
                        result,
                    })
                }
            };
            if op != Op::Read {
                self.forget_span((offset_bytes, offset_bytes + u64::from(sent_bytes)));
            }
        }
        let purpose = IoPurpose::Direct(ticket);
        self.downstream
            .send(purpose, op, offset_bytes, sent_bytes, at_ns);
        None
    }

    /// Forgets a place, dirty or clean: it was deleted, or overwritten around the cache.
    pub(crate) fn forget_span(&mut self, span: Span) {
        let dropped = self.dirty.cut(span) + self.batch.cut(span);
        self.tally.discarded_bytes += dropped;
        let unit = self.policy.unit_bytes;
        for unit in span.0 / unit..span.1.div_ceil(unit) {
            self.lru.remove(unit);
        }
    }

    /// Knows a place as clean, as metadata that was just made.
    pub(crate) fn know(&mut self, span: Span) {
        self.keep(span);
    }

    /// Drops all clean pages.
    pub(crate) fn drop_clean(&mut self) {
        self.lru.clear();
        self.streams = Streams::default();
    }

    /// The device below, to be told what the coming data is like.
    pub(crate) fn part_mut(&mut self) -> &mut D {
        self.downstream.device_mut()
    }
}
