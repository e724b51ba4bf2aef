"""tiobench.pl's report, byte for byte; numbers are turned back into tiotest's times."""

from teijo.personas.tiobench.output import Row, report
from teijo.personas.tiotest.output import Timing, Timings

MIB = 1024 * 1024
TOP = (
    "                              File   Blk   Num                         Avg      Maximum"
    "      Lat%     Lat%     CPU\n"
    "Identifier                    Size   Size  Thr      Rate     (CPU%)  Latency    Latency"
    "      >2s      >10s     Eff\n"
    "---------------------------- ------ ------ ---  ------------ ------ --------- -----------"
    "  -------- -------- -------\n"
)
UNITS = """\

Unit information
================
File size = megabytes (2^20 bytes, 1,048,576 bytes)
Blk Size  = bytes
Rate      = megabytes per second
CPU%      = percentage of CPU used during the test
Latency   = milliseconds
Lat%      = percent of requests that took longer than X seconds
CPU Eff   = Rate divided by CPU% - throughput per cpu load
"""
ROWS = {
    "Sequential Reads": (
        "6.18.44                        4     4096    2       2380.95 58.63%     0.002 "
        "       0.18   0.00000  0.00000    4061\n"
        "6.18.44                        4     8192    2        862.07 21.55%     0.019 "
        "       0.74   0.00000  0.00000    4000\n"
    ),
    "Random Reads": (
        "6.18.44                        4     4096    2        520.83    32%     0.003 "
        "       0.03   0.00000  0.00000    1628\n"
        "6.18.44                        4     8192    2        710.23 29.09%     0.004 "
        "       0.05   0.00000  0.00000    2441\n"
    ),
    "Sequential Writes": (
        "6.18.44                        4     4096    2        742.12 37.84%     0.004 "
        "       0.17   0.00000  0.00000    1961\n"
        "6.18.44                        4     8192    2        899.89 31.49%     0.005 "
        "       0.07   0.00000  0.00000    2857\n"
    ),
    "Random Writes": (
        "6.18.44                        4     4096    2        256.14 22.29%     0.004 "
        "       0.03   0.00000  0.00000    1149\n"
        "6.18.44                        4     8192    2        196.54 12.45%     0.005 "
        "       0.02   0.00000  0.00000    1578\n"
    ),
}
SAMPLE = UNITS + "".join(
    f"\n{title}\n{'=' * len(title)}\n{TOP}{rows}" for title, rows in ROWS.items()
)
RUNS = """\
write:4.00000,0.00586,0.00042,0.00181,0.00207,0.09300,0.00000,0.00000
rwrite:0.39062,0.00126,0.00007,0.00026,0.00196,0.00700,0.00000,0.00000
read:4.00000,0.00169,0.00016,0.00086,0.00127,0.15200,0.00000,0.00000
rread:0.39062,0.00071,0.00003,0.00021,0.00172,0.01500,0.00000,0.00000
write:4.00000,0.00492,0.00000,0.00185,0.00198,0.07600,0.00000,0.00000
rwrite:0.39062,0.00179,0.00005,0.00030,0.00219,0.02300,0.00000,0.00000
read:4.00000,0.00167,0.00032,0.00063,0.00105,0.03000,0.00000,0.00000
rread:0.39062,0.00079,0.00006,0.00018,0.00168,0.01500,0.00000,0.00000
write:4.00000,0.00481,0.00056,0.00093,0.00284,0.04400,0.00000,0.00000
rwrite:0.78125,0.00200,0.00005,0.00039,0.00233,0.00700,0.00000,0.00000
read:4.00000,0.00180,0.00029,0.00050,0.00169,0.05700,0.00000,0.00000
rread:0.78125,0.00056,0.00008,0.00018,0.00226,0.02700,0.00000,0.00000
write:4.00000,0.00408,0.00024,0.00107,0.00246,0.02600,0.00000,0.00000
rwrite:0.78125,0.00595,0.00013,0.00042,0.00257,0.01400,0.00000,0.00000
read:4.00000,0.00748,0.00030,0.00091,0.01688,0.68500,0.00000,0.00000
rread:0.78125,0.00164,0.00038,0.00000,0.00219,0.02700,0.00000,0.00000
"""
"""tiotest's own lines of two runs at 4,096 and two at 8,192 bytes, that the sample was made of."""


def runs() -> list[Timings]:
    lines = RUNS.splitlines()
    return [
        {line.partition(":")[0]: _timing(line) for line in lines[at : at + 4]}
        for at in range(0, len(lines), 4)
    ]


def _timing(line: str) -> Timing:
    mib, time, user, system, mean, longest, *_ = map(float, line.partition(":")[2].split(","))
    calls = 100_000
    return Timing(
        amount_bytes=round(mib * MIB), elapsed_ns=round(time * 1e9), user_ns=round(user * 1e9),
        system_ns=round(system * 1e9), calls=calls, latency_ns=round(mean * 1e6 * calls),
        longest_ns=round(longest * 1e6),
    )  # fmt: skip


def test_the_report_is_the_originals_with_its_sums_over_runs() -> None:
    made = runs()
    rows = [
        Row(size_mib=4, block_bytes=4096, threads=2, runs=made[:2]),
        Row(size_mib=4, block_bytes=8192, threads=2, runs=made[2:]),
    ]
    assert report("6.18.44", rows) == SAMPLE


def test_a_long_identifier_is_cut() -> None:
    row = Row(size_mib=4, block_bytes=4096, threads=1, runs=runs()[:1])
    told = report("averyveryverylongidentifierthatgoeson", [row])
    assert "\naveryveryverylongidentifiert   4     4096    1 " in told
