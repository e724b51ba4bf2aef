"""The persona diskspd: a command line becomes a run; the run's findings its text and its XML."""

import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path

import pytest

from teijo.cli import app
from teijo.personas.diskspd.persona import DiskspdPersona
from teijo.personas.persona import Call, Order, Said

MIB = 1024 * 1024


def said(line: str) -> Order | Said:
    call = Call(words=line.split(), like="", folder=Path(), now=datetime(2026, 11, 23))
    return DiskspdPersona().order("diskspd", call)


def order(line: str) -> Order:
    found = said(line)
    assert isinstance(found, Order)
    return found


def test_a_command_line_is_the_settings_of_the_method():
    found = order("-b4K -o32 -t4 -r -w30 -d60 -W2 -C1 -Sh -L -D250 -z3 -Zr -B1M:8M sim:mlc-a")
    assert found.method == "classic.diskspd"
    assert found.target == "sim:mlc-a"
    assert found.settings == {
        "block": "4096", "outstanding": "32", "threads": "4", "access": "random",
        "alignment": "4096", "interlocked": "no", "stride": "none", "base": "1048576",
        "length": "8388608", "write": "30", "seconds": "60s", "warm_up": "2s", "cool_down": "1s",
        "interval": "250ms", "data": "random", "buffering": "uw", "seed": "3", "prepare": "none",
        "all_targets": "no",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("-Su -s", "access", "sequential"),
        ("-Su -t2 -si", "interlocked", "yes"),
        ("-Su -si", "interlocked", "no"),
        ("-Su -t2 -T1M", "stride", "1048576"),
        ("-Su -Z", "data", "zero"),
        ("-Su -Z1M", "data", "one-block"),
        ("-Su", "data", "counting"),
        ("-Su", "buffering", "u"),
        ("-Su -F3 -O9", "outstanding", "9"),
        ("-Su -F3", "all_targets", "yes"),
        ("-Su -f4M", "length", "4194304"),
    ],
)
def test_each_option_has_its_setting(line, key, value):
    assert order(f"{line} sim:mlc-a").settings[key] == value


def test_files_are_made_at_the_size_of_c_and_filled_with_zeros(tmp_path):
    found = order(f"-c4M -t2 {tmp_path}/a {tmp_path}/b")
    assert found.target == (
        f"concat:{tmp_path}/a?size=4194304&direct=no,{tmp_path}/b?size=4194304&direct=no"
    )
    assert found.settings["pools"] == "2@0+4MiB,2@4MiB+4MiB"
    assert found.settings["prepare"] == "zero"
    assert order(f"-c4M -Zr {tmp_path}/a").settings["prepare"] == "random"


def test_what_the_original_refuses_ends_with_its_code():
    refused = said("-q a.dat")
    assert isinstance(refused, Said)
    assert (refused.stderr, refused.exit_code) == ("ERROR: invalid option: '-q'\n", 3)
    assert isinstance(shown := said("-?"), Said)
    assert (shown.exit_code, shown.stdout.count("-b<size>")) == (0, 1)
    assert isinstance(empty := said(""), Said)
    assert empty.exit_code == 3


def test_the_profile_alone_is_printed_without_a_run():
    assert isinstance(shown := said("-Rpxml a.dat"), Said)
    assert ET.fromstring(shown.stdout).tag == "Profile"
    assert isinstance(text := said("-Rp a.dat"), Said)
    assert text.stdout.startswith("\nCommand Line: diskspd -Rp a.dat\n")


def test_the_originals_warnings_are_said_first():
    assert "consider -si" in order("-Su -t2 sim:mlc-a").begins.stderr
    assert "-si ignored" in order("-Su -si sim:mlc-a").begins.stderr
    assert order("-Su -t2 -si sim:mlc-a").begins.stderr == ""
    assert order("-Su -r -t2 sim:mlc-a").begins.stderr == ""


def run(words: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[object, str]:
    with pytest.raises(SystemExit) as end:
        app.main(["as", *words])
    return end.value.code, capfd.readouterr().out


def test_a_simulated_run_is_xml_whose_threads_add_up(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    words = [
        "diskspd",
        "-b4K",
        "-t2",
        "-r",
        "-w30",
        "-d2",
        "-W1",
        "-C1",
        "-L",
        "-D",
        "-Su",
        "-Rxml",
        "sim:mlc-a",
    ]
    code, text = run(words, capfd)
    assert code == 0
    root = ET.fromstring(text)
    assert root.findtext("TimeSpan/TestTimeSeconds") == "2.00"
    targets = root.findall("TimeSpan/Thread/Target")
    assert len(targets) == 2
    per_thread = [int(each.findtext("IOCount") or 0) for each in targets]
    assert min(per_thread) > 0
    whole = sum(float(each.attrib["Total"]) for each in root.findall("TimeSpan/Iops/Bucket"))
    assert whole == pytest.approx(sum(per_thread), rel=0.01)


def test_a_file_that_is_made_is_read_through_the_page_cache(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    code, text = run(["diskspd", "-c4M", "-b64K", "-d1", "-W0", "a.dat"], capfd)
    assert code == 0, text
    assert "\tusing software cache\n" in text
    assert " | a.dat (4MiB)\n" in text
    assert (tmp_path / "a.dat").read_bytes() == b"\0" * 4 * MIB
