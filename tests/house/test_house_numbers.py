"""The counts of benchmarks/house_numbers.py on a small tree whose numbers are known."""

from pathlib import Path

import pytest

from benchmarks import house_numbers

HOPS_MOST = 10
"""From the verb to the call of the native session, both counted."""

FILES = {
    "python/teijo/errors.py": '"""Errors."""\n',
    "python/teijo/terms/workload.py": '"""W."""\n\n\nclass Stream:\n    block_size_bytes: int\n',
    "python/teijo/methods/pts/iops/method.py": (
        "import a\n\nfrom b import (\n    c,\n)\n\n\ndef steps(x):\n    yield x\n\n\ndef title():\n"
        "    return 1\n"
    ),
    "python/teijo/methods/pts/iops/pages.py": "import a\n\n\ndef parts(x):\n    yield x\n",
    "python/teijo/methods/studies/tier.py": "x = 1\n" * 7,
    "python/teijo/conformance/judge.py": "y = 1\n" * 3,
    "python/teijo/runfile/schema.sql": "CREATE TABLE result (\n  histogram BLOB\n)",
    "crates/engine/src/plan.rs": (
        "pub struct Plan {\n    pub block_size_bytes: u64,\n    seed: u64,\n}\n\n"
        "pub(crate) struct Histogram {\n    counts: u64,\n}\n"
    ),
    "crates/engine/src/tests/plan.rs": "fn it() {}\n" * 50,
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_rooms_have_their_files_and_lines_and_tests_are_left_out(tree: Path) -> None:
    rooms = house_numbers.rooms(tree)
    assert rooms["methods"] == {"files": 3, "lines": 13 + 5 + 7}
    assert rooms["crates/engine"] == {"files": 1, "lines": 8}
    assert rooms["whole Python"] == {"files": 6, "lines": 1 + 5 + 13 + 5 + 7 + 3}


def test_a_method_may_be_a_folder_or_a_file_and_conformance_counts_with_all(tree: Path) -> None:
    methods = house_numbers.methods(tree)
    assert methods["pts/iops"] == {"files": 2, "lines": 18}
    assert methods["studies/tier"] == {"files": 1, "lines": 7}
    assert methods["pts/lat"] == {"files": 0, "lines": 0}
    assert methods["methods + conformance"] == {"files": 4, "lines": 28}


def test_every_line_of_the_methods_has_one_purpose(tree: Path) -> None:
    assert house_numbers.kinds(tree) == {
        "the rest": 13 - 4 - 2 + 7,
        "imports": 4 + 1,
        "pages, words": 5 - 1,
        "ledger": 3,
        "steps (generators)": 2,
    }


def test_what_holds_a_quantity_is_found_in_every_language(tree: Path) -> None:
    assert house_numbers.representations(tree, house_numbers.BLOCK_SIZE) == {
        "Python block_size_bytes": ["workload.Stream"],
        "Rust block_size_bytes": ["plan.Plan"],
    }
    assert house_numbers.representations(tree, house_numbers.SAMPLE) == {
        "Rust Histogram": ["plan"],
        "SQL histogram": ["result"],
    }


def test_a_verb_reads_its_target_once_and_reaches_the_engine_in_few_calls() -> None:
    seen = house_numbers.walks(house_numbers.ROOT, ["run"])["run"]
    assert (seen["parses"], seen["settings"], seen["devices"]) == (1, 1, 1)
    assert seen["hops"][0] == "teijo.cli.run.verb"
    assert len(seen["hops"]) <= HOPS_MOST
