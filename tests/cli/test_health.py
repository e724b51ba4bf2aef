"""The verb `health`: the verdict first, then what is known, JSON, exit codes, the other text."""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from teijo.cli import console
from teijo.device.checks import Subject
from teijo.device.health import report
from teijo.device.target import BlockTarget
from tests.cli.conftest import Teijo
from tests.drives.disk import Knobs
from tests.drives.in_process import NvmeBench
from tests.drives.sg_in_process import SataBench

DRIVE = "/dev/nvme0n1"


@pytest.fixture
def nvme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., NvmeBench]]:
    made: list[NvmeBench] = []

    def build(**knobs: object) -> NvmeBench:
        made.append(bench := NvmeBench(tmp_path, monkeypatch, **knobs))
        looked_at(monkeypatch, bench.subject)
        return bench

    yield build
    for one in made:
        one.close()


def looked_at(monkeypatch: pytest.MonkeyPatch, subject: Callable[[], Subject]) -> None:
    """Let every drive that is opened to be asked be this one."""

    @contextmanager
    def drive_of(_text: str, *_: object) -> Iterator[Subject]:
        yield subject()

    monkeypatch.setattr(report, "drive_of", drive_of)
    monkeypatch.setattr(report, "parse_target", lambda text, **_: text)


def test_the_verdict_stands_first_and_what_was_not_told_last(
    teijo: Teijo, nvme: Callable[..., NvmeBench]
) -> None:
    nvme(ocp=False)
    code, out, err = teijo("health", DRIVE)
    assert (code, err) == (0, "")
    first, second, *others = out.splitlines()
    assert first == "good: none of 6 rules speaks against it"
    assert second.startswith("CrystalDiskInfo says: Good (")
    for line in (
        "serial  EMU0001", "now  37 °C", "warns at  70 °C", "spare  100 % (threshold 10 %)",
        "powered on  1,234 h", "light (state 1)  entered 0 times, 0 s in it",
    ):  # fmt: skip
        assert any(each.endswith(line) for each in others)
    assert others[-1] == "  NVMe log C0h (OCP)  the drive refuses it (invalid log page)"


def test_reasons_stand_in_the_first_line(teijo: Teijo, nvme: Callable[..., NvmeBench]) -> None:
    nvme(smart={"spare": 9})
    first = teijo("health", DRIVE)[1].splitlines()[0]
    assert first == "bad: critical warning 0x01: spare-low; spare 9 %, threshold 10 %"


def test_json_has_each_log_with_its_source(teijo: Teijo, nvme: Callable[..., NvmeBench]) -> None:
    nvme(smart={"percentage_used": 12}, oacs=0x0A)
    shown = json.loads(teijo("health", DRIVE, "--json")[1])
    assert (shown["version"], shown["kind"], shown["simulated"]) == (1, "nvme", False)
    assert shown["verdict"]["word"] == "good"
    assert shown["counters"]["percentage_used"] == 12
    assert shown["logs"]["smart"]["source"] == "NVMe log 02h"
    assert shown["logs"]["smart"]["told"]["percentage_used"] == 12
    assert shown["logs"]["self_tests"] == {
        "source": "NVMe log 06h", "told": None, "not_told": "the drive has no self-test",
    }  # fmt: skip
    assert shown["logs"]["endurance_groups"]["told"][0]["available_spare_percent"] == 100


@pytest.mark.parametrize(
    ("smart", "code"),
    [({}, 0), ({"media_errors": 1}, 13), ({"spare": 3}, 14)],
)
def test_the_exit_code_is_the_verdicts_where_it_is_asked_for(
    teijo: Teijo, nvme: Callable[..., NvmeBench], smart: dict[str, int], code: int
) -> None:
    nvme(smart=smart)
    assert teijo("health", DRIVE)[0] == 0
    assert teijo("health", DRIVE, "--check")[0] == code


def test_what_cannot_be_known_has_a_code_of_its_own(teijo: Teijo) -> None:
    code, out, _ = teijo("health", "sim:mlc-a", "--check")
    assert code == 11
    assert out.startswith("SIMULATED: ")
    assert "unknown: a simulated drive has no health of its own" in out


def test_a_sata_drive_shows_its_attributes(
    teijo: Teijo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = SataBench(tmp_path, monkeypatch, Knobs(failing=True))
    looked_at(monkeypatch, bench.subject)
    out = teijo("health", "/dev/sda")[1]
    assert out.startswith("bad: 05h reallocated sectors: value 5, threshold 10; the drive says: ")
    assert "  05  5      5      10         4,711  reallocated sectors" in out.splitlines()


def test_a_file_is_no_drive(teijo: Teijo, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"x")
    code, out, err = teijo("health", path)
    assert (code, out) == (2, "")
    assert "is a file, which has no health of its own" in err


def test_a_loop_device_is_no_drive(teijo: Teijo, loop_device: Path) -> None:
    code, out, err = teijo("health", loop_device)
    assert (code, out) == (2, "")
    assert f"{loop_device} is a loop device, which has no health of its own" in err


def test_the_text_of_the_original_goes_to_a_file_and_to_nothing_else(
    teijo: Teijo, tmp_path: Path
) -> None:
    file = tmp_path / "report.txt"
    assert teijo("health", "sim:mlc-a", "--cdi", file)[0] == 0
    assert file.read_bytes().startswith(b"-" * 76 + b"\r\nCrystalDiskInfo ")
    out = teijo("health", "sim:mlc-a", "--cdi", "-")[1]
    assert out.startswith("-" * 76)
    assert "what it is" not in out
    assert teijo("health", "sim:mlc-a", "--cdi", "-", "--json")[0] == 2
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code, _, err = teijo("health", "sim:mlc-a", "--cdi", pipe)
    assert (code, f"{pipe} is no file" in err) == (2, True)


@pytest.fixture
def followed(
    nvme: Callable[..., NvmeBench], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., NvmeBench]:
    """A drive that writes 100 MB in each of three rests; in the fourth a person presses Ctrl-C."""
    from teijo.device.health import following

    def build(**knobs: object) -> NvmeBench:
        bench = nvme(**knobs)
        rests = iter(range(3))

        def rest(seconds: float) -> None:
            if next(rests, None) is None:
                raise KeyboardInterrupt
            bench.drive.count_media(written=100_000_000)
            bench.clock.now += seconds

        def now_ns() -> int:
            return round(bench.clock.now * 1e9)

        real = following.follow
        monkeypatch.setattr(
            following, "follow", lambda *told: real(*told, rest=rest, now_ns=now_ns)
        )
        return bench

    return build


def test_a_watch_has_a_line_an_interval_and_ends_well_by_ctrl_c(
    teijo: Teijo, followed: Callable[..., NvmeBench]
) -> None:
    bench = followed()
    code, out, err = teijo("health", DRIVE, "--watch", "10s")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    head, first, *others = out.splitlines()
    assert head.split() == [
        "TIME", "NOW", "HOST", "WROTE", "NAND", "WROTE", "WAF", "ERRORS", "SAID",
    ]  # fmt: skip
    assert first.endswith("the first look")
    rows = [line.split(None, 1)[1].split() for line in others[:3]]
    # What the host wrote is counted in units of 512,000 B, rounded up.
    assert [row[0] for row in rows] == ["37"] * 3
    assert {row[2] for row in rows} <= {"99.84", "100.4"}
    assert {row[6] for row in rows} <= {"1.49", "1.50"}
    assert others[3:6] == ["", "4 looks in 30 s", "temperature: 37 to 37 °C"]
    assert others[-1] == "said against itself: nothing"
    looks = [one for one in bench.sent if one["opcode"] == 2 and one["cdw"][0] & 0xFF == 2]
    assert len(looks) == 4


def painted(monkeypatch: pytest.MonkeyPatch, teijo: Teijo, **environment: str) -> list[str]:
    """Return the lines of a watch on a terminal of 100 columns."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(console, "width", lambda stream: 100)
    code, out, err = teijo("health", DRIVE, "--watch", "10s")
    assert (code, err) == (0, "")
    return out.splitlines()


def test_a_watch_on_a_terminal_dims_its_head_and_colours_what_is_to_be_seen_to(
    teijo: Teijo, followed: Callable[..., NvmeBench], monkeypatch: pytest.MonkeyPatch
) -> None:
    followed(temperature=((0.0, 310.0), (30.0, 360.0)))
    head, first, *others = painted(monkeypatch, teijo)
    assert head.startswith("\x1b[2m")
    assert "\x1b" not in first
    loud = [line for line in others if line.startswith("\x1b[33m")]
    assert loud
    assert any("the drive warns from" in line for line in loud)
    assert all(line.endswith("\x1b[0m") for line in (head, *loud))
    # A colour has no width: the columns stand below their heads.
    plain = re.sub(r"\x1b\[[0-9;]*m", "", head)
    assert plain.index("NOW") + len("NOW") == first.index("°C") + len("°C")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_watch_has_no_colour_where_a_person_or_a_terminal_wants_none(
    teijo: Teijo,
    followed: Callable[..., NvmeBench],
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
) -> None:
    followed(temperature=((0.0, 310.0), (30.0, 360.0)))
    assert "\x1b[33" not in "".join(painted(monkeypatch, teijo, **environment))


def test_a_watch_in_json_is_an_object_a_line(
    teijo: Teijo, followed: Callable[..., NvmeBench]
) -> None:
    followed(temperature=((0.0, 310.0), (30.0, 360.0)))
    lines = [
        json.loads(line)
        for line in teijo("health", DRIVE, "--watch", "10s", "--json")[1].splitlines()
    ]
    assert [line["kind"] for line in lines] == ["look"] * 4 + ["summary"]
    assert {line["version"] for line in lines} == {1}
    assert lines[0]["change"] is None
    assert lines[0]["counters"]["temperature_kelvin"] == 310
    hot = lines[3]["change"]
    assert hot["media_writes_bytes"] == 150_000_000
    assert "the drive warns from" in hot["said"][0]
    assert lines[-1]["looks"] == 4
    assert lines[-1]["change"]["write_amplification"]["value"] == pytest.approx(1.5, rel=0.01)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--watch", "0.5s"), "0.5s is less than 1.00 s"),
        (("--watch", "often"), "--watch: "),
        (("--watch", "10s", "--check"), "of one moment"),
        (("--watch", "10s", "--cdi", "x"), "of one moment"),
    ],
)
def test_a_watch_that_cannot_be_is_refused(teijo: Teijo, words: tuple[str, ...], said: str) -> None:
    code, out, err = teijo("health", "/dev/null", *words)
    assert (code, out, said in err) == (2, "", True)


def test_a_look_at_a_device_has_the_same_verdict_in_a_line(
    teijo: Teijo, nvme: Callable[..., NvmeBench], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = nvme(smart={"spare": 9})

    def claim(*_: object, **__: object) -> Subject:
        fd = os.dup(bench.fds[1])
        bench.numbers[fd] = 1
        return replace(bench.subject(), fd=fd)

    monkeypatch.setattr("teijo.device.opening.claim", claim)
    monkeypatch.setattr(
        "teijo.device.parse_target", lambda text, **_: BlockTarget(text=text, path=Path(text))
    )
    first = teijo("health", DRIVE)[1].splitlines()[0]
    out = teijo("device", DRIVE)[1]
    assert f"health: {first} (NVMe log 02h; teijo health {DRIVE})" in out.splitlines()
    shown = json.loads(teijo("device", DRIVE, "--json")[1])
    asked = json.loads(teijo("health", DRIVE, "--json")[1])
    assert shown["health"]["verdict"] == asked["verdict"]
    assert shown["health"]["verdict"]["word"] == "bad"


def test_a_watch_is_in_japanese_too(teijo: Teijo, followed: Callable[..., NvmeBench]) -> None:
    followed(temperature=((0.0, 310.0), (30.0, 360.0)))
    code, out, err = teijo("health", DRIVE, "--watch", "10s", "--lang", "ja")
    assert (code, err) == (0, "")
    assert "温度: 87 °C (ドライブの警告温度 70 °C)" in out
    assert out.splitlines()[-1].startswith("自身について報告した問題: ")
    first = teijo("health", DRIVE, "--lang", "ja")[1].splitlines()[0]
    assert first == "異常: 重大な警告 0x02: 温度"
