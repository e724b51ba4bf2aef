"""The README's Python example runs, on a run file made for it."""

import re
from pathlib import Path

import pytest

from teijo import api
from tests.house.tree import ROOT, text


def test_the_python_example_of_the_readme_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", text(ROOT / "README.md"), re.DOTALL)
    (shown,) = re.findall(r'"(reports/[^"]+\.teijo)"', block)
    run = api.run("iops", "sim:mlc-a", output=tmp_path / "run", settings={"rounds": "5"})
    exec(compile(block.replace(shown, str(run.path)), "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(run.findings.steady_states) == 3
    assert printed[0].startswith(run.findings.steady_states[0].variable)
