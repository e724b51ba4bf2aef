"""Many small files: how fast a directory creates, stats and deletes them."""

from typing import Annotated

from teijo import units
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.operations import Operations, PassSettings, content_size
from teijo.terms.work import FileOrder, Files


class FilesSettings(PassSettings, frozen=True):
    """How many files, how large, and in which order."""

    count: Annotated[
        int,
        Knob(
            key="count",
            meaning="how many files each pass creates",
            example="10000",
            parse=knobs.whole_number(1, units.MEGA),
        ),
    ] = 1000
    size_bytes: Annotated[
        int,
        Knob(
            key="size",
            meaning="how large each file is",
            example="4KiB",
            parse=content_size,
            show=knobs.show_size,
        ),
    ] = units.kib(4)
    fsync: Annotated[
        bool,
        Knob(
            key="fsync",
            meaning="whether each file is flushed once it is written",
            example="yes",
            parse=lambda text: knobs.one_of("yes", "no")(text) == "yes",
            show=lambda value: "yes" if value else "no",
        ),
    ] = False
    order: Annotated[
        FileOrder,
        Knob(
            key="order",
            meaning="in which order the files are created, looked at and deleted",
            example="random",
            parse=knobs.one_of("sequential", "random"),
        ),
    ] = "sequential"

    def works(self) -> tuple[Files, ...]:
        """Return one pass: create all, stat all, delete all."""
        create = Files(
            operation="create",
            count=self.count,
            size_bytes=self.size_bytes,
            fsync=self.fsync,
            order=self.order,
        )
        return (
            create,
            Files(operation="stat", count=self.count, order=self.order),
            Files(operation="delete", count=self.count, order=self.order),
        )


FILES = Operations("files", "Files", FilesSettings)
