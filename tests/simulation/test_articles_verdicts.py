"""Every row of the articles' table turns with its numbers: planted opposites, and each number of
each run multiplied. A row that is met whatever was measured would say nothing.
"""

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teijo import api
from tests.house.tree import ROOT

QUICK = ("ssd-cache", "write-back", "wsat")
LONG = (
    "orion", "crystaldiskmark", "crystaldiskmark-raid5", "sqlio", "create", "server", "s3700",
    "devices", "tier", "raid5", "published",
)  # fmt: skip
NOT_MET = {"orion": {2, 8, 9}, "sqlio": set[int]()}
"""Which of their rows are known not to be met."""
NO_DEVICE = ("arithmetic", "setting")
"""What such a row rests on is no number of a run."""


@pytest.fixture(scope="module")
def articles() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "examples"))
    yield importlib.import_module("articles")
    sys.path.remove(str(ROOT / "examples"))


@dataclass(frozen=True)
class Planted:
    """A run of which one number was multiplied: of its cells and its scalars, in that order."""

    run: api.Run
    place: int
    times: float

    @property
    def record(self) -> Any:
        return self.run.record

    @property
    def findings(self) -> Any:
        cells, scalars = list(self.run.findings.cells), list(self.run.findings.scalars)
        if self.place < len(cells):
            one = cells[self.place]
            values = {
                name: value * self.times
                for name in ("iops", "throughput_mb_s", "latency_ns_mean")
                if (value := getattr(one, name)) is not None
            }
            cells[self.place] = replace(one, **values)
        else:
            scalar = scalars[self.place - len(cells)]
            value = None if scalar.value is None else scalar.value * self.times
            scalars[self.place - len(cells)] = replace(scalar, value=value)
        return replace(self.run.findings, cells=tuple(cells), scalars=tuple(scalars))


class Desk:
    """A desk whose runs are measured once, and of whose numbers one may be multiplied."""

    def __init__(self, real: Any) -> None:
        self.measured = cache(real.run)
        self.runs: dict[str, api.Run] = {}
        self.planted: tuple[str, int, float] | None = None

    def run(self, name: str, *words: str, **settings: str) -> Any:
        run = self.runs[name] if name in self.runs else self.measured(name, *words, **settings)
        self.runs[name] = run
        if self.planted and self.planted[0] == name:
            return Planted(run, *self.planted[1:])
        return run

    def opposites(self) -> Iterator[tuple[str, int, float]]:
        for name, run in self.runs.items():
            for place in range(len(run.findings.cells) + len(run.findings.scalars)):
                yield from ((name, place, times) for times in (1e-4, 1e4))


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(each, marks=pytest.mark.long) for each in LONG)]
)
def test_every_row_that_is_met_is_not_met_with_another_number(
    articles: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sys.modules["server_files"], "real", lambda _: [])
    desk = Desk(articles.Desk(folder=tmp_path, reports=False))
    rows = articles.ARTICLES[name](desk)
    assert [row.said for row in rows if row.failed] == []
    if name in NOT_MET:
        assert {place for place, row in enumerate(rows) if not row.met} == NOT_MET[name]
    left = {place for place, row in enumerate(rows) if row.met and row.rests not in NO_DEVICE}
    for planted in [*desk.opposites()]:
        if not left:
            break
        desk.planted = planted
        now = articles.ARTICLES[name](desk)
        left -= {place for place in left if not now[place].met}
    assert [rows[place].said for place in sorted(left)] == []


def test_every_article_is_held_to_it(articles: ModuleType) -> None:
    assert {*QUICK, *LONG} == set(articles.ARTICLES)


CHUNKS = {"16KiB": 0, "32KiB": 1, "64KiB": 2, "128KiB": 3}
MATRIX_AS_TOLD = {
    # mode: (reads, 4 KiB writes, other writes) by one disk's 100; a chunk adds its place
    "off": (250, 30, 30), "wt": (250, 30, 30), "wb": (250, 900, 900),
    "enhanced": (250, 30, 30), "maximised": (500, 1_900, 500),
}  # fmt: skip
MATRIX_OPPOSITE = {
    "off": (90, 90, 90), "wt": (90, 90, 90), "wb": (90, 90, 90),
    "enhanced": (90, 90, 90), "maximised": (10, 10, 900),
}  # fmt: skip


def matrix(
    articles: ModuleType, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any], larger: float
) -> dict[str, bool | None]:
    cells = articles.crystaldiskmark_cells

    def planted(desk: object, name: str, target: str, **settings: str) -> Any:
        del desk, target, settings
        if name.startswith("hdd"):
            return cells.Cell(
                {f"{row} {way}, score": 100.0 for row, way in cells._places(cells.ROWS)}
            )
        _, _, chunk, mode = name.split("-")[:4]
        reads, small, large = (each + larger * CHUNKS[chunk] for each in told[mode])
        return cells.Cell(
            {
                f"{row} {way}, score": reads
                if way == "read"
                else small
                if "4 KiB" in row
                else large
                for row, way in cells._places(cells.ROWS)
            }
        )

    monkeypatch.setattr(cells, "_cell", planted)
    return {row.said: row.met for row in cells.array_matrix(None)}


def test_the_matrix_of_a_raid5_is_met_row_by_row_where_it_is_as_the_article_tells(
    articles: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = matrix(articles, monkeypatch, MATRIX_AS_TOLD, larger=1)
    assert found.pop("flushing on or off makes no significant difference") is None
    assert found == dict.fromkeys(found, True)
    assert len(found) == 12


def test_the_matrix_of_a_raid5_is_met_nowhere_where_all_is_the_opposite(
    articles: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = matrix(articles, monkeypatch, MATRIX_OPPOSITE, larger=-1)
    assert found.pop("and below four times")
    assert found.pop("flushing on or off makes no significant difference") is None
    assert found == dict.fromkeys(found, False)
    five_times = {**MATRIX_OPPOSITE, "off": (500, 90, 90)}
    assert not matrix(articles, monkeypatch, five_times, larger=0)["and below four times"]


def test_write_back_that_is_better_at_4_kib_writes_is_no_merit_of_the_ssd_cache(
    articles: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {**MATRIX_AS_TOLD, "wb": (250, 9_000, 900)}
    found = matrix(articles, monkeypatch, told, larger=1)
    assert [said for said, met in found.items() if met is False] == [
        "an SSD cache is better than write-back: 4 KiB writes"
    ]


def sqlio(articles: ModuleType, **changed: float) -> dict[str, bool | None]:
    """The verdicts on 64 cells: disks 100, the others 400 but for large blocks; some changed."""
    arrays = articles.sqlio_arrays
    rates = {}
    for place in arrays.places():
        quick = {"disks": 10, "nvme": 400, "tier": 400}[place.case]
        rate = quick if "random" in place.pattern else {"disks": 6_000}.get(place.case, 3_000)
        if place.size_bytes == arrays.LARGE_SET:
            rate = 12
        key = f"{place.case}_{place.pattern}_{place.block}".replace(" ", "_")
        key += "_8TB" if place.size_bytes == arrays.LARGE_SET else ""
        rates[place] = changed.get(key, rate)
    return {row.said: row.met for row in arrays.verdicts(rates)}


@pytest.mark.parametrize(
    ("changed", "not_met"),
    [
        ({}, ()),
        ({"disks_read_sequential_1MiB": 2_000}, (0, 1)),
        ({"nvme_read_sequential_1MiB": 9_000, "tier_read_sequential_1MiB": 9_000}, (1,)),
        ({"disks_read_random_4KiB": 390}, (2,)),
        ({"disks_write_random_4KiB": 390}, (3,)),
        ({"tier_write_random_64KiB": 200}, (4,)),
        ({"tier_read_random_4KiB_8TB": 390}, (5, 6)),
        ({"tier_read_random_4KiB_8TB": 14}, (6,)),
    ],
)
def test_each_row_of_sqlio_turns_with_its_own_cells(
    articles: ModuleType, changed: dict[str, float], not_met: tuple[int, ...]
) -> None:
    found = list(sqlio(articles, **changed).values())
    assert [place for place, met in enumerate(found) if not met] == list(not_met)
