"""Consent of a run covers every victim of its purge, before a file is made or a command sent."""

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from teijo import api
from teijo.cli.preview import purge_as_object, purge_lines
from teijo.device import block
from teijo.device.block import open_block
from teijo.device.checks import Subject
from teijo.device.kernel import Number
from teijo.device.purging import by_hand, ladder, others
from teijo.device.survey import Survey
from teijo.device.target import BlockTarget
from teijo.errors import TargetError, TeijoError, UnsafeError
from teijo.runner.events import Event, Observer, Purging, unobserved
from teijo.runner.run_state import Follower
from teijo.speech.state_words import phase
from teijo.terms.geometry import Geometry
from tests.drives.in_process import NvmeBench
from tests.drives.nvme_host import TARGET, NvmeHost

MADE = 1 << 20
TWO = [{"size_bytes": MADE}, {"size_bytes": MADE}]
THREE = [*TWO, {"size_bytes": MADE, "attached": False}]
BLOCK, FORMAT = "nvme-sanitize-block", "nvme-format"
ERASING = (0x80, 0x84)
HERE = BlockTarget(text=TARGET, path=Path(TARGET))
Made = Callable[..., NvmeHost]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    made: list[NvmeBench] = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def build(**knobs: object) -> NvmeHost:
        made.append(NvmeBench(tmp_path, monkeypatch, **knobs))
        return NvmeHost(made[-1], monkeypatch)

    yield build
    for one in made:
        one.close()


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("nvme1n1", "nvme list -v"),
        ("sdb", "lsblk -d -o NAME,TRAN,HCTL,SERIAL,WWN"),
        ("vdb", "lsblk -d -o NAME,SERIAL"),
    ],
)
def test_a_drive_that_was_exchanged_is_looked_for_by_what_lists_its_kind(
    name: str, command: str
) -> None:
    def subject(serial: str) -> Subject:
        node = SimpleNamespace(name=name)
        found = SimpleNamespace(own_serial=serial, node=node)
        return cast(Subject, SimpleNamespace(target=f"/dev/{name}", found=found))

    with pytest.raises(UnsafeError) as caught:
        others.check_of_one_drive(subject("A"), subject("B"))
    assert caught.value.remedy == f"Look which drive this is: {command}."


def run(folder: Path, destroy: str | None, method: str, observer: Observer = unobserved) -> object:
    geometry = Geometry(capacity_bytes=MADE, nominal_capacity_bytes=MADE)
    words = {"purge": method, "minute": "4ms", "rounds": "5", "watch": "off", "cache": "leave"}
    return api.run(
        "pts.lat",
        Survey(target=HERE, geometry=geometry, settings=words),
        output=folder / "run",
        destroy=destroy,
        observer=observer,
    )


def refused_before_anything(
    folder: Path, destroy: str | None, method: str, said: str
) -> UnsafeError:
    """A run is refused; neither a run file nor a step was ever begun."""
    seen: list[Event] = []
    with pytest.raises(UnsafeError, match=said) as caught:
        run(folder, destroy, method, seen.append)
    assert seen == []
    assert not list(folder.glob("run*"))
    assert caught.value.exit_code == 3
    return caught.value


@pytest.mark.parametrize(
    ("destroy", "said"),
    [
        (None, "no --destroy names it"),
        ("EMU0001-ns1", "would lose EMU0001-ns2, EMU0001-ns3 too"),
        ("EMU0001-ns2,EMU0001-ns3", "names another device|no --destroy names it"),
        ("EMU0001-ns1,EMU0001-ns2,EMU0001-ns3,EMU0001-ns4", "names EMU0001-ns4, and that is none"),
        ("EMU0001-ns1,EMU0001-ns2,EMU0001-n3", "names EMU0001-n3, and that is none"),
    ],
)
def test_what_is_lost_is_named_before_a_file_is_made(
    host: Made, tmp_path: Path, destroy: str | None, said: str
) -> None:
    on = host(namespaces=THREE).on
    on.fill()
    before = [on.image(number) for number in (1, 2)]
    refusal = refused_before_anything(tmp_path, destroy, BLOCK, said)
    assert "--destroy EMU0001-ns1,EMU0001-ns2,EMU0001-ns3" in refusal.remedy
    assert on.opcodes(*ERASING) == []
    assert [on.image(number) for number in (1, 2)] == before


@pytest.mark.parametrize("method", ["auto", "none", "discard"])
def test_a_serial_that_a_method_does_not_take_is_none_to_give_up(
    host: Made, tmp_path: Path, method: str
) -> None:
    on = host(namespaces=TWO).on
    said = "names EMU0001-ns2, and that is none of EMU0001-ns1"
    refused_before_anything(tmp_path, "EMU0001-ns1,EMU0001-ns2", method, said)
    assert on.opcodes(*ERASING) == []


def test_a_run_takes_the_whole_list_purges_all_and_records_it(
    host: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = host(namespaces=THREE, duration=8.0).on
    on.fill()
    follower, lines = Follower(lambda: 0), list[str]()
    told = threading.Event()

    def observer(event: Event) -> None:
        follower.tell(event)
        if isinstance(event, Purging):
            lines.append(phase(follower.state))
            told.set()

    def pause(ns: int, look: object) -> None:
        told.wait(30)  # until the run has said how far the drive is
        told.clear()
        on.clock.sleep(ns / 1e9)

    monkeypatch.setattr("teijo.device.watched.LOOK_S", 0.001)
    monkeypatch.setattr("teijo.device.purging.waiting.rest", pause)
    run(tmp_path, "EMU0001-ns1,EMU0001-ns2,EMU0001-ns3", BLOCK, observer)
    assert len(lines) > 5
    assert all(re.fullmatch(r"purging \(\d+ %\)", line) for line in lines)
    assert on.opcodes(*ERASING) == [0x84]
    assert not any(on.image(2))
    record = api.open(tmp_path / "run.teijo").record
    assert record.identity.facts["given up"] == "EMU0001-ns1, EMU0001-ns2, EMU0001-ns3"
    first = record.steps[0].answer
    assert "NVMe Sanitize, block erase" in first.detail["method"]


@pytest.mark.parametrize("method", [BLOCK, FORMAT])
@pytest.mark.parametrize("fna", [0b00, 0b10])
def test_what_is_mounted_anywhere_in_the_subsystem_refuses(
    host: Made, tmp_path: Path, method: str, fna: int
) -> None:
    machine = host(namespaces=TWO, fna=fna)
    machine.mount(Number(259, 1))
    given = "EMU0001-ns1" + (",EMU0001-ns2" if fna or method == BLOCK else "")
    said = r"nvme0n2 must not be written.*ext4 at /data"
    refused_before_anything(tmp_path, given, method, said)
    assert machine.on.opcodes(*ERASING) == []


def test_a_node_of_another_controller_is_looked_at_as_well(host: Made, tmp_path: Path) -> None:
    machine = host(namespaces=TWO)
    machine.twin(2, "nvme1n2")
    machine.mount(machine.nodes["nvme1n2"])
    said = r"nvme1n2 must not be written.*ext4 at /data"
    refused_before_anything(tmp_path, "EMU0001-ns1,EMU0001-ns2", BLOCK, said)
    assert machine.on.opcodes(*ERASING) == []


def test_the_others_are_ours_alone_while_the_purge_goes_on(
    host: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = host(namespaces=TWO)
    seen: list[str] = []

    def pause(ns: int, look: object) -> None:
        machine.on.clock.sleep(ns / 1e9)
        seen.append(machine.claim(Path("/dev/nvme0n2"), write=True).refusal)

    monkeypatch.setattr("teijo.device.purging.waiting.rest", pause)
    by_hand.purge(TARGET, BLOCK, destroy="EMU0001-ns1,EMU0001-ns2")
    assert seen
    assert set(seen) == {"Device or resource busy"}
    assert machine.claim(Path("/dev/nvme0n2"), write=True).refusal == ""


@pytest.mark.parametrize(
    ("fna", "victims"), [(0b00, 1), (0b01, 2), (0b10, 2), (0b11, 2), (0b100, 1)]
)
def test_a_format_takes_what_the_drive_says_it_reaches(host: Made, fna: int, victims: int) -> None:
    on = host(namespaces=TWO, fna=fna).on
    on.fill()
    before = on.image(2)
    names = ("EMU0001-ns1", "EMU0001-ns2")[:victims]
    (offer,) = (one for one in by_hand.purge_state(TARGET).offers if one.method == FORMAT)
    assert offer.victims == names
    if victims == 2:
        with pytest.raises(UnsafeError, match="would lose EMU0001-ns2 too"):
            by_hand.purge(TARGET, FORMAT, destroy=names[0])
        assert on.opcodes(*ERASING) == []
    by_hand.purge(TARGET, FORMAT, destroy=",".join(names))
    assert on.opcodes(*ERASING) == [0x80]
    assert (on.image(2) == before) is (victims == 1 or not fna & 0b10)


def test_auto_takes_no_format_where_a_second_namespace_is(host: Made) -> None:
    on = host(namespaces=TWO).on
    assert by_hand.purge(TARGET, "auto", destroy="EMU0001-ns1").method == "discard"
    assert on.opcodes(*ERASING) == []


def test_a_drive_that_lies_about_its_reach_is_found_out(host: Made) -> None:
    on = host(namespaces=TWO, format_reaches_all=True).on
    on.fill()
    with pytest.raises(ladder.DeviceError, match=r"reached /dev/nvme0n2 too, which the drive had"):
        by_hand.purge(TARGET, FORMAT, destroy="EMU0001-ns1")


def test_two_namespaces_of_one_drive_are_no_two_members_of_a_purge_of_it(host: Made) -> None:
    from teijo.device.purging.agreed import consent_to_run

    machine = host(namespaces=TWO)
    members = [machine.claim(Path(f"/dev/nvme0n{one}"), write=True) for one in (1, 2)]
    with pytest.raises(UnsafeError, match=r"reaches /dev/nvme0n2, which is of the same drive"):
        consent_to_run(members, "EMU0001-ns1,EMU0001-ns2", BLOCK)
    passed = consent_to_run(members, "EMU0001-ns2,EMU0001-ns1", "none")
    assert [one.given for one in passed] == [("EMU0001-ns2", "EMU0001-ns1")] * 2


def test_a_method_that_is_refused_or_not_there_is_told_at_the_opening(host: Made) -> None:
    on = host(critical_warning=8, sanicap=0x4000_0002).on
    for method, kind, said in (
        (BLOCK, UnsafeError, "read-only"),
        ("nvme-sanitize-crypto", TargetError, "no purge by"),
    ):
        with pytest.raises(kind, match=said):
            open_block(HERE, write=True, destroy="EMU0001", purge_by=method)
    assert on.opcodes(*ERASING) == []
    assert block.open_block is open_block


def test_a_preview_says_what_the_named_purge_takes_and_sends_nothing_that_erases(
    host: Made,
) -> None:
    on = host(namespaces=TWO, duration=90.0).on
    small = {"block_sizes": "4KiB"}
    told = api.foretell("pts.iops", TARGET, settings=small | {"purge": BLOCK})
    assert not isinstance(told.purges, TeijoError)
    (offer,) = told.purges
    assert (offer.method, offer.victims) == (BLOCK, ("EMU0001-ns1", "EMU0001-ns2"))
    title, given = purge_lines(told.purges)[1:]
    assert "It takes EMU0001-ns1, EMU0001-ns2." in title
    assert given == "To give that up: --destroy EMU0001-ns1,EMU0001-ns2"
    assert api.foretell("pts.iops", TARGET, settings=small).purges == ()
    assert on.opcodes(*ERASING) == []


def test_a_preview_says_why_the_named_purge_is_refused_and_how_long_the_run_is_all_the_same(
    host: Made,
) -> None:
    host(critical_warning=8)
    told = api.foretell("pts.iops", TARGET, settings={"block_sizes": "4KiB", "purge": BLOCK})
    assert told.extent.expected.duration_ns > 0
    assert isinstance(told.purges, TeijoError)
    assert purge_as_object(told.purges) == {
        "error": told.purges.message, "remedy": told.purges.remedy
    }  # fmt: skip
    assert purge_lines(told.purges)[1].startswith("Purge: not here and now. ")
    assert "read-only" in purge_lines(told.purges)[1]
