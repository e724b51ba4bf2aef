"""One target that several hosts have open: the claim is the conductor's, and so is the proof.

What no claim of this kernel can reach, another host, is kept to the same target by its content: a
block that was drawn and written here must be read there.
"""

import mmap
import os
import secrets
import stat
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from teijo.device.block import BlockMedium, open_block
from teijo.device.health.drive_log import LogReader
from teijo.device.health.tiers import AskedCounters, FreeCounters
from teijo.device.hook_consent import Hook
from teijo.device.medium import Medium
from teijo.device.not_opened import not_opened
from teijo.device.sessions import Engine
from teijo.device.standing import check_under_nothing
from teijo.device.target import BlockTarget, FileTarget, Target, parse_target
from teijo.device.watched import Moved, unwatched, watched
from teijo.document.phrase import say
from teijo.engine import open_descriptor
from teijo.engine.hosts import wire
from teijo.engine.hosts.party import Party, Sharing
from teijo.engine.hosts.session import HostsSession
from teijo.engine.plan import Layout
from teijo.engine.session import Session
from teijo.errors import DeviceError, PlanError, TargetError
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.purge import AUTO, PurgeResult
from teijo.terms.remark import Remark, RemarkKind

PROBES: Final = 16
"""Blocks that every host reads, to tell whether it is the same target."""
PROBE_BYTES: Final = 4096


class SharedMedium:
    """A medium that other hosts have open as well: what this kernel counts is not all of it."""

    def __init__(self, medium: Medium, hosts: int, *, write: bool) -> None:
        """Take over an open medium, which so many hosts have open."""
        self._medium = medium
        self._hosts = hosts
        self._is_proven = write
        self.identity: Identity = medium.identity
        self.geometry: Geometry = medium.geometry

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The open descriptors."""
        return self._medium.descriptors

    @property
    def layout(self) -> Layout:
        """How the address space lies over the descriptors."""
        return self._medium.layout

    def remarks(self) -> tuple[Remark, ...]:
        """Return the medium's own, that hosts shared it, and by what it is known to be one."""
        found = [*self._medium.remarks()]
        if self._hosts > 1:
            text = say(
                "{n} hosts at once, each with the whole threads and depth of a step", n=self._hosts
            )
            found.append(Remark(kind=RemarkKind.DEVIATION, text=text))
        if not self._is_proven:
            text = say(
                "that all hosts read one target is known by its size and {n} blocks alone", n=PROBES
            )
            found.append(Remark(kind=RemarkKind.CHECK_BLIND, text=text))
        return tuple(found)

    def free_counters(self) -> FreeCounters:
        """Return nothing: the kernel here counts nothing of what other hosts do."""
        return FreeCounters()

    def asked_counters(self) -> AskedCounters:
        """Ask the medium for its own counters, which are those of all hosts."""
        return self._medium.asked_counters()

    def log_reader(self) -> LogReader | None:
        """Return what reads the log of the medium."""
        return self._medium.log_reader()

    def purge(self, moved: Moved = unwatched, method: str = AUTO) -> PurgeResult | None:
        """Purge it from here; no host drives it meanwhile."""
        return self._medium.purge(moved, method)

    def check(self) -> None:
        """Make sure that it is still what was opened here."""
        self._medium.check()

    def release(self) -> None:
        """Give up the claim."""
        self._medium.release()

    def abandon(self) -> None:
        """Give up the claim, and remove what was made for it."""
        self._medium.abandon()


def check_can_be_shared(target: Target, engine: Engine, hook: Hook | None) -> str:
    """Make sure that several hosts can drive a target; return the path of it on all of them.

    Raises:
        PlanError: they cannot.
    """
    match target:
        case FileTarget(direct=False):
            raise PlanError(
                f"{target.text} goes through the memory of each host, which the others do not see",
                remedy="Leave direct=no away.",
            )
        case FileTarget() | BlockTarget():
            path = str(target.path.absolute())
        case _:
            raise PlanError(
                f"{target.text} cannot be shared by hosts: that is for one file or block device",
                remedy="Name one, or leave --host away.",
            )
    if engine != "native":
        raise PlanError(
            f"Engine {engine} drives a target from one host",
            remedy="Leave --engine or --host away.",
        )
    if hook is not None:
        raise PlanError(
            "A hook changes the target on one host, and the run has several",
            remedy="Leave the hook or --host away.",
        )
    return path


@dataclass(frozen=True, kw_only=True)
class Shared:
    """How a medium is shared: with a party that has met, by a target text and a consent."""

    party: Party
    text: str
    write: bool
    destroy: str
    silence_ns: int
    io_timeout_ns: int
    are_here: tuple[bool, ...]

    def opened(self, medium: Medium) -> tuple[Medium, Session]:
        """Return a claimed medium as all hosts have it open, and the session of all of them.

        Raises:
            TeijoError: a host cannot open it, or has another target there.
        """
        (descriptor,) = medium.descriptors
        capacity_bytes = medium.geometry.capacity_bytes
        proof = watched(
            lambda _moved: proved(descriptor, capacity_bytes, write=self.write),
            what=f"The proof of {self.text}",
            silence_ns=self.io_timeout_ns,
        )
        number = self.party.numbered()
        asks = [
            wire.Open(
                number=number,
                target=self.text,
                write=self.write,
                destroy=self.destroy,
                capacity_bytes=capacity_bytes,
                logical_block_bytes=medium.geometry.logical_block_bytes,
                probes=proof.probes,
                silence_ns=self.silence_ns,
                descriptor=descriptor if is_here else None,
            )
            for is_here in self.are_here
        ]
        told = self.party.answers(asks, number, wire.Opened, limit_ns=self.io_timeout_ns)
        for channel, (_, opened) in zip(self.party.channels, told, strict=True):
            _check_same(channel.name, self.text, proof, opened.digests)
        session = HostsSession(
            self.party,
            [opened.backend for _, opened in told],
            capacity_bytes=capacity_bytes,
            logical_block_bytes=medium.geometry.logical_block_bytes,
        )
        return SharedMedium(medium, len(self.are_here), write=self.write), session


def meet(sharing: Sharing, *, text: str, write: bool, destroy: str, io_timeout_ns: int) -> Shared:
    """Start the workers of a run, before anything is opened or written.

    Raises:
        HostError: a host cannot be reached, or has another Teijo.
    """
    return Shared(
        party=Party(sharing),
        text=text,
        write=write,
        destroy=destroy,
        silence_ns=sharing.silence_ns,
        io_timeout_ns=io_timeout_ns,
        are_here=tuple(guest.is_here for guest in sharing.guests),
    )


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Places of blocks, and the digest of what is there."""

    probes: tuple[int, ...]
    digests: tuple[str, ...]


def proved(descriptor: int, capacity_bytes: int, *, write: bool) -> Proof:
    """Return blocks by which a target is known; to be written, one of them is drawn and written.

    Raises:
        DeviceError: they cannot be read or written.
    """
    blocks = max(1, capacity_bytes // PROBE_BYTES)
    probes = tuple(secrets.randbelow(blocks) * PROBE_BYTES for _ in range(PROBES))
    try:
        if write:
            with closing(mmap.mmap(-1, PROBE_BYTES)) as block:
                block[:] = secrets.token_bytes(PROBE_BYTES)
                os.pwrite(descriptor, block, probes[0])
            os.fsync(descriptor)
        return Proof(probes=probes, digests=digests_at(descriptor, probes))
    except OSError as error:
        raise _unread(error) from error


def digests_at(descriptor: int, probes: Sequence[int]) -> tuple[str, ...]:
    """Return the digest of the block at each place."""
    found = []
    with closing(mmap.mmap(-1, PROBE_BYTES)) as block:
        for place in probes:
            got = os.preadv(descriptor, [block], place)
            found.append(sha256(block[:got]).hexdigest())
    return tuple(found)


def _check_same(name: str, text: str, proof: Proof, digests: tuple[str, ...]) -> None:
    """Make sure that a host read what is here.

    Raises:
        TargetError: it did not.
    """
    pairs = zip(proof.probes, proof.digests, digests, strict=False)
    odd = [place for place, here, there in pairs if here != there]
    if odd or len(digests) != len(proof.digests):
        where = odd[0] if odd else 0
        raise TargetError(
            f"{text} on host {name} is another target than here: the block at byte {where} differs",
            remedy="Mount the same storage at the same path on every host.",
        )


class JoinedTarget:
    """A target as a worker has it open."""

    def __init__(self, ask: wire.Open, descriptor: int, close: Callable[[], None]) -> None:
        """Take over an open descriptor, which `close` gives up.

        Raises:
            TargetError: it is smaller than the conductor's. DeviceError: it cannot be read.
        """
        self._close = close
        size_bytes = os.lseek(descriptor, 0, os.SEEK_END)
        if not ask.capacity_bytes <= size_bytes < ask.capacity_bytes + PROBE_BYTES:
            raise TargetError(
                f"{ask.target} holds {size_bytes} B here, and {ask.capacity_bytes} B on the host "
                "that conducts the run",
                remedy="Mount the same storage at the same path on every host.",
            )
        try:
            self.digests = digests_at(descriptor, ask.probes)
        except OSError as error:
            raise _unread(error) from error
        self.session = open_descriptor(
            descriptor,
            capacity_bytes=ask.capacity_bytes,
            logical_block_bytes=ask.logical_block_bytes,
        )

    def close(self) -> None:
        """End the session and give the target up."""
        self.session.close()
        self._close()


def join(ask: wire.Open) -> JoinedTarget:
    """Open what the conductor of a shared run names, as a worker.

    A block device passes its whole preflight here too, with the consent that the conductor was
    given. A file is locked by the conductor alone.

    Raises:
        UnsafeError: writing here could destroy something.
        TargetError: it is not there, or is another one than the conductor's.
        DeviceError: it refuses direct I/O.
    """
    if ask.descriptor is not None:
        # The very file that is claimed, whatever became of its name.
        path = Path(f"/proc/{os.getppid()}/fd/{ask.descriptor}")
        own = _open(path, write=ask.write)
        return _taken(ask, own, lambda: os.close(own))
    target = parse_target(ask.target, makes=False)
    match target:
        case FileTarget(direct=True):
            descriptor = _open_file(target, write=ask.write)
            return _taken(ask, descriptor, lambda: os.close(descriptor))
        case BlockTarget():
            medium: BlockMedium = open_block(target, write=ask.write, destroy=ask.destroy or None)
            return _taken(ask, medium.descriptors[0], medium.release)
        case _:
            raise TargetError(
                f"{ask.target} is no file or block device here",
                remedy="Mount the same storage at the same path on every host.",
            )


def _taken(ask: wire.Open, descriptor: int, close: Callable[[], None]) -> JoinedTarget:
    try:
        return JoinedTarget(ask, descriptor, close)
    except BaseException:
        with suppress(OSError):
            close()
        raise


def _open(path: Path, *, write: bool) -> int:
    try:
        return os.open(path, (os.O_RDWR if write else os.O_RDONLY) | os.O_DIRECT | os.O_CLOEXEC)
    except OSError as error:
        raise not_opened(
            path, error, remedy="Mount the same storage at the same path on every host."
        ) from error


def _open_file(target: FileTarget, *, write: bool) -> int:
    descriptor = _open(target.path, write=write)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise TargetError(
                f"{target.path} is not a regular file any more", remedy="Name a regular file."
            )
        if write:
            check_under_nothing(descriptor, target.path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _unread(error: OSError) -> DeviceError:
    return DeviceError(
        f"The target cannot be compared between hosts: {error.strerror}",
        remedy="Look at the kernel's log (dmesg) of each host.",
    )
