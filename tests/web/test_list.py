"""The list: what its address asks, and how far each run is."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from starlette.datastructures import QueryParams

from teijo import api
from teijo.errors import Interrupted
from teijo.web.question import query_of, question_of
from tests.web.serving import Served, served

QUICK = {"seconds": "10ms", "rest": "1ms", "passes": "2"}
LONG = {
    "minute": "1s", "mixes": "0/100", "block_sizes": "4KiB", "rounds": "25",
    "precondition_times": "1",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("listed")
    for name, group in (("a", {"campaign": "spring"}), ("b", {"campaign": "autumn"}), ("c", {})):
        api.run("quick", "sim:mlc-a", output=root / name, settings=QUICK, seed=1, group=group)
    return root


def names(site: Served, query: str) -> list[str]:
    return [row["file"] for row in site.ask(f"/api/v1/runs{query}").json["runs"]]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?q=a+b&method=quick&ending=running&campaign=spring&host=h",
        "?since=2026-01-31&until=2026-02-01&sort=-device&page=3",
    ],
)
def test_the_address_holds_all_that_is_asked(query: str) -> None:
    asked = question_of(QueryParams(query.removeprefix("?")))
    assert question_of(QueryParams(query_of(asked).removeprefix("?"))) == asked
    assert sorted(query_of(asked)) == sorted(query)


@pytest.mark.parametrize("day", ["2026-02-30", "yesterday", "'", "20260101T", "9" * 500])
def test_what_is_no_day_is_left_out(day: str) -> None:
    assert question_of(QueryParams({"since": day, "until": day})) == question_of(QueryParams(""))


def test_a_group_has_a_menu_where_a_run_names_one(folder: Path) -> None:
    with served(folder) as site:
        site.runs()
        page = site.ask("/?lang=en").text
        assert '<select name="campaign">' in page
        assert '<select name="fleet">' not in page
        assert names(site, "?campaign=spring") == ["a.teijo"]
        chosen = site.ask("/?campaign=autumn&lang=en").text
        assert '<option value="autumn" selected>' in chosen
        assert re.findall(r">([abc])\.teijo</a>", chosen) == ["b"]


def test_days_are_asked_for(folder: Path) -> None:
    day = api.open(folder / "a.teijo").record.run.started_at[:10]
    with served(folder) as site:
        assert len(site.runs()) == 3
        assert names(site, "?until=2020-01-01") == []
        assert names(site, "?since=2999-01-01") == []
        assert "a.teijo" in names(site, f"?since={day}")
        assert f'name="since" value="{day}"' in site.ask(f"/?since={day}").text


def test_a_run_that_goes_on_has_its_progress(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    target = f"{tmp_path / 'a.img'}?size=16MiB"
    running = api.start("pts.iops", target, output=runs / "live", settings=LONG, seed=1)
    with served(runs) as site:
        while not (rows := site.ask("/api/v1/runs?ending=running").json["runs"]):
            assert not running.wait(0.1), running.result()
        (row,) = rows
        assert 0 <= row["share"] <= 1
        assert row["written_at"][:4] == row["started_at"][:4]
        page = site.ask("/?lang=en").text
        assert '<span class="pill ">running</span>' in page
        assert re.search(r'<progress max="1" value="[01]\.\d+"', page)
        assert "last written" not in page
    running.stop()
    with suppress(Interrupted):
        running.result()
