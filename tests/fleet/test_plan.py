"""What a plan may say, and that all that is wrong with it is named at once."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.errors import PlanError
from teijo.fleet.plan import Plan, plan_of, read_plan
from tests.fleet.plans import QUICK, plan

SIM = '[[targets]]\nsim = "mlc-a"\n'


def test_a_plan_of_one_rule_has_this_machine_as_its_host() -> None:
    found = plan(SIM)
    assert [host.name for host in found.host] == ["local"]
    assert found.settings_for(found.targets[0]) == {"seconds": "2", "rw": "randread"}


def test_the_settings_of_a_rule_come_before_those_of_the_plan() -> None:
    found = plan(SIM + "settings = { seconds = 3, purge = false }\n")
    settings = found.settings_for(found.targets[0])
    assert settings == {"seconds": "3", "rw": "randread", "purge": "off"}


def test_the_digest_is_of_what_a_plan_says_and_not_of_how_it_is_written() -> None:
    one = plan_of('fleet = "lab"\nmethod = "quick"\n' + SIM)
    other = plan_of("# a word\nmethod   = \"quick\"\nfleet = 'lab'\n" + SIM)
    assert one.digest == other.digest
    assert one.digest != plan_of('fleet = "lab2"\nmethod = "quick"\n' + SIM).digest
    assert one.digest != plan_of('fleet = "lab"\nmethod = "quick"\n' + SIM + "count = 1\n").digest


def test_all_that_is_wrong_with_a_plan_is_named_at_once() -> None:
    text = (
        'fleet = "lab"\nmethod = "quick"\nstagger = "soon"\n'
        '[[host]]\nname = "a"\n[[host]]\nname = "a"\n'
        '[[targets]]\nhosts = ["b"]\nsim = "mlc-a"\ncount = 3\n'
        '[[targets]]\nmodel = "X*"\nserials = ["S1"]\n'
        '[[targets]]\nfile = "f{n}"\ncount = 2\nspares = 2\n'
        "[[targets]]\nspares = 1\n"
    )
    with pytest.raises(PlanError) as refused:
        plan_of(text)
    told = "\n".join(refused.value.details)
    for word in ("'a' stands twice", "'soon' is no time", "no host 'b'", "no {n}, so all 3 are one",
                 "serials, model", "all 2 would be spares", "it has none"):  # fmt: skip
        assert word in told, word


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("fleet = 'lab'", "method: it is missing"),
        ('fleet = "../x"\nmethod = "quick"\n' + SIM, "fleet: it cannot be '../x'"),
        ('fleet = "lab"\nmethod = "quick"\nhook = "rm"\n' + SIM, "hook: it is no key of a plan"),
        ('fleet = "lab"\nmethod = "quick"\ntargets = []\n', "targets: it cannot be []"),
        ('fleet = "lab"\nmethod = "quick"\n' + SIM + "count = 0\n", "targets 1 count"),
        ('fleet = "lab"\nmethod = "quick"\n' + SIM + "count = 100000\n", "targets 1 count"),
    ],
)
def test_what_no_plan_can_say_is_refused_by_name(text: str, word: str) -> None:
    with pytest.raises(PlanError) as refused:
        plan_of(text)
    assert any(word in detail for detail in refused.value.details), refused.value.details


def test_a_file_that_is_no_plan_is_refused(tmp_path: Path) -> None:
    for name, data in (("none", None), ("bytes", b"\xff"), ("large", b"x" * (2 << 20))):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(PlanError):
            read_plan(tmp_path / name)


def test_simulated_drives_are_counted_on_from_host_to_host() -> None:
    found = plan('[[targets]]\nsim = "mlc-a?seed={n}"\ncount = 2\n').targets[0]
    assert found.numbers(0) == [(1, "sim:mlc-a?seed=1"), (2, "sim:mlc-a?seed=2")]
    assert found.numbers(1) == [(3, "sim:mlc-a?seed=3"), (4, "sim:mlc-a?seed=4")]


@given(st.text(max_size=300))
def test_any_text_is_a_plan_or_refused(text: str) -> None:
    for each in (text, f'fleet = "lab"\nmethod = {json.dumps(text)}\n{QUICK}{text}'):
        with suppress(PlanError):
            assert isinstance(plan_of(each), Plan)
