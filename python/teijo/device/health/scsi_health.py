"""All that a SCSI drive tells of its health: the log pages that it lists, one by one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from teijo.device.commands import scsi, seam
from teijo.device.drive.asked import Asked
from teijo.device.health import scsi_pages, self_tests
from teijo.device.health.raw import Unreadable
from teijo.device.health.scsi_pages import Page
from teijo.device.health.self_tests import SelfTests

Told = TypeVar("Told")
PAGES: Final = {
    "exception": scsi_pages.EXCEPTIONS,
    "temperature": scsi_pages.TEMPERATURE,
    "write_errors": scsi_pages.WRITES,
    "read_errors": scsi_pages.READS,
    "verify_errors": scsi_pages.VERIFIES,
    "non_medium_errors": scsi_pages.OTHER_ERRORS,
    "endurance": scsi_pages.SOLID_STATE,
    "background_scan": scsi_pages.BACKGROUND_SCAN,
    "start_stop": scsi_pages.START_STOP,
    "self_tests": scsi_pages.SELF_TEST,
    "performance": scsi_pages.PERFORMANCE,
}
SOURCES: Final = {name: f"SCSI log page {page:02X}h" for name, page in PAGES.items()}
Numbers = Mapping[str, int]


@dataclass(kw_only=True)
class ScsiHealth:
    """Each page as its fields by name; None is not told, and `Asked.not_told` says why."""

    exception: Numbers | None = None
    temperature: Numbers | None = None
    write_errors: Numbers | None = None
    read_errors: Numbers | None = None
    verify_errors: Numbers | None = None
    non_medium_errors: Numbers | None = None
    endurance: Numbers | None = None
    background_scan: Numbers | None = None
    start_stop: Numbers | None = None
    self_tests: SelfTests | None = None
    performance: Numbers | None = None


def ask(fd: int, asked: Asked, health: ScsiHealth) -> None:
    """Ask for each page that the drive lists, and put each answer in its place as it comes."""
    listed = asked.of("pages", partial(_listed, fd))
    for name, page in PAGES.items():
        if listed is not None and page not in listed:
            asked.not_told[name] = "the drive does not list this page"
            continue
        setattr(health, name, asked.of(name, partial(_told, fd, name, page)))


def _listed(fd: int) -> frozenset[int]:
    """Return the pages that the drive says it has (page 00h).

    Raises:
        OSError: it has no such list.
    """
    found = _said(partial(scsi.log_list, fd))()
    if not found:
        raise Unreadable("the drive's list of log pages is empty")
    return frozenset(found)


def _told(fd: int, name: str, number: int) -> object:
    page: Page = _said(partial(scsi.log_parameters, fd, number))()
    told = _DECODED[name](page)
    if told == {}:
        raise Unreadable("the page is empty")
    return told


def _said(question: Callable[[], Told]) -> Callable[[], Told]:
    """Return a question whose refusal says in words that it is one."""

    def asked() -> Told:
        try:
            return question()
        except scsi.ScsiError as error:
            raise seam.CommandError(f"the drive refuses it (sense {error.sense.text})") from error

    return asked


def _temperature(page: Page) -> dict[str, int]:
    told = {
        "now_celsius": scsi_pages.celsius(page),
        "reference_celsius": scsi_pages.celsius(page, 1),
    }
    return {name: value for name, value in told.items() if value is not None}


def _exception(page: Page) -> dict[str, int]:
    told = scsi_pages.exception(page)
    return {} if told is None else {"code": told[0], "qualifier": told[1]}


def _endurance(page: Page) -> dict[str, int]:
    used = scsi_pages.endurance_used(page)
    return {} if used is None else {"percentage_used": used}


def _others(page: Page) -> dict[str, int]:
    count = scsi_pages.counter(page, 0)
    return {} if count is None else {"errors": count}


_DECODED: Final[Mapping[str, Callable[[Page], object]]] = {
    "exception": _exception,
    "temperature": _temperature,
    "write_errors": scsi_pages.error_counters,
    "read_errors": scsi_pages.error_counters,
    "verify_errors": scsi_pages.error_counters,
    "non_medium_errors": _others,
    "endurance": _endurance,
    "background_scan": scsi_pages.background_scan,
    "start_stop": scsi_pages.start_stop,
    "self_tests": self_tests.of_scsi,
    "performance": scsi_pages.performance,
}
