"""Which program is meant: one digest of the command and its files, and consent to exactly that."""

import hashlib
import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.device.hook import run_hook
from teijo.device.hook_consent import (
    MOST_BYTES,
    MOST_LETTERS,
    Hook,
    hook_to_resume,
    hook_to_run,
    is_named,
    shown,
)
from teijo.errors import HostError, UnsafeError, UsageError
from teijo.terms.step import Configure

LETTERS = st.characters(exclude_characters="\0", exclude_categories=("Cs",))


def is_there(name: str) -> bool:
    try:
        return Path(name).exists()
    except OSError:  # too long a name
        return False


# A file of this machine is read, and one of the kernel's refused: that is not the question here.
ARGUMENTS = st.lists(st.text(LETTERS).filter(lambda text: not is_there(text)), max_size=4)


def program(folder: Path, body: str = "exit 0", name: str = "hook") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def framed(parts: list[bytes]) -> bytes:
    """Return parts as docs/safety.md says: their number, then each behind its length."""
    return len(parts).to_bytes(8, "big") + b"".join(
        len(part).to_bytes(8, "big") + part for part in parts
    )


def test_the_digest_is_that_of_the_page(tmp_path: Path) -> None:
    script = program(tmp_path, name="script")
    run, read = Path("/bin/sh"), hashlib.sha256(script.read_bytes()).hexdigest()
    shell = hashlib.sha256(run.read_bytes()).hexdigest()
    hook = Hook.of((str(run), str(script), "now"))
    argv = [b"/bin/sh", os.fsencode(script), b"now"]
    told = (
        framed(argv)
        + framed([b"/bin/sh"])
        + framed([b"0 " + shell.encode(), b"1 " + read.encode()])
    )
    assert hook.digest == hashlib.sha256(b"teijo hook, version 1" + told).hexdigest()
    assert hook.files == (("/bin/sh", shell), (str(script), read))


@given(ARGUMENTS, ARGUMENTS)
def test_two_commands_have_one_digest_only_if_they_are_one(one: list[str], two: list[str]) -> None:
    first, second = (Hook.of(("true", *each)).digest for each in (one, two))
    assert (first == second) == (one == two)


def test_arguments_that_read_the_same_when_joined_differ() -> None:
    ways = [("true", "a b"), ("true", "a", "b"), ("true", "a b", ""), ("true", "", "a b")]
    digests = {Hook.of(argv).digest for argv in ways}
    assert len(digests) == len(ways)


@pytest.mark.parametrize("change", ["program", "script", "place", "order"])
def test_another_file_of_it_is_another_digest(tmp_path: Path, change: str) -> None:
    own, script, second = (program(tmp_path, name=name) for name in ("own", "script", "second"))
    second.write_text("other")
    argv = (str(own), str(script), str(second))
    before = Hook.of(argv).digest
    match change:
        case "program":
            program(tmp_path, "exit 1", "own")
        case "script":
            program(tmp_path, "exit 1", "script")
        case "place":
            argv = (str(program(tmp_path, name="copy")), *argv[1:])
        case "order":
            text = script.read_text()
            script.write_text(second.read_text())
            second.write_text(text)
    assert Hook.of(argv).digest != before


def test_a_program_that_stands_before_it_on_the_path_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Hook.of(("true",))
    program(tmp_path, name="true")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    now = Hook.of(("true",))
    assert (now.program, now.digest == before.digest) == (str(tmp_path / "true"), False)


def test_only_the_whole_digest_as_it_is_printed_names_it() -> None:
    digest = Hook.of(("true",)).digest
    assert is_named(digest, digest)
    for place, other in itertools.product(range(64), "0f"):
        wrong = digest[:place] + other + digest[place + 1 :]
        assert is_named(digest, wrong) == (wrong == digest)
    for wrong in (None, "", digest[:-1], digest + "0", digest.upper(), f" {digest}", "0x" + digest):
        assert not is_named(digest, wrong)
    assert not is_named("", "")


def test_it_is_shown_in_one_line_that_moves_no_cursor() -> None:
    text = shown(["sh", "-c", "\x1b[2J\x9b1m\n\r\u202e\u2028\ud800 定常"])
    assert text == r"sh -c $'\x1b[2J\x9b1m\n\r\u202e\u2028\ud800 定常'"


def test_a_line_that_ends_does_not_pass_for_a_comment_that_goes_on() -> None:
    """`echo # \n rm` is one comment, and two commands where the two letters are a line's end."""
    assert shown(["sh", "-c", r"echo # \n rm"]) == r"sh -c 'echo # \n rm'"
    assert shown(["sh", "-c", "echo '\\n' # \n rm"]) == r"sh -c $'echo \'\\n\' # \n rm'"


@given(st.lists(st.text(), min_size=1, max_size=3), st.lists(st.text(), min_size=1, max_size=3))
def test_two_commands_are_shown_alike_only_if_they_are_one(one: list[str], two: list[str]) -> None:
    assert (shown(one) == shown(two)) == (one == two)


def test_a_command_too_long_to_be_shown_whole_is_refused() -> None:
    with pytest.raises(HostError, match="could not be shown whole"):
        Hook.of(("true", " " * MOST_LETTERS))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("/nowhere/hook",), "No such file"),
        (("nowhere-hook",), "No such file"),
        (("",), "No such file"),
        ((__file__,), "Permission denied"),
        (("/tmp",), "Permission denied"),
        (("true", "a\0b"), "NUL"),
        (("true", "\ud800"), "no text of this system"),
        (("true", "/proc/self/cmdline"), "a file of the kernel's"),
        (("true", "/sys/kernel/uevent_seqnum"), "a file of the kernel's"),
    ],
)
def test_a_hook_that_cannot_be_known_has_no_digest(argv: tuple[str, ...], message: str) -> None:
    with pytest.raises(HostError, match=message):
        Hook.of(argv)
    with pytest.raises(UnsafeError, match="No program was run"):
        hook_to_resume([argv], "0" * 64)


def test_a_file_that_is_too_large_is_no_script(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(HostError, match="no file of at most 256 MiB"):
        Hook.of(("true", str(large)))


def test_who_begins_a_run_need_not_name_the_digest_but_must_not_name_another() -> None:
    argv = ("true", "now")
    hook = hook_to_run(argv, None)
    assert hook == Hook.of(argv)
    assert hook is not None
    assert hook_to_run(argv, hook.digest) == hook
    with pytest.raises(UnsafeError, match="It was not run"):
        hook_to_run(argv, Hook.of(("true",)).digest)


def test_who_resumes_must_name_it_and_is_told_what() -> None:
    argv = ("true", "now")
    digest = Hook.of(argv).digest
    with pytest.raises(UnsafeError) as caught:
        hook_to_resume([argv], None)
    assert "true now" in caught.value.message
    assert caught.value.remedy.endswith(f"--hook {digest}")
    assert hook_to_resume([(), argv, argv], digest) == Hook.of(argv)


def test_a_file_with_two_hooks_is_refused_whatever_is_named() -> None:
    one, two = ("true", "1"), ("true", "2")
    for named in (None, Hook.of(one).digest, Hook.of(two).digest):
        with pytest.raises(UnsafeError, match="names 2 hooks"):
            hook_to_resume([one, two], named)


def test_a_digest_without_a_hook_is_a_mistake() -> None:
    for decide in (lambda: hook_to_run((), "0" * 64), lambda: hook_to_resume([()], "0" * 64)):
        with pytest.raises(UsageError, match="this run has none"):
            decide()
    assert hook_to_run((), None) is None
    assert hook_to_resume([(), ()], None) is None


@pytest.mark.parametrize("consented", [None, ("true",)])
def test_a_hook_that_nobody_consented_to_does_not_run(
    tmp_path: Path, consented: tuple[str, ...] | None
) -> None:
    witness = tmp_path / "witness"
    step = Configure(settings=(), hook=("touch", str(witness)))
    with pytest.raises(UnsafeError, match="not one that was consented to"):
        run_hook(step, "/dev/x", consented and Hook.of(consented))
    assert not witness.exists()


@pytest.mark.parametrize("which", ["program", "script"])
def test_a_hook_that_changed_since_does_not_run_and_is_named(tmp_path: Path, which: str) -> None:
    witness = tmp_path / "witness"
    own, script = program(tmp_path, f'sh "$1" {witness}', "own"), program(tmp_path, name="script")
    step = Configure(settings=(), hook=(str(own), str(script)))
    consent = Hook.of(step.hook)
    program(tmp_path, f"touch {witness}", {"program": "own", "script": "script"}[which])
    with pytest.raises(HostError, match="not what it was when it was consented to") as caught:
        run_hook(step, "/dev/x", consent)
    assert not witness.exists()
    changed = own if which == "program" else script
    assert f"{changed} changed" in caught.value.message
    assert caught.value.remedy.startswith("If that was you, resume the run with --hook ")
    assert Hook.of(step.hook).digest in caught.value.remedy


def test_a_binary_runs_from_the_descriptor_that_was_read(tmp_path: Path) -> None:
    """Its path may lead elsewhere by then: the kernel is given what was hashed."""
    step = Configure(settings=(), hook=("sh", "-c", "readlink /proc/$$/exe; echo $0", "name"))
    told = run_hook(step, "/dev/x", Hook.of(step.hook))
    exe, name = told["hook_stdout"].split()
    assert Path(exe) == Path(Hook.of(step.hook).program).resolve()
    assert name == "name"
    assert told["hook_sha256"] == Hook.of(step.hook).digest


def test_a_script_knows_where_it_lies(tmp_path: Path) -> None:
    own = program(tmp_path, 'dirname "$0"')
    step = Configure(settings=(), hook=(str(own),))
    assert run_hook(step, "/dev/x", Hook.of(step.hook))["hook_stdout"] == str(tmp_path)
