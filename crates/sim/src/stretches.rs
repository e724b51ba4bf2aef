//! Stretches of addresses, and what several have in common.

/// (offset, length) in bytes.
pub(crate) type Stretch = (u64, u64);

/// Every byte of `stretches` once, in order of address.
pub(crate) fn union(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    stretches.sort_unstable();
    let mut union: Vec<Stretch> = Vec::new();
    for (offset, length) in stretches {
        match union.last_mut() {
            Some((from, so_far)) if *from + *so_far >= offset => {
                *so_far = (*so_far).max(offset + length - *from);
            }
            _ => union.push((offset, length)),
        }
    }
    union
}

/// What is in both, each of which is in order of address and has no byte twice.
pub(crate) fn common(one: &[Stretch], other: &[Stretch]) -> Vec<Stretch> {
    let mut common = Vec::new();
    let mut places = (0, 0);
    while let (Some(&(a, a_length)), Some(&(b, b_length))) =
        (one.get(places.0), other.get(places.1))
    {
        let (a_end, b_end) = (a + a_length, b + b_length);
        let (from, to) = (a.max(b), a_end.min(b_end));
        if from < to {
            common.push((from, to - from));
        }
        if a_end <= b_end {
            places.0 += 1;
        } else {
            places.1 += 1;
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_in_both_is_what_each_has_byte_by_byte(
            one in prop::collection::vec((0..50_u64, 1..9_u64), 0..12),
            other in prop::collection::vec((0..50_u64, 1..9_u64), 0..12),
        ) {
            let bytes = |stretches: &[Stretch]| -> std::collections::BTreeSet<u64> {
                stretches.iter().flat_map(|&(from, length)| from..from + length).collect()
            };
            let (one, other) = (union(one), union(other));
            let found = common(&one, &other);
            let wanted: Vec<u64> = bytes(&one).intersection(&bytes(&other)).copied().collect();
            prop_assert_eq!(bytes(&found).into_iter().collect::<Vec<_>>(), wanted);
            let length_bytes: u64 = found.iter().map(|each| each.1).sum();
            prop_assert_eq!(bytes(&found).len() as u64, length_bytes);
        }
    }
}
