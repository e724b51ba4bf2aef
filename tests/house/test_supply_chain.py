"""What the project is made of: pinned by hashes, from its lock files, under known licences."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import PackageMetadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.house.tree import ROOT, text

LOCK = text(ROOT / "requirements.lock")
ALLOWED = frozenset(tomllib.loads(text(ROOT / "deny.toml"))["licenses"]["allow"])
CALLS = ("bench", "build", "check", "clippy", "doc", "fetch", "fuzz", "metadata", "miri", "run")

# Licences that a package tells in words of its own only.
WORDS = {
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "OSI Approved :: MIT License": "MIT",
    "OSI Approved :: ISC License (ISCL)": "ISC",
    "OSI Approved :: Apache Software License": "Apache-2.0",
    "OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}

# Licences of packages that say none in words that are listed: read in the file they come with.
# `axe-playwright-python` has axe-core in it, which is MPL-2.0; only tests load it.
READ = {
    "axe-playwright-python": "MIT AND MPL-2.0",
    "itsdangerous": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "protobuf": "BSD-3-Clause",
}


def pins() -> list[tuple[Requirement, int]]:
    """Return each pinned package with the number of its hashes."""
    whole = LOCK.replace("\\\n", " ")
    lines = [line for line in whole.splitlines() if line.strip() and not line.startswith("#")]
    return [
        (Requirement(line.partition(" --hash")[0]), len(re.findall(r"--hash=sha256:\w{64}", line)))
        for line in lines
    ]


def test_every_pinned_package_has_one_version_and_hashes() -> None:
    assert len(pins()) > 40
    for package, hashes in pins():
        assert re.fullmatch(r"==[^,*]+", str(package.specifier)), package
        assert hashes > 0, f"{package} has no hash: run `make lock`"


def test_what_is_installed_is_what_the_lock_names() -> None:
    for package, _ in pins():
        if package.marker is None or package.marker.evaluate():
            installed = importlib.metadata.version(package.name)
            assert package.specifier.contains(installed, prereleases=True), package


def calls_without_a_lock(makefile: str) -> list[str]:
    """Return the lines that let cargo or pip choose versions anew."""
    whole = makefile.replace("\\\n", " ")
    cargo = re.compile(r"\bcargo (?:\+\w+ )?(" + "|".join((*CALLS, "test")) + r")\b")
    found = []
    for line in whole.splitlines():
        told = line.strip().startswith(("#", "echo")) or "--version" in line
        # The fuzzers are a workspace of their own with its own lock; cargo-fuzz has no --locked.
        if cargo.search(line) and not told and not re.search(r"--locked|cargo fuzz run", line):
            found.append(line.strip())
        if "maturin develop" in line and "--locked" not in line:
            found.append(line.strip())
        if "-r requirements.lock" in line and "--require-hashes" not in line:
            found.append(line.strip())
    return found


def test_no_build_lets_cargo_or_pip_choose_other_versions() -> None:
    for path in (ROOT / "Makefile", *sorted((ROOT / ".ci").iterdir())):
        assert not calls_without_a_lock(text(path)), path.name


@pytest.mark.parametrize(
    "line",
    [
        "\t@status=0; cargo test --workspace --quiet || status=1",
        "\tcargo clippy --workspace \\\n\t\t--quiet",
        "\tmiri='cargo +nightly miri test --quiet'",
        "\t@$(BIN)/maturin develop --release",
        "\tpip install -r requirements.lock",
    ],
)
def test_a_call_without_its_lock_is_seen(line: str) -> None:
    assert calls_without_a_lock(line)
    assert not calls_without_a_lock("\tcargo test --workspace --locked --quiet")


def allowed(expression: str) -> bool:
    """Return whether an SPDX expression can be met by licences of the list."""
    words = re.findall(r"[()]|[^\s()/]+|/", expression)
    tokens = ["OR" if word == "/" else word for word in words]
    verdict = either(tokens)
    assert not tokens, f"not an SPDX expression: {expression}"
    return verdict


def either(tokens: list[str]) -> bool:
    verdict = both(tokens)
    while tokens and tokens[0].upper() == "OR":
        tokens.pop(0)
        verdict |= both(tokens)
    return verdict


def both(tokens: list[str]) -> bool:
    verdict = one(tokens)
    while tokens and tokens[0].upper() == "AND":
        tokens.pop(0)
        verdict &= one(tokens)
    return verdict


def one(tokens: list[str]) -> bool:
    name = tokens.pop(0)
    if name == "(":
        verdict = either(tokens)
        assert tokens.pop(0) == ")"
        return verdict
    if tokens and tokens[0].upper() == "WITH":
        tokens.pop(0)
        name = f"{name} WITH {tokens.pop(0)}"
    return name in ALLOWED


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT WITH LLVM-exception", False),
        ("MIT OR GPL-2.0-only AND GPL-3.0-only", True),
        ("AGPL-3.0-only", False),
    ],
)
def test_an_expression_of_licences_is_met_or_not(expression: str, verdict: bool) -> None:
    assert allowed(expression) is verdict


def test_every_rust_package_is_under_an_allowed_licence() -> None:
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
    asked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert asked.returncode == 0, asked.stderr
    packages = json.loads(asked.stdout)["packages"]
    assert len(packages) > 40
    refused = {
        one["name"]: one["license"] for one in packages if not allowed(one["license"] or "none")
    }
    assert not refused, f"not in deny.toml: {refused}"


def licence(package: PackageMetadata) -> str:
    """Return what a Python package says of its licence, as an SPDX expression."""
    fields = package.json
    if expression := fields.get("license_expression"):
        return str(expression)
    stated = [str(fields.get("license", "")).strip()]
    stated += [one.removeprefix("License :: ") for one in fields.get("classifier", [])]
    known = [WORDS.get(one, one) for one in stated if one in WORDS or one in ALLOWED]
    found = known[0] if known else f"unknown({stated[0][:40]!r})"
    return READ.get(str(fields["name"]).lower(), found) if "unknown" in found else found


def test_every_python_package_is_under_an_allowed_licence() -> None:
    refused = {}
    for package, _ in pins():
        if package.marker is None or package.marker.evaluate():
            found = licence(importlib.metadata.metadata(package.name))
            if "unknown" in found or not allowed(found):
                refused[package.name] = found
    assert not refused, f"not in deny.toml: {refused}"


CLEAN = {"dependencies": [{"name": "numpy", "version": "2.4.6", "vulns": []}]}
BAD = {"dependencies": [{"name": "numpy", "version": "2.4.6", "vulns": [{"id": "X-1"}]}]}
BLIND = {"dependencies": [{"name": "numpy", "skip_reason": "not found"}]}


@pytest.fixture
def audit(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Return a function that runs the audit with programs that answer as they are told."""

    def run(*, deny: str, answer: object, ci: str = "") -> "subprocess.CompletedProcess[str]":
        written = json.dumps(answer)
        asks = f"#!/bin/sh\nfor last; do :; done\necho '{written}' >\"$last\"\n"
        for name, body in (("cargo-deny", f"#!/bin/sh\n{deny}\n"), ("pip-audit", asks)):
            (tmp_path / name).write_text(body)
            (tmp_path / name).chmod(0o755)
        return subprocess.run(
            [sys.executable, ROOT / ".ci" / "audit"],
            env=os.environ | {"PATH": f"{tmp_path}:/usr/bin:/bin", "CI": ci},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("deny", "answer", "code", "words"),
    [
        ("exit 0", CLEAN, 0, ["Rust (cargo-deny): clean", "Python (pip-audit): clean"]),
        ("exit 0", BAD, 1, ["Python (pip-audit): vulnerable: numpy"]),
        ('test "$1" = fetch', CLEAN, 1, ["Rust (cargo-deny): vulnerable"]),
        ("echo no route >&2; exit 1", CLEAN, 0, ["Rust (cargo-deny): unknown", "no route"]),
        ("exit 0", BLIND, 0, ["Python (pip-audit): unknown: 1 of 1 packages"]),
        ("exit 0", "broken", 0, ["Python (pip-audit): unknown"]),
    ],
)
def test_the_audit_tells_clean_vulnerable_and_unknown_apart(
    audit: Callable[..., "subprocess.CompletedProcess[str]"],
    deny: str,
    answer: object,
    code: int,
    words: list[str],
) -> None:
    said = audit(deny=deny, answer=answer)
    assert said.returncode == code, said.stdout + said.stderr
    assert all(word in said.stdout for word in words), said.stdout


def test_what_the_audit_cannot_ask_fails_where_nobody_reads_it(
    audit: Callable[..., "subprocess.CompletedProcess[str]"],
) -> None:
    assert audit(deny="exit 0", answer=BLIND, ci="true").returncode == 1
    assert audit(deny="exit 0", answer=CLEAN, ci="true").returncode == 0
