//! Prints the tables of `docs/reference/simulated-ssd.md` and of `simulated-disks.md` beside it:
//! parameters, presets and arrays.
//! `cargo run -p teijo-sim --example reference_tables`

use teijo_sim::compose::{kinds, named};
use teijo_sim::device::Label;
use teijo_sim::disk::params::{disk_presets, DISK_PARAMETERS};
use teijo_sim::params::PARAMETERS;
use teijo_sim::presets::presets;
use teijo_sim::raid::params::{ArrayParams, ARRAY_PARAMETERS};

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
    println!("\n| parameter | `hdd-7200` | `hdd-5400` |\n|---|---|---|");
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
    println!("\n| parameter | unit | unless given | meaning |\n|---|---|---|---|");
    for parameter in ARRAY_PARAMETERS {
        let start = parameter.value(&ArrayParams::default());
        let (name, unit, meaning) = (parameter.name, parameter.unit, parameter.meaning);
        println!("| `{name}` | {unit} | {start} | {meaning} |");
    }
}

fn main() {
    solid_state();
    disks();
    arrays();
}

fn solid_state() {
    println!("| parameter | unit | meaning |\n|---|---|---|");
    for parameter in PARAMETERS {
        println!(
            "| `{}` | {} | {} |",
            parameter.name, parameter.unit, parameter.meaning
        );
    }
    println!("\n| preset | drive | whose numbers |\n|---|---|---|");
    let all = presets();
    for preset in &all {
        let label = label_text(preset.label);
        println!("| `{}` | {} | {label} |", preset.name, preset.about);
    }
    let names: Vec<String> = all
        .iter()
        .map(|preset| format!("`{}`", preset.name))
        .collect();
    println!(
        "\n| parameter | {} |\n|---|{}",
        names.join(" | "),
        "---|".repeat(all.len())
    );
    for parameter in PARAMETERS {
        let values: Vec<String> = all
            .iter()
            .map(|preset| parameter.value(&preset.params))
            .collect();
        println!("| `{}` | {} |", parameter.name, values.join(" | "));
    }
}
