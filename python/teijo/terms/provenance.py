"""Where a run's numbers are from, and which runs it belongs together with."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Literal

from teijo.terms.geometry import DeviceKind

Provenance = Literal["measured", "simulated", "imported"]
"""By this program on a real target, on a simulated device, or by another program."""


class GroupName(StrEnum):
    """What a run may be one of: runs that name the same one belong together."""

    CAMPAIGN = "campaign"
    FLEET = "fleet"
    HOST = "host"
    DRIVE = "drive"


GROUP_MEANINGS: Final[Mapping[GroupName, str]] = {
    GroupName.CAMPAIGN: "runs that answer one question together",
    GroupName.FLEET: "the hosts that run at the same time",
    GroupName.HOST: "the host of a fleet",
    GroupName.DRIVE: "the drive, under a name that outlasts its device node",
}

Group = Mapping[GroupName, str]
"""Which campaign, fleet, host and drive a run belongs to; a name that nobody gave is absent."""


def provenance_of(kind: DeviceKind) -> Provenance:
    """Return where the numbers of a run are from that this program made on such a device."""
    return "simulated" if kind == "simulated" else "measured"
