"""Serials: one form for every answer of a drive, shown as it must be typed, compared so."""

import ctypes
import shlex
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from teijo.device import preflight, serial
from teijo.device.checks import Subject
from teijo.device.commands import nvme, seam
from teijo.device.identify import Identification, describe
from teijo.device.preflight import Preflight, consent_to_all
from teijo.device.purging import nvme_format, waiting
from teijo.device.watched import unwatched
from teijo.errors import UnsafeError
from teijo.terms.geometry import Geometry, Identity
from tests.device.test_stack import Tree

PADS = st.sampled_from([b"", b" ", b"\0", b"  \0\0"])
NVME = st.binary(max_size=20)
VPD = st.binary(max_size=252)
EDGES = st.sampled_from(
    (
        *(b"AB C/1", b"S1,S2", b"-X", b"--help", b"it's", b'"', b"a\\x2cb", b"a,b", b"$(id)"),
        *(b"`id`", b"\x1b[2J", b"\xff\xfe", b"a\nb", b"\x85", b"*", b"~", b"#x", b"a\0b", b"!!"),
    )
)
RAW = st.one_of(NVME, VPD, EDGES)


@pytest.fixture
def subject_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Subject]:
    """Make devices of these serials, which every check finds free."""
    monkeypatch.setattr(preflight, "examine", lambda _: Preflight(checks=()))
    monkeypatch.setattr(preflight, "confirm", lambda _: None)
    tree = Tree(tmp_path)
    node = tree.node(tree.disk("nvme0n1", "259:0"))

    def made(text: str) -> Subject:
        return Subject(
            fd=-1,
            target="/dev/x",
            found=Identification(
                identity=Identity(kind="block", target="/dev/x", serial=text),
                geometry=Geometry(capacity_bytes=4096, nominal_capacity_bytes=4096),
                number=node.number,
                node=node,
                disk_sequence=1,
                own_serial=text,
            ),
            roots=tree.roots,
        )

    return made


@given(RAW)
def test_what_is_shown_typed_back_through_a_shell_names_the_drive(raw: bytes) -> None:
    form = serial.canonical(raw)
    words = shlex.split(serial.typed([form]))
    assert words[0] == "--destroy"
    assert len(words) == 2
    assert serial.is_named(form, serial.named(words[1])) == bool(form)


@given(st.lists(RAW.map(serial.canonical).filter(bool), min_size=1, max_size=4))
def test_several_shown_and_typed_back_are_these_and_no_others(forms: list[str]) -> None:
    assert list(serial.named(shlex.split(serial.typed(forms))[1])) == forms


@given(RAW, RAW)
@example(b",", b"\\x2c")
@example(b"AB C/1", b"AB_C_1")
def test_two_serials_share_a_form_only_if_they_differ_in_padding(one: bytes, other: bytes) -> None:
    same = one.strip(b" \0") == other.strip(b" \0")
    assert (serial.canonical(one) == serial.canonical(other)) == same


@given(RAW, PADS, PADS)
def test_padding_is_no_part_of_a_serial(raw: bytes, before: bytes, after: bytes) -> None:
    assert serial.canonical(before + raw + after) == serial.canonical(raw)


@given(RAW)
def test_a_form_is_visible_ascii_on_one_line_and_is_no_option(raw: bytes) -> None:
    form = serial.canonical(raw)
    assert form.isascii()
    assert form.isprintable()
    assert "," not in form
    assert not form.startswith("-")
    assert form == form.strip()


@pytest.mark.parametrize(
    ("raw", "form"),
    [
        (b"S4EWNX0M123456      ", "S4EWNX0M123456"),
        (b"AB C/1", "AB C/1"),
        (b"AB_C_1", "AB_C_1"),
        (b"S1,S2", r"S1\x2cS2"),
        (b"-X", r"\x2dX"),
        (b"a-b", "a-b"),
        (b"\\x2c", r"\x5cx2c"),
        (b"\xc3\xa4", r"\xc3\xa4"),
        (b"a\0b", r"a\x00b"),
        (b" \0 ", ""),
        (b"", ""),
    ],
)
def test_forms_that_are_known(raw: bytes, form: str) -> None:
    assert serial.canonical(raw) == form


@given(NVME.filter(lambda raw: b"\n" not in raw[-1:]))
def test_what_the_kernel_prints_of_a_serial_has_the_form_of_what_the_drive_answers(
    raw: bytes,
) -> None:
    printed = raw.ljust(20, b" ").split(b"\0")[0] + b"\n"  # "%.20s\n"
    answered = serial.as_the_kernel_prints(raw.ljust(20, b" "))
    assert serial.canonical(printed.removesuffix(b"\n")) == serial.canonical(answered)


def disk_with(folder: Path, **files: bytes) -> Path:
    for name, data in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def test_a_serial_is_read_from_each_place_it_may_stand(tmp_path: Path) -> None:
    page = b"\0\x80\0\x08  AB,C/1" + b"beyond"
    assert serial.of_disk(disk_with(tmp_path / "a", device__serial=b"AB C/1   \n")) == "AB C/1"
    assert serial.of_disk(disk_with(tmp_path / "b", serial=b"virtio 7")) == "virtio 7"
    assert serial.of_disk(disk_with(tmp_path / "c", device__vpd_pg80=page)) == r"AB\x2cC/1"
    assert serial.of_disk(disk_with(tmp_path / "d", serial=b"  \n", device__vpd_pg80=page)) != ""
    assert serial.of_disk(tmp_path) == ""


def test_the_list_of_devices_has_the_same_form(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    disk = tree.disk("nvme0n1", "259:0", device__serial="AB C/1      ")
    assert describe(tree.node(disk))[1] == "AB C/1"


@pytest.mark.parametrize("text", ["AB C/1", r"S1\x2cS2", "it's", "$(id)"])
def test_a_refusal_shows_what_a_shell_must_be_given(
    subject_of: Callable[[str], Subject], text: str
) -> None:
    subject = subject_of(text)
    with pytest.raises(UnsafeError) as caught:
        consent_to_all((subject,), None)
    shown = shlex.split(caught.value.remedy.partition("--destroy ")[2])
    assert shown == [text]
    consent_to_all((subject,), shown[0])


@pytest.mark.parametrize("typed", ["AB_C_1", "AB C", "AB C/1,S9", "ab c/1", "AB", ",", " "])
def test_another_spelling_is_no_consent(subject_of: Callable[[str], Subject], typed: str) -> None:
    with pytest.raises(UnsafeError):
        consent_to_all((subject_of("AB C/1"),), typed)


@pytest.mark.parametrize("typed", [None, "", ",", " , "])
def test_an_empty_serial_cannot_be_given_up(
    subject_of: Callable[[str], Subject], typed: str | None
) -> None:
    with pytest.raises(UnsafeError):
        consent_to_all((subject_of(""),), typed)


def test_of_several_a_serial_with_a_comma_is_one(subject_of: Callable[[str], Subject]) -> None:
    forms = [serial.canonical(b"S1,S2"), "S3"]
    subjects = [subject_of(form) for form in forms]
    consent_to_all(subjects, r"S3,S1\x2cS2")
    with pytest.raises(UnsafeError):
        consent_to_all(subjects, "S1,S2,S3")


LOOKED = -1


def drive(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> list[int]:
    """Answer as an NVMe drive of this serial at the ioctl; return the commands it is sent.

    `LOOKED` among them is a look whether it is still that drive.
    """
    sent: list[int] = []
    controller = bytearray(4096)
    controller[4:24] = raw.ljust(20, b" ")
    controller[256:258] = (0b10).to_bytes(2, "little")
    answers = {0: bytes(4096), 1: bytes(controller), 2: struct.pack("<I", 1).ljust(4096, b"\0")}

    def ioctl(fd: int, request: int, command: bytearray | None = None) -> int:
        if request == nvme.NVME_IOCTL_ID:
            return 1
        assert command is not None
        sent.append(command[0])
        if command[0] == nvme.IDENTIFY:
            (address,) = struct.unpack_from("<Q", command, 24)
            (structure,) = struct.unpack_from("<I", command, 40)
            ctypes.memmove(address, answers[structure], 4096)
        return 0

    monkeypatch.setattr(seam, "ioctl", ioctl)
    monkeypatch.setattr(waiting, "check_present", lambda subject: sent.append(LOOKED))
    return sent


@pytest.mark.parametrize("raw", [b"AB C/1", b"S1,S2", b"\xff", b"A\0B", b"-X", b"S4EWNX0M123456"])
def test_a_drive_given_up_by_its_shown_serial_is_formatted(
    subject_of: Callable[[str], Subject], monkeypatch: pytest.MonkeyPatch, raw: bytes
) -> None:
    own = serial.canonical(serial.as_the_kernel_prints(raw))
    sent = drive(monkeypatch, raw)
    assert nvme_format.USER_DATA.carry_out(subject_of(own), unwatched)
    assert sent[-2:] == [LOOKED, nvme.FORMAT_NVM]


def test_another_drives_controller_is_not_formatted(
    subject_of: Callable[[str], Subject], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = drive(monkeypatch, b"AB_C_1")
    with pytest.raises(UnsafeError, match="AB_C_1"):
        nvme_format.USER_DATA.carry_out(subject_of("AB C/1"), unwatched)
    assert nvme.FORMAT_NVM not in sent
