"""Every classic tool, as it is and strict: what the page says, what the file proves, both tongues.

The page of a clean strict run names nothing; that is the claim, and it is made for each tool.
"""

import os
from pathlib import Path

import pytest

from teijo import api
from teijo.document.model import Document, Facts, Section
from teijo.methods.classic.hidden import TITLE
from teijo.report import text
from teijo.report.language import Language
from teijo.terms.result import UNWRITTEN
from teijo.units import MIB
from tests.methods.documents import text_of

DRIVE = "sim:mlc-a?capacity=1GiB"
FILES = "sim:os(intel-330)?memory=64MiB"
SLOW_FILES = "sim:os(hdd-7200)?memory=64MiB"
"""A slow drive: no phase of so small a file is too short to be told."""
_LARGE = {"size": "300MiB", "ram": "64MiB", "files": "0", "seeks": "100", "per_char": "12MiB"}
TOOLS: dict[str, tuple[str, dict[str, str]]] = {
    "orion": (DRIVE, {"run": "advanced", "small_loads": "1,4", "duration": "250ms"}),
    "crystaldiskmark": (
        DRIVE,
        {"runs": "2", "size": "64MiB", "interval": "0s", "measure": "200ms"},
    ),
    "sqlio": (DRIVE, {"seconds": "250ms", "passes": "2", "factor": "random"}),
    "diskspd": (DRIVE, {"seconds": "250ms", "warm_up": "100ms", "length": "64MiB", "write": "30"}),
    "bonnie": (SLOW_FILES, _LARGE),
    "tiotest": (FILES, {"size": "64MiB", "threads": "2", "random": "20000", "passes": "2"}),
    "tiobench": (FILES, {"size": "128MiB", "threads": "1,2", "block": "4KiB", "random": "100"}),
}


def page_of(document: Document) -> Section:
    (page,) = [each for each in document.sections if each.title == TITLE]
    return page


def named_on(page: Section) -> dict[str, str]:
    """Return what the page says the number hides, each with its size."""
    return {
        str(block.caption): {str(name): str(said) for name, said in block.rows}["In this run"]
        for block in page.blocks
        if isinstance(block, Facts)
    }


@pytest.mark.parametrize(
    "tool", [pytest.param(t, marks=pytest.mark.long) if t == "bonnie" else t for t in TOOLS]
)
@pytest.mark.parametrize("strict", ["off", "on"])
def test_a_classic_run_proves_itself_is_told_in_both_tongues_and_strict_hides_nothing(
    tool: str, strict: str, tmp_path: Path
) -> None:
    target, settings = TOOLS[tool]
    path = tmp_path / "a.teijo"
    run = api.run(
        f"classic.{tool}", target, output=path, settings={**settings, "strict": strict}, seed=3
    )
    checked = api.verify(path)
    assert (checked.flaws, checked.unknown) == ((), ())
    assert checked.sealed
    page = page_of(run.document())
    assert page.blocks
    if strict == "on":
        assert named_on(page) == {}, text_of(run.document())
    english, japanese = (text.render(run.document(), language=each) for each in Language)
    assert len(english.splitlines()) > 50
    assert english != japanese
    assert "この数値が隠していること" in japanese or TITLE not in japanese


def of_file(tmp_path: Path, query: str, **settings: str) -> dict[str, str]:
    """Measure a file of 16 MiB that was reserved and never written; say what its page names."""
    file = tmp_path / f"drive-{settings.get('strict', 'off')}.img"
    with file.open("wb") as open_file:
        try:
            os.posix_fallocate(open_file.fileno(), 0, 16 * MIB)
        except OSError as error:
            pytest.skip(f"no space can be reserved here: {error}")
    asked = {"seconds": "100ms", "factor": "random", "passes": "2", **settings}
    run = api.run(
        "classic.sqlio", f"{file}?{query}", output=tmp_path / "a.teijo", settings=asked, seed=3
    )
    told = [answer.detail.get(UNWRITTEN, "-1") for _, answer in run.record.measured()]
    if "-1" in told:
        pytest.skip("this file system does not tell its unwritten extents")
    return named_on(page_of(run.document()))


def test_reads_of_a_reserved_file_are_named_with_their_size(
    tmp_path: Path,
) -> None:
    assert (
        "16 MiB of the file, 100.0 %"
        in of_file(tmp_path, "direct=no&holes=allow")["Unwritten blocks"]
    )


def test_buffered_reads_of_a_file_smaller_than_memory_are_named(
    tmp_path: Path,
) -> None:
    plain = of_file(tmp_path, "direct=no&holes=allow")
    assert any("page cache" in size for size in plain.values()), plain


def test_zeros_on_a_drive_that_compresses_and_repeated_passes_are_named_with_their_size(
    tmp_path: Path,
) -> None:
    settings = {"runs": "2", "size": "64MiB", "interval": "0s", "measure": "100ms", "data": "0fill"}
    drive = "sim:mlc-a?capacity=1GiB&compression=on"
    run = api.run("classic.crystaldiskmark", drive, output=tmp_path / "a.teijo", settings=settings)
    named = named_on(page_of(run.document()))
    assert "zlib takes 9" in named["Data that compress"]
    assert "100.0 % of the blocks" in named["Passes repeat their offsets"]
    assert "100.0 % of the sampled pieces" in named["Passes write the same data"]
    strict = {**settings, "strict": "on", "data": "random"}
    clean = api.run("classic.crystaldiskmark", drive, output=tmp_path / "b.teijo", settings=strict)
    assert named_on(page_of(clean.document())) == {}


def test_a_strict_run_writes_its_own_file_first_and_reads_no_block_that_never_was(
    tmp_path: Path,
) -> None:
    run = api.run(
        "classic.sqlio",
        f"{tmp_path / 'own.img'}?size=16MiB",
        output=tmp_path / "a.teijo",
        settings={"seconds": "100ms", "factor": "random", "passes": "2", "strict": "on"},
        seed=3,
    )
    assert "Unwritten blocks" not in named_on(page_of(run.document()))


def test_the_comparison_names_what_the_originals_own_page_names(tmp_path: Path) -> None:
    target, settings = TOOLS["tiotest"]
    runs = [
        api.run(
            "classic.tiotest",
            target,
            output=tmp_path / f"{strict}.teijo",
            settings={**settings, "strict": strict},
            seed=3,
        )
        for strict in ("off", "on")
    ]
    document = api.comparison_document(api.compare(runs, allow=["strict"]))
    told = text_of(document)
    for name, size in named_on(page_of(runs[0].document())).items():
        assert name in told
        assert size in told
