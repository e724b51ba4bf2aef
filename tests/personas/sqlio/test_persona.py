"""The persona sqlio: a command line becomes a run; the run's findings become its text."""

import re
from datetime import datetime
from pathlib import Path

import pytest

from teijo.cli import app
from teijo.errors import UsageError
from teijo.personas.persona import Call, Order, Said
from teijo.personas.sqlio.persona import SqlioPersona

MIB = 1024 * 1024


def order(line: str, folder: Path = Path()) -> Order:
    call = Call(words=line.split(), like="", folder=folder, now=datetime(2026, 11, 23))
    found = SqlioPersona().order("sqlio", call)
    assert isinstance(found, Order)
    return found


def test_a_command_line_is_the_settings_of_the_method():
    found = order("-kW -s360 -frandom -o8 -b64 -t4 -i16 -S2 -LS sim:hdd-7200")
    assert found.method == "classic.sqlio"
    assert found.target == "sim:hdd-7200"
    assert found.settings == {
        "kind": "write", "threads": "4", "seconds": "360s", "factor": "random", "block": "64KiB",
        "depth": "8", "run_ios": "16", "buffering": "N", "start": "2",
    }  # fmt: skip
    assert found.begins.stdout.startswith("sqlio v1.5.SG\n")


def test_a_parameter_file_names_files_threads_and_sizes(tmp_path):
    (tmp_path / "a.dat").write_bytes(b"x" * 2 * MIB)
    (tmp_path / "param.txt").write_text(f"{tmp_path}/a.dat 2 0x0 1\n{tmp_path}/b.dat 3 0 4\n")
    found = order("-kR -frandom -o2 -Fparam.txt", tmp_path)
    assert found.settings["pools"] == "2@0+1MiB,3@2MiB+4MiB"
    assert found.target == f"concat:{tmp_path}/a.dat,{tmp_path}/b.dat?size=4194304"
    assert "5 threads reading" in found.begins.stdout


@pytest.mark.parametrize(
    ("line", "text", "named"),
    [
        ("-frandom", "a 2 0x3 100", "taskset"),
        ("", "a 2 0x0 100", "-frandom"),
        ("-frandom", "c:\\testfile.dat 2 0x0 100", "/mnt/c/testfile.dat"),
    ],
)
def test_what_a_parameter_file_asks_for_and_teijo_has_not_is_named(line, text, named, tmp_path):
    (tmp_path / "p.txt").write_text(text)
    with pytest.raises(UsageError) as refused:
        order(f"{line} -Fp.txt", tmp_path)
    assert named in refused.value.remedy


def test_the_file_cache_is_the_page_cache(tmp_path):
    (tmp_path / "a.dat").write_bytes(b"x" * 2 * MIB)
    assert order(f"-BY {tmp_path}/a.dat").target.endswith("?direct=no")
    assert not order(f"-BH {tmp_path}/a.dat").target.endswith("?direct=no")


def test_how_it_is_used_is_said_with_a_code():
    call = Call(words=["-?"], like="", folder=Path(), now=datetime(2026, 11, 23))
    said = SqlioPersona().order("sqlio", call)
    assert isinstance(said, Said)
    assert said.exit_code == 1
    assert "-k<R|W>" in said.stdout


def run(words: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[object, str]:
    with pytest.raises(SystemExit) as end:
        app.main(["as", *words])
    return end.value.code, capfd.readouterr().out


def figure(name: str, text: str) -> float:
    (found,) = re.findall(rf"{name}:\s*([0-9.]+)", text)
    return float(found)


def test_a_run_on_a_simulated_disk_prints_its_figures_and_leaves_a_run_file(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    code, text = run(["sqlio", "-s2", "-frandom", "-o8", "-b8", "-LS", "sim:hdd-7200"], capfd)
    assert code == 0
    iops = figure("IOs/sec", text)
    assert 50 < iops < 500
    assert figure("MBs/sec", text) == pytest.approx(iops * 8 / 1024, abs=0.01)
    # Little's law, in whole milliseconds.
    assert figure(r"Avg_Latency\(ms\)", text) == pytest.approx(8000 / iops, abs=8)
    assert len(list(tmp_path.glob("*.teijo"))) == 1


def test_a_run_writes_a_file_that_it_makes(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.txt").write_text("test.dat 2 0x0 4\n")
    code, text = run(["sqlio", "-kW", "-s1", "-frandom", "-o2", "-b4", "-BH", "-Fp.txt"], capfd)
    assert code == 0, text
    assert "using specified size: 4 MB for file: test.dat\n" in text
    assert figure("IOs/sec", text) > 0
    assert (tmp_path / "test.dat").stat().st_size == 4 * MIB
