"""Paths of Windows in any persona's words, with one rule, are refused with what Linux has."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from teijo.errors import UsageError
from teijo.personas.paths import refuse_windows
from teijo.personas.persona import Call
from teijo.personas.registry import persona_named
from teijo.speech import tongue

NOW = datetime(2026, 1, 2, 3, 4, 5)
LINE_OF_F = "a line of -F"
DEVICE = "/dev/disk/by-id/NAME"
PATHS = (
    ("C:\\x", "path", "/mnt/c/x."),
    ("C:", "drive", "/mnt/c."),
    ("D:/x", "path", "/mnt/d/x."),
    ("\\\\srv\\share\\f", "share", "/mnt/srv/share/f."),
    ("\\\\.\\PhysicalDrive1", "physical drive", DEVICE),
    ("#1", "physical drive", DEVICE),
    ("dir\\file", "path", "dir/file."),
)
MORE = (
    ("c:testfile.dat", "path", "/mnt/c/testfile.dat."),
    ("D:\\", "drive", DEVICE),
    ("\\\\.\\E:", "drive", DEVICE),
    ("\\\\?\\C:\\a\\b", "path", "/mnt/c/a/b."),
    ("\\\\?\\UNC\\srv\\share\\f", "share", "/mnt/srv/share/f."),
    ("\\\\?\\Volume{0}", "physical drive", DEVICE),
    ("\\a", "path", "slashes: /a."),
    ("concat:/mnt/a,E:\\b", "path", "/mnt/e/b."),
)


def lun(path: str, folder: Path) -> list[str]:
    (folder / "mytest.lun").write_text(f"{path}\n")
    return ["-run", "simple", "-testname", "mytest"]


def param(path: str, folder: Path) -> list[str]:
    (folder / "param.txt").write_text(f"sim:mlc-a 1 0x0\n{path} 1 0x0\n")
    return ["-o1", "-Fparam.txt"]


OPTIONS: tuple[tuple[str, str, Callable[[str, Path], list[str]]], ...] = (
    ("orion", ".lun", lun),
    ("orion", "-testname", lambda path, _: ["-run", "simple", "-testname", path]),
    ("crystaldiskmark", "TARGET", lambda path, _: [path]),
    ("crystaldiskinfo", "DRIVE", lambda path, _: [path]),
    ("sqlio", "FILE", lambda path, _: [path]),
    ("sqlio", "-F", lambda path, _: [f"-F{path}"]),
    ("sqlio", LINE_OF_F, param),
    ("diskspd", "TARGET", lambda path, _: ["-d1", path]),
    ("bonnie++", "-d", lambda path, _: ["-u", "root", "-d", path]),
    ("tiotest", "-d", lambda path, _: ["-d", path]),
    ("tiobench", "--target", lambda path, _: ["--target", path]),
    ("run-all-tests", "--dir", lambda path, _: ["--server=sqlite", "--dir", path]),
    ("test-create", "--dir", lambda path, _: ["--server=sqlite", f"--dir={path}"]),
)


CASES = [
    pytest.param(name, words, *path, id=f"{name} {option} {path[0]}")
    for name, option, words in OPTIONS
    for path in PATHS
    if (option, path[0]) != (LINE_OF_F, "#1")  # a comment
]


@pytest.mark.parametrize(("name", "words", "path", "kind", "linux"), CASES)
def test_every_path_that_a_persona_takes_is_refused_as_of_windows(
    name: str,
    words: Callable[[str, Path], list[str]],
    path: str,
    kind: str,
    linux: str,
    tmp_path: Path,
) -> None:
    call = Call(words=words(path, tmp_path), like="", folder=tmp_path, now=NOW)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UsageError) as refused:
        persona_named(name).order(name, call)
    assert refused.value.message == f"{path} is a {kind} of Windows."
    assert linux in refused.value.remedy
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(("path", "kind", "linux"), MORE)
def test_each_way_that_windows_writes_a_place_is_known(path: str, kind: str, linux: str) -> None:
    with pytest.raises(UsageError, match=rf" is a {kind} of Windows\.") as refused:
        refuse_windows(path)
    assert linux in refused.value.remedy


@pytest.mark.parametrize(
    "path",
    ["/mnt/x", ".", "ab:c", "1:2", "dir/E:x", "./C:", "", "//a/b", "a#1", "./#1", "sim:mlc-a",
     "concat:/a\\,b,/c", "~/x", "/dev/sda?size=8GiB"],
)  # fmt: skip
def test_a_path_of_linux_passes(path: str) -> None:
    refuse_windows(path)


def test_a_long_path_of_windows_is_cut_in_what_is_said() -> None:
    with pytest.raises(UsageError) as refused:
        refuse_windows("C:\\" + "x" * 4000)
    assert len(refused.value.message) + len(refused.value.remedy) < 400


@pytest.mark.parametrize("path", [path for path, _, _ in (*PATHS, *MORE)])
def test_the_refusal_is_said_in_japanese(path: str) -> None:
    with pytest.raises(UsageError) as refused:
        refuse_windows(path)
    tongue.speak("ja")
    try:
        told = tongue.said(refused.value.message), tongue.said(refused.value.remedy)
    finally:
        tongue.speak(tongue.ENGLISH)
    for text in told:
        assert "です" in text or "ください" in text
