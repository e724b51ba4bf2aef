"""Arguments and options that several verbs share, and what their text means."""

import re
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from teijo.errors import PlanError, UsageError
from teijo.outside.secret import parted
from teijo.units import GIGA, KILO, MEGA, NS_PER_S, TERA

if TYPE_CHECKING:
    from teijo.engine.hosts.party import Sharing
    from teijo.runner.paper import Rates

STDOUT = "-"
"""The name of a folder or a file that means stdout."""
IOPS_MOST = TERA
_THOUSANDS = {"": 1, "k": KILO, "M": MEGA}
PRINTERS = ("html", "pdf", "text", "csv")


class Engine(StrEnum):
    """Who makes the I/O."""

    NATIVE = "native"
    FIO = "fio"


class Lang(StrEnum):
    """The languages of a report."""

    EN = "en"
    JA = "ja"


class ProgressMode(StrEnum):
    """How a run shows its progress, on stderr."""

    RICH = "rich"
    PLAIN = "plain"
    NDJSON = "ndjson"
    NONE = "none"


Method = Annotated[
    str, typer.Argument(metavar="METHOD", help="A method's name; see `teijo methods`.")
]
Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="/dev/disk/by-id/…, a file (drive.img?size=8GiB), sim:NAME?key=value, or several: "
        "concat:A,B or stripe?chunk=64KiB:A,B.",
    ),
]
MoreSettings = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="More settings, as after --set; for run also more targets, measured at the same time.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may stand many times."),
]
Spec = Annotated[
    str,
    typer.Option("--spec", metavar="VERSION", help="The version of the standard: 2.0.2-client …"),
]
Plan = Annotated[
    Path | None,
    typer.Option(
        "--plan", metavar="FILE", help="A study's plan, in TOML; --set changes single settings."
    ),
]
Destroy = Annotated[
    str | None,
    typer.Option(
        "--destroy",
        metavar="SERIAL",
        help="Consent to lose all data on the block device with this serial number; S1,S2 for "
        "a target of several.",
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Consent to overwrite an existing file given as TARGET, and, to resume, to make it "
        "anew where it is gone.",
    ),
]
Hook = Annotated[
    str | None,
    typer.Option(
        "--hook",
        metavar="SHA256",
        help="Consent to run the hook with this digest; `teijo preview` and `teijo resume` show "
        "command and digest.",
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="Consent to send the password in TEIJO_SQL_PASSWORD to this server, which the run "
        "file names.",
    ),
]
AcceptWarning = Annotated[
    list[str] | None,
    typer.Option(
        "--accept-warning",
        metavar="NAME",
        help="Measure a drive that says this against itself: reliability-degraded, read-only; may "
        "stand many times.",
    ),
]
MaxDriveWrites = Annotated[
    float | None,
    typer.Option(
        "--max-drive-writes",
        metavar="N",
        help="Write the device at most N times over: refused if more is expected, and stopped "
        "before more is written.",
    ),
]
IoTimeout = Annotated[
    str,
    typer.Option(
        "--io-timeout",
        metavar="TIME",
        help="End the run when the device does not answer an I/O for so long; it can be resumed.",
    ),
]
Progress = Annotated[
    ProgressMode | None,
    typer.Option("--progress", help="How to show progress. [default: rich on a terminal]"),
]
Hold = Annotated[
    bool,
    typer.Option(
        "--hold",
        help="Wait before the first step until FILE.start says when: RUN-ID and a wall time in ns. "
        "Fleets begin together by it.",
    ),
]
Hosts = Annotated[
    list[str] | None,
    typer.Option(
        "--host",
        metavar="HOST",
        help="Measure from several hosts at once: here, and NAME=COMMAND for another, where "
        "COMMAND leads to its teijo (rack2='ssh rack2 teijo'); may stand many times.",
    ),
]
HostTimeout = Annotated[
    str,
    typer.Option(
        "--host-timeout",
        metavar="TIME",
        help="A host of which nothing is heard for so long has gone away.",
    ),
]
Serve = Annotated[
    bool,
    typer.Option(
        "--serve", help="Show the run in a browser meanwhile, at an address of this machine alone."
    ),
]
WhichEngine = Annotated[Engine, typer.Option("--engine", help="Who makes the I/O.")]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Repeat the offsets and contents of another run."),
]
Report = Annotated[
    str, typer.Option("--report", metavar="FORMATS", help="html,pdf,text,csv or none.")
]
ReportDir = Annotated[
    Path | None,
    typer.Option("--report-dir", metavar="DIR", help="[default: where the run file is]"),
]
ReportLang = Annotated[
    Lang, typer.Option("--lang", help="The report's language; CSV is always English.")
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="LIMIT",
        help="What a figure must hold: 'iops[0/100,4KiB] >= 6000'; may stand many times. Exit code "
        "9: not met; 11: cannot be known.",
    ),
]
Notes = Annotated[
    list[str] | None,
    typer.Option(
        "--note",
        metavar="KEY=VALUE",
        help="Record and print what no device can tell: sponsor, operator, auditor, vendor, nand, "
        "hba, pcie, report-date; may stand many times.",
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="NAME=VALUE",
        help="Record what the run belongs to: campaign, fleet, host, drive; may stand many times.",
    ),
]
Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder. [default: the present one]")
]
Recursive = Annotated[bool, typer.Option("-r", "--recursive", help="The folders below it as well.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def settings_from(*given: Sequence[str] | None) -> dict[str, str]:
    """Return KEY=VALUE texts as a mapping.

    Raises:
        PlanError: a text is no KEY=VALUE, or one key is given twice with different values.
        UsageError: there is a password in a URL.
    """
    texts = [text for each in given for text in each or ()]
    if any(parted(text)[1] for text in texts):
        raise UsageError(
            "A password on the command line is seen by everybody on this machine",
            remedy="Put it into TEIJO_SQL_PASSWORD, and leave it out of the URL.",
        )
    return _pairs(texts, "setting", "--set minute=1s")


def _pairs(texts: Sequence[str], what: str, example: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not (key and equals):
            raise PlanError(
                f"{text!r} is not a {what}", remedy=f"Write {what}s as KEY=VALUE: {example}"
            )
        if pairs.setdefault(key, value) != value:
            raise PlanError(
                f"The {what} {key!r} stands twice: {pairs[key]!r} and {value!r}",
                remedy="Give it once.",
            )
    return pairs


def notes_from(given: Sequence[str] | None) -> dict[str, str]:
    """Return the notes of the line, and of the person's defaults those it does not say.

    Raises:
        PlanError: a text is no KEY=VALUE, is given twice, or the defaults cannot be read.
    """
    from teijo.cli.defaults import default_notes

    return default_notes() | _pairs(given or (), "note", "--note sponsor='Storage Lab'")


def group_from(given: Sequence[str] | None) -> dict[str, str]:
    """Return the names and values of a group.

    Raises:
        PlanError: a text is no NAME=VALUE, or is given twice.
    """
    return _pairs(given or (), "group", "--group campaign=spring")


def io_timeout_ns_from(text: str) -> int:
    """Return the nanoseconds in "120s".

    Raises:
        PlanError: it is no duration, or none that an I/O may take.
    """
    from teijo.units import parse_duration

    try:
        timeout_ns = parse_duration(text)
    except ValueError as error:
        raise PlanError(f"--io-timeout: {error}", remedy="Write it like 120s or 5min.") from error
    if not NS_PER_S <= timeout_ns <= GIGA * NS_PER_S:
        raise PlanError(
            f"--io-timeout: {text} is not 1 s to 10^9 s", remedy="Write it like 120s or 5min."
        )
    return timeout_ns


def sharing_from(hosts: Sequence[str] | None, timeout: str) -> "Sharing | None":
    """Return the hosts that measure together; None where none is named.

    Raises:
        PlanError: a text names no host, or the timeout is none.
    """
    if not hosts:
        return None
    from teijo.api import sharing
    from teijo.units import parse_duration

    try:
        silence_ns = parse_duration(timeout)
    except ValueError as error:
        raise PlanError(f"--host-timeout: {error}", remedy="Write it like 20s.") from error
    if not 3 * NS_PER_S <= silence_ns <= 3600 * NS_PER_S:
        raise PlanError(f"--host-timeout: {timeout} is not 3 s to 1 h", remedy="Write it like 20s.")
    return sharing.sharing_from(hosts, silence_ns)


def planned(settings: dict[str, str], plan: Path | None) -> dict[str, str]:
    """Return the settings with the text of a plan among them, as the setting `plan`.

    Raises:
        PlanError: the file cannot be read, or a plan is set already.
    """
    if plan is None:
        return settings
    if "plan" in settings:
        raise PlanError("The plan is given twice", remedy="Leave --plan or the setting out.")
    from teijo.outside.file import TOML_MOST, Unreadable, read_text

    try:
        return settings | {"plan": read_text(plan, most_bytes=TOML_MOST)}
    except Unreadable as error:
        raise PlanError(f"The plan {plan} {error}", remedy="Name a TOML file.") from error


def rates_from(text: str) -> "Rates | None":
    """Return the rates in "3.5GB/s,600k": throughput in bytes and IOPS; none of "".

    Raises:
        PlanError: it is neither.
    """
    if not text:
        return None
    from teijo.runner.paper import Rates
    from teijo.units import parse_size

    speed, _, ios = (part.strip() for part in text.partition(","))
    counted = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kM]?)(?: ?IOPS)?", ios)
    try:
        bytes_per_second = parse_size(speed.removesuffix("/s"))
        ios_per_second = round(float(counted[1]) * _THOUSANDS[counted[2]]) if counted else 0
    except (ValueError, OverflowError) as error:
        raise _no_rates(text) from error
    some = bytes_per_second and 0 < ios_per_second <= IOPS_MOST
    if not (speed.endswith("/s") and some):
        raise _no_rates(text)
    return Rates(bytes_per_second=bytes_per_second, ios_per_second=ios_per_second, source="as told")


def _no_rates(text: str) -> PlanError:
    return PlanError(
        f"{text!r} are no rates", remedy="Give MB/s and IOPS of the device: --rates 3.5GB/s,600k"
    )


def endurance_from(text: str) -> int | None:
    """Return the bytes in "600TB"; None of "".

    Raises:
        PlanError: it is no size, or nothing.
    """
    if not text:
        return None
    from teijo.units import parse_size

    try:
        rated_bytes = parse_size(text)
    except ValueError as error:
        raise PlanError(f"--endurance: {error}", remedy="Write it like 600TB.") from error
    if not rated_bytes:
        raise PlanError("--endurance: nothing is no endurance", remedy="Write it like 600TB.")
    return rated_bytes


def printers_from(text: str) -> tuple[str, ...]:
    """Return the printers named in "html,pdf"; "none" names no printer.

    Raises:
        UsageError: a name is no printer.
    """
    if text.strip() in {"", "none"}:
        return ()
    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in PRINTERS:
            raise UsageError(
                f"{name!r} is no report format{meant(name, PRINTERS)}",
                remedy=f"The formats are {', '.join(PRINTERS)}, and none.",
            )
    return names


def meant(word: str, words: Sequence[str]) -> str:
    """Return "; did you mean …?" for the nearest of `words`, or nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word, words, n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def run_file_for(method: str, target: str, output: str | Path | None, now: datetime) -> Path:
    """Return where a run is recorded; see `naming.run_file_for`.

    Raises:
        UsageError: it is stdout, which no run file can be.
    """
    from teijo.api import naming

    if str(output or "") == STDOUT:
        raise UsageError(
            "A run file cannot go to stdout (-o -): it grows where it lies",
            remedy="Name a file or a folder, and read it later: teijo export FILE",
        )
    return naming.run_file_for(method, target, output, now)


def to_stdout(
    output: Path | None, form: str | None, printers: Sequence[str], *, as_json: bool = False
) -> str:
    """Return the one printer whose report goes to stdout (-o -), text where none is named; or
    nothing, if the reports are files.

    Raises:
        UsageError: several are to go there, or one that makes a folder, or one beside JSON.
    """
    if output is None or str(output) != STDOUT or (as_json and form is None):
        return ""
    if as_json:
        raise UsageError(
            "--json and a report cannot both go to stdout (-o -)", remedy="Ask for one of them."
        )
    if form is None:
        return "text"
    if len(printers) != 1 or printers[0] == "csv":
        raise UsageError(
            f"Only one of html, pdf and text can go to stdout (-o -), and {form} is asked for",
            remedy="Name one, as in: --format text -o -",
        )
    return printers[0]


def is_there(path: Path) -> bool:
    """Return whether there is a file or folder of a name; of one that cannot be, there is none."""
    try:
        return path.exists()
    except OSError:  # a name too long, a folder that may not be entered
        return False
