"""Bonnie++'s command line: what it asks for, and what it refuses in the original's words."""

import getpass
from datetime import datetime
from pathlib import Path

import pytest

from teijo.errors import UsageError
from teijo.personas.bonnie.command import Host, Line, read, usage
from teijo.personas.bonnie.persona import BonniePersona
from teijo.personas.persona import Call, Order, Refused, Said
from teijo.terms.result import StepResult
from teijo.terms.step import Perform
from teijo.terms.work import Files

HOST = Host(ram_mib=512, name="box", is_root=False)
ROOT = Host(ram_mib=512, name="box", is_root=True)
ME = getpass.getuser()


def line_of(tmp_path: Path, *words: str, version: str = "2.00", host: Host = HOST) -> Line:
    return read(version, words, tmp_path, host)


def refused(tmp_path: Path, *words: str, version: str = "2.00", host: Host = HOST) -> Said:
    with pytest.raises(Refused) as caught:
        read(version, words, tmp_path, host)
    return caught.value.said


def test_without_options_it_is_twice_the_memory_and_16_k_files(tmp_path: Path) -> None:
    line = line_of(tmp_path)
    assert (line.asked.size_mib, line.asked.files, line.asked.per_char_mib) == (1024, 16, 3)
    assert (line.asked.seeks, line.asked.seekers, line.asked.name) == (8192, 5, "box")
    assert line.settings["size"] == "1024MiB"
    assert line.settings["files"] == "16384"
    assert line.settings["ram"] == "none"


def test_every_option_is_what_the_method_is_set_to(tmp_path: Path) -> None:
    line = line_of(
        tmp_path, "-d", ".", "-s", "2g:64k:4096:16", "-n", "2:4k:512:4:1k", "-m", "m", "-x", "3",
        "-f", "-b", "-D", "-q", "-c", "3", "-z", "77", "-r", "0",
    )  # fmt: skip
    assert line.settings == {
        "like": "2.00", "size": "2048MiB", "ram": "none", "chunk": "65536", "per_char": "none",
        "seeks": "4096", "seekers": "16", "files": "2048", "largest": "4096", "smallest": "512",
        "links": "none", "directories": "4", "file_chunk": "1024", "flush": "yes",
        "direct": "yes", "passes": "3",
    }  # fmt: skip
    assert (line.asked.concurrency, line.asked.name, line.quiet) == (3, "m", True)
    assert (line.seed, line.runs, line.folder) == (77, 3, tmp_path / ".")


@pytest.mark.parametrize(
    ("word", "size"),
    [("64", 64), ("2G", 2048), ("8M", 8), ("abc", 0), ("1t", 1048576), ("3x", 3)],
)
def test_a_size_is_read_as_the_original_reads_it(tmp_path: Path, word: str, size: int) -> None:
    assert line_of(tmp_path, "-r0", "-s", word).asked.size_mib == size


def test_1_03_knows_fewer_options_and_three_seekers(tmp_path: Path) -> None:
    line = line_of(tmp_path, "-s", "1024", "-n", "1:4096:512:4", version="1.03")
    assert line.asked.seekers == 3
    assert line.asked.per_char_mib == 1024  # all of it goes through stdio
    said = refused(tmp_path, "-c", "3", version="1.03")
    assert said.stderr == "bonnie++: invalid option -- 'c'\n" + usage("1.03")
    assert said.exit_code == 1


def test_links_are_a_largest_of_minus_one_and_two(tmp_path: Path) -> None:
    assert line_of(tmp_path, "-n", "1:-1").settings["links"] == "hard"
    assert line_of(tmp_path, "-n", "1:-2").settings["links"] == "symbolic"


def test_a_file_below_twice_the_memory_is_refused_in_their_words(tmp_path: Path) -> None:
    small = "File size should be double RAM for good results, RAM is 512M.\n"
    assert refused(tmp_path, "-s", "1023").stderr == small + usage("2.00")
    assert refused(tmp_path, "-s", "10", version="1.97").stderr == small + usage("1.97")
    assert refused(tmp_path, "-s", "10", version="1.03").stderr == small
    # They count the concurrency, which starts no copies.
    assert line_of(tmp_path, "-s", "512", "-c", "2").asked.size_mib == 512


def test_root_must_name_a_user_who_exists(tmp_path: Path) -> None:
    wants = 'You must use the "-u" switch when running as root.\n'
    assert refused(tmp_path, host=ROOT).stderr == wants + usage("2.00")
    assert refused(tmp_path, "-u", "no-such-user").stderr == "Can't find user no-such-user\n"
    assert refused(tmp_path, "-u", f"{ME}:no-such").stderr == "Can't find group no-such\n"
    assert line_of(tmp_path, "-u", "0:0", host=ROOT).begins == "Using uid:0, gid:0.\n"
    assert line_of(tmp_path, "-u", "0:0", "-q", host=ROOT).begins == ""


@pytest.mark.parametrize(
    "words",
    [("-s", "8:100", "-r0"), ("-s", "0", "-n", "0"), ("-c", "201"), ("extra",), ("-c", "0"),
     ("-n", "1:1:5"), ("-s", "8:1m", "-r0"), ("-V",), ("-g", "a", "-g", "b"), ("-s",)],
)  # fmt: skip
def test_what_cannot_be_is_answered_with_the_usage(tmp_path: Path, words: tuple[str, ...]) -> None:
    said = refused(tmp_path, *words)
    assert said.stderr.endswith(usage("2.00"))
    assert said.exit_code == 1


def test_a_folder_that_is_not_there_is_told_before_the_usage(tmp_path: Path) -> None:
    said = refused(tmp_path, "-d", "nowhere", "-V")
    assert said.stderr == 'Can\'t change to directory "nowhere".\n' + usage("2.00")


def test_too_many_files_for_the_memory_are_refused_with_their_number(tmp_path: Path) -> None:
    said = refused(tmp_path, "-r0", "-s", "8", "-n", "60000")
    assert said.stderr == "Not enough ram to test with 60000K files.\n"
    assert "8000K of files in 512 MiB of RAM" in refused(tmp_path, "-n", "8000").stderr


def test_a_byte_with_o_direct_fails_as_theirs_does(tmp_path: Path) -> None:
    said = refused(tmp_path, "-r0", "-s", "8", "-D")
    assert said.stderr == "Writing a byte at a time...Can't write() - disk full?\n"
    assert line_of(tmp_path, "-r0", "-s", "8", "-D", "-f").direct


@pytest.mark.parametrize(("word", "option"), [("-p3", "p"), ("-ys", "y"), ("-Zfile", "Z")])
def test_an_option_that_teijo_lacks_is_named(tmp_path: Path, word: str, option: str) -> None:
    with pytest.raises(UsageError, match=f"-{option}: Teijo"):
        line_of(tmp_path, word)


def order_of(tmp_path: Path, *words: str, like: str = "") -> Order:
    call = Call(words=("-r0", *words, "-u", "0"), like=like, folder=tmp_path, now=datetime.now())
    order = BonniePersona().order("bonnie++", call)
    assert isinstance(order, Order)
    return order


def progress(order: Order) -> str:
    """Return all that is said on stderr while a run has each of its phases."""
    told = order.begins.stderr
    work = Files(operation="stat", count=1)
    names = ["putc", "put_block", "rewrite", "getc", "get_block", "seeks"]
    names += [f"{way}_{what}" for way in ("seq", "ran") for what in ("create", "stat", "del")]
    for name in names:
        step = Perform(work=work, cell=name)
        for answer in (None, StepResult(started_ns=0, elapsed_ns=1)):
            told += BonniePersona().heard(order, step, answer).stderr
    return told


PROGRESS = """\
Using uid:0, gid:0.
Writing a byte at a time...done
Writing intelligently...done
Rewriting...done
Reading a byte at a time...done
Reading intelligently...done
start 'em...done...done...done...done...done...
Create files in sequential order...done.
Stat files in sequential order...done.
Delete files in sequential order...done.
Create files in random order...done.
Stat files in random order...done.
Delete files in random order...done.
"""


def test_the_progress_is_the_originals_by_version(tmp_path: Path) -> None:
    told = progress(order_of(tmp_path, "-s", "8"))
    assert told.partition("\n")[2] == PROGRESS.partition("\n")[2]
    old = PROGRESS.replace("Writing a byte at a time", "Writing with putc()")
    old = old.replace("Reading a byte at a time", "Reading with getc()")
    old = old.replace("em...done...done...done...done...done...", "em...done...done...done...")
    told = progress(order_of(tmp_path, "-s", "8", like="1.03"))
    assert told.partition("\n")[2] == old.partition("\n")[2]
    assert progress(order_of(tmp_path, "-s", "8", "-q")) == ""


def test_without_a_seed_the_clock_gives_one_for_the_run_and_its_column(tmp_path: Path) -> None:
    order = order_of(tmp_path, "-s", "8")
    line = order.memory["line"]
    assert isinstance(line, Line)
    assert order.seed == int(line.asked.seed) > 10**9
    assert order_of(tmp_path, "-s", "8", "-z", "5").seed == 5


def test_no_runs_are_no_run(tmp_path: Path) -> None:
    call = Call(words=("-r0", "-s8", "-x0", "-u0"), like="", folder=tmp_path, now=datetime.now())
    assert isinstance(BonniePersona().order("bonnie++", call), Said)
