"""Who may make a file, and how: never through a name that somebody else put there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import PACKAGE, ROOT, of_kind, place, syntax, text

DOOR = "python/teijo/creating.py"
# What else makes or opens for writing, by file and call, and why it follows nothing there.
ALLOWED = {
    ("device/shared.py", "os.open"): "a file that is there, never with O_CREAT",
    ("device/file.py", "os.open"): "a target is what a person names; a new one is made by O_EXCL",
    ("engine/fio/session.py", "write_text"): "in a folder of its own, made by tempfile",
    ("cli/original.py", "mkdir"): "the folder of an original's files, as it makes it",
    ("sql/folder.py", "os.open"): "in a folder made here by O_EXCL",
    ("sql/folder.py", "mkdir"): "a fresh random name in an open directory",
    ("sql/keeper.py", "os.open"): "in a folder of its own, never a link",
    ("sql/server.py", "sqlite3.connect"): "in a folder made here, by its descriptor",
    ("report/pdf.py", "write_text"): "in a folder of its own, made by tempfile",
    ("runfile/reader.py", "shutil.copyfile"): "into a folder of its own, made by tempfile",
    ("runfile/reader.py", "sqlite3.connect"): "read-only",
    ("runfile/signature.py", "write_bytes"): "in a folder of its own, made by tempfile",
    ("runfile/recorder.py", "sqlite3.connect"): "a file made here, what lies beside it looked at",
    ("runfile/seal.py", "sqlite3.connect"): "read-only",
    ("runfile/blame.py", "sqlite3.connect"): "read-only",
    ("runfile/schema.py", "sqlite3.connect"): "in memory",
    ("runfile/shelf.py", "sqlite3.connect"): "in memory",
    ("runfile/shelf.py", "os.open"): "for reading only, never a link",
    ("runfile/creation.py", "os.open"): "a half-made run file that is there, never a link",
    ("runfile/seal.py", "VACUUM INTO"): "into a file made here",
    ("device/memory_limit.py", "mkdir"): "a control group, where nobody but root makes names",
    ("files/worker.py", "mkdir"): "a folder named by the run's token, in an open directory",
    (
        "sql/worker.py",
        "sqlite3.connect",
    ): "in memory, or a file made right before under a free name",
    ("cli/outcome.py", "mkdir"): "the folder that a person names",
    ("fleet/collecting.py", "mkdir"): "the fleet's folder, which a person names",
    ("fleet/hand.py", "mkdir"): "the folder of run files that a plan names",
    ("fleet/manifest.py", "mkdir"): "the fleet's folder, which a person names",
    ("device/open_changes.py", "mkdir"): "the user's own state folder, then looked at",
    ("runfile/seal.py", "os.open"): "to flush what was made here; never with O_CREAT",
    ("runfile/recorder.py", "os.open"): "a run file that is there, to lock it",
    ("device/preflight.py", "os.open"): "a block device that is there, never with O_CREAT",
    ("outside/file.py", "os.open"): "for reading only",
    ("device/release.py", "os.open"): "O_EXCL on a device that is there, never with O_CREAT",
}
# Only below an open directory, by names of its own, with O_EXCL and O_NOFOLLOW.
FOLDER = "crates/engine/src/files/kernel.rs"
WRITERS = {"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to", "mkdir", "makedirs"}
RUST = re.compile(r"\b(File::create\w*|OpenOptions|fs::write|OFlags::CREATE|O_CREAT)\b")


def makers(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of each call that may make a file or write to one by its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith("VACUUM INTO"):
                yield node.lineno, "VACUUM INTO"
            continue
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        last = name.rpartition(".")[2]
        if name == "os.open":
            flags = ast.unparse(node.args[1]) if len(node.args) > 1 else ""
            safe = "O_EXCL" in flags and "O_CREAT" in flags
            foreign = {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}
            if not safe and ("O_CREAT" in flags or foreign - {"os"} or "O_TRUNC" in flags):
                yield node.lineno, name
        elif name == "open" or (last == "open" and name != "reading.open"):
            mode = opening_mode(node, first=1 if name == "open" else 0)
            if set(mode) & set("wax+"):
                yield node.lineno, "open"
        elif last in WRITERS and not name.startswith("creating."):
            yield node.lineno, last
        elif name == "os.truncate" or re.match(r"(shutil\.(copy|move)|sqlite3\.connect)", name):
            yield node.lineno, name


def opening_mode(call: ast.Call, *, first: int) -> str:
    """Return the mode a call of open has, as far as it is written out."""
    given = [one.value for one in call.keywords if one.arg == "mode"]
    given += call.args[first : first + 1]
    written = (one.value for one in given if isinstance(one, ast.Constant))
    return next((mode for mode in written if isinstance(mode, str)), "")


def test_files_are_made_by_one_door_or_as_the_table_says() -> None:
    found = [
        f"{place(path)}:{line}: {name}"
        for path in of_kind(".py")
        if path.is_relative_to(PACKAGE) and place(path) != DOOR
        for line, name in makers(syntax(path))
        if (place(path).removeprefix("python/teijo/"), name) not in ALLOWED
    ]
    assert not found, f"make files by teijo.creating: {found}"


def test_the_engine_and_the_simulation_make_no_file_but_in_a_folder_they_are_handed() -> None:
    found = [
        place(path)
        for path in of_kind(".rs")
        if re.fullmatch(r"crates/\w+/src/.*", place(path))
        and place(path) != FOLDER
        and RUST.search(text(path).split("#[cfg(test)]")[0])
    ]
    assert not found, f"these make files: {found}"


def test_a_call_that_makes_a_file_is_seen() -> None:
    def seen(code: str) -> list[str]:
        return [name for _, name in makers(ast.parse(code))]

    assert seen("open('x', 'w')") == ["open"]
    assert seen("path.open(mode='ab')") == ["open"]
    assert seen("path.open('rb')") == []
    assert seen("os.open(p, os.O_RDWR | os.O_CREAT)") == ["os.open"]
    assert seen("os.open(p, flags)") == ["os.open"]
    assert seen("os.open(p, os.O_RDWR | os.O_CREAT | os.O_EXCL)") == []
    assert seen("os.open(p, os.O_RDONLY)") == []
    assert seen("p.write_bytes(b'')") == ["write_bytes"]
    assert seen("shutil.copyfile(a, b)") == ["shutil.copyfile"]
    assert seen("sqlite3.connect(a)") == ["sqlite3.connect"]
    assert seen("db.execute('VACUUM INTO ?', x)") == ["VACUUM INTO"]


def test_work_on_files_makes_them_where_nothing_is_and_follows_nothing() -> None:
    code = text(ROOT / FOLDER)
    assert code.count("OFlags::CREATE") == code.count("OFlags::CREATE | OFlags::EXCL") == 1
    assert "let mut flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;" in code


def test_each_place_of_the_table_is_there() -> None:
    gone = {name for name, _ in ALLOWED if not (PACKAGE / name).is_file()}
    assert not gone, f"take these out of the table: {gone}"
    assert Path(ROOT / DOOR).is_file()
