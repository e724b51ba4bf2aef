"""The verb `steady`: the standard's determination for numbers from anywhere."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Teijo

SLC_B = "346.22 346.16 346.61 338.03 296.00 285.18 252.63 268.06 235.99 243.71 232.93 258.44"
"""SEQ 128 KiB writes of a drive in the whitepaper (figure 21), MB/s: steady at rounds 8–12."""


def test_a_drive_of_the_whitepaper_stops_at_round_twelve_and_no_earlier(teijo: Teijo) -> None:
    code, out, err = teijo("steady", "--json", *SLC_B.split())
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert (told["stops_at"], told["window"]) == (12, [8, 12])
    (variable,) = told["variables"]
    assert variable["average"] == pytest.approx(247.826)
    assert [one["steady"] for one in variable["windows"]] == [False] * 7 + [True]
    seventh = variable["windows"][6]
    assert seventh["range_ok"]
    assert seventh["slope_percent"] == pytest.approx(10.34, abs=0.005)


def test_a_series_that_does_not_stop_has_nulls_and_all_its_windows(teijo: Teijo) -> None:
    told = json.loads(teijo("steady", "--json", *SLC_B.split()[:-1])[1])
    assert (told["steady"], told["stops_at"], told["window"]) == (False, None, None)
    (variable,) = told["variables"]
    assert variable["average"] is None
    assert len(variable["windows"]) == 7


def test_four_rounds_have_no_window_and_say_so(teijo: Teijo) -> None:
    assert json.loads(teijo("steady", "--json", 1, 1, 1, 1)[1])["variables"][0]["windows"] == []
    assert "a window has five" in teijo("steady", 1, 1, 1, 1)[1]


def test_people_see_every_window_with_what_failed(teijo: Teijo) -> None:
    out = teijo("steady", "--unit", "MB/s", *SLC_B.split())[1]
    assert "STEADY STATE: YES, rounds 8–12; it stops at round 12" in out
    assert out.count("no: slope") == 4
    assert out.count("no: range, slope") == 3


def test_the_verdict_is_the_same_in_every_unit(teijo: Teijo) -> None:
    # As doubles, a hundredth of these values is beyond the limit by the last bit.
    for unit in ("9{0} 11{0} 10{0} 11{0} 9{0}".format("0" * n) for n in range(4)):
        assert json.loads(teijo("steady", "--json", *unit.split())[1])["steady"]
    typed = "0.9 1.1 1.0 1.1 0.9"
    assert json.loads(teijo("steady", "--json", *typed.split())[1])["steady"]
    assert "20.00" in teijo("steady", *typed.split())[1]


def test_json_has_one_shape_for_one_variable_and_for_several(teijo: Teijo, tmp_path: Path) -> None:
    path = sheet(tmp_path, "a,b\n" + "100,50\n" * 5)
    one = json.loads(teijo("steady", "--csv", path, "--column", "a", "--json")[1])
    both = json.loads(teijo("steady", "--csv", path, "--column", "a", "--column", "b", "--json")[1])
    typed = json.loads(teijo("steady", "--json", 1, 2)[1])
    assert one.keys() == both.keys() == typed.keys()
    shapes = [each.keys() for told in (one, both, typed) for each in told["variables"]]
    assert len(shapes) == 1 + 2 + 1
    assert all(shape == shapes[0] for shape in shapes)


@pytest.mark.parametrize(
    ("values", "code"),
    [("1 1 1 1 1", 0), ("1 2 3 4 5", 10), ("1 1 1 1", 10), (SLC_B, 0)],
    ids=["flat", "rising", "too few", "the whitepaper's"],
)
def test_a_script_learns_the_verdict_from_the_exit_code(
    teijo: Teijo, values: str, code: int
) -> None:
    checked, out, _ = teijo("steady", "--check", *values.split())
    plain, same, _ = teijo("steady", *values.split())
    assert (checked, plain) == (code, 0)
    assert out == same


def test_a_picture_is_drawn_where_it_is_asked_for(teijo: Teijo, tmp_path: Path) -> None:
    code, out, _ = teijo("steady", *SLC_B.split(), "--report", "html,csv", "-o", tmp_path)
    assert code == 0
    assert out.split() == [
        str(tmp_path / "steady-state.html"),
        str(tmp_path / "steady-state-tables"),
    ]
    assert "measurement window" in (tmp_path / "steady-state.html").read_text()


def sheet(folder: Path, text: str | bytes) -> Path:
    path = folder / "rounds.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "round,IOPS 4K\n1,100\n2,101\n3,99.5\n4,100\n5,100\n",
        "round;IOPS 4K\n1;100\n2;101\n3;99,5\n4;100\n5;100\n;\n",
        "\ufeffround\tIOPS 4K\r\n1\t100\r\n2\t101\r\n3\t99.5\r\n4\t100\r\n5\t100\r\n",
    ],
    ids=["commas", "semicolons and decimal commas", "tabs of a Windows sheet"],
)
def test_a_column_of_a_sheet_is_read_as_its_sheet_writes(
    teijo: Teijo, tmp_path: Path, text: str
) -> None:
    out = teijo("steady", "--csv", sheet(tmp_path, text), "--column", "IOPS 4K", "--json")[1]
    assert json.loads(out)["variables"][0]["windows"][0]["values"] == [100, 101, 99.5, 100, 100]


def test_several_columns_are_steady_in_one_window_or_not_at_all(
    teijo: Teijo, tmp_path: Path
) -> None:
    rows = "\n".join(f"{100},{100 if n > 2 else 50}" for n in range(1, 9))
    path = sheet(tmp_path, f"a,b\n{rows}\n")
    told = json.loads(teijo("steady", "--csv", path, "--column", "a", "--column", "b", "--json")[1])
    assert (told["stops_at"], told["window"]) == (7, [3, 7])
    assert [each["average"] for each in told["variables"]] == [100, 100]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,b\n1,2\n", "no column 'c'"),
        ("c,c\n1,2\n", "column 'c' twice"),
        ("c\n1\nmany\n", "'many' (line 3, column c)"),
        ("b,c\n1,1\n2,\n3,3\n", "'' (line 3, column c)"),
        ("c\n", "No values"),
        ("", "is empty"),
        ("b;c\n1;1,234\n", "may be 1234 or 1.234"),
        (b"\xff\xfe\x00", "not a text"),
    ],
)
def test_a_sheet_that_cannot_be_read_is_an_error_that_names_the_place(
    teijo: Teijo, tmp_path: Path, text: str | bytes, complaint: str
) -> None:
    code, out, err = teijo("steady", "--csv", sheet(tmp_path, text), "--column", "c")
    assert (code, out) == (2, "")
    assert complaint in err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "No numbers"),
        (("1", "two"), "'two' (round 2)"),
        (("1", "nan"), "'nan' (round 2)"),
        (("1e308", "1e308", "1e308", "1e308", "1e308"), "'1e308' (round 1)"),
        (("1", "1_000"), "'1_000' (round 2)"),
        (("1", "1e-300"), "'1e-300' (round 2)"),
        (("1" * 401,), "is not a number"),
        (("--column", "a"), "no file"),
        (("--csv", "gone.csv", "--column", "a"), "cannot be read"),
        (("--csv", "gone.csv"), "Which column"),
        (("1", "--csv", "gone.csv"), "both"),
        (("1", "--report", "docx"), "no report format"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(
    teijo: Teijo, arguments: tuple[str, ...], complaint: str
) -> None:
    code, out, err = teijo("steady", *arguments)
    assert (code, out) == (2, "")
    assert complaint in err
