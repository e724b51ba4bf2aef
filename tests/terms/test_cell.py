"""Cells by what they are: equal keys are one cell, and the record's text follows from the key."""

from teijo.terms.cell import MatrixCell, mix_name


def test_a_cell_has_the_text_of_the_record_the_stimulus_of_the_standard_and_its_place() -> None:
    cell = MatrixCell(read_percent=65, block_size_bytes=65536)
    assert cell.name == "65/35 64 KiB"
    assert cell.stimulus == "RND 64 KiB 65/35"
    assert cell.labels == (("r/w mix", "65/35"), ("block size", "64 KiB"))
    assert {cell: 1}[MatrixCell(read_percent=65, block_size_bytes=65536)] == 1


def test_a_mix_is_written_reads_first() -> None:
    assert [mix_name(percent) for percent in (100, 65, 0)] == ["100/0", "65/35", "0/100"]
