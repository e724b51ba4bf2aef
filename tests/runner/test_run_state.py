"""The state of a run as its events make it, and the same events as JSON."""

import json

from teijo.runner.event_json import as_json
from teijo.runner.events import Stopping
from teijo.runner.run_state import Follower
from tests.cli.events import MEASURE, PATH, Hands, short_run, started


def test_the_state_of_a_run_is_what_its_events_told() -> None:
    follower, events = Follower(Hands()), short_run()
    assert (follower.state.phase, follower.state.round_number, follower.state.cell) == (
        "",
        None,
        "",
    )
    for event in events[:7]:
        follower.tell(event)
    state = follower.state
    assert (state.phase, state.round_number, state.cell) == ("round", 3, MEASURE.cell)
    assert (state.path, state.iops, len(state.remarks)) == (PATH, 3210.4, 1)
    for event in (Stopping(signal="a button"), *events[7:]):
        follower.tell(event)
    assert (follower.state.stopping, follower.state.share, follower.state.is_done) == (
        "a button", 1.0, True,
    )  # fmt: skip
    assert state.ending == "running", "a state does not change"


def test_every_event_is_one_line_of_json() -> None:
    names = [json.loads(json.dumps(as_json(event)))["event"] for event in (started(), *short_run())]
    assert names[0] == "run_started"
    assert len(names) == len(short_run()) + 1
