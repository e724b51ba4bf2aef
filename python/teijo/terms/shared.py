"""Who shared a run's target: its hosts as they were found, and each one's part of every step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from teijo.units import MEGA

FACT: Final = "hosts"
"""The name of the hosts among the facts of a run's environment."""
DETAIL: Final = "hosts"
"""The name of their parts in a step's detail."""
HERE: Final = "here"
"""The name of the host that a run is conducted from."""
HOSTS_MOST: Final = 64
LONGEST: Final = MEGA
"""Characters of either in a run file; the part of a host has some 300."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Told = Annotated[str, StringConstraints(max_length=200)]
Count = Annotated[int, Field(ge=0, lt=1 << 63)]
Signed = Annotated[int, Field(gt=-(1 << 63), lt=1 << 63)]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SharingHost:
    """One host as it was when the run began; `name` is a person's, `host` its own.

    Its wall clock was `ahead_ns` ahead of the conductor's, which is wrong by `error_ns` at most.
    """

    name: Name
    host: Told
    kernel: Told
    cpus: Count
    teijo: Told
    build: Told
    backend: Told
    ahead_ns: Signed
    error_ns: Count


@dataclass(frozen=True, kw_only=True)
class Tail:
    """One operation of one stream on one host: its I/Os, and the latency 99.9 % of them kept."""

    stream: Told
    operation: Told
    count: Count
    p999_ns: Count


@dataclass(frozen=True, kw_only=True)
class HostPart:
    """What one host did of a step. It began `began_ns` after the first of the hosts.

    That is wrong by `error_ns` at most on each side: so surely were the clocks compared.
    """

    name: Name
    began_ns: Count
    error_ns: Count
    elapsed_ns: Count
    ios: Count
    bytes: Count
    errors: Count
    tails: tuple[Tail, ...]

    @property
    def p999_ns(self) -> int:
        """The longest of its operations' 99.9th percentiles, 0 of none."""
        return max((each.p999_ns for each in self.tails), default=0)


_HOSTS: TypeAdapter[tuple[SharingHost, ...]] = TypeAdapter(
    Annotated[tuple[SharingHost, ...], Field(max_length=HOSTS_MOST)]
)
_PARTS: TypeAdapter[tuple[HostPart, ...]] = TypeAdapter(
    Annotated[tuple[HostPart, ...], Field(max_length=HOSTS_MOST)]
)


def hosts_to_json(hosts: tuple[SharingHost, ...]) -> str:
    """Return the hosts as a run file keeps them."""
    return _HOSTS.dump_json(hosts).decode()


def hosts_in(environment: Mapping[str, str]) -> tuple[SharingHost, ...]:
    """Return the hosts among the facts of a run; none where there are none that can be read."""
    return _read(_HOSTS, environment.get(FACT, ""))


def options_in(environment: Mapping[str, str]) -> str:
    """Return what must be typed for a run to go on with its hosts; nothing of a run from one."""
    names = [host.name for host in hosts_in(environment)]
    return "".join(f" --host {name}" + ("" if name == HERE else "=COMMAND") for name in names)


def parts_to_json(parts: tuple[HostPart, ...]) -> str:
    """Return the parts of a step as a run file keeps them."""
    return _PARTS.dump_json(parts).decode()


def parts_in(detail: Mapping[str, str]) -> tuple[HostPart, ...]:
    """Return each host's part of a step; none where there are none that can be read."""
    return _read(_PARTS, detail.get(DETAIL, ""))


def hosts_at(detail: Mapping[str, str]) -> int:
    """Return how many hosts carried out a step, each with the whole threads × queue depth."""
    return max(1, len(parts_in(detail)))


def _read(adapter: TypeAdapter[tuple[T, ...]], text: str) -> tuple[T, ...]:
    if not text or len(text) > LONGEST:
        return ()
    try:
        return adapter.validate_json(text)
    except ValidationError:
        return ()
