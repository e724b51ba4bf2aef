"""Signatures beside run files: whose, of these bytes, and by hands that are not believed."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo import api
from teijo.api import signature_words
from teijo.errors import HostError, RunFileError, UsageError
from teijo.runfile import signature
from tests.runfile.samples import sealed_run

needs_ssh_keygen = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="needs ssh-keygen: install openssh-client"
)
pytestmark = needs_ssh_keygen


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key of nobody, made for these tests."""
    path = tmp_path_factory.mktemp("keys") / "key"
    made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "nobody", "-f", str(path)]
    subprocess.run(made, check=True)
    return path


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return sealed_run(tmp_path / "run")


@pytest.fixture
def signed(whole: Path, key: Path) -> Path:
    assert signature.sign(whole, key) == signature.signature_of(whole)
    return whole


def allowed(path: Path, key: Path, *names: str, options: str = "") -> Path:
    """Write a signers file in which these names have the key."""
    public = key.with_name(key.name + ".pub").read_text()
    path.write_text("".join(f"{name} {options} {public}" for name in names))
    return path


def test_a_file_without_a_signature_is_not_signed(whole: Path, tmp_path: Path, key: Path) -> None:
    assert signature.check(whole).signed is None
    signers = allowed(tmp_path / "allowed", key, "alice@lab")
    assert signature_words(signature.check(whole, signers)) == "not signed"


def test_a_signed_file_says_by_whom_where_somebody_says_whose_the_key_is(
    signed: Path, tmp_path: Path, key: Path
) -> None:
    unknown = signature.check(signed)
    assert unknown.signed
    assert not unknown.signer
    assert "nobody was asked" in signature_words(unknown)
    options = 'namespaces="teijo"'
    signers = allowed(tmp_path / "allowed", key, "alice@lab,al", options=options)
    known = signature.check(signed, signers)
    assert known.signer == "alice@lab"
    listed = subprocess.run(["ssh-keygen", "-lf", str(key)], capture_output=True, check=True)
    assert known.key in listed.stdout.decode(), "an oracle: ssh-keygen's own listing"
    assert signature_words(known) == f"signed by alice@lab with {known.key}"


def test_openssh_alone_agrees(signed: Path, tmp_path: Path, key: Path) -> None:
    signers = allowed(tmp_path / "allowed", key, "alice@lab")
    command = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", "alice@lab", "-n", "teijo"]
    with signed.open("rb") as file:
        done = subprocess.run(
            [*command, "-s", f"{signed}.sig"], stdin=file, capture_output=True, check=False
        )
    assert done.returncode == 0, done.stderr


def test_a_changed_byte_breaks_the_signature(signed: Path, tmp_path: Path, key: Path) -> None:
    with signed.open("ab") as file:
        file.write(b"\0")
    found = signature.check(signed, allowed(tmp_path / "allowed", key, "alice@lab"))
    assert found.signed is False
    assert not found.signer
    assert signature_words(found).startswith("WRONG")


def test_a_key_that_the_signers_do_not_name_is_nobodys(
    signed: Path, tmp_path: Path, key: Path
) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    found = signature.check(signed, allowed(tmp_path / "allowed", other, "alice@lab"))
    assert (found.signed, found.signer) == (True, "")
    assert "none of the signers'" in found.why
    elsewhere = 'namespaces="git"'
    found = signature.check(signed, allowed(tmp_path / "git", key, "alice", options=elsewhere))
    assert not found.signer, "a key for another purpose signs no run file"
    expired = 'valid-before="20200101"'
    found = signature.check(signed, allowed(tmp_path / "old", key, "alice", options=expired))
    assert not found.signer


def test_a_signature_of_another_purpose_is_none(whole: Path, key: Path) -> None:
    beside = signature.signature_of(whole)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", str(key)]
    with whole.open("rb") as file, beside.open("wb") as out:
        subprocess.run(command, stdin=file, stdout=out, check=True)
    assert signature.check(whole).signed is False


@pytest.mark.parametrize(
    "held",
    [b"", b"x" * 200_000, b"-----BEGIN SSH SIGNATURE-----\nrubbish\n", b"\x1b[2J", bytes(1000)],
    ids=["empty", "long", "rubbish", "escape", "zeros"],
)
def test_what_is_no_signature_is_said_to_be_wrong(whole: Path, held: bytes) -> None:
    signature.signature_of(whole).write_bytes(held)
    found = signature.check(whole)
    assert found.signed is False
    assert found.why.isprintable()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_dead_link(path: Path) -> None:
    path.symlink_to("/nowhere/at/all")


@pytest.mark.parametrize("plant", [a_pipe, a_folder, a_dead_link])
def test_nothing_planted_in_place_of_a_signature_is_waited_for(
    whole: Path, plant: Callable[[Path], None]
) -> None:
    plant(signature.signature_of(whole))
    assert signature.check(whole).signed is False


@pytest.mark.parametrize("plant", [a_pipe, a_folder, a_dead_link])
def test_a_signers_file_that_is_none_is_refused(
    whole: Path, tmp_path: Path, plant: Callable[[Path], None]
) -> None:
    plant(tmp_path / "allowed")
    with pytest.raises(UsageError, match="signers file"):
        signature.check(whole, tmp_path / "allowed")


def test_hostile_names_are_shown_and_obeyed_by_nothing(
    signed: Path, tmp_path: Path, key: Path
) -> None:
    proof = tmp_path / "ran"
    for name in (f"$(touch${{IFS}}{proof})", "-Overify", "\x1b[2Jbob", "\u202ebob", "a" * 5000):
        found = signature.check(signed, allowed(tmp_path / "allowed", key, name))
        assert found.signer.isprintable()
        assert len(found.signer) < 300
        assert signature_words(found).isprintable()
    assert not proof.exists()
    (tmp_path / "allowed").write_bytes(b"\xff\xfe\0" * 1000)
    assert not signature.check(signed, tmp_path / "allowed").signer


def test_a_key_that_is_none_signs_nothing(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no key"):
        signature.sign(whole, tmp_path / "-oProxyCommand=touch x")
    fake = tmp_path / "-fake"
    fake.write_bytes(b"\x1b[2Jno key at all\n")
    fake.chmod(0o600)
    with pytest.raises(HostError, match="did not sign") as caught:
        signature.sign(whole, fake)
    assert caught.value.message.isprintable()
    assert not signature.signature_of(whole).exists()


def test_a_signature_is_never_written_over(signed: Path, key: Path) -> None:
    before = signature.signature_of(signed).read_bytes()
    with pytest.raises(RunFileError, match="never overwritten"):
        signature.sign(signed, key)
    assert signature.signature_of(signed).read_bytes() == before


def test_without_ssh_keygen_a_report_says_that_nobody_looked(
    signed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signature, "_SEARCH", "/nowhere")
    with pytest.raises(HostError, match="not installed"):
        signature.check(signed)
    run = api.Run(signed, api.open(signed).record)
    from teijo.api.signed import signature_text

    assert signature_text(run.path, None).startswith("not checked")
