"""Whether a claimed block device is still the one that was examined: a look that costs little."""

from teijo.device import kernel
from teijo.device.checks import Subject
from teijo.errors import DeviceError, IdentityError


def check_present(subject: Subject) -> None:
    """Make sure that the device under the descriptor is the one that was examined.

    Raises:
        teijo.errors.IdentityError: it is another one, or of another size.
        teijo.errors.DeviceError: it is gone.
    """
    was, name = subject.found, subject.found.identity.target
    size = check_there(subject)
    if size != was.geometry.capacity_bytes:
        raise IdentityError(
            f"{name} is {size} bytes large, and was {was.geometry.capacity_bytes}",
            remedy="Leave its size alone while it is measured, and run again.",
        )


def check_there(subject: Subject) -> int:
    """Make sure that the device is in its place, whatever its size; return that in bytes.

    Raises:
        teijo.errors.IdentityError: it is another one.
        teijo.errors.DeviceError: it is gone.
    """
    was, name = subject.found, subject.found.identity.target
    try:
        sequence = kernel.disk_sequence(subject.fd)
        size = kernel.capacity_bytes(subject.fd)
    except OSError as error:
        raise DeviceError(
            f"{name} is gone: {error.strerror}", remedy="Look at its cable and at dmesg."
        ) from error
    # An open descriptor outlives an unplugged drive; its size or its folder in sysfs does not.
    if size == 0 or not was.node.folder.exists():
        raise DeviceError(f"{name} is gone", remedy="Look at its cable and at dmesg.")
    if sequence != was.disk_sequence:
        raise IdentityError(
            f"Another device took the place of {name} (disk sequence {sequence}, "
            f"was {was.disk_sequence})",
            remedy="Put the first one back and run again.",
        )
    return size
