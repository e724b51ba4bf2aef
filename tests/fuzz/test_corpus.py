"""What a campaign found, and one input of each kind of refusal, is read or refused ever after."""

import json
import random
from pathlib import Path

import pytest

from tests.fuzz.campaign import campaign, feed
from tests.fuzz.targets import TARGETS, Target

CORPUS = Path(__file__).with_name("corpus")
DRAWN = ("record", "run-file")
"""Targets whose inputs depend on a run file made now: some are drawn instead."""


def inputs_of(target: Target) -> list[str | bytes]:
    """Return the corpus of a target."""
    if target.name in DRAWN:
        dice = random.Random(2)
        return [target.make(dice) for _ in range(12)]
    rows = json.loads((CORPUS / f"{target.name}.json").read_text("utf-8"))
    if target.name == "histogram":
        return [bytes.fromhex(row) for row in rows]
    return list(rows)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_input_of_the_corpus_is_read_or_refused(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fed = [(given, feed(target, given)) for given in inputs_of(target)]
    assert [each for each in fed if each[1] not in ("read", "refused")] == []
    assert len(fed) >= 10


def test_a_campaign_finds_a_fault_and_cuts_it_down() -> None:
    def breaks(given: str | bytes) -> object:
        return given[1] if "[" in str(given) and len(given) > 3 else None

    def fails(given: str | bytes) -> object:
        assert "[[" not in str(given)
        return breaks(given)

    words = Target("words", 1.0, lambda dice: "x" * dice.randrange(9) + "[[" + "y" * 40, fails)
    tally = campaign(words, 20, seed=1)
    assert tally.counts.total() == 20
    assert list(tally.faults.values()) == ["[["]
