//! Write amplification of the translation layer against closed forms that know nothing of it.

use crate::common::{
    assert_within, closed_loop, device, fifo_active_range_wa, fifo_wa, fill, ftl, greedy_wa,
    lambert_w0, random_writes, write_amplification, Random,
};
use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::flash::params::{Cleaning, Frontier};

const UNITS: u32 = 1 << 19;

/// Steady write amplification of uniform random writes after a sequential fill.
fn steady_wa(
    dies: u32,
    pages: u32,
    op_percent: f64,
    cleaning: Cleaning,
    frontier: Frontier,
) -> (f64, f64) {
    let (mut ftl, geometry) = ftl(UNITS, dies, pages, op_percent, cleaning, frontier);
    let mut random = Random(1);
    fill(&mut ftl, UNITS);
    let mut uniform = || random.below(u64::from(UNITS)) as u32;
    write_amplification(&mut ftl, 3 * u64::from(UNITS), &mut uniform);
    let wa = write_amplification(&mut ftl, 3 * u64::from(UNITS), &mut uniform);
    (wa, geometry.alpha(frontier))
}

#[test]
fn the_closed_forms_give_their_published_values() {
    // Lambert: W0(-1/e) = -1, W0(x) e^W0(x) = x. Tables: greedy and FIFO at three spares.
    for x in [-0.36, -0.2, -0.05] {
        let w = lambert_w0(x);
        assert!((w * w.exp() - x).abs() < 1e-12);
    }
    for (op, np64, np256, fifo) in [
        (7.0, 7.00, 7.60, 7.82),
        (12.5, 4.38, 4.60, 4.68),
        (28.0, 2.40, 2.46, 2.48),
    ] {
        let alpha = 1.0 + op / 100.0;
        assert!((greedy_wa(alpha, 64) - np64).abs() < 0.01);
        assert!((greedy_wa(alpha, 256) - np256).abs() < 0.01);
        assert!((fifo_wa(alpha) - fifo).abs() < 0.01);
    }
    assert!((fifo_active_range_wa(1.0737, 1.0) - fifo_wa(1.0737)).abs() < 1e-6);
    assert!((fifo_active_range_wa(1.0737, 0.067) - 9.28).abs() < 0.03);
}

#[test]
fn greedy_cleaning_meets_the_closed_form_at_three_spares_and_two_erase_blocks() {
    for op_percent in [7.0, 12.5, 28.0] {
        for pages in [64, 256] {
            let (wa, alpha) = steady_wa(1, pages, op_percent, Cleaning::Greedy, Frontier::Shared);
            let what = format!("greedy, OP {op_percent} %, {pages} pages a block");
            assert_within(&what, wa, greedy_wa(alpha, pages), 1.0);
        }
    }
}

#[test]
fn greedy_cleaning_meets_the_closed_form_on_several_dies() {
    for op_percent in [7.0, 12.5, 28.0] {
        let (wa, alpha) = steady_wa(4, 256, op_percent, Cleaning::Greedy, Frontier::Shared);
        assert_within(
            &format!("4 dies, OP {op_percent} %"),
            wa,
            greedy_wa(alpha, 256),
            1.0,
        );
    }
}

#[test]
fn host_writes_of_two_block_sizes_meet_the_greedy_closed_form() {
    // A unit of 4 KiB written in 4 KiB, and a unit of 8 KiB written in 8 KiB, counted in bytes.
    for block_size_bytes in [4096_u32, 8192] {
        for op_percent in ["7", "12.5", "28"] {
            let text = format!(
                "slc-a?capacity=1GiB&dies=2&pages_per_block=64&gc=greedy&op_percent={op_percent}\
                 &mapping={block_size_bytes}&buffer=64KiB"
            );
            let mut drive = device(&text);
            let count = 3 * drive.capacity_bytes() / u64::from(block_size_bytes);
            let mut random = Random(7);
            let warm = random_writes(&mut drive, 0, 8, 2 * count, block_size_bytes, &mut random);
            let before = drive.health();
            random_writes(
                &mut drive,
                warm.ended_ns,
                8,
                count,
                block_size_bytes,
                &mut random,
            );
            let wa = drive
                .health()
                .since(&before)
                .write_amplification()
                .expect("it wrote");
            let alpha = drive.geometry().alpha(Frontier::Shared);
            let what = format!("{block_size_bytes} B blocks, OP {op_percent} %");
            assert_within(&what, wa, greedy_wa(alpha, 64), 1.0);
        }
    }
}

#[test]
fn fifo_cleaning_meets_the_closed_form() {
    for op_percent in [7.0, 28.0] {
        let (wa, alpha) = steady_wa(1, 256, op_percent, Cleaning::Fifo, Frontier::Shared);
        assert_within(&format!("FIFO, OP {op_percent} %"), wa, fifo_wa(alpha), 1.0);
    }
}

#[test]
fn sampled_cleaning_meets_the_mean_field_values() {
    // One choice is alpha/(alpha - 1) exactly; more are Van Houdt's (2013) for 32-page blocks.
    for (choices, op_percent, known) in [
        (1, 28.0, 4.571),
        (1, 7.0, 15.286),
        (2, 28.0, 3.21),
        (5, 28.0, 2.56),
        (2, 7.0, 9.95),
    ] {
        let cleaning = Cleaning::Sampled { choices };
        let (wa, alpha) = steady_wa(1, 32, op_percent, cleaning, Frontier::Shared);
        assert!((alpha - 1.0 - op_percent / 100.0).abs() < 1e-4);
        assert_within(
            &format!("{choices} choices, OP {op_percent} %"),
            wa,
            known,
            1.0,
        );
    }
}

#[test]
fn fifo_cleaning_of_an_active_range_carries_the_cold_data_round() {
    for hot_share in [0.067, 0.25] {
        let (mut ftl, geometry) = ftl(UNITS, 1, 256, 7.37, Cleaning::Fifo, Frontier::Shared);
        let alpha = geometry.alpha(Frontier::Shared);
        let truth = fifo_active_range_wa(alpha, hot_share);
        let hot = (f64::from(UNITS) * hot_share) as u64;
        let mut random = Random(3);
        fill(&mut ftl, UNITS);
        // Hot pages lie scattered, as the segments of a range do.
        let mut next = || (random.below(hot) * u64::from(UNITS) / hot) as u32;
        // The log comes round once in this many writes; the spare, at first written with hot
        // data alone, takes some turns to mix in.
        let turn = (f64::from(UNITS) * alpha / truth) as u64;
        write_amplification(&mut ftl, 20 * turn, &mut next);
        let wa = write_amplification(&mut ftl, 10 * turn, &mut next);
        assert_within(&format!("FIFO, {hot_share} of the space"), wa, truth, 1.5);
    }
}

#[test]
fn greedy_cleaning_of_an_active_range_leaves_the_cold_data_alone() {
    let hot_share = 0.25;
    let (mut ftl, geometry) = ftl(UNITS, 1, 256, 7.37, Cleaning::Greedy, Frontier::Shared);
    let hot = (f64::from(UNITS) * hot_share) as u64;
    fill(&mut ftl, UNITS);
    let mut random = Random(3);
    let mut next = || random.below(hot) as u32;
    write_amplification(&mut ftl, 8 * hot, &mut next);
    let wa = write_amplification(&mut ftl, 4 * hot, &mut next);
    let alpha_hot = (geometry.alpha(Frontier::Shared) - 1.0 + hot_share) / hot_share;
    assert_within(
        "greedy, a quarter of the space",
        wa,
        greedy_wa(alpha_hot, 256),
        1.0,
    );
}

#[test]
fn sequential_writing_moves_nothing() {
    for cleaning in [Cleaning::Greedy, Cleaning::Fifo] {
        for frontier in [Frontier::Shared, Frontier::Separate] {
            let (mut ftl, _) = ftl(UNITS, 8, 256, 7.0, cleaning, frontier);
            let wa: f64 = (0..4).map(|_| fill(&mut ftl, UNITS)).sum::<f64>() / 4.0;
            let what = format!("sequential, {cleaning:?}, {frontier:?}");
            assert_within(&what, wa, 1.0, 0.1);
        }
    }
}

#[test]
fn trim_keeps_the_live_share_and_lowers_write_amplification_as_predicted() {
    // Requests trim with probability q, uniformly over live data (Frankie 2012).
    let units = UNITS / 2;
    for q in [0.05, 0.1, 0.2, 0.3] {
        let (mut ftl, geometry) = ftl(units, 1, 256, 7.0, Cleaning::Greedy, Frontier::Shared);
        let mut random = Random(5);
        let mut live: Vec<u32> = (0..units).collect();
        let mut place: Vec<u32> = (0..units).collect();
        fill(&mut ftl, units);
        let step = |ftl: &mut teijo_sim::flash::Ftl,
                    random: &mut Random,
                    live: &mut Vec<u32>,
                    place: &mut Vec<u32>| {
            if random.chance(q) {
                let at = random.below(live.len() as u64) as usize;
                let unit = live.swap_remove(at);
                if let Some(&moved) = live.get(at) {
                    place[moved as usize] = at as u32;
                }
                place[unit as usize] = u32::MAX;
                assert!(ftl.trim(unit));
                return 0;
            }
            let unit = random.below(u64::from(units)) as u32;
            if place[unit as usize] == u32::MAX {
                place[unit as usize] = live.len() as u32;
                live.push(unit);
            }
            let die = ftl.pick_die();
            ftl.write(unit, die);
            1
        };
        for _ in 0..6 * u64::from(units) {
            step(&mut ftl, &mut random, &mut live, &mut place);
        }
        let (mut writes, mut share, before) = (0_u64, 0.0, ftl.programs());
        let samples = 4 * u64::from(units);
        for _ in 0..samples {
            writes += step(&mut ftl, &mut random, &mut live, &mut place);
            share += live.len() as f64 / f64::from(units);
        }
        assert_eq!(ftl.live_units(), live.len() as u64);
        let share = share / samples as f64;
        let wa = (ftl.programs() - before) as f64 / writes as f64;
        assert_within(
            &format!("trim {q}: live share"),
            share,
            (1.0 - 2.0 * q) / (1.0 - q),
            0.5,
        );
        let alpha = geometry.alpha(Frontier::Shared) / share;
        assert_within(&format!("trim {q}: WA"), wa, greedy_wa(alpha, 256), 2.0);
    }
}

#[test]
fn a_device_counts_the_pages_its_translation_layer_writes() {
    let mut drive = device("s3700?capacity=1GiB&dies=4");
    let mut random = Random(9);
    let blocks = drive.capacity_bytes() / 4096;
    closed_loop(&mut drive, 0, 4, 2 * blocks, || {
        (Op::Write, random.below(blocks) * 4096, 4096)
    });
    let health = drive.health();
    assert_eq!(health.host_writes_bytes, 2 * drive.capacity_bytes());
    assert_eq!(health.nand_writes_bytes, drive.ftl().programs() * 4096);
    assert!(health.nand_writes_bytes > health.host_writes_bytes);
}

/// Write amplification per quarter capacity of sequential writes after random ones.
fn return_to_sequential(cleaning: Cleaning, frontier: Frontier) -> Vec<f64> {
    let units = 1 << 18;
    let (mut ftl, _) = ftl(units, 1, 256, 7.0, cleaning, frontier);
    let mut random = Random(1);
    fill(&mut ftl, units);
    write_amplification(&mut ftl, 5 * u64::from(units), || {
        random.below(u64::from(units)) as u32
    });
    let mut unit = 0;
    let mut quarter = || {
        write_amplification(&mut ftl, u64::from(units) / 4, || {
            unit = (unit + 1) % units;
            unit
        })
    };
    (0..12).map(|_| quarter()).collect()
}

#[test]
fn a_separate_frontier_recovers_after_one_capacity_and_a_shared_one_does_not() {
    let separate = return_to_sequential(Cleaning::Greedy, Frontier::Separate);
    let shared = return_to_sequential(Cleaning::Greedy, Frontier::Shared);
    println!("separate {separate:.2?}\nshared {shared:.2?}");
    for wa in &separate[5..] {
        assert!((wa - 1.0).abs() <= 0.01, "{separate:?}");
    }
    for wa in &shared[4..8] {
        assert!(*wa > 4.0, "{shared:?}");
    }
}

#[test]
fn sampling_of_seven_recovers_with_a_separate_frontier_and_of_two_with_a_shared_one_does_not() {
    // The two client drives: what the presets mlc-a and mlc-b are made of.
    let sampled = |choices| Cleaning::Sampled { choices };
    let seven = return_to_sequential(sampled(7), Frontier::Separate);
    let two = return_to_sequential(sampled(2), Frontier::Shared);
    println!("seven, separate {seven:.2?}\ntwo, shared {two:.2?}");
    assert!(
        seven[6..].iter().all(|wa| (wa - 1.0).abs() <= 0.01),
        "{seven:?}"
    );
    assert!(two.iter().all(|wa| *wa > 4.0), "{two:?}");
}

#[test]
fn an_age_ordered_drive_never_recovers_with_one_frontier_or_two() {
    // A second frontier does not help: age order moves the new sequential pages, too, seven times
    // before they are overwritten, and mixes them with the old.
    for frontier in [Frontier::Separate, Frontier::Shared] {
        let quarters = return_to_sequential(Cleaning::Fifo, frontier);
        println!("{frontier:?} {quarters:.2?}");
        assert!(quarters.iter().all(|wa| *wa > 4.0), "{quarters:?}");
    }
}
