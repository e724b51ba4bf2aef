//! Prints the tables of `docs/reference/simulated-ssd.md`, and of `presets.md`,
//! `simulated-disks.md`, `simulated-caches.md`, `simulated-tiers.md` and `simulated-faults.md`
//! beside it: parameters, presets and what is made of parts.
//! `cargo run -p teijo-sim --example reference_tables`

use teijo_sim::cache::params::{
    CacheParams, HostCacheParams, CACHE_PARAMETERS, HOST_CACHE_PARAMETERS,
};
use teijo_sim::compose::{kinds, named};
use teijo_sim::device::Label;
use teijo_sim::disk::params::{disk_presets, DISK_PARAMETERS};
use teijo_sim::fault::params::{FaultParams, FAULT_PARAMETERS};
use teijo_sim::flash::PARAMETERS;
use teijo_sim::parameters::Parameter;
use teijo_sim::presets::{base, families, presets};
use teijo_sim::raid::params::{ArrayParams, ARRAY_PARAMETERS};
use teijo_sim::tier::params::{SsdCacheParams, TierParams, SSD_CACHE_PARAMETERS, TIER_PARAMETERS};

fn label_text(label: Label) -> String {
    match label {
        Label::Calibrated { to } => format!("calibrated: {to}"),
        Label::Plausible { why } => format!("plausible: {why}"),
    }
}

fn disks() {
    println!("\n| preset | disk | whose numbers |\n|---|---|---|");
    let all = disk_presets();
    for preset in &all {
        let label = label_text(preset.label);
        println!("| `{}` | {} | {label} |", preset.name, preset.about);
    }
    let names: Vec<String> = all.iter().map(|one| format!("`{}`", one.name)).collect();
    println!("\n| parameter | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(all.len()));
    for parameter in DISK_PARAMETERS {
        let values: Vec<String> = all.iter().map(|one| parameter.value(&one.params)).collect();
        println!("| `{}` | {} |", parameter.name, values.join(" | "));
    }
    println!("\n| parameter | unit | meaning |\n|---|---|---|");
    for parameter in DISK_PARAMETERS {
        let (name, unit, meaning) = (parameter.name, parameter.unit, parameter.meaning);
        println!("| `{name}` | {unit} | {meaning} |");
    }
}

fn arrays() {
    println!("\n| array | what it is |\n|---|---|");
    for kind in kinds() {
        println!("| `{}(…)` | {} |", kind.name, kind.about);
    }
    println!("\n| name | stands for | what it is |\n|---|---|---|");
    for one in named() {
        println!("| `{}` | `{}` | {} |", one.name, one.text, one.about);
    }
    println!("\n| name | what it is | whose numbers |\n|---|---|---|");
    for one in named() {
        let label = one.label.map(label_text).unwrap_or_default();
        println!("| `{}` | {} | {label} |", one.name, one.about);
    }
    with_defaults(ARRAY_PARAMETERS, &ArrayParams::default());
    with_defaults(CACHE_PARAMETERS, &CacheParams::default());
    with_defaults(HOST_CACHE_PARAMETERS, &HostCacheParams::default());
    with_defaults(SSD_CACHE_PARAMETERS, &SsdCacheParams::default());
    with_defaults(TIER_PARAMETERS, &TierParams::default());
}

fn with_defaults<P>(table: &[Parameter<P>], defaults: &P) {
    println!("\n| parameter | unit | unless given | meaning |\n|---|---|---|---|");
    for parameter in table {
        let start = parameter.value(defaults);
        let (name, unit, meaning) = (parameter.name, parameter.unit, parameter.meaning);
        println!("| `{name}` | {unit} | {start} | {meaning} |");
    }
}

fn faults() {
    println!("\n| parameter | unit | unless given | meaning |\n|---|---|---|---|");
    for parameter in FAULT_PARAMETERS {
        let start = parameter.value(&FaultParams::default());
        let (name, unit, meaning) = (parameter.name, parameter.unit, parameter.meaning);
        println!("| `{name}` | {unit} | {start} | {meaning} |");
    }
}

fn main() {
    solid_state();
    drives();
    disks();
    arrays();
    faults();
}

fn solid_state() {
    println!("| parameter | unit | meaning |\n|---|---|---|");
    for parameter in PARAMETERS {
        println!(
            "| `{}` | {} | {} |",
            parameter.name, parameter.unit, parameter.meaning
        );
    }
}

fn drives() {
    println!("\n| preset | drive | whose numbers |\n|---|---|---|");
    for preset in presets() {
        let label = label_text(preset.label);
        println!("| `{}` | {} | {label} |", preset.name, preset.about);
    }
    println!("\n| preset | longest piece, ms | by the second up to scale | scale unless given |");
    println!("|---|---|---|---|");
    for preset in presets() {
        let (name, params) = (preset.name, preset.params);
        if let (Some(lump_ns), Some(scale)) = (params.longest_lump_ns(), params.by_second_scale()) {
            let lump_ms = lump_ns / 1e6;
            println!("| `{name}` | {lump_ms:.1} | {scale} | {} |", params.scale);
        }
    }
    println!("\n| parameter | unit | in common |\n|---|---|---|");
    for parameter in PARAMETERS {
        let value = parameter.value(&base());
        println!("| `{}` | {} | {value} |", parameter.name, parameter.unit);
    }
    for family in families() {
        let names = family
            .presets
            .iter()
            .map(|one| format!(" `{}` |", one.name));
        println!(
            "\n### {}\n\n| parameter |{}",
            family.name,
            names.collect::<String>()
        );
        println!("|---|{}", "---|".repeat(family.presets.len()));
        for parameter in PARAMETERS {
            let common = parameter.value(&base());
            let values = family.presets.iter();
            let values: Vec<String> = values.map(|one| parameter.value(&one.params)).collect();
            if values.iter().any(|value| *value != common) {
                println!("| `{}` | {} |", parameter.name, values.join(" | "));
            }
        }
    }
}
