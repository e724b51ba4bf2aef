//! Scale and seconds: up to the scale that a preset names, no second of a busy drive is empty.

use crate::lab::{bytes, capacity_bytes, fill, plan, random, run, seconds, session, Load, KIB};
use teijo_sim::presets::{open, presets};
use teijo_sim::session::Unobserved;

const PAGE: &str = include_str!("../../../../docs/reference/presets.md");

/// Seconds without an I/O among 600 of a worn drive that is written at random, 32 in flight; its
/// seconds are as short as its scale makes them.
fn empty_seconds(text: &str) -> usize {
    let mut drive = session(text);
    let capacity = capacity_bytes(&drive);
    fill(&mut drive, capacity);
    run(&mut drive, random(0, 4 * KIB, 32), bytes(2 * capacity));
    let second_s = 1.0 / drive.facts().scale();
    let load = Load {
        seed: 2,
        ..random(0, 4 * KIB, 32)
    };
    let mut plan = plan(load, capacity, seconds(600.0 * second_s));
    plan.interval_ns = (second_s * 1e9) as u64;
    let lap = drive.run(&plan, &mut Unobserved).expect("a lap");
    let whole = lap.streams[0].write.intervals.iter().take(600);
    whole.filter(|one| one.ios == 0).count()
}

#[test]
fn no_second_is_empty_up_to_the_scale_that_a_drive_names_and_many_are_far_beyond() {
    // Smaller than they are, to be faster: the spare is a share of the capacity.
    for drive in [
        "sp900?nominal_capacity=16GB",
        "sp900?placement=turn&buffer=256KiB&nominal_capacity=16GB",
        "intel-530?nominal_capacity=64GB",
    ] {
        let made = open(drive).unwrap_or_else(|error| panic!("{error}"));
        let scale = made.params().by_second_scale().expect("a drive");
        let at = |times: f64| empty_seconds(&format!("{drive}&scale={}", times * scale));
        let (here, beyond) = (at(1.0), at(8.0));
        println!("{drive}, scale {scale}: {here} empty seconds of 600; {beyond} at 8 times that");
        assert_eq!(here, 0, "{drive}");
        assert!(beyond > 60, "{drive}: {beyond}");
    }
}

#[test]
fn the_presets_page_names_the_scale_of_every_preset() {
    let rows = presets().into_iter().map(|preset| {
        let params = preset.params;
        let lump_ms = params.longest_lump_ns().expect("a drive") / 1e6;
        let scale = params.by_second_scale().expect("a drive");
        format!(
            "| `{}` | {lump_ms:.1} | {scale} | {} |",
            preset.name, params.scale
        )
    });
    let missing: Vec<String> = rows.filter(|row| !PAGE.contains(row)).collect();
    assert!(
        missing.is_empty(),
        "the page lacks these rows:\n{missing:#?}"
    );
}
