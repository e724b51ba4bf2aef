"""Many small files: how fast a directory creates, stats and deletes them."""

from dataclasses import replace
from typing import Annotated

from teijo import units
from teijo.methods.forms import YES_NO, Form, one_of, whole
from teijo.methods.knobs import Knob, meaning
from teijo.methods.operations import CONTENT_SIZE, Operations, PassSettings
from teijo.terms.work import FileOrder, Files

YES_OR_NO = Form(lambda text: YES_NO.parse(text) == "yes", lambda value: "yes" if value else "no")


class FilesSettings(PassSettings, frozen=True):
    """How many files, how large, and in which order."""

    count: Annotated[int, Knob(whole(1, units.MEGA), "count=10000")] = meaning(
        "how many files each pass creates", 1000
    )
    size_bytes: Annotated[int, Knob(CONTENT_SIZE, "size=4KiB")] = meaning(
        "how large each file is", units.kib(4)
    )
    fsync: Annotated[bool, Knob(YES_OR_NO, "fsync=yes")] = meaning(
        "whether each file is flushed once it is written", False
    )
    order: Annotated[FileOrder, Knob(one_of("sequential", "random"), "order=random")] = meaning(
        "in which order the files are created, looked at and deleted", "sequential"
    )

    def works(self) -> tuple[Files, ...]:
        """Return one pass: create all, stat all, delete all."""
        stat = Files(operation="stat", count=self.count, order=self.order)
        create = replace(stat, operation="create", size_bytes=self.size_bytes, fsync=self.fsync)
        return (create, stat, replace(stat, operation="delete"))


FILES = Operations("files", "Files", FilesSettings)
