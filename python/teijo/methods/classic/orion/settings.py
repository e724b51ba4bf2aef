"""The settings of ORION's test, by the original's words, and those of the strict test."""

from typing import Annotated, Final, Literal

from teijo import units
from teijo.methods import forms
from teijo.methods.classic.orion.points import Loads, Matrix, Point, Run, in_random_order, points_of
from teijo.methods.forms import Form
from teijo.methods.knobs import Knob, meaning
from teijo.methods.load import QUEUE_DEPTH_MOST
from teijo.methods.settings import Settings

DISKS_MOST: Final = 128
WARM_UP_NS: Final = 120 * units.NS_PER_S
"""How long the original warms caches before a large sequential point, where nothing is said."""
STRICT_PASSES: Final = 3
STRICT_RAMP_NS: Final = 5 * units.NS_PER_S
Order = Literal["original", "random"]

_LOAD: Final = forms.or_unset(forms.whole(0, QUEUE_DEPTH_MOST))
_LOADS: Final = forms.optional(forms.ascending(forms.whole_list(1, QUEUE_DEPTH_MOST, "loads")), ())


def _cache(text: str) -> int:
    return 0 if text.strip() == "0" else forms.SIZE.parse(text)


class OrionSettings(Settings, frozen=True):
    """One test of ORION. Its sizes are given with a unit: `size_small=8KiB` is its 8."""

    run: Annotated[
        Run, Knob(forms.one_of("simple", "normal", "advanced", "oltp", "dss"), "run=oltp")
    ] = meaning("the run level: simple, normal, advanced, oltp or dss", "simple")
    matrix: Annotated[
        Matrix,
        Knob(forms.one_of("basic", "detailed", "point", "col", "row", "max"), "matrix=detailed"),
    ] = meaning("which points there are, of run=advanced", "basic")
    num_disks: Annotated[int, Knob(forms.whole(1, DISKS_MOST), "num_disks=4")] = meaning(
        "what the loads are multiples of; it selects no disks", 1
    )
    size_small_bytes: Annotated[int, Knob(forms.BLOCK_SIZE, "size_small=8KiB")] = meaning(
        "the size of a small I/O", 8 * units.KIB
    )
    size_large_bytes: Annotated[int, Knob(forms.BLOCK_SIZE, "size_large=1MiB")] = meaning(
        "the size of a large I/O", units.MIB
    )
    large_type: Annotated[Literal["rand", "seq"], Knob(forms.one_of("rand", "seq"), "type=seq")] = (
        meaning("the order of the large I/Os, rand or seq; small ones are always random", "rand")
    )
    stream_depth: Annotated[int, Knob(forms.whole(1, 256), "num_streamio=4")] = meaning(
        "outstanding I/Os of each large sequential stream", 4
    )
    write_percent: Annotated[int, Knob(forms.percent(0, 100), "write=20")] = meaning(
        "share of writes among small and large I/Os alike", 0
    )
    cache_bytes: Annotated[
        int | None, Knob(forms.or_unset(Form(_cache, forms.SIZE.show)), "cache_size=512MiB")
    ] = meaning(
        "what is moved, unmeasured, before each large sequential point; 0 is nothing, none two "
        "minutes of it",
        None,
    )
    duration_ns: Annotated[int, Knob(forms.DURATION, "duration=60s", ("seconds",))] = meaning(
        "how long each point is measured", 60 * units.NS_PER_S
    )
    num_small: Annotated[int | None, Knob(_LOAD, "num_small=4")] = meaning(
        "small I/Os outstanding, of matrix=point, col and max", None
    )
    num_large: Annotated[int | None, Knob(_LOAD, "num_large=2")] = meaning(
        "large I/Os or streams outstanding, of matrix=point, row and max", None
    )
    small_loads: Annotated[tuple[int, ...], Knob(_LOADS, "small_loads=1,2,4,8")] = meaning(
        "loads of small I/Os in place of the original's", ()
    )
    large_loads: Annotated[tuple[int, ...], Knob(_LOADS, "large_loads=1,2,4", ("dss_loads",))] = (
        meaning("loads of large I/Os in place of the original's", ())
    )
    range_percent: Annotated[int, Knob(forms.percent(1, 100), "active_range=80", ("range",))] = (
        meaning("share of the target that is touched, from its start, in percent", 100)
    )
    strict: Annotated[forms.OnOff, Knob(forms.ON_OFF, "strict=on")] = meaning(
        "on sets the six below to what an honest test needs, off to what the original does", "off"
    )
    passes: Annotated[int, Knob(forms.whole(1, 100), "passes=3", ("runs",))] = meaning(
        "how often all points are measured (strict: 3)", 1
    )
    order: Annotated[Order, Knob(forms.one_of("original", "random"), "order=random")] = meaning(
        "original is large alone, then small, each growing; random is drawn for each pass (strict)",
        "original",
    )
    shuffle: Annotated[int, Knob(forms.whole(0, 2**53 - 1), "shuffle=7")] = meaning(
        "the seed of the random order", 1
    )
    prepare: Annotated[forms.YesNo, Knob(forms.YES_NO, "prepare=yes")] = meaning(
        "whether the range is written once first, so that reads meet written blocks (strict: yes)",
        "no",
    )
    ramp_ns: Annotated[int, Knob(forms.PAUSE, "ramp=5s")] = meaning(
        "how long each point runs before it is measured (strict: 5s)", 0
    )
    deeper: Annotated[forms.OnOff, Knob(forms.ON_OFF, "deeper=on")] = meaning(
        "whether loads go on to 32 small and 8 large I/Os a disk (strict: on)", "off"
    )

    @property
    def loads(self) -> Loads:
        """What decides the points."""
        return Loads(
            run=self.run,
            matrix=self.matrix,
            disks=self.num_disks,
            num_small=self.num_small,
            num_large=self.num_large,
            small=self.small_loads,
            large=self.large_loads,
            deeper=self.deeper == "on",
        )

    def points_in(self, number: int) -> tuple[Point, ...]:
        """Return the points in the order of a pass."""
        points = points_of(self.loads)
        return points if self.order == "original" else in_random_order(points, self.shuffle, number)

    @property
    def writes(self) -> bool:
        """Whether any step writes."""
        return self.write_percent > 0 or self.prepare == "yes"

    def large_outstanding(self, large: int) -> int:
        """Return the large I/Os in flight at a load of so many I/Os or streams."""
        return large * (self.stream_depth if self.large_type == "seq" else 1)
