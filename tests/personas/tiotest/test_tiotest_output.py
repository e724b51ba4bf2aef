"""tiotest's tables and terse lines, byte for byte; numbers are turned back into times."""

import pytest

from teijo.personas.tiotest.output import Layout, Timing, Timings, tables, terse

MIB = 1024 * 1024

SAMPLE = """\
Tiotest results for 2 concurrent io threads:
,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
| Write           8 MBs |    0.0 s | 678.599 MB/s |   0.1 %  |  45.4 % |
| Random Write    1 MBs |    0.0 s | 131.857 MB/s |   2.2 %  |   8.5 % |
| Read            8 MBs |    0.0 s | 1514.578 MB/s |   5.8 %  |  27.0 % |
| Random Read     1 MBs |    0.0 s | 887.784 MB/s |   6.6 %  |  32.3 % |
`----------------------------------------------------------------------'
Tiotest latency results:
,-------------------------------------------------------------------------.
| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
+--------------+-----------------+-----------------+----------+-----------+
| Write        |        0.005 ms |        4.056 ms |  0.00000 |   0.00000 |
| Random Write |        0.002 ms |        0.013 ms |  0.00000 |   0.00000 |
| Read         |        0.003 ms |        3.661 ms |  0.00000 |   0.00000 |
| Random Read  |        0.001 ms |        0.008 ms |  0.00000 |   0.00000 |
|--------------+-----------------+-----------------+----------+-----------|
| Total        |        0.004 ms |        4.056 ms |  0.00000 |   0.00000 |
`--------------+-----------------+-----------------+----------+-----------'

"""
TERSE = """\
write:8.00000,0.01434,0.00082,0.00409,0.00377,2.46800,0.00000,0.00000
rwrite:0.78125,0.00207,0.00000,0.00070,0.00171,0.00600,0.00000,0.00000
read:8.00000,0.00783,0.00000,0.00233,0.00466,2.22700,0.00000,0.00000
rread:0.78125,0.00449,0.00040,0.00000,0.00181,0.03800,0.00000,0.00000
total:0.00400,2.46800,0.00000,0.00000
"""
SKIPPED = """\
Tiotest results for 2 concurrent io threads:
,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
| Random Write    1 MBs |    0.0 s | 123.792 MB/s |   0.0 %  |  16.8 % |
| Random Read     1 MBs |    0.0 s |  97.086 MB/s |   0.0 %  |   4.6 % |
`----------------------------------------------------------------------'
"""
EMPTY = """\
Tiotest results for 2 concurrent io threads:
,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
`----------------------------------------------------------------------'
Tiotest latency results:
,-------------------------------------------------------------------------.
| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
+--------------+-----------------+-----------------+----------+-----------+
|--------------+-----------------+-----------------+----------+-----------|
| Total        |        0.000 ms |        0.000 ms |  0.00000 |   0.00000 |
`--------------+-----------------+-----------------+----------+-----------'

"""
FIRST_OF_0_3_1 = """\
Tiotest results for 8 concurrent io threads:

,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU | Sys CPU  |
+-----------------------+----------+--------------+----------+---------+
| Write        1600 MBs |    3.2 s | 502.596 MB/s |  37.6 %  | 1290.4 % |
`----------------------------------------------------------------------'
"""
ARTICLE = """\
| Write        |        0.326 ms |     1427.121 ms |  0.00000 |   0.00000 |
| Random Write |        5.722 ms |    19829.566 ms |  0.01000 |   0.00100 |
"""


def timing(
    mib: float, rate: float, cpu: tuple[float, float], mean_us: float, longest_us: int, calls: int
) -> Timing:
    elapsed_ns = round(mib / rate * 1e6) * 1000
    user, system = (int((percent + 0.005) / 100 * elapsed_ns) for percent in cpu)
    return Timing(
        amount_bytes=round(mib * MIB), elapsed_ns=elapsed_ns, user_ns=user, system_ns=system,
        calls=calls, latency_ns=round(mean_us * 1000 * calls), longest_ns=longest_us * 1000 + 999,
    )  # fmt: skip


def sample() -> Timings:
    return {
        "write": timing(8, 678.599, (0.1, 45.4), 4.6, 4056, 2048),
        "rwrite": timing(0.78125, 131.857, (2.2, 8.5), 2.1, 13, 200),
        "read": timing(8, 1514.578, (5.8, 27.0), 3.2, 3661, 2048),
        "rread": timing(0.78125, 887.784, (6.6, 32.3), 1.4, 8, 200),
    }


def test_the_tables_are_the_originals() -> None:
    assert tables(Layout(like="0.4.2", threads=2), sample()) == SAMPLE


def test_a_phase_that_was_skipped_has_no_row() -> None:
    timings = {
        "rwrite": timing(0.78125, 123.792, (0.0, 16.8), 2.6, 39, 200),
        "rread": timing(0.78125, 97.086, (0.0, 4.6), 1.9, 55, 200),
    }
    assert tables(Layout(like="0.4.2", threads=2, with_latency=False), timings) == SKIPPED


def test_a_directory_that_is_not_there_leaves_empty_tables() -> None:
    assert tables(Layout(like="0.4.2", threads=2), {}) == EMPTY


def test_0_3_1_has_a_blank_line_and_counts_the_processor_once_for_each_thread() -> None:
    timings = {"write": timing(1600, 502.596, (4.7, 161.3), 15, 80, 409600)}
    told = tables(Layout(like="0.3.1", threads=8, with_latency=False), timings)
    assert told == FIRST_OF_0_3_1


def test_the_terse_lines_are_the_originals() -> None:
    def one(mib: float, us: int, user: int, system: int, mean: float, longest: int) -> Timing:
        calls = round(mib * 256)
        return Timing(
            amount_bytes=round(mib * MIB), elapsed_ns=us * 1000, user_ns=user * 1000,
            system_ns=system * 1000, calls=calls, latency_ns=round(mean * 1000 * calls),
            longest_ns=longest * 1000,
        )  # fmt: skip

    timings = {
        "write": one(8, 14340, 820, 4090, 3.77, 2468),
        "rwrite": one(0.78125, 2070, 0, 700, 1.71, 6),
        "read": one(8, 7830, 0, 2330, 4.66, 2227),
        "rread": one(0.78125, 4490, 400, 0, 1.81, 38),
    }
    assert terse(Layout(like="0.4.2", threads=2), timings) == TERSE


def test_terse_lines_of_skipped_phases_are_zeros() -> None:
    told = terse(Layout(like="0.4.2", threads=2), {}).splitlines()
    assert told[1] == "rwrite:" + ",".join(["0.00000"] * 8)
    assert told[-1] == "total:0.00000,0.00000,0.00000,0.00000"


@pytest.mark.parametrize(
    ("name", "mean_us", "longest_us", "over"),
    [("write", 326, 1_427_121, (0, 0)), ("rwrite", 5722, 19_829_566, (10, 1))],
)
def test_the_articles_latencies_stand_in_their_columns(
    name: str, mean_us: int, longest_us: int, over: tuple[int, int]
) -> None:
    calls = 100_000
    one = Timing(
        amount_bytes=MIB, elapsed_ns=10**9, user_ns=0, system_ns=0, calls=calls,
        latency_ns=mean_us * 1000 * calls, longest_ns=longest_us * 1000, over_2s=over[0],
        over_10s=over[1],
    )  # fmt: skip
    told = tables(Layout(like="0.4.2", threads=8), {name: one}).splitlines()
    assert set(ARTICLE.splitlines()) & set(told)
