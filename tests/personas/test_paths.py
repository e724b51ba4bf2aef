"""Paths of Windows are refused with what to write on Linux."""

import pytest

from teijo.errors import UsageError
from teijo.personas.paths import refuse_windows


@pytest.mark.parametrize(
    ("path", "linux"),
    [("E:\\test", "/mnt/test/test"), ("c:/a/b", "/mnt/test/a/b"), ("\\\\.\\E:", "/mnt/test"),
     ("\\\\server\\share", "/mnt/test"), ("D:", "/mnt/test")],
)  # fmt: skip
def test_a_path_of_windows_is_refused_with_its_linux_form(path: str, linux: str) -> None:
    with pytest.raises(UsageError) as caught:
        refuse_windows(path)
    assert linux in caught.value.remedy


@pytest.mark.parametrize("path", ["/mnt/x", ".", "a:b", "dir/E:x", ""])
def test_a_path_of_linux_passes(path: str) -> None:
    refuse_windows(path)
