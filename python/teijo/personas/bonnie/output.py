"""What Bonnie++ prints, by version: its block of text and its line of CSV, with their quirks.

Formats of 1.03e, 1.97 and 2.00a. Below half a second a rate is "+++++" (MinTime); a test that was
not done is blank. The quirks are theirs: 2.00a prints the number of files where it means the rate
of creating them, leaves out the chunk in its CSV, and heads 50 fields with 48 names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from teijo.methods.classic.bonnie.settings import FILE_PHASES, IO_PHASES
from teijo.methods.classic.phase_hidden import MIN_TIME_NS
from teijo.units import KIB, NS_PER_MS, NS_PER_S, NS_PER_US

DEFAULT_CHUNK_BYTES: Final = 8 * KIB
DEFAULT_SEEKS: Final = 8192
_FILES_UNIT: Final = 1024
_CELL: Final = 19
"""Columns of the first cell, in which the name gives way to the size."""
_OUTPUT = "------Sequential Output------ --Sequential Input- --Random-\n"
_CREATE = "------Sequential Create------ --------Random Create--------\n"
_KINDS = "-Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n"
_DEEDS = "-Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n"
_SECONDS = " /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n"
_KIB_SECONDS = "K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n"
_NAMES_1_03 = (
    "name,file_size,putc,putc_cpu,put_block,put_block_cpu,rewrite,rewrite_cpu,getc,getc_cpu,"
    "get_block,get_block_cpu,seeks,seeks_cpu,num_files,seq_create,seq_create_cpu,seq_stat,"
    "seq_stat_cpu,seq_del,seq_del_cpu,ran_create,ran_create_cpu,ran_stat,ran_stat_cpu,ran_del,"
    "ran_del_cpu\n"
)
_NAMES_1_9X = (
    "format_version,bonnie_version,name,concurrency,seed,file_size,io_chunk_size,putc,putc_cpu,"
    "put_block,put_block_cpu,rewrite,rewrite_cpu,getc,getc_cpu,get_block,get_block_cpu,seeks,"
    "seeks_cpu,num_files,max_size,min_size,num_dirs,file_chunk_size,seq_create,seq_create_cpu,"
    "seq_stat,seq_stat_cpu,seq_del,seq_del_cpu,ran_create,ran_create_cpu,ran_stat,ran_stat_cpu,"
    "ran_del,ran_del_cpu,putc_latency,put_block_latency,rewrite_latency,getc_latency,"
    "get_block_latency,seeks_latency,seq_create_latency,seq_stat_latency,seq_del_latency,"
    "ran_create_latency,ran_stat_latency,ran_del_latency\n"
)


@dataclass(frozen=True, kw_only=True)
class Timing:
    """One test of one run: how long it took, the processor time in it, its longest call."""

    elapsed_ns: int
    cpu_ns: int
    longest_ns: int


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the texts need of the command line, in the original's units.

    Sizes are in MiB, files in units of 1,024; -1 and -2 as the largest file are hard and symbolic
    links. `per_char_mib` is how much is written a byte at a time.
    """

    version: str
    name: str
    seed: str
    size_mib: int
    per_char_mib: int
    chunk_bytes: int = DEFAULT_CHUNK_BYTES
    concurrency: int = 1
    seeks: int = DEFAULT_SEEKS
    seekers: int = 5
    files: int = 0
    largest: int = 0
    smallest: int = 0
    directories: int = 1


Timings = Mapping[str, Timing]
"""The tests of one run, by the names they have in the CSV; what was not done is absent."""


def header(version: str) -> str:
    """Return the names that stand before the CSV of several runs."""
    # 2.00a has the names of 1.97 still: its two new fields have none.
    return _NAMES_1_03 if version == "1.03" else _NAMES_1_9X


def text(asked: Asked, timings: Timings) -> str:
    """Return the block of text for people."""
    if asked.version == "1.03":
        return _text_1_03(asked, timings)
    lines = ""
    if asked.size_mib:
        lines += _version(asked) + _OUTPUT
        if asked.version == "1.97":
            lines += f"Concurrency {asked.concurrency:3d}     {_KINDS}"
            lines += _machine_line(asked)
        else:
            lines += f"{'':20}{_KINDS}Name:Size etc       {_SECONDS}"
        lines += _first_cell(asked) + _io_cells(asked, timings)
        lines += f"\nLatency          {_latencies(timings, IO_PHASES)}\n"
    if asked.files:
        lines += _version(asked) + _CREATE + f"{asked.name[:_CELL]:19} {_DEEDS}"
        lines += _files_head(asked) + f"{_files_cell(asked):>19}" + _file_cells(asked, timings)
        lines += f"\nLatency          {_latencies(timings, FILE_PHASES)}"
    return lines + "\n"


def csv(asked: Asked, timings: Timings) -> str:
    """Return the line of CSV: 27 fields of 1.03, 48 of 1.97, 50 of 2.00a."""
    if asked.version == "1.03":
        return _csv_1_03(asked, timings)
    fields = [*_versions(asked), asked.name, str(asked.concurrency), asked.seed]
    known = asked.version == "1.97" and asked.chunk_bytes != DEFAULT_CHUNK_BYTES
    seeks = [] if asked.version == "1.97" else [str(asked.seeks), str(asked.seekers)]
    if asked.size_mib:
        fields += [_size(asked.size_mib), _chunk(asked.chunk_bytes) if known else "", *seeks]
        fields += _io_fields(asked, timings)
    else:
        fields += [""] * (2 + len(seeks) + 2 * len(IO_PHASES))
    if asked.files:
        # The size of a chunk is written behind the end of the text, so nobody ever sees it.
        directories = str(asked.directories) if asked.directories > 1 else ""
        fields += [str(asked.files), *_file_sizes(asked), "", directories]
        fields += _file_fields(asked, timings)
    else:
        fields += [""] * (5 + 2 * len(FILE_PHASES))
    fields += [_latency(timings.get(name)) for name in (*IO_PHASES, *FILE_PHASES)]
    return ",".join(fields) + "\n"


def _text_1_03(asked: Asked, timings: Timings) -> str:
    lines = ""
    if asked.size_mib:
        lines += f"{_version(asked)}{_OUTPUT}{'':20}{_KINDS}{_machine_line(asked)}"
        lines += _first_cell(asked) + _io_cells(asked, timings) + "\n"
    if asked.files:
        # The version is said once, on whatever comes first.
        lines += (" " * 20 if lines else _version(asked)) + _CREATE
        lines += (" " * 20 if asked.size_mib else f"{asked.name[:_CELL]:19} ") + _DEEDS
        lines += _files_head(asked)
        lines += f"{_files_cell(asked):>19}" + _file_cells(asked, timings) + "\n"
    return lines


def _csv_1_03(asked: Asked, timings: Timings) -> str:
    if asked.size_mib:
        cells = [_size_and_chunk(asked), *_io_fields(asked, timings)]
    else:
        cells = [""] * (1 + 2 * len(IO_PHASES))
    if asked.files:
        cells += [_files_cell(asked), *_file_fields(asked, timings)]
    else:
        cells += [""] * (1 + 2 * len(FILE_PHASES))
    return ",".join([asked.name, *cells]) + "\n"


def _versions(asked: Asked) -> tuple[str, str]:
    return ("1.97", "1.97") if asked.version == "1.97" else ("1.98", "2.00a")


def _version(asked: Asked) -> str:
    name = {"1.03": "1.03e", "1.97": "1.97", "2.00": "2.00a"}[asked.version]
    return f"Version {name:>5}       "


def _machine_line(asked: Asked) -> str:
    usual = asked.chunk_bytes == DEFAULT_CHUNK_BYTES
    return ("Machine        Size " if usual else "Machine   Size:chnk ") + _KIB_SECONDS


def _files_head(asked: Asked) -> str:
    if asked.smallest:
        return "files:max:min       " + _SECONDS
    return ("files:max           " if asked.largest else "              files ") + _SECONDS


def _size(mib: int) -> str:
    return f"{mib // KIB}G" if mib % KIB == 0 else f"{mib}M"


def _chunk(size_bytes: int) -> str:
    for unit in ("", "k"):
        if size_bytes % KIB:
            return f"{size_bytes}{unit}"
        size_bytes //= KIB
    return f"{size_bytes}m"


def _size_and_chunk(asked: Asked) -> str:
    chunk = asked.chunk_bytes
    if chunk == DEFAULT_CHUNK_BYTES:
        return _size(asked.size_mib)
    # 1.03 knows no m, and every later one makes one of 1,024k.
    own = f"{chunk // KIB}k" if chunk >= KIB else str(chunk)
    return f"{_size(asked.size_mib)}:{own if asked.version == '1.03' else _chunk(chunk)}"


def _first_cell(asked: Asked) -> str:
    """Return the name and the size: the name gives way, from its end."""
    size = _size_and_chunk(asked)
    if asked.version == "2.00":
        seekers = str(asked.seekers) if asked.seekers >= 10 else ""  # a single digit is dropped
        parts = (
            _size(asked.size_mib),
            "" if asked.chunk_bytes == DEFAULT_CHUNK_BYTES else _chunk(asked.chunk_bytes),
            "" if asked.concurrency == 1 else str(asked.concurrency),
            "" if asked.seeks == DEFAULT_SEEKS else str(asked.seeks),
            seekers,
        )
        size = ":".join(parts).rstrip(":")
    room = max(0, _CELL - 1 - len(size))
    return f"{asked.name[:room]:{room}} {size}"


def _files_cell(asked: Asked) -> str:
    text = str(asked.files)
    match asked.largest:
        case -1:
            text += ":link"
        case -2:
            text += ":symlink"
        case 0:
            pass
        case largest:
            text += f":{largest}:{asked.smallest}"
    return text + (f"/{asked.directories}" if asked.directories > 1 else "")


def _file_sizes(asked: Asked) -> tuple[str, str]:
    match asked.largest:
        case -1:
            return "link", ""
        case -2:
            return "symlink", ""
        case 0:
            return "", ""
        case largest:
            return str(largest), str(asked.smallest) if asked.smallest else ""


def _rate(amount: int, timing: Timing) -> float:
    return amount / (timing.elapsed_ns / NS_PER_S)


def _percent(timing: Timing) -> int:
    return timing.cpu_ns * 100 // timing.elapsed_ns


def _io_amounts(asked: Asked) -> dict[str, int]:
    """Return KiB of each test; of the seeks, how many there are."""
    char = asked.per_char_mib if asked.version != "1.03" else asked.size_mib
    whole = asked.size_mib * KIB
    return dict(
        zip(IO_PHASES, (char * KIB, whole, whole, char * KIB, whole, asked.seeks), strict=True)
    )


def _io_cells(asked: Asked, timings: Timings) -> str:
    cells = ""
    for name, amount in _io_amounts(asked).items():
        timing = timings.get(name)
        if timing is None or timing.elapsed_ns < MIN_TIME_NS:
            cells += _no_rate(timing)
            continue
        rate = _rate(amount, timing)
        if name == "seeks":
            cells += f" {rate:5.0f}" if rate >= 1000 else f" {rate:5.1f}"
        elif asked.version == "2.00":
            cells += _short(rate)
        else:
            cells += f" {int(rate):5d}"
        cells += f" {_percent(timing):3d}"
    return cells


def _no_rate(timing: Timing | None) -> str:
    return " " * 10 if timing is None else " +++++ +++"


def _short(kib: float) -> str:
    """Return a rate in five columns with a unit, as 2.00a has it."""
    if kib < 10_000:
        return f" {int(kib):4d}k"
    mib = kib / KIB
    if mib < 100:
        return f" {mib:4.1f}m"
    return f" {int(mib + 0.5):4d}m" if mib < 1000 else f" {mib / KIB:4.1f}g"


def _io_fields(asked: Asked, timings: Timings) -> list[str]:
    fields = []
    for name, amount in _io_amounts(asked).items():
        timing = timings.get(name)
        if timing is None or timing.elapsed_ns < MIN_TIME_NS:
            fields += ["", ""] if timing is None else ["+++++", "+++"]
            continue
        rate = _rate(amount, timing)
        if name != "seeks":
            shown = str(int(rate))
        elif rate >= 1000 and asked.version != "1.03":
            shown = f"{rate:.0f}"
        else:
            shown = f"{rate:.1f}"
        fields += [shown, str(_percent(timing))]
    return fields


def _file_cells(asked: Asked, timings: Timings) -> str:
    cells = ""
    for timing in map(timings.get, FILE_PHASES):
        if timing is None or timing.elapsed_ns < MIN_TIME_NS:
            cells += _no_rate(timing)
            continue
        count = asked.files * _FILES_UNIT
        # 2.00a hands a float to %5d, and what is printed is the count beside it.
        shown = count if asked.version == "2.00" else int(_rate(count, timing))
        cells += f" {shown:5d} {_percent(timing):3d}"
    return cells


def _file_fields(asked: Asked, timings: Timings) -> list[str]:
    fields = []
    for timing in map(timings.get, FILE_PHASES):
        if timing is None or timing.elapsed_ns < MIN_TIME_NS:
            fields += ["", ""] if timing is None else ["+++++", "+++"]
        else:
            rate = int(_rate(asked.files * _FILES_UNIT, timing))
            fields += [str(rate), str(_percent(timing))]
    return fields


def _latency(timing: Timing | None) -> str:
    if timing is None or not timing.longest_ns:
        return ""
    longest_ns = timing.longest_ns
    if longest_ns >= 100 * NS_PER_S:
        return f"{longest_ns // NS_PER_S}s"
    if longest_ns >= 100 * NS_PER_MS:
        return f"{longest_ns // NS_PER_MS}ms"
    return f"{longest_ns // NS_PER_US}us"


def _latencies(timings: Timings, names: Sequence[str]) -> str:
    return "".join(f" {_latency(timings.get(name)):>9}" for name in names)
