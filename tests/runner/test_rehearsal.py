"""A run rehearsed on paper leaves a record that its method finds figures in."""

import pytest

from teijo.compare.limits import known_in
from teijo.methods.registry import METHODS, method_named
from teijo.runner.rehearsal import rehearsed
from tests.methods.canned import DRIVE


@pytest.mark.parametrize("name", ["quick", "workload", "iops", "lat", "tp"])
def test_a_rehearsal_has_the_figures_that_a_run_will_have(name):
    method = method_named(name)
    settings = method.settings(method.default_spec, {}, DRIVE)
    record = rehearsed(method, settings, DRIVE)
    assert record.run.ending == "done"
    assert {"iops"} <= {each.name for each in known_in(record)}


def test_it_has_no_more_steps_than_the_run_would_have():
    method = next(each for each in METHODS if each.id == "quick")
    settings = method.settings("", {}, DRIVE)
    assert len(rehearsed(method, settings, DRIVE).steps) == 1 + 8 + 40
