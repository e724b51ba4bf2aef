"""Notes: a closed list, each with its meaning, kept among the facts of the environment."""

from teijo.terms.run_note import MEANINGS, RunNote, as_facts, noted


def test_every_note_has_a_meaning() -> None:
    assert set(MEANINGS) == set(RunNote)


def test_a_note_is_found_again_among_the_facts_and_is_no_fact_of_the_host() -> None:
    facts = {"cpu": "two"} | as_facts({RunNote.HBA: "SAS 9300"})
    assert noted(facts, RunNote.HBA) == "SAS 9300"
    assert noted(facts, RunNote.VENDOR) == ""
    assert noted({"hba": "of the host"}, RunNote.HBA) == ""
