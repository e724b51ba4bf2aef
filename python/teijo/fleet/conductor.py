"""A fleet under way: who begins when, how each drive is, what is done about it. Nothing is kept.

Each drive is begun at most once by one conductor: what was left, by a kill or by a lost host, is
for the person who resumes the fleet. So nothing is measured twice, or restarted in silence.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Final, Literal

from teijo.errors import TeijoError
from teijo.fleet.clock import compared
from teijo.fleet.collecting import collect, remove
from teijo.fleet.hand import ended
from teijo.fleet.hosts import Host, HostLost
from teijo.fleet.order import Order
from teijo.fleet.plan import Plan
from teijo.units import NS_PER_S

_LOOK_EVERY_S: Final = 0.5
_CLOSELY_EVERY_S: Final = 5.0
"""How often run files are read for how far they are: of short looks the drives notice nothing."""
_FAILED: Final = ("failed",)
LEAD_NS: Final = 2 * NS_PER_S
LEAD_EACH_NS: Final = NS_PER_S // 10
"""From the moment that runs are told to the one they begin at: each writes it down before."""

Standing = Literal[
    "waiting", "starting", "held", "running", "left", "done", "failed", "refused", "reserve"
]
"""How a drive is; *reserve*: a spare that nobody needs."""


@dataclass
class Drive:
    """One drive: `share` of its run that is done, 0 to 1, `told` what it said of a failure."""

    order: Order
    standing: Standing = "waiting"
    share: float = 0.0
    ending: str = ""
    limits: str = ""
    told: str = ""
    began_s: float = 0.0
    took_s: float = 0.0
    """When its run was begun here, on the monotonic clock, and how long it took; 0 if not here."""
    is_here: bool = False
    """Whether its run file is in the fleet's own folder."""
    late_s: float | None = None
    """By how much it began late of the moment that all were to begin at, None of a run that
    did not hold.
    """
    clock_error_s: float = 0.0
    """By how much that may be wrong, as its host's clock was held against this one's."""
    is_collected: bool = False
    """Whether its collection has been tried."""
    was_begun: bool = False

    @property
    def is_active(self) -> bool:
        """Whether its run goes on, as far as is known."""
        return self.standing in ("starting", "held", "running")

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it here."""
        return self.standing in ("done", "failed", "refused")


Observer = Callable[["Conductor", Drive | None, str], None]
"""Told of each change: the fleet, the drive (None: a host, or all), and in a word what happened."""


@dataclass
class Conductor:
    """Carries a fleet out on its hosts. `folder` is where run files are collected.

    `reach` has the commands that lead to hosts which share the targets of others.
    """

    plan: Plan
    drives: Sequence[Drive]
    hosts: Mapping[str, Host]
    folder: Path
    observer: Observer
    stop: Event
    removes: bool = False
    overwrites: bool = False
    reach: Mapping[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    _last_begin_ns: dict[str, int] = field(default_factory=dict)
    _closely_s: dict[str, float] = field(default_factory=dict)
    _stopped: bool = False

    def __post_init__(self) -> None:
        """Take in which run files are here: of these nothing is asked or begun any more."""
        for drive in self.drives:
            path = self.folder / drive.order.run
            if path.exists():
                drive.is_here = True
                self._take_in_ended(drive, ended(path))

    def conduct(self) -> None:
        """Go on until every drive is done, or nothing more can be done here now."""
        while True:
            for name, host in self.hosts.items():
                self._turn(name, host)
            self._release()
            self.observer(self, None, "looked")
            if self.stop.is_set() and not self._stopped:
                self._stop_all()
            if not any(drive.is_active for drive in self._reachable()) and not self._may_begin():
                break
            # A fleet that is stopped waits for its runs, and its stop is heard already.
            time.sleep(_LOOK_EVERY_S) if self._stopped else self.stop.wait(_LOOK_EVERY_S)

    def look(self) -> None:
        """Take in how every drive is, and begin nothing."""
        for name, host in self.hosts.items():
            try:
                self._look(name, host)
            except HostLost as error:
                self.lost[name] = str(error)

    def of_host(self, name: str) -> list[Drive]:
        """Return the drives of a host."""
        return [drive for drive in self.drives if drive.order.host == name]

    def _reachable(self) -> Iterator[Drive]:
        return (drive for drive in self.drives if drive.order.host not in self.lost)

    def _may_begin(self) -> bool:
        if self.stop.is_set():
            return False
        return any(self._next(name) for name in self.hosts if name not in self.lost)

    def _turn(self, name: str, host: Host) -> None:
        if name in self.lost:
            return
        try:
            self._look(name, host)
            if not self.stop.is_set():
                self._begin(name, host)
            self._collect(name, host)
        except HostLost as error:
            self.lost[name] = str(error)
            self.observer(self, None, f"lost {name}")

    def _look(self, name: str, host: Host) -> None:
        asked = [drive for drive in self.of_host(name) if not drive.is_over]
        if not asked:
            return
        now_s = time.monotonic()
        # Those that are to begin together are waited for; else a person may wait for a share.
        closely = any(drive.order.hold and not drive.share for drive in asked)
        closely = closely or now_s >= self._closely_s.get(name, 0.0)
        if closely:
            self._closely_s[name] = now_s + _CLOSELY_EVERY_S
        answers = host.ask("look", [drive.order.run for drive in asked], closely)
        for drive, answer in zip(asked, answers, strict=True):
            self._take_in(drive, answer)

    def _take_in(self, drive: Drive, answer: Mapping[str, Any]) -> None:
        before = drive.standing
        drive.share = answer.get("share", drive.share)
        drive.told = answer.get("told") or drive.told
        match answer["state"]:
            case "sealed":
                self._take_in_ended(drive, answer)
                drive.took_s = time.monotonic() - drive.began_s if drive.was_begun else 0.0
            case "running" | "starting" | "held" as state:
                drive.standing = state
            case "left":
                drive.standing = "left"
            case "refused" if drive.was_begun:
                drive.standing = "refused"
            case _ if drive.order.is_spare and not drive.was_begun:
                drive.standing = "reserve"
            case _:
                drive.standing = "waiting"
        if drive.standing != before:
            self.observer(self, drive, drive.standing)

    @staticmethod
    def _take_in_ended(drive: Drive, answer: Mapping[str, Any]) -> None:
        drive.share, drive.ending = 1.0, answer["ending"]
        drive.limits, drive.late_s = answer.get("limits", ""), answer.get("late_s")
        drive.clock_error_s = answer.get("clock_error_s", 0.0)
        drive.standing = "failed" if drive.ending in _FAILED else "done"
        drive.told = drive.told or answer.get("trouble", "")

    def _begin(self, name: str, host: Host) -> None:
        while (drive := self._next(name)) is not None:
            now_ns = time.monotonic_ns()
            if now_ns - self._last_begin_ns.get(name, -self.plan.stagger_ns) < self.plan.stagger_ns:
                return
            self._last_begin_ns[name] = now_ns
            drive.was_begun = True
            try:
                reach = {each: self.reach[each] for each in drive.order.shared_by}
                order = drive.order.model_dump(mode="json")
                state = host.ask("begin", order, self.overwrites, reach)
            except TeijoError as error:
                drive.standing, drive.told = "refused", error.message
                self.observer(self, drive, drive.standing)
                continue
            drive.standing = "starting" if state != "sealed" else "done"
            drive.began_s = now_ns / NS_PER_S
            self.observer(self, drive, drive.standing)

    def _next(self, name: str) -> Drive | None:
        """Return the drive of a host that is to begin next; None where none is, or no room."""
        own = self.of_host(name)
        if self.plan.at_once and sum(drive.is_active for drive in own) >= self.plan.at_once:
            return None
        ready = [drive for drive in own if drive.standing in ("waiting", "left", "reserve")]
        ready = [drive for drive in ready if not drive.was_begun]
        for drive in ready:
            if not drive.order.is_spare or drive.standing == "left":
                return drive
        fallen = sum(drive.standing in ("failed", "refused") for drive in own)
        used = sum(drive.order.is_spare and (drive.was_begun or drive.is_over) for drive in own)
        return ready[0] if ready and used < fallen else None

    def _release(self) -> None:
        """Tell the runs that hold when to begin, once none of those that are to come is missing."""
        ready = [drive for drive in self._reachable() if drive.standing == "held"]
        missing = ("waiting", "starting")
        if not ready or any(drive.standing in missing for drive in self._reachable()):
            return
        clocks = {}
        for name in {drive.order.host for drive in ready}:
            try:
                clocks[name] = compared(self.hosts[name])
            except HostLost as error:
                self.lost[name] = str(error)
                return  # what is left is told at the next turn
        at_ns = time.time_ns() + LEAD_NS + LEAD_EACH_NS * len(ready)
        for drive in ready:
            host, clock = self.hosts[drive.order.host], clocks[drive.order.host]
            moment = (at_ns + clock.ahead_ns, clock.ahead_ns, clock.error_ns)
            try:
                host.ask("start", drive.order.run, *moment)
            except (HostLost, TeijoError) as error:
                self.troubles.append(f"{drive.order.name} was not told when to begin: {error}")

    def _collect(self, name: str, host: Host) -> None:
        for drive in self.of_host(name):
            if drive.is_collected or drive.standing not in ("done", "failed"):
                continue
            drive.is_collected = True
            try:
                if not drive.is_here:
                    collect(host, drive.order.run, self.folder)
                    drive.is_here = True
                if self.removes:
                    remove(host, drive.order.run, self.folder)
            except TeijoError as error:
                self.troubles.append(error.message)
                continue
            self.observer(self, drive, "collected")

    def _stop_all(self) -> None:
        self._stopped = True
        self.observer(self, None, "stopping")
        for name, host in self.hosts.items():
            if name in self.lost:
                continue
            try:
                for drive in self.of_host(name):
                    if drive.is_active:
                        host.ask("stop", drive.order.run)
            except HostLost as error:
                self.lost[name] = str(error)
