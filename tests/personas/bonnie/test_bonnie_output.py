"""Bonnie++'s text and CSV, byte for byte as 1.03e, 1.97 and 2.00a print them."""

import csv
import shutil
import subprocess

import pytest

from teijo.personas.bonnie import output
from tests.personas.bonnie.samples import NEW, OLD, OLDER, SAMPLES, Sample

EACH = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)


@EACH
def test_the_text_is_the_originals(sample: Sample) -> None:
    assert output.text(sample.asked, sample.timings) == sample.text


@EACH
def test_the_csv_is_the_originals(sample: Sample) -> None:
    assert output.csv(sample.asked, sample.timings) == sample.csv


@EACH
def test_a_line_of_csv_has_as_many_fields_as_its_version(sample: Sample) -> None:
    (row,) = csv.reader([output.csv(sample.asked, sample.timings)])
    assert len(row) == {"1.03": 27, "1.97": 48, "2.00": 50}[sample.asked.version]


def test_the_names_of_2_00_are_two_fewer_than_its_fields() -> None:
    names = {version: output.header(version).count(",") + 1 for version in ("1.03", "1.97", "2.00")}
    assert names == {"1.03": 27, "1.97": 48, "2.00": 48}


@pytest.mark.parametrize("tool", ["bon_csv2html", "bon_csv2txt"])
@pytest.mark.parametrize("sample", [NEW, OLDER], ids=["2.00a", "1.97"])
def test_debians_own_readers_read_our_csv_as_they_read_the_originals(
    tool: str, sample: Sample
) -> None:
    program = shutil.which(tool)
    if program is None:
        pytest.skip(f"{tool} is not installed (Debian: bonnie++)")
    ours, theirs = (
        subprocess.run(
            [program], input=line, capture_output=True, text=True, timeout=60, check=True
        ).stdout
        for line in (output.csv(sample.asked, sample.timings), sample.csv)
    )
    assert ours == theirs
    # Readers of 2.00 leave out the lines of 1.97, ours and the original's.
    assert ("seedtest" in ours) == (sample is NEW)


def test_what_1_03_prints_is_read_back_by_its_own_rule() -> None:
    cells = output.csv(OLD.asked, OLD.timings).rstrip().split(",")
    assert cells[2:4] == ["1214", "99"]
    assert cells[12:14] == ["445.8", "2"]
