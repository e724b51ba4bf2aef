"""DiskSpd's text byte for byte, in the layout of version 2.2."""

from dataclasses import replace
from datetime import UTC, datetime

from teijo.personas.diskspd.host import Processor, host_now
from teijo.personas.diskspd.parsing import parse
from teijo.personas.diskspd.profile import profile_text, system_text
from teijo.personas.diskspd.text import results_text
from teijo.personas.diskspd.usage import USAGE
from tests.personas.diskspd.samples import HOST, MIXED, NOTHING, line, measured, some


def test_the_input_of_a_plain_run():
    assert profile_text(parse(["testfile.dat"])) == (
        "\nCommand Line: diskspd testfile.dat\n"
        "\n"
        "Input parameters:\n"
        "\n"
        "\ttimespan:   1\n"
        "\t-------------\n"
        "\tduration: 10s\n"
        "\twarm up time: 5s\n"
        "\tcool down time: 0s\n"
        "\trandom seed: 0\n"
        "\tpath: 'testfile.dat'\n"
        "\t\tthink time: 0ms\n"
        "\t\tburst size: 0\n"
        "\t\tusing software cache\n"
        "\t\tusing hardware write cache, writethrough off\n"
        "\t\tperforming read test\n"
        "\t\tblock size: 64KiB\n"
        "\t\tusing sequential I/O (stride: 64KiB)\n"
        "\t\tnumber of outstanding I/O operations per thread: 2\n"
        "\t\tthreads per file: 1\n"
        "\t\tusing I/O Completion Ports\n"
        "\t\tIO priority: normal\n\n"
    )


def told(line: str) -> str:
    return profile_text(parse([*line.split(), "a.dat"]))


def test_each_option_is_told_in_its_place():
    text = told("-b4K -t2 -r -o32 -d60 -W1 -C2 -L -D -Sh -w30 -v -n -B1M -f8M -Z1M -z7")
    for part in (
        "\n\tusing verbose mode\n",
        "\tcool down time: 2s\n\taffinity disabled\n\tmeasuring latency\n"
        "\tgathering IOPS at intervals of 1000ms\n\trandom seed: 7\n",
        "\t\tsoftware cache disabled\n\t\thardware write cache disabled, writethrough on\n"
        "\t\twrite buffer size: 1MiB\n\t\twrite buffer source: random fill\n"
        "\t\tperforming mix test (read/write ratio: 70/30)\n\t\tblock size: 4KiB\n"
        "\t\tusing random I/O (alignment: 4KiB)\n",
        "\t\tbase file offset: 1MiB\n\t\tmax file size: 8MiB\n\t\tthreads per file: 2\n",
    ):
        assert part in text
    assert "\t\tusing interlocked sequential I/O (stride: 64KiB)\n" in told("-t2 -si")
    assert "\t\tthread stride size: 100KiB\n" in told("-t2 -T100K")
    assert "software write caches disabled, writethrough on\n" in told("-Sw -w100")
    assert "\t\tperforming write test\n" in told("-w100")
    assert "\t\tzeroing write buffers\n" in told("-Z")
    assert "\tgenerating random data for each write IO\n\t  WARNING: " in told("-Zr")
    pool = told("-F4 -O8")
    assert "\tthread pool with 4 threads\n" in pool
    assert "\t\trelative IO weight in thread pool: 1\n" in pool
    assert "threads per file" not in pool
    assert "\t\tusing completion routines (ReadFileEx/WriteFileEx)\n" in told("-x")


def test_the_host():
    assert system_text(HOST) == (
        "System information:\n"
        "\n"
        "\tcomputer name: host\n"
        "\tstart time: 2026/11/23 08:00:00 UTC\n"
        "\n"
        "\tcpu count:\t\t2\n"
        "\tcore count:\t\t2\n"
        "\tgroup count:\t\t1\n"
        "\tnode count:\t\t1\n"
        "\tsocket count:\t\t1\n"
        "\theterogeneous cores:\tn\n"
        "\n"
        "\tactive power scheme:\tperformance\n"
    )


def test_the_results_without_latencies():
    assert results_text(parse(["-D", "a"]), HOST, MIXED) == (
        "\n"
        "Results for timespan 1:\n"
        "*******************************************************************************\n"
        "\n"
        "actual test time:\t2.00s\n"
        "thread count:\t\t2\n"
        "\n"
        "CPU |  Usage |  User  | Kernel |  Idle\n"
        "----------------------------------------\n"
        "   0|  55.00%|  30.00%|  25.00%|  45.00%\n"
        "   1|   0.00%|   0.00%|   0.00%| 100.00%\n"
        "----------------------------------------\n"
        "avg.|  27.50%|  15.00%|  12.50%|  72.50%\n"
        "\n"
        "Total IO\n"
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s | IopsStdDev |  file\n"
        "------------------------------------------------------------"
        "-------------------------------\n"
        "     0 |         6144000 |         1500 |       2.93 |     7"
        "50.00 |     100.00 | testfile.dat (10MiB)\n"
        "     1 |         8192000 |         2000 |       3.91 |    10"
        "00.00 |       0.00 | testfile.dat (10MiB)\n"
        "------------------------------------------------------------"
        "-------------------------------\n"
        "total:          14336000 |         3500 |       6.84 |    1750.00 |     100.00\n"
        "\n"
        "Read IO\n"
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s | IopsStdDev |  file\n"
        "------------------------------------------------------------"
        "-------------------------------\n"
        "     0 |         4096000 |         1000 |       1.95 |     5"
        "00.00 |     100.00 | testfile.dat (10MiB)\n"
        "     1 |         8192000 |         2000 |       3.91 |    10"
        "00.00 |       0.00 | testfile.dat (10MiB)\n"
        "------------------------------------------------------------"
        "-------------------------------\n"
        "total:          12288000 |         3000 |       5.86 |    1500.00 |     100.00\n"
        "\n"
        "Write IO\n"
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s | IopsStdDev |  file\n"
        "------------------------------------------------------------"
        "-------------------------------\n"
        "     0 |         2048000 |          500 |       0.98 |     2"
        "50.00 |       0.00 | testfile.dat (10MiB)\n"
        "     1 |               0 |            0 |       0.00 |      "
        " 0.00 |       0.00 | testfile.dat (10MiB)\n"
        "------------------------------------------------------------"
        "-------------------------------\n"
        "total:           2048000 |          500 |       0.98 |     250.00 |       0.00\n"
    )


def test_the_latencies_stand_beside_the_rates_and_in_a_table_of_their_own():
    text = results_text(parse(["-L", "-D", "a"]), HOST, MIXED)
    assert (
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O "
        "per s |  AvgLat  | IopsStdDev | "
        "LatStdDev |  file\n" + "-" * 114 + "\n"
        "     0 |         6144000 |         1500 |       2.93 |     7"
        "50.00 |    0.667 |     100.00 | "
        "    0.236 | testfile.dat (10MiB)\n"
    ) in text
    assert (
        "     1 |               0 |            0 |       0.00 |      "
        " 0.00 |    0.000 |       0.00 | "
        "      N/A | testfile.dat (10MiB)\n"
    ) in text
    assert (
        "\nTotal latency distribution:\n"
        "  %-ile |  Read (ms) | Write (ms) | Total (ms)\n"
        "----------------------------------------------\n"
        "    min |      0.500 |      1.000 |      0.500\n"
        "   25th |      0.500 |      1.000 |      0.500\n"
    ) in text
    assert text.endswith(
        "9-nines |      0.500 |      1.000 |      1.000\n"
        "    max |      0.500 |      1.000 |      1.000\n"
    )


def test_without_writes_their_column_is_not_available():
    reads = measured(line(0, some(10, 500_000, 10), NOTHING))
    text = results_text(parse(["-L", "a"]), HOST, reads)
    assert "    min |      0.500 |        N/A |      0.500\n" in text
    assert "    max |      0.500 |        N/A |      0.500\n" in text


def test_of_several_targets_each_has_a_table_first():
    two = measured(
        line(0, some(10, 500_000, 10), NOTHING, target=0),
        line(1, some(10, 700_000, 10), NOTHING, target=1),
        paths=("a", "b"),
    )
    text = results_text(parse(["-L", "a", "b"]), HOST, two)
    first, second, every = (
        text.index(title)
        for title in ("Latency distribution: a\n", "Latency distribution: b\n", "Total latency")
    )
    assert first < second < every


def test_columns_of_the_host_are_there_where_it_has_several():
    places = tuple(Processor(number=n, core=n // 2, socket=n // 2, node=n // 2) for n in range(4))
    text = results_text(parse(["a"]), replace(HOST, processors=places), MIXED)
    assert "\nSocket | Node | Core | CPU |  Usage |  User  | Kernel |  Idle\n" in text
    assert "\n      0|     0|     0|    0|  55.00%|" in text
    assert "\n                       avg.|  27.50%|" in text


def test_a_test_without_time_has_no_results():
    text = results_text(parse(["a"]), HOST, replace(MIXED, elapsed_ns=0))
    assert text.endswith("interrupted before the measurements began. No results are displayed.\n")


def test_a_host_is_read_from_sysfs(tmp_path):
    for number in range(4):
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "core_id").write_text(f"{number % 2}\n")
        (folder / "physical_package_id").write_text(f"{number // 2}\n")
        (tmp_path / f"cpu{number}" / f"node{number // 2}").mkdir()
    found = host_now(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), tmp_path)
    assert found.started == "2026/01/02 03:04:05 UTC"
    assert (found.sockets, found.nodes, found.cores) == ((0, 1), (0, 1), (0, 1, 2, 3))
    assert not found.has_threads
    assert host_now(datetime(2026, 1, 2, tzinfo=UTC), tmp_path / "none").processors == (
        Processor(number=0),
    )


def test_the_help_names_what_is_not_here():
    assert "-rd -rs" in USAGE
