"""How far a run is, for a live screen: computed by the method from the record so far."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class RoundsLeft:
    """How many more rounds there will be, the one under way among them: a forecast.

    With the probability `confidence` they are `low` to `high`; as many futures have fewer than
    `median` as more. The run's limit of rounds bounds all three; `never` is the probability that
    steady state is not reached by then.
    """

    low: int
    median: int
    high: int
    confidence: float
    never: float


@dataclass(frozen=True, kw_only=True)
class Watch:
    """One look at a growing record.

    `phase` is the step under way or next ("purge", "precondition", "round", "minute",
    "measure"), or how the run ended ("steady" …); `round_number` counts from 1, None outside
    rounds; `rounds_least` and `rounds_most` bound the number of the last round. `steady` says in
    words how far steady state is. `remaining_ns_*` are the timed steps still to come at least and
    at most; a byte-bounded step's time is not in them: `remaining_bytes` are what it still has to
    write.
    """

    phase: str
    round_number: int | None = None
    rounds_least: int | None = None
    rounds_most: int | None = None
    cell: str | None = None
    steady: str = ""
    remaining_ns_least: int = 0
    remaining_ns_most: int = 0
    remaining_bytes: int = 0
    part: str = ""
    """The test under way, where a run is made of several."""
    rounds_left: RoundsLeft | None = None
    """Counted as `round_number` is; None where nothing can be said yet, or need be."""
    is_steady: bool | None = None
    """Whether steady state has been reached so far; None where it is not looked for."""

    def followed_by(self, *later: "Watch") -> "Watch":
        """Return this watch, with what later ones still need added to what is left."""
        both = (self, *later)
        return replace(
            self,
            remaining_ns_least=sum(each.remaining_ns_least for each in both),
            remaining_ns_most=sum(each.remaining_ns_most for each in both),
            remaining_bytes=sum(each.remaining_bytes for each in both),
        )
