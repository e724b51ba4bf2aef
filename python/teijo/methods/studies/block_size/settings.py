"""The settings of the study `block-size`. No time here is divided by a device's scale: how
long an I/O takes does not scale.
"""

from typing import Annotated, Final

from teijo import units
from teijo.methods import forms, load
from teijo.methods.forms import ascending, whole, whole_list
from teijo.methods.knobs import Knob, meaning
from teijo.methods.settings import Settings
from teijo.terms.workload import ActiveRange, Content

SIZES: Final = tuple(512 << power for power in range(12))
"""512 B to 1 MiB."""
LOADS: Final = (1, 2, 4, 10, 32)
LOAD_MOST: Final = 1024


class BlockSizeSettings(Settings, frozen=True):
    """Sizes by loads, one mix, measured in blocks: each has every cell once, in its own order."""

    block_sizes_bytes: Annotated[
        tuple[int, ...],
        Knob(ascending(forms.BLOCK_SIZES), "sizes=1KiB,2KiB,4KiB,8KiB", ("bs", "block_sizes")),
    ] = meaning("block sizes of the matrix", SIZES)
    loads: Annotated[
        tuple[int, ...],
        Knob(ascending(whole_list(1, LOAD_MOST, "loads")), "loads=1,4,16", ("outstanding", "qd")),
    ] = meaning("outstanding I/Os of the matrix, of one thread", LOADS)
    read_percent: Annotated[int, Knob(forms.MIX, "mix=100/0", ("mixes",))] = meaning(
        "R/W mix of the matrix, random; 100/0 writes nothing", 80
    )
    duration_ns: Annotated[int, Knob(forms.DURATION, "seconds=5s", ("runtime", "duration"))] = (
        meaning("how long a cell is measured, each time", 2 * units.NS_PER_S)
    )
    repeats: Annotated[int, Knob(whole(1, 1_000), "repeats=3")] = meaning(
        "how often each cell is measured; an interval needs two", 5
    )
    warm_up: Annotated[int, Knob(whole(0, 100), "warm_up=0")] = meaning(
        "blocks of all cells before those that count", 1
    )
    fill_times: Annotated[int, Knob(whole(0, 100), "fill=2")] = meaning(
        "times the range is written in order before; 0 where the mix writes nothing", 1
    )
    random_times: Annotated[int, Knob(whole(0, 100), "random_fill=1")] = meaning(
        "times the range's size is written at random, 4 KiB, after that", 0
    )
    active_range_percent: load.RangePercent = 100
    probe: Annotated[forms.OnOff, Knob(forms.ON_OFF, "probe=off", ("alignment",))] = meaning(
        "whether I/Os shifted by half their size look for the device's unit: on or off", "on"
    )
    content: load.DataPattern = Content.RANDOM
    order: Annotated[int, Knob(whole(0, 2**32), "order=2")] = meaning(
        "number that the cells' order is drawn from", 1
    )

    @property
    def blocks(self) -> int:
        """Blocks in all, those of the warm-up among them."""
        return self.warm_up + self.repeats

    @property
    def active_range(self) -> ActiveRange:
        """The range of every I/O."""
        return ActiveRange(share_percent=self.active_range_percent)
