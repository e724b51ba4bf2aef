"""ATA Security Erase by hand, on the emulated drive: refusals, and an end at every command.

Kills, power cuts, failures and resets of the link, at each command and counted.
"""

import _thread
import contextlib
import struct
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from teijo.device.checks import Subject
from teijo.device.commands import ata
from teijo.device.commands import ata_security as commands
from teijo.device.drive.ata_identity import identity_of
from teijo.device.open_changes import OpenChange, note, open_changes
from teijo.device.preflight import Preflight
from teijo.device.purging import ata_security, ata_security_checks, by_hand, ladder, verify
from teijo.device.purging.ata_security import timeout_minutes
from teijo.device.purging.offer import Offer
from teijo.device.target import BlockTarget
from teijo.device.watched import unwatched
from teijo.errors import DeviceError, Interrupted, TargetError, TeijoError, UnsafeError
from teijo.terms.purge import AUTO
from tests.drives.ata import Registers, Task
from tests.drives.sg_in_process import Fault, Killed, SataBench

TARGET, SERIAL = "/dev/sda", "EMUSATA0001"
NORMAL, ENHANCED = "ata-security-erase", "ata-security-erase-enhanced"
SET, UNLOCK, PREPARE, ERASE, DISABLE, FREEZE = 0xF1, 0xF2, 0xF3, 0xF4, 0xF6, 0xF5
ASKED = ["IDENTIFY DEVICE", "CHECK POWER MODE", "READ NATIVE MAX ADDRESS EXT",
         "ACCESSIBLE MAX ADDRESS", "SANITIZE STATUS"]  # fmt: skip
TOLD = ["SECURITY SET PASSWORD", "IDENTIFY DEVICE", "SECURITY ERASE PREPARE",
        "SECURITY ERASE UNIT", "IDENTIFY DEVICE"]  # fmt: skip
Plug = Callable[..., SataBench]


def plugged(folder: Path, monkeypatch: pytest.MonkeyPatch, **knobs: object) -> SataBench:
    """Return a drive that is /dev/sda here."""
    folder.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    on = SataBench(folder, monkeypatch, **knobs)
    on.write(0, b"secret" * 1000)
    here = BlockTarget(text=TARGET, path=Path(TARGET))
    monkeypatch.setattr(by_hand, "parse_target", lambda text, **_: here)
    # The made-up tree has no nodes in /dev, no processes and no mounts.
    monkeypatch.setattr(by_hand, "claim", lambda *_, **__: on.claimed())
    monkeypatch.setattr(ladder, "confirm", lambda subject: None)
    monkeypatch.setattr(
        by_hand, "consent", lambda subject, destroy, also: Preflight(checks=(), given=(destroy,))
    )
    monkeypatch.setattr(verify, "STAMPS", 2)
    return on


@pytest.fixture
def plug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plug:
    """Return what makes a drive that is /dev/sda here."""
    return lambda at="drive", **knobs: plugged(tmp_path / at, monkeypatch, **knobs)


@cache
def course() -> tuple[str, ...]:
    """Return the names of all commands of a purge, in order."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        on = plugged(Path(folder) / "drive", monkeypatch)
        purge()
        assert on.front.count == len(on.names())
        return tuple(on.names())


def place_of_erase() -> int:
    """Return the number of SECURITY SET PASSWORD among all commands, from 1."""
    return course().index("SECURITY SET PASSWORD") + 1


def purge(method: str = NORMAL, destroy: str = SERIAL) -> None:
    by_hand.purge(TARGET, method, destroy=destroy)


def sent(on: SataBench) -> list[int]:
    """Return the codes of security that came, in order."""
    return [seen.code for seen in on.disk.seen if seen.ata and SET <= seen.code <= DISABLE]


def content(on: SataBench) -> bytes:
    return on.image.read_bytes()


@pytest.mark.parametrize(("method", "control"), [(NORMAL, 0b00), (ENHANCED, 0b10)])
def test_a_purge_sends_these_commands_and_leaves_no_password(
    plug: Plug, monkeypatch: pytest.MonkeyPatch, method: str, control: int
) -> None:
    on = plug()
    came: list[tuple[int, bytes]] = []
    obey = on.disk.execute

    def heard(task: Task, out: bytes = b"") -> Registers:
        came.append((task.command, out))
        return obey(task, out)

    monkeypatch.setattr(on.disk, "execute", heard)
    done = by_hand.purge(TARGET, method, destroy=SERIAL)
    at = place_of_erase() - 1 - len(ASKED)
    assert on.names()[at : at + len(ASKED) + len(TOLD)] == [*ASKED, *TOLD]
    assert sent(on) == [SET, PREPARE, ERASE]
    # Byte 0 is 0: the user's password; bit 1 of an erase: the enhanced one.
    password = b"teijo".ljust(32, b"\0")
    assert [out[:34] for command, out in came if command in (SET, ERASE)] == [
        b"\0\0" + password, bytes((control, 0)) + password,
    ]  # fmt: skip
    assert (done.method, done.estimate_s) == (method, 120)
    assert (done.is_proven, done.claimed) == (True, False)
    assert not any(content(on))
    assert (on.disk.state["user"], open_changes()) == (None, ())
    assert by_hand.finish(TARGET) == ()


def offered() -> list[Offer]:
    """Return what is offered of security erases."""
    offers = by_hand.purge_state(TARGET).offers
    return [one for one in offers if one.method.startswith("ata-security")]


def test_what_it_offers_is_what_the_drive_says(plug: Plug) -> None:
    on = plug(erase_minutes=600)
    normal, enhanced = offered()
    assert (normal.method, enhanced.method) == (NORMAL, ENHANCED)
    for offer in (normal, enhanced):
        assert (offer.victims, offer.others, offer.seconds) == ((SERIAL,), (), 36_000)
        assert (offer.abortable, offer.survives_power_cut) == (False, False)
        assert (offer.leaves_password, offer.valid_for_pts, offer.refusal) == (True, True, "")
    assert sent(on) == []
    assert NORMAL not in ladder.AUTOMATIC
    assert ENHANCED not in ladder.AUTOMATIC


def test_a_drive_without_it_offers_nothing(plug: Plug) -> None:
    on = plug(security=False)
    assert offered() == []
    with pytest.raises(TargetError, match="has no purge by ata-security-erase"):
        purge()
    assert sent(on) == []


def test_an_enhanced_erase_is_offered_only_where_there_is_one(plug: Plug) -> None:
    on = plug(enhanced=False)
    assert [one.method for one in offered()] == [NORMAL]
    with pytest.raises(UnsafeError, match="no enhanced"):
        ata_security.examine(ata_security.drive_of(on.subject()), enhanced=True)
    assert sent(on) == []


def test_only_the_drive_that_was_given_up_is_erased(plug: Plug) -> None:
    on = plug()
    was = content(on)
    with pytest.raises(UnsafeError, match=f"would lose {SERIAL} too"):
        purge(destroy="S-ANOTHER")
    assert (sent(on), content(on)) == ([], was)


def another(on: SataBench) -> None:
    on.subject()
    on.knobs.serial = "S2"


def used_up(on: SataBench) -> None:
    wrong = Task(command=UNLOCK, extended=False)
    for _ in range(5):
        on.disk.execute(wrong, b"\0\0wrong")


def sanitizing(on: SataBench) -> None:
    on.disk.execute(Task(command=0xB4, feature=0x12, lba=0x426B4572))


def failed_sanitize(on: SataBench) -> None:
    sanitizing(on)
    on.clock.sleep(60)
    assert on.disk.progress("sanitize").failed


def as_is(on: SataBench) -> None:
    """Leave it as its knobs make it."""


REFUSED: dict[str, tuple[dict[str, object], Callable[[SataBench], None], str, str]] = {
    "silent": ({"pass_through": False}, as_is, "does not say who it is", "cable"),
    "damaged": ({"damaged": True}, as_is, "checksum", "cable"),
    "another": ({}, another, "'S2'", "lsblk"),
    "registers": ({"task_file": False}, as_is, "does not come through", "SATA port"),
    "sanitizing": ({"mode": "fail"}, failed_sanitize, "its last sanitize failed", "again"),
    "locked": ({"password": "theirs"}, as_is, "locked by a password", "tool that set it"),
    "enabled": ({"password": "theirs", "unlocked": True}, as_is, "a password already", "tool"),
    "used up": ({"password": "theirs"}, used_up, "locked by a password", "tool"),
    "frozen": ({"frozen": True}, as_is, "it is frozen", "suspend this machine"),
    "hidden": ({"hpa_sectors": 8}, as_is, "8 sectors", "hdparm -N"),
}
ALSO = {
    "locked": {"enabled"}, "used up": {"enabled", "locked"}, "registers": {"hidden"},
    "sanitizing": {"hidden"},
}  # fmt: skip
"""What else refuses such a drive."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_drive_that_could_be_left_locked_is_never_told_a_password(plug: Plug, name: str) -> None:
    """B6: what is offered is a refusal with what ends it, and nothing is sent or written."""
    knobs, prepare, why, remedy = REFUSED[name]
    on = plug(**knobs)
    prepare(on)
    came, was = len(on.disk.seen), content(on)
    assert len(offered()) == 2
    for offer in offered():
        assert why in offer.refusal
        assert remedy in offer.remedy
    # What no read comes from is refused before its methods are asked.
    with pytest.raises((UnsafeError, DeviceError), match=why) as told:
        purge()
    assert remedy in told.value.remedy or "--finish" in told.value.remedy
    assert not [seen for seen in on.disk.seen[came:] if SET <= seen.code <= DISABLE and seen.ata]
    assert (content(on), open_changes()) == (was, ())


@pytest.mark.parametrize("name", [*(name for name in REFUSED if name != "silent"), "unsupported"])
def test_each_check_is_what_refuses(plug: Plug, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """B14: without one check, and others of the same drive, it is sent a password."""
    knobs, prepare, _, _ = REFUSED.get(name, ({"security": False}, as_is, "", ""))
    on = plug(**knobs)
    prepare(on)
    came = len(on.disk.seen)
    gone = {name} | ALSO.get(name, set())
    left = {key: check for key, check in ata_security_checks.CHECKS.items() if key not in gone}
    monkeypatch.setattr(ata_security_checks, "CHECKS", left)
    with contextlib.suppress(TeijoError):
        ata_security.erase(ata_security.drive_of(on.subject()), unwatched, enhanced=False)
    assert SET in [seen.code for seen in on.disk.seen[came:] if seen.ata]


def behind_a_bridge(on: SataBench, subject: Subject) -> Subject:
    above = subject.found.node.folder.parent
    (above / "idVendor").write_text("152d\n")
    (above / "idProduct").write_text("0578\n")
    return subject


def in_an_array(on: SataBench, subject: Subject) -> Subject:
    if not (on.tree.roots.sys / "block" / "md0").exists():
        on.tree.hold(subject.found.node.folder, on.tree.disk("md0", "9:0"))
    return subject


def partition(on: SataBench, subject: Subject) -> Subject:
    folder = subject.found.node.folder
    if not (folder / "sda1").exists():
        on.tree.part(folder, 1, "8:1")
    return replace(subject, found=replace(subject.found, node=on.tree.node(folder / "sda1")))


@pytest.mark.parametrize(
    ("where", "why", "remedy"),
    [
        (behind_a_bridge, "a USB bridge", "SATA port"),
        (in_an_array, "md0 is built on it", "SATA port"),
        (partition, "it is a partition", "Name the drive"),
    ],
)
def test_a_bridge_an_array_and_a_partition_are_asked_nothing_of_it(
    plug: Plug, where: Callable[[SataBench, Subject], Subject], why: str, remedy: str
) -> None:
    on = plug()
    subject = where(on, on.subject())
    for method in (ata_security.NORMAL, ata_security.ENHANCED):
        offer = method.offer(subject)
        assert offer is not None
        assert why in offer.refusal
        assert remedy in offer.remedy
        assert offer.victims == (SERIAL,)
        with pytest.raises(UnsafeError, match=why):
            method.carry_out(subject, unwatched)
    assert not [seen for seen in on.disk.seen if seen.ata]


def test_another_drive_in_its_place_is_told_nothing(
    plug: Plug, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = plug()
    subject = on.subject()
    later = replace(subject, found=replace(subject.found, disk_sequence=2))
    with pytest.raises(TeijoError, match="Another device took the place"):
        ata_security.NORMAL.carry_out(later, unwatched)
    assert sent(on) == []


def test_whoever_leaves_does_so_before_there_is_a_password(plug: Plug) -> None:
    on = plug()

    def left(done: int, total: int, *, allow_ns: int = 0) -> None:
        raise Killed

    with pytest.raises(Killed):
        ata_security.NORMAL.carry_out(on.subject(), left)
    assert (sent(on), open_changes()) == ([], ())


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"mode": "fail"}, "no password is set"),
        ({"keeps": "none"}, "no effect; no password is set"),
        ({"keeps": "always"}, "the password stayed; no password is set"),
    ],
)
def test_a_failure_takes_the_password_off_again(
    plug: Plug, knobs: dict[str, object], words: str
) -> None:
    on = plug(**knobs)
    with pytest.raises(DeviceError, match=words):
        purge()
    assert (on.disk.state["user"], open_changes()) == (None, ())


def test_a_drive_that_erases_nothing_is_found_out(plug: Plug) -> None:
    on = plug(mode="liar")
    with pytest.raises(DeviceError, match="2 of 2 stamps are still there"):
        purge()
    assert (on.disk.state["user"], open_changes()) == (None, ())


def test_another_programs_command_between_the_two_of_the_erase_costs_the_erase_alone(
    plug: Plug,
) -> None:
    """What smartd may do: ACS-4 has the erase follow its announcement at once."""
    on = plug()

    def asks(cdb: bytes) -> None:
        if cdb[0] == 0x85 and cdb[14] == ERASE:
            on.disk.execute(Task(command=0xB0, feature=0xD0, lba=0xC24F00, extended=False))

    on.front.before = asks
    with pytest.raises(DeviceError, match=r"was not erased.*no password is set"):
        purge()
    assert sent(on) == [SET, PREPARE, ERASE, DISABLE]
    assert (on.disk.state["user"], open_changes()) == (None, ())


def test_whoever_stops_it_in_the_erase_is_told_the_password(plug: Plug) -> None:
    on, begun, go_on = plug(), threading.Event(), threading.Event()

    def holds(cdb: bytes) -> None:
        if cdb[0] == 0x85 and cdb[14] == ERASE:
            begun.set()
            _thread.interrupt_main()
            go_on.wait(60)

    on.front.before = holds
    with pytest.raises(Interrupted, match="stopped on the way, and its password 'teijo'") as told:
        purge()
    assert begun.is_set()
    assert told.value.has_stuck_ios
    assert f"teijo purge {TARGET} --finish" in told.value.remedy
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "teijo-device":
            thread.join()
    assert (on.disk.state["user"], open_changes()) == (None, ())


Point = tuple[int, Fault, str, str]
FAULTS: tuple[Fault, ...] = ("killed before", "killed after", "cut before", "cut after")
STARTS = ("", "frozen", "frozen though locked")
POINTS: list[Point] = [
    (number, fault, start, NORMAL)
    for number in range(-1, 5)
    for fault in FAULTS
    for start in ("", "frozen though locked")
] + [(3, "cut during", start, NORMAL) for start in STARTS]
"""Commands are counted from SET PASSWORD, which is 0; -1 is the last question before it."""


def test_so_many_points_are_tried() -> None:
    assert len(POINTS) == 6 * 4 * 2 + 3 == 51
    at = place_of_erase() - 1
    assert list(course()[at - 1 : at + 5]) == [ASKED[-1], *TOLD]


@pytest.mark.parametrize("point", POINTS, ids=lambda point: "-".join(map(str, point)))
def test_whatever_ends_at_any_command_is_finished_or_told_with_its_password(
    plug: Plug, point: Point
) -> None:
    """B5: the last question, the five commands of the erase, and the busy drive itself."""
    ends_at(plug, point)


@pytest.mark.long
@pytest.mark.parametrize("method", [NORMAL, ENHANCED])
@pytest.mark.parametrize("fault", [*FAULTS, "cut during"])
def test_whatever_ends_at_any_of_all_commands_is_finished(
    plug: Plug, fault: Fault, method: str
) -> None:
    """B5 for every command of a whole purge: 54 of them, 3 starts, 5 faults, 2 methods: 1,620."""
    first, count = 1 - place_of_erase(), len(course())
    points = [(first + at, fault, start, method) for at in range(count) for start in STARTS]
    assert len(points) == 3 * 54
    for index, point in enumerate(points):
        ends_at(plug, point, at=str(index))


def ends_at(plug: Plug, point: Point, at: str = "drive") -> None:
    """End a purge at a point, start what there is again, and have it finished."""
    number, fault, start, method = point
    on = plug(at)
    on.front.faults = {place_of_erase() + number: fault}
    is_kill = fault.startswith("killed")
    with pytest.raises(Killed if is_kill else TeijoError) as told:
        purge(method)
    on.knobs.frozen, on.knobs.freezes_locked = bool(start), start == "frozen though locked"
    if not is_kill or start:
        on.power_cycle()
    was_set, state = on.disk.state["user"] is not None, on.disk.state
    left = [one.secret for one in open_changes()]
    # No password without a journal that has it, and none that a person is not told.
    assert not was_set or left == [commands.PASSWORD]
    if was_set and not is_kill:
        assert repr(commands.PASSWORD) in str(told.value)
        assert "--finish" in str(told.value)
    if left:
        assert repr(commands.PASSWORD) in by_hand.purge_state(TARGET).seen.unfinished[-1].text
        with pytest.raises(DeviceError, match="password 'teijo' may be set") as refused:
            purge(method)
        assert "--finish" in refused.value.remedy
    came = len(sent(on))
    if was_set and state["frozen"]:
        with pytest.raises(DeviceError, match="still has the password 'teijo'") as frozen:
            by_hand.finish(TARGET)
        assert "suspend" in frozen.value.remedy
        assert "hdparm" in frozen.value.remedy
        assert sent(on)[came:] == []
        on.knobs.frozen = False
        on.power_cycle()
    was_locked = on.disk.state["locked"]
    assert len(by_hand.finish(TARGET)) == len(left)
    took = [UNLOCK] * was_locked + [DISABLE]
    assert sent(on)[came:] == (took if was_set else [])
    now = identity_of(ata.identify(on.fd)).security
    assert (now.enabled, now.locked, open_changes()) == (False, False, ())


@pytest.mark.parametrize("fault", ["fail", "timeout"])
@pytest.mark.parametrize("number", range(-1, 5))
def test_a_command_that_fails_or_is_given_up_leaves_no_password_that_is_not_told(
    plug: Plug, number: int, fault: Fault
) -> None:
    on = plug()
    on.front.faults = {place_of_erase() + number: fault}
    try:
        purge()
    except TeijoError as error:
        told = str(error)
    else:
        told = "purged"
    enabled = on.disk.state["user"] is not None
    assert enabled == bool(open_changes()) or number == 4
    assert not enabled or "'teijo'" in told
    by_hand.finish(TARGET)
    assert (on.disk.state["user"], open_changes()) == (None, ())


def journalled(on: SataBench, **changed: str) -> OpenChange:
    found = on.subject().found.identity
    told = {"serial": SERIAL, "wwid": found.wwid, "target": TARGET, "secret": "teijo"} | changed
    return note(OpenChange(kind="password", method=NORMAL, **told))  # type: ignore[arg-type]


def test_a_wrong_password_is_tried_once(plug: Plug) -> None:
    on = plug(password="theirs")
    journalled(on)
    with pytest.raises(DeviceError, match=r"does not take the password 'teijo'.*one try was made"):
        by_hand.finish(TARGET)
    assert (sent(on), on.disk.state["attempts"]) == ([UNLOCK], 4)
    assert len(open_changes()) == 1


@pytest.mark.parametrize("changed", [{"serial": "S2"}, {"wwid": "naa.6"}])
def test_another_drives_password_is_let_be(plug: Plug, changed: dict[str, str]) -> None:
    on = plug(password="teijo")
    change = journalled(on, **changed)
    with pytest.raises(DeviceError, match="does not have; none was tried"):
        by_hand.finish(TARGET)
    with pytest.raises(UnsafeError, match="was left as it is: the journal tells of another"):
        ata_security.NORMAL.finish(on.subject(), change)
    assert (sent(on), on.disk.state["locked"]) == ([], True)


def test_a_drive_that_answers_for_another_is_told_no_password(plug: Plug) -> None:
    on = plug(password="teijo")
    journalled(on)
    another(on)
    with pytest.raises(UnsafeError, match="was left as it is: who answers says it is 'S2'"):
        by_hand.finish(TARGET)
    assert sent(on) == []


def test_a_password_that_no_journal_here_has_is_not_tried(plug: Plug) -> None:
    on = plug(password="teijo")
    with pytest.raises(DeviceError, match="none was tried") as told:
        by_hand.finish(TARGET)
    assert "--security-unlock teijo" in told.value.remedy
    assert sent(on) == []


@pytest.mark.parametrize("secret", ["", "定常", "x" * 33])
def test_a_journal_without_a_password_is_not_tried(plug: Plug, secret: str) -> None:
    on = plug(password="teijo")
    journalled(on, secret=secret)
    with pytest.raises(UnsafeError, match="no password that a drive takes"):
        by_hand.finish(TARGET)
    assert sent(on) == []


def test_no_try_is_made_where_none_is_left(plug: Plug) -> None:
    on = plug(password="teijo")
    journalled(on)
    used_up(on)
    with pytest.raises(DeviceError, match="used up"):
        by_hand.finish(TARGET)
    assert sent(on) == []


def test_auto_never_takes_it(plug: Plug) -> None:
    on = plug()
    assert by_hand.purge(TARGET, AUTO, destroy=SERIAL).method == "discard"
    assert sent(on) == []


@pytest.mark.parametrize(
    ("word", "minutes"), [(2, 64), (0, 720), (0xFF, 1016), (0x8000 | 400, 860)]
)
def test_an_erase_is_waited_for_longer_than_the_drive_says(
    plug: Plug, word: int, minutes: int
) -> None:
    raw = bytearray(ata.identify(plug().fd))
    struct.pack_into("<H", raw, 178, word)
    assert timeout_minutes(identity_of(bytes(raw)), enhanced=False) == minutes


def test_the_password_is_one_for_all_in_small_letters() -> None:
    assert commands.PASSWORD == "teijo"
    assert commands.PASSWORD.islower()
