"""What passes of tiotest's phases show."""

from collections.abc import Sequence
from dataclasses import dataclass

from teijo.methods.classic.phases import PhasesFound
from teijo.methods.classic.tiotest.settings import Combination, TioSettings


@dataclass(frozen=True, kw_only=True)
class TioFound(PhasesFound[TioSettings]):
    """What a record of classic.tiotest or classic.tiobench shows."""

    @property
    def course(self) -> Sequence[tuple[int, str]]:
        """The pass and the name of each phase, in their order."""
        return tuple(
            (number, self.settings.cell(combination, phase))
            for combination in self.settings.combinations
            for number in range(1, self.settings.passes + 1)
            for phase in self.settings.phases
        )

    def cells_of(self, combination: Combination) -> dict[str, str]:
        """Return the names that the phases of one combination have in the record."""
        return {phase: self.settings.cell(combination, phase) for phase in self.settings.phases}
