"""The one call by which a drive's own commands leave this program, and how a drive refuses.

A test puts a drive in memory in the place of `ioctl`; nothing else here knows of that.
"""

import fcntl


def ioctl(fd: int, request: int, argument: bytearray | int = 0) -> int:
    """Hand a request to the kernel's driver; it answers into `argument`.

    Raises:
        OSError: the driver refused it; the drive was not asked, or did not answer.
    """
    return fcntl.ioctl(fd, request, argument)


class CommandError(OSError):
    """The drive was asked and said no. What it said is in the subclass; `errno` is None."""

    def __init__(self, text: str) -> None:
        """Keep what the drive said where callers look for what the kernel said."""
        super().__init__(text)
        self.strerror = text


class NvmeError(CommandError):
    """The status of an NVMe command: code type and code as in the base specification."""

    def __init__(self, status: int) -> None:
        """Take the status field as the kernel hands it on: without its phase bit."""
        super().__init__(f"the drive answered status {status:#x}")
        self.status = status

    @property
    def code_type(self) -> int:
        """Status code type: 0 generic, 1 command specific, 2 media and data integrity."""
        return self.status >> 8 & 0x7

    @property
    def code(self) -> int:
        """Status code within its type."""
        return self.status & 0xFF
