//! What a device is said to need against what the allocator was asked for while it was opened,
//! filled and read: an allocator that counts is the oracle.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use teijo_engine::request::Op;
use teijo_sim::compose::{build_within, need_bytes, open, Fault};
use teijo_sim::device::{serve_alone, Device};

// Each thread counts its own: the test runner and the other tests take memory beside this one.
thread_local! {
    /// What this thread holds beyond what it gave back, signed: it may give back another's.
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn more(bytes: usize) {
    let now = NOW.get() + bytes.cast_signed();
    NOW.set(now);
    PEAK.set(PEAK.get().max(now));
}

// SAFETY: all is handed to the system's allocator; the default `realloc` counts through these.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's promise is the one asked for here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.set(NOW.get() - layout.size().cast_signed());
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The most that this thread took at once while `work` ran, beyond what it held before.
fn peak_bytes<R>(work: impl FnOnce() -> R) -> (usize, R) {
    let before = NOW.get();
    PEAK.set(before);
    let made = work();
    ((PEAK.get() - before).cast_unsigned(), made)
}

/// Writes every second `step_bytes` of a device twice, with a flush behind each time, then reads
/// them all.
fn filled(text: &str, step_bytes: u32) {
    let mut device = open(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let count = device.capacity_bytes() / u64::from(step_bytes);
    let mut at_ns = 0;
    for (op, stride) in [(Op::Write, 2), (Op::Write, 2), (Op::Read, 1)] {
        for number in (0..count).step_by(stride) {
            let offset_bytes = number * u64::from(step_bytes);
            at_ns = serve_alone(&mut device, op, offset_bytes, step_bytes, at_ns).done_ns;
        }
        at_ns = serve_alone(&mut device, Op::Flush, 0, 0, at_ns).done_ns;
    }
}

/// Each with the step it is filled in; 0 is not at all.
const DEVICES: &[(&str, u32)] = &[
    ("mlc-a", 0),
    ("nvme-2tb", 0),
    ("raid0(8×mlc-a)", 0),
    ("raid10(4×mlc-b?capacity=1GiB&gc=fifo)", 0),
    ("mlc-b?slc_region=4GiB&slc_dynamic_percent=30", 0),
    ("mlc-a?compression=on", 0),
    ("sp900?compression_least_percent=3", 0),
    ("mlc-a?buffer=4GiB", 0),
    (
        "mlc-a?buffer=4GiB&power_loss_protection=off&map_cache=1GiB&refresh_us=100",
        0,
    ),
    ("faulty(hdd-7200?capacity=1TiB)?enospc_after=1GiB", 0),
    (
        "host-cache(hdd-7200?capacity=256MiB)?memory=300GB&dirty_percent=100",
        4096,
    ),
    (
        "cache(slc-a?capacity=256MiB)?size=300GB&start_percent=100",
        4096,
    ),
    (
        "cache(hdd-7200?capacity=256MiB)?size=300GB&start_percent=100",
        4096,
    ),
    (
        "cache(hdd-7200?capacity=256MiB)?size=300GB&mode=write-through&read_cache=on",
        4096,
    ),
    (
        "ssd-cache(hdd-7200?capacity=128MiB&write_cache=4MiB, hdd-5400?capacity=256MiB)?chunk=4KiB",
        4096,
    ),
    (
        "tier(hdd-7200?capacity=128MiB&write_cache=0, hdd-5400?capacity=256MiB&write_cache=0)\
         ?chunk=64KiB&promote_at=1&migrate_every_s=60",
        65536,
    ),
];

#[test]
fn what_a_device_needs_is_what_it_takes_and_little_more() {
    for &(text, step_bytes) in DEVICES {
        let need = need_bytes(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
        let (peak, ()) = peak_bytes(|| match step_bytes {
            0 => drop(open(text).unwrap_or_else(|error| panic!("{text}: {error}"))),
            _ => filled(text, step_bytes),
        });
        let ratio = need as f64 / peak as f64;
        println!("{text}: {need} B said, {peak} B taken, {ratio:.3}");
        // A flash map is asked for at once; the tables of caches double as they fill, and here one
        // of them is just full.
        let most = if step_bytes == 0 { 1.02 } else { 2.5 };
        assert!((1.0..most).contains(&ratio), "{text}: {need} B, {peak} B");
    }
}

/// Caches that are small beside what they stand before, and in how many places that is touched.
const BEFORE_LARGE: &[(&str, u64)] = &[
    (
        "cache(raid0(9×hdd-7200?nominal_capacity=4TB))?size=128MB&start_percent=100",
        30_000,
    ),
    (
        "host-cache(raid0(9×hdd-7200?nominal_capacity=4TB))?memory=128MB&dirty_percent=80\
         &dirty_background_percent=80",
        30_000,
    ),
    (
        "host-cache(raid0(36×hdd-7200?nominal_capacity=18TB&write_cache=0))\
         ?memory=2GB&page=64KiB&dirty_percent=5",
        30_000,
    ),
    (
        "cache(hdd-7200)?size=64MB&mode=write-through&read_cache=on",
        15_000,
    ),
];

/// Writes 4 KiB in `count` places all over a device, in order or at random, and reads them; twice,
/// with a flush between.
fn touched(text: &str, count: u64, is_in_order: bool) {
    /// Whole numbers at no even distance.
    const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;
    const BLOCK_BYTES: u32 = 4096;
    let mut device = open(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let blocks = device.capacity_bytes() / u64::from(BLOCK_BYTES);
    let mut at_ns = 0;
    for op in [Op::Write, Op::Read, Op::Flush, Op::Write, Op::Read] {
        for number in 0..if op == Op::Flush { 1 } else { count } {
            let place = if is_in_order {
                number * (blocks / count)
            } else {
                (number + 1).wrapping_mul(SCATTER) % blocks
            };
            let offset_bytes = place * u64::from(BLOCK_BYTES);
            at_ns = serve_alone(&mut device, op, offset_bytes, BLOCK_BYTES, at_ns).done_ns;
        }
    }
}

#[test]
fn a_small_cache_before_a_large_device_takes_as_much_as_it_holds() {
    for &(text, count) in BEFORE_LARGE {
        for is_in_order in [true, false] {
            let need = need_bytes(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
            let (peak, ()) = peak_bytes(|| touched(text, count, is_in_order));
            let ratio = need as f64 / peak as f64;
            println!("{text}: {need} B said, {peak} B taken, {ratio:.3}");
            // Tables are as large as they may become only just before they are made anew.
            assert!((1.0..3.0).contains(&ratio), "{text}: {need} B, {peak} B");
        }
    }
}

#[test]
fn what_needs_more_than_there_is_room_for_is_refused_and_nothing_of_it_is_made() {
    for text in ["raid0(1024×mlc-a)", "raid0(64×nvme-2tb?scale=1)"] {
        let need = need_bytes(text, &[]).expect("it can be made");
        let (peak, made) = peak_bytes(|| build_within(text, &[], need - 1));
        let error = made.expect_err("one byte too few");
        assert!(matches!(error.fault, Fault::NoRoom { need_bytes, .. } if need_bytes == need));
        assert!(need > 16 << 30, "{text}: {need} B");
        assert!(
            peak < 1 << 20,
            "{text}: {peak} B were taken for the refusal"
        );
    }
    assert!(build_within("mlc-a", &[], need_bytes("mlc-a", &[]).expect("a drive")).is_ok());
}

#[test]
fn counts_that_multiply_to_more_than_numbers_hold_are_counted_as_many() {
    let text = format!("{}hdd-7200{}", "raid0(1024×".repeat(7), ")".repeat(7));
    let error = open(&text).expect_err("2^70 devices");
    assert!(error.to_string().contains("more than 1024"), "{error}");
}

#[test]
fn a_region_of_more_units_than_numbers_hold_is_refused() {
    let text = "mlc-a?nominal_capacity=1&capacity=64MiB&dies=2&slc_region=16777215TiB";
    let error = open(text).expect_err("no drive has such a region");
    assert!(error.to_string().contains("32-bit"), "{error}");
}
