"""Personas are found by the names their originals are typed by."""

import pytest

from teijo.errors import PlanError, UsageError
from teijo.personas.registry import CARDS, check_like, loaded, persona_named


def test_every_persona_is_found_by_each_of_its_names_and_says_the_same_names():
    for card in CARDS:
        for name in card.names:
            assert persona_named(name) is loaded(card)
        assert loaded(card).names == card.names


def test_no_two_personas_have_one_name():
    names = [name for card in CARDS for name in card.names]
    assert len(set(names)) == len(names)


def test_an_unknown_tool_is_refused_by_its_name():
    with pytest.raises(PlanError, match="iozone"):
        persona_named("iozone")


def test_a_version_that_a_persona_does_not_know_is_refused_with_those_it_does():
    class Some:
        likes = ("11.1", "10.2")

    check_like("orion", Some(), "")
    check_like("orion", Some(), "10.2")
    with pytest.raises(UsageError, match=r"9\.9") as refused:
        check_like("orion", Some(), "9.9")
    assert "11.1, 10.2" in refused.value.remedy
