"""The SAS drive by SPC and SBC: pages, sanitize and format with what each state refuses."""

import struct
from pathlib import Path

import pytest

from teijo.device import kernel
from teijo.device.commands import scsi
from tests.drives.disk import Knobs
from tests.drives.sg_in_process import SasBench

READY, REQUEST_SENSE = bytes(6), b"\x03\0\0\0\xfc\0"
READ = b"\x28" + bytes(7) + b"\1\0"
BLOCK_ERASE, FORMAT = b"\x48\x82" + bytes(8), b"\x04\x10\0\0\0\0"
EXIT_FAILURE = b"\x48\x1f" + bytes(8)


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def made(**knobs: object) -> SasBench:
        return SasBench(tmp_path, monkeypatch, Knobs(**knobs))

    return made


def ask(bench: SasBench, cdb: bytes, out: bytes = b"", expect: int = 0) -> bytes:
    return scsi.execute(bench.fd, cdb, out=out, expect=expect).data


def refused(bench: SasBench, cdb: bytes, sense: str, out: bytes = b"", expect: int = 0) -> None:
    with pytest.raises(scsi.ScsiError) as error:
        ask(bench, cdb, out, expect)
    assert error.value.sense.text == sense


def condition(bench: SasBench) -> scsi.Sense:
    """What REQUEST SENSE gives, which is data and no sense of its own."""
    return scsi.parse_sense(ask(bench, REQUEST_SENSE, expect=252))


def test_who_it_says_it_is(make) -> None:
    bench = make(serial="SAS-1", rotation=7200, trim="none")
    page = ask(bench, b"\x12\0\0\0\x60\0", expect=96)
    assert (len(page), page[8:16], page[32:36]) == (96, b"TEIJO   ", b"E1.0")
    assert ask(bench, b"\x12\1\0\0\xff\0", expect=255)[4:] == bytes(
        (0, 0x80, 0x83, 0xB0, 0xB1, 0xB2)
    )
    assert ask(bench, b"\x12\1\x80\0\xff\0", expect=255)[4:] == b"SAS-1".ljust(20)
    kind = ask(bench, b"\x12\1\xb1\0\xff\0", expect=255)
    assert (int.from_bytes(kind[4:6], "big"), kind[7]) == (7200, 2)
    refused(bench, b"\x12\1\x89\0\xff\0", "5/24/00", expect=255)
    refused(bench, b"\x42" + bytes(9), "5/20/00")


def test_the_first_command_after_power_learns_of_it(make) -> None:
    bench = make()
    bench.power_cycle()
    bench.target.attention = True
    assert ask(bench, b"\x12\0\0\0\x24\0", expect=36)
    refused(bench, READY, "6/29/00")
    ask(bench, READY)


def test_the_cache_page_now_changeable_default_and_saved(make) -> None:
    bench = make(wce=True)
    select = bytes(4) + b"\x08\x12\0" + bytes(17)

    def enabled(which: int) -> bool:
        page = ask(bench, bytes((0x1A, 8, which << 6 | 8, 0, 255, 0)), expect=255)
        assert (page[0], page[4], len(page)) == (23, 0x88, 24)
        return bool(page[6] & 4)

    ask(bench, b"\x15\x10\0\0\x18\0", select)
    assert [enabled(which) for which in range(4)] == [False, True, True, True]
    bench.power_cycle()
    assert enabled(0)
    ask(bench, b"\x15\x11\0\0\x18\0", select)
    bench.power_cycle()
    assert [enabled(which) for which in (0, 3)] == [False, False]


def test_a_mode_select_of_what_cannot_change_changes_nothing(make) -> None:
    bench = make()
    refused(bench, b"\x15\0\0\0\x18\0", "5/24/00", bytes(4) + b"\x08\x12" + bytes(18))
    refused(bench, b"\x15\x10\0\0\x18\0", "5/26/00", bytes(4) + b"\x08\x12\1" + bytes(17))
    refused(bench, b"\x15\x10\0\0\x0c\0", "5/1A/00", bytes(4) + b"\x08\x12" + bytes(6))
    assert ask(bench, b"\x5a\x08\x08" + bytes(4) + b"\0\xff\0", expect=255)[10] & 4


def test_a_sanitize_refuses_all_but_questions_until_its_end(make) -> None:
    bench = make(duration=10.0)
    bench.write(0, b"old")
    ask(bench, BLOCK_ERASE)
    refused(bench, READY, "2/04/1B")
    refused(bench, READ, "2/04/1B", expect=512)
    refused(bench, FORMAT, "2/04/1B", bytes(4))
    now = condition(bench)
    assert now.triple == (2, 4, 0x1B)
    assert now.progress is not None
    assert 0 < now.progress < 65536
    bench.power_cycle()
    for _ in range(12):
        condition(bench)
    assert condition(bench).triple == (0, 0, 0)
    assert not any(bench.image.read_bytes())


@pytest.mark.parametrize("unrestricted", [False, True])
def test_a_failed_sanitize_is_left_only_as_it_was_begun(make, unrestricted: bool) -> None:
    bench = make(mode="fail", duration=1.0)
    ask(bench, bytes((0x48, 0x82 | unrestricted << 5)) + bytes(8))
    assert condition(bench).triple == (3, 0x31, 3)
    refused(bench, READ, "3/31/03", expect=512)
    bench.power_cycle()
    if unrestricted:
        ask(bench, EXIT_FAILURE)
    else:
        refused(bench, EXIT_FAILURE, "5/24/00")
        refused(bench, b"\x48\xa2" + bytes(8), "5/24/00")
        bench.knobs.mode = "ok"
        ask(bench, BLOCK_ERASE)
        condition(bench)
    assert len(ask(bench, READ, expect=512)) == 512


def test_without_immed_the_answer_is_the_end(make) -> None:
    bench = make(duration=30.0)
    bench.write(0, b"old")
    ask(bench, b"\x48\x03" + bytes(8))
    assert bench.image.read_bytes()[:3] != b"old"
    bench.knobs.mode = "fail"
    refused(bench, b"\x48\x02" + bytes(8), "3/31/03")


def test_an_overwrite_needs_its_pattern(make) -> None:
    bench = make(duration=1.0)
    refused(bench, b"\x48\x81\0\0\0\0\0\0\6\0", "5/26/00", b"\0\0\0\2\xab\xcd")
    refused(bench, b"\x48\x81\0\0\0\0\0\0\4\0", "5/1A/00", b"\1\0\0\2")
    ask(bench, b"\x48\x81\0\0\0\0\0\0\6\0", b"\1\0\0\2\xab\xcd")
    condition(bench)
    assert bench.image.read_bytes()[:4] == b"\xab\xcd\xab\xcd"


def test_a_format_cut_by_power_leaves_a_corrupt_medium(make) -> None:
    bench = make(duration=10.0)
    ask(bench, FORMAT, b"\0\2\0\0")
    assert condition(bench).triple == (2, 4, 4)
    bench.power_cycle()
    refused(bench, READY, "3/31/00")
    refused(bench, READ, "3/31/00", expect=512)
    bench.power_cycle()
    refused(bench, READY, "3/31/00")
    ask(bench, FORMAT, bytes(4))
    ask(bench, READY)


def test_a_format_that_fails_or_lies(make) -> None:
    bench = make(mode="liar")
    bench.write(0, b"old")
    ask(bench, FORMAT, bytes(4))
    assert bench.image.read_bytes()[:3] == b"old"
    bench.knobs.mode = "fail"
    refused(bench, FORMAT, "3/31/01", bytes(4))
    refused(bench, READ, "3/31/01", expect=512)


def test_unmap_and_what_is_allocated(make) -> None:
    bench = make()
    bench.write(0, b"x" * (1 << 16))
    status = b"\x9e\x12" + bytes(8) + struct.pack(">I", 255) + bytes(2)
    kernel.discard(bench.fd, 0, 1 << 15)
    data = ask(bench, status, expect=255)
    first, second = (struct.unpack_from(">QIB", data, at) for at in (8, 24))
    assert (first, second) == ((0, 64, 1), (64, 64, 0))
    assert not any(ask(bench, READ, expect=512))
    far = struct.pack(">HH4xQI4x", 22, 16, bench.target.blocks, 1)
    refused(bench, b"\x42" + bytes(6) + b"\0\x18\0", "5/21/00", far)


def test_write_same_unmaps_where_it_may(make) -> None:
    bench = make()
    bench.write(0, b"x" * 8192)
    ask(bench, b"\x93\x08" + bytes(8) + struct.pack(">I", 8) + bytes(2), bytes(512))
    ask(bench, b"\x41\0\0\0\0\x08\0\0\1\0", b"y" * 512)
    assert bench.image.read_bytes()[:8192] == bytes(4096) + b"y" * 512 + b"x" * 3584


def test_what_there_is_by_the_list_of_operation_codes(make) -> None:
    bench = make(sanitize=("crypto",))

    def there(code: int, action: int) -> int:
        cdb = struct.pack(">BBBBHI2x", 0xA3, 0x0C, 3, code, action, 64)
        return ask(bench, cdb, expect=64)[1] & 7

    assert (there(0x48, 3), there(0x48, 2), there(0x48, 0x1F), there(0x9E, 0x10)) == (3, 1, 3, 3)
    whole = ask(bench, b"\xa3\x0c" + bytes(4) + b"\0\0\4\0\0\0", expect=1024)
    rows = [whole[at : at + 8] for at in range(4, len(whole), 8)]
    assert int.from_bytes(whole[:4], "big") == len(whole) - 4
    assert {(row[0], row[3]) for row in rows if row[0] == 0x48} == {(0x48, 3), (0x48, 0x1F)}


def test_the_log_pages(make) -> None:
    bench = make(temperature=44, percent_used=9, failing=True)

    def page(number: int) -> bytes:
        return ask(bench, bytes((0x4D, 0, 0x40 | number, 0, 0, 0, 0, 4, 0, 0)), expect=1024)[4:]

    assert page(0) == bytes((0, 2, 3, 5, 6, 0x0D, 0x0E, 0x10, 0x11, 0x15, 0x2F))
    assert (page(0x0D)[5], page(0x11)[7], page(0x2F)[4]) == (44, 9, 0x5D)
    bench.write(0, b"x")
    ask(bench, READ, expect=512)
    read = page(3)
    assert struct.unpack_from(">HBBQ", read, 5 * 12) == (5, 3, 8, 512)
    assert len(page(0x10)) == 400
    refused(bench, b"\x4d\0\x58\0\0\0\0\4\0\0", "5/24/00", expect=1024)


def test_a_stopped_drive_is_not_ready(make) -> None:
    bench = make()
    ask(bench, b"\x1b\0\0\0\0\0")
    refused(bench, READ, "2/04/02", expect=512)
    ask(bench, b"\x1b\0\0\0\1\0")
    assert len(ask(bench, READ, expect=512)) == 512


def test_what_the_drive_refuses_is_an_input_error_of_the_kernel(make) -> None:
    bench = make(mode="fail", duration=1.0)
    ask(bench, BLOCK_ERASE)
    condition(bench)
    with pytest.raises(OSError, match="Input/output"):
        kernel.read_blocks(bench.fd, 0, 4096)


def test_the_power_can_be_cut_at_any_command(make) -> None:
    bench = make()
    bench.front.faults |= {2: "cut after", 5: "timeout"}
    ask(bench, READY)
    for _ in range(2):
        with pytest.raises(OSError, match="No such device"):
            ask(bench, READY)
    bench.power_cycle()
    ask(bench, READY)
    bench.front.every = (5, "timeout")
    with pytest.raises(TimeoutError):
        ask(bench, READY)
    assert bench.names() == ["TEST UNIT READY"] * 4
