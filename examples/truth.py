"""How far from the truth the classic tools' numbers are: each on the same simulated drive.

Prints the table of docs/classic-tools.md. The drive is the S3700, whose truth is what it is
calibrated to (3 %): 75,000 reads and, in steady state, 32,000 writes of 4 KiB a second at random,
500 and 365 MB/s read and written in sequence. It is taken without its capacitors, so that a flush
programs a page, which takes 359 µs and 47 µs of its link and controller.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from server_files import FILES as SMALL
from server_files import LOG, RECIPES, prices

from teijo import api, units

DRIVE = "s3700?power_loss_protection=off"
FILES = f"os({DRIVE})?memory=64MiB"
WRITES, READS, WRITTEN, READ = 32_000.0, 75_000.0, 365.0, 500.0
ORION = "classic.orion run=advanced num_disks=2 size_small=4KiB duration=2s"
MARK = "classic.crystaldiskmark measure=2s interval=0s"
SQLIO = "classic.sqlio factor=random block=4KiB depth=32 seconds=5s"
BONNIE = "classic.bonnie like=1.97 size=256MiB ram=64MiB files=0 per_char=none"
TIOTEST = "classic.tiotest threads=8 size=32MiB random=8192"
SQL = "classic.sql-bench create"
SERVER = RECIPES["MariaDB 10.11"]
FLUSH_NS = 406_000
TABLES = units.NS_PER_S / (SERVER.flushes * FLUSH_NS)
"""Tables a second that the drive can make and drop durably."""
ROWS = (
    # tool, its number, test, where it is found, unit, truth
    ("ORION", "maximum small IOPS, -write 100", f"{ORION} write=100", "max", "IOPS", WRITES),
    ("ORION", "maximum small IOPS", ORION, "max", "IOPS", READS),
    ("CrystalDiskMark", "RND4K Q32T1 write", MARK, "RND 4 KiB Q32T1 write", "IOPS", WRITES),
    ("CrystalDiskMark", "RND4K Q32T1 read", MARK, "RND 4 KiB Q32T1 read", "IOPS", READS),
    ("CrystalDiskMark", "SEQ1M Q8T1 write", MARK, "SEQ 1 MiB Q8T1 write", "MB/s", WRITTEN),
    ("CrystalDiskMark", "SEQ1M Q8T1 read", MARK, "SEQ 1 MiB Q8T1 read", "MB/s", READ),
    ("SQLIO", "-kW -frandom -b4 -o32", f"{SQLIO} kind=write", "", "IOPS", WRITES),
    ("SQLIO", "-kR -frandom -b4 -o32", f"{SQLIO} kind=read", "", "IOPS", READS),
    ("Bonnie++", "block write", BONNIE, "put_block", "MB/s", WRITTEN),
    ("Bonnie++", "block read", BONNIE, "get_block", "MB/s", READ),
    ("tiotest", "random write, 8 threads", TIOTEST, "rwrite", "IOPS", WRITES),
    ("tiotest", "random read, 8 threads", TIOTEST, "rread", "IOPS", READS),
    ("sql-bench", "create, made and dropped", SQL, "yes", "tables/s", TABLES),
    ("sql-bench", "create, with durable=off", SQL, "no", "tables/s", TABLES),
)
HEAD = "| tool | its number | truth | as the original | off by | strict | off by |"


def tables(strict: str, fsync: str) -> float:
    """Return the tables a second of sql-bench's create, by the operations of a server."""
    files = " ".join(f"{key}={value}" for key, value in {**SMALL, "fsync": fsync}.items())
    log = " ".join(f"{key}={value}" for key, value in LOG.items())
    took = prices(measured(f"files {files}", ""), measured(f"classic.sqlio {log}", strict))
    recipe = SERVER if fsync == "yes" else replace(SERVER, new_flushes=0, log_flushes=0)
    return units.NS_PER_S / units.NS_PER_MS / took.table(recipe)


@cache
def measured(test: str, strict: str) -> api.Run:
    """Return a run of a test, with strict on or off, on a drive made anew."""
    method, *words = test.split()
    settings = dict(word.split("=") for word in words)
    target = FILES if method in ("files", "classic.bonnie", "classic.tiotest") else DRIVE
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.teijo"
        settings |= {"strict": strict} if strict else {}
        api.run(method, f"sim:{target}", output=path, settings=settings, seed=1)
        return api.open(path)


def number(test: str, strict: str, where: str, unit: str) -> float:
    """Return the number that the tool shows: of ORION and CrystalDiskMark the best of several."""
    if test == SQL:
        return tables(strict, where)
    findings = measured(test, strict).findings
    if test.startswith((ORION, MARK)):
        name = "maximum small IOPS" if where == "max" else f"{where}, score"
        value = next(each.value for each in findings.scalars if each.name == name)
        assert value is not None, "it was measured"
        return value * 1e6 / 4096 if test == MARK and unit == "IOPS" else value
    cell = next(one for one in findings.cells if where in ("", *dict(one.labels).values()))
    value = cell.iops if unit == "IOPS" else cell.throughput_mb_s
    assert value is not None, "it was measured"
    return value


def table() -> str:
    """Return the table, a row a number."""
    lines = [HEAD, "|---|---|---|---|---|---|---|"]
    for tool, name, test, where, unit, truth in ROWS:
        told = [f"{truth:,.0f} {unit}"]
        for strict in ("off", "on"):
            value = number(test, strict, where, unit)
            told += [f"{value:,.0f}", f"{100 * (value / truth - 1):+.0f} %"]
        lines.append(f"| {tool} | {name} | {' | '.join(told)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
