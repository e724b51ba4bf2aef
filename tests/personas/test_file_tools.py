"""bonnie++, tiotest and tiobench act for real in a small directory, and leave it as it was."""

from pathlib import Path

import pytest

from teijo.cli import app


def run(words: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        app.main(["as", "-o", "left", *words])
    out, err = capfd.readouterr()
    assert isinstance(end.value.code, int)
    return end.value.code, out, err


@pytest.mark.parametrize(("like", "fields"), [("1.03", 27), ("1.97", 48), ("2.00", 50)])
def test_bonnie_leaves_its_csv_and_an_empty_directory(
    like: str,
    fields: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    words = ["--like", like, "bonnie++", "-q", "-f", "-s1:64k", "-n1", "-r0", "-u0", "-mbox"]
    code, out, err = run([*words, "-dhere"], capfd)
    assert code == 0, err
    assert out.count(",") == fields - 1
    assert err.startswith("Version ")
    assert not list((tmp_path / "here").iterdir())


def test_tiotest_and_tiobench_print_every_phase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(["tiotest", "-T", "-t2", "-f1", "-r10"], capfd)
    names = [line.partition(":")[0] for line in out.splitlines()]
    assert (code, names) == (0, ["write", "rwrite", "read", "rread", "total"])
    (tmp_path / "left.teijo").unlink()
    words = ["tiobench", "--size=1", "--threads=1", "--random=10", "--identifier=me"]
    code, out, _ = run(words, capfd)
    assert code == 0
    assert sum(line.startswith("me  ") for line in out.splitlines()) == 4
