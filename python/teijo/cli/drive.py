"""What a drive says of itself, as `teijo device` and `teijo purge` print it."""

from typing import TYPE_CHECKING

from teijo.cli.sections import put_sections, put_table
from teijo.speech import drive_words

if TYPE_CHECKING:
    from teijo.device.drive.seen import Seen


def show_unfinished(seen: "Seen") -> None:
    """Print what must be ended before anything else, and what to type for it."""
    if seen.unfinished:
        put_table(drive_words.unfinished(seen))


def show_drive(seen: "Seen") -> None:
    """Print all that a drive says of itself, by topic; what it does not tell, with the reason."""
    put_sections(drive_words.sections(seen))
