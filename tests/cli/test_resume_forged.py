"""Run files that somebody else wrote: `resume` runs no program that they name unasked."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teijo.api
from teijo.device import Hook
from teijo.errors import HostError
from teijo.runfile import schema
from teijo.runfile.ledger import Ledger
from teijo.runfile.rows import checksum_of
from teijo.runner.events import Event, StepDone
from tests.cli.conftest import Teijo
from tests.house.tree import PACKAGE

PLAN = 'hook = ["true"]\nseconds = "50ms"\nrepeats = 2\n'


@dataclass(frozen=True)
class Forgery:
    """A run file under the forger's hands: `touch` is a command that would leave the witness."""

    file: Path
    witness: Path

    @property
    def touch(self) -> list[str]:
        return ["sh", "-c", f"touch {self.witness}"]

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Change the file; then every checksum in it is made anew, for who forges can do that."""
        with closing(sqlite3.connect(self.file)) as db:
            yield db
            content = {
                table: db.execute(
                    f"SELECT {', '.join(schema.columns(table))} FROM {table}"
                ).fetchall()
                for table in schema.KEYS
            }
            for table in content:
                db.execute(f"DELETE FROM {table}")
            empty = (0, 0, checksum_of("tally", (0, 0)))
            db.execute("UPDATE tally SET row_count = ?, checksum_sum = ?, checksum = ?", empty)
            ledger = Ledger(db)
            for step, stream, direction, *numbers in content.pop("interval"):
                series = [(stream, direction, np.array([numbers], np.int64))]
                ledger.insert_series(step, series)
            for table, found in content.items():
                for row in found:
                    ledger.insert(table, row)
            ledger.settle()
            db.commit()

    def sql(self, *lines: str) -> None:
        with self.open() as db:
            for line in lines:
                db.execute(line)

    def settings(self, **changed: object) -> None:
        with self.open() as db:
            stored = json.loads(db.execute("SELECT settings FROM run").fetchone()[0])
            db.execute("UPDATE run SET settings = ?", (json.dumps(stored | changed),))

    def steps(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        with self.open() as db:
            for seq, text in db.execute("SELECT seq, step FROM step").fetchall():
                changed = json.dumps(change(json.loads(text)))
                db.execute("UPDATE step SET step = ? WHERE seq = ?", (changed, seq))

    def no_steps(self) -> None:
        self.sql(*(f"DELETE FROM {table}" for table in ("interval", "result", "remark", "step")))

    def hook(self, *argv: str) -> None:
        """Name a hook in the settings alone: nothing else in the file shows it."""
        self.no_steps()
        self.settings(hook=list(argv))

    def target(self, text: str) -> None:
        with self.open() as db:
            db.execute("UPDATE device SET target = ?", (text,))

    def script(self, name: str = "script") -> Path:
        path = self.file.parent / name
        path.write_text(f"#!/bin/sh\ntouch {self.witness}\n")
        path.chmod(0o755)
        return path


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that died after two of its steps, on a file."""
    folder = tmp_path_factory.mktemp("honest")

    def die(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 2:
            raise HostError("died")

    with pytest.raises(HostError, match="died"):
        teijo.api.run(
            "configuration",
            f"{folder}/disk?size=4MiB",
            output=folder / "run.teijo",
            settings={"plan": PLAN},
            observer=die,
        )
    return folder / "run.teijo.open"


@pytest.fixture
def forgery(honest: Path, tmp_path: Path) -> Forgery:
    """A copy of it, to be forged."""
    file = tmp_path / "run.teijo.open"
    shutil.copyfile(honest, file)
    return Forgery(file, tmp_path / "witness")


def in_steps(forged: Forgery, hook: list[str]) -> None:
    forged.steps(lambda step: step | ({"hook": hook} if step["kind"] == "configure" else {}))


def shell(forged: Forgery) -> None:
    forged.hook(*forged.touch)


def a_script(forged: Forgery) -> None:
    forged.hook(str(forged.script()))


def a_script_as_argument(forged: Forgery) -> None:
    forged.hook("sh", str(forged.script()))


def an_interpreter(forged: Forgery) -> None:
    forged.hook(sys.executable, "-c", f"open({str(forged.witness)!r}, 'w')")


def another_program_that_runs_it(forged: Forgery) -> None:
    forged.hook("env", "-i", *forged.touch)


def no_target(forged: Forgery) -> None:
    shell(forged)
    forged.target(f"{forged.file.parent}/nowhere/disk")


def a_target_to_be_made(forged: Forgery) -> None:
    shell(forged)
    forged.target(f"{forged.file.parent}/new?size=4MiB")


def a_target_only_read(forged: Forgery) -> None:
    shell(forged)
    forged.target("/bin/bash?holes=allow&direct=no")


def a_simulated_target(forged: Forgery) -> None:
    shell(forged)
    forged.target("sim:mlc-a?capacity=64MiB&dies=2")
    forged.sql("UPDATE device SET kind = 'simulated'")


def several_targets(forged: Forgery) -> None:
    shell(forged)
    forged.target("concat:/bin/bash?holes=allow&direct=no,/bin/sh?holes=allow&direct=no")


def other_settings_than_steps(forged: Forgery) -> None:
    forged.settings(hook=forged.touch)


def other_steps_than_settings(forged: Forgery) -> None:
    in_steps(forged, forged.touch)


def settings_and_steps(forged: Forgery) -> None:
    in_steps(forged, forged.touch)
    forged.settings(hook=forged.touch)


def only_steps(forged: Forgery) -> None:
    in_steps(forged, forged.touch)
    forged.settings(hook=[])


def a_step_under_way(forged: Forgery) -> None:
    forged.no_steps()
    forged.settings(hook=[])
    step = json.dumps({"kind": "configure", "settings": [], "hook": forged.touch})
    with forged.open() as db:
        db.execute(
            "INSERT INTO step (seq, status, kind, phase, step, seed, interval_ns, checksum)"
            " VALUES (1, 'running', 'configure', 'configure', ?, 1, 1000000000, 0)",
            (step,),
        )


def interrupted(forged: Forgery) -> None:
    shell(forged)
    forged.sql("UPDATE run SET ending = 'interrupted', ended_at = '2026-01-01', error = 'x'")


def another_method(forged: Forgery) -> None:
    forged.no_steps()
    stored = {"hook": forged.touch, "tier_bytes": 2**20, "sets_bytes": [2**20]}
    forged.sql("UPDATE run SET method = 'tier'")
    with forged.open() as db:
        db.execute("UPDATE run SET settings = ?", (json.dumps(stored),))


def fio(forged: Forgery) -> None:
    shell(forged)
    forged.sql("UPDATE run SET engine = 'fio (io_uring)'")


def no_such_program(forged: Forgery) -> None:
    forged.hook("/nowhere/hook")


def no_text(forged: Forgery) -> None:
    forged.hook("sh", "-c", f"touch {forged.witness} # \ud800")


def a_nul(forged: Forgery) -> None:
    forged.hook("sh", "-c", f"touch {forged.witness} # \0")


def a_pipe_that_nobody_writes(forged: Forgery) -> None:
    pipe = forged.file.parent / "pipe"
    os.mkfifo(pipe)
    forged.hook("sh", "-c", f"touch {forged.witness}", str(pipe))


def escapes(forged: Forgery) -> None:
    forged.hook("sh", "-c", f"touch {forged.witness} # \x1b[2J\x1b]0;owned\a\x9b2J\r\n\u202e")


FORGERIES = (
    shell, a_script, a_script_as_argument, an_interpreter, another_program_that_runs_it,
    no_target, a_target_to_be_made, a_target_only_read, a_simulated_target, several_targets,
    other_settings_than_steps, other_steps_than_settings, settings_and_steps, only_steps,
    a_step_under_way, interrupted, another_method, fio, no_such_program, a_nul,
    a_pipe_that_nobody_writes, escapes,
)  # fmt: skip


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_hook_that_a_file_names_does_not_run_unasked(
    teijo: Teijo, forgery: Forgery, forge: Callable[[Forgery], None]
) -> None:
    forge(forgery)
    before = sorted(forgery.file.parent.iterdir())
    code, out, err = teijo("resume", forgery.file, "--overwrite", "--report", "none")
    assert not forgery.witness.exists()
    assert (code, out) == (3, "")
    assert "hook" in err or "program" in err
    assert all(each == "\n" or each.isprintable() for each in err)
    assert sorted(forgery.file.parent.iterdir()) == before


def test_a_hook_that_is_no_text_is_no_run_file(teijo: Teijo, forgery: Forgery) -> None:
    no_text(forgery)
    code, out, _ = teijo("resume", forgery.file, "--overwrite", "--report", "none")
    assert not forgery.witness.exists()
    assert (code, out) == (2, "")


def last(digest: str) -> str:
    return digest[:-1] + ("0" if digest[-1] != "0" else "1")


@pytest.mark.parametrize(
    "wrong",
    [
        last,
        lambda digest: last(digest[::-1])[::-1],
        str.upper,
        lambda digest: digest[:63],
        lambda digest: digest[:8],
        lambda digest: digest + digest,
        lambda digest: f" {digest}",
        lambda _: Hook.of(("true",)).digest,
        lambda _: "",
        lambda _: "*",
        lambda _: "yes",
    ],
)
def test_it_does_not_run_by_another_digest_than_its_own(
    teijo: Teijo, forgery: Forgery, wrong: Callable[[str], str]
) -> None:
    forgery.hook(*forgery.touch)
    named = wrong(Hook.of(tuple(forgery.touch)).digest)
    code, out, err = teijo("resume", forgery.file, "--overwrite", "--hook", named)
    assert not forgery.witness.exists()
    assert (code, out) == (3, "")
    assert "It was not run." in err


@pytest.mark.parametrize("change", ["program", "argument", "path"])
def test_what_was_consented_to_is_not_run_once_it_is_another(
    teijo: Teijo, forgery: Forgery, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    folder = forgery.file.parent
    script = folder / "apply"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    argv = {"program": [str(script)], "argument": ["sh", str(script)], "path": ["true"]}[change]
    forgery.hook(*argv)
    digest = Hook.of(tuple(argv)).digest
    if change == "path":
        forgery.script("true")
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    else:
        forgery.script("apply")
    code, _, err = teijo("resume", forgery.file, "--overwrite", "--hook", digest)
    assert not forgery.witness.exists()
    assert code == 3
    assert "It was not run." in err


@pytest.mark.parametrize("ending", ["done", "failed", "not steady"])
def test_a_forged_file_of_a_run_that_has_ended_is_sealed_and_runs_nothing(
    teijo: Teijo, forgery: Forgery, ending: str
) -> None:
    forgery.settings(hook=forgery.touch)
    forgery.sql(f"UPDATE run SET ending = '{ending}'")
    code, out, _ = teijo("resume", forgery.file, "--report", "none")
    assert not forgery.witness.exists()
    assert (code, out.split()) == (0, [str(forgery.file.with_suffix(""))])


@pytest.mark.parametrize("verb", ["report", "export"])
def test_to_read_a_forged_file_runs_nothing(teijo: Teijo, forgery: Forgery, verb: str) -> None:
    forgery.settings(hook=forgery.touch)
    more = ("--format", "text") if verb == "report" else ("--to", "json")
    code, _, _ = teijo(verb, forgery.file, *more)
    assert code == 0
    assert not forgery.witness.exists()


def test_a_killed_run_with_a_hook_goes_on_by_the_digest_that_resume_shows(
    teijo: Teijo, tmp_path: Path
) -> None:
    """And the second refusal is of a command that is another: nothing is shown that was not."""
    log, name = tmp_path / "log", tmp_path / "run.teijo"
    (tmp_path / "plan.toml").write_text(
        f'hook = ["sh", "-c", "echo $TEIJO_TARGET >> {log}"]\nseconds = "300ms"\nrepeats = 2\n'
    )
    arguments = (
        "run", "configuration", f"{tmp_path}/disk?size=4MiB", "--plan", str(tmp_path / "plan.toml"),
        "-o", str(name), "--report", "none", "--progress", "ndjson",
    )  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", "from teijo.cli import main; main()", *arguments],
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr is not None
    shown: dict[str, Any] = {}
    for line in process.stderr:
        told = json.loads(line)
        if told["event"] == "hook":
            shown = told
            assert not log.exists()
        if told["event"] == "step_done" and told["seq"] == 2:
            break
    process.send_signal(signal.SIGKILL)
    process.communicate()
    ran = len(log.read_text().split())
    file = f"{name}.open"
    code, _, err = teijo("resume", file, "--overwrite", "--report", "none")
    assert code == 3
    assert len(log.read_text().split()) == ran
    digest = err.strip().rpartition("--hook ")[2]
    assert (shown["digest"], shown["argv"][:2]) == (digest, ["sh", "-c"])
    code, out, err = teijo(
        "resume", file, "--overwrite", "--report", "none", "--hook", digest, "--progress", "plain"
    )
    assert (code, out.split()) == (0, [str(name)])
    assert f"digest of the hook: {digest}" in err
    assert len(log.read_text().split()) > ran


def without_hook(forged: Forgery, **settings: object) -> None:
    forged.no_steps()
    forged.settings(hook=[], **settings)


@pytest.mark.parametrize("ending", ["?size=4MiB", "?size=4MiB&holes=allow&direct=no"])
@pytest.mark.parametrize("form", ["{}", "concat:{},/bin/bash?holes=allow&direct=no"])
def test_a_forged_target_is_not_made(
    teijo: Teijo, forgery: Forgery, ending: str, form: str
) -> None:
    """A file of that name alone may do harm: /etc/nologin, /etc/ld.so.preload."""
    without_hook(forgery)
    new = forgery.file.parent / "nologin"
    forgery.target(form.format(f"{new}{ending}"))
    code, _, err = teijo("resume", forgery.file)
    assert not new.exists()
    assert code == 3
    assert "is not there any more" in err


def writing(forged: Forgery) -> None:
    with closing(sqlite3.connect(forged.file)) as db:
        stored = json.loads(db.execute("SELECT settings FROM run").fetchone()[0])
    writes = {**stored["workloads"][0], "read_percent": 0}
    without_hook(forged, workloads=[writes])


def test_a_forged_target_is_not_written(teijo: Teijo, forgery: Forgery, loop_device: Path) -> None:
    writing(forgery)
    own = forgery.file.parent / "photos.img"
    own.write_bytes(bytes(range(256)) * 16384)
    before = own.read_bytes()
    loop_device.write_bytes(before)
    for target in (own, loop_device, f"concat:{own},{loop_device}"):
        forgery.target(str(target))
        code, _, err = teijo("resume", forgery.file)
        assert code == 3, err
        assert own.read_bytes() == before
        assert loop_device.read_bytes()[: len(before)] == before


def test_a_forged_simulated_target_touches_nothing(teijo: Teijo, forgery: Forgery) -> None:
    """It is not the device of the record, and is no file by another name either."""
    without_hook(forgery, device="sim:mlc-a?capacity=64MiB&dies=2")
    forgery.sql("UPDATE device SET kind = 'simulated'")
    (forgery.file.parent / "d.toml").write_text('device = "mlc-a"\n')
    for text in ("sim:mlc-a?capacity=64MiB&dies=2", f"sim:{forgery.file.parent}/d.toml"):
        forgery.target(text)
        before = sorted(forgery.file.parent.iterdir())
        code, _, err = teijo("resume", forgery.file)
        assert (code, "is not the device this run began on" in err) == (4, True), err
        assert sorted(forgery.file.parent.iterdir()) == before


def test_no_text_of_a_file_becomes_an_option_of_fio(
    teijo: Teijo, forgery: Forgery, need: Callable[[str], str]
) -> None:
    """fio runs any command by `exec_prerun=`: what a stream is called must not come near."""
    need("fio")
    with closing(sqlite3.connect(forgery.file)) as db:
        stored = json.loads(db.execute("SELECT settings FROM run").fetchone()[0])
    name = f"a]\nexec_prerun=touch {forgery.witness}\n[b"
    streams = [{**each, "name": f"{name}{n}"} for n, each in enumerate(stored["workloads"])]
    without_hook(forgery, workloads=streams, title=name, duration_ns=50_000_000)
    forgery.sql("UPDATE run SET engine = 'fio (io_uring)'")
    code, _, _ = teijo("resume", forgery.file, "--overwrite", "--report", "none")
    assert not forgery.witness.exists()
    assert code in (0, 2)  # such a name may be refused before


@pytest.mark.parametrize("limit", ["nan drive writes", "inf", "-1 drive writes", "", "many"])
def test_a_forged_limit_of_writes_is_a_mistake(teijo: Teijo, forgery: Forgery, limit: str) -> None:
    without_hook(forgery)
    forgery.sql(f"INSERT INTO environment VALUES ('write limit', '{limit}', 0)")
    code, _, err = teijo("resume", forgery.file, "--overwrite")
    assert code == 2
    assert "write limit" in err
