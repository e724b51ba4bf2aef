"""A drive's volatile write cache by the drive's own word: read, switched, and set back.

The kernel's flag (`queue/write_cache`) decides only whether it sends flushes. It is stale after
MODE SELECT or SET FEATURES behind a host adapter, and anybody may write into it, so it is quoted
where the drive says nothing, and named where the two disagree. Nothing is saved in the drive: a
power cycle brings its own setting back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from teijo.device.commands import ata, nvme, scsi
from teijo.device.kernel import read_text
from teijo.device.stack import Node
from teijo.errors import DeviceError

State = Literal["enabled", "disabled"]
KERNEL: Final = "queue/write_cache"
READ_BY: Final = "write cache read by"
KERNEL_BELIEVES: Final = "write cache by the kernel"
CACHE_FACTS: Final = (READ_BY, KERNEL_BELIEVES)
CACHING_PAGE: Final = 0x08
SET_FEATURES: Final = 0xEF
ENABLE, DISABLE = 0x02, 0x82
NVME_SAYS: Final = "NVMe Get Features 06h"
NVME_HAS_NONE: Final = "NVMe Identify Controller: it has none"
ATA_SAYS: Final = "ATA IDENTIFY DEVICE word 85"
SCSI_SAYS: Final = "SCSI caching mode page"
_WCE: Final = 0x04
"""The bit of the caching mode page's byte 2 (SBC)."""
_ATA_CACHE: Final = 1 << 5
"""The bit of word 82 (has one) and 85 (is on) of IDENTIFY DEVICE (ACS)."""
_KERNEL_STATES: Final[dict[str, State]] = {"write back": "enabled", "write through": "disabled"}


@dataclass(frozen=True, kw_only=True)
class WriteCache:
    """What is known of a write cache.

    `state` is as a report prints it: "enabled" or "disabled" by the drive, else the kernel's
    words, empty where nobody knows. `read_by` is who was asked, `kernel` the kernel's flag,
    `switches` whether the drive itself has one to switch.
    """

    state: str
    read_by: str
    kernel: str = ""
    switches: bool = False

    @property
    def facts(self) -> dict[str, str]:
        """What a run file keeps of it beside the state."""
        told = zip(CACHE_FACTS, (self.read_by, self.disagreement), strict=True)
        return {name: text for name, text in told if text}

    @property
    def disagreement(self) -> str:
        """What the kernel believes, where the drive says something else; empty elsewhere."""
        believed = _KERNEL_STATES.get(self.kernel)
        if self.read_by in ("", KERNEL) or believed is None or believed == self.state:
            return ""
        return self.kernel


def write_cache(fd: int, disk: Node) -> WriteCache:
    """Return the state of a disk's write cache, and who was asked. The kernel is asked last."""
    kernel = read_text(disk.folder / "queue" / "write_cache")
    for ask in _askers(disk):
        try:
            state, read_by, switches = ask(fd)
        except OSError:
            continue
        return WriteCache(state=state, read_by=read_by, kernel=kernel, switches=switches)
    return WriteCache(state=kernel, read_by=KERNEL if kernel else "", kernel=kernel)


def switch(fd: int, disk: Node, state: State, target: str) -> WriteCache:
    """Switch a drive's write cache on or off, read it back, and return what it says.

    Raises:
        teijo.errors.DeviceError: it has none to switch, refused, or did not take it.
    """
    found = write_cache(fd, disk)
    if found.state == state:
        return found
    if not found.switches:
        raise DeviceError(
            f"The write cache of {target} cannot be switched: {_why_not(found)}.",
            remedy="Leave it as it is: --set cache=leave.",
        )
    try:
        _tell(fd, found.read_by, state)
    except OSError as error:
        raise DeviceError(
            f"{target} refused to have its write cache {state}: {error.strerror or error}.",
            remedy="Leave it as it is: --set cache=leave.",
        ) from error
    now = write_cache(fd, disk)
    if now.state != state or now.read_by != found.read_by:
        raise DeviceError(
            f"{target} was told to have its write cache {state}, answered without error, and says "
            f"that it is {now.state or 'not known'} ({now.read_by or 'nobody tells'}).",
            remedy="Leave it as it is: --set cache=leave; the ledger then says what it was.",
        )
    return now


def _why_not(found: WriteCache) -> str:
    if not found.state:
        return "nobody tells its state"
    if found.read_by == KERNEL:
        return "no drive behind it answers, and the kernel's flag switches nothing"
    return "the drive has none"


def _askers(disk: Node) -> tuple[Callable[[int], tuple[str, str, bool]], ...]:
    """Return who is asked for state, source and whether it can be switched, the best first."""
    if disk.name.startswith("nvme"):
        return (_of_nvme,)
    if not disk.name.startswith("sd"):
        return ()
    # A SAT layer calls every maker "ATA". Where it passes no ATA commands, it has the mode page.
    is_ata = read_text(disk.folder / "device" / "vendor") == "ATA"
    return (_of_ata, _of_scsi) if is_ata else (_of_scsi,)


def _of_nvme(fd: int) -> tuple[str, str, bool]:
    try:
        return _word(nvme.write_cache_enabled(fd)), NVME_SAYS, True
    except OSError:
        if nvme.has_write_cache(fd):
            raise
        return "disabled", NVME_HAS_NONE, False


def _of_ata(fd: int) -> tuple[str, str, bool]:
    identity = ata.identify(fd)
    if len(identity) < ata.SECTOR_BYTES:
        raise OSError("IDENTIFY DEVICE came back cut short")
    has_one = bool(ata.word(identity, 82) & _ATA_CACHE)
    return _word(bool(ata.word(identity, 85) & _ATA_CACHE)), ATA_SAYS, has_one


def _of_scsi(fd: int) -> tuple[str, str, bool]:
    page = scsi.mode_page(fd, CACHING_PAGE)
    if len(page) < 3:
        raise OSError("the caching mode page came back cut short")
    return _word(bool(page[2] & _WCE)), SCSI_SAYS, True


def _tell(fd: int, read_by: str, state: State) -> None:
    """Switch it by the command set that it was read by.

    Raises:
        OSError: the drive refused.
    """
    on = state == "enabled"
    if read_by == NVME_SAYS:
        nvme.set_feature(fd, nvme.VOLATILE_WRITE_CACHE, int(on))
    elif read_by == ATA_SAYS:
        ata.execute(fd, SET_FEATURES, feature=ENABLE if on else DISABLE)
    else:
        page = bytearray(scsi.mode_page(fd, CACHING_PAGE))
        page[2] = page[2] | _WCE if on else page[2] & ~_WCE
        scsi.set_mode_page(fd, bytes(page))


def _word(is_on: bool) -> State:
    return "enabled" if is_on else "disabled"
