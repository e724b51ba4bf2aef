//! The text of a device: what it makes, and where a mistake in it is.

use crate::common::assert_within;
use proptest::prelude::*;
use teijo_engine::request::Op;
use teijo_sim::cache::params::{
    CacheParams, HostCacheParams, CACHE_PARAMETERS, HOST_CACHE_PARAMETERS,
};
use teijo_sim::compose::{build, kinds, named, need_bytes, open, parse, Node};
use teijo_sim::device::{Device, Facts, Outcome};
use teijo_sim::disk::params::{disk_presets, DISK_PARAMETERS};
use teijo_sim::files::params::{OsParams, OS_PARAMETERS};
use teijo_sim::flash::PARAMETERS;
use teijo_sim::parameters::Parameter;
use teijo_sim::presets::presets;
use teijo_sim::raid::params::{ArrayParams, ARRAY_PARAMETERS};
use teijo_sim::tier::params::{SsdCacheParams, TierParams, SSD_CACHE_PARAMETERS, TIER_PARAMETERS};

const PAGE: &str = concat!(
    include_str!("../../../../docs/reference/simulated-disks.md"),
    include_str!("../../../../docs/reference/simulated-caches.md"),
    include_str!("../../../../docs/reference/simulated-tiers.md"),
    include_str!("../../../../docs/reference/simulated-files.md"),
    include_str!("../../../../docs/reference/presets.md"),
);

fn facts(text: &str) -> Facts {
    open(text)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .facts()
}

fn value<'a>(facts: &'a Facts, name: &str) -> &'a str {
    let row = facts.parameters.iter().find(|row| row.0 == name);
    &row.unwrap_or_else(|| panic!("{name} is missing")).1
}

#[test]
fn an_array_is_written_as_it_is_said() {
    let array = facts("raid5(4×hdd-7200)?chunk=64KiB");
    assert_eq!(array.model, "Simulated RAID5(4×HDD-7200)");
    assert_eq!(array.serial, "SIM-RAID5-4xHDD-7200-1");
    assert_eq!(value(&array, "chunk"), "64KiB");
    assert_eq!(value(&array, "0-3.rpm"), "7200");
    let whole = 3 * (2_000_000_000_000_u64 / 65_536 * 65_536);
    assert_eq!(
        (array.capacity_bytes, array.nominal_capacity_bytes),
        (whole, whole)
    );
    assert_eq!(array, facts(" raid5( 4 x hdd-7200 ) ? chunk = 64KiB "));
    let one_by_one = "raid5(hdd-7200,hdd-7200,2xhdd-7200)?chunk=64KiB";
    assert_eq!(array, facts(one_by_one));
}

#[test]
fn a_text_is_written_as_it_was_read() {
    let named: Vec<&str> = named().iter().map(|named| named.text).collect();
    let others = [
        "hdd-7200",
        "nvme-2tb?scale=600&seed=3",
        "raid0(raid1(2xhdd-7200), raid1(2×hdd-5400 ? seed = 7)?chunk=4KiB)?failed",
    ];
    for text in named.into_iter().chain(others) {
        let once = parse(text).unwrap().to_string();
        assert_eq!(parse(&once).unwrap().to_string(), once, "{text}");
        let [first, again] = [open(text), open(&once)];
        assert_eq!(first.is_ok(), again.is_ok(), "{text}");
        if let (Ok(first), Ok(again)) = (first, again) {
            assert_eq!(first.facts(), again.facts(), "{text}");
            assert_eq!(first.digest(), again.digest(), "{text}");
        }
    }
    let spaced = parse(" raid5( 4 x hdd-7200 , s3700?seed=2 ) ? chunk = 64KiB ").unwrap();
    assert_eq!(
        spaced.to_string(),
        "raid5(4×hdd-7200, s3700?seed=2)?chunk=64KiB"
    );
}

#[test]
fn a_pair_says_what_its_devices_are_by_themselves() {
    let windows = facts("windows-tier?scale=600&seed=5");
    assert_eq!(value(&windows, "fast"), "nvme-2tb?scale=600&seed=5");
    assert_eq!(value(&windows, "slow"), "raid50-36?scale=600&seed=6");
    assert_eq!(
        value(&windows, "holds"),
        facts("nvme-2tb").nominal_capacity_bytes.to_string()
    );
    let cache = facts("ssd-cache(sp900, raid5-4x2tb)?size=32GB");
    assert_eq!(value(&cache, "holds"), "32000000000");
    for text in [
        "windows-tier?scale=600&seed=5",
        "isrt-enhanced",
        "isrt-maximised?scale=60",
        "tier(s3700?scale=40&seed=9, raid50(8×hdd-7200?seed=3)?scale=7&seed=8)",
        "ssd-cache(raid0(2×s3700), cache(raid5-4x2tb?chunk=64KiB)?size=1GB&scale=3)?scale=50",
        "tier(2×nvme-2tb)",
    ] {
        let whole = open(text).unwrap();
        let parts = match &whole {
            Node::Tier(tier) => tier.parts(),
            Node::SsdCache(cache) => cache.parts(),
            other => panic!("{text} is {other:?}"),
        };
        let facts = whole.facts();
        for (name, part) in ["fast", "slow"].into_iter().zip(parts) {
            let alone = open(value(&facts, name)).unwrap();
            assert_eq!(built(&alone), built(part), "{text}: {name}");
            assert_eq!(served(alone), served(part.clone()), "{text}: {name}");
        }
    }
}

/// What a device is, but for where its scale and seed were said.
fn built(device: &Node) -> (String, u64, u64, Vec<String>) {
    let facts = device.facts();
    let is_shared = |name: &str| name.ends_with("scale") || name.ends_with("seed");
    let parameters = facts.parameters.iter();
    let parameters = parameters.filter(|(name, _, _)| !is_shared(name));
    let parameters = parameters.map(|(name, value, _)| format!("{name}={value}"));
    let (nominal, bytes) = (facts.nominal_capacity_bytes, facts.capacity_bytes);
    (facts.model, nominal, bytes, parameters.collect())
}

/// When and how I/Os all over a device end, and its state afterwards, in which its seeds show.
fn served(mut device: Node) -> (Vec<Outcome>, u64) {
    let step_bytes = device.capacity_bytes() / 64 / 4096 * 4096;
    let mut at_ns = 0;
    let mut ends = Vec::new();
    for place in 0..64 {
        let op = if place % 3 == 0 { Op::Read } else { Op::Write };
        let outcome = device.serve(op, place * 37 % 64 * step_bytes, 4096, at_ns);
        at_ns = outcome.done_ns;
        ends.push(outcome);
    }
    (ends, device.digest())
}

#[test]
fn arrays_stand_in_arrays() {
    let nested = facts("raid50(36×hdd-7200)");
    assert_eq!(nested.model, "Simulated RAID50(6×RAID5(6×HDD-7200))");
    assert_eq!(value(&nested, "chunk"), "640KiB");
    assert_eq!(value(&nested, "0-5.chunk"), "128KiB");
    assert_eq!(value(&nested, "0-5.0-5.rpm"), "7200");
    let pairs = facts("raid10(4×hdd-7200)?failed=3");
    assert_eq!(value(&pairs, "1.failed"), "1");
    let own = facts("raid0(raid1(2×hdd-7200), raid1(2×hdd-5400)?chunk=4KiB)");
    assert_eq!(
        own.model,
        "Simulated RAID0(RAID1(2×HDD-7200), RAID1(2×HDD-5400))"
    );
    assert_eq!(
        facts("raid50(8×hdd-7200)").model,
        "Simulated RAID50(2×RAID5(4×HDD-7200))"
    );
}

#[test]
fn one_scale_holds_for_the_whole_tree() {
    let alone = facts("hdd-7200");
    assert_eq!(alone.capacity_bytes, alone.nominal_capacity_bytes);
    let mixed = facts("raid0(hdd-7200, slc-a)");
    assert!((mixed.scale() - 30.0).abs() < 0.1, "{}", mixed.scale());
    assert_eq!(value(&mixed, "0.scale"), "30");
    let given = facts("raid0(hdd-7200?scale=2, slc-a)?scale=60");
    assert_eq!(
        (value(&given, "0.scale"), value(&given, "1.scale")),
        ("2", "60")
    );
    let seeds = facts("raid0(hdd-7200, slc-a, hdd-5400?seed=9)?seed=5");
    let of = |place| value(&seeds, place).to_owned();
    assert_eq!(
        (of("0.seed"), of("1.seed"), of("2.seed")),
        ("5".into(), "6".into(), "9".into())
    );
}

#[test]
fn a_scale_behind_the_brackets_of_a_part_is_that_parts_alone() {
    let whole = facts("raid0(raid1(2×hdd-7200)?scale=3, hdd-7200)?scale=50");
    let scales = ["0.0-1.scale", "1.scale"].map(|name| value(&whole, name));
    assert_eq!(scales, ["3", "50"]);
    // A capacity of its own is a scale of its own, and told as one.
    let capacity = facts("raid0(s3700?capacity=4096MB, hdd-7200)");
    let scales = ["0.scale", "1.scale"].map(|name| value(&capacity, name));
    assert_eq!(scales, ["48.8281", "1"]);
}

#[test]
fn a_capacity_that_is_no_part_of_the_written_scale_is_refused() {
    for text in [
        "cache(s3700?capacity=2GB)?size=1GB&scale=1",
        "raid0(2×hdd-7200?capacity=1GB)?scale=100",
        "tier(raid1(2×s3700?capacity=4GB), hdd-7200)?scale=100",
    ] {
        for made in [open(text).map(|_| 0), need_bytes(text, &[])] {
            let error = made.expect_err(text).to_string();
            let place = text.find("capacity").unwrap() + 1;
            // The text counts characters, and × is one of two bytes.
            let place = place - text[..place].matches('×').count();
            assert!(error.contains(&format!("at character {place}")), "{error}");
            assert!(error.contains("nominal_capacity"), "{error}");
        }
    }
    let agreed = facts("cache(s3700?capacity=4096MB)?size=1GB&scale=48.83");
    assert_within("scale", agreed.scale(), 48.828_125, 1e-9);
}

#[test]
fn an_array_with_a_name_stands_for_its_text_and_takes_overrides() {
    for array in named() {
        let spelt = facts(array.text);
        let label = array.label.unwrap_or(spelt.label);
        assert_eq!(
            facts(array.name),
            Facts { label, ..spelt },
            "{}",
            array.name
        );
    }
    assert_eq!(value(&facts("raid5-4x2tb?chunk=16KiB"), "chunk"), "16KiB");
    // What is the array's goes through the cache before it, and what is the cache's stays there.
    let cached = facts("raid5-4x2tb-wb?chunk=16KiB&size=4GB");
    assert_eq!(value(&cached, "0.chunk"), "16KiB");
    assert_eq!(value(&cached, "size"), "4GB");
    let by_pairs = build("raid5-4x2tb", &[("chunk", "32KiB")]).expect("an array");
    assert_eq!(value(&by_pairs.facts(), "chunk"), "32KiB");
    assert_eq!(
        facts("raid1(2×raid5-4x2tb)").model,
        "Simulated RAID1(2×RAID5(4×HDD-7200))"
    );
}

#[test]
fn a_single_drive_is_what_it_was() {
    for preset in presets() {
        let by_preset = teijo_sim::presets::open(preset.name)
            .expect("a drive")
            .facts();
        assert_eq!(facts(preset.name), by_preset);
    }
    let error = open("mlc-a?colour=red")
        .expect_err("no such parameter")
        .to_string();
    assert!(
        error.starts_with("a simulated SSD has no parameter \"colour\""),
        "{error}"
    );
}

/// A text, and words of what it is told.
const MISTAKES: &[(&str, &str)] = &[
    (
        "raid5(4×hdd-7299)",
        "at character 9, \"hdd-7299\": there is no simulated device",
    ),
    (
        "raid5(4×hdd-7299)",
        "hdd-5400, wd20ears, raid5-4x2tb, raid5-4x2tb-wt, raid5-4x2tb-wb, raid50-36, ",
    ),
    (
        "raid5(4×hdd-7200",
        "at its end: a \",\" or a \")\" is missing",
    ),
    (
        "raid5(4×hdd-7200))",
        "at character 18, \")\": nothing may follow here",
    ),
    (
        "raid5(4×hdd-7200,)",
        "at character 18, \")\": the name of a device is missing",
    ),
    (
        "raid5()",
        "at character 7, \")\": the name of a device is missing",
    ),
    ("raid5", "raid5 is made of parts: raid5(4×hdd-7200)"),
    (
        "raid5(0×hdd-7200)",
        "at character 7, \"0×hdd-7200)\": a count is 1 to 1024",
    ),
    ("raid5(99999999999×hdd-7200)", "a count is 1 to 1024"),
    (
        "raid0(1000×raid0(9×hdd-7200))",
        "9000 devices are more than 1024",
    ),
    ("raid5(2×hdd-7200)", "it needs 3 members at least and has 2"),
    ("raid6(3×hdd-7200)", "it needs 4 members at least and has 3"),
    ("raid10(3×hdd-7200)", "3 members make no 1 equal groups"),
    ("raid50(7×hdd-7200)", "7 members make no 1 equal groups"),
    (
        "raid50(36×hdd-7200)?groups=5",
        "36 members make no 5 equal groups",
    ),
    (
        "raid5(4×hdd-7200)?failed=4",
        "there is no member 4: they are 0 to 3",
    ),
    (
        "raid5(4×hdd-7200)?failed=x",
        "at character 19, \"failed=x\": failed=x: must be none",
    ),
    (
        "raid5(4×hdd-7200)?chunk=5KiB",
        "chunk=5KiB: must be a power of two",
    ),
    (
        "raid5(4×hdd-7200)?chink=4KiB",
        "raid5 has no parameter \"chink\"; it has: chunk",
    ),
    (
        "raid5(4×hdd-7200?chunk=64KiB)",
        "at character 18, \"chunk=64KiB\": chunk is the array's: write ?chunk=64KiB behind",
    ),
    (
        "raid5(4×hdd-7200?rpm=0)",
        "\"rpm=0\": rpm=0: must be above 0",
    ),
    ("raid5(4×hdd-7200?rpm=1&rpm=2)", "rpm is given twice"),
    (
        "raid0(slc-a?dies=0,slc-a)",
        "at character 13, \"dies=0\": dies=0: must be 1 to 65535",
    ),
    (
        "raid0(slc-a?wings=2,slc-a)",
        "at character 13, \"wings=2\": a simulated SSD has no",
    ),
    (
        "hdd-7200(2×mlc-a)",
        "hdd-7200 takes no brackets; these do: raid0, raid1",
    ),
    (
        "hdd-7200?capacity=1GiB&scale=2",
        "capacity and scale say the same thing",
    ),
    (
        "hdd-7200?capacity=1000",
        "capacity 1000 B is no multiple of 512 B",
    ),
    (
        "hdd-7200?wings=2",
        "hdd-7200 has no parameter \"wings\"; it has: nominal_capacity",
    ),
    (
        "raid1(2×hdd-7200?capacity=64KiB)",
        "a chunk of 131072 B does not fit on a member",
    ),
    (
        "tier(s3700)",
        "there is no such tier: it is made of a fast device and a slow one, and has 1",
    ),
    (
        "tier",
        "tier is made of parts: tier(s3700, raid5(4×hdd-7200))",
    ),
    (
        "ssd-cache(s3700, hdd-7200)?size=1TB",
        "the fast device has 200000000000 B, fewer than size",
    ),
    (
        "ssd-cache(s3700, hdd-7200)?mode=off",
        "mode=off: must be write-through or write-back",
    ),
    (
        "tier(hdd-7200?capacity=64KiB, hdd-7200)",
        "a chunk of 1048576 B does not fit on a tier",
    ),
    ("?scale=1", "the name of a device is missing"),
    ("mlc-a?=1", "the name of a parameter is missing"),
];

#[test]
fn a_mistake_is_told_with_its_place() {
    for &(text, expected) in MISTAKES {
        let error = open(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let deep = "raid0(".repeat(20);
    let error = open(&deep).expect_err("too deep").to_string();
    assert!(error.contains("nested too deeply"), "{error}");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9×x(),?&= -]{0,40}|\\PC{0,30}") {
        let _ = parse(&text);
    }

    #[test]
    fn what_is_written_again_is_read_alike(
        count in 1_u32..20, chunk in 12_u32..20, spaces in " {0,3}", sign in "[x×]"
    ) {
        let tight = format!("raid5({count}×hdd-7200?rpm=5400)?chunk={}", 1 << chunk);
        let wide = tight.replace(['×'], &format!("{spaces}{sign}{spaces}"));
        let wide = wide.replace(')', &format!("{spaces}){spaces}"));
        let (one, other) = (parse(&tight), parse(&wide));
        let (one, other) = (one.expect("a device"), other.expect("a device"));
        prop_assert_eq!(one.leaves(), u64::from(count));
        prop_assert_eq!(one.parts[0].0, other.parts[0].0);
        prop_assert_eq!(&one.parts[0].1.name, &other.parts[0].1.name);
        prop_assert_eq!(&one.settings[0].value, &other.settings[0].value);
    }
}

#[test]
fn every_parameter_is_accepted_as_it_is_printed() {
    for preset in disk_presets() {
        let facts = facts(preset.name);
        assert_eq!(facts.parameters.len(), DISK_PARAMETERS.len());
        let pairs: Vec<String> = facts
            .parameters
            .iter()
            .filter(|row| row.0 != "capacity")
            .map(|row| format!("{}={}", row.0, row.1))
            .collect();
        let text = format!("{}?{}", preset.name, pairs.join("&"));
        assert_eq!(open(&text).expect("the same disk").facts(), facts);
    }
    let printed = |facts: &Facts| {
        let own = facts.parameters.iter().take(ARRAY_PARAMETERS.len());
        own.map(|row| format!("{}={}", row.0, row.1))
            .collect::<Vec<_>>()
            .join("&")
    };
    let array = facts("raid5(4×hdd-7200)");
    let again = facts(&format!("raid5(4×hdd-7200)?{}", printed(&array)));
    assert_eq!(again, array);
}

/// A row for each parameter of what is made of parts.
fn rows_of<P>(table: &[Parameter<P>], defaults: &P) -> Vec<String> {
    let row = |parameter: &Parameter<P>| {
        let start = parameter.value(defaults);
        let (name, unit, meaning) = (parameter.name, parameter.unit, parameter.meaning);
        format!("| `{name}` | {unit} | {start} | {meaning} |")
    };
    table.iter().map(row).collect()
}

#[test]
fn the_reference_page_has_every_parameter_preset_and_array() {
    let mut rows = Vec::new();
    for parameter in DISK_PARAMETERS {
        rows.push(format!(
            "| `{}` | {} | {} |",
            parameter.name, parameter.unit, parameter.meaning
        ));
    }
    rows.extend(rows_of(ARRAY_PARAMETERS, &ArrayParams::default()));
    rows.extend(rows_of(CACHE_PARAMETERS, &CacheParams::default()));
    rows.extend(rows_of(HOST_CACHE_PARAMETERS, &HostCacheParams::default()));
    rows.extend(rows_of(SSD_CACHE_PARAMETERS, &SsdCacheParams::default()));
    rows.extend(rows_of(TIER_PARAMETERS, &TierParams::default()));
    rows.extend(rows_of(OS_PARAMETERS, &OsParams::default()));
    for preset in disk_presets() {
        use teijo_sim::device::Label;
        let (kind, text) = match preset.label {
            Label::Calibrated { to } => ("calibrated", to),
            Label::Plausible { why } => ("plausible", why),
        };
        rows.push(format!(
            "| `{}` | {} | {kind}: {text} |",
            preset.name, preset.about
        ));
    }
    for parameter in DISK_PARAMETERS {
        let values: Vec<String> = disk_presets()
            .iter()
            .map(|p| parameter.value(&p.params))
            .collect();
        rows.push(format!("| `{}` | {} |", parameter.name, values.join(" | ")));
    }
    rows.extend(
        kinds()
            .iter()
            .map(|kind| format!("| `{}(…)` | {} |", kind.name, kind.about)),
    );
    rows.extend(
        named()
            .iter()
            .map(|one| format!("| `{}` | `{}` | {} |", one.name, one.text, one.about)),
    );
    rows.extend(named().into_iter().filter_map(|one| {
        use teijo_sim::device::Label;
        let label = match one.label? {
            Label::Calibrated { to } => format!("calibrated: {to}"),
            Label::Plausible { why } => format!("plausible: {why}"),
        };
        Some(format!("| `{}` | {} | {label} |", one.name, one.about))
    }));
    let missing: Vec<&String> = rows.iter().filter(|row| !PAGE.contains(*row)).collect();
    assert!(
        missing.is_empty(),
        "the page lacks these rows:\n{missing:#?}"
    );
    assert!(!PARAMETERS.is_empty());
}

/// Of a drive whose map is larger than what a core has to itself, and of one that is smaller.
const PARTS: [(&str, bool); 2] = [
    ("slc-a?capacity=1GiB", true),
    ("slc-a?capacity=256MiB", false),
];

#[test]
fn what_lies_around_a_drive_hears_of_io_to_come_where_the_drive_gains_by_it() {
    for (part, is_far) in PARTS {
        for text in [
            format!("raid10(4×{part})"),
            format!("tier(hdd-7200, {part})"),
            format!("ssd-cache({part}, hdd-7200)"),
            format!("cache({part})"),
            format!("host-cache({part})"),
            format!("os({part})"),
            format!("faulty({part})"),
        ] {
            let device = open(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(device.is_far(), is_far, "{text}");
            let end_bytes = device.capacity_bytes();
            for offset_bytes in [0, end_bytes / 2 + 512, end_bytes - 512, end_bytes] {
                device.foresee(offset_bytes, 1 << 20);
            }
        }
    }
}
