"""Remarks: a closed list, each with a remedy in a sentence."""

import pytest

from teijo.terms.remark import REMEDIES, Remark, RemarkKind


@pytest.mark.parametrize("kind", list(RemarkKind))
def test_every_remark_has_a_remedy(kind):
    assert REMEDIES[kind].endswith(".")


def test_a_remark_without_a_step_touches_the_whole_run():
    assert Remark(kind=RemarkKind.SIMULATED, text="so").step is None
