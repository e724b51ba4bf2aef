"""Seeds: each of its own, and the same in every version."""

import hashlib

from teijo.terms.seed import repeated_seed, seed_of, stamp_run, step_seed
from teijo.terms.step import Idle, Measure, Precondition, Purge
from teijo.terms.workload import Stream, Workload

LOAD = Workload(streams=(Stream(read_percent=0, block_size_bytes=4096),))


def test_a_seed_changes_with_everything_it_is_made_of() -> None:
    seeds = [
        step_seed(1, 1, None, None),
        step_seed(2, 1, None, None),
        step_seed(1, 2, None, None),
        step_seed(1, 1, 1, None),
        step_seed(1, 1, None, "x"),
        step_seed(11, 1, None, None),
        step_seed(1, 11, None, None),
    ]
    assert len(set(seeds)) == len(seeds)


def test_a_seed_never_changes_between_versions() -> None:
    # Worked out apart from this program: runs that are resumed depend on it.
    text = "\x1f".join(("7", "3", "1", "65/35 4 KiB")).encode()
    oracle = hashlib.blake2b(text, digest_size=8, person=b"teijo").hexdigest()
    assert step_seed(7, 3, 1, "65/35 4 KiB") == int(oracle, 16) // 2**11 == 1253095160496179


def test_a_step_that_continues_has_the_seed_of_the_one_before_and_no_other_has() -> None:
    first = Measure(workload=LOAD, duration_ns=1, round_number=2, cell="x", open_ended=True)
    assert seed_of(7, 3, first, before=5) == step_seed(7, 3, 2, "x")
    goes_on = Measure(workload=LOAD, duration_ns=1, round_number=2, cell="x", continues=True)
    assert seed_of(7, 4, goes_on, before=5) == 5
    assert seed_of(7, 4, Purge(), before=5) == step_seed(7, 4, None, None)
    rest = Idle(duration_ns=1, round_number=2)
    assert seed_of(7, 4, rest, before=5) == step_seed(7, 4, 2, None)


def test_the_number_in_the_stamps_is_no_seed_of_a_step() -> None:
    assert stamp_run(7) not in {step_seed(7, seq, None, None) for seq in range(1, 100)}


def test_steps_whose_streams_repeat_a_word_have_one_seed_and_all_others_their_own() -> None:
    def load(word: str) -> Workload:
        return Workload(streams=(Stream(read_percent=0, block_size_bytes=4096, repeats=word),))

    passes = [
        seed_of(7, seq, Measure(workload=load("row 1"), duration_ns=1, round_number=seq), before=5)
        for seq in (3, 4, 9)
    ]
    assert set(passes) == {repeated_seed(7, "row 1")}
    fill = Precondition(workload=load("row 1"), total_bytes=4096)
    assert seed_of(7, 2, fill, before=5) == passes[0]
    others = [
        seed_of(8, 3, Measure(workload=load("row 1"), duration_ns=1), before=5),
        seed_of(7, 3, Measure(workload=load("row 2"), duration_ns=1), before=5),
        seed_of(7, 3, Measure(workload=load(""), duration_ns=1), before=5),
    ]
    assert len({*others, passes[0]}) == 4
    goes_on = Measure(workload=load("row 1"), duration_ns=1, continues=True)
    assert seed_of(7, 3, goes_on, before=5) == 5
