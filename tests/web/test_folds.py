"""Long tables that are folded are text, and everything else of a report is as it was."""

from teijo.web.folds import LONG_CHARACTERS, folded

ROWS = "<tr><td>1</td></tr>" * (LONG_CHARACTERS // 10)


def fold(table: str) -> str:
    return f"<details><summary>Data</summary><div>{table}</div></details>"


def test_a_long_table_in_a_fold_is_text() -> None:
    table = f"<table>{ROWS}</table>"
    as_text = f'<script type="text/plain" class="folded">{table}</script>'
    assert folded(f"<p>a</p>{fold(table)}<p>b</p>") == f"<p>a</p>{fold(as_text)}<p>b</p>"


def test_a_short_one_and_one_in_no_fold_stay() -> None:
    for sections in (fold("<table><tr></tr></table>"), f"<table>{ROWS}</table>"):
        assert folded(sections) == sections


def test_text_that_would_end_the_element_keeps_the_table_as_it_is() -> None:
    sections = fold(f"<table>{ROWS}</script></table>")
    assert folded(sections) == sections
