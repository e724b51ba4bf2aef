"""SQLIO's text byte for byte, by published outputs, and as its users' scripts read it."""

import re

import pytest

from teijo.methods.classic.sqlio.found import Printed
from teijo.personas.processors import Busy
from teijo.personas.sqlio.command import Command, parse
from teijo.personas.sqlio.output import INITIALIZED, FileLine, begins, results
from teijo.personas.sqlio.usage import USAGE

PUBLISHED = Printed(
    ios_per_s=421.88,
    mbs_per_s=3.29,
    min_ms=0,
    avg_ms=9,
    max_ms=1586,
    percents=(78, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, *(0,) * 13, 4),
)


def file(name="testfile.dat", *, threads=4, mask=0, size_mb=2000, specified=True) -> FileLine:
    return FileLine(name=name, threads=threads, mask=mask, size_mb=size_mb, specified=specified)


def test_a_published_run_with_a_parameter_file_byte_for_byte():
    command = parse(["-kW", "-t2", "-s30", "-o1", "-frandom", "-b8", "-BH", "-LS", "-Fparam.txt"])
    text = begins(command, [file()]) + INITIALIZED + results(command, PUBLISHED)
    assert text == (
        "sqlio v1.5.SG\n"
        "using system counter for latency timings, 1000000000 counts per second\n"
        "parameter file used: param.txt\n"
        "\tfile testfile.dat with 4 threads (0-3) using mask 0x0 (0)\n"
        "4 threads writing for 30 secs to file testfile.dat\n"
        "\tusing 8KB random IOs\n"
        "\tenabling multiple I/Os per thread with 1 outstanding\n"
        "\tbuffering set to use hardware disk cache (but not file cache)\n"
        "using specified size: 2000 MB for file: testfile.dat\n"
        "initialization done\n"
        "CUMULATIVE DATA:\n"
        "throughput metrics:\n"
        "IOs/sec:   421.88\n"
        "MBs/sec:     3.29\n"
        "latency metrics:\n"
        "Min_Latency(ms): 0\n"
        "Avg_Latency(ms): 9\n"
        "Max_Latency(ms): 1586\n"
        "histogram:\n"
        "ms: 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24+\n"
        "%: 78  2  2  2  2  2  2  1  1  1  1  0  0  0  0  0  0  0  0  0  0  0  0  0  4\n"
    )


def test_a_run_on_a_file_that_is_there():
    command = parse(["-kR", "-t8", "-s120", "-fsequential", "-b64", "/mnt/e/TestFile.dat"])
    one = file("/mnt/e/TestFile.dat", threads=8, size_mb=24576, specified=False)
    assert begins(command, [one]) == (
        "sqlio v1.5.SG\n"
        "8 threads reading for 120 secs from file /mnt/e/TestFile.dat\n"
        "\tusing 64KB sequential IOs\n"
        "using current size: 24576 MB for file: /mnt/e/TestFile.dat\n"
    )


def test_by_default_the_strip_is_told():
    text = begins(Command(), [file(threads=1, specified=False)])
    assert "1 thread reading for 30 secs from file testfile.dat\n" in text
    assert "\tusing 2KB IOs over 128KB stripes with 64 IOs per run\n" in text


def test_threads_of_several_files_are_counted_on():
    command = parse(["-Fp.txt", "-o4", "-kW"])
    text = begins(command, [file("a", threads=2), file("b", threads=1)])
    assert "\tfile a with 2 threads (0-1) using mask 0x0 (0)\n" in text
    assert "\tfile b with 1 thread (2) using mask 0x0 (0)\n" in text
    assert "3 threads writing for 30 secs to files a and b\n" in text
    assert "using specified size: 2000 MB for file: b\n" in text


def test_without_a_timer_there_are_no_latencies():
    assert results(Command(), PUBLISHED) == (
        "CUMULATIVE DATA:\nthroughput metrics:\nIOs/sec:   421.88\nMBs/sec:     3.29\n"
    )


def test_all_in_one_bucket_leaves_no_blank():
    whole = Printed(
        ios_per_s=219753.4, mbs_per_s=1716.82, min_ms=0, avg_ms=0, max_ms=3,
        percents=(100, *(0,) * 24),
    )  # fmt: skip
    text = results(Command(latency="S"), whole)
    assert "IOs/sec: 219753.40\n" in text
    assert "%:100  0  0" in text


def test_the_processors_are_told_where_they_are_asked_for():
    busy = (Busy(number=0, user=10.0, kernel=5.5, idle=84.5),)
    assert results(Command(processors=True), PUBLISHED, busy).endswith(
        "CPU   Total%    User%  Kernel%\n  0    15.50    10.00     5.50\n"
    )


def test_how_it_is_used_ends_with_the_defaults():
    assert USAGE.endswith("Defaults:\n        -kR -t1 -s30 -f64 -b2 -i64 -BN testfile.dat\n")


# As scripts that collect SQLIO's logs have it: one pattern a figure, over a log of many runs.
FIGURES = {
    "IOs": r"^IOs/sec:\s*([0-9.]+)",
    "MBs": r"^MBs/sec:\s*([0-9.]+)",
    "avg": r"Avg_Latency\(ms\):\s*([0-9]+)",
    "max": r"Max_Latency\(ms\):\s*([0-9]+)",
    "threads": r"^([0-9]+) threads? (?:reading|writing)",
    "kind": r"threads? (reading|writing) for",
    "block": r"using ([0-9]+)KB",
    "order": r"KB (random|sequential) IOs",
    "depth": r"with ([0-9]+) outstanding",
}


def test_a_script_of_its_users_reads_a_log_of_two_runs():
    log = ""
    for words, figures in (
        ("-kR -t4 -frandom -o8 -b8 -LS", PUBLISHED),
        ("-kW -t1 -fsequential -o64 -b256 -LS", PUBLISHED),
    ):
        command = parse(words.split())
        one = file(threads=command.threads, specified=False)
        log += begins(command, [one]) + INITIALIZED + results(command, figures) + "\n"
    read = {name: re.findall(pattern, log, re.MULTILINE) for name, pattern in FIGURES.items()}
    assert read == {
        "IOs": ["421.88"] * 2, "MBs": ["3.29"] * 2, "avg": ["9"] * 2, "max": ["1586"] * 2,
        "threads": ["4", "1"], "kind": ["reading", "writing"], "block": ["8", "256"],
        "order": ["random", "sequential"], "depth": ["8", "64"],
    }  # fmt: skip


def test_the_histogram_of_a_log_is_split_at_blanks():
    text = results(Command(latency="S"), PUBLISHED)
    heading, row = text.splitlines()[-2:]
    assert len(heading.split()) == len(row.split()) == 26
    assert [int(each) for each in row.split()[1:]] == list(PUBLISHED.percents)


@pytest.mark.parametrize("buffering", ["N", "H", "S", "Y"])
def test_each_buffering_is_told_only_where_it_is_asked_for(buffering):
    assert "buffering set" in begins(Command(buffering=buffering), [file()])
    assert "buffering set" not in begins(Command(), [file()])
