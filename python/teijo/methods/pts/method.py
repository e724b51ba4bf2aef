"""What the tests of the PTS have in common as methods: their settings come from a version, and
what differs from it is a deviation.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from teijo.conformance.versions import DEFAULT_SPEC, SPECS, LoadRule, Version, version_of
from teijo.methods import knobs
from teijo.methods.load import check_blocks
from teijo.methods.method import Method
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import PtsFound
from teijo.methods.pts.settings import PtsSettings
from teijo.outside.names import unknown
from teijo.terms.geometry import Geometry
from teijo.terms.remark import Remark, RemarkKind

S = TypeVar("S", bound=PtsSettings)
F = TypeVar("F", bound=PtsFound[Any])


class PtsMethod(Method[S, F]):
    """A test of the standard."""

    specs = SPECS
    default_spec = DEFAULT_SPEC

    @abstractmethod
    def ruled(self, version: Version, geometry: Geometry) -> Mapping[str, Any]:
        """Return what the version has for this test: fields of its settings, and others perhaps."""

    def standard(self, version: Version, geometry: Geometry) -> S:
        """Return the settings as the version has them on this device, unchecked."""
        values = {
            **shared.shared_defaults(version, geometry, self.load(version)),
            **self.ruled(version, geometry),
        }
        fields = self.settings_type.model_fields
        return self.settings_type.model_validate(
            # A rule has more than settings: XSR's its load, DIRTH's the name of the composite.
            {name: value for name, value in values.items() if name in fields}
        )

    @abstractmethod
    def block_sizes_of(self, settings: S) -> tuple[int, ...]:
        """Return the block sizes that the test measures."""

    def check(self, settings: S, geometry: Geometry) -> None:
        """Make sure that the device can carry out the test.

        Raises:
            PlanError: it cannot.
        """
        blocks = self.block_sizes_of(settings)
        check_blocks(blocks, geometry)
        shared.check_range(settings, geometry, max(blocks))

    def free(self, settings: S, ruled: S) -> Mapping[str, object]:  # noqa: ARG002
        """Return the fields that are the operator's choice, with the values chosen."""
        return {}

    def load(self, version: Version) -> LoadRule:
        """Return the load that the version has for this test."""
        return version.load

    def dropped(
        self,
        version: Version,  # noqa: ARG002 — of the tests that drop none
        geometry: Geometry,  # noqa: ARG002
    ) -> Sequence[str]:
        """Return what the version asks for and this device cannot serve, a sentence each."""
        return ()

    def version(self, spec: str) -> Version:
        """Return the version by any of its names, the default where none is given.

        Raises:
            PlanError: there is none, or it has no such test.
        """
        version = version_of(spec or self.default_spec)
        if version.id not in self.specs:
            test = self.id.rpartition(".")[2].upper()
            raise unknown(f"version of the standard with {test}", spec, self.specs)
        return version

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> S:
        """Return the version's settings on this device, with the overrides."""
        version = self.version(spec)
        asked = knobs.parse_overrides(self.settings_type, overrides)
        asked = shared.with_pieces(asked, version, geometry)
        # Checked only now: an override, as a smaller amount, may be what makes it fit the device.
        settings = knobs.changed(self.standard(version, geometry), asked)
        self.check(settings, geometry)
        return settings

    def deviations(self, settings: S, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version, one remark each."""
        version = version_of(settings.spec)
        ruled = self.standard(version, geometry)
        # The operator's choices take the place of the version's values, and so differ in nothing.
        ruled = knobs.changed(ruled, self.free(settings, ruled))
        load = self.load(version)
        dropped = (
            Remark(kind=RemarkKind.DEVIATION, text=text) for text in self.dropped(version, geometry)
        )
        return (*shared.shared_deviations(settings, ruled, version, geometry, load), *dropped)


def more_rounds(settings: Any, ruled: Any, field: str = "rounds_most") -> dict[str, object]:
    """Return that more rounds than the version's are allowed: steady state may come later."""
    # At round 25 the standard lets the operator stop or go on; before it only steady state ends.
    return {field: max(getattr(settings, field), getattr(ruled, field))}
