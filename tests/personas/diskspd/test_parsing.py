"""DiskSpd's words read: every option, its own refusals, what Teijo has not."""

import pytest

from teijo.errors import UsageError
from teijo.personas.diskspd.command import CACHED, NO_OS_CACHE, Command, size_text
from teijo.personas.diskspd.parsing import ABSENT, parse, size_of
from teijo.personas.persona import Refused

KIB, MIB, GIB = 1024, 1024**2, 1024**3


def read(line: str) -> Command:
    return parse([*line.split(), "a.dat"])


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("-b4K", {"block": 4096}),
        ("-o32", {"outstanding": 32}),
        ("-t4", {"threads_per_target": 4}),
        ("-F4", {"threads": 4}),
        ("-F2 -O8", {"threads": 2, "requests": 8}),
        ("-r", {"random": True, "alignment": 65536}),
        ("-r4K", {"random": True, "alignment": 4096}),
        ("-rs100", {"random": True}),
        ("-s", {"alignment": 65536}),
        ("-t2 -si", {"threads_per_target": 2, "interlocked": True, "alignment": 65536}),
        ("-t2 -T1G", {"threads_per_target": 2, "stride": GIB}),
        ("-B1M", {"base": MIB}),
        ("-B1M:2M", {"base": MIB, "end": 3 * MIB}),
        ("-f8G", {"end": 8 * GIB}),
        ("-w", {"write": None}),
        ("-w30", {"write": 30}),
        ("-W0", {"warm_up": 0}),
        ("-C2", {"cool_down": 2}),
        ("-d60", {"duration": 60}),
        ("-c1G", {"create": GIB}),
        ("-D", {"deviations": True}),
        ("-D250", {"deviations": True, "bucket_ms": 250}),
        ("-L", {"latency": True}),
        ("-z7", {"seed": 7}),
        ("-Z", {"zero": True}),
        ("-Zr", {"random_data": True}),
        ("-Z1M", {"buffer_bytes": MIB}),
        ("-S", {"cache": NO_OS_CACHE}),
        ("-Su", {"cache": NO_OS_CACHE}),
        ("-Sw", {"write_through": True}),
        ("-Sh", {"cache": NO_OS_CACHE, "write_through": True}),
        ("-Suw", {"cache": NO_OS_CACHE, "write_through": True}),
        ("-h", {"cache": NO_OS_CACHE, "write_through": True}),
        ("-Sb", {"cache": CACHED}),
        ("-x", {"routines": True}),
        ("-n", {"no_affinity": True}),
        ("-ag", {}),
        ("-v", {"verbose": True}),
        ("-Rtext", {}),
        ("-Rxml", {"xml": True}),
        ("-Rp", {"profile_only": True}),
        ("-Rpxml", {"profile_only": True, "xml": True}),
    ],
)
def test_each_option_is_read(line, changed):
    if changed.get("write", 0) is None:
        with pytest.raises(Refused, match="no write ratio"):
            read(line)
        return
    usual = Command(line=f"diskspd {line} a.dat", targets=("a.dat",))
    expected = {**vars(usual), **changed}
    assert vars(read(line)) == expected


def test_a_block_is_the_unit_of_b_wherever_it_stands():
    assert read("-B8b -b4K").base == 32 * KIB
    assert size_of("2b", 4096) == 8192
    assert size_of("512", 4096) == 512
    assert size_of("1T", 1) == 1024**4
    assert [size_of(text, 1) for text in ("", "k", "-1", "1kb", "1.5k", "9" * 30)] == [None] * 6


@pytest.mark.parametrize(
    ("size", "text"),
    [(512, "512"), (4096, "4KiB"), (10 * MIB, "10MiB"), (12341234, "11.77MiB"), (1024**4, "1TiB")],
)
def test_sizes_are_shown_as_the_original_shows_them(size, text):
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-q", "a"], "ERROR: invalid option: '-q'\n"),
        (["-o0", "a"], "ERROR: incorrectly provided option: '-o0'\n"),
        (["-b4K"], "ERROR: need to provide at least one filename\n"),
        (
            ["a", "-b4K"],
            "ERROR: parameters (-b4K) must come before targets on the command line\n",
        ),
        (["-b0", "a"], "ERROR: invalid block size passed to -b\n"),
        (["-w101", "a"], "must be between 0 and 100 (percent)\n"),
        (["-r", "-s", "a"], "ERROR: sequential IO (-s) conflicts with random IO (-r/-rs)\n"),
        (["-r", "-r4K", "a"], "ERROR: random IO (-r) specified multiple times\n"),
        (["-F2", "-t2", "a"], "ERROR: -F and -t parameters cannot be used together\n"),
        (["-r", "-T1M", "-t2", "a"], "ERROR: -T conflicts with -r\n"),
        (["-si", "-T1M", "-t2", "a"], "ERROR: -si conflicts with -T\n"),
        (["-T1M", "a"], "ERROR: -T has no effect unless multiple threads per target are used\n"),
        (["-B2M", "-f1M", "a"], "ERROR: maximum (-f) target offset must be greater than base"),
        (["-B1M:", "a"], "ERROR: -Bbase:length - no length provided\n"),
        (["-B1M:1M", "-f9M", "a"], "can only be specified once\n"),
        (["-Z4K", "a"], "is smaller than the block size. Write buffer size: 4096"),
        (["-Rjson", "a"], "ERROR: invalid results format (-R): 'json'\n"),
        (["-R", "a"], "ERROR: unspecified results format -R: use [p]<text|xml>\n"),
        (["-vx", "a"], "ERROR: invalid verbose mode (-v): 'x'\n"),
        (["-zx", "a"], "ERROR: invalid random seed value 'x'"),
        (["-d-1", "a"], "ERROR: invalid measured duration time (-d): '-1'\n"),
        (["-Sq", "a"], "ERROR: unrecognized option provided to -S\n"),
        (["-Suh", "a"], "conflicts with earlier specification\n"),
        (["-Tx", "a"], "ERROR: invalid offset passed to -T\n"),
        (["-cx", "a"], "ERROR: invalid target size passed to -c\n"),
        (["-sx", "a"], "ERROR: invalid stride size passed to -s\n"),
        (["-rx", "a"], "ERROR: invalid alignment passed to -r\n"),
        (["-Zx", "a"], "ERROR: invalid size passed to -Z\n"),
        (["-Bx", "a"], "ERROR: invalid base target offset passed to -B\n"),
        (["-f", "a"], "ERROR: incorrectly provided option: '-f'\n"),
    ],
)
def test_what_the_original_refuses_is_refused_in_its_words(words, told):
    with pytest.raises(Refused) as refused:
        parse(words)
    assert told in str(refused.value)


@pytest.mark.parametrize("letter", ABSENT)
def test_what_teijo_has_not_is_named_with_a_way_out(letter):
    with pytest.raises(UsageError) as refused:
        read(f"-{letter}1")
    assert f"-{letter}1" in refused.value.message
    assert refused.value.remedy


@pytest.mark.parametrize(
    "line",
    [
        "-a0,1", "-frs", "-rs50", "-rdpct90/10", "-s4K", "-Sm", "-Sr", "-vs", "-Z1M,data.bin",
        "-O4", "-d0",
    ],
)  # fmt: skip
def test_forms_of_options_that_teijo_has_not_are_named(line):
    with pytest.raises(UsageError) as refused:
        read(line)
    assert refused.value.remedy


def test_a_seed_without_a_number_is_drawn():
    assert len({read("-z").seed for _ in range(8)}) > 1
