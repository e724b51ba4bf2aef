"""ORION's command line and .lun file: what is taken, and what is refused, and how it says so."""

from datetime import datetime
from pathlib import Path

import pytest

from teijo.errors import UsageError
from teijo.personas.orion import help as orion_help
from teijo.personas.orion.command import parse, read_luns, target_of
from teijo.personas.orion.persona import OrionPersona
from teijo.personas.persona import Call, Order, Said

PERSONA = OrionPersona()
NOW = datetime(2019, 3, 29, 10, 57)


def ordered(folder: Path, words: str, like: str = "") -> Order | Said:
    return PERSONA.order("orion", Call(words=words.split(), like=like, folder=folder, now=NOW))


def lun(folder: Path, *lines: str, name: str = "mytest") -> Path:
    path = folder / f"{name}.lun"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture
def disks(tmp_path: Path) -> Path:
    for name in ("a", "b,c", "d?size=8GiB"):
        (tmp_path / name).write_bytes(b"x" * 4096)
    return tmp_path


def test_a_command_line_becomes_a_run_of_the_method(disks):
    lun(disks, "a")
    order = ordered(
        disks,
        "-run advanced -testname mytest -write 20 -num_disks 2 -duration 120 -size_small 4 "
        "-size_large 128 -type SEQ -num_streamIO 8 -cache_size 512 -matrix col -num_small 3",
    )
    assert isinstance(order, Order)
    assert order.method == "classic.orion"
    assert (order.target, order.name) == ("./a", "mytest")
    assert order.settings == {
        "run": "advanced", "num_disks": "2", "write": "20", "duration": "120s",
        "size_small": "4KiB", "size_large": "128KiB", "type": "seq", "num_streamio": "8",
        "cache_size": "512MiB", "matrix": "col", "num_small": "3", "holes": "allow",
    }  # fmt: skip


def test_what_is_left_out_is_the_methods_own_but_the_disks_are_the_lines(disks):
    lun(disks, "a", "b,c", name="orion")
    order = ordered(disks, "-run simple")
    assert isinstance(order, Order)
    assert order.settings == {"run": "simple", "num_disks": "2", "holes": "allow"}
    assert order.target == r"concat:./a,./b\,c"
    assert order.begins.stdout.splitlines()[1:3] == [
        "orion_20190329_1057",
        "Test will take approximately 16 minutes",
    ]


def test_raid0_is_a_stripe_of_the_lines(disks):
    luns = read_luns(lun(disks, "a", "b,c"), disks)
    striped = parse(["-run", "simple", "-simulate", "RAID0"], "11.1")
    assert target_of(striped, luns) == r"stripe?chunk=1024KiB:./a,./b\,c"
    narrow = parse(["-run", "simple", "-simulate", "raid0", "-stripe", "64"], "11.1")
    assert target_of(narrow, luns) == r"stripe?chunk=64KiB:./a,./b\,c"


def test_a_simulated_device_may_stand_in_lun_alone(tmp_path):
    lun(tmp_path, "sim:mlc-a?capacity=4GiB")
    order = ordered(tmp_path, "-run simple -testname mytest -num_disks 1", "10.2")
    assert (order.target, "holes" in order.settings) == ("sim:mlc-a?capacity=4GiB", False)


def test_a_test_name_with_its_ending_looks_for_the_ending_twice(disks):
    lun(disks, "a")
    said = ordered(disks, "-run simple -testname mytest.lun", "12.2")
    assert said == Said(
        stdout="ORION: ORacle IO Numbers -- Version 12.2.0.1.0\nmytest.lun_20190329_1057\n",
        stderr="Failure in opening .lun file mytest.lun.lun (rwbase_read_luncfg:SlfFopen)"
        "orion_parse_args: rwbase_read_luncfg failed\n",
        exit_code=1,
    )
    early = ordered(disks, "-run simple -testname no -num_disks 1", "10.2")
    assert early.stderr == "Failure in opening .lun file no.lun\n"


@pytest.mark.parametrize("like", PERSONA.likes)
def test_help_lists_every_option_of_the_version(tmp_path, like):
    told = ordered(tmp_path, "-help", like)
    assert told.exit_code == 0
    assert told.stdout == orion_help.help_text(like)
    for name in ("-run", "-num_streamIO", "-stripe", "-cache_size", "-verbose"):
        assert f"  {name} " in told.stdout
    assert ("-hugenotneeded" in told.stdout) == (like == "12.2")
    assert ("oltp" in told.stdout) == (like != "10.2")
    assert all(len(line) <= 100 for line in told.stdout.splitlines())


# command line, version, what the refusal names
REFUSED = [
    ("-run simple", "10.2", "-testname"),
    ("-run simple -testname mytest", "10.2", "-num_disks"),
    ("-testname mytest", "11.1", "-run"),
    ("-run oltp -testname mytest -num_disks 1", "10.2", "-run oltp"),
    ("-run simple -hugenotneeded", "11.1", "-hugenotneeded"),
    ("-run simple -storax skgfr", "11.1", "-storax"),
    ("-run simple -storax oss", "12.2", "oss"),
    ("-run simple -matrix detailed", "11.1", "-matrix"),
    ("-run complex", "11.1", "complex"),
    ("-run simple -write x", "11.1", "x"),
    ("-run simple -write -1", "11.1", "-1"),
    ("-run simple -duration 9999999999", "11.1", "9999999999"),
    ("-run simple -run normal", "11.1", "twice"),
    ("-run simple -duration", "11.1", "-duration"),
    ("-run simple -depth 3", "11.1", "-depth"),
    ("run simple", "11.1", "run"),
    ("-run simple -testname E:\\mytest", "11.1", "Windows"),
    ("-run simple -testname \x1b[2J", "11.1", "x1b"),
    ("-run simple -testname folder/", "11.1", "folder/"),
    ("-run simple -num_disks 1000", "11.1", "num_disks"),
]


@pytest.mark.parametrize(("words", "like", "named"), REFUSED)
def test_what_cannot_be_is_refused_by_its_name(disks, words, like, named):
    lun(disks, "a")
    with pytest.raises(UsageError) as refused:
        ordered(disks, words, like)
    assert named in str(refused.value)
    assert refused.value.remedy
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("\\\\.\\E:", "Windows"),
        ("E:\\file", "Windows"),
        ("c:/file", "Windows"),
        ("a ", "No such file"),
        ("# a", "No such file"),
        ("d?size=8GiB", "such a letter"),
        ("\x1b[2Ja", "x1b"),
        ("a" * 5000, "aaa"),
        (".", "directory"),
    ],
)
def test_a_line_of_lun_that_names_nothing_here_is_refused(disks, line, named):
    with pytest.raises(UsageError) as refused:
        read_luns(lun(disks, line), disks)
    assert named in str(refused.value)


def test_a_lun_file_is_read_within_bounds(disks):
    for lines in ((), ("a",) * 257):
        with pytest.raises(UsageError, match="paths"):
            read_luns(lun(disks, *lines), disks)
    assert read_luns(disks / "none.lun", disks) is None
    assert read_luns(disks, disks) is None
    (disks / "big.lun").write_bytes(b"a\n" * 600_000)
    assert read_luns(disks / "big.lun", disks) is None
