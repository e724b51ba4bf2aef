"""What a lake takes: run files added in a second, its size against theirs, its five views.

    python benchmarks/lake.py [--runs 10000] [--grown 1000000] [--folder DIR] [--keep]

The run files are runs of simulated drives (`quick`, some milliseconds a test), each carried out,
sealed and verified like any other; only the date, the firmware and every fortieth remark of
throttling are put in, so that every view has rows: 2,500 drives, each measured once a year in four
years. Then they are added by as many processes as there are processors, asked, compacted and asked
again.

The large lake is grown from that one: DuckDB writes each run a hundred times, with an id, a serial
number and figures of its own, into files as `compact` makes them; every tenth drive gets slower in
its last year. Histograms are grown for a tenth of the runs, for no view reads them. Times are of
one question with a new connection, the files in the page cache, the answer in Arrow: the least of
three, and the time of processors that it took, which says more on a machine that is shared.
"""

import argparse
import multiprocessing
import os
import platform
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from teijo import api
from teijo.lake.compacting import ORDER
from teijo.lake.lake import Lake
from teijo.lake.schema import TABLES, TableName, arrow_schema
from teijo.lake.store import Partition
from teijo.lake.views import VIEWS
from teijo.lake.writing import write_table
from teijo.runner import run as running
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind

SETTINGS: Final = {"seconds": "10ms", "rest": "1ms", "passes": "2"}
DRIVES: Final = 2500
FIRST: Final = datetime(2022, 11, 1)
YEAR_DAYS: Final = 365
LAST: Final = FIRST + timedelta(days=3 * YEAR_DAYS)
HISTOGRAMS: Final = 10
"""Of so many copies one has histograms."""
TIMES: Final = 3
MIB: Final = 1 << 20
_ROWS: Final = 1 << 17


def make(folder: Path, first: int, count: int) -> None:
    """Make run files, named by their number."""
    header = running._header

    def dated(*given: Any) -> Record:
        found = header(*given)
        number = int(found.run.group["drive"])
        drive, year = number % DRIVES, number // DRIVES
        started = FIRST + timedelta(days=YEAR_DAYS * year + drive % YEAR_DAYS)
        firmware = f"FW{1 + (year + drive % 2) // 2}"
        hot = Remark(kind=RemarkKind.THROTTLED, text="The drive was throttled (put in).")
        return replace(
            found,
            run=replace(found.run, started_at=f"{started.isoformat()}+00:00"),
            identity=replace(found.identity, firmware=firmware),
            remarks=(*found.remarks, *((hot,) if number % 40 == 0 else ())),
        )

    running._header = dated
    for number in range(first, first + count):
        path = folder / f"run-{number:06}"
        if not path.with_name(path.name + ".teijo").exists():
            group = {"fleet": f"rack-{number % 20}", "drive": str(number), "host": f"h{number % 8}"}
            api.run("quick", f"sim:mlc-a?seed={number % DRIVES}", output=path, settings=SETTINGS,
                    seed=number, group=group)  # fmt: skip


def made(folder: Path, runs: int) -> None:
    """Make all run files, by a process for each processor; those that are there stay."""
    folder.mkdir(parents=True, exist_ok=True)
    workers = os.cpu_count() or 1
    size = -(-runs // workers)
    start = multiprocessing.get_context("spawn")
    makers = [
        start.Process(target=make, args=(folder, at, min(size, runs - at)))
        for at in range(0, runs, size)
    ]
    for each in makers:
        each.start()
    for each in makers:
        each.join()


def bytes_below(folder: Path) -> int:
    """Return how much the files of a folder are."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def show_views(lake: Lake) -> None:
    """Print how long each view takes, and its rows."""
    for view in VIEWS:
        waits, works, rows = [], [], 0
        for _ in range(TIMES):
            began_s, worked_s = time.perf_counter(), time.process_time()
            rows = lake.sql(f"FROM {view}").num_rows
            waits.append(time.perf_counter() - began_s)
            works.append(time.process_time() - worked_s)
        took = f"{min(waits):.2f} s (longest {max(waits):.2f} s), {min(works):.2f} s of processors"
        print(f"  {view}: {took}, {rows:,} rows")


def worked() -> float:
    """Return the time of processors that this process and those it began have taken, in seconds."""
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return sum(each.ru_utime + each.ru_stime for each in (own, others))


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long something takes."""
    began_s = time.perf_counter()
    yield
    print(f"{what}: {time.perf_counter() - began_s:.1f} s")


def small(folder: Path, lake: Lake, runs: int) -> None:
    """Add run files, and ask before and after compacting."""
    processes = os.cpu_count() or 1
    began_s, worked_s = time.perf_counter(), worked()
    added = lake.add([folder], processes=processes)
    took_s, worked_s = time.perf_counter() - began_s, worked() - worked_s
    assert (added.runs, added.refused) == (runs, ()), added.refused[:3]
    print(f"added {added.runs:,} runs in {took_s:.1f} s: {added.runs / took_s:.0f} a second")
    rate = added.runs / worked_s * processes
    print(f"  {worked_s:.1f} s of processors: {rate:.0f} a second if {processes} were free for it")
    with timed("added once more, when all are there"):
        assert lake.add([folder]).there == runs
    here, there = bytes_below(folder), bytes_below(Path(lake.store.root))
    print(f"run files {here / MIB:.1f} MiB, the lake {there / MIB:.1f} MiB: {there / here:.1%}")
    show_views(lake)
    with timed("compacted"):
        done = lake.compact()
    size = bytes_below(Path(lake.store.root))
    print(
        f"{done.files_before:,} files are {done.files:,}, {size / MIB:.1f} MiB: {size / here:.1%}"
    )
    show_views(lake)


def grown(lake: Lake, large: Lake, copies: int) -> None:
    """Write each run of a lake many times into another."""
    large.store.make("benchmark")
    with lake.look.session() as db:
        for partition in sorted({each.partition for each in lake.look.whole()}, key=str):
            batch = f"{hash(str(partition)) & 0xFFFF_FFFF_FFFF:032x}"
            for table in TABLES:
                name = partition.name_of(table, batch)
                with large.store.writing(name) as file:
                    write_table(file, table, copied(db, partition, table, batch, copies))


def copied(
    db: Any, partition: Partition, table: TableName, batch: str, copies: int
) -> Iterator[Any]:
    """Yield the rows of a partition, each so many times, in the order of `compact`."""
    import pyarrow

    own = "run_id || '-' || k"
    changed = {"run_id": own, "serial": "serial || '-' || k", "batch": f"'{batch}'"}
    if table == "runs":
        changed["digest"] = f"sha256({own})"
    if table == "figures":
        # A thousandth of scatter, other for each copy.
        scatter = "(1 + 0.001 * (hash(run_id, k, figure) % 2001 - 1000.0) / 1000)"
        # Every tenth copy of a drive has half its rates in the last year.
        is_slower = f"k % 10 = 0 AND started_at >= '{LAST}' AND more_is_faster"
        slower = f"CASE WHEN {is_slower} THEN 0.5 ELSE 1 END"
        changed |= {name: f"{name} * {scatter} * {slower}" for name in ("value", "low", "high")}
    wanted = copies // HISTOGRAMS if table == "histograms" else copies
    new = ", ".join(f"{how} AS {name}" for name, how in changed.items())
    answer = db.sql(
        f"SELECT * FROM (SELECT t.* REPLACE ({new}) FROM {table} AS t, range({wanted}) AS r(k) "
        f"WHERE method = '{partition.method}' AND month = '{partition.month}') "
        f"ORDER BY {ORDER[table]}"
    )
    schema = arrow_schema(table)
    for part in answer.to_arrow_reader(_ROWS):
        yield pyarrow.Table.from_batches([part]).select(schema.names).cast(schema)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--grown", type=int, default=1_000_000, help="runs of the large lake; 0")
    parser.add_argument("--folder", type=Path, help="where files are made; those there are used")
    parser.add_argument("--keep", action="store_true", help="leave the run files there")
    arguments = parser.parse_args()
    root = arguments.folder or Path(tempfile.mkdtemp(prefix="teijo-lake-bench-"))
    print(f"{os.cpu_count()} processors, {platform.machine()}, Linux {platform.release()}")
    try:
        with timed(f"{arguments.runs:,} run files made"):
            made(root / "runs", arguments.runs)
        lake, large = api.lake(root / "lake"), api.lake(root / "large")
        small(root / "runs", lake, arguments.runs)
        if arguments.grown:
            with timed(f"a lake of {arguments.grown:,} runs grown"):
                grown(lake, large, arguments.grown // arguments.runs)
            print(f"the large lake: {bytes_below(root / 'large') / MIB:.0f} MiB")
            show_views(large)
    finally:
        for name in ("lake", "large", *(() if arguments.keep else ("runs",))):
            shutil.rmtree(root / name, ignore_errors=True)


if __name__ == "__main__":
    main()
