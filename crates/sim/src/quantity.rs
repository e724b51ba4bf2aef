//! Numbers with units from text, and back. A size may carry kB, MB, GB, TB, KiB, MiB, GiB or TiB.

const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// A size in bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let unit = UNITS.iter().find(|(suffix, _)| text.ends_with(suffix));
    let (digits, factor) = match unit {
        Some((suffix, factor)) => (&text[..text.len() - suffix.len()], *factor),
        None => (text, 1),
    };
    let why = || {
        "must be a whole number of bytes, with or without kB, MB, GB, TB, KiB, MiB, GiB or TiB"
            .to_owned()
    };
    if let Ok(value) = digits.trim().parse::<u64>() {
        return value.checked_mul(factor).ok_or_else(why);
    }
    let value = decimal(digits.trim()).map_err(|_| why())? * factor as f64;
    if value.fract() == 0.0 && value < 9e15 {
        Ok(value as u64)
    } else {
        Err(why())
    }
}

/// A size in the unit that makes the smallest whole number.
pub(crate) fn bytes_text(value: u64) -> String {
    let whole = UNITS
        .iter()
        .filter(|(_, factor)| value.is_multiple_of(*factor));
    match whole.max_by_key(|(_, factor)| *factor) {
        Some((suffix, factor)) if value > 0 && *factor > 1 => {
            format!("{}{suffix}", value / factor)
        }
        _ => value.to_string(),
    }
}

/// A finite number, not negative.
pub(crate) fn decimal(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("must be a number that is not negative".into()),
    }
}

pub(crate) fn whole(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "must be a whole number that is not negative".into())
}

/// Microseconds as whole nanoseconds.
pub(crate) fn nanoseconds(text: &str) -> Result<u64, String> {
    let value = decimal(text)? * 1e3;
    if value < 1e15 {
        Ok(value.round() as u64)
    } else {
        Err("must be below 10^12".into())
    }
}

/// Capacity of the device that is modelled; at full size exactly the simulated one, where the
/// nominal one is no whole number of blocks. `is_given`: the simulated one was, and not a scale.
pub(crate) fn modelled_bytes(
    nominal_bytes: u64,
    scale: f64,
    simulated_bytes: u64,
    is_given: bool,
) -> u64 {
    if !is_given && (scale - 1.0).abs() < f64::EPSILON {
        return simulated_bytes;
    }
    nominal_bytes
}

/// A nominal capacity over the scale: whole MiB where it is scaled down, else whole blocks of
/// `block_size_bytes`, or of 4 KiB if those are smaller.
pub(crate) fn scaled_bytes(nominal_bytes: u64, scale: f64, block_size_bytes: u64) -> u64 {
    let least = if scale > 1.0 { 1 << 20 } else { 1 << 12 };
    let granule = block_size_bytes.max(least);
    (nominal_bytes as f64 / scale) as u64 / granule * granule
}
