//! Every parameter can be set from text, is refused with a reason, and is documented.

use teijo_sim::device::{Device, Label};
use teijo_sim::flash::params::{reserve_blocks, ParamError, SsdParams};
use teijo_sim::flash::PARAMETERS;
use teijo_sim::presets::{base, build, families, open, presets};

use crate::common::assert_within;

const PAGE: &str = include_str!("../../../../docs/reference/simulated-ssd.md");
const PRESETS_PAGE: &str = include_str!("../../../../docs/reference/presets.md");

#[test]
fn every_preset_makes_a_drive_that_says_it_is_simulated() {
    for preset in presets() {
        let drive = build(preset.name, &[]).unwrap_or_else(|error| panic!("{error}"));
        let facts = drive.facts();
        let name = preset.name.to_uppercase();
        assert_eq!(facts.model, format!("Simulated {name}"));
        assert_eq!(facts.serial, format!("SIM-{name}-1"));
        assert_within(preset.name, facts.scale(), preset.params.scale, 0.5);
        assert_eq!(facts.capacity_bytes % (1 << 20), 0);
        assert_eq!(
            (facts.logical_block_bytes, facts.physical_block_bytes),
            (512, 4096)
        );
        // Beside them the spare flash that whole blocks make.
        assert_eq!(facts.parameters.len(), PARAMETERS.len() + 1);
    }
}

#[test]
fn every_parameter_is_accepted_as_it_is_printed() {
    for preset in presets() {
        let mut copy = preset.params.clone();
        for parameter in PARAMETERS {
            let text = parameter.value(&preset.params);
            copy.set(parameter.name, &text)
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(parameter.value(&copy), text, "{}", parameter.name);
        }
        assert_eq!(
            copy.capacity_bytes,
            Some(preset.params.simulated_capacity_bytes())
        );
        copy.capacity_bytes = None;
        assert_eq!(copy, preset.params);
    }
}

#[test]
fn overrides_reach_the_drive() {
    let drive = open("mlc-a?capacity=2GiB&op_percent=12.5&seed=7&gc=greedy&pacing=paced")
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(drive.capacity_bytes(), 2 << 30);
    let facts = drive.facts();
    assert_eq!(facts.serial, "SIM-MLC-A-7");
    assert_eq!(facts.nominal_capacity_bytes, 256_000_000_000);
    assert!((facts.scale() - 119.2).abs() < 0.1);
    let value = |name| {
        facts
            .parameters
            .iter()
            .find(|row| row.0 == name)
            .expect("it is there")
    };
    assert_eq!(value("gc").1, "greedy");
    assert_eq!(value("op_percent").1, "12.5");
    assert_eq!(value("capacity").1, "2GiB");
    let full = open("slc-a?scale=600").unwrap_or_else(|error| panic!("{error}"));
    assert!((full.facts().scale() - 600.0).abs() < 5.0);
}

#[test]
fn a_mistake_is_named_with_its_remedy() {
    let cases = [
        (
            "mlc-z",
            "there is no simulated device \"mlc-z\"; there are: mlc-a, mlc-b, slc-a, slc-b, ",
        ),
        ("mlc-a?colour=red", "has no parameter \"colour\"; it has: "),
        ("mlc-a?colour=red", "program_us (µs)"),
        (
            "mlc-a?gc=lazy",
            "gc=lazy: must be greedy, fifo, random or random:CHOICES",
        ),
        ("mlc-a?dies=0", "dies=0: must be 1 to 65535"),
        ("mlc-a?dies", "dies=: must be a whole number"),
        (
            "mlc-a?mapping=5KiB",
            "must be a power of two from 512 to 65536",
        ),
        ("mlc-a?op_percent=lots", "op_percent=lots: must be a number"),
        (
            "mlc-a?op_percent=-1",
            "must be a number that is not negative",
        ),
        (
            "mlc-a?capacity=16GiB&scale=1",
            "capacity and scale say the same thing",
        ),
        (
            "mlc-a?capacity=1000",
            "no multiple of the mapping unit 4096 B",
        ),
        ("mlc-a?capacity=1MiB", "take a capacity of about"),
        ("mlc-a?capacity=16 gigs", "must be a whole number of bytes"),
        ("mlc-a?scale=0", "scale=0: must be above 0"),
        ("mlc-a?seq_ss_factor=2", "must be at most 1"),
        ("mlc-a?scale=0.001", "do not fit 32-bit addresses"),
    ];
    for (text, expected) in cases {
        let error = open(text).expect_err(text);
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

#[test]
fn every_preset_is_simulated_at_full_size_as_at_any_other() {
    for preset in presets() {
        let mut params = SsdParams {
            scale: 1.0,
            ..preset.params
        };
        let made = params.geometry();
        made.unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        for mapping_bytes in [params.mapping_bytes, 65_536] {
            params.mapping_bytes = mapping_bytes;
            let bytes = params.simulated_capacity_bytes();
            assert!(bytes.is_multiple_of(u64::from(params.mapping_bytes)));
            assert!(
                params.nominal_capacity_bytes - bytes < 65_536,
                "{}",
                preset.name
            );
            // What is left of the last block is no scale.
            assert_within(preset.name, params.simulated_scale(), 1.0, 0.0);
        }
    }
    let uneven = open("mlc-a?nominal_capacity=1000MB&scale=1&dies=2").unwrap();
    let facts = uneven.facts();
    assert_eq!(facts.capacity_bytes, 999_997_440);
    assert_eq!(facts.nominal_capacity_bytes, facts.capacity_bytes);
    let disk = teijo_sim::compose::open("hdd-7200?nominal_capacity=500GB").unwrap();
    assert_within("hdd-7200", disk.facts().scale(), 1.0, 0.0);
}

#[test]
fn spare_flash_is_told_as_whole_blocks_make_it() {
    for (asked, units, effective) in [("9", 32_768, "9.375"), ("21", 131_072, "21.0938")] {
        let text = format!(
            "mlc-b?capacity={}KiB&dies=4&pages_per_block=256&op_percent={asked}",
            4 * units
        );
        let drive = open(&text).unwrap();
        let facts = drive.facts();
        let told = |name: &str| {
            let found = facts.parameters.iter().find(|(key, _, _)| key == name);
            found.expect("it is told").1.clone()
        };
        assert_eq!(told("op_percent"), asked);
        assert_eq!(told("op_percent_effective"), effective);
        // By hand: blocks that are neither filled by the host's data nor held in reserve.
        let geometry = drive.geometry();
        let reserve = reserve_blocks(drive.params().frontier);
        let blocks = f64::from(geometry.dies * (geometry.blocks_per_die - reserve));
        let by_hand = 100.0 * (blocks * 256.0 / f64::from(units) - 1.0);
        let told: f64 = told("op_percent_effective").parse().unwrap();
        assert_within(asked, told, by_hand, 0.001);
    }
}

#[test]
fn the_smallest_capacity_that_is_named_is_accepted() {
    let error = open("mlc-b?capacity=16MiB").expect_err("too small");
    let ParamError::Impossible { why } = &error else {
        panic!("{error}")
    };
    let least = why
        .split("about ")
        .nth(1)
        .and_then(|rest| rest.split(" or").next());
    let least = least.expect("it names a capacity");
    open(&format!("mlc-b?capacity={least}")).unwrap_or_else(|error| panic!("{least}: {error}"));
}

#[test]
fn the_reference_page_has_every_parameter() {
    for parameter in PARAMETERS {
        let row = format!(
            "| `{}` | {} | {} |",
            parameter.name, parameter.unit, parameter.meaning
        );
        assert!(PAGE.contains(&row), "the page lacks this row:\n{row}");
    }
}

#[test]
fn the_presets_page_says_whose_numbers_they_are_and_how_each_differs() {
    let mut rows = Vec::new();
    for preset in presets() {
        let (kind, text) = match preset.label {
            Label::Calibrated { to } => ("calibrated", to),
            Label::Plausible { why } => ("plausible", why),
        };
        rows.push(format!(
            "| `{}` | {} | {kind}: {text} |",
            preset.name, preset.about
        ));
    }
    for parameter in PARAMETERS {
        let common = parameter.value(&base());
        let (name, unit) = (parameter.name, parameter.unit);
        rows.push(format!("| `{name}` | {unit} | {common} |"));
        for family in families() {
            let values = family.presets.iter();
            let values: Vec<String> = values.map(|one| parameter.value(&one.params)).collect();
            if values.iter().any(|value| *value != common) {
                rows.push(format!("| `{name}` | {} |", values.join(" | ")));
            }
        }
    }
    let missing: Vec<&String> = rows
        .iter()
        .filter(|row| !PRESETS_PAGE.contains(*row))
        .collect();
    assert!(
        missing.is_empty(),
        "the page lacks these rows:\n{missing:#?}"
    );
}
