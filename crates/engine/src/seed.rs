//! Seeds made from seeds, and numbers below a bound made from draws.

/// Maps a number in 0..2^64 to 0..`count` by the high half of the product.
#[inline]
pub fn scale(draw: u64, count: u64) -> u64 {
    ((u128::from(draw) * u128::from(count)) >> 64) as u64
}

/// Mixes a seed and a number into an independent seed (the finalizer of splitmix64).
pub fn derive_seed(seed: u64, number: u64) -> u64 {
    let mut mixed = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
