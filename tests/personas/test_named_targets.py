"""Files as Windows tools name them: as one target."""

import pytest

from teijo.errors import UsageError
from teijo.personas.named_targets import NamedFile, placed

MIB = 1024 * 1024


def test_a_windows_name_is_refused():
    files = [NamedFile(name="sim:mlc-a"), NamedFile(name="E:\\a.dat")]
    with pytest.raises(UsageError, match="is a path of Windows"):
        placed(files, buffered=False)


def test_a_file_that_is_not_there_is_made_at_its_size(tmp_path):
    place = placed([NamedFile(name=str(tmp_path / "a"), size_bytes=8 * MIB)], buffered=False)
    assert place.text.endswith("/a?size=8388608")
    assert place.pieces == ((0, 8 * MIB),)


def test_of_a_file_that_is_there_as_much_is_used_as_is_asked_for(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 4 * MIB)
    place = placed([NamedFile(name=str(path), size_bytes=MIB)], buffered=True)
    assert place.text == f"{path}?direct=no"
    assert place.pieces == ((0, MIB),)
    with pytest.raises(UsageError, match="are asked for"):
        placed([NamedFile(name=str(path), size_bytes=5 * MIB)], buffered=False)


def test_several_files_are_one_target_with_their_places(tmp_path):
    files = []
    for name in ("a,b", "c"):
        (tmp_path / name).write_bytes(b"x" * 2 * MIB)
        files.append(NamedFile(name=str(tmp_path / name)))
    place = placed(files, buffered=False)
    assert place.text == f"concat:{tmp_path}/a\\,b,{tmp_path}/c"
    assert place.pieces == ((0, 2 * MIB), (2 * MIB, 2 * MIB))


def test_before_a_simulated_device_there_is_no_file_cache():
    with pytest.raises(UsageError, match="no file system"):
        placed([NamedFile(name="sim:hdd-7200")], buffered=True)
    assert placed([NamedFile(name="sim:hdd-7200")], buffered=False).text == "sim:hdd-7200"
