"""The hosts of a run in its file: written, read, and refused where they are none."""

import pytest

from teijo.terms import shared
from teijo.terms.shared import HostPart, SharingHost, Tail

HOST = SharingHost(
    name="rack2", host="r2", kernel="6.1", cpus=4, teijo="1", build="b", backend="io_uring",
    ahead_ns=-5, error_ns=2,
)  # fmt: skip
TAILS = (
    Tail(stream="main", operation="read", count=9, p999_ns=7_000),
    Tail(stream="main", operation="write", count=3, p999_ns=9_000),
)
PART = HostPart(
    name="rack2", began_ns=1, error_ns=2, elapsed_ns=3, ios=12, bytes=5, errors=0, tails=TAILS
)


def test_they_come_back_as_they_were() -> None:
    facts = {shared.FACT: shared.hosts_to_json((HOST, HOST))}
    assert shared.hosts_in(facts) == (HOST, HOST)
    detail = {shared.DETAIL: shared.parts_to_json((PART,))}
    assert shared.parts_in(detail) == (PART,)
    assert PART.p999_ns == 9_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        "[" * 10_000,
        "x" * (shared.LONGEST + 1),
        shared.hosts_to_json((HOST,) * (shared.HOSTS_MOST + 1)),
        shared.hosts_to_json((HOST,)).replace("rack2", "a b"),
        shared.hosts_to_json((HOST,)).replace('"cpus":4', '"cpus":-4'),
    ],
)
def test_what_is_none_is_no_host(text: str) -> None:
    assert shared.hosts_in({shared.FACT: text}) == ()
    assert shared.parts_in({shared.DETAIL: text}) == ()


def test_a_run_from_one_host_has_none() -> None:
    assert shared.hosts_in({}) == shared.parts_in({}) == ()
