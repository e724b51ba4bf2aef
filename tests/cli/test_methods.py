"""The verb `methods` shows every method, and every setting as it can be typed back."""

import json

import pytest

from teijo.cli import methods
from teijo.methods.knobs import knobs_of
from teijo.methods.method import AnyMethod
from teijo.methods.registry import METHODS
from teijo.terms.geometry import Geometry

DRIVE = Geometry(capacity_bytes=10**12, nominal_capacity_bytes=10**12)


def test_every_method_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    methods.verb()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[0] == "METHOD"
    assert [line.split()[0] for line in lines[1:]] == [method.id for method in METHODS]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.id)
def test_every_setting_is_shown_with_its_default(
    method: AnyMethod, capsys: pytest.CaptureFixture[str]
) -> None:
    methods.verb(method.id, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    settings = method.settings(method.default_spec, {}, DRIVE)
    assert {one["key"] for one in shown["settings"]} == {
        knob.key for knob in knobs_of(type(settings)).values()
    }
    methods.verb(method.id)
    text = capsys.readouterr().out
    assert all(one["key"] in text and one["meaning"] in text for one in shown["settings"])


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.id)
def test_a_default_that_is_shown_can_be_typed(method: AnyMethod) -> None:
    settings = method.settings(method.default_spec, {}, DRIVE)
    for field, knob in knobs_of(type(settings)).items():
        value = getattr(settings, field)
        if value is not None:
            assert knob.form.parse(knob.form.show(value)) == value, knob.key


def test_another_version_has_other_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    methods.verb("iops", spec="2.0.2-enterprise", as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert {one["key"]: one["default"] for one in shown["settings"]}["queue_depth"] == "32"
