"""What a record holds of a purge: typed, read back as it was, and nonsense never believed."""

import pytest

from teijo.terms.purge import DETAIL, SIMULATED, PurgeResult, result_in

DONE = PurgeResult(
    method="nvme-format",
    words="NVMe Format, user data erase",
    elapsed_ns=7,
    stamps_written=64,
    stamps_gone=64,
    zeros=63,
    warnings=("one",),
)


def test_a_detail_reads_back_as_the_result_that_it_was() -> None:
    assert result_in(DONE.detail()) == DONE
    assert DONE.detail()["method"].endswith("64 of 64 stamps are gone, 63 read as zeros")


def test_a_simulated_purge_is_recorded_as_ever() -> None:
    assert PurgeResult(method=SIMULATED, words="as ever").detail() == {"method": "as ever"}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"method": 1}', '{"method": "x", "zeros": "NaN"}']
)
def test_nonsense_in_a_file_is_no_result(text: str) -> None:
    assert result_in({DETAIL: text}) is None
    assert result_in({}) is None


def test_only_stamps_that_are_all_gone_prove_it() -> None:
    assert DONE.is_proven
    assert not PurgeResult(method="discard", words="x").is_proven
    assert not PurgeResult(method="discard", words="x", stamps_written=2, stamps_gone=1).is_proven
