"""Every persona acts as each of its versions, from its command line to its text and run file."""

from pathlib import Path

import pytest

from teijo import api
from teijo.cli import app
from teijo.personas.registry import CARDS, loaded

LINES = {
    "orion": "orion -run simple -testname mytest -num_disks 1",
    "crystaldiskmark": "crystaldiskmark --runs 1 --size 64MiB sim:s3700",
    "bonnie++": "bonnie++ -q -s1:64k -n1 -r0 -u0 -mbox -dplace",
    "tiotest": "tiotest -T -t2 -f1 -r10 -dplace",
}
"""A short run of each tool that has several versions."""
VERSIONS = [
    (card.names[0], like)
    for card in CARDS
    if len(loaded(card).likes) > 1
    for like in loaded(card).likes
]


@pytest.mark.parametrize(("tool", "like"), VERSIONS)
def test_a_version_runs_to_its_end_and_leaves_its_text_and_its_run_file(
    tool: str,
    like: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert tool in LINES, "a tool of several versions has a line here"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mytest.lun").write_text("sim:s3700\n")
    (tmp_path / "place").mkdir()
    with pytest.raises(SystemExit) as end:
        app.main(["as", "-o", "run.teijo", "--like", like, *LINES[tool].split()])
    out, err = capfd.readouterr()
    assert end.value.code == 0, err
    assert out
    assert api.open("run.teijo").record.run.ending == "done"
    assert not list((tmp_path / "place").iterdir())
