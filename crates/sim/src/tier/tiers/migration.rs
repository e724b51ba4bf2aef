//! Which chunks change their tier, by how often each was used. No time here.

use super::super::table::Table;

/// A chunk that goes to the fast tier, and the one that makes room for it if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    pub up: u32,
    pub down: Option<u32>,
}

/// How often each chunk was used since the last migration, and half as often before.
#[derive(Clone, Debug)]
pub(super) struct Heat(Table<u32>);

impl Heat {
    pub fn new() -> Self {
        Self(Table::new(0))
    }

    /// One more access of `chunk`; returns how many there were.
    #[inline]
    pub fn add(&mut self, chunk: u32) -> u32 {
        let place = self.0.place(chunk);
        *place = place.saturating_add(1);
        *place
    }

    pub fn of(&self, chunk: u32) -> u32 {
        self.0.get(chunk)
    }

    pub fn forget(&mut self, chunk: u32) {
        self.0.set(chunk, 0);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// What was is worth half from now on.
    pub fn fade(&mut self) {
        self.0.change(|heat| heat / 2);
    }

    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let all = self.0.iter();
        all.flat_map(|(chunk, heat)| [u64::from(chunk), u64::from(heat)])
    }

    /// The exchanges, hottest first, after which the `fast` hottest of `chunks` are up, each as
    /// (chunk, whether it is up); `free` places up are empty. Of equals those that are up stay,
    /// and a chunk that nobody used goes nowhere by itself.
    pub fn exchanges(
        &self,
        chunks: impl Iterator<Item = (u32, bool)>,
        fast: u32,
        free: u32,
    ) -> Vec<Exchange> {
        let mut ranked: Vec<(u32, bool, u32)> = chunks
            .map(|(chunk, is_up)| (self.of(chunk), is_up, chunk))
            .filter(|&(heat, is_up, _)| heat > 0 || is_up)
            .collect();
        // Hottest first, of equals those that are up, of these the lowest.
        ranked.sort_unstable_by_key(|&(heat, is_up, chunk)| (u32::MAX - heat, !is_up, chunk));
        let (winners, losers) = ranked.split_at(ranked.len().min(fast as usize));
        let mut downs = losers.iter().rev().filter(|one| one.1).map(|one| one.2);
        let ups = winners.iter().filter(|one| !one.1).map(|one| one.2);
        let mut free = free;
        let exchange = |up| {
            if free > 0 {
                free -= 1;
                return Some(Exchange { up, down: None });
            }
            downs.next().map(|down| Exchange {
                up,
                down: Some(down),
            })
        };
        ups.map_while(exchange).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn heat(heats: &[u32]) -> Heat {
        let mut heat = Heat::new();
        for (chunk, &count) in (0..).zip(heats) {
            (0..count).for_each(|_| {
                heat.add(chunk);
            });
        }
        heat
    }

    #[test]
    fn a_hot_chunk_below_takes_the_place_of_the_coldest_above() {
        let heat = heat(&[5, 1, 3, 9, 2]);
        let chunks = [(0, true), (1, true), (2, true), (3, false), (4, false)];
        let found = heat.exchanges(chunks.into_iter(), 3, 0);
        assert_eq!(
            found,
            [Exchange {
                up: 3,
                down: Some(1)
            }]
        );
    }

    #[test]
    fn equals_stay_where_they_are_and_free_places_are_taken_first() {
        let heat = heat(&[2, 2, 2, 0]);
        let chunks = [(0, true), (1, false), (2, false), (3, false)];
        assert_eq!(heat.exchanges(chunks.into_iter(), 1, 0), []);
        let found = heat.exchanges(chunks.into_iter(), 2, 1);
        assert_eq!(found, [Exchange { up: 1, down: None }]);
        let all = heat.exchanges(chunks.into_iter(), 9, 8);
        assert_eq!(all.len(), 2, "nobody asked for chunk 3");
    }

    proptest! {
        /// Against the plain statement: no chunk below is hotter than one above, and no more
        /// moves than that takes.
        #[test]
        fn afterwards_none_below_is_hotter_than_one_above(
            heats in proptest::collection::vec(0_u32..6, 1..40), fast in 1_u32..20, seed: u64
        ) {
            let all = 0..heats.len() as u32;
            let up_at_first = |chunk: u32| (seed >> (chunk % 64)) & 1 == 1;
            let mut up: BTreeSet<u32> =
                all.clone().filter(|&one| up_at_first(one)).take(fast as usize).collect();
            let free = fast - up.len() as u32;
            let chunks = all.clone().map(|chunk| (chunk, up.contains(&chunk)));
            let found = heat(&heats).exchanges(chunks.collect::<Vec<_>>().into_iter(), fast, free);
            for Exchange { up: rises, down } in found {
                prop_assert!(up.insert(rises));
                if let Some(falls) = down {
                    prop_assert!(up.remove(&falls));
                    prop_assert!(heats[rises as usize] > heats[falls as usize]);
                }
                prop_assert!(up.len() <= fast as usize);
            }
            let of = |chunk: &u32| heats[*chunk as usize];
            let below = all.filter(|chunk| !up.contains(chunk));
            let hottest_below = below.map(|chunk| of(&chunk)).max().unwrap_or(0);
            let coldest_up = up.iter().map(of).min().unwrap_or(0);
            let is_full = up.len() == fast as usize;
            prop_assert!(hottest_below == 0 || (is_full && hottest_below <= coldest_up));
        }
    }
}
