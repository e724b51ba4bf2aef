"""A real device: a claimed medium with a session on it, in real time."""

import time
from collections.abc import Callable
from functools import partial

from teijo.device.device import Configured
from teijo.device.health.drive_log import LogReader
from teijo.device.health.tiers import AskedCounters, FreeCounters
from teijo.device.hook import run_hook
from teijo.device.hook_consent import Hook
from teijo.device.layout import unwritten_bytes
from teijo.device.medium import Medium
from teijo.device.release import open_place, wait_until_free
from teijo.device.retry import rest
from teijo.device.sessions import Engine, open_session
from teijo.device.shared import Shared
from teijo.device.watched import SILENCE_NS, Progress, watched
from teijo.engine.session import Session
from teijo.errors import HostError, IdentityError, PlanError, TargetError, UnsafeError
from teijo.terms.configured import detail_of
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.purge import AUTO, PurgeResult
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.step import Configure


class RealDevice:
    """One open target of whatever medium. The same steps give other answers each time."""

    replayable = False

    def __init__(
        self,
        medium: Medium,
        session: Session,
        again: Callable[[], "RealDevice"],
        place: str,
        hook: Hook | None,
    ) -> None:
        """Take over a claimed medium and the session on it.

        `again` opens the same target once more, with the same consent; `place` is its path, or
        its text where it is several; `hook` is the only one that may configure it.
        """
        self._hook = hook
        self._again = again
        self._place = place
        self._held = True
        self._take(medium, session)

    def _take(self, medium: Medium, session: Session) -> None:
        self._medium = medium
        self._claimed: tuple[Remark, ...] = ()
        self.identity: Identity = medium.identity
        self.geometry: Geometry = medium.geometry
        self.session = session

    def remarks(self) -> tuple[Remark, ...]:
        """Return the medium's remarks, and after a purge by discard that it is only claimed."""
        return (*self._medium.remarks(), *self._claimed)

    def free_counters(self) -> FreeCounters:
        """Return the kernel's counters of the medium."""
        return self._medium.free_counters()

    def asked_counters(self) -> AskedCounters:
        """Ask the medium for its own counters."""
        return self._medium.asked_counters()

    def log_reader(self) -> LogReader | None:
        """Return what reads the log of the medium."""
        return self._medium.log_reader()

    def counts(self) -> dict[str, int]:
        """Return nothing: a real device tells its health, and no more."""
        return {}

    def unwritten_bytes(self) -> int | None:
        """Return how much of the files was never written; None where one of them does not tell."""
        medium = self._medium
        sizes = zip(medium.descriptors, medium.layout.member_bytes, strict=True)
        found = [unwritten_bytes(descriptor, size) for descriptor, size in sizes]
        known = [each for each in found if each is not None]
        return sum(known) if len(known) == len(found) else None

    def purge(
        self,
        method: str = AUTO,
        silence_ns: int = SILENCE_NS,
        *,
        progress: Progress | None = None,
    ) -> PurgeResult | None:
        """Purge by this method; see purging/ladder.py. Signals are heard meanwhile."""
        done = watched(
            partial(self._medium.purge, method=method),
            what=f"The purge of {self._place}",
            silence_ns=silence_ns,
            progress=progress,
        )
        if done is not None and done.claimed:
            self._claimed = (Remark(kind=RemarkKind.PURGE_CLAIMED, text=done.text),)
        return done

    def idle(self, duration_ns: int, look: Callable[[], None]) -> None:
        """Let the device rest; the program looks up from time to time."""
        rest(duration_ns, look)

    def configure(self, step: Configure) -> Configured:
        """Give up the claim, let the hook work, and claim the same device with the same consent.

        Raises:
            teijo.errors.PlanError: the step asks for a simulated device.
            teijo.errors.UnsafeError: the hook is none that was consented to; it was not run.
            teijo.errors.HostError: the hook changed or failed, or the target cannot be opened
                after it.
            teijo.errors.IdentityError: it is another device after it.
        """
        if step.device:
            raise PlanError(
                f"{step.device} cannot take the place of {self._place}, which is a real target.",
                remedy="Give the plan a hook, or run it on a simulated device.",
            )
        began_ns = time.monotonic_ns()
        # The names of what is open are asked of the descriptors, before these are closed.
        was, places = self.identity, [open_place(fd) for fd in self._medium.descriptors]
        self.close()
        # The kernel lets go of a ring's files later, and the hook must find its target free.
        for place in places:
            wait_until_free(place)
        told = run_hook(step, self._place, self._hook) if step.hook else {}
        try:
            opened = self._again()
        except (TargetError, UnsafeError) as error:
            # Exit code 6, not 3: the hook's doing is mended, and the run goes on (docs/safety.md).
            raise HostError(
                f"After it was configured ({step.text}) {self._place} could not be opened again: "
                f"{error.message}",
                remedy=error.remedy or "Mend the hook and resume the run.",
            ) from error
        self._take(opened._medium, opened.session)
        self._held = True
        _check_same(was, self.identity, step)
        detail = detail_of(self.identity, self.geometry) | told
        return Configured(detail=detail, elapsed_ns=time.monotonic_ns() - began_ns)

    def check(self) -> None:
        """Make sure that it is still what was opened."""
        self._medium.check()

    def close(self) -> None:
        """End the session and give up the claim, if that was not done before."""
        if not self._held:
            return
        self._held = False
        try:
            self.session.close()
        finally:
            self._medium.release()


def _check_same(was: Identity, now: Identity, step: Configure) -> None:
    """Make sure that a hook left the device in its place: its names, not its size or layout."""
    names = ["kind", "serial", "wwid", "model"] if was.kind == "block" else ["kind", "target"]
    pairs = [(name, getattr(was, name), getattr(now, name)) for name in names]
    differing = [f"{name}: {old!r} before, {new!r} now" for name, old, new in pairs if old != new]
    if differing:
        raise IdentityError(
            f"{now.target} is another device after it was configured ({step.text}; "
            f"{'; '.join(differing)}).",
            remedy="A hook may change a device's settings, not put another in its place.",
        )


def device_on(
    open_medium: Callable[[], Medium],
    open_again: Callable[[], Medium],
    *,
    engine: Engine,
    place: str,
    hook: Hook | None,
    shared: Shared | None = None,
) -> RealDevice:
    """Return a medium as a device; where no session can be opened on it, it is given back.

    `open_again` opens it after it was configured, `shared` on all of its hosts.

    Raises:
        teijo.errors.HostError: the engine is not installed.
        teijo.errors.DeviceError: it cannot drive this medium.
        teijo.errors.PlanError: it cannot drive several at once.
    """
    medium = open_medium()
    try:
        if shared is not None:
            medium, session = shared.opened(medium)
        else:
            session = open_session(
                medium.descriptors, medium.geometry, layout=medium.layout, engine=engine
            )
    except BaseException:
        medium.abandon()
        raise
    again = partial(device_on, open_again, open_again, engine=engine, place=place, hook=hook)
    return RealDevice(medium, session, again, place, hook)
