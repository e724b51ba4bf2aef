"""A real device: a claimed medium with a session on it, in real time."""

import time

from teijo.device.medium import Medium
from teijo.device.sessions import Engine, open_session
from teijo.engine.session import Session
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Health
from teijo.units import NS_PER_S


class RealDevice:
    """One open target of whatever medium. The same steps give other answers each time."""

    replayable = False

    def __init__(self, medium: Medium, session: Session) -> None:
        """Take over a claimed medium and the session on it."""
        self._medium = medium
        self._claimed: tuple[Remark, ...] = ()
        self.identity: Identity = medium.identity
        self.geometry: Geometry = medium.geometry
        self.session = session

    def remarks(self) -> tuple[Remark, ...]:
        """Return the medium's remarks, and after a purge by discard that it is only claimed."""
        return (*self._medium.remarks(), *self._claimed)

    def health(self) -> Health:
        """Return the medium's counters."""
        return self._medium.health()

    def purge(self) -> str | None:
        """Purge by the surest means there is; see purge.py."""
        done = self._medium.purge()
        if done is None:
            return None
        if done.claimed:
            self._claimed = (Remark(kind=RemarkKind.PURGE_CLAIMED, text=done.method),)
        return done.method

    def idle(self, duration_ns: int) -> None:
        """Let the device rest."""
        time.sleep(duration_ns / NS_PER_S)

    def check(self) -> None:
        """Make sure that it is still what was opened."""
        self._medium.check()

    def close(self) -> None:
        """End the session and give up the claim."""
        try:
            self.session.close()
        finally:
            self._medium.release()


def device_on(medium: Medium, *, engine: Engine) -> RealDevice:
    """Return a medium as a device; where no session can be opened on it, it is given back.

    Raises:
        teijo.errors.HostError: the engine is not installed.
        teijo.errors.DeviceError: it cannot drive this medium.
        teijo.errors.PlanError: it cannot drive several at once.
    """
    try:
        session = open_session(
            medium.descriptors, medium.geometry, layout=medium.layout, engine=engine
        )
    except BaseException:
        medium.abandon()
        raise
    return RealDevice(medium, session)
