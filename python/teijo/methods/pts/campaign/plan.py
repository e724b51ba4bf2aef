"""Which tests a version's campaign has, in which order, and with which settings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel

from teijo import units
from teijo.conformance.versions import Version, version_of
from teijo.errors import PlanError
from teijo.methods import knobs
from teijo.methods.forms import Form
from teijo.methods.knobs import Knob, meaning
from teijo.methods.method import AnyMethod
from teijo.methods.registry import method_named
from teijo.methods.settings import Settings
from teijo.outside.names import unknown
from teijo.terms.geometry import Geometry

TESTS: Mapping[str, AnyMethod] = {
    name: method_named(f"pts.{name}")
    for name in ("iops", "tp", "lat", "wsat", "hir", "xsr", "cbw", "dirth")
}
"""The tests by their short names, in the order of the standard's chapters."""

_FIRST_EDITION = ("wsat", "iops", "tp", "lat")
"""The order of 1.0, whose chapters are others."""


class PartSettings(BaseModel, frozen=True, extra="forbid"):
    """One test of a campaign: its name in the campaign, its method, its own settings as JSON."""

    name: str
    test: str
    settings: dict[str, Any]

    @property
    def method(self) -> AnyMethod:
        """The test's method."""
        return TESTS[self.test]

    @property
    def own(self) -> Any:
        """The test's own settings."""
        return self.method.settings_from(self.settings)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip().lower() for part in text.split(",") if part.strip())
    if strange := [name for name in names if name not in TESTS]:
        raise ValueError(f"{strange[0]!r} is none of {', '.join(TESTS)}")
    if not names or len(set(names)) < len(names):
        raise ValueError("it names no test, or one of them twice")
    return names


class CampaignSettings(Settings, frozen=True):
    """The tests of one campaign, on the device at hand."""

    tests: Annotated[tuple[str, ...], Knob(Form(_names, ",".join), "tests=iops,tp,lat")] = meaning(
        "which tests; a setting of one test is written TEST.KEY=VALUE, "
        "and KEY=VALUE is for every test that has it"
    )
    parts: tuple[PartSettings, ...]

    @property
    def cache_asked(self) -> tuple[Literal["enabled", "disabled"], bool] | None:
        """What all of its tests ask for: they are one run on one drive."""
        return self.parts[0].own.cache_asked  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class _Case:
    """One test with what the campaign itself sets: the client's 2×2 of range and amount."""

    name: str
    test: str
    overrides: Mapping[str, str]


def tests_of(version: Version) -> tuple[str, ...]:
    """Return the tests a version requires, in its order; all of them where that is not known."""
    order = _FIRST_EDITION if version.layout == "1.0" else tuple(TESTS)
    known = [name for name in order if version.id in TESTS[name].specs]
    # Which tests 1.1 and 2.0.2 require could not be read, so all of them run.
    if version.required is None:
        return tuple(known)
    return tuple(name for name in known if TESTS[name].id in version.required)


def missing(settings: CampaignSettings) -> tuple[str, ...]:
    """Return the tests of the version's own campaign that this one leaves out."""
    return tuple(name for name in tests_of(version_of(settings.spec)) if name not in settings.tests)


def planned(spec: str, overrides: Mapping[str, str], geometry: Geometry) -> CampaignSettings:
    """Return the settings of a campaign."""
    version = version_of(spec)
    own = {key: text for key, text in overrides.items() if key.strip().lower() == "tests"}
    asked = knobs.parse_overrides(CampaignSettings, own)
    tests: tuple[str, ...] = asked.get("tests") or tests_of(version)
    if foreign := [name for name in tests if version.id not in TESTS[name].specs]:
        raise PlanError(
            f"{version.id} has no test {foreign[0]!r}",
            remedy=f"Its tests are {', '.join(tests_of(version))}.",
        )
    common, single = _sorted_out(overrides, tests)
    parts = []
    for case in _cases(tests, version):
        texts = {**common[case.test], **single[case.test]}
        _check_free(texts, case, version)
        texts |= case.overrides
        settings = TESTS[case.test].settings(version.id, texts, geometry)
        parts.append(
            PartSettings(name=case.name, test=case.test, settings=settings.model_dump(mode="json"))
        )
    return CampaignSettings(spec=version.id, tests=tests, parts=tuple(parts))


def _cases(tests: Iterable[str], version: Version) -> list[_Case]:
    rule = version.active_range
    amounts = [amount for amount in rule.allowed_amounts_bytes if amount is not None]
    if not amounts:
        return [_Case(name=test, test=test, overrides={}) for test in tests]
    return [
        _Case(
            name=f"{test} AR {share} % {units.format_size(amount)}",
            test=test,
            overrides={"active_range": str(share), "amount": str(amount)},
        )
        for test in tests
        for share in rule.allowed_percents
        for amount in amounts
    ]


def _check_free(texts: Mapping[str, str], case: _Case, version: Version) -> None:
    """Make sure that nothing is set that the version's campaign runs through by itself.

    Raises:
        PlanError: something is.
    """
    fields = knobs.fields_by_word(TESTS[case.test].settings_type)
    taken = {fields[key] for key in case.overrides}
    for key in texts:
        if fields.get(key.strip().lower().replace("-", "_")) in taken:
            raise PlanError(
                f"A campaign of {version.id} measures each test at every active range and amount "
                f"of the version, so {key} cannot be set",
                remedy="Run a test by itself to set it, or leave it out.",
            )


_Texts = dict[str, dict[str, str]]


def _sorted_out(overrides: Mapping[str, str], tests: Sequence[str]) -> tuple[_Texts, _Texts]:
    """Return the overrides for every test that has the setting, and those for one test alone."""
    words = {test: knobs.fields_by_word(TESTS[test].settings_type) for test in tests}
    common: _Texts = {test: {} for test in tests}
    single: _Texts = {test: {} for test in tests}
    for key, text in overrides.items():
        word = key.strip().lower().replace("-", "_")
        test, dot, inner = word.rpartition(".")
        if word == "tests":
            continue
        if dot and test not in tests:
            raise unknown("test of this campaign", test, tests)
        if dot:
            single[test][inner] = text
            continue
        having = [test for test in tests if word in words[test]]
        if not having:
            known = sorted(set().union(*words.values()))
            raise unknown("setting", key, ["tests", *known])
        for test in having:
            common[test][key] = text
    return common, single
