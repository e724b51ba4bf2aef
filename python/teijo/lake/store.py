"""Where a lake lies: a folder of this machine, or a prefix on S3-compatible storage.

A file of a lake appears whole or not at all, and its name says what it holds. Nothing else that
lies there is looked at.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

from pyarrow import fs

from teijo import creating
from teijo.errors import HostError, UsageError
from teijo.lake import schema
from teijo.lake.schema import MARKER, TableName
from teijo.units import KIB

S3: Final = "s3://"
_TABLES: Final[tuple[TableName, ...]] = get_args(TableName)
_NAME: Final = re.compile(
    r"(?P<table>" + "|".join(_TABLES) + r")/method=(?P<method>[a-z0-9][a-z0-9._-]*)"
    r"/month=(?P<month>[0-9]{4}-[0-9]{2})/(?P<batch>[0-9a-f]{32})\.parquet"
)
_UNFINISHED: Final = re.compile(r"\.[0-9a-f]{32}\.parquet\.[0-9a-f]{8}")
_MARKER_MOST: Final = 64 * KIB
_LISTINGS_MOST: Final = 10
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""Variables that name another server than Amazon's, as its own tools read them."""


@dataclass(frozen=True)
class Partition:
    """The runs of one method that began in one month."""

    method: str
    month: str

    def name_of(self, table: TableName, batch: str) -> str:
        """Return the name of a table's file of a batch, from the lake's root."""
        return f"{table}/method={self.method}/month={self.month}/{batch}.parquet"


@dataclass(frozen=True)
class Batch:
    """What one writer wrote of one partition at once: a file in each table, or it does not count.

    `changed_ns` is when the first of its files was written, by the clock of the storage.
    """

    partition: Partition
    id: str
    tables: tuple[TableName, ...]
    size_bytes: int
    changed_ns: int

    @property
    def is_whole(self) -> bool:
        """Whether all that belongs to it is there."""
        return len(self.tables) == len(_TABLES)

    def names(self) -> Iterator[str]:
        """Yield the names of its files that are there, that of the runs first."""
        for table in self.tables:
            yield self.partition.name_of(table, self.id)


@dataclass(frozen=True)
class Store:
    """The files of a lake. `root` is a path of `files`; `place` is what a person calls it, and
    `given` what `store_at` makes the same of again.
    """

    place: str
    given: str
    root: str
    files: Any = field(repr=False)

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine."""
        return isinstance(self.files, fs.LocalFileSystem)

    def path(self, name: str) -> str:
        """Return the path of a file by its name in the lake."""
        return f"{self.root}/{name}"

    # --- the marker ---------------------------------------------------------------------------

    def check(self) -> None:
        """Make sure that there is a lake of this version.

        Raises:
            UsageError: there is none, or one of another version. HostError: it cannot be read.
        """
        data = self._marker()
        if data is None:
            raise UsageError(
                f"There is no lake {self.place}",
                remedy=f"Make it from run files: teijo lake add DIR --lake {self.place}",
            )
        schema.check_marker(data, self.place)

    def make(self, version: str) -> None:
        """Make the lake where there is none.

        Raises:
            UsageError: there is one of another version, or other files. HostError: it cannot be.
        """
        if self._marker() is None:
            if self._is_in_use():
                raise UsageError(
                    f"{self.place} is no lake, and there are other files in it",
                    remedy="Name a folder that is new or empty: --lake DIR",
                )
            with suppress(FileExistsError), self.writing(MARKER) as file:
                file.write(schema.marker(version))
        self.check()

    def _marker(self) -> bytes | None:
        try:
            info = self.files.get_file_info(self.path(MARKER))
            if info.type != fs.FileType.File:
                return None
            with self.files.open_input_stream(self.path(MARKER)) as file:
                found: bytes = file.read(_MARKER_MOST)
                return found
        except OSError as error:
            raise self._unreachable(error) from error

    def _is_in_use(self) -> bool:
        selector = fs.FileSelector(self.root, allow_not_found=True)
        try:
            return bool(self.files.get_file_info(selector))
        except OSError as error:
            raise self._unreachable(error) from error

    # --- batches ------------------------------------------------------------------------------

    def batches(self) -> list[Batch]:
        """Return every batch, those that are not whole among them, in the order of their names.

        Each run is in one of them at least, also while others compact the lake: a batch takes the
        place of another once it is whole, its file of runs is written last, and of the other that
        file is removed first. So what was listed amid that has its runs and not all of the rest.

        Raises:
            HostError: the place cannot be read.
        """
        torn: set[str] = set()
        for _ in range(_LISTINGS_MOST):
            found = self._batches()
            before, torn = (
                torn,
                {each.id for each in found if "runs" in each.tables and not each.is_whole},
            )
            # What is the same twice was not listed amid anything: somebody took a file away.
            if not torn - before:
                break
        return found

    def _batches(self) -> list[Batch]:
        found: dict[tuple[Partition, str], dict[TableName, tuple[int, int]]] = {}
        try:
            for name, size_bytes, changed_ns in self._listed():
                if (parts := _NAME.fullmatch(name)) is not None:
                    key = (Partition(parts["method"], parts["month"]), parts["batch"])
                    table: Any = parts["table"]
                    found.setdefault(key, {})[table] = (size_bytes, changed_ns)
        except OSError as error:
            raise self._unreachable(error) from error
        return [
            Batch(
                partition=partition,
                id=batch,
                tables=tuple(table for table in _TABLES if table in files),
                size_bytes=sum(size_bytes for size_bytes, _ in files.values()),
                changed_ns=min(changed_ns for _, changed_ns in files.values()),
            )
            for (partition, batch), files in sorted(found.items(), key=lambda each: _order(each[0]))
        ]

    def _listed(self) -> Iterator[tuple[str, int, int]]:
        # The runs before the others and after them: a folder that changes while it is listed may
        # show neither what comes nor what goes.
        for table in (*_TABLES, _TABLES[0]):
            if self.is_local:
                yield from _local(self.root, table)
                continue
            selector = fs.FileSelector(self.path(table), recursive=True, allow_not_found=True)
            for info in self.files.get_file_info(selector):
                if info.type == fs.FileType.File:
                    name = info.path[len(self.root) + 1 :]
                    yield name, info.size, info.mtime_ns or 0

    # --- writing ------------------------------------------------------------------------------

    @contextmanager
    def writing(self, name: str) -> Iterator[Any]:
        """Yield a file to write to, which has its name once it is whole.

        Raises:
            HostError: it cannot be written.
        """
        try:
            if self.is_local:
                with self._writing_here(Path(self.path(name))) as file:
                    yield file
                return
            # An object of S3 is there when its last part is.
            with self.files.open_output_stream(self.path(name)) as file:
                yield file
        except OSError as error:
            raise HostError(
                f"{self.place} cannot be written: {error.strerror or error}",
                remedy="See to the disk or the storage; what was added before is kept.",
            ) from error

    @contextmanager
    def _writing_here(self, path: Path) -> Iterator[Any]:
        for folder in reversed([each for each in path.parents if not each.is_dir()]):
            creating.make_folder(folder)
        beside = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
        file = os.fdopen(creating.create(beside), "wb")
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise
        _flush_folder(path.parent)

    def remove(self, batch: Batch) -> None:
        """Remove a batch; what has gone already is no error.

        Raises:
            HostError: it cannot be removed.
        """
        for name in batch.names():
            try:
                self.files.delete_file(self.path(name))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise self._unreachable(error) from error

    def remove_unfinished(self, before_ns: int) -> None:
        """Remove what a writer was killed at, of files that were written last before a moment.

        Raises:
            HostError: it cannot be removed.
        """
        if not self.is_local:
            return  # an upload that was not ended is no object
        try:
            for table in _TABLES:
                for name, _, changed_ns in _local(self.root, table):
                    if changed_ns < before_ns and _UNFINISHED.fullmatch(name.rpartition("/")[2]):
                        Path(self.path(name)).unlink(missing_ok=True)
        except OSError as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: OSError) -> HostError:
        return HostError(
            f"The lake {self.place} cannot be reached: {error.strerror or error}",
            remedy="Check its name, who may read it, and for s3:// AWS_ENDPOINT_URL and the keys.",
        )


def store_at(place: str | os.PathLike[str]) -> Store:
    """Return the place of a lake: a folder, or s3://BUCKET/PREFIX.

    Keys are where Amazon's own tools look for them; AWS_ENDPOINT_URL names another server.

    Raises:
        UsageError: it is no place of a lake. HostError: the storage cannot be reached.
    """
    text = os.fspath(place)
    if not text.startswith(S3):
        if "://" in text:
            raise UsageError(
                f"{text} is no place for a lake", remedy="Name a folder, or s3://BUCKET/PREFIX."
            )
        root = os.path.abspath(text)  # noqa: PTH100 — a link to the lake stays one
        return Store(text, root, root, fs.LocalFileSystem())
    try:
        found, root = fs.FileSystem.from_uri(_with_endpoint(text))
    except (OSError, ValueError) as error:
        raise _no_place(text, _first_line(error)) from error
    if not root.strip("/"):
        raise _no_place(text, "no bucket is named")
    return Store(text.partition("?")[0], text, root.rstrip("/"), found)


def _no_place(text: str, why: str) -> UsageError:
    return UsageError(
        f"{text} is no place for a lake: {why}",
        remedy="Write it as s3://BUCKET/PREFIX, and name the server in AWS_ENDPOINT_URL.",
    )


def _with_endpoint(uri: str) -> str:
    """Return a place on S3 with the server that the environment names, if it names none itself."""
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
    if not endpoint or "endpoint_override=" in uri:
        return uri
    scheme, apart, server = endpoint.rpartition("://")
    given = f"endpoint_override={server.rstrip('/')}" + (f"&scheme={scheme}" if apart else "")
    return f"{uri}{'&' if '?' in uri else '?'}{given}"


def _order(key: tuple[Partition, str]) -> tuple[str, str, str]:
    partition, batch = key
    return (partition.method, partition.month, batch)


def _local(root: str, folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield what lies below a folder; no link is followed."""
    try:
        entries = os.scandir(os.path.join(root, folder))  # noqa: PTH118
    except FileNotFoundError:  # no table yet, or removed meanwhile
        return
    with entries:
        for entry in entries:
            name = os.path.join(folder, entry.name)  # noqa: PTH118
            if entry.is_dir(follow_symlinks=False):
                yield from _local(root, name)
            elif entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    found = entry.stat(follow_symlinks=False)
                    yield name, found.st_size, found.st_mtime_ns


def _flush_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "").rstrip(".")
