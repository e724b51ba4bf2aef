"""A changed bit, a lost or a moved page: refused, told, or without effect. Never other data."""

import contextlib
import random
import sqlite3
import struct
from pathlib import Path

import numpy as np
import pytest

from teijo.errors import RunFileError
from teijo.runfile import content, log, reader
from teijo.runfile.recorder import Recorder
from tests.runfile.damage import PAGE, Left, flips, killed, outcomes, pages_moved
from tests.runfile.samples import sealed_run

FRAME = 24 + PAGE


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Left:
    """A killed run with its log."""
    return killed(tmp_path_factory.mktemp("logged"), flushed=False)


@pytest.fixture(scope="module")
def flushed(tmp_path_factory: pytest.TempPathFactory) -> Left:
    """A killed run whose log had come to the file."""
    return killed(tmp_path_factory.mktemp("flushed"), flushed=True)


def test_a_flipped_bit_in_an_open_file_is_never_read_as_other_data(
    tmp_path: Path, flushed: Left
) -> None:
    counts = outcomes(tmp_path / "run.teijo.open", flushed, flips(flushed, seed=1, count=300))
    assert counts["refused"] > 30
    assert counts["told"] == 0


def test_a_flipped_bit_in_an_open_file_or_its_log_is_never_read_as_other_data(
    tmp_path: Path, logged: Left
) -> None:
    counts = outcomes(tmp_path / "run.teijo.open", logged, flips(logged, seed=2, count=300))
    assert counts["refused"] > 200


def test_lost_and_moved_pages_are_never_read_as_other_data(tmp_path: Path, flushed: Left) -> None:
    counts = outcomes(tmp_path / "run.teijo.open", flushed, pages_moved(flushed))
    assert counts["refused"] > counts["same"]


def test_a_log_cut_within_a_transaction_says_so(tmp_path: Path, logged: Left) -> None:
    cuts = (
        (f"log cut at {end}", Left(logged.file, logged.log[:end]))
        for end in range(32 + FRAME // 2, len(logged.log), 3 * FRAME)
    )
    counts = outcomes(tmp_path / "run.teijo.open", logged, cuts)
    assert counts["told"] > counts["refused"], "before the first answer there is no run"
    assert counts["same"] == 0


def test_a_log_changed_in_what_was_flushed_is_refused(tmp_path: Path, logged: Left) -> None:
    path = tmp_path / "run.teijo.open"
    frames = (len(logged.log) - 32) // FRAME
    for frame in range(frames // 2):
        swapped = bytearray(logged.log)
        first, second = 32 + frame * FRAME, 32 + (frame + 1) * FRAME
        swapped[first:second], swapped[second : second + FRAME] = (
            logged.log[second : second + FRAME],
            logged.log[first:second],
        )
        Left(logged.file, bytes(swapped)).write(path)
        with pytest.raises(RunFileError, match=r"log .* not what was written"):
            reader.read(path)
        with pytest.raises(RunFileError, match=r"log .* not what was written"):
            Recorder.reopen(path)


def test_a_whole_log_has_the_checksums_that_are_worked_out_here(
    tmp_path: Path, logged: Left
) -> None:
    """SQLite's own description, word by word, against the sums that log.py makes of a frame."""
    draw = random.Random(7)
    for order in "<>":
        content = draw.randbytes(8 + PAGE)
        first = second = 0
        for at in range(0, len(content), 8):
            x, y = struct.unpack_from(f"{order}2I", content, at)
            first = (first + x + second) % 2**32
            second = (second + y + first) % 2**32
        line = np.frombuffer(content, np.uint8).reshape(1, -1)
        assert log._summed(line, f"{order}u4") == [(first, second)]
    path = tmp_path / "run.teijo.open"
    logged.write(path)
    assert log.check(path) is False


@pytest.mark.parametrize("torn", [16, 20, 24, 28])
@pytest.mark.parametrize("copied", [True, False])
def test_a_torn_header_of_a_log_is_harmless_only_where_the_file_holds_all_of_it(
    tmp_path: Path, logged: Left, *, copied: bool, torn: int
) -> None:
    """A header is written anew, in place, once all of its log was copied into the file."""
    path = tmp_path / "run.teijo.open"
    logged.write(path)
    steps = reader.read(path).steps
    file = logged.file
    if copied:
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            file = path.read_bytes()
    anew = bytes(byte ^ 0xFF for byte in logged.log[12:torn])
    Left(file, logged.log[:12] + anew + logged.log[torn:]).write(path)
    if copied:
        record = reader.read(path)
        assert (record.steps, log.CUT in record.remarks) == (steps, True)
    else:
        with pytest.raises(RunFileError, match=r"log .* not what was written"):
            reader.read(path)


def test_a_resume_of_a_log_cut_short_goes_on_and_keeps_the_remark(
    tmp_path: Path, logged: Left
) -> None:
    path = tmp_path / "run.teijo.open"
    Left(logged.file, logged.log[: -FRAME // 2]).write(path)
    recorder = Recorder.reopen(path)
    recorder.end("done")
    assert log.CUT in reader.read(recorder.seal()).remarks


@pytest.mark.parametrize("count", [200, pytest.param(600, marks=pytest.mark.campaign)])
def test_a_resume_never_seals_what_was_flipped(tmp_path: Path, flushed: Left, count: int) -> None:
    path = tmp_path / "run.teijo.open"
    flushed.write(path)
    steps = reader.read(path).steps
    refused = 0
    for place, one in flips(flushed, seed=3, count=count):
        one.write(path)
        try:
            recorder = Recorder.reopen(path)
        except RunFileError:
            refused += 1
            assert path.read_bytes() == one.file, place
            continue
        recorder.end("done")
        sealed = recorder.seal()
        assert reader.read(sealed).steps == steps, place
        sealed.unlink()
    assert refused > 20


@pytest.mark.campaign
@pytest.mark.parametrize("how", ["logged", "flushed", "sealed"])
def test_thousands_of_flipped_bits(tmp_path: Path, how: str, logged: Left, flushed: Left) -> None:
    if how == "sealed":
        path = sealed_run(tmp_path / "run")
        whole, left = reader.read(path), Left(path.read_bytes(), b"")
        for place, one in flips(left, seed=4, count=1_000):
            one.write(path)
            with contextlib.suppress(RunFileError):
                assert reader.read(path) == whole, place
        return
    left = logged if how == "logged" else flushed
    outcomes(tmp_path / "run.teijo.open", left, flips(left, seed=5, count=1_000))


@pytest.mark.parametrize("value", [4.0, "4", b"4", None])
def test_a_series_with_anything_but_whole_numbers_is_refused(
    value: float | str | bytes | None,
) -> None:
    assert content._whole_numbers([(1, 2), (3, 2**63 - 1)]).tolist() == [1, 2, 3, 2**63 - 1]
    with pytest.raises(ValueError, match="another type than its column"):
        content._whole_numbers([(1, 2), (3, value)])
