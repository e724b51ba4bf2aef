"""The verb `calibrate`: figures of this host, for people and for programs."""

import json

import pytest

from teijo import api
from teijo.engine import Ceilings
from tests.cli.conftest import Teijo


def test_it_prints_what_the_host_does_at_best(teijo: Teijo) -> None:
    code, out, err = teijo("calibrate", "--seconds", "0.02")
    assert (code, err) == (0, "")
    assert "engine's loop" in out
    assert "memory copied" in out


def test_programs_get_every_figure_in_ns(teijo: Teijo) -> None:
    code, out, _ = teijo("calibrate", "--seconds", "0.02", "--json")
    assert code == 0
    found = Ceilings(**json.loads(out))
    # Which of them is smaller depends on what else the host does for these 20 ms.
    assert min(found.loop_ns, found.loop_ns_deep, found.copy_bytes_per_second) > 0


def test_a_kernel_that_refuses_a_ring_has_no_such_ceiling(
    teijo: Teijo, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Ceilings(
        nop_ns=0.0, nop_ns_deep=0.0, loop_ns=50.0, loop_ns_deep=10.0, copy_bytes_per_second=1e9
    )
    monkeypatch.setattr(api, "calibrate", lambda _: refused)
    assert "not to be had" in teijo("calibrate")[1]
    assert "100,000,000 IOPS" in teijo("calibrate")[1]
