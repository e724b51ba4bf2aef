"""The verb `preview`, and the limit it leads to: three columns, the drive's rating, a refusal."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from teijo import api
from teijo.analysis.endurance import endurance_from
from teijo.cli.options import rates_from
from teijo.cli.preview import as_object, percent, purge_lines, table
from teijo.cli.progress import Plain, as_json
from teijo.errors import PlanError, UnsafeError
from teijo.runner.extent import Extent, Preview
from teijo.runner.run_state import Follower
from tests.cli.conftest import Teijo
from tests.cli.events import Hands, started

TB = 10**12


def seen(*, rated: bool) -> Preview:
    least, expected, most = (
        Extent(steps=steps, duration_ns=steps * 60 * 10**9, written_bytes=size, intervals=1)
        for steps, size in ((300, 2 * TB), (400, 3 * TB), (1400, 12 * TB))
    )
    health = {"percentage_used": 7, "host_writes_bytes": 42 * TB} if rated else {}
    return Preview(
        least=least,
        expected=expected,
        most=most,
        capacity_bytes=512 * 10**9,
        assumed="much",
        endurance=endurance_from(health),
    )


def test_the_table_has_three_columns_and_says_where_the_rating_is_from() -> None:
    lines = table(seen(rated=True))
    heads = ("AT LEAST (steady at once)", "EXPECTED (settles)", "AT MOST (never steady)")
    assert re.split(r"  +", lines[0]) == ["", *heads]
    assert re.split(r"  +", lines[1]) == ["duration", "5 h 00 min", "6 h 40 min", "23 h 20 min"]
    assert re.split(r"  +", lines[2]) == ["written", "2 TB", "3 TB", "12 TB"]
    assert re.split(r"  +", lines[3]) == ["drive writes", "3.91", "5.86", "23.44"]
    assert re.split(r"  +", lines[4]) == ["of rated endurance", "0.33 %", "0.5 %", "2 %"]
    assert lines[-1] == (
        "Rated endurance: 600 TB (525 TB to 646.2 TB), estimated from 7 % used after 42 TB written."
    )


def test_what_is_not_known_of_the_endurance_is_said_to_be_so() -> None:
    lines = table(seen(rated=False))
    assert lines[4].count("not known") == 3
    assert as_object(seen(rated=False))["endurance_share"] == {
        "least": None,
        "expected": None,
        "most": None,
    }


def test_json_has_every_figure_of_the_table() -> None:
    shown = json.loads(json.dumps(as_object(seen(rated=True))))
    assert shown["expected"]["written_bytes"] == 3 * TB
    assert shown["drive_writes"]["most"] == pytest.approx(23.4, abs=0.1)
    assert shown["endurance_share"]["expected"] == 0.005
    assert shown["endurance"]["low_bytes"] == 525 * TB


def test_why_a_purge_is_refused_stands_a_line_each() -> None:
    refused = UnsafeError("it is frozen", remedy="Suspend the host.\nOr plug it in anew.")
    assert purge_lines(refused) == [
        "", "Purge: not here and now. it is frozen.", "Suspend the host.", "Or plug it in anew.",
    ]  # fmt: skip


def test_a_told_rating_is_compared_with_what_is_written(teijo: Teijo, tmp_path: Path) -> None:
    target = f"{tmp_path}/f.img?size=64MiB"
    code, out, _ = teijo("preview", "workload", target, "--set", "rw=randwrite", "seconds=10",
                         "--rates", "100MB/s,1M", "--endurance", "100GB")  # fmt: skip
    assert code == 0
    assert re.search(r"of rated endurance .*1 %$", out, re.MULTILINE)
    assert "Assumed: at most 100 MB/s and 1,000,000 IOPS (as told)" in out
    assert out.splitlines()[-1] == "Rated endurance: 100 GB, as told."


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        ("3.5GB/s,600k", (3_500_000_000, 600_000)),
        ("500MB/s, 1.2M IOPS", (500_000_000, 1_200_000)),
        ("1GiB/s,90", (2**30, 90)),
    ],
)
def test_rates_are_bytes_a_second_and_ios(text: str, rates: tuple[int, int]) -> None:
    found = rates_from(text)
    assert found is not None
    assert (found.bytes_per_second, found.ios_per_second) == rates
    assert rates_from("") is None


@pytest.mark.parametrize("text", ["fast", "500MB/s", "500MB,1k", "0MB/s,1k", "1GB/s,0", "1k,1GB/s"])
def test_what_are_no_rates_is_a_mistake_with_an_example(text: str) -> None:
    with pytest.raises(PlanError) as wrong:
        rates_from(text)
    assert "3.5GB/s,600k" in wrong.value.remedy


@pytest.mark.parametrize("text", ["much", "0TB"])
def test_an_endurance_is_a_size(teijo: Teijo, text: str) -> None:
    code, _, err = teijo("preview", "iops", "sim:mlc-a", "--endurance", text)
    assert code == 2
    assert "--endurance" in err


def test_shares_have_two_digits() -> None:
    assert [percent(share) for share in (0.00123, 0.0567, 0.5, 12.3)] == [
        "0.12 %",
        "5.7 %",
        "50 %",
        "1,230 %",
    ]


def test_a_run_beyond_its_limit_is_refused_with_exit_code_3(teijo: Teijo, tmp_path: Path) -> None:
    target = tmp_path / "f.img"
    code, out, err = teijo(
        "run", "workload", f"{target}?size=8MiB", "--set", "rw=randwrite", "seconds=10",
        "-o", tmp_path / "run", "--max-drive-writes", 3,
    )  # fmt: skip
    assert (code, out) == (3, "")
    assert "the limit is 3 drive writes" in err
    assert "raise --max-drive-writes" in err
    assert list(tmp_path.iterdir()) == []


def test_a_run_within_its_limit_runs_and_says_the_limit_in_its_file(
    teijo: Teijo, tmp_path: Path
) -> None:
    code, _, err = teijo(
        "run", "workload", f"{tmp_path / 'f.img'}?size=8MiB", "--set", "rw=randwrite", "bs=4KiB",
        "seconds=1", "rate=100", "-o", tmp_path / "run", "--max-drive-writes", 3,
        "--report", "none", "--progress", "plain",
    )  # fmt: skip
    assert code == 0, err
    assert "] ahead: about 1.00 s, " in err
    record = api.open(tmp_path / "run.teijo").record
    assert record.environment["write limit"] == "3 drive writes (25.17 MB)"


def test_what_is_ahead_is_one_line_and_one_object() -> None:
    event = replace(started(), ahead=seen(rated=False))
    lines: list[str] = []
    Plain(Follower(Hands()), lines.append)(event)
    assert lines[1].endswith(
        "ahead: about 6 h 40 min (5 h 00 min … 23 h 20 min), 3 TB (2 TB … 12 TB) written, "
        "5.9 (3.9 … 23) drive writes; assumed much"
    )
    assert as_json(started())["ahead"] is None
    told = json.loads(json.dumps(as_json(event)))
    assert told["ahead"]["expected"]["written_bytes"] == 3 * TB
