"""The emulated NVMe drive by the specification, asked through the program's own commands."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from teijo.device.commands import nvme, seam
from tests.drives.in_process import Killed, NvmeBench
from tests.drives.nvme_purge import BLOCK, CRYPTO, EXIT_FAILURE, OVERWRITE, UNRESTRICTED

SANITIZE = 0x84
TWO = [{"size_bytes": 1 << 20}, {"size_bytes": 1 << 20}]
Made = Callable[..., NvmeBench]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    made: list[NvmeBench] = []

    def build(**knobs: object) -> NvmeBench:
        made.append(NvmeBench(tmp_path, monkeypatch, **knobs))
        return made[-1]

    yield build
    for one in made:
        one.close()


def sanitize(on: NvmeBench, cdw10: int, pattern: int = 0) -> None:
    nvme.admin(on.fds[1], opcode=SANITIZE, number=0, cdw10=cdw10, cdw11=pattern)


def status(on: NvmeBench) -> tuple[int, int, int]:
    """Return progress, state and Global Data Erased."""
    progress, word = struct.unpack_from("<HH", nvme.log_page(on.fds[1], 0x81, 512))
    return progress, word & 7, word >> 8 & 1


def format_it(on: NvmeBench, cdw10: int, number: int = 1) -> None:
    nvme.admin(on.fds[1], opcode=nvme.FORMAT_NVM, number=number, cdw10=cdw10)


def refused(call: Callable[[], object]) -> int:
    with pytest.raises(seam.NvmeError) as caught:
        call()
    return caught.value.status


def test_a_sanitize_runs_by_itself_and_erases_every_namespace(bench: Made) -> None:
    on = bench(namespaces=TWO, duration=10.0)
    on.fill()
    assert status(on) == (0xFFFF, 0, 0)
    sanitize(on, BLOCK)
    on.clock.sleep(5)
    progress, state, _ = status(on)
    assert (32768 <= progress < 34000, state) == (True, 2)
    assert any(on.image(1))
    assert any(on.image(2))
    on.clock.sleep(5)
    assert status(on) == (0xFFFF, 1, 1)
    assert not any(on.image(1))
    assert not any(on.image(2))
    on.fill(2)
    assert status(on) == (0xFFFF, 1, 0)


def test_while_it_runs_media_and_other_work_are_refused_and_questions_answered(
    bench: Made,
) -> None:
    on = bench(namespaces=TWO)
    sanitize(on, BLOCK)
    assert refused(lambda: sanitize(on, BLOCK)) == 0x401D
    assert refused(lambda: format_it(on, 0x200)) == 0x401D
    assert refused(lambda: nvme.log_page(on.fds[1], 0x06, 564)) == 0x401D
    with pytest.raises(OSError, match="Input/output"):
        on.fill(1)
    assert on.drive.media_refusal(2) == 0x1D
    assert nvme.log_page(on.fds[1], 2, 512)[1:3] == (310).to_bytes(2, "little")
    assert nvme.identify(on.fds[1], structure=1, number=0)[4:11] == b"EMU0001"
    assert nvme.feature(on.fds[1], 6) == 1


def test_a_power_cut_in_a_sanitize_is_gone_on_from_and_nothing_is_sent_again(bench: Made) -> None:
    on = bench(duration=10.0)
    on.fill()
    sanitize(on, BLOCK)
    on.clock.sleep(6)
    before = status(on)[0]
    on.power_cycle()
    progress, state, _ = status(on)
    assert state == 2
    assert before <= progress < before + 200
    on.clock.sleep(4)
    assert status(on) == (0xFFFF, 1, 1)
    assert on.opcodes(SANITIZE) == []


@pytest.mark.parametrize("second", [BLOCK, BLOCK | UNRESTRICTED])
def test_a_restricted_failure_is_left_by_another_restricted_sanitize_alone(
    bench: Made, second: int
) -> None:
    on = bench(mode="fail")
    on.fill()
    sanitize(on, BLOCK)
    on.clock.sleep(5)
    assert status(on)[1] == 3
    assert on.drive.media_refusal(1) == 0x401C
    assert refused(lambda: sanitize(on, EXIT_FAILURE)) == 0x401C
    assert refused(lambda: format_it(on, 0)) == 0x401C
    if second & UNRESTRICTED:
        assert refused(lambda: sanitize(on, second)) == 0x401C
        return
    sanitize(on, second)
    on.clock.sleep(5)
    assert status(on)[1:] == (1, 1)
    assert not any(on.image())


def test_an_unrestricted_failure_is_left_with_old_data_there(bench: Made) -> None:
    on = bench(mode="fail")
    on.fill()
    old = on.image()
    sanitize(on, BLOCK | UNRESTRICTED)
    on.clock.sleep(5)
    assert on.drive.media_refusal(1) == 0x401C
    sanitize(on, EXIT_FAILURE)
    assert on.drive.media_refusal(1) == 0
    assert on.image()[-4096:] == old[-4096:]
    assert status(on)[2] == 0


@pytest.mark.parametrize(
    ("knobs", "state", "erased"),
    [({"mode": "liar"}, 1, False), ({"mode": "forced"}, 4, True), ({}, 1, True)],
)
def test_each_way_it_may_end(bench: Made, knobs: dict[str, str], state: int, erased: bool) -> None:
    on = bench(**knobs)
    on.fill()
    sanitize(on, BLOCK)
    on.clock.sleep(5)
    assert status(on) == (0xFFFF, state, 1)
    assert any(on.image()) is not erased


def test_a_stuck_sanitize_never_moves(bench: Made) -> None:
    on = bench(mode="stuck")
    sanitize(on, BLOCK)
    on.clock.sleep(7 * 86400)
    assert status(on)[:2] == (655, 2)


def test_a_no_deallocate_that_is_inhibited_is_refused_or_forced(bench: Made) -> None:
    on = bench(sanicap=7 | 1 << 29)
    nvme.set_feature(on.fds[1], 0x17, 0)
    assert refused(lambda: sanitize(on, BLOCK | 1 << 9)) == 0x4002
    nvme.set_feature(on.fds[1], 0x17, 1)
    sanitize(on, BLOCK | 1 << 9)
    on.clock.sleep(5)
    assert status(on)[1] == 4


def test_an_overwrite_leaves_its_pattern_and_a_crypto_erase_rubbish(bench: Made) -> None:
    on = bench()
    on.fill()
    old = on.image()
    sanitize(on, CRYPTO)
    on.clock.sleep(5)
    assert any(on.image())
    assert on.image() != old
    sanitize(on, OVERWRITE | 1 << 4 | 1 << 9, 0xA5A5A5A5)
    on.clock.sleep(5)
    assert set(on.image()) == {0xA5}
    page = nvme.log_page(on.fds[1], 0x81, 512)
    assert page[2] >> 3 == 1
    assert struct.unpack_from("<I", page, 4) == (OVERWRITE | 1 << 4 | 1 << 9,)


@pytest.mark.parametrize("sanicap", [0, 1, 2, 4])
def test_what_the_drive_cannot_it_refuses(bench: Made, sanicap: int) -> None:
    on = bench(sanicap=sanicap)
    for action, bit in ((CRYPTO, 1), (BLOCK, 2), (OVERWRITE, 4)):
        if not sanicap & bit:
            told = 0x4002 if sanicap else 0x4001
            assert refused(lambda action=action: sanitize(on, action)) == told
    if not sanicap:
        assert refused(lambda: nvme.log_page(on.fds[1], 0x81, 512)) == 0x4109


@pytest.mark.parametrize("fna", range(8))
@pytest.mark.parametrize("erase", [0, 1, 2])
def test_a_format_hits_what_the_bits_of_fna_say(bench: Made, fna: int, erase: int) -> None:
    on = bench(namespaces=TWO, fna=fna)
    on.fill()
    old = {number: on.image(number) for number in (1, 2)}
    if erase == 2 and not fna & 4:
        assert refused(lambda: format_it(on, erase << 9)) == 0x4002
        return
    format_it(on, erase << 9)
    wide = bool(fna & (2 if erase else 1))
    assert on.image(1) != old[1]
    assert (on.image(2) != old[2]) is wide


def test_a_broadcast_format_leaves_what_is_not_attached_unless_it_is_of_all(bench: Made) -> None:
    spare = [*TWO, {"size_bytes": 1 << 20, "attached": False}]
    on = bench(namespaces=spare, fna=8)
    assert refused(lambda: format_it(on, 0x200, 0xFFFFFFFF)) == 0x4002
    on.drive.control(fna=0)
    assert on.drive.purging.format_victims(0xFFFFFFFF, 1) == [1, 2]
    on.drive.control(fna=2)
    assert on.drive.purging.format_victims(1, 1) == [1, 2, 3]


def test_namespaces_are_listed_attached_and_allocated(bench: Made) -> None:
    on = bench(namespaces=[*TWO, {"attached": False}])
    fd = on.fds[1]
    assert struct.unpack_from("<3I", nvme.identify(fd, structure=2, number=0)) == (1, 2, 0)
    assert struct.unpack_from("<4I", nvme.identify(fd, structure=0x10, number=0)) == (1, 2, 3, 0)
    assert nvme.identify(fd, structure=0, number=3) == bytes(4096)
    assert any(nvme.identify(fd, structure=0x11, number=3))
    assert refused(lambda: nvme.identify(fd, structure=0, number=33)) == 0x400B
    assert struct.unpack_from("<2H", nvme.identify(fd, structure=0x13, number=0)) == (1, 1)
    assert nvme.identify(fd, structure=0x12, number=3)[:2] == b"\0\0"


def test_a_format_to_another_block_size_changes_the_size_in_blocks(bench: Made) -> None:
    on = bench()
    format_it(on, 1)
    page = nvme.identify(on.fds[1], structure=0, number=1)
    assert struct.unpack_from("<Q", page) == ((4 << 20) // 4096,)
    assert page[26] == 1
    assert refused(lambda: format_it(on, 2)) == 0x410A


def test_a_drive_may_come_back_as_another_after_a_format(bench: Made) -> None:
    on = bench(format_makes="factory", cut_in_format=True)
    with pytest.raises(OSError, match="No such device"):
        format_it(on, 0x200)
    on.power_cycle()
    page = nvme.identify(on.fds[1], structure=1, number=0)
    assert page[4:24].strip() == b"1234"
    assert page[24:64].strip() == b"SM2270"


def test_the_cache_and_its_saved_value(bench: Made) -> None:
    on = bench()
    nvme.set_feature(on.fds[1], 6, 0)
    assert not nvme.write_cache_enabled(on.fds[1])
    on.power_cycle()
    assert nvme.write_cache_enabled(on.fds[1])
    nvme.admin(on.fds[1], opcode=9, number=0, cdw10=6 | 1 << 31, cdw11=0)
    on.power_cycle()
    assert not nvme.write_cache_enabled(on.fds[1])


def test_heat_is_counted_as_it_comes_and_goes(bench: Made) -> None:
    on = bench(temperature=[[0, 310], [60, 310], [120, 360], [300, 360], [301, 310]])
    nvme.set_feature(on.fds[1], 0x10, 320 << 16 | 345)
    on.clock.sleep(200)
    hot = nvme.log_page(on.fds[1], 2, 512)
    assert hot[0] == 2
    assert int.from_bytes(hot[1:3], "little") == 360
    on.clock.sleep(200)
    page = nvme.log_page(on.fds[1], 2, 512)
    assert page[0] == 0
    light, heavy, _, seconds = struct.unpack_from("<4I", page, 216)
    assert (light, heavy) == (1, 1)
    assert 190 < seconds < 205
    assert struct.unpack_from("<2I", page, 192)[1] == 3  # minutes above the critical temperature


def test_ocp_says_by_its_guid_what_it_is(bench: Made) -> None:
    on = bench()
    on.fill()
    page = nvme.log_page(on.fds[1], 0xC0, 512)
    assert page[496:].hex() == "c5af1028eabff2a49c4f6f7cc914d5af"
    assert int.from_bytes(page[:16], "little") == (4 << 20) * 3 // 2


def test_a_program_is_killed_before_a_command_or_after_it(bench: Made) -> None:
    on = bench()
    on.front.kill_at = 1
    with pytest.raises(Killed):
        sanitize(on, BLOCK)
    assert on.sent == []
    on.front.kill_at, on.front.kill_after = 2, True
    with pytest.raises(Killed):
        sanitize(on, BLOCK)
    assert on.opcodes() == [SANITIZE]


def test_a_drive_without_power_answers_nothing_until_it_is_back(bench: Made) -> None:
    on = bench(power_cut_at_command=2)
    nvme.feature(on.fds[1], 6)
    for _ in range(2):
        with pytest.raises(OSError, match="No such device"):
            nvme.feature(on.fds[1], 6)
    on.power_cycle()
    assert nvme.feature(on.fds[1], 6) == 1


def test_a_subject_is_identified_through_the_program_itself(bench: Made) -> None:
    on = bench(namespaces=TWO)
    found = on.subject(2).found
    assert (found.identity.serial, found.identity.interface) == ("EMU0001-ns2", "NVMe tcp")
    assert found.geometry.capacity_bytes == 1 << 20
    assert found.identity.write_cache == "enabled"
