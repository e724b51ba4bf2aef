"""`--limit` on run, resume and report: page one, JSON, and the exit codes 9 and 11."""

import json
from pathlib import Path

from teijo import api
from tests.cli.conftest import Teijo
from tests.crash.runs import in_a_child, killed_after

SHORT = ("--set", "seconds=20ms", "rest=1ms", "passes=3", "--seed", 1)
SIM = "sim:mlc-a"
EASY = "iops[RND 4KiB Q32T1 read] >= 10"
HARD = "iops[RND 4KiB Q32T1 read] >= 10M"


def test_a_limit_that_is_met_ends_with_0_and_stands_on_page_one(
    teijo: Teijo, tmp_path: Path
) -> None:
    code, _, err = teijo(
        "run", "quick", SIM, *SHORT, "-o", tmp_path / "a", "--report", "text", "--limit", EASY
    )
    assert code == 0
    assert f"limit {EASY}: met" in err
    page = (tmp_path / "a.txt").read_text()
    assert "LIMITS: 1 met, 0 not met, 0 cannot be known" in page
    assert page.index("LIMITS:") < page.index("Remarks")


def test_a_limit_that_is_not_met_ends_with_9_and_is_printed_again_from_the_file(
    teijo: Teijo, tmp_path: Path
) -> None:
    arguments = (SIM, *SHORT, "-o", tmp_path / "a", "--report", "none")
    code, out, err = teijo("run", "quick", *arguments, "--limit", HARD, "--limit", EASY)
    assert code == 9
    assert f"limit {HARD}: NOT MET" in err
    assert out.splitlines() == [str(tmp_path / "a.teijo")]
    code, out, _ = teijo("report", tmp_path / "a.teijo", "--format", "text")
    assert code == 9
    assert "LIMITS: 1 met, 1 not met, 0 cannot be known" in out
    code, out, _ = teijo("export", tmp_path / "a.teijo", "--to", "json")
    assert code == 0
    assert [each["verdict"] for each in json.loads(out)["limits"]] == ["not met", "met"]


def test_a_report_is_asked_for_more_and_the_file_stays_as_it_is(
    teijo: Teijo, tmp_path: Path
) -> None:
    path = tmp_path / "a.teijo"
    teijo("run", "quick", SIM, *SHORT, "-o", path, "--report", "none")
    before = path.read_bytes()
    report = ("report", path, "--format", "text", "--limit")
    assert teijo(*report, EASY)[0] == 0
    assert teijo(*report, HARD)[0] == 9
    code, out, _ = teijo(*report, "iosp[RND 4KiB Q32T1 read] >= 10")
    assert code == 11
    assert "cannot be known: there is no figure 'iosp'; did you mean 'iops'?" in out
    assert teijo(*report, EASY, "--limit", HARD, "--limit", "x >= 1")[0] == 9
    assert teijo(*report, "nonsense")[0] == 2
    assert path.read_bytes() == before


def test_a_name_that_is_none_is_refused_before_anything_is_measured(
    teijo: Teijo, tmp_path: Path
) -> None:
    code, out, err = teijo(
        "run", "quick", SIM, *SHORT, "-o", tmp_path / "a", "--limit", "iopss[read] >= 1"
    )
    assert (code, out) == (2, "")
    assert "did you mean 'iops'?" in err
    assert list(tmp_path.iterdir()) == []


def test_a_resumed_run_keeps_its_limits_and_takes_more(teijo: Teijo, tmp_path: Path) -> None:
    path = tmp_path / "a"
    settings = {"seconds": "20ms", "rest": "1ms", "passes": "3"}

    def act() -> None:
        api.run(
            "quick", SIM, output=path, settings=settings, seed=1, limits=[EASY],
            observer=killed_after(4),
        )  # fmt: skip

    assert in_a_child(act) == -9
    code, _, err = teijo("resume", f"{path}.teijo.open", "--report", "none", "--limit", HARD)
    assert code == 9
    assert f"limit {EASY}: met" in err
    assert f"limit {HARD}: NOT MET" in err
    assert api.open(f"{path}.teijo").limits == (EASY, HARD)


def test_a_program_that_follows_the_run_is_told_each_limit(teijo: Teijo, tmp_path: Path) -> None:
    arguments = (SIM, *SHORT, "-o", tmp_path / "a", "--report", "none", "--progress", "ndjson")
    code, _, err = teijo("run", "quick", *arguments, "--limit", HARD)
    (told,) = [line for line in map(json.loads, err.splitlines()) if line["event"] == "verdict"]
    assert code == 9
    assert told["limits"][0]["verdict"] == "not met"
    assert told["limits"][0]["value"] < 10_000_000
