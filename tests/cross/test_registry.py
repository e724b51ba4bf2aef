"""The crossed tables leave no method out: whoever adds one is told where to give it settings."""

from teijo.methods.registry import CARDS
from tests.cross.subjects import CLASSIC, SUBJECTS


def test_every_method_of_the_registry_has_small_settings_here() -> None:
    missing = {card.id for card in CARDS} - {subject.method for subject in SUBJECTS}
    assert not missing, (
        f"give {', '.join(sorted(missing))} settings of milliseconds in tests/cross/subjects.py: "
        "then it is killed in each kind of its steps, and crossed with every verb in CLASSIC"
    )


def test_every_classic_method_is_crossed_with_every_verb() -> None:
    classic = {card.id for card in CARDS if card.id.startswith("classic.")}
    assert {subject.method for subject in CLASSIC} >= classic
