//! The part of the map that a drive has at hand: in memory of its own and of the host. A page of
//! the map that is not there is read from flash first, and the changed one in its place is written.

use crate::flash::params::SsdParams;

/// A page of the map: so many entries of four bytes.
pub(super) const PAGE_ENTRIES: u32 = 1024;
pub(super) const PAGE_BYTES: u64 = 4 * PAGE_ENTRIES as u64;

const NOTHING: u32 = u32::MAX;

/// Where a page of the map is looked for: each has one place, which others have too.
#[derive(Clone, Debug)]
pub(super) struct MapCache {
    /// The page in each place, and whether it was changed since it was read.
    places: Vec<(u32, bool)>,
    /// Places from this one on are in memory of the host.
    own: u32,
    host_ns: u64,
    pub(super) misses: u64,
    pub(super) written_back: u64,
}

/// What finding a page of the map takes.
pub(super) enum Found {
    AtHand { ns: u64 },
    OnFlash { evicts: bool },
}

impl MapCache {
    /// `None` for a drive that holds its whole map.
    pub(super) fn new(params: &SsdParams) -> Option<Box<Self>> {
        let (own, all) = Self::places(params);
        (all > 0).then(|| {
            Box::new(Self {
                places: vec![(NOTHING, false); all as usize],
                own: own as u32,
                host_ns: params.map.host_ns,
                misses: 0,
                written_back: 0,
            })
        })
    }

    /// Places in memory of its own, and with those of the host; (0, 0) for the whole map. Both are
    /// volumes, and shrink as the map does.
    fn places(params: &SsdParams) -> (u64, u64) {
        if params.map.own_bytes == 0 {
            return (0, 0);
        }
        let pages = |bytes: u64| (bytes as f64 / params.simulated_scale()) as u64 / PAGE_BYTES;
        let own = pages(params.map.own_bytes).max(1);
        let all = own.saturating_add(pages(params.map.host_bytes));
        let most = params.simulated_capacity_bytes() / u64::from(params.mapping_bytes);
        let most = most.div_ceil(u64::from(PAGE_ENTRIES)).max(1);
        (own.min(most), all.min(most))
    }

    /// Memory that it takes, known before.
    pub(super) fn need_bytes(params: &SsdParams) -> u64 {
        let (_, all) = Self::places(params);
        size_of::<Self>() as u64 + all * size_of::<(u32, bool)>() as u64
    }

    pub(super) fn find(&mut self, page: u32, writes: bool) -> Found {
        let place = page as usize % self.places.len();
        let (held, changed) = &mut self.places[place];
        if *held == page {
            *changed |= writes;
            let in_host = place >= self.own as usize;
            let ns = if in_host { self.host_ns } else { 0 };
            return Found::AtHand { ns };
        }
        let evicts = *held != NOTHING && *changed;
        (*held, *changed) = (page, writes);
        self.misses += 1;
        self.written_back += u64::from(evicts);
        Found::OnFlash { evicts }
    }

    /// A purge leaves an empty map, of which every page is known.
    pub(super) fn clear(&mut self) {
        self.places.fill((NOTHING, false));
    }

    pub(super) fn visit(&self, mut mix: impl FnMut(u64)) {
        let of = |&(page, changed): &(u32, bool)| u64::from(page) << 1 | u64::from(changed);
        self.places.iter().map(of).for_each(&mut mix);
        [self.misses, self.written_back].into_iter().for_each(mix);
    }
}
