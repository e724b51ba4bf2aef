"""One report of many drives: their run files read one by one, of each what the report needs."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from teijo.analysis.bottleneck import Bottlenecks
from teijo.api import reading
from teijo.compare.fleet.chosen import LeftOut, chosen_from
from teijo.compare.fleet.drive import Drive, drive_of
from teijo.compare.fleet.findings import Fleet
from teijo.compare.fleet.pages import pages
from teijo.compare.limit import limits_from
from teijo.document.model import Document
from teijo.document.phrase import Verbatim
from teijo.errors import TeijoError, host_error
from teijo.outside.file import Unreadable, read_text
from teijo.outside.text import visible
from teijo.runfile import reader
from teijo.runfile.places import places
from teijo.terms.bottleneck import FILE, FILE_BYTES_MOST, measured_from


def fleet_report(
    paths: Iterable[Path | str],
    *,
    fleet: str = "",
    limits: Iterable[str] = (),
    allow: Iterable[str] = (),
) -> Fleet:
    """Return what the runs of one fleet show together, sealed and open ones.

    A folder stands for the run files in it and below it. `fleet` names one of several fleets,
    `limits` are asked of each run beside its own, and `allow` names conditions that may differ.
    A file that cannot be read is left out, with the reason; so is what was not made alike.

    Raises:
        RunFileError: a path is no run file or folder. HostError: a folder cannot be read.
        PlanError: a limit is none.
        UsageError: there is no run, several fleets and none named, or a word allows nothing.
    """
    asked = limits_from(limits)
    named = [Path(path) for path in paths]
    drives: list[Drive] = []
    unreadable: list[LeftOut] = []
    for path in _files(named):
        looked = _look(path, asked)
        if isinstance(looked, Drive):
            drives.append(looked)
        else:
            unreadable.append(looked)
    sharing, other = _sharing(named)
    chosen = chosen_from(drives, fleet=fleet, allowed=allow, unreadable=(*unreadable, *other))
    return Fleet(
        chosen=chosen,
        sharing=tuple(each for each in sharing if each.measured.fleet == chosen.fleet),
    )


def fleet_document(fleet: Fleet) -> Document:
    """Return the report of a fleet."""
    return pages(fleet)


def _files(paths: Iterable[Path | str]) -> list[Path]:
    """Return every run file that is named or lies in a folder, each once."""
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        if _is_folder(path):
            several = [path / place for place in places(path, recursive=True)]
        else:
            # Of a run that goes on, the open file beside the name that it will have.
            several = [reader.locate(path)]
        for each in several:
            found.setdefault(each.resolve(), each)
    return list(found.values())


def _sharing(paths: Iterable[Path]) -> tuple[list[Bottlenecks], list[LeftOut]]:
    """Return what the folders have of drives that were read together, and what is none of it."""
    found: list[Bottlenecks] = []
    left_out: list[LeftOut] = []
    for folder in filter(_is_folder, paths):
        path = folder / FILE
        if not path.exists():
            continue
        try:
            measured = measured_from(read_text(path, most_bytes=FILE_BYTES_MOST))
            why = "" if measured else "it is no measurement of drives that were read together"
        except Unreadable as error:
            measured, why = None, str(error)
        if measured is None:
            left_out.append(LeftOut(file=visible(str(path)), drive="", why=why))
        else:
            found.append(Bottlenecks(measured))
    return found, left_out


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name too long, a folder that may not be entered
        return False


def _look(path: Path, limits: tuple[str, ...]) -> Drive | LeftOut:
    """Return what a fleet's report needs of a run file, or why nothing can be told of it."""
    shown = visible(str(path))
    try:
        run = reading.open(path)
        with reading.of_a_file(run.record):
            drive = drive_of(run.record, shown, limits)
        # Its path may be another than was named: the open file beside a name without its ending.
        return replace(drive, file=Verbatim(visible(str(run.path))))
    except TeijoError as error:
        why = error.message
    except (OSError, MemoryError) as error:
        why = host_error(error).message
    return LeftOut(file=shown, drive="", why=why.splitlines()[0], unreadable=True)
