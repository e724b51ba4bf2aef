"""SQLIO's words read: every option, what it refuses itself, what Teijo has not."""

import pytest

from teijo.errors import UsageError
from teijo.personas.persona import Refused
from teijo.personas.sqlio.command import Command, parse


def test_without_a_word_it_is_the_originals_default():
    assert parse([]) == Command(files=("testfile.dat",))


@pytest.mark.parametrize(
    ("word", "field", "value"),
    [
        ("-kW", "kind", "W"),
        ("-t8", "threads", 8),
        ("-s360", "seconds", 360),
        ("-frandom", "factor", "random"),
        ("-fsequential", "factor", "sequential"),
        ("-f128", "factor", "128"),
        ("-b64", "block_kb", 64),
        ("-o8", "depth", 8),
        ("-i16", "run_ios", 16),
        ("-mC4", "sub_blocks", "C4"),
        ("-LS", "latency", "S"),
        ("-LP", "latency", "P"),
        ("-U", "processors", True),
        ("-Up", "processors", True),
        ("-BH", "buffering", "H"),
        ("-S100", "start_blocks", 100),
        ("-Fparam.txt", "param_file", "param.txt"),
        ("-R/dev/sdx,/dev/sdy", "files", ("/dev/sdx", "/dev/sdy")),
    ],
)
def test_each_option_is_read(word, field, value):
    words = [word, "-o1"] if word.startswith("-R") else [word]
    assert getattr(parse(words), field) == value


def test_names_of_files_stand_anywhere():
    assert parse(["a.dat", "-o2", "b.dat"]).files == ("a.dat", "b.dat")


@pytest.mark.parametrize("word", ["-?", "-k", "-kX", "-tmany", "-BQ", "-q", "-", "-o", "-65"])
def test_what_is_none_of_its_options_shows_how_it_is_used(word):
    if word == "-":
        assert parse([word]).files == ("-",)
        return
    with pytest.raises(Refused):
        parse([word])


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["-p0"], "taskset"),
        (["-a0x3"], "taskset"),
        (["-dEF", "testfile.dat"], "/mnt/disk1/testfile.dat"),
        (["-RE,,F"], "/dev/disk/by-id/NAME"),
        (["-R1"], "/dev/disk/by-id/NAME"),
        (["-LSi"], "-LS"),
        (["-v1.1.1"], "Leave it out"),
        (["-D50"], "Leave it out"),
        (["-o8", "-mC4"], "Leave one of them out"),
        (["-Fparam.txt", "a.dat"], "parameter file"),
        (["a.dat", "b.dat"], "-o1"),
        (["-t257"], "within these"),
    ],
)
def test_what_teijo_has_not_is_named_with_a_way_out(words, named):
    with pytest.raises(UsageError) as refused:
        parse(words)
    assert named in refused.value.remedy
