"""What passes of Bonnie++'s phases show, and the times that its texts are printed from."""

from collections.abc import Sequence
from dataclasses import dataclass

from teijo.methods.classic.bonnie.settings import BonnieSettings
from teijo.methods.classic.phases import PhasesFound, Turn


@dataclass(frozen=True, kw_only=True)
class BonnieFound(PhasesFound[BonnieSettings]):
    """What a record of classic.bonnie shows."""

    @property
    def course(self) -> Sequence[tuple[int, str]]:
        """The pass and the name of each phase, in their order."""
        passes = range(1, self.settings.passes + 1)
        return tuple((number, name) for number in passes for name in self.settings.phases)

    def of_pass(self, number: int) -> dict[str, Turn]:
        """Return the phases of one pass, those that were done."""
        return {
            name: turn
            for name, turns in self.turns.items()
            for turn in turns
            if turn.step.round_number == number
        }
