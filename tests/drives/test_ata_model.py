"""The SATA drive by ACS and SAT: what its words say, and what each state takes and refuses."""

from pathlib import Path

import pytest

from teijo.device.commands import ata, scsi
from tests.drives.disk import Knobs
from tests.drives.sg_in_process import Killed, SataBench

PASSWORD = b"\0\0" + b"teijo".ljust(32, b"\0") + bytes(478)
MASTER = b"\1\0" + bytes(510)
WRONG = b"\0\0" + b"wrong".ljust(32, b"\0") + bytes(478)
SET, UNLOCK, PREPARE, ERASE, FREEZE, DISABLE = 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6
BLOCK_ERASE = {"feature": 0x12, "lba": 0x426B4572}


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def made(**knobs: object) -> SataBench:
        return SataBench(tmp_path, monkeypatch, Knobs(**knobs))

    return made


def status(bench: SataBench) -> int:
    """Word 128: 0 there, 1 enabled, 2 locked, 3 frozen, 4 expired, 5 enhanced, 8 maximum."""
    return ata.word(ata.identify(bench.fd), 128)


def send(bench: SataBench, command: int, out: bytes = b"", **more: int) -> ata.Answer:
    return ata.execute(bench.fd, command, out=out, **more)


def refused(bench: SataBench, command: int, out: bytes = b"", **more: int) -> ata.TaskFile:
    with pytest.raises(ata.AtaError) as aborted:
        send(bench, command, out, **more)
    assert aborted.value.registers is not None
    assert aborted.value.registers.error == 0x04
    return aborted.value.registers


def test_the_words_of_identify(make) -> None:
    bench = make(serial="S-1", wce=False, speed_now=2, erase_minutes=600)
    page = ata.identify(bench.fd)
    words = {number: ata.word(page, number) for number in range(256)}
    swapped = b"".join(page[at + 1 : at + 2] + page[at : at + 1] for at in range(20, 40, 2))
    assert swapped == b"S-1".ljust(20)
    assert (words[76], words[77] >> 1 & 7, words[217], words[168]) == (0x070E, 2, 1, 3)
    assert words[82] & 0x23 == 0x23
    assert words[85] & 0x23 == 0x01
    assert (words[89], words[90], words[169]) == (0x8000 | 300, 0x8000 | 300, 1)
    assert words[59] & 0xFC00 == 0xFC00
    assert words[69] & 0x4020 == 0x4020
    assert int.from_bytes(page[200:208], "little") == bench.image.stat().st_size // 512
    assert sum(page) & 0xFF == 0
    assert page[510] == 0xA5


def test_identify_is_also_a_page_of_a_log_and_of_vpd(make) -> None:
    bench = make()
    page = ata.identify(bench.fd)
    log = ata.execute(bench.fd, 0x2F, lba=0x30 | 1 << 8, count=1, expect=512).data
    vpd = scsi.execute(bench.fd, b"\x12\1\x89\x04\0\0", expect=1024).data
    assert log == page
    assert (len(vpd), vpd[60:]) == (572, page)


def test_a_password_locks_at_the_next_power_on_and_only_then(make) -> None:
    bench = make()
    assert status(bench) == 0x21
    send(bench, SET, PASSWORD)
    assert status(bench) == 0x23
    bench.power_cycle()
    assert status(bench) == 0x27
    with pytest.raises(scsi.ScsiError, match="B/00/00"):
        scsi.execute(bench.fd, b"\x28" + bytes(7) + b"\1\0", expect=512)
    refused(bench, SET, PASSWORD)
    refused(bench, DISABLE, PASSWORD)
    refused(bench, FREEZE)
    refused(bench, 0xB4, **BLOCK_ERASE)
    send(bench, UNLOCK, PASSWORD)
    send(bench, DISABLE, PASSWORD)
    assert status(bench) == 0x21


def test_five_wrong_passwords_and_no_more_tries_until_power(make) -> None:
    bench = make(password="theirs")
    for _ in range(5):
        assert status(bench) == 0x27
        refused(bench, UNLOCK, WRONG)
    assert status(bench) == 0x37
    right = b"\0\0" + b"theirs".ljust(32, b"\0") + bytes(478)
    refused(bench, UNLOCK, right)
    send(bench, PREPARE)
    refused(bench, ERASE, right)
    bench.power_cycle()
    send(bench, UNLOCK, right)
    assert status(bench) == 0x23


def test_the_master_password_opens_high_and_not_maximum(make) -> None:
    bench = make()
    send(bench, SET, PASSWORD)
    bench.power_cycle()
    send(bench, UNLOCK, MASTER)
    send(bench, DISABLE, MASTER)
    send(bench, SET, b"\0\1" + PASSWORD[2:])
    assert status(bench) == 0x123
    bench.power_cycle()
    refused(bench, UNLOCK, MASTER)
    send(bench, PREPARE)
    send(bench, ERASE, MASTER)
    assert status(bench) == 0x21


@pytest.mark.parametrize("enhanced", [False, True])
def test_an_erase_ends_security_and_leaves_zeros(make, enhanced: bool) -> None:
    bench = make()
    bench.write(0, b"old" * 1000)
    send(bench, SET, PASSWORD)
    send(bench, PREPARE)
    send(bench, ERASE, bytes((enhanced << 1, 0)) + PASSWORD[2:])
    assert status(bench) == 0x21
    assert not any(bench.image.read_bytes())


def test_an_erase_wants_its_preparation_at_once_before(make) -> None:
    bench = make()
    send(bench, SET, PASSWORD)
    refused(bench, ERASE, PASSWORD)
    send(bench, PREPARE)
    ata.identify(bench.fd)
    refused(bench, ERASE, PASSWORD)
    assert status(bench) == 0x23


def test_a_frozen_drive_takes_nothing_until_power(make) -> None:
    bench = make()
    send(bench, FREEZE)
    assert status(bench) == 0x29
    for command in (SET, UNLOCK, PREPARE, ERASE, DISABLE):
        refused(bench, command, PASSWORD if command != PREPARE else b"")
    bench.power_cycle()
    assert status(bench) == 0x21


@pytest.mark.parametrize(("stubborn", "word"), [(False, 0x27), (True, 0x2F)])
def test_a_bios_freezes_what_is_not_locked(make, stubborn: bool, word: int) -> None:
    bench = make(frozen=True, freezes_locked=stubborn)
    assert status(bench) == 0x29
    bench.knobs.frozen = False
    bench.power_cycle()
    send(bench, SET, PASSWORD)
    bench.knobs.frozen = True
    bench.power_cycle()
    assert status(bench) == word


def test_an_erase_cut_by_power_or_by_a_time_out_leaves_the_password(make) -> None:
    bench = make(duration=100.0)
    send(bench, SET, PASSWORD)
    send(bench, PREPARE)
    with pytest.raises(TimeoutError):
        ata.execute(bench.fd, ERASE, out=PASSWORD, timeout_ms=5000)
    with pytest.raises(scsi.ScsiError, match="6/29/00"):
        scsi.execute(bench.fd, bytes(6))
    assert status(bench) == 0x23
    send(bench, PREPARE)
    bench.front.faults[bench.front.count + 1] = "cut during"
    with pytest.raises(OSError, match="No such device"):
        ata.execute(bench.fd, ERASE, out=PASSWORD, timeout_ms=500_000)
    with pytest.raises(OSError, match="No such device"):
        ata.identify(bench.fd)
    bench.power_cycle()
    assert status(bench) == 0x27


def test_without_security_all_of_it_is_aborted(make) -> None:
    bench = make(security=False)
    assert status(bench) == 0
    assert ata.word(ata.identify(bench.fd), 82) & 2 == 0
    refused(bench, SET, PASSWORD)


def test_a_sanitize_goes_on_by_itself_and_over_a_power_cut(make) -> None:
    bench = make(duration=10.0)
    bench.write(4096, b"old")
    begun = send(bench, 0xB4, **BLOCK_ERASE).registers
    assert begun is not None
    assert begun.count == 0x4000
    refused(bench, 0xB0, feature=0xD0, lba=0xC24F00)
    refused(bench, 0xB4, **BLOCK_ERASE)
    assert len(ata.identify(bench.fd)) == 512
    now = send(bench, 0xB4).registers
    assert now is not None
    assert 0 < now.lba < 65536
    bench.power_cycle()
    for _ in range(12):
        now = send(bench, 0xB4).registers
        assert now is not None
    assert (now.count, now.lba) == (0x8000, 0xFFFF)
    assert not any(bench.image.read_bytes())


@pytest.mark.parametrize("exit_allowed", [False, True])
def test_a_failed_sanitize_is_left_only_as_it_was_begun(make, exit_allowed: bool) -> None:
    bench = make(mode="fail", duration=1.0)
    send(bench, 0xB4, count=exit_allowed << 4, **BLOCK_ERASE)
    send(bench, 0xE5)
    assert refused(bench, 0xB4).lba == 1
    refused(bench, 0x25, expect=512)
    bench.power_cycle()
    assert refused(bench, 0xB4).lba == 1
    if not exit_allowed:
        assert refused(bench, 0xB4, count=1).lba == 1
        bench.knobs.mode = "ok"
        send(bench, 0xB4, **BLOCK_ERASE)
        send(bench, 0xE5)
        send(bench, 0xE5)
    else:
        send(bench, 0xB4, count=1)
    assert len(send(bench, 0x25, expect=512).data) == 512


def test_sanitize_wants_its_key_and_can_be_frozen(make) -> None:
    bench = make(sanitize=("block",))
    assert refused(bench, 0xB4, feature=0x12, lba=0).lba == 2
    assert refused(bench, 0xB4, feature=0x11, lba=0x43727970).lba == 2
    frozen = send(bench, 0xB4, feature=0x20, lba=0x46724C6B).registers
    assert frozen is not None
    assert frozen.count == 0x2000
    assert refused(bench, 0xB4, **BLOCK_ERASE).lba == 3
    bench.power_cycle()
    send(bench, 0xB4, feature=0x40, lba=0x416E7469)
    assert refused(bench, 0xB4, feature=0x20, lba=0x46724C6B).lba == 4


def test_an_overwrite_leaves_its_pattern_and_a_liar_all(make) -> None:
    bench = make(duration=1.0)
    send(bench, 0xB4, feature=0x14, count=1, lba=0x4F57 << 32 | 0x11223344)
    send(bench, 0xE5)
    send(bench, 0xB4)
    assert bench.image.read_bytes()[:8] == bytes.fromhex("4433221144332211")
    bench.knobs.mode = "liar"
    send(bench, 0xB4, **BLOCK_ERASE)
    send(bench, 0xE5)
    done = send(bench, 0xB4).registers
    assert done is not None
    assert done.count == 0x8000
    assert bench.image.read_bytes()[:4] == bytes.fromhex("44332211")


def test_the_cache_is_switched_by_either_language(make) -> None:
    bench = make()
    assert ata.word(ata.identify(bench.fd), 85) & 0x20
    send(bench, 0xEF, feature=0x82)
    assert not ata.word(ata.identify(bench.fd), 85) & 0x20
    sense = scsi.execute(bench.fd, b"\x1a\x08\x08\0\xff\0", expect=255).data
    assert sense[6] & 4 == 0
    scsi.execute(bench.fd, b"\x15\x10\0\0\x18\0", out=bytes(4) + b"\x08\x12\x04" + bytes(17))
    assert ata.word(ata.identify(bench.fd), 85) & 0x20


def test_a_bridge_that_keeps_the_registers(make) -> None:
    bench = make(task_file=False)
    assert scsi.execute(bench.fd, b"\x85\x07\x20" + bytes(11) + b"\xb4\0").sense is None
    assert send(bench, 0xB4).registers is None
    with pytest.raises(ata.AtaError) as aborted:
        send(bench, 0xA1)
    assert aborted.value.registers is None


def test_what_smart_says_of_a_drive_that_fails(make) -> None:
    bench = make()
    good = send(bench, 0xB0, feature=0xDA, lba=0xC24F00).registers
    bench.knobs.failing = True
    bad = send(bench, 0xB0, feature=0xDA, lba=0xC24F00).registers
    assert good is not None
    assert bad is not None
    assert (good.lba >> 8, bad.lba >> 8) == (0xC24F, 0x2CF4)
    refused(bench, 0xB0, feature=0xDA, lba=0)


def test_statistics_and_self_tests(make) -> None:
    bench = make(temperature=41, percent_used=7, duration=2.0)
    page = ata.execute(bench.fd, 0x2F, lba=4 | 5 << 8, count=1, expect=512).data
    assert page[2:9] == bytes((5, 0, 0, 0, 0, 0, 41))
    page = ata.execute(bench.fd, 0x2F, lba=4 | 7 << 8, count=1, expect=512).data
    assert (page[8], page[15]) == (7, 0xE0)
    send(bench, 0xB0, feature=0xD4, lba=0xC24F01)
    data = ata.execute(bench.fd, 0xB0, feature=0xD0, lba=0xC24F00, expect=512).data
    assert data[363] >> 4 == 0xF
    send(bench, 0xE5)
    log = ata.execute(bench.fd, 0xB0, feature=0xD5, lba=0xC24F06, count=1, expect=512).data
    assert (log[2], log[3], log[508], sum(log) & 0xFF) == (1, 0, 1, 0)


def test_a_protected_area_is_beyond_what_can_be_read(make) -> None:
    bench = make(hpa_sectors=1024)
    there = bench.image.stat().st_size // 512
    assert int.from_bytes(ata.identify(bench.fd)[200:208], "little") == there - 1024
    last = send(bench, 0x27).registers
    assert last is not None
    assert last.lba == there - 1
    # An id that is not found is another sense than an abort (SAT-4, table 10).
    with pytest.raises(scsi.ScsiError, match="5/21/00"):
        ata.execute(bench.fd, 0x25, lba=there - 1024, expect=512)


def test_a_kill_comes_before_a_command_or_after_it(make) -> None:
    bench = make()
    bench.front.faults |= {1: "killed before", 2: "killed after", 3: "fail"}
    for seen in (0, 1):
        with pytest.raises(Killed):
            send(bench, SET, PASSWORD)
        assert bench.disk.saw(SET, ata=True) == seen
    refused(bench, DISABLE, PASSWORD)
    assert bench.names() == ["SECURITY SET PASSWORD", "SECURITY DISABLE PASSWORD"]
    assert status(bench) == 0x23


def test_a_subject_stands_on_the_drive(make) -> None:
    bench = make(serial="S-1")
    found = bench.subject().found
    assert (found.own_serial, found.node.name) == ("S-1", "sda")
    assert found.geometry.capacity_bytes == bench.capacity_bytes
