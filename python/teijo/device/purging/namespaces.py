"""The namespaces of an NVMe drive: which a purge may reach, and what the kernel has of them here.

Detached ones hold data too. A namespace may have several nodes, one for each controller that leads
to it where the kernel does not join them to one.
"""

import struct
from dataclasses import dataclass

from teijo.device import serial
from teijo.device.checks import Subject
from teijo.device.commands import nvme
from teijo.device.kernel import read_text
from teijo.device.stack import disks
from teijo.errors import UnsafeError


@dataclass(frozen=True, kw_only=True)
class Namespaces:
    """All of a drive, by their numbers.

    `own` is the open one. `allocated` are all that exist, `attached` those of this controller.
    `nodes` are the kernel's names of each; `tokens` is what a person types after --destroy.
    """

    own: int
    allocated: tuple[int, ...]
    attached: tuple[int, ...]
    nodes: dict[int, tuple[str, ...]]
    tokens: dict[int, str]
    own_node: str

    @property
    def victims(self) -> tuple[str, ...]:
        """The serials of all of them, whoever tells of one."""
        return tuple(self.tokens[one] for one in sorted(self.tokens))

    @property
    def others(self) -> tuple[str, ...]:
        """The kernel's names of what is the drive's, beside the open node."""
        names = (name for one in sorted(self.nodes) for name in self.nodes[one])
        return tuple(name for name in names if name != self.own_node)

    @property
    def refusal(self) -> str:
        """Why nobody can tell whether all that is attached is unused; empty where it can."""
        unseen = [str(one) for one in self.attached if one not in self.nodes and one != self.own]
        if not unseen:
            return ""
        return f"whether its namespace {', '.join(unseen)} is in use cannot be seen here"


def namespaces_of(subject: Subject, found: nvme.Namespace) -> Namespaces:
    """Return what a drive and the kernel say; `found` is what its controller said before.

    Raises:
        OSError: the drive does not answer.
        teijo.errors.UnsafeError: who answers is another drive.
    """
    own_serial = subject.found.own_serial
    if found.controller_serial != own_serial:
        raise UnsafeError(
            f"The controller says it is {found.controller_serial!r}, the drive {own_serial!r}; "
            "nothing was sent",
            remedy="Look which drive this is: nvme list -v.",
        )
    raw = nvme.identify(subject.fd, structure=nvme.ACTIVE_LIST, number=0)
    attached = tuple(one for one in struct.unpack("<1024I", raw) if one)
    nodes = _nodes(subject)
    numbers = {found.number, *found.all_namespaces, *attached, *nodes}
    return Namespaces(
        own=found.number,
        allocated=found.all_namespaces,
        attached=attached,
        nodes=nodes,
        tokens={one: _token(subject, found.number, one) for one in numbers},
        own_node=subject.found.node.name,
    )


def _nodes(subject: Subject) -> dict[int, tuple[str, ...]]:
    own, found = subject.found.own_serial, dict[int, tuple[str, ...]]()
    for disk in disks(subject.roots):
        number = read_text(disk.folder / "nsid")
        if own and number.isdecimal() and serial.of_disk(disk.folder) == own:
            found[int(number)] = (*found.get(int(number), ()), disk.name)
    return found


def _token(subject: Subject, own: int, number: int) -> str:
    if number == own:
        return subject.found.token
    return f"{subject.found.own_serial}-ns{number}"
