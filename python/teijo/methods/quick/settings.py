"""The settings of a quick look, and the eight tests it is made of."""

from dataclasses import dataclass
from typing import Annotated, Final

from teijo import units
from teijo.methods.forms import DURATION, SIZE, YES_NO, YesNo, whole
from teijo.methods.knobs import Knob, meaning
from teijo.methods.settings import Settings
from teijo.terms.result import Direction
from teijo.terms.step import Measure, Precondition
from teijo.terms.workload import Access, ActiveRange, Stream, Workload

PHASE: Final = "pass"
PREPARE: Final = "prepare"
# Eight tests of five passes and their rests of a second then take about a minute.
PASS_NS: Final = 1_250_000_000
REST_NS: Final = units.NS_PER_S
AMOUNT_BYTES: Final = units.GIB
PASSES_LEAST, PASSES_MOST = 2, 100  # of a single pass there is no ±
DIRECTIONS: Final[tuple[Direction, ...]] = ("read", "write")


@dataclass(frozen=True, kw_only=True)
class Stimulus:
    """One row of the table, as CrystalDiskMark names it: "RND 4 KiB Q32T1"."""

    access: Access
    block_size_bytes: int
    queue_depth: int

    @property
    def name(self) -> str:
        """Order, block size, queue depth and threads."""
        order = "SEQ" if self.access is Access.SEQUENTIAL else "RND"
        return f"{order} {units.format_size(self.block_size_bytes)} Q{self.queue_depth}T1"


# The four tests of CrystalDiskMark, whose names the rows have.
STIMULI: Final = (
    Stimulus(access=Access.SEQUENTIAL, block_size_bytes=units.MIB, queue_depth=8),
    Stimulus(access=Access.SEQUENTIAL, block_size_bytes=units.MIB, queue_depth=1),
    Stimulus(access=Access.RANDOM, block_size_bytes=4 * units.KIB, queue_depth=32),
    Stimulus(access=Access.RANDOM, block_size_bytes=4 * units.KIB, queue_depth=1),
)


class QuickSettings(Settings, frozen=True):
    """How long each pass is, how many there are, where they go, and whether anything is written."""

    passes: Annotated[int, Knob(whole(PASSES_LEAST, PASSES_MOST), "passes=5", ("loops",))] = (
        meaning("how often each test is repeated, with new offsets each time", 5)
    )
    pass_ns: Annotated[int, Knob(DURATION, "seconds=1250ms", ("duration", "runtime"))] = meaning(
        "how long one pass of one test lasts", PASS_NS
    )
    rest_ns: Annotated[int, Knob(DURATION, "rest=1s")] = meaning(
        "how long the target is left alone between two tests", REST_NS
    )
    amount_bytes: Annotated[int, Knob(SIZE, "amount=1GiB", ("size",))] = meaning(
        "how much of the target is touched, from its start", AMOUNT_BYTES
    )
    writing: Annotated[YesNo, Knob(YES_NO, "writes=no")] = meaning(
        "yes, or no to read alone, which needs no consent", "yes"
    )
    prepare: Annotated[YesNo, Knob(YES_NO, "prepare=no")] = meaning(
        "whether the amount is written once first, so that reads meet written blocks", "yes"
    )

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Reads come first, before the writes have changed the state of the device."""
        return DIRECTIONS if self.writing == "yes" else ("read",)

    @property
    def cells(self) -> tuple[tuple[Stimulus, Direction], ...]:
        """Every test in every direction, in order of the table."""
        return tuple((stimulus, direction) for direction in self.directions for stimulus in STIMULI)


def cell_name(stimulus: Stimulus, direction: Direction) -> str:
    """Return the name of a cell: "RND 4 KiB Q32T1 read"."""
    return f"{stimulus.name} {direction}"


def measure_of(
    settings: QuickSettings, stimulus: Stimulus, direction: Direction, pass_number: int
) -> Measure:
    """Return one pass of one test. A sequential stream goes on where its last pass ended."""
    return Measure(
        workload=_workload(settings, stimulus, direction),
        duration_ns=settings.pass_ns,
        phase=PHASE,
        round_number=pass_number,
        cell=cell_name(stimulus, direction),
    )


def preparation_of(settings: QuickSettings, capacity_bytes: int) -> Precondition | None:
    """Return the writing of the whole amount, None where nothing is written first."""
    if settings.writing == "no" or settings.prepare == "no":
        return None
    return Precondition(
        workload=_workload(settings, STIMULI[0], "write", name=PREPARE),
        total_bytes=min(settings.amount_bytes, capacity_bytes),
        phase=PREPARE,
    )


def _workload(
    settings: QuickSettings, stimulus: Stimulus, direction: Direction, *, name: str = ""
) -> Workload:
    stream = Stream(
        # A name of its own gives each test a cursor of its own, which its passes share.
        name=name or cell_name(stimulus, direction),
        read_percent=100 if direction == "read" else 0,
        block_size_bytes=stimulus.block_size_bytes,
        access=stimulus.access,
        queue_depth=stimulus.queue_depth,
        active_range=ActiveRange(amount_bytes=settings.amount_bytes),
    )
    return Workload(streams=(stream,))
