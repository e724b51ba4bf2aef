"""A watch by default promises nothing."""

from teijo.terms.watch import Watch


def test_a_bare_watch_has_a_phase_and_nothing_left():
    watch = Watch(phase="purge")
    assert (watch.remaining_ns_least, watch.remaining_ns_most, watch.remaining_bytes) == (0, 0, 0)
    assert watch.round_number is None


def test_what_follows_is_left_as_well():
    now = Watch(phase="round", remaining_ns_least=1, remaining_ns_most=2, cell="a")
    later = Watch(phase="histogram", remaining_ns_least=10, remaining_ns_most=20, remaining_bytes=3)
    assert now.followed_by(later, later) == Watch(
        phase="round", remaining_ns_least=21, remaining_ns_most=42, remaining_bytes=6, cell="a"
    )
