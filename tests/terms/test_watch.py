"""A watch by default promises nothing."""

from teijo.terms.watch import Watch


def test_a_bare_watch_has_a_phase_and_nothing_left():
    watch = Watch(phase="purge")
    assert (watch.remaining_ns_least, watch.remaining_ns_most, watch.remaining_bytes) == (0, 0, 0)
    assert watch.round_number is None
