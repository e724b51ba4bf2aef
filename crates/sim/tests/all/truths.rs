//! The page of truths names tests that exist.

use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../../../docs/reference/simulated-truths.md");

/// Every `file::test` between backticks.
fn named() -> Vec<(&'static str, &'static str)> {
    let quoted = PAGE.split('`').skip(1).step_by(2);
    quoted.filter_map(|text| text.split_once("::")).collect()
}

#[test]
fn every_test_that_the_page_names_exists() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    for (file, test) in named() {
        let is_python = Path::new(file).extension().is_some();
        let (path, start) = if is_python {
            (here.join("../..").join(file), "def ")
        } else {
            (
                here.join("tests/all").join(file).with_extension("rs"),
                "fn ",
            )
        };
        let source = fs::read_to_string(&path).unwrap_or_default();
        if !source.contains(&format!("{start}{test}(")) {
            missing.push(format!("{file}::{test}"));
        }
    }
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

#[test]
fn the_page_names_a_test_for_each_of_the_twenty() {
    for number in 1..=20 {
        let row = PAGE
            .lines()
            .find(|line| line.starts_with(&format!("| {number} |")));
        let row = row.unwrap_or_else(|| panic!("no row {number}"));
        assert!(row.contains("::"), "row {number} names no test");
    }
    assert!(named().len() > 25);
}
