"""The session of a shared run: one plan, carried out by every host at once, and one answer."""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from teijo.engine.hosts import wire
from teijo.engine.hosts.clock import Clock
from teijo.engine.hosts.live import LiveSeries
from teijo.engine.hosts.merging import HostLap, together
from teijo.engine.hosts.party import ASKED_AGAIN, Party
from teijo.engine.hosts.shares import check_shareable, divided
from teijo.engine.hosts.wire import Done, Finished, Look
from teijo.engine.plan import Plan, check_fits
from teijo.engine.session import Lap, Observer, Progress, StuckIo
from teijo.errors import HostAway, PlanError
from teijo.terms.shared import FACT, hosts_to_json
from teijo.units import NS_PER_S

LEAD_NS: Final = NS_PER_S // 20
"""From the word to begin to the moment of it, beside four times what it takes to go and return."""
_FINISH_NS: Final = 120 * NS_PER_S


class HostsSession:
    """A `Session` on one target that the workers of a party have open."""

    def __init__(
        self,
        party: Party,
        backends: Sequence[str],
        *,
        capacity_bytes: int,
        logical_block_bytes: int,
    ) -> None:
        """Take over a party whose workers have the target open, each with its backend."""
        self._party = party
        self._hosts = party.hosts(backends)
        self._capacity_bytes = capacity_bytes
        self._logical_block_bytes = logical_block_bytes
        self._is_open_ended = False
        self._clocks: list[Clock] = []
        self._ended_ns = 0

    @property
    def backend(self) -> str:
        """On how many hosts, and by what: "2 hosts, io_uring"."""
        backends = dict.fromkeys(each.backend for each in self._hosts)
        return f"{len(self._hosts)} hosts, {' and '.join(backends)}"

    def now_ns(self) -> int:
        """Return CLOCK_MONOTONIC of this host; what others tell is set over to it."""
        return time.monotonic_ns()

    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        """Run one lap on every host, from one moment on.

        Raises:
            PlanError: the plan does not fit the target, or several hosts cannot share it.
            HostAway: a host is gone; the others were told to stop.
            DeviceError: a host cannot drive the target.
        """
        check_fits(plan, self._capacity_bytes, self._logical_block_bytes)
        check_shareable(plan)
        party = self._party
        plans = divided(plan, len(self._hosts))
        # A stimulus that goes on must not wait for a comparison.
        clocks = self._clocks = (
            party.recent(self._clocks)
            if plan.continues
            else party.compared(ASKED_AGAIN, lambda told: told.clock_ns, time.monotonic_ns)
        )
        at_ns = time.monotonic_ns() + LEAD_NS + 8 * max(each.error_ns for each in clocks)
        number = party.numbered()
        asks = [
            wire.Run(number=number, plan=own, at_ns=0 if plan.continues else at_ns + clock.ahead_ns)
            for own, clock in zip(plans, clocks, strict=True)
        ]
        watch = _Watch(self._party, number, plan, observer)
        try:
            told = party.answers(asks, number, Done, looked=watch.looked, turn=watch.turn)
            laps = [self._lap(place, done, plans[place]) for place, (_, done) in enumerate(told)]
        except BaseException as error:
            self._stop(number)
            if isinstance(error, HostAway):
                watch.flush()
            raise
        self._is_open_ended = plan.open_ended
        names = [each.name for each in self._hosts]
        whole = together(
            [HostLap(*one) for one in zip(names, laps, clocks, strict=True)],
            plan,
            after_ns=self._ended_ns,
            now_ns=time.monotonic_ns(),
        )
        self._ended_ns = whole.result.started_ns + whole.result.elapsed_ns
        return whole

    def _lap(self, place: int, done: Done, plan: Plan) -> Lap:
        try:
            return wire.lap_in(done.lap, plan)
        except wire.Flaw as error:
            raise self._party.flaw(place) from error

    def _stop(self, number: int) -> None:
        for channel in self._party.channels:
            channel.send(wire.Stop(number=number))

    def limit_io(self, io_timeout_ns: int) -> None:
        """Let each host leave a lap from now on when an I/O is older than that."""
        for channel in self._party.channels:
            channel.send(wire.Limit(io_timeout_ns=io_timeout_ns))

    def pin(self, cpus: Sequence[int]) -> None:
        """Do nothing without processors.

        Raises:
            PlanError: there are some, and their numbers are those of one host.
        """
        if cpus:
            raise PlanError(
                "Processors are those of one host, and the run has several",
                remedy="Leave cpus away, and start the workers with taskset.",
            )

    def stuck(self) -> tuple[StuckIo, ...]:
        """Return nothing: which I/Os of a host hang is not told, only that some do."""
        return ()

    def choices(self) -> Mapping[str, str]:
        """Return who the hosts are."""
        return {FACT: hosts_to_json(self._hosts)}

    def ceilings(self) -> None:
        """Return nothing: what this host could do says nothing of the others."""

    def finish(self) -> None:
        """End an open-ended stimulus on every host.

        Raises:
            HostAway: one is gone.
        """
        if not self._is_open_ended:
            return
        self._is_open_ended = False
        number = self._party.numbered()
        asks = [wire.Finish(number=number)] * len(self._hosts)
        self._party.answers(asks, number, Finished, limit_ns=_FINISH_NS)

    def close(self) -> None:
        """End the workers."""
        self._party.close()


class _Watch:
    """Puts the looks of all hosts together, and asks the observer whether the lap may go on."""

    def __init__(self, party: Party, number: int, plan: Plan, observer: Observer | None) -> None:
        self._party = party
        self._number = number
        self._observer = observer
        self._looks: dict[int, Look] = {}
        self._series = LiveSeries(len(party.channels), plan.interval_ns)
        self._streams = {placed.stream.name for placed in plan.streams}
        self._is_new = False
        self._is_stopped = False

    def looked(self, place: int, look: Look) -> None:
        """Take in how far one host is."""
        try:
            for stream, operation, series in wire.finished_in(look):
                if stream not in self._streams:
                    raise wire.Flaw
                self._series.add(stream, operation, series)
        except wire.Flaw as error:
            raise self._party.flaw(place) from error
        self._series.reached(place, look.elapsed_ns)
        self._looks[place] = look
        self._is_new = True

    def turn(self) -> None:
        """Tell the observer what is new."""
        if self._observer is None or not self._is_new or self._is_stopped:
            return
        self._is_new = False
        if not self._observer(self._progress(is_last=False)):
            self._is_stopped = True
            for channel in self._party.channels:
                channel.send(wire.Stop(number=self._number))

    def flush(self) -> None:
        """Tell the observer of every interval that was heard of: what was written counts."""
        if self._observer is not None and self._looks:
            self._observer(self._progress(is_last=True))

    def _progress(self, *, is_last: bool) -> Progress:
        looks = self._looks.values()
        return Progress(
            elapsed_ns=max(look.elapsed_ns for look in looks),
            ios=sum(look.ios for look in looks),
            bytes=sum(look.bytes for look in looks),
            errors=sum(look.errors for look in looks),
            finished=self._series.taken(is_last=is_last),
        )
