"""`verify` and `seal`: what they print, how they end, and that the report says who signed."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Teijo
from tests.crash.runs import run_iops
from tests.runfile.forging import Forger, forged
from tests.runfile.samples import open_run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_iops(tmp_path_factory.mktemp("whole") / "run").path


def another_seed(file: Forger) -> None:
    file.change("run", "1", seed=7)


def test_a_whole_file_is_told_check_by_check(teijo: Teijo, whole: Path) -> None:
    code, out, err = teijo("verify", whole)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "pts.iops" in lines[0]
    assert "sealed" in lines[0]
    checks = [line.split()[:2] for line in lines[2:-1]]
    assert ["seeds", "ok"] in checks
    assert ["conversation", "ok"] in checks
    assert all(word == "ok" for _, word in checks)
    assert "not signed" in lines[-2]


def test_a_forged_file_is_told_with_its_steps_and_ends_with_8(
    teijo: Teijo, whole: Path, tmp_path: Path
) -> None:
    path = forged(whole, tmp_path / "forged.teijo", another_seed)
    code, out, err = teijo("verify", path)
    assert code == 8
    assert "step 1: its seed is not" in out
    assert "more (--json has all)" in out
    assert "forged.teijo" in err
    code, out, _ = teijo("verify", path, whole, "--json")
    assert code == 8
    first, second = json.loads(out)
    assert (first["holds"], second["holds"]) == (False, True)
    assert {flaw["check"] for flaw in first["flaws"]} == {"seeds"}
    assert first["signature"]["signed"] is None


def test_a_replay_is_a_check_of_its_own_and_not_known_of_a_real_device(
    teijo: Teijo, whole: Path, tmp_path: Path
) -> None:
    code, out, err = teijo("verify", whole, "--replay")
    assert (code, err) == (0, "")
    assert ["replay", "ok"] in [line.split()[:2] for line in out.splitlines()]
    assert "replay" not in teijo("verify", whole)[1]

    def sum_changed(file: Forger) -> None:
        for table in ("result", "interval"):
            file.change(table, "step = 2", latency_ns_sum="= latency_ns_sum + 1")

    path = forged(whole, tmp_path / "forged.teijo", sum_changed)
    code, out, _ = teijo("verify", path, "--replay")
    assert code == 8
    assert "step 2: the simulation answers otherwise: main, write: latency_ns_sum" in out
    real = ("run", "workload", f"{tmp_path}/disk.img?size=1MiB", "rw=randread", "bytes=64KiB")
    assert teijo(*real, "-o", tmp_path / "real", "--report", "none")[0] == 0
    code, out, err = teijo("verify", tmp_path / "real.teijo", "--replay")
    assert (code, err) == (11, "")
    assert "the device is real, and cannot be asked the same again" in out
    assert "not all that was asked can be known" in out
    out = teijo("verify", tmp_path / "real.teijo", "--replay", "--lang", "ja")[1]
    assert "実デバイスのため" in out
    assert "asked" not in out
    code, out, _ = teijo("verify", tmp_path / "real.teijo", whole, path, "--replay", "--json")
    assert code == 8
    unknown = [[flaw["check"] for flaw in one["unknown"]] for one in json.loads(out)]
    assert unknown == [["replay"], [], []]


def test_a_file_whose_other_program_decided_otherwise_ends_with_11(
    teijo: Teijo, whole: Path, tmp_path: Path
) -> None:
    def another_programs(file: Forger) -> None:
        file.change("run", "1", version="0.0.1")
        file.edit(
            "run", "settings", "1", lambda one: {**one, "queue_depth": one["queue_depth"] * 2}
        )

    path = forged(whole, tmp_path / "old.teijo", another_programs)
    code, out, err = teijo("verify", path)
    assert (code, err) == (11, "")
    assert "the method asks for another step, or for none" in out
    assert "DO NOT TRUST" not in out
    assert "teijo 0.0.1 (build " in out


def test_a_file_that_is_none_ends_with_2(teijo: Teijo, tmp_path: Path) -> None:
    (tmp_path / "x.teijo").write_bytes(b"no database")
    assert teijo("verify", tmp_path / "x.teijo")[0] == 2
    assert teijo("verify", tmp_path / "nowhere.teijo")[0] == 2


def test_a_damaged_file_is_not_called_sealed(teijo: Teijo, whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.teijo"
    path.write_bytes(whole.read_bytes()[:20_000])
    code, out, err = teijo("seal", path)
    assert (code, out) == (2, "")
    assert "damaged" in err
    shutil.copyfile(whole, path)
    assert teijo("seal", path)[:2] == (0, f"{path}\n")


def test_a_run_that_goes_on_is_not_sealed_by_hand(teijo: Teijo, tmp_path: Path) -> None:
    open_run(tmp_path / "run").close()
    code, _, err = teijo("seal", tmp_path / "run.teijo.open")
    assert code == 2
    assert "has not ended" in err


def test_a_run_that_ended_unsealed_says_so_until_it_is_sealed(teijo: Teijo, tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    recorder.end("done")
    recorder.close()
    code, out, _ = teijo("verify", recorder.names.open)
    assert code == 8
    assert "was not sealed" in out
    code, out, _ = teijo("seal", recorder.names.open)
    assert (code, out) == (0, f"{recorder.names.sealed}\n")
    assert "was not sealed" not in teijo("verify", recorder.names.sealed)[1]


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen: openssh-client")
def test_a_signed_file_says_by_whom_in_verify_and_on_every_page(
    teijo: Teijo, whole: Path, tmp_path: Path
) -> None:
    key, path = tmp_path / "key", tmp_path / "run.teijo"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    shutil.copyfile(whole, path)
    signers = tmp_path / "allowed"
    public = key.with_name("key.pub").read_text()
    signers.write_text(f'alice@lab namespaces="teijo" {public}')
    code, _, err = teijo("verify", path, "--signers", signers)
    assert code == 8, "a signature is asked for, and there is none"
    assert "run.teijo" in err
    assert "not signed" in teijo("report", path, "--format", "text")[1]
    assert teijo("seal", path, "--sign", key)[:2] == (0, f"{path}\n{path}.sig\n")
    code, out, _ = teijo("verify", path, "--signers", signers)
    assert code == 0
    assert "signed by alice@lab with SHA256:" in out
    printed = teijo("report", path, "--format", "text", "--signers", signers)[1]
    assert "signed by alice@lab with SHA256:" in printed
    japanese = teijo("report", path, "--format", "text", "--lang", "ja", "--signers", signers)[1]
    assert "alice@lab が SHA256:" in japanese
    with path.open("ab") as file:
        file.write(b"\0")
    assert teijo("verify", path)[0] == 8
