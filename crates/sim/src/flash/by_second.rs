//! From which scale on a drive may be read by the second: what a host waits for in one piece does
//! not shrink with the capacity, and a second does.

use super::params::{Pacing, SsdParams};

impl SsdParams {
    /// The longest that a die keeps a host waiting for cleaning in one piece, ns: a block as full
    /// as the mean one is moved and erased, at once or (paced) for one of the pages that it makes
    /// room for. `None` for parameters that make no drive.
    pub fn longest_lump_ns(&self) -> Option<f64> {
        let alpha = self.geometry().ok()?.alpha(self.frontier);
        let page_units = f64::from(self.page_units());
        let pages = f64::from(self.pages_per_block) / page_units;
        let moved = pages / alpha;
        // Valid units lie apart: to fill one page, as many pages may have to be read.
        let reads = (moved * page_units).min(pages);
        let block_ns = reads * self.read_ns as f64
            + moved * (self.program_ns + self.move_ns) as f64
            + self.erase_ns as f64;
        let times = self.slow_die.map_or(1.0, |slow| slow.times);
        let lump_ns = match self.pacing {
            Pacing::Lump => block_ns,
            Pacing::Paced => block_ns / (pages - moved).max(1.0) + self.program_ns as f64,
        };
        Some(times * lump_ns)
    }

    /// The largest scale at which a scaled second is as long as the longest lump: beyond it there
    /// may be seconds without an I/O that the full-size drive does not have. At least 1.
    pub fn by_second_scale(&self) -> Option<f64> {
        let lump_ns = self.longest_lump_ns()?;
        Some((1e9 / lump_ns).floor().max(1.0))
    }
}
