//! What the parts of a device say together.

use std::borrow::Cow;

use crate::device::{Device, Facts, Label};

/// What the members of an array say together.
pub(crate) struct MembersFacts {
    /// As in `4×HDD-7200`.
    pub title: String,
    /// Nominal over simulated capacity.
    pub scale: f64,
    pub physical_block_bytes: u32,
    /// Of the first of each run of like members, with the run's place before each name.
    pub parameters: Vec<(Cow<'static, str>, String, &'static str)>,
}

/// The facts of `members`; neighbours that differ in their seed alone are said once.
pub(crate) fn members_facts<'a, D: Device + 'a>(
    members: impl IntoIterator<Item = &'a D>,
) -> MembersFacts {
    let facts: Vec<Facts> = members.into_iter().map(D::facts).collect();
    let but_seed = |facts: &Facts| {
        let mut parameters = facts.parameters.clone();
        parameters.retain(|(name, _, _)| !name.ends_with("seed"));
        (facts.model.clone(), parameters)
    };
    let (mut titles, mut parameters, mut first) = (Vec::new(), Vec::new(), 0);
    for run in facts.chunk_by(|one, next| but_seed(one) == but_seed(next)) {
        let [one, ..] = run else { continue };
        let title = one.model.trim_start_matches("Simulated ");
        let last = first + run.len() - 1;
        let place = if run.len() == 1 {
            titles.push(title.to_owned());
            first.to_string()
        } else {
            titles.push(format!("{}×{title}", run.len()));
            format!("{first}-{last}")
        };
        let (kind, text) = match one.label {
            Label::Calibrated { to } => ("calibrated", to),
            Label::Plausible { why } => ("plausible", why),
        };
        parameters.push((
            format!("{place}.label").into(),
            format!("{kind}: {text}"),
            "",
        ));
        let placed = one
            .parameters
            .iter()
            .map(|(name, value, unit)| (format!("{place}.{name}").into(), value.clone(), *unit));
        parameters.extend(placed);
        first = last + 1;
    }
    MembersFacts {
        title: titles.join(", "),
        scale: facts.first().map_or(1.0, Facts::scale),
        physical_block_bytes: facts
            .iter()
            .map(|one| one.physical_block_bytes)
            .max()
            .unwrap_or(512),
        parameters,
    }
}

/// The counts of `members`, each name with the member's place before it.
pub(crate) fn members_counts<'a, D: Device + 'a>(
    members: impl IntoIterator<Item = &'a D>,
) -> Vec<(Cow<'static, str>, u64)> {
    let placed = |(place, member): (usize, &D)| {
        let counts = member.counts().into_iter();
        counts.map(move |(name, count)| (format!("{place}.{name}").into(), count))
    };
    members.into_iter().enumerate().flat_map(placed).collect()
}
