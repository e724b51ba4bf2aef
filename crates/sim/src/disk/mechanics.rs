//! The arm and the platter of a disk, pure: seek time over distance, angle and media rate over
//! position. The data lie on one spiral, so that reading on never waits: what a real disk loses
//! between two tracks is in its sustained rate.

use super::params::DiskParams;

/// Bytes at one rate: outer zones hold the low addresses and are faster.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Zone {
    start_bytes: u64,
    /// Media time from the first byte of the disk to that of the zone.
    start_ns: u64,
    ns_per_byte: f64,
}

/// Seek curve, rotation and zones of one disk. Times ns, positions bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanics {
    capacity_bytes: u64,
    revolution_ns: u64,
    /// Angle of the first byte, as time since the head passed it.
    phase_ns: u64,
    zones: Vec<Zone>,
    seek_least_ns: u64,
    seek_root_ns: f64,
    seek_knee: f64,
}

impl Mechanics {
    /// The mechanics of a disk of `capacity_bytes`; its platter starts at `phase_ns`.
    pub fn new(params: &DiskParams, capacity_bytes: u64, phase_ns: u64) -> Self {
        let count = u64::from(params.zones);
        let revolution_ns = (60e9 / params.rpm).round() as u64;
        let mut zones = Vec::with_capacity(params.zones as usize);
        let mut start_ns = 0;
        for zone in 0..count {
            let start_bytes =
                (u128::from(capacity_bytes) * u128::from(zone) / u128::from(count)) as u64;
            if let Some(last) = zones.last() {
                start_ns = media_ns(last, start_bytes);
            }
            let inwards = zone as f64 / (count - 1).max(1) as f64;
            let rate = params.outer_mb_per_second
                - (params.outer_mb_per_second - params.inner_mb_per_second) * inwards;
            zones.push(Zone {
                start_bytes,
                start_ns,
                ns_per_byte: 1e3 / rate,
            });
        }
        Self {
            capacity_bytes,
            revolution_ns,
            phase_ns: phase_ns % revolution_ns,
            zones,
            seek_least_ns: params.seek_least_ns,
            seek_root_ns: params.seek_root_ns as f64,
            seek_knee: params.seek_knee,
        }
    }

    pub fn revolution_ns(&self) -> u64 {
        self.revolution_ns
    }

    fn zone(&self, at_bytes: u64) -> &Zone {
        let after = self.zones.partition_point(|z| z.start_bytes <= at_bytes);
        &self.zones[after - 1]
    }

    /// Time under the head of `length_bytes` from `at_bytes` on.
    pub fn transfer_ns(&self, at_bytes: u64, length_bytes: u64) -> u64 {
        let end_bytes = at_bytes + length_bytes;
        media_ns(self.zone(end_bytes), end_bytes) - media_ns(self.zone(at_bytes), at_bytes)
    }

    /// Bytes that pass under the head in `time_ns` from `at_bytes` on, at the rate that is there.
    pub fn passed_bytes(&self, at_bytes: u64, time_ns: u64) -> u64 {
        (time_ns as f64 / self.zone(at_bytes).ns_per_byte) as u64
    }

    /// Time of moving the arm: nothing within a track, then t + r √d, linear beyond the knee with
    /// the slope it has there; d is the distance as a share of the stroke (Ruemmler and Wilkes).
    pub fn seek_ns(&self, from_bytes: u64, to_bytes: u64) -> u64 {
        let distance_bytes = from_bytes.abs_diff(to_bytes);
        let track_bytes = self.revolution_ns as f64 / self.zone(to_bytes).ns_per_byte;
        if (distance_bytes as f64) < track_bytes {
            return 0;
        }
        let distance = distance_bytes as f64 / self.capacity_bytes as f64;
        let root = self.seek_root_ns * distance.min(self.seek_knee).sqrt();
        let beyond = (distance - self.seek_knee).max(0.0);
        let slope = self.seek_root_ns / (2.0 * self.seek_knee.sqrt());
        self.seek_least_ns + (root + slope * beyond).round() as u64
    }

    /// Time from `at_ns` until the byte at `at_bytes` comes under the head.
    pub fn rotation_ns(&self, at_bytes: u64, at_ns: u64) -> u64 {
        let angle = media_ns(self.zone(at_bytes), at_bytes) + self.phase_ns;
        (angle % self.revolution_ns + self.revolution_ns - at_ns % self.revolution_ns)
            % self.revolution_ns
    }

    /// Seek and rotation from `from_bytes` at `at_ns` to `to_bytes`.
    pub fn positioning_ns(&self, from_bytes: u64, to_bytes: u64, at_ns: u64) -> u64 {
        let seek_ns = self.seek_ns(from_bytes, to_bytes);
        seek_ns + self.rotation_ns(to_bytes, at_ns + seek_ns)
    }
}

fn media_ns(zone: &Zone, at_bytes: u64) -> u64 {
    zone.start_ns + ((at_bytes - zone.start_bytes) as f64 * zone.ns_per_byte).round() as u64
}
