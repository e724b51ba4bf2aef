"""What is fed: each place where a text or a file from outside is read, and how it is called."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from teijo import api
from teijo.api import naming
from teijo.cli import options, spreadsheet
from teijo.cli.compare import _named
from teijo.device import composed
from teijo.device.target import SimulatedTarget, parse_target, split_settings
from teijo.engine import open_simulated
from teijo.errors import RunFileError, TeijoError
from teijo.methods import knobs
from teijo.methods.method import settings_on
from teijo.methods.registry import METHODS, method_named
from teijo.methods.studies.configuration.words import settings_in
from teijo.outside.text import visible, visible_json
from teijo.report import text as printer
from teijo.terms.geometry import Geometry
from teijo.terms.histogram import decoded, encoded
from teijo.terms.record import Record
from tests.fuzz.mutation import NUMBERS, ODD, any_bytes, any_text
from tests.fuzz.values import Place, leaves_of, with_leaf

DRIVE = Geometry(capacity_bytes=10**12, nominal_capacity_bytes=10**12)
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Target:
    """One place: `make` draws an input, `feed` reads it; `share` of a campaign's inputs."""

    name: str
    share: float
    make: Callable[[random.Random], str | bytes]
    feed: Callable[[str | bytes], object]


DEVICES = (
    "sim:mlc-a?seed=7&capacity=4GiB", "sim:raid5(4×hdd-7200)?chunk=64KiB&cache=write-back",
    "sim:ssd-cache(hdd-7200,s3500)?mode=maximised", "sim:FILE.toml", "sim:raid0(2*hdd-5400)",
    "sim:tier(hdd-7200,raid0(2×hdd-7200))?slab=1GiB", "drive.img?size=8GiB&direct=no&holes=allow",
    "/dev/disk/by-id/nvme-X", "concat:a?size=1GiB,b?size=2GiB", "stripe?chunk=64KiB:/dev/sdb,x\\,y",
    "./a?size=1GiB", "~/a?size=1GiB", "file:///x", "http://x/y", "/dev/null", ".", "",
)  # fmt: skip
DEVICE_WORDS = (
    "sim:", "?", "&", "=", ",", "(", ")", "×", "*", "concat:", "stripe:", "stripe?chunk=", "size=",
    "direct=", "holes=", "raid0(", "raid5(", "raid50(", "faulty(", "cache(", "tier(", "host-cache(",
    "hdd-7200", "hdd-5400", "chunk=", "seed=", "scale=", "capacity=", "capacity_bytes=", "dies=",
    ".toml", "4×", "1024×", "4000000000×", "\\,", "+", "%00", "%zz",
)  # fmt: skip


def feed_target(text: str | bytes) -> object:
    assert isinstance(text, str)
    naming.name_of(text)
    target = parse_target(text)
    if len(text) % 2:
        split_settings(target, {"holes": "allow"})
    return target


SIMULATED = (
    "hdd-7200", "raid5(4×hdd-7200)?chunk=64KiB", "raid0(hdd-5400,hdd-7200)",
    "raid10(4*hdd-7200)?chunk=16KiB", "raid50(2×raid5(3×hdd-7200))", "hdd-7200?seed=2&rpm=5400",
    "faulty(hdd-7200)", "raid6(8×hdd-7200?capacity=4GiB)", "mlc-a?capacity=1GiB&gc=fifo",
    "nvme-2tb?scale=1000&dies=64", "slc-b?slc_region=8MiB&page=16KiB", "sp900?buffer=4MiB",
    "raid0(64×nvme-2tb?scale=1)", "ssd-cache(intel-530,hdd-7200)?size=1GB", "isrt-enhanced",
    "tier(s3700,raid5(4×hdd-7200))?chunk=1MiB", "host-cache(mlc-b?compression=on)?memory=16GiB",
)  # fmt: skip


FLASH_WORDS = (
    *DEVICE_WORDS, "mlc-a", "nvme-2tb", "s3700", "intel-530", "pages_per_block=", "mapping=",
    "page=", "buffer=", "slc_region=", "slc_dynamic_percent=", "compression=on", "op_percent=",
    "nominal_capacity=", "compression_least_percent=", "memory=", "size=", "enospc_after=",
)  # fmt: skip


def feed_simulated(text: str | bytes) -> object:
    assert isinstance(text, str)
    parsed = parse_target(f"sim:{text}")
    if not isinstance(parsed, SimulatedTarget):
        return parsed
    session = open_simulated(parsed.name, **parsed.overrides)
    session.close()
    return session


@cache
def _keys() -> dict[str, tuple[str, ...]]:
    """Return the settings of every method as they stand: "key=value"."""
    lines = {}
    for method in METHODS:
        shown = knobs.describe(method.settings(method.default_spec, {}, DRIVE))
        lines[method.id] = tuple(f"{each.key}={each.value}" for each in shown)
    return lines


def make_settings(dice: random.Random) -> str:
    """Return a method's id, a version and some settings of it, a line each."""
    method = dice.choice(METHODS)
    spec = dice.choice((*method.specs, method.default_spec, "", "x"))
    chosen = [dice.choice(_keys()[method.id]) for _ in range(dice.randrange(1, 5))]
    words = tuple(line.partition("=")[2] for line in _keys()[method.id])
    pairs = [line.partition("=") for line in chosen]
    value = any_text([*words, "4KiB,8KiB", "65/35,0/100", "a: rw=randrw bs=4KiB; cdm5"],
                     (",", ";", ":", "=", "/", "none", "first", "on", "off", *words))  # fmt: skip
    return "\x1e".join(
        [
            method.id,
            spec,
            *(f"{key}={value(dice) if dice.random() < 0.3 else kept}" for key, _, kept in pairs),
        ]
    )


def feed_settings(text: str | bytes) -> object:
    assert isinstance(text, str)
    name, spec, *pairs = text.split("\x1e")
    method = method_named(name)
    given = options.settings_from(pairs)
    settings = settings_on(method, spec, given, DRIVE, {})
    method.writes(settings)
    method.deviations(settings, DRIVE)
    return next(iter(method.steps(settings, DRIVE)), None)


PLANS = (
    'title = "Chunks"\ndevice = "sim:raid5(4×hdd-7200)?chunk={chunk}"\nworkloads = "cdm5"\n'
    'seconds = 5\nrepeats = 3\n[factors]\nchunk = ["16KiB", "64KiB"]\n',
    'hook = ["./apply.sh", "--quiet"]\npurge = true\nprecondition = 1.0\ncontrol = "first"\n'
    '[factors.cache]\noff = "a"\nwb = "b"\n[[workloads]]\nname = "oltp"\nrw = "randrw"\n',
)  # fmt: skip
DESCRIPTIONS = (
    'device = "hdd-7200"\nseed = 7\n',
    'kind = "raid5"\nchunk = "64KiB"\n[[parts]]\ndevice = "hdd-7200"\ncount = 4\nseed = [1, 2]\n',
    'kind = "tier"\n[[parts]]\nkind = "raid0"\n[[parts.parts]]\ndevice = "hdd-5400"\ncount = 2\n',
)
TOML_WORDS = (
    "[", "]", "[[", "]]", "{", "}", "=", ".", '"', "'''", '"""', "#", "true", "2026-01-01", "parts",
    "count", "device", "kind", "factors", "workloads", "[[parts]]\n", "[parts.parts]\n", "a.b.c",
    "\n", "nan", "-inf", "0b1", "1979-05-27T07:32:00Z",
)  # fmt: skip


def feed_plan(text: str | bytes) -> object:
    assert isinstance(text, str)
    method = method_named("configuration")
    settings_in(text)
    return method.settings("", {"plan": text}, DRIVE)


def feed_description(text: str | bytes) -> object:
    assert isinstance(text, str)
    path = Path("described.toml")
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return composed.spell_out(path)


def _histograms() -> list[bytes]:
    import numpy as np

    pairs = ((5,), (1,)), ((5, 2000, 1 << 40), (1, 9, 3)), ((1, 2, 3, 4), (2**40, 1, 1, 7))
    blobs = [
        encoded((np.array(values, np.int64), np.array(counts, np.int64)))
        for values, counts in pairs
    ]
    return [*blobs, b"", b"\x1c\x84\x93\x13" + b"\0" * 36]


def feed_histogram(data: str | bytes) -> object:
    assert isinstance(data, bytes)
    try:
        return decoded([data])
    except ValueError as error:  # as the reader says it, of a file that has a name
        raise RunFileError(str(error), remedy="Use a copy that is whole.") from error


SHEETS = (
    "round,IOPS 4K W,B\n1,346.22,1\n2,346.16,2\n3,346.61,3\n4,338.03,4\n5,296.00,5\n",
    "a;b\n1,5;2,5\n1,6;2,5\n", "a\tb\n1\t2\n\n", '"a,b","c ""d"""\n"1","2"\n', "a|b\n-1|+2e5\n",
)  # fmt: skip
SHEET_WORDS = (",", ";", "\t", "|", "\n", '"', '""', "a", "b", "1,000", "1.5", "round", "1e100")


def feed_sheet(text: str | bytes) -> object:
    assert isinstance(text, str)
    path = Path("sheet.csv")
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    values = spreadsheet.columns_of(path, ["a", "b"] if "b" in text[:9] else ["a"])
    lengths = {len(column) for column in values.values()}
    if len(lengths) > 1 or 0 in lengths:
        return None  # the verb refuses these
    return api.steady_document(api.steady(values, text[:20]))


WORDS = (
    "3.5GB/s,600k", "600TB", "html,pdf,text,csv", "none", "minute=1s", "spec,oio,range",
    "a=b.teijo", "3", "1e6", "10GB/s,1.5M IOPS", "sim:mlc-a?seed=7",
)  # fmt: skip


def feed_words(text: str | bytes) -> object:
    """Read one argument as everything that it could be given as; each may refuse it."""
    assert isinstance(text, str)
    readers: Sequence[Callable[[str], object]] = (
        options.rates_from,
        options.endurance_from,
        options.printers_from,
        lambda each: options.settings_from([each]),
        lambda each: method_named("pts.iops").settings(each, {}, DRIVE),
        method_named,
        lambda each: knobs.check_text("x", each),
        _named,
        lambda each: spreadsheet.number_of(each, place="round 1"),
        lambda each: spreadsheet.number_of(each, place="round 1", decimal_comma=True),
        lambda each: visible_json(visible(each)),
        api.open,
    )
    for read in readers:
        try:
            read(text)
        except TeijoError as error:
            visible(error.message + error.remedy)
    return None


@cache
def _run_file() -> Path:
    """Return a small sealed run to damage, made once."""
    path = Path("whole.teijo").absolute()
    settings = {"rw": "randrw", "seconds": "20ms", "qd": "2"}
    api.run("workload", "sim:hdd-7200", output=path, settings=settings, seed=1)
    return path


def make_run_file(dice: random.Random) -> bytes:
    """Return the bytes of a run file with some of them changed."""
    return any_bytes([_run_file().read_bytes()])(dice)


def feed_run_file(data: str | bytes) -> object:
    assert isinstance(data, bytes)
    path = Path("damaged.teijo")
    path.write_bytes(data)
    return printer.render(api.open(path).document())


@cache
def _records() -> list[tuple[Record, list[Place]]]:
    """Return whole records with the places of every text and number in them, made once."""
    study = {"factors": "chunk=16KiB,64KiB", "device": "sim:raid0(2×hdd-7200)?chunk={chunk}",
             "workloads": "a: rw=randrw bs=4KiB", "seconds": "20ms", "repeats": "2"}  # fmt: skip
    api.run("configuration", "sim:hdd-7200", output="study.teijo", settings=study, seed=1)
    found = [api.open(path).record for path in (_run_file(), Path("study.teijo"))]
    return [(record, list(leaves_of(record))) for record in found]


def make_record(dice: random.Random) -> str:
    """Return which record, which places in it, and what is put there, a line each."""
    number = dice.randrange(len(_records()))
    lines = [str(number)]
    for _ in range(dice.choice((1, 1, 1, 2, 5))):
        place = dice.randrange(len(_records()[number][1]))
        lines.append(f"{place}\x1f{dice.choice((*NUMBERS, *ODD, 'x', 'sim:hdd-7200', '[1]'))}")
    return "\x1e".join(lines)


def feed_record(text: str | bytes) -> object:
    """Report a record in which some values are others; a number stays one where it can."""
    assert isinstance(text, str)
    number, *lines = text.split("\x1e")
    if not number.isdigit() or int(number) >= len(_records()):
        return None
    record, places = _records()[int(number)]
    for line in lines:
        at, _, value = line.partition("\x1f")
        if at.isascii() and at.isdigit() and int(at) < len(places):
            try:
                record = with_leaf(record, places[int(at)], value)
            except (AssertionError, TypeError):
                return None  # the reader refuses what no step can be
    return printer.render(api.present(record))


TARGETS = (
    Target("target", 0.25, any_text(DEVICES, DEVICE_WORDS), feed_target),
    Target("simulated", 0.05, any_text(SIMULATED, FLASH_WORDS), feed_simulated),
    Target("settings", 0.2, make_settings, feed_settings),
    Target("plan", 0.1, any_text(PLANS, TOML_WORDS), feed_plan),
    Target("description", 0.1, any_text(DESCRIPTIONS, TOML_WORDS), feed_description),
    Target("histogram", 0.15, any_bytes(_histograms()), feed_histogram),
    Target("sheet", 0.05, any_text(SHEETS, SHEET_WORDS), feed_sheet),
    Target("words", 0.06, any_text(WORDS, DEVICE_WORDS), feed_words),
    Target("record", 0.02, make_record, feed_record),
    Target("run-file", 0.02, make_run_file, feed_run_file),
)
