"""Tables are numbered over the document and thinned without losing their ends."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from teijo.report.tables import numbered_tables, thinned
from tests.report.samples import iops_document


def test_every_table_and_every_charts_table_is_numbered_in_order() -> None:
    tables = list(numbered_tables(iops_document()).values())
    assert [table.number for table in tables] == list(range(1, 9))
    assert [table.of_chart for table in tables] == [
        False,
        True,
        True,
        True,
        True,
        False,
        True,
        True,
    ]


def test_the_names_of_the_files_differ_and_are_plain() -> None:
    names = [table.file_name for table in numbered_tables(iops_document()).values()]
    assert len(set(names)) == len(names)
    assert names[1] == "02-steady-state-convergence-iops-at-r-w-0-100.csv"


@given(st.integers(1, 5000), st.integers(2, 500))
def test_thinning_keeps_the_ends_and_never_more_than_the_limit(count: int, limit: int) -> None:
    kept = thinned(count, limit)
    assert len(kept) == min(count, limit)
    assert (kept[0], kept[-1]) == (0, count - 1)
    assert all(later > earlier for earlier, later in itertools.pairwise(kept))
