//! What a stream's requests may be, worked out from the plan apart from the engine: within the
//! range, on the grid, of a size of the plan, in the order of the plan.

use std::collections::HashSet;

use teijo_engine::plan::{Access, Bound, Plan, StreamPlan, Zone};
use teijo_engine::request::{Op, Request};

/// A stream as it must go on.
pub struct Judge {
    plan: StreamPlan,
    /// A budget in bytes cuts its last blocks.
    cut: bool,
    /// Where a sequential stream goes on.
    position_bytes: u64,
    /// Blocks that a shuffled pass has had, and how many are left of it.
    passed: HashSet<u64>,
    left: u64,
}

impl Judge {
    pub fn new(stream: &StreamPlan, plan: &Plan) -> Self {
        let mut judge = Self {
            plan: stream.clone(),
            cut: matches!(plan.bound, Bound::Bytes { .. }),
            position_bytes: 0,
            passed: HashSet::new(),
            left: 0,
        };
        match stream.access {
            Access::Sequential { cursor_bytes } => {
                judge.position_bytes = cursor_bytes % judge.length_bytes();
            }
            Access::Shuffled { cursor_bytes, .. } => {
                let done = cursor_bytes / u64::from(stream.block_size_bytes) % judge.places();
                judge.left = judge.places() - done;
            }
            _ => {}
        }
        judge
    }

    /// Takes the next request of the stream.
    pub fn see(&mut self, request: &Request) {
        if request.op == Op::Flush {
            assert_eq!((request.offset_bytes, request.length_bytes), (0, 0));
            return;
        }
        let (segment, within) = self.place(request);
        self.check_op(request.op);
        match self.plan.access.clone() {
            Access::Sequential { .. } => self.check_sequence(request, segment, within),
            Access::Shuffled { .. } => self.check_pass(request),
            Access::Zoned(zones) => self.check_zones(request, segment, within, &zones),
            Access::Random | Access::Zipf { .. } | Access::Pareto { .. } => {
                self.check_grid(request, within);
            }
        }
    }

    fn length_bytes(&self) -> u64 {
        self.plan.range.segments * self.plan.range.segment_bytes
    }

    fn per_segment(&self) -> u64 {
        let room = self.plan.range.segment_bytes - u64::from(self.plan.block_size_bytes);
        room / u64::from(self.plan.grid_bytes()) + 1
    }

    fn places(&self) -> u64 {
        self.plan.range.segments * self.per_segment()
    }

    /// Segment of a request and its place within; it must not leave the segment.
    fn place(&self, request: &Request) -> (u64, u64) {
        let range = &self.plan.range;
        let relative = request.offset_bytes.checked_sub(range.start_bytes);
        let relative = relative.expect("it lies before the range");
        let (segment, within) = match range.segments {
            1 => (0, relative),
            _ => (relative / range.stride_bytes, relative % range.stride_bytes),
        };
        let end = within + u64::from(request.length_bytes);
        let inside = segment < range.segments && end <= range.segment_bytes;
        assert!(
            inside && request.length_bytes > 0,
            "{request:?} leaves {range:?}"
        );
        (segment, within)
    }

    fn check_op(&self, op: Op) {
        let plan = &self.plan;
        assert!(plan.discard_percent < 100 || op == Op::Discard);
        match op {
            Op::Read => assert!(plan.read_percent > 0),
            Op::Write => assert!(plan.read_percent < 100),
            Op::Discard => assert!(plan.discard_percent > 0),
            Op::Flush => assert!(plan.flush_every_writes > 0),
        }
    }

    fn check_size(&self, request: &Request) {
        let mut sizes = self.plan.sizes_bytes();
        let known = sizes.any(|size| size == request.length_bytes);
        assert!(known || self.cut && request.length_bytes < self.plan.block_size_bytes);
    }

    fn check_grid(&self, request: &Request, within: u64) {
        self.check_size(request);
        assert_eq!(
            within % u64::from(self.plan.grid_bytes()),
            0,
            "off the grid"
        );
    }

    fn check_sequence(&mut self, request: &Request, segment: u64, within: u64) {
        let at = segment * self.plan.range.segment_bytes + within;
        assert_eq!(at, self.position_bytes, "a sequence has a gap");
        let length = u64::from(request.length_bytes);
        if within + length < self.plan.range.segment_bytes {
            self.check_size(request);
        }
        self.position_bytes = (at + length) % self.length_bytes();
    }

    fn check_pass(&mut self, request: &Request) {
        assert_eq!(request.length_bytes, self.plan.block_size_bytes);
        let fresh = self.passed.insert(request.offset_bytes);
        assert!(fresh, "a block has its turn twice in a pass");
        self.left -= 1;
        if self.left == 0 {
            self.passed.clear();
            self.left = self.places();
        }
    }

    /// No block lies in the middle of a zone that has no share of the accesses.
    fn check_zones(&self, request: &Request, segment: u64, within: u64, zones: &[Zone]) {
        self.check_grid(request, within);
        if !self.plan.blocks.is_empty() {
            return;
        }
        let place = segment * self.per_segment() + within / u64::from(self.plan.grid_bytes());
        let places = self.places() as f64;
        let (total, margin) = (zones.iter().map(|zone| zone.range_share).sum::<f64>(), 2.0);
        let mut passed = 0.0;
        for zone in zones {
            let first = passed / total * places;
            passed += zone.range_share;
            let end = passed / total * places;
            let inside = place as f64 > first + margin && (place as f64) < end - margin;
            assert!(
                !inside || zone.access_share > 0.0,
                "a zone of no share is met"
            );
        }
    }
}
