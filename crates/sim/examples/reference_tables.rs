//! Prints the tables of `docs/reference/simulated-ssd.md`: parameters and presets.
//! `cargo run -p teijo-sim --example reference_tables`

use teijo_sim::device::Label;
use teijo_sim::params::PARAMETERS;
use teijo_sim::presets::presets;

fn main() {
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
        let (kind, text) = match preset.label {
            Label::Calibrated { to } => ("calibrated", to),
            Label::Plausible { why } => ("plausible", why),
        };
        println!("| `{}` | {} | {kind}: {text} |", preset.name, preset.about);
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
