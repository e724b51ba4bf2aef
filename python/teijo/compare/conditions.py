"""On what conditions runs compare: the settings of each, and what differs between them.

Nothing is compared in silence that was made otherwise: it is refused, or named and printed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from teijo.compare.sides import Match
from teijo.compare.strict import follows_from_strict
from teijo.errors import UsageError
from teijo.methods.forms import DURATION
from teijo.methods.knobs import describe, knobs_of
from teijo.methods.parts import Part
from teijo.units import NS_PER_MS

ASPECTS: Mapping[str, str] = {
    "threads": "oio",
    "queue_depth": "oio",
    "active_range": "range",
    "amount": "amount",
    "segments": "amount",
    "content": "content",
    "minute": "minute",
}
"""The word that allows a setting to differ; every other setting is its own word."""
_MINUTE_STEP_NS = 200 * NS_PER_MS


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """One condition that is not the same in all runs of a test; `values` by the run's name."""

    test: str
    aspect: str
    condition: str
    values: tuple[tuple[str, str], ...]


class NotAlike(UsageError):
    """Conditions differ that were not allowed to: `refused` are those.

    `asked` are the words that would allow them, and those that were allowed already.
    """

    def __init__(
        self, message: str, *, remedy: str, refused: Sequence[Deviation], asked: Sequence[str]
    ) -> None:
        """Keep what differs beside what a person reads of it."""
        super().__init__(message, remedy=remedy)
        self.refused, self.asked = tuple(refused), tuple(asked)


def deviations_of(matches: Iterable[Match]) -> tuple[Deviation, ...]:
    """Return every condition that differs between the runs of one test.

    What only decides when a test stops (how many rounds at most) is none.
    """
    found = []
    for match in matches:
        runs = {entry.label: conditions_of(entry.part) for entry in match.entries}
        for name in dict.fromkeys(name for each in runs.values() for name in each):
            values = tuple((label, each.get(name, "none")) for label, each in runs.items())
            if len({value for _, value in values}) > 1:
                aspect = ASPECTS.get(name, name)
                found.append(
                    Deviation(test=match.name, aspect=aspect, condition=name, values=values)
                )
    return tuple(found)


def check_conditions(
    matches: Sequence[Match], deviations: Sequence[Deviation], allowed: Iterable[str]
) -> None:
    """Make sure that what differs was allowed to: by a word, or because one run is strict.

    Raises:
        NotAlike: something else differs; all of it is listed. UsageError: a word allows nothing.
    """
    words = {word.strip().lower() for word in allowed}
    known = _words(matches)
    if strange := sorted(words - known):
        raise UsageError(
            f"--allow {strange[0]} names nothing that these runs have",
            remedy=f"It takes {', '.join(sorted(known))}.",
        )
    by_name = {match.name: match for match in matches}
    refused = [
        each
        for each in deviations
        if each.aspect not in words and not follows_from_strict(by_name[each.test], each.condition)
    ]
    if refused:
        lines = "\n".join(f"  {_line(each)}" for each in refused)
        asked = sorted({each.aspect for each in refused} | words)
        raise NotAlike(
            f"These runs were not made alike, so their numbers do not compare:\n{lines}",
            remedy="Run one of them again as the other was, or let them differ, which every page "
            f"will say: --allow {','.join(asked)}",
            refused=refused,
            asked=asked,
        )


def conditions_of(part: Part) -> dict[str, str]:
    """Return on what conditions a test was run, by name: version, engine, and its settings.

    What only decides when a test stops (how many rounds at most) is none.
    """
    run = part.record.run
    knobs = knobs_of(type(part.found.settings))
    settings = {
        each.key: each.value
        for each in describe(part.found.settings)
        if not knobs[each.field].judges
    }
    if "minute" in settings:
        settings["minute"] = _minute(part)
    return {"spec": run.spec, "engine": run.engine, **settings}


def _minute(part: Part) -> str:
    """Return the minute at full size: a device simulated at a scale has it divided by that.

    The division is not exact, in capacity or in time, so what is 60 s at full size is 60 s here.
    """
    minute_ns, scale = part.found.settings.model_dump()["minute_ns"], part.record.geometry.scale
    if scale > 1:
        minute_ns = round(minute_ns * scale / _MINUTE_STEP_NS) * _MINUTE_STEP_NS
    return DURATION.show(minute_ns)


def _words(matches: Iterable[Match]) -> set[str]:
    names = {
        name for match in matches for entry in match.entries for name in conditions_of(entry.part)
    }
    return {ASPECTS.get(name, name) for name in names}


def _line(deviation: Deviation) -> str:
    told = ", ".join(f"{label} {value}" for label, value in deviation.values)
    word = "" if deviation.aspect == deviation.condition else f" ({deviation.aspect})"
    return f"{deviation.test}: {deviation.condition}{word}: {told}"
