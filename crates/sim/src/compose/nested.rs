//! Arrays by their level, and stripes over groups of them.

use super::node::Node;
use crate::raid::params::ArrayParams;
use crate::raid::{Array, Level};

/// The array `name`, with a stripe over groups where it is nested.
pub(super) fn assembled(
    name: &str,
    level: Level,
    group: Option<u32>,
    params: ArrayParams,
    members: Vec<Node>,
) -> Result<Node, String> {
    let boxed = |array: Array<Node>| Node::Array(Box::new(array));
    let Some(group) = group else {
        return Array::new(name, level, params, members).map(boxed);
    };
    let count = members.len() as u32;
    let wished = || params.groups.unwrap_or_else(|| groups_of(count));
    let groups = count.checked_div(group).unwrap_or_else(wished);
    if groups < 2 || !count.is_multiple_of(groups) || (group > 0 && count != groups * group) {
        return Err(format!(
            "{count} members make no {groups} equal groups, and it needs 2 at least"
        ));
    }
    if let Some(member) = params.failed.iter().find(|&&member| member >= count) {
        return Err(format!(
            "there is no member {member}: they are 0 to {}",
            count - 1
        ));
    }
    let size = count / groups;
    let inner_name = match level {
        Level::Striped => "raid0",
        Level::Mirrored => "raid1",
        Level::Parity { parities: 1 } => "raid5",
        Level::Parity { .. } => "raid6",
    };
    let mut arrays = Vec::new();
    let mut members = members.into_iter();
    for group in 0..groups {
        let first = group * size;
        let own = params
            .failed
            .iter()
            .filter(|&&member| member / size == group);
        let inner = ArrayParams {
            failed: own.map(|member| member - first).collect(),
            ..params.clone()
        };
        let members = members.by_ref().take(size as usize).collect();
        arrays.push(boxed(Array::new(inner_name, level, inner, members)?));
    }
    let width = match level {
        Level::Parity { parities } => size - parities,
        Level::Striped | Level::Mirrored => 1,
    };
    let outer = ArrayParams {
        chunk_bytes: params.chunk_bytes * width,
        groups: Some(groups),
        failed: Vec::new(),
        ..params
    };
    Array::new(name, Level::Striped, outer, arrays).map(boxed)
}

/// The divisor of `count` nearest to its root that leaves groups of three or more.
fn groups_of(count: u32) -> u32 {
    let root = f64::from(count).sqrt();
    let fits = |groups: &u32| count.is_multiple_of(*groups) && count / groups >= 3;
    let off = |groups: u32| (f64::from(groups) - root).abs();
    let nearest = (1..=count)
        .filter(fits)
        .min_by(|&one, &next| off(one).total_cmp(&off(next)));
    nearest.unwrap_or(1)
}
