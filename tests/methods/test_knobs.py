"""Settings as people write them: shown and read back, aliased, and refused with a reason."""

from typing import Any

import pytest

from teijo.errors import PlanError
from teijo.methods.forms import BLOCK_SIZES, DURATION, MIX, MIXES, SIZE, Form, show_number
from teijo.methods.knobs import describe, knobs_of, parse_overrides
from teijo.methods.registry import METHODS
from tests.methods.canned import DRIVE

ALL = [(method, spec) for method in METHODS for spec in (method.specs or ("",))]


@pytest.mark.parametrize(("method", "spec"), ALL)
def test_every_field_but_the_version_can_be_set_and_is_explained(method, spec):
    settings = method.settings(spec, {}, DRIVE)
    fields = set(type(settings).model_fields) - {"spec", "parts"}  # parts are settings themselves
    assert fields == set(knobs_of(type(settings)))
    for setting in describe(settings):
        assert setting.meaning
        assert setting.field in fields


@pytest.mark.parametrize(("method", "spec"), ALL)
def test_what_is_shown_reads_back_as_the_same_settings(method, spec):
    settings = method.settings(spec, {}, DRIVE)
    shown = {
        each.key: each.value
        for each in describe(settings)
        if each.value != "none" and each.key not in ("amount", "segments")
    }
    assert method.settings(spec, shown, DRIVE).model_dump() == settings.model_dump()


@pytest.mark.parametrize("method", METHODS)
def test_every_example_is_accepted_under_every_name(method):
    model = type(method.settings("", {}, DRIVE))
    words: list[str] = []
    for field, knob in knobs_of(model).items():
        for word in (*knob.names, field, knob.key.replace("_", "-")):
            assert field in parse_overrides(model, {word: knob.example})
        words += knob.names
    assert len(words) == len(set(words)), "no two settings share a name"


@pytest.mark.parametrize(
    ("value", "text"),
    [(60_000_000_000, "60s"), (250_000_000, "250ms"), (1_500, "1500ns"), (2_000, "2us")],
)
def test_a_duration_is_shown_as_it_is_read(value, text):
    check_form(DURATION, value, text)


@pytest.mark.parametrize(
    ("value", "text"), [(512, "512"), (4096, "4KiB"), (8 << 30, "8GiB"), (1 << 40, "1TiB")]
)
def test_a_size_is_shown_as_it_is_read(value, text):
    check_form(SIZE, value, text)


def check_form(form: Form[Any], value: object, text: str) -> None:
    assert form.show(value) == text
    assert form.parse(text) == value


def test_lists_are_shown_as_the_standard_writes_them():
    check_form(BLOCK_SIZES, (1 << 20, 512), "1024KiB,0.5KiB")
    check_form(BLOCK_SIZES, (1 << 30, 4096), "1048576KiB,4KiB")
    check_form(MIXES, (100, 65, 0), "100/0,65/35,0/100")


def test_where_one_mix_is_asked_for_a_second_is_not_passed_over():
    check_form(MIX, 65, "65/35")
    with pytest.raises(ValueError, match="more than one mix"):
        MIX.parse("65/35,0/100")


@pytest.mark.parametrize("text", ["", ",", "60/30", "x/y", "-10/110", "100"])
def test_a_mix_must_add_up(text):
    with pytest.raises(ValueError, match=r"names no|add up to 100"):
        MIXES.parse(text)


@pytest.mark.parametrize("method", METHODS)
def test_an_unknown_setting_lists_the_valid_ones(method):
    with pytest.raises(PlanError) as caught:
        method.settings("", {"colour": "blue"}, DRIVE)
    for knob in knobs_of(type(method.settings("", {}, DRIVE))).values():
        assert knob.key in caught.value.remedy


@pytest.mark.parametrize("method", [method for method in METHODS if not method.specs])
def test_a_method_that_follows_no_standard_has_no_version(method):
    with pytest.raises(PlanError, match=f"{method.id} follows no standard"):
        method.settings("2.0.2", {}, DRIVE)


@pytest.mark.parametrize("value", [5.0, 0.5, 1_234_567.0, 1.2345678, 1e-7, 123_456_789.25])
def test_a_number_is_shown_so_that_it_reads_back_as_itself(value: float) -> None:
    assert float(show_number(value)) == value
