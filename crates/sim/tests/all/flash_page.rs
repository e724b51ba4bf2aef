//! Flash pages of several mapping units, mapping units larger than a write, and a slow die.

use crate::common::{
    assert_within, closed_loop, device, fill_device, greedy_wa, random_writes, Random,
};
use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::flash::params::Frontier;
use teijo_sim::flash::Ssd;

const UNIT: u64 = 4096;
const SECOND: u64 = 1_000_000_000;
/// A die-bound drive without jitter: 16 dies, 500 µs a page, nothing else in the way.
const DRIVE: &str = "mlc-b?jitter_percent=0&gc=greedy&pacing=paced&program_us=500&read_us=50\
                     &erase_us=0&link_mb_per_second=100000&write_command_us=0&read_command_us=0\
                     &bus_mb_per_second=100000&ack_us=0&op_percent=20&rmw_us=0&placement=turn";
const DIES: f64 = 16.0;
const PROGRAM_S: f64 = 500e-6;

fn drive(more: &str) -> Ssd {
    device(&format!("{DRIVE}&{more}"))
}

#[test]
fn a_page_of_four_units_is_programmed_once_for_the_four() {
    let rate = |page: &str, random: bool| {
        let mut drive = drive(&format!("capacity=512MiB&page={page}"));
        let units = drive.capacity_bytes() / UNIT;
        let (mut draw, mut unit) = (Random(1), 0);
        let run = closed_loop(&mut drive, 0, 256, units, || {
            unit += 1;
            let at = if random { draw.below(units) } else { unit - 1 };
            (Op::Write, at * UNIT, 4096)
        });
        (run.iops(), drive.health())
    };
    for random in [false, true] {
        let (fresh, health) = rate("16KiB", random);
        let truth = 4.0 * DIES / PROGRAM_S;
        assert_within(&format!("random {random}, 4 KiB/s"), fresh, truth, 1.0);
        assert_eq!(health.nand_writes_bytes, health.host_writes_bytes);
        let (alone, _) = rate("mapping", random);
        assert_within("a unit a page", alone, DIES / PROGRAM_S, 1.0);
    }
}

#[test]
fn a_page_of_one_unit_is_no_page_at_all() {
    let run = |page: &str| {
        let mut drive = device(&format!("mlc-a?capacity=512MiB&page={page}"));
        let now_ns = fill_device(&mut drive, 0);
        let run = random_writes(&mut drive, now_ns, 8, 200_000, 4096, &mut Random(1));
        (run.latency_ns, drive.health(), drive.digest())
    };
    assert!(run("mapping") == run("4KiB"));
}

#[test]
fn steady_writes_of_large_pages_meet_the_closed_form_in_pages_reads_and_time() {
    for frontier in ["shared", "separate"] {
        let mut drive = drive(&format!(
            "capacity=2GiB&page=16KiB&frontier={frontier}&pages_per_block=256"
        ));
        let units = drive.capacity_bytes() / UNIT;
        let now_ns = fill_device(&mut drive, 0);
        let mut random = Random(1);
        let warm = random_writes(&mut drive, now_ns, 256, 4 * units, 4096, &mut random);
        let before = drive.health();
        let run = random_writes(&mut drive, warm.ended_ns, 256, units, 4096, &mut random);
        let health = drive.health().since(&before);
        let params = drive.params();
        let region = params.region.nominal_bytes as f64 / params.nominal_capacity_bytes as f64
            + params.region.of_free_percent / 100.0;
        let alpha = drive.geometry().alpha(params.frontier) + region;
        let truth = greedy_wa(alpha, 256);
        let wa = health.write_amplification().expect("it wrote");
        assert_within(&format!("{frontier}: WA"), wa, truth, 1.5);
        // A page is read when any of its four units is valid: v of them are in a victim.
        let v = (truth - 1.0) / truth;
        let reads = truth * (1.0 - (1.0 - v).powi(4)) / 4.0;
        let pages = health.nand_reads_bytes as f64 / (4.0 * health.host_writes_bytes as f64);
        assert_within(&format!("{frontier}: pages read a unit"), pages, reads, 2.0);
        let seconds = truth * PROGRAM_S / 4.0 + reads * 50e-6;
        assert_within(
            &format!("{frontier}: IOPS"),
            run.iops(),
            DIES / seconds,
            4.0,
        );
    }
}

#[test]
fn a_flush_programs_what_is_gathered_as_it_is() {
    let mut drive = drive("capacity=64MiB&page=16KiB&dies=2&pages_per_block=64");
    let mut now_ns = 0;
    for k in 0..100 {
        let write = drive.serve(Op::Write, k * UNIT, 4096, now_ns);
        let flush = drive.serve(Op::Flush, 0, 0, write.done_ns);
        assert!(flush.done_ns >= write.done_ns + 500_000, "it is programmed");
        let again = drive.serve(Op::Flush, 0, 0, flush.done_ns);
        assert_eq!(again.done_ns, flush.done_ns, "nothing is left to do");
        now_ns = flush.done_ns;
    }
    let health = drive.health();
    assert_eq!(health.nand_writes_bytes, 4 * health.host_writes_bytes);
    drive.ftl().check();
    // Two, then a flush: half a page is wasted. Without one, the four share a page.
    let before = drive.health();
    for k in 0..6 {
        now_ns = drive.serve(Op::Write, k * UNIT, 4096, now_ns).done_ns;
    }
    let acknowledged = drive.health().since(&before).nand_writes_bytes;
    assert_eq!(acknowledged, 6 * UNIT);
    drive.serve(Op::Flush, 0, 0, now_ns);
    assert_eq!(drive.health().since(&before).nand_writes_bytes, 8 * UNIT);
}

#[test]
fn neighbours_in_one_page_are_read_at_once() {
    let mut drive = drive("capacity=64MiB&page=16KiB&dies=2&pages_per_block=64");
    let now_ns = fill_device(&mut drive, 0) + SECOND;
    let before = drive.health();
    drive.serve(Op::Read, 0, 16_384, now_ns);
    assert_eq!(drive.health().since(&before).nand_reads_bytes, 16_384);
    drive.serve(Op::Read, 8_192, 16_384, now_ns + SECOND);
    assert_eq!(drive.health().since(&before).nand_reads_bytes, 3 * 16_384);
}

#[test]
fn a_mapping_unit_of_four_writes_is_written_whole_each_time_and_read_before() {
    for mapping in [8192, 16_384] {
        let mut drive = drive(&format!(
            "capacity=1GiB&mapping={mapping}&pages_per_block=64&dies=4&op_percent=12.5"
        ));
        let blocks = drive.capacity_bytes() / 4096;
        let now_ns = fill_device(&mut drive, 0);
        let mut random = Random(5);
        let warm = random_writes(&mut drive, now_ns, 32, 3 * blocks, 4096, &mut random);
        let before = drive.health();
        random_writes(&mut drive, warm.ended_ns, 32, blocks, 4096, &mut random);
        let health = drive.health().since(&before);
        let alpha = drive.geometry().alpha(Frontier::Shared);
        let (wa, times) = (greedy_wa(alpha, 64), mapping as f64 / 4096.0);
        let measured = health.write_amplification().expect("it wrote");
        assert_within(&format!("{mapping} B: WA"), measured, times * wa, 1.0);
        // One read for each write, and one for each move.
        let reads = health.nand_reads_bytes as f64 / health.host_writes_bytes as f64;
        assert_within(&format!("{mapping} B: reads"), reads, times * wa, 1.0);
    }
}

#[test]
fn one_slow_die_holds_up_every_write_that_comes_in_turn() {
    // The dies take turns and the buffer releases in order: all go at the slow one's pace.
    for times in [2.0, 10.0] {
        let mut drive = drive(&format!("capacity=512MiB&slow_die=3:{times}&buffer=256KiB"));
        let units = drive.capacity_bytes() / UNIT;
        let run = random_writes(&mut drive, 0, 128, units / 2, 4096, &mut Random(1));
        let truth = DIES / (times * PROGRAM_S);
        assert_within(
            &format!("{times} times as slow, IOPS"),
            run.iops(),
            truth,
            1.0,
        );
    }
}

#[test]
fn one_slow_die_takes_its_share_where_the_die_that_is_free_first_is_next() {
    // The buffer releases in order: it has to hold what the others program beside one slow page.
    for times in [2.0, 10.0] {
        let slow = format!("slow_die=3:{times}&buffer=1MiB&placement=free");
        let mut drive = drive(&format!("capacity=512MiB&{slow}"));
        let units = drive.capacity_bytes() / UNIT;
        let run = random_writes(&mut drive, 0, 128, units / 2, 4096, &mut Random(1));
        let truth = (DIES - 1.0 + 1.0 / times) / PROGRAM_S;
        assert_within(
            &format!("{times} times as slow, IOPS"),
            run.iops(),
            truth,
            1.0,
        );
    }
}

#[test]
fn reads_of_a_slow_die_are_that_many_times_as_slow_and_the_others_are_not() {
    let mut drive = drive("capacity=512MiB&slow_die=any:10&seed=5&dies=16");
    let mut whole = device(&format!("{DRIVE}&capacity=512MiB&seed=5&dies=16"));
    let now_ns = fill_device(&mut drive, 0) + SECOND;
    fill_device(&mut whole, 0);
    let mut slow = std::collections::BTreeSet::new();
    for unit in 0..1600 {
        let at_ns = now_ns + unit * SECOND;
        let ns = drive.serve(Op::Read, unit * UNIT, 4096, at_ns).done_ns - at_ns;
        let plain = whole.serve(Op::Read, unit * UNIT, 4096, at_ns).done_ns - at_ns;
        let die = drive.ftl().die_of(unit as u32).expect("written");
        if ns > plain {
            assert_eq!(ns - plain, 9 * 50_000, "die {die}");
            slow.insert(die);
        }
    }
    assert_eq!(slow.len(), 1, "{slow:?}");
    let drawn = |seed: u32| {
        let drive = device(&format!(
            "mlc-b?slow_die=any:10&seed={seed}&capacity=512MiB"
        ));
        drive.slow_die().expect("it has one")
    };
    let dies: std::collections::BTreeSet<u32> = (1..40).map(drawn).collect();
    assert!(dies.len() > 10, "the seed draws them all: {dies:?}");
}

#[test]
fn the_state_of_a_drive_is_about_two_and_a_half_mb_a_gib_at_most() {
    // Units of any size need more slots than units: such a drive's map over the flash is larger.
    let all = teijo_sim::presets::presets().into_iter();
    for preset in all.filter(|preset| !preset.params.compression.on) {
        let drive = device(preset.name);
        let gib = drive.capacity_bytes() as f64 / f64::from(1 << 30);
        let mb_per_gib = drive.ftl().state_bytes() as f64 / 1e6 / gib;
        println!("{}: {mb_per_gib:.3} MB per simulated GiB", preset.name);
        // Two maps of 4 B an entry, one over spare flash and region as well with a bit for each
        // slot, and little else.
        let params = drive.params();
        let region = params.region.nominal_bytes as f64 / params.nominal_capacity_bytes as f64
            + params.region.of_free_percent / 100.0;
        let alpha = drive.geometry().alpha(params.frontier) + region;
        assert!(
            mb_per_gib < 1.048_576 * (1.0 + alpha * (1.0 + 1.0 / 32.0)) * 1.02,
            "{}: {mb_per_gib}",
            preset.name
        );
        assert!(mb_per_gib < 2.55, "{}: {mb_per_gib}", preset.name);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (more, why) in [
        ("page=2KiB", "lies between the mapping unit of 4096 B"),
        ("page=1MiB&pages_per_block=64", "and the block of 262144 B"),
        ("page=5KiB", "must be a power of two"),
        ("slow_die=16:2", "there is no die 16: they are 0 to 15"),
        ("slow_die=3", "must be none, DIE:TIMES or any:TIMES"),
        ("slow_die=3:0.5", "TIMES must be 1 to 1000000"),
    ] {
        let error = teijo_sim::presets::open(&format!("mlc-b?{more}")).expect_err(more);
        assert!(error.to_string().contains(why), "{more}: {error}");
    }
}
