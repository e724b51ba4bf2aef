//! Histograms against a plain list of values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use teijo_engine::histogram::Histogram;

/// Longest latency that a stamp can tell.
const STAMP_NS_MAX: u64 = (1 << 48) - 1;

/// Runs of values, in two parts that are merged, against all of them in order.
fn book(bytes: &[u8]) {
    let mut parts = [Histogram::new(), Histogram::new()];
    let mut all = Vec::new();
    for chunk in bytes.chunks_exact(8) {
        let word = u64::from_le_bytes(chunk.try_into().expect("a chunk has eight bytes"));
        let (value_ns, run) = ((word & STAMP_NS_MAX) >> (word >> 58), word >> 48 & 0x1f);
        parts[(word >> 57 & 1) as usize].record_n(value_ns, run);
        all.extend(std::iter::repeat_n(value_ns, run as usize));
    }
    let [mut merged, second] = parts;
    merged.merge(&second);
    all.sort_unstable();
    assert_eq!(merged.count(), all.len() as u64);
    assert_eq!(merged.sum_ns(), all.iter().sum::<u64>());
    if let (Some(&least), Some(&greatest)) = (all.first(), all.last()) {
        assert_eq!((merged.min_ns(), merged.max_ns()), (least, greatest));
        for quantile in [0.0, 0.01, 0.5, 0.9, 0.999, 1.0] {
            let rank = ((quantile * all.len() as f64).ceil() as usize).max(1);
            let (told, exact) = (merged.quantile_ns(quantile), all[rank - 1]);
            assert!(
                told.abs_diff(exact) <= 1 + exact / 2000,
                "{told} for {exact}"
            );
        }
    }
    assert_eq!(
        Histogram::from_pairs(merged.pairs()).pairs(),
        merged.pairs()
    );
}

fuzz_target!(|bytes: &[u8]| book(bytes));
