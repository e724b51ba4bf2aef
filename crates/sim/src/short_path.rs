//! Whether short paths are taken: what nearly every I/O needs of work that could be more. They are,
//! except where a test holds them to the paths for everything.

#[cfg(test)]
thread_local! {
    static LEFT_OUT: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether a short path may be taken here.
#[inline]
pub(crate) fn is_open() -> bool {
    #[cfg(test)]
    return !LEFT_OUT.get();
    #[cfg(not(test))]
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use teijo_engine::request::Op;

    use super::LEFT_OUT;
    use crate::compose::{open, Node};
    use crate::device::{Device, Ended};

    const DRIVES: &str = "slc-a?capacity=16MiB&dies=4&pages_per_block=32, \
                          slc-b?capacity=64MiB&dies=4&pages_per_block=32";

    /// Devices that have short paths, in the modes that the paths differ in.
    fn devices() -> Vec<String> {
        let before_two = [
            "",
            "?mode=write-back",
            "?mode=write-back&chunk=4KiB&promote_reads=second&promote_writes=second",
            "?mode=write-back&dirty_limit=1GiB&bypass=16KiB&promote_writes=never",
        ];
        let of_two = before_two.map(|params| format!("ssd-cache({DRIVES}){params}"));
        let before_one = [
            "host-cache({})?memory=4GiB",
            "host-cache({})?memory=2GiB&page=16KiB",
            "cache({})?size=2GiB&read_cache=on",
        ];
        let drive = "slc-a?capacity=64MiB&dies=4&pages_per_block=32";
        let of_one = before_one.map(|text| text.replace("{}", drive));
        of_two.into_iter().chain(of_one).collect()
    }

    /// (operation, offset, bytes): up to a few chunks, on any sector.
    fn commands() -> impl Strategy<Value = Vec<(Op, u64, u32)>> {
        let op = prop_oneof![
            6 => Just(Op::Read), 6 => Just(Op::Write), 1 => Just(Op::Discard), 1 => Just(Op::Flush)
        ];
        let sector = prop_oneof![0_u64..2_000, (0_u64..16_000).prop_map(|unit| unit * 8)];
        let count = prop_oneof![4 => Just(8_u32), 1 => 1_u32..300];
        let bytes = |(op, sector, count)| match op {
            Op::Flush => (op, 0, 0),
            _ => (op, sector * 512, count * 512),
        };
        proptest::collection::vec((op, sector, count).prop_map(bytes), 1..400)
    }

    /// Every end of the commands, of which eight are under way at once, and the state afterwards.
    fn played(mut device: Node, commands: &[(Op, u64, u32)]) -> (Vec<(u64, u64, i32)>, u64) {
        let (mut ends, mut ended, mut under_way) = (Vec::new(), Vec::<Ended>::new(), 0);
        let mut now_ns = 0;
        for (ticket, &(op, offset_bytes, length_bytes)) in (0..).zip(commands) {
            while device.next_ns() <= now_ns || under_way >= 8 {
                now_ns = now_ns.max(device.next_ns());
                device.step(&mut ended);
                under_way -= ended.len();
                let told = ended.drain(..).map(|end| (end.ticket, end.outcome));
                ends.extend(told.map(|(ticket, out)| (ticket, out.done_ns, out.result)));
            }
            match device.submit(ticket, op, offset_bytes, length_bytes, now_ns) {
                Some(out) => ends.push((ticket, out.done_ns, out.result)),
                None => under_way += 1,
            }
        }
        (ends, device.digest())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_short_path_does_what_the_path_for_everything_does(commands in commands()) {
            for text in devices() {
                let device = open(&text).unwrap_or_else(|error| panic!("{error}"));
                LEFT_OUT.set(true);
                let expected = played(device.clone(), &commands);
                LEFT_OUT.set(false);
                prop_assert_eq!(played(device, &commands), expected, "{}", text);
            }
        }
    }
}
