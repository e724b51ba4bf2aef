"""The reports of all methods, each made once for the tests that read it."""

from typing import Any

import pytest

from teijo.document.model import Document
from teijo.methods.parts import document_of
from teijo.methods.registry import METHODS
from teijo.terms.record import Record
from tests.methods.canned import Canned, play
from tests.report.english import data_of


def canned_runs() -> list[Any]:
    """Every method under its newest and its oldest version, on a steady drive and on another.

    The campaign of all methods says the words of each again, so it is played once.
    """
    return [
        pytest.param((method, spec, steady), id=f"{method.id} {spec} {steady}")
        for method in METHODS
        for spec in dict.fromkeys((*method.specs[:1], *method.specs[-1:])) or ("",)
        for steady in ("steady", "never")
        if method.id != "pts.all" or (spec == method.specs[-1] and steady == "steady")
    ]


@pytest.fixture(scope="session", params=canned_runs())
def canned_run(request: pytest.FixtureRequest) -> tuple[Record, frozenset[str]]:
    """Give the record of one of `canned_runs`, and the texts in it that are data."""
    method, spec, steady = request.param
    device = Canned(rate=lambda step: 5_000.0)
    device.rate = lambda step: 5_000.0 if steady == "steady" else 5_000.0 + 40 * len(device.asked)
    record = play(method, device, spec=spec).record
    return record, data_of(record, method.settings_from(record.run.settings))


@pytest.fixture(scope="session")
def canned_report(canned_run: tuple[Record, frozenset[str]]) -> tuple[Document, frozenset[str]]:
    """Give the report of one of `canned_runs`, and the texts in it that are data."""
    record, data = canned_run
    return document_of(record), data
