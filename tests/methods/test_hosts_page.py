"""The page of the hosts of a shared run: who they were, what each did, and who broke a step off."""

from dataclasses import replace

from teijo.document.model import Facts, Paragraph, Table
from teijo.methods import hosts_page, platform_page
from teijo.methods.hosts_page import hosts_section
from teijo.methods.parts import document_of
from teijo.methods.workload.found import step_of
from teijo.methods.workload.method import FreeWorkload
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import Gap, StepResult
from teijo.terms.shared import (
    DETAIL,
    FACT,
    HostPart,
    SharingHost,
    Tail,
    hosts_to_json,
    parts_to_json,
)
from tests.methods.canned import DRIVE, flow, record_of

METHOD = FreeWorkload()
SETTINGS = METHOD.settings("", {"seconds": "2"}, DRIVE)
STEP = step_of(SETTINGS)
REASON = "Host slow went away, last heard of at 2026-11-20T09:14:05+00:00: its channel was closed."


def host(name: str) -> SharingHost:
    return SharingHost(
        name=name, host=f"{name}.lab", kernel="6.1", cpus=4, teijo="1", build="b",
        backend="io_uring", ahead_ns=-1_500_000, error_ns=20_000,
    )  # fmt: skip


def part(name: str, ios: int, p999_ns: int, began_ns: int) -> HostPart:
    tail = Tail(stream="main", operation="read", count=ios, p999_ns=p999_ns)
    return HostPart(
        name=name, began_ns=began_ns, error_ns=20_000, elapsed_ns=2_000_000_000, ios=ios,
        bytes=ios * 4096, errors=0, tails=(tail,),
    )  # fmt: skip


def record() -> Record:
    parts = (part("quick", 3000, 200_000, 0), part("slow", 1000, 900_000, 40_000))
    answer = StepResult(
        started_ns=0, elapsed_ns=2_000_000_000, results=(flow("read", 4000, 4096),),
        detail={DETAIL: parts_to_json(parts)},
    )  # fmt: skip
    steps = (
        StepRecord(seq=1, step=STEP, seed=1, answer=Gap(reason=REASON)),
        StepRecord(seq=2, step=STEP, seed=1, answer=Gap()),
        StepRecord(seq=3, step=STEP, seed=1, answer=answer),
    )
    facts = {"python": "3", FACT: hosts_to_json((host("quick"), host("slow")))}
    return replace(record_of(METHOD, SETTINGS, steps, "done"), environment=facts)


def test_a_reader_sees_that_one_host_was_slow() -> None:
    section = hosts_section(record())
    assert section is not None
    note, hosts, sums, steps, gaps = section.blocks
    assert isinstance(note, Paragraph)
    assert "2 hosts had 2 times as many I/Os in flight" in note.text
    assert isinstance(hosts, Table)
    assert hosts.rows[1] == ("slow", "slow.lab", "6.1", 4, "io_uring", -1.5, 0.02)
    assert isinstance(sums, Table)
    assert sums.rows == (
        ("quick", 3000, 75.0, 0.012288, 1500.0, 200.0, 0.0, 0),
        ("slow", 1000, 25.0, 0.004096, 500.0, 900.0, 0.04, 0),
    )
    assert isinstance(steps, Table)
    assert steps.rows == (
        (3, STEP.phase, "quick", 1500.0, 0.012288, 200.0, 0.0, 0.02),
        (3, STEP.phase, "slow", 500.0, 0.004096, 900.0, 0.04, 0.02),
    )
    assert isinstance(gaps, Facts)
    assert gaps.rows == (("step 1", REASON),)


def test_header_and_environment_name_them_once() -> None:
    found = record()
    assert platform_page.header_rows(found) == hosts_page.header_rows(found)
    assert platform_page.header_rows(found) == (
        ("Hosts", "2, each with the whole depth: quick, slow"),
    )
    assert platform_page.environment_rows(found) == (("python", "3"),)
    titles = [section.title for section in document_of(found, METHOD).sections]
    assert titles.count("The hosts") == 1


def test_a_run_from_one_host_has_no_such_page() -> None:
    alone = replace(record(), environment={})
    assert hosts_section(alone) is None
    assert platform_page.header_rows(alone) == ()
