"""Signatures of sealed run files: `ssh-keygen -Y`, namespace teijo, kept beside as NAME.teijo.sig.

Beside, not inside: a sealed file never changes, and OpenSSH alone is enough to check it. Keys,
signers files, signatures and what ssh-keygen says are read without belief; there is no shell.
"""

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import BinaryIO, Final

from teijo.creating import create
from teijo.errors import HostError, RunFileError, UsageError
from teijo.outside.file import Unreadable, read_bytes
from teijo.outside.text import shell_path, visible

NAMESPACE: Final = "teijo"
SUFFIX: Final = ".sig"

_SEARCH: Final = "/usr/local/bin:/usr/bin:/bin"
_KEPT: Final = ("HOME", "SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "DISPLAY", "TERM")
"""What ssh-keygen may need to reach an agent or to ask for a passphrase, and nothing more."""
_BEGIN: Final = b"-----BEGIN SSH SIGNATURE-----"
_SIGNATURE_MOST: Final = 64 * 1024
_SIGNERS_MOST: Final = 1024 * 1024
_ANSWER_MOST: Final = 64 * 1024
_NAMES_MOST: Final = 16
"""Of one key in a signers file; each is asked for."""
_NAME_MOST: Final = 200
_CHECK_SECONDS: Final = 120.0
_SIGN_SECONDS: Final = 600.0
"""Somebody may have to type a passphrase, or to touch a token."""


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What became of looking for a signature of a file.

    `signed` is None where there is none, else whether it is one of these very bytes. `signer` is
    the name that the signers file gives to the key, "" where it knows none or was not asked;
    `key` the key's fingerprint; `why` what speaks against it. All three are others' words.
    """

    signed: bool | None
    signer: str = ""
    key: str = ""
    why: str = ""


NOT_SIGNED: Final = Signature(signed=None)


def signature_of(path: Path) -> Path:
    """Return where the signature of a sealed file lies."""
    return path.with_name(path.name + SUFFIX)


def sign(path: Path, key: Path) -> Path:
    """Sign a sealed file and return the path of its signature, which must be free.

    `key` is a private key, or a public one whose private half an agent holds.

    Raises:
        UsageError: there is no such key. RunFileError: the file has a signature.
        HostError: ssh-keygen is missing or refuses, or the signature cannot be written.
    """
    if not os.path.isfile(key):  # noqa: PTH113 — False of a name too long
        raise UsageError(
            f"There is no key {visible(str(key))}.",
            remedy="Name an SSH key: --sign ~/.ssh/id_ed25519",
        )
    beside = signature_of(path)
    if os.path.lexists(beside):
        raise RunFileError(
            f"{beside} exists already; a signature is never overwritten.",
            remedy=f"See whose it is: teijo verify {shell_path(path)} --signers FILE",
        )
    with _opened(path) as file:
        command = ["-Y", "sign", "-q", "-n", NAMESPACE, "-f", str(key.absolute())]
        done = _ask(command, file, seconds=_SIGN_SECONDS)
    if done.returncode != 0 or not done.stdout.startswith(_BEGIN):
        raise HostError(
            f"ssh-keygen did not sign with {visible(str(key))}: {_words(done)}.",
            remedy="Name a private key, or a public one that your agent holds the other half of.",
        )
    try:
        descriptor = create(beside)
        with os.fdopen(descriptor, "wb") as out:
            out.write(done.stdout)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise HostError(
            f"{beside} cannot be written: {error.strerror}.",
            remedy="Copy the run file to a folder that can be written, and seal it there.",
        ) from error
    return beside


def check(path: Path, signers: Path | None = None) -> Signature:
    """Return whether a file is signed, by which key, and by whom as `signers` says.

    `signers` is a file in the format of ssh-keygen's ALLOWED SIGNERS. Without one the key is shown,
    and nobody vouches for it.

    Raises:
        UsageError: the signers file cannot be read. HostError: ssh-keygen is missing.
    """
    if signers is None:
        allowed = b""
    else:
        try:
            allowed = read_bytes(signers, most_bytes=_SIGNERS_MOST)
        except Unreadable as error:
            raise UsageError(
                f"The signers file {visible(str(signers))} {error}.",
                remedy="One line for each signer, as in `man ssh-keygen`, ALLOWED SIGNERS.",
            ) from error
    beside = signature_of(path)
    if not os.path.lexists(beside):
        return NOT_SIGNED
    try:
        held = read_bytes(beside, most_bytes=_SIGNATURE_MOST)
    except Unreadable as error:
        return Signature(signed=False, why=f"its signature {error}")
    if not held.startswith(_BEGIN):
        return Signature(signed=False, why="what lies beside it is no SSH signature")
    with tempfile.TemporaryDirectory(prefix="teijo-") as folder, _opened(path) as file:
        # What is checked is what was read, whatever happens to the files meanwhile.
        signature = Path(folder) / "signature"
        signature.write_bytes(held)
        found = _without_names(signature, file)
        if not found.signed or signers is None:
            return found
        listed = Path(folder) / "signers"
        listed.write_bytes(allowed)
        return _named(found, signature, listed, file)


def _without_names(signature: Path, file: BinaryIO) -> Signature:
    done = _ask(["-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature)], file)
    if done.returncode != 0:
        return Signature(signed=False, why=_words(done))
    words = done.stdout.decode("utf-8", "replace").split()
    keys = [word for word in words if word.startswith("SHA256:")]
    return Signature(signed=True, key=visible(keys[-1] if keys else "", most=_NAME_MOST))


def _named(found: Signature, signature: Path, signers: Path, file: BinaryIO) -> Signature:
    """Return the signature with the name of its signer, as far as the signers file has one."""
    listed = ["-Y", "find-principals", "-s", str(signature), "-f", str(signers)]
    answer = _ask(listed, None)
    text = answer.stdout.decode("utf-8", "replace") if answer.returncode == 0 else ""
    names = [name.strip() for line in text.splitlines() for name in line.split(",")]
    why = "its key is none of the signers'"
    for name in list(filter(None, names))[:_NAMES_MOST]:
        if "\0" in name or len(name) > _NAME_MOST:  # no argument can hold a NUL
            continue
        command = ["-Y", "verify", "-n", NAMESPACE, "-s", str(signature), "-f", str(signers)]
        done = _ask([*command, "-I", name], file)
        if done.returncode == 0:
            return Signature(signed=True, key=found.key, signer=visible(name))
        why = _words(done)
    return Signature(signed=True, key=found.key, why=why)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a run file, and make sure in the end that it is still the same one.

    Raises:
        RunFileError: it is no regular file, or was changed meanwhile.
        HostError: it cannot be read.
    """
    try:
        # To open a pipe that was put in its place would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise HostError(
            f"{path} cannot be read: {error.strerror}.", remedy="Check who may read it."
        ) from error
    with os.fdopen(descriptor, "rb") as file:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise RunFileError(f"{path} is no regular file.", remedy="Name a sealed .teijo file.")
        yield file
        if _shape(os.fstat(descriptor)) != _shape(before) or _shape(_status(path)) != _shape(
            before
        ):
            raise RunFileError(
                f"{path} changed while its signature was looked at.",
                remedy="Use a copy that nobody else can write.",
            )


def _shape(status: os.stat_result | None) -> tuple[int, ...]:
    if status is None:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _ask(
    arguments: Sequence[str], file: BinaryIO | None, *, seconds: float = _CHECK_SECONDS
) -> "subprocess.CompletedProcess[bytes]":
    """Start ssh-keygen on a file, with nothing of this process but what an agent needs.

    Raises:
        HostError: it is not installed, takes too long, or says too much.
    """
    program = which("ssh-keygen", path=_SEARCH)
    if program is None:
        raise HostError(
            "ssh-keygen is not installed, and signatures are its work.",
            remedy="Install OpenSSH's client: apt install openssh-client",
        )
    own = {name: os.environ[name] for name in _KEPT if name in os.environ}
    if file is not None:
        file.seek(0)
    # Files, not pipes: of what it says no more is held in memory than _ANSWER_MOST.
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
        try:
            done = subprocess.run(
                [program, *arguments],
                stdin=subprocess.DEVNULL if file is None else file,
                stdout=said,
                stderr=complained,
                env={**own, "LC_ALL": "C", "PATH": _SEARCH},
                timeout=seconds,
                check=False,
            )
        except (OSError, ValueError) as error:
            why = (
                isinstance(error, OSError) and error.strerror
            ) or "its arguments cannot be passed"
            raise HostError(
                f"ssh-keygen cannot be started: {why}.", remedy="Install the client of OpenSSH."
            ) from error
        except subprocess.TimeoutExpired as error:
            raise HostError(
                f"ssh-keygen did not end within {seconds:g} s.",
                remedy="Sign with a key that needs nobody, or with one that your agent holds.",
            ) from error
        texts = []
        for stream in (said, complained):
            stream.seek(0)
            texts.append(stream.read(_ANSWER_MOST))
    return subprocess.CompletedProcess(done.args, done.returncode, *texts)


def _words(done: "subprocess.CompletedProcess[bytes]") -> str:
    """Return what ssh-keygen complained of, in one line that nothing obeys."""
    lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return visible(lines[-1].strip().rstrip("."), most=_NAME_MOST) if lines else "it says no reason"
