"""What those who look at a run are told: each look made into text once, for all of them."""

import json
from collections.abc import Iterator
from typing import Any

from teijo.speech import tongue
from teijo.web.live import Sight
from teijo.web.measured_json import drive_json, rounds_json, window_json
from teijo.web.state_json import Json, course_json, state_json


class Telling:
    """The texts of the last look at one run, by language and by what a reader has already."""

    def __init__(self) -> None:
        """Begin without any."""
        self._number = 0
        self._texts: dict[tuple[int, str], bytes] = {}
        self._states: dict[tuple[int, str], Json] = {}

    def news(self, sight: Sight, have: Sight | None) -> bytes:
        """Return the events that lead from one sight to another, in the language that is spoken.

        Without a sight to begin with they tell all. They are empty where nothing is another.
        """
        if sight.number != self._number:
            kept = {self._number, sight.number}
            self._number, self._texts = sight.number, {}
            self._states = {key: one for key, one in self._states.items() if key[0] in kept}
        key = (0 if have is None else have.number, tongue.spoken())
        if key not in self._texts:
            self._texts[key] = "".join(self._events(sight, have)).encode()
        return self._texts[key]

    def _events(self, sight: Sight, have: Sight | None) -> Iterator[str]:
        course = _course_since(sight, have)
        if have is None or sight.points != have.points or course["levels"]:
            yield event("course", course)
        if have is None or sight.rounds != have.rounds:
            yield event("rounds", _rounds_since(sight, have))
        if have is None or sight.drive != have.drive:
            yield event("drive", _drive_since(sight, have))
        if have is None or sight.states is not have.states:
            yield event("window", window_json(sight))
        if have is None or sight.report != have.report:
            yield event("report", {"report": sight.report})
        now = self._state(sight)
        before = {} if have is None else self._state(have)
        if changed := {name: now[name] for name in now if before.get(name, self) != now[name]}:
            yield event("state", changed)

    def _state(self, sight: Sight) -> Json:
        key = (sight.number, tongue.spoken())
        if key not in self._states:
            self._states[key] = state_json(sight.state)
        return self._states[key]


def event(name: str, body: Any) -> str:
    """Return a server-sent event."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n"


def _course_since(sight: Sight, have: Sight | None) -> Json:
    """Return the course from the last point on that a reader has, which may have grown."""
    if have is None or (have.epoch, have.joined) != (sight.epoch, sight.joined):
        return course_json(sight)
    first = max(0, len(have.points) - 1)
    return course_json(sight, first=first, levels_from=len(have.levels))


def _rounds_since(sight: Sight, have: Sight | None) -> Json:
    if have is None or (have.epoch, have.rounds.begun) != (sight.epoch, sight.rounds.begun):
        return rounds_json(sight)
    return rounds_json(sight, first=len(have.rounds.answers))


def _drive_since(sight: Sight, have: Sight | None) -> Json:
    if have is None or (have.epoch, have.drive.joined) != (sight.epoch, sight.drive.joined):
        return drive_json(sight)
    return drive_json(sight, first=max(0, len(have.drive.points) - 1))
