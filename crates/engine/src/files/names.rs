//! The names of files: of large ones a word and a number, of small ones as Bonnie++ has them.

use std::ffi::CString;

use super::plan::NameStyle;
use crate::seed::{derive_seed, scale};

/// At most so many random letters stand beside a number.
const LETTERS_MAX: u64 = 12;
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The name of a large file.
pub fn large_name(number: u32) -> CString {
    made(format!("large-{number:05}"))
}

/// The name of a directory of small files.
pub fn directory_name(number: u32) -> CString {
    made(format!("{number:05}"))
}

/// The name of a small file.
pub fn small_name(style: NameStyle, number: u64, seed: u64) -> CString {
    made(match style {
        NameStyle::Numbers => format!("{number:010}"),
        NameStyle::NumberFirst => format!("{number:010x}{}", letters(number, seed)),
        NameStyle::NumberLast => format!("{}{number:010x}", letters(number, seed)),
    })
}

fn letters(number: u64, seed: u64) -> String {
    let own = derive_seed(seed, number);
    let count = scale(own, LETTERS_MAX + 1);
    let letter = |place| {
        let draw = derive_seed(own, place);
        char::from(LETTERS[scale(draw, LETTERS.len() as u64) as usize])
    };
    (0..count).map(letter).collect()
}

fn made(name: String) -> CString {
    CString::new(name).expect("letters and digits have no zero")
}
