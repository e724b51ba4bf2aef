"""What drives say of themselves, decoded: bytes put together by the tables of the standards."""

import random
import struct

import pytest

from teijo.device.commands.ata import TaskFile
from teijo.device.commands.scsi import parse_sense
from teijo.device.drive import ata_identity, nvme_identity, scsi_identity


def nvme_controller() -> bytearray:
    raw = bytearray(4096)
    struct.pack_into("<HH20s40s8s", raw, 0, 0x144D, 0x1AF4, b"S1 ", b"Model X".ljust(40), b"2B4Q")
    raw[73:76] = bytes((0x38, 0x25, 0x00))
    raw[76], raw[111] = 0b10, 1
    struct.pack_into("<HI", raw, 78, 5, 0x010400)
    struct.pack_into("<H", raw, 256, 0b1011)
    raw[263], raw[265] = 2, 1
    struct.pack_into("<HH", raw, 266, 343, 353)
    raw[280:296] = (10**12).to_bytes(16, "little")
    struct.pack_into("<I", raw, 328, 0b1 | 0b10 | 1 << 29 | 2 << 30)
    struct.pack_into("<IH", raw, 516, 32, 0b1100)
    raw[524], raw[525] = 0b0110, 1
    raw[768:780] = b"nqn.2026:one"
    for number, row in enumerate(((900, 0, 0, 0), (350, 0, 10, 20), (500, 0b11, 3000, 9000))):
        struct.pack_into("<HBBII", raw, 2048 + 32 * number, row[0], 0, *row[1:])
    return raw


def test_a_controller_is_told_field_by_field() -> None:
    told = nvme_identity.controller_of(bytes(nvme_controller()))
    assert (told.serial, told.model, told.firmware) == ("S1", "Model X", "2B4Q")
    assert (told.spec_version, told.subsystem_nqn, told.controller_id) == ("1.4", "nqn.2026:one", 5)
    assert (told.pci_vendor, told.pci_subsystem_vendor, told.ieee_oui) == ("144d", "1af4", "002538")
    assert (told.has_several_ports, told.has_several_controllers) == (False, True)
    assert (told.controller_type, told.most_namespaces, told.capacity_bytes) == ("I/O", 32, 10**12)
    assert (told.warning_kelvin, told.critical_kelvin) == (343, 353)
    assert (told.deallocate, told.write_zeroes) == (True, True)
    assert (told.security_commands, told.manages_namespaces, told.self_test) == (True, True, False)


@pytest.mark.parametrize("bit", range(4))
def test_each_bit_of_fna_is_a_word_of_its_own(bit: int) -> None:
    raw = nvme_controller()
    raw[524] = 1 << bit
    told = nvme_identity.controller_of(bytes(raw)).format
    words = (
        told.formats_all_namespaces,
        told.erases_all_namespaces,
        told.crypto_erase,
        told.refuses_broadcast,
    )
    assert told.supported
    assert [place for place, said in enumerate(words) if said] == [bit]


@pytest.mark.parametrize("bit", [0, 1, 2, 3, 29])
def test_each_bit_of_sanicap_is_a_word_of_its_own(bit: int) -> None:
    raw = nvme_controller()
    struct.pack_into("<I", raw, 328, 1 << bit)
    told = nvme_identity.controller_of(bytes(raw)).sanitize
    words = {
        0: told.crypto,
        1: told.block,
        2: told.overwrite,
        3: told.verification,
        29: told.no_deallocate_inhibited,
    }
    assert [place for place, said in words.items() if said] == [bit]
    assert told.any == (bit < 3)
    assert told.no_deallocate_modifies_media == ""


def test_power_states_have_their_unit_and_whether_they_serve() -> None:
    first, second, third = nvme_identity.controller_of(bytes(nvme_controller())).power_states
    assert (first.max_mw, first.is_operational) == (9000, True)
    assert (second.max_mw, second.entry_us, second.exit_us) == (3500, 10, 20)
    assert third.max_mw == pytest.approx(50)
    assert not third.is_operational


def nvme_namespace() -> bytearray:
    raw = bytearray(4096)
    struct.pack_into("<QQQ", raw, 0, 1000, 900, 10)
    raw[24:30] = bytes((1, 2, 0b0000_0001, 0, 0b0_0101, 0b1001))
    raw[30], raw[32], raw[33], raw[99] = 1, 0x80 | 40, 0b1001, 1
    raw[120:128] = b"\1" * 8
    for number, (shift, meta) in enumerate(((9, 0), (12, 8), (63, 0))):
        struct.pack_into("<HBB", raw, 128 + 4 * number, meta, shift, number)
    return raw


def test_a_namespace_is_told_in_bytes_of_the_format_in_use() -> None:
    told = nvme_identity.namespace_of(bytes(nvme_namespace()), 3, attached=False)
    assert (told.size_bytes, told.capacity_bytes, told.used_bytes) == (4096000, 3686400, 40960)
    assert (told.block_bytes, told.metadata_bytes, told.thin_provisioned) == (4096, 8, True)
    # A block of 2^63 bytes is no format, as one of less than 512 is none.
    assert [(one.number, one.data_bytes, one.in_use) for one in told.formats] == [
        (0, 512, False),
        (1, 4096, True),
    ]
    assert told.protection == "type 1, first bytes of metadata"
    assert told.protection_supported == ("type 1", "type 3")
    assert (told.deallocated_reads, told.deallocates_by_write_zeroes) == ("zeros", True)
    assert (told.format_left_percent, told.write_protected, told.may_be_shared) == (40, True, True)
    assert (told.nguid, told.eui64) == ("", "01" * 8)


def test_the_index_of_the_format_has_its_upper_bits_behind_the_place_of_metadata() -> None:
    raw = nvme_namespace()
    raw[25], raw[26] = 63, 0b010_1_0001  # format 33, metadata at the end
    struct.pack_into("<HBB", raw, 128 + 4 * 33, 0, 12, 0)
    told = nvme_identity.namespace_of(bytes(raw), 1, attached=True)
    assert [one.number for one in told.formats if one.in_use] == [33]


@pytest.mark.parametrize(
    ("status", "runs", "failed", "never_written"),
    [
        (0x0000, False, False, False),
        (0x0101, False, False, True),
        (0x0002, True, False, False),
        (0x0003, False, True, False),
        (0x0104, False, False, True),
        (0x0005, True, False, False),
    ],
)
def test_the_sanitize_log_is_read_by_bits(
    status: int, runs: bool, failed: bool, never_written: bool
) -> None:
    raw = struct.pack("<HHIIII", 0x8000, status, 2, 600, 0xFFFFFFFF, 2)
    told = nvme_identity.sanitize_status_of(raw.ljust(512, b"\0"))
    assert (told.runs, told.failed, told.never_written_since) == (runs, failed, never_written)
    assert told.percent == (50.0 if runs else None)
    assert (told.overwrite_s, told.block_s, told.crypto_s) == (600, None, 2)


def test_a_state_that_nobody_defined_is_unknown_and_no_success() -> None:
    told = nvme_identity.sanitize_status_of(struct.pack("<HH", 0xFFFF, 7))
    assert (told.state, told.runs, told.failed) == ("unknown state 7", False, False)


def test_the_table_of_apst_has_where_each_state_goes_and_when() -> None:
    table = struct.pack("<4Q", 0, 3 << 3 | 1500 << 8, 0, 4 << 3 | 20000 << 8)
    found = nvme_identity.transitions_of(table)
    assert [(one.state, one.goes_to, one.after_ms) for one in found] == [
        (1, 3, 1500),
        (3, 4, 20000),
    ]


@pytest.mark.parametrize(
    ("flags", "said"), [(1, "not enabled"), (3, "enabled, not locked"), (7, "locked")]
)
def test_locking_is_found_behind_other_features(flags: int, said: str) -> None:
    features = struct.pack(">HBB12x", 1, 0x10, 12) + struct.pack(">HBBB11x", 2, 0x10, 12, flags)
    raw = struct.pack(">I44x", 44 + len(features)) + features
    assert nvme_identity.locking_of(raw.ljust(512, b"\0")) == said


def test_the_command_set_stands_behind_other_descriptors() -> None:
    raw = bytes((2, 16, 0, 0)) + b"\xee" * 16 + bytes((4, 1, 0, 0, 2)) + bytes(100)
    assert nvme_identity.command_set_of(raw) == "zoned"


def ata_words(**words: int) -> bytes:
    raw = bytearray(512)
    for name, value in words.items():
        struct.pack_into("<H", raw, 2 * int(name.removeprefix("w")), value)
    return bytes(raw)


def test_texts_of_ata_have_their_letters_swapped_within_words() -> None:
    raw = bytearray(512)
    raw[20:40] = b"1S23".ljust(20)
    raw[54:94] = b"oMed l X".ljust(40)
    told = ata_identity.identity_of(bytes(raw))
    assert (told.serial, told.model) == ("S132", "Model X")


@pytest.mark.parametrize(
    ("words", "size", "logical", "physical"),
    [
        ({"w60": 0x10, "w61": 1}, 0x10010 * 512, 512, 512),
        ({"w83": 1 << 10, "w100": 5, "w103": 1, "w106": 0x6003}, (1 << 48 | 5) * 512, 512, 4096),
        ({"w69": 8, "w230": 7, "w106": 0x5000, "w117": 2048}, 7 * 4096, 4096, 4096),
        ({"w60": 1, "w106": 0xFFFF}, 512, 512, 512),
    ],
)
def test_sizes_of_ata(words: dict[str, int], size: int, logical: int, physical: int) -> None:
    told = ata_identity.identity_of(ata_words(**words))
    assert (told.size_bytes, told.logical_block_bytes) == (size, logical)
    assert told.physical_block_bytes == physical


@pytest.mark.parametrize(
    ("word", "rpm"), [(0, None), (1, 0), (7200, 7200), (0x0400, None), (0xFFFF, None)]
)
def test_rotation_is_none_where_it_is_not_told_and_0_of_flash(word: int, rpm: int | None) -> None:
    assert ata_identity.identity_of(ata_words(w217=word)).rotation_rpm == rpm
    raw = struct.pack(">BBHHBB", 0, 0xB1, 60, word, 0, 3).ljust(64, b"\0")
    assert scsi_identity.characteristics_of(raw).rotation_rpm == rpm


def test_the_speed_of_sata_now_and_possible() -> None:
    told = ata_identity.identity_of(ata_words(w76=0b1_0000_1110, w77=2 << 1, w75=31, w168=7))
    assert (told.sata_speed_now, told.sata_speed_possible) == ("3.0 Gb/s", "6.0 Gb/s")
    assert (told.queue_depth, told.form_factor) == (32, "M.2")
    silent = ata_identity.identity_of(ata_words(w76=0xFFFF, w77=0xFFFF, w168=0xFFFF))
    assert (silent.sata_speed_now, silent.sata_speed_possible, silent.form_factor) == ("", "", "")


@pytest.mark.parametrize(
    ("words", "trim", "read"),
    [
        ({"w69": 0x4020}, False, ""),
        ({"w169": 1}, True, "anything"),
        ({"w169": 1, "w69": 0x4000}, True, "the same each time"),
        ({"w169": 1, "w69": 0x4020}, True, "zeros"),
        ({"w169": 1, "w69": 0x0020}, True, "anything"),
    ],
)
def test_trim_and_what_is_read_after_it(words: dict[str, int], trim: bool, read: str) -> None:
    told = ata_identity.identity_of(ata_words(**words))
    assert (told.trim, told.trimmed_reads) == (trim, read)


@pytest.mark.parametrize("bit", [0, 1, 2, 3, 4, 5, 8])
def test_each_bit_of_security_is_a_word_of_its_own(bit: int) -> None:
    told = ata_identity.identity_of(ata_words(w128=1 << bit)).security
    words = {
        0: told.supported,
        1: told.enabled,
        2: told.locked,
        3: told.frozen,
        4: told.tries_used_up,
        5: told.enhanced_erase,
        8: told.maximum_level,
    }
    assert [place for place, said in words.items() if said] == [bit]


@pytest.mark.parametrize(
    ("word", "minutes", "longer"),
    [(1, 2, False), (0xFE, 508, False), (0xFF, 508, True), (0x8400, 2048, False),
     (0xFFFF, 65532, True)],
)  # fmt: skip
def test_the_time_of_an_erase_in_both_forms(word: int, minutes: int, longer: bool) -> None:
    told = ata_identity.identity_of(ata_words(w128=1, w89=word)).security.erase
    assert told == ata_identity.EraseTime(minutes=minutes, longer=longer)


def test_a_wrong_checksum_is_seen() -> None:
    right = bytearray(ata_words(w60=3, w255=0xA5))
    right[511] = -sum(right) & 0xFF
    assert ata_identity.identity_of(bytes(right)).is_whole
    right[100] ^= 1
    assert not ata_identity.identity_of(bytes(right)).is_whole


@pytest.mark.parametrize(
    ("count", "lba", "aborted", "said"),
    [
        (0x4000, 0x7FFF, False, "running"),
        (0x8000, 0xFFFF, False, "completed"),
        (0x2000, 0, False, "frozen"),
        (0, 1, True, "failed"),
        (0, 3, True, "frozen"),
        (0x4000, 1, True, "failed"),
    ],
)
def test_the_status_of_a_sanitize(count: int, lba: int, aborted: bool, said: str) -> None:
    registers = TaskFile(error=4 * aborted, status=0x50, count=count, lba=lba)
    told = ata_identity.sanitize_status_of(registers, aborted=aborted)
    names = ("running", "completed", "frozen", "failed")
    assert [name for name in names if getattr(told, name)] == [said]
    assert told.percent == (pytest.approx(50, abs=0.1) if said == "running" else None)


def test_scsi_pages_are_cut_to_their_own_length() -> None:
    assert scsi_identity.pages_of(bytes((0, 0, 0, 3, 0, 0x80, 0xB1, 0x99))) == {0, 0x80, 0xB1}
    assert scsi_identity.pages_of(b"\0\x83\0\x01\x83") == set()
    assert scsi_identity.unit_serial_of(b"\0\x80\0\x04 ABCD") == "ABC"


def test_scsi_capacity_and_protection() -> None:
    raw = struct.pack(">QIBBBB", 99, 4096, 0b0011, 0, 0xC0, 0).ljust(32, b"\0")
    told = scsi_identity.capacity_of(raw)
    assert (told.size_bytes, told.protection) == (409600, "type 2")
    assert (told.provisioned, told.reads_zeros) == (True, True)
    page = bytes((0, 0xB2, 0, 4, 0, 0b1110_0100, 2, 0))
    limits = struct.pack(">BBH16xI4xI", 0, 0xB0, 60, 8192, 16).ljust(64, b"\0")
    unmapping = scsi_identity.unmapping_of(limits, page, None)
    assert (unmapping.unmap, unmapping.write_same_16, unmapping.write_same_10) == (True, True, True)
    assert (unmapping.reads_zeros, unmapping.provisioning) == (True, "thin")
    assert (unmapping.most_unmap_blocks, unmapping.granularity_blocks) == (8192, 16)


@pytest.mark.parametrize(("code", "said"), [(0, None), (1, False), (3, True), (5, True), (6, None)])
def test_supported_operations_are_yes_no_or_not_told(code: int, said: bool | None) -> None:
    assert scsi_identity.supported_of(bytes((0, 0x80 | code, 0, 6))) is said
    assert scsi_identity.supported_of(b"") is None


@pytest.mark.parametrize(
    ("sense", "kind", "failed", "percent"),
    [
        ("72 02 04 1b 00 00 00 08 02 06 00 00 80 80 00 00", "sanitize", False, 50.0),
        ("70 00 02 00 00 00 00 0a 00 00 00 00 04 04 00 80 40 00", "format", False, 25.0),
        ("70 00 03 00 00 00 00 0a 00 00 00 00 31 03 00 00 00 00", "sanitize", True, None),
        ("70 00 03 00 00 00 00 0a 00 00 00 00 31 00 00 00 00 00", "format", True, None),
        ("70 00 00 00 00 00 00 0a 00 00 00 00 04 1b 00 80 80 00", "sanitize", False, 50.0),
    ],
)
def test_what_works_in_the_background_is_told_by_the_sense(
    sense: str, kind: str, failed: bool, percent: float | None
) -> None:
    told = scsi_identity.background_of(parse_sense(bytes.fromhex(sense)))
    assert told is not None
    assert (told.kind, told.failed) == (kind, failed)
    assert told.percent == (None if percent is None else pytest.approx(percent, abs=0.1))


def test_no_sense_and_other_sense_is_nothing_in_the_background() -> None:
    other = parse_sense(bytes.fromhex("7000020000000000000000003a000000"))
    assert scsi_identity.background_of(other) is None
    assert scsi_identity.background_of(None) is None


@pytest.mark.parametrize("seed", range(40))
def test_any_bytes_of_any_length_are_decoded(seed: int) -> None:
    chance = random.Random(seed)
    raw = chance.randbytes(chance.choice((0, 1, 7, 64, 511, 512, 4096)))
    controller = nvme_identity.controller_of(raw)
    assert 1 <= len(controller.power_states) <= 32
    namespace = nvme_identity.namespace_of(raw, 1, attached=True)
    assert len(namespace.formats) <= 64
    assert ata_identity.identity_of(raw).size_bytes >= 0
    assert nvme_identity.sanitize_status_of(raw).code < 8
    assert nvme_identity.locking_of(raw) in ("", "locked", "not enabled", "enabled, not locked")
    assert isinstance(nvme_identity.command_set_of(raw), str)
    assert len(nvme_identity.transitions_of(raw)) <= 32
    assert scsi_identity.capacity_of(raw).size_bytes >= 0
    assert scsi_identity.inquiry_of(raw).device_type < 32
    assert scsi_identity.characteristics_of(raw).zoned in ("", "host-aware", "device-managed")
    assert len(scsi_identity.pages_of(raw)) <= 256
