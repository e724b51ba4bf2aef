"""Targets of a fleet that several hosts share: named in the plan, reached by the command line."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo import api
from teijo.api.own_process import PROGRAM
from teijo.errors import PlanError
from teijo.fleet.order import Order
from teijo.terms.shared import hosts_in, parts_in
from teijo.units import MIB
from tests.fleet.conftest import Said
from tests.fleet.plans import plan

TWO = f"two={shlex.join([sys.executable, *PROGRAM])}"
RULE = """\
fleet = "lab"
method = "workload"
settings = {{ rw = "randrw", read = "50", bs = "4KiB", bytes = "2MiB" }}
[[targets]]
file = "{folder}/shared.img?size=4MiB"
shared_by = ["two"]
"""


def order(**more: object) -> Order:
    given = {"number": 1, "host": "a", "name": "x", "target": "/x", "method": "workload",
             "seed": 1, "run": "x.teijo"} | more  # fmt: skip
    return Order.model_validate(given)


def test_the_words_of_a_shared_run_name_its_hosts_before_the_words_of_the_plan() -> None:
    reach = {"b": "ssh b teijo", "c": "ssh c teijo"}
    for words in (
        order(shared_by=["b", "c"]).words("/r", reach=reach),
        order(shared_by=["b", "c"]).words_to_resume("/r", reach=reach),
    ):
        hosts = [words[at + 1] for at, word in enumerate(words) if word == "--host"]
        assert hosts == ["here", "b=ssh b teijo", "c=ssh c teijo"]
    words = order(shared_by=["b"]).words("/r", reach=reach)
    assert words.index("--host") < words.index("--")
    assert "--host" not in order().words("/r", reach=reach)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ('sim = "mlc-a"\nshared_by = ["b"]\n', "a simulated device is in one process"),
        ('file = "/x"\nshared_by = ["b", "b"]\n', "shared_by: 'b' stands twice"),
        ('file = "/x"\nshared_by = ["ssh b; rm"]\n', "shared_by"),
    ],
)
def test_a_plan_that_shares_what_nobody_can_share_is_refused(rule: str, why: str) -> None:
    with pytest.raises(PlanError) as refused:
        plan(f"[[targets]]\n{rule}")
    assert any(why in detail for detail in refused.value.details)


def test_a_fleet_measures_a_file_from_two_hosts_and_a_plan_names_no_program(
    scratch: Path, teijo: Callable[..., Said]
) -> None:
    path, folder = scratch / "plan.toml", scratch / "lab"
    path.write_text(RULE.format(folder=scratch))
    for reach in ((), ("--reach", "three=x"), ("--reach", "two=x", "--reach", "three=x")):
        code, _, err = teijo("fleet", "run", path, "-o", folder, *reach)
        assert (code, "not those of --reach" in err) == (2, True), err
        assert not folder.exists()
    code, out, err = teijo("fleet", "run", path, "-o", folder, "--reach", TWO)
    assert code == 0, err
    record = api.open(Path(out.strip())).record
    assert [host.name for host in hosts_in(record.environment)] == ["here", "two"]
    (answer,) = record.answers
    assert [part.bytes for part in parts_in(answer.detail)] == [MIB, MIB]
    code, _, err = teijo("fleet", "resume", folder)
    assert (code, "two: nobody says how it is reached" in err) == (2, True), err
    assert teijo("fleet", "resume", folder, "--reach", TWO)[0] == 0
