"""The text for a terminal says the verdict, the short tables and the remarks."""

from dataclasses import replace

from teijo.document.model import Section, Verdict
from teijo.report.text import render
from tests.report.samples import iops_document, wsat_document


def test_the_verdict_the_matrix_and_the_remarks_are_told() -> None:
    text = render(iops_document())
    assert "[+] STEADY STATE: YES, rounds 2–6" in text
    assert "0.5               1,122.3  1,162.2  1,654.6  1,965.6  2,717.7" in text
    assert "* capacity scaled (step 3)\n    Every volume was divided by 64.\n" in text
    assert "Serial no      S3X9NX0H401842" in text


def test_the_stamp_is_told_and_a_folded_table_is_not() -> None:
    text = render(wsat_document())
    assert "*** SIMULATED DEVICE ***" in text
    assert "[!] STEADY STATE: NO" in text
    assert "Minute" not in text


def test_no_line_of_the_sample_is_wider_than_asked_nor_ends_in_blanks() -> None:
    lines = render(iops_document(), width=100).splitlines()
    assert max(len(line) for line in lines) <= 100
    assert all(line == line.rstrip() for line in lines)


def test_the_sections_of_each_test_stand_behind_that_tests_own_header() -> None:
    document = iops_document()
    own = replace(document.header, title="Another test")
    theirs = Section(title="Its page", blocks=(Verdict(text="its answer", good=True),), header=own)
    told = render(replace(document, sections=(document.sections[0], theirs)))
    assert told.index("Another test") < told.index("Its page")
