"""Phrases: English to everybody, template and values to a translator."""

import pytest

from teijo.document.phrase import Phrase, say, sentences


def test_a_phrase_is_its_english_text() -> None:
    phrase = say("{iops:,.1f} IOPS in {rounds}", iops=1234.56, rounds=say("{n} rounds", n=5))
    assert phrase == "1,234.6 IOPS in 5 rounds"
    assert isinstance(phrase, str)


def test_a_phrase_remembers_its_template_and_its_values_as_they_were() -> None:
    inner = say("{n} rounds", n=5)
    phrase = say("steady in {rounds}", rounds=inner)
    assert (phrase.template, phrase.values) == ("steady in {rounds}", {"rounds": inner})
    assert isinstance(phrase.values["rounds"], Phrase)


def test_a_value_that_is_not_given_is_an_error_at_once() -> None:
    with pytest.raises(KeyError):
        say("{rounds} rounds", round=5)


def test_sentences_are_one_paragraph_and_each_remembers_itself() -> None:
    first, last = say("{n} falls.", n=2), say("It holds {size}.", size="25 GB")
    phrase = sentences((first, last))
    assert phrase == "2 falls. It holds 25 GB."
    assert isinstance(phrase, Phrase)
    assert (phrase.values["first"], phrase.values["rest"]) == (first, last)
    assert sentences((first,)) is first
    assert sentences(()) == ""
