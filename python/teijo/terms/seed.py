"""Where seeds come from: each is derived from the run's, so that anybody can derive it again."""

import hashlib
from typing import Final

from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge, Step
from teijo.terms.work import FileIo

_SEED_BITS: Final = 53
"""A seed is exact in every JSON reader, also where numbers are doubles."""


def derive(*parts: int | str) -> int:
    """Return the seed that these parts lead to, 0 to 2⁵³ − 1."""
    # Parted, or (1, 23) and (12, 3) were one seed. It never changes: old files are derived by it.
    text = "\x1f".join(str(part) for part in parts)
    digest = hashlib.blake2b(text.encode(), digest_size=8, person=b"teijo").digest()
    return int.from_bytes(digest) >> (64 - _SEED_BITS)


def step_seed(run_seed: int, seq: int, round_number: int | None, cell: str | None) -> int:
    """Return the step's own seed, so that no step replays another's offsets."""
    return derive(run_seed, seq, round_number or 0, cell or "")


def repeated_seed(run_seed: int, word: str) -> int:
    """Return the seed of every step whose streams repeat this word: all have the same offsets."""
    return derive(run_seed, "repeats", word)


def stamp_run(run_seed: int) -> int:
    """Return the number that is in every stamp of a run and tells it from any other run's."""
    return derive(run_seed, "stamps")


def seed_of(run_seed: int, seq: int, step: Step, *, before: int) -> int:
    """Return the seed of the step at place `seq` of a run; `before` is that of the one before it.

    A step that continues a stimulus has that stimulus' seed: its offsets go on, they do not begin.
    One whose streams repeat a word has that of the word.
    """
    match step:
        case Measure(continues=True):
            return before
        case Measure(workload=load) | Precondition(workload=load) if load.repeats:
            return repeated_seed(run_seed, load.repeats)
        case Perform(work=FileIo(repeats=word)) if word:
            return repeated_seed(run_seed, word)
        case (
            Measure(round_number=round_number, cell=cell)
            | Configure(round_number=round_number, cell=cell)
            | Perform(round_number=round_number, cell=cell)
        ):
            return step_seed(run_seed, seq, round_number, cell)
        case Idle(round_number=round_number):
            return step_seed(run_seed, seq, round_number, None)
        case Purge() | Precondition():
            return step_seed(run_seed, seq, None, None)
