"""What is told about a run: lines for people, one JSON object per event for programs."""

import json

import pytest

from teijo.cli.options import ProgressMode
from teijo.cli.progress import QUIET_NS, Plain, telling
from teijo.runner.event_json import as_json
from teijo.runner.events import Remarked
from teijo.runner.run_state import Follower
from teijo.terms.remark import Remark, RemarkKind
from tests.cli.events import LAYING_OUT, MEASURE, SECOND, Hands, progress, short_run


def test_plain_lines_tell_the_beginning_each_phase_the_remarks_and_the_end() -> None:
    lines: list[str] = []
    teller = Plain(Follower(Hands()), lines.append)
    for event in short_run():
        teller(event)
    assert [line.partition("] ")[2] for line in lines] == [
        "pts.iops 2.0.2-client on MLC-A: begins, recorded in run.teijo.open",
        "remark: simulated: A model, no drive.",
        "purging",
        "round 3 of 5 to 25, 0/100 4 KiB, 2 of 3 tracking variables steady, "
        "about 9 s (5 s to 25 s) left",
        "ended: steady",
    ]


def test_plain_lines_are_silent_for_a_while_within_a_phase() -> None:
    lines: list[str] = []
    hands = Hands()
    teller = Plain(Follower(hands), lines.append)
    for event in short_run()[:-1]:
        teller(event)
    before = len(lines)
    for second in range(1, 12):
        hands.ns = second * SECOND
        teller(progress(MEASURE, second * SECOND, 4096))
    assert len(lines) - before == 11 * SECOND // QUIET_NS


def test_a_remark_on_every_step_is_said_once_of_its_kind() -> None:
    lines: list[str] = []
    teller = Plain(Follower(Hands()), lines.append)
    for step in (1, 2, 3):
        teller(Remarked(remark=Remark(kind=RemarkKind.HOST_LIMITED, text="Busy.", step=step)))
    teller(Remarked(remark=Remark(kind=RemarkKind.IO_ERRORS, text="Two failed.", step=3)))
    assert [line.partition("] ")[2] for line in lines] == [
        "remark: host limited: Busy.",
        "remark: i/o errors: Two failed.",
    ]


def test_a_file_that_is_laid_out_is_told_until_the_run_begins() -> None:
    lines: list[str] = []
    hands = Hands()
    teller = Plain(Follower(hands), lines.append)
    for second in range(7):
        hands.ns = second * SECOND
        teller(LAYING_OUT)
    assert [line.partition("] ")[2] for line in lines] == [
        "laying out the file, 1 GiB of 4 GiB",
        "laying out the file, 1 GiB of 4 GiB",
    ]


@pytest.mark.parametrize(
    "event", [LAYING_OUT, *short_run()], ids=lambda event: type(event).__name__
)
def test_every_event_is_one_json_object_with_its_name(event: object) -> None:
    told = json.loads(json.dumps(as_json(event)))  # type: ignore[arg-type]
    assert told["event"]


def test_a_program_reads_progress_line_by_line_from_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with telling(ProgressMode.NDJSON) as observer:
        for event in short_run():
            observer(event)
    out, err = capsys.readouterr()
    assert out == ""
    told = [json.loads(line) for line in err.splitlines()]
    assert [one["event"] for one in told] == [
        "run_started", "remark", "step_started", "step_done", "judged", "step_started",
        "progress", "step_done", "ended",
    ]  # fmt: skip
    assert told[6]["iops_now"] == 3210.4
    assert (told[6]["round"], told[6]["cell"]) == (3, "0/100 4 KiB")
    assert told[7]["gap"] is True


def test_without_a_terminal_progress_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    with telling(None) as observer:
        observer(short_run()[0])
    assert "begins" in capsys.readouterr().err
