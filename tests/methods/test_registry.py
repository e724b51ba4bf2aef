"""The registry, and what every method in it must keep."""

import subprocess
import sys

import pytest

from teijo.errors import PlanError
from teijo.methods.registry import CARDS, METHODS, Card, method_named
from tests.methods.canned import DRIVE


@pytest.mark.parametrize("name", ["pts.iops", "iops", "IOPS", " pts.iops "])
def test_a_method_is_found_by_its_id_or_its_last_part(name):
    assert method_named(name).id == "pts.iops"


def test_ids_and_short_names_are_different():
    names = [name for method in METHODS for name in {method.id, method.id.rpartition(".")[2]}]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("name", "nearest"), [("iosp", "iops"), ("pts.wsatt", "pts.wsat")])
def test_an_unknown_method_names_the_nearest_and_lists_all(name, nearest):
    with pytest.raises(PlanError) as caught:
        method_named(name)
    assert f"did you mean {nearest!r}" in str(caught.value)
    assert ", ".join(method.id for method in METHODS) in str(caught.value)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_what_it_is_and_its_default_is_one_of_its_versions(method):
    assert method.default_spec in (method.specs or ("",))
    assert method.settings("", {}, DRIVE).spec == method.default_spec


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)
def test_what_the_list_tells_of_a_method_is_what_the_method_says_of_itself(card: Card) -> None:
    method = method_named(card.id)
    told = (card.id, card.specs, card.default_spec)
    assert told == (method.id, method.specs, method.default_spec)


def test_a_list_of_methods_loads_none_of_them() -> None:
    code = (
        "import sys; from teijo.cli.app import app; app(['methods'], standalone_mode=False);"
        "print([name for name in ('numpy', 'teijo.methods.knobs', 'teijo.methods.workload')"
        " if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "[]"
