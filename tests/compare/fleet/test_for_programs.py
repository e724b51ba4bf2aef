"""A fleet as programs read it: whole, and of plain values."""

import json

from teijo.compare.fleet.chosen import chosen_from
from teijo.compare.fleet.findings import Fleet
from teijo.compare.fleet.for_programs import fleet_json
from tests.compare.fleet.made import fleet_of
from tests.compare.fleet.test_pages import full


def test_all_that_the_report_says_is_in_it() -> None:
    found = json.loads(json.dumps(fleet_json(full())))
    assert found["schema"] == "teijo.fleet/1"
    assert [each["name"] for each in found["drives"]] == [each.name for each in full().drives]
    assert [each["values"] for each in found["figures"]] == [
        full().column(spread.key) for spread in full().spreads
    ]
    assert {each["drive"] for each in found["differ"]["drives"]} == {"bay-0005"}
    assert [each["name"] for each in found["in_common"]] == [
        "host", "firmware", "slot", "temperature",
    ]  # fmt: skip
    (limit,) = found["limits"]
    assert (limit["met"], len(limit["not_met"])) == (23, 1)
    assert [each["ending"] for each in found["unfinished"]] == ["interrupted"]
    assert {each["file"] for each in found["left_out"]} == {"x.teijo", "d0025.teijo"}
    assert found["deviations"][0]["allowed_as"] == "oio"


def test_what_is_not_known_is_null() -> None:
    few = json.loads(json.dumps(fleet_json(Fleet(chosen=chosen_from(fleet_of(3))))))
    assert few["differ"]["judged"] is False
    assert few["differ"]["scatter"] is None
    assert few["in_common"] == []
    assert few["drives"][0]["slot"] is None
