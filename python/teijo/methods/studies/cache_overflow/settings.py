"""The settings of the study `cache-overflow`, and the stimulus it drives.

Volumes and times are those of the full-size device; a device simulated at a scale has them divided
by it. Rates are never scaled.
"""

import math
from typing import Annotated, Final, Literal

from teijo import units
from teijo.methods import forms, load
from teijo.methods.drive_settings import purge_of, purge_or
from teijo.methods.forms import Form, optional, show_number
from teijo.methods.knobs import Knob, meaning
from teijo.methods.settings import Settings
from teijo.methods.workload import words as workload_words
from teijo.terms.geometry import Geometry
from teijo.terms.workload import Access, ActiveRange, Rate, Stream, Workload

RESTS_MOST: Final = 20
SAMPLES_A_STEP: Final = 10
FLAT_SAMPLES_LEAST: Final = 10


def _rate(text: str) -> int:
    """Return bytes per second of "110MB/s"."""
    word = text.strip().lower().removesuffix("/s").strip()
    if word.replace(".", "", 1).isdecimal():
        raise ValueError("it has no unit")
    return forms.SIZE.parse(word)


def _show_rate(value: int) -> str:
    return f"{show_number(value / units.MEGA)}MB/s"


def _rests(text: str) -> tuple[int, ...]:
    rests = tuple(forms.DURATION.parse(part.strip()) for part in text.split(",") if part.strip())
    if not 1 <= len(rests) <= RESTS_MOST:
        raise ValueError(f"it names none, or more than {RESTS_MOST}")
    return rests


def _show_rests(value: tuple[int, ...]) -> str:
    return ",".join(map(forms.DURATION.show, value))


class OverflowSettings(Settings, frozen=True):
    """The numbers of one run. `volume_bytes` None is the active range once over."""

    rw: Annotated[
        Literal["write", "randwrite"], Knob(forms.one_of("write", "randwrite"), "rw=randwrite")
    ] = meaning("order of the writes: write (sequential, as a copy) or randwrite", "write")
    block_size_bytes: Annotated[int, Knob(forms.BLOCK_SIZE, "bs=1MiB", ("block_size",))] = meaning(
        "block size", 128 * units.KIB
    )
    threads: load.Threads = 1
    queue_depth: load.QueueDepth = 8
    rate_bytes_per_second: Annotated[
        int | None, Knob(optional(Form(_rate, _show_rate)), "rate=110MB/s", ("source",))
    ] = meaning(
        "what the source of the data delivers, or none: as fast as the device takes it", None
    )
    content: workload_words.ContentText = "random"
    active_range_percent: load.RangePercent = 100
    purged: Annotated[str, Knob(purge_or("yes", "no"), "purge=no")] = meaning(
        "whether the device is purged first, so that the first burst finds it fresh: yes, no, or "
        "a method by its name",
        "yes",
    )
    volume_bytes: Annotated[int | None, Knob(optional(forms.VOLUME), "volume=64GB", ("bytes",))] = (
        meaning("what a burst writes at most, or none: the active range once over", None)
    )
    most_ns: Annotated[int, Knob(forms.DURATION, "seconds=30min", ("time", "duration"))] = meaning(
        "how long a burst lasts at most", 3600 * units.NS_PER_S
    )
    flat_ns: Annotated[int | None, Knob(optional(forms.DURATION), "flat=5min")] = meaning(
        "a burst ends when the rate has been level for so long after its fall, or none",
        180 * units.NS_PER_S,
    )
    rests_ns: Annotated[
        tuple[int, ...],
        Knob(optional(Form(_rests, _show_rests), ()), "rest=1min,10min", ("idle",)),
    ] = meaning("idle times, each followed by another burst, or none", ())
    proof: Annotated[forms.OnOff, Knob(forms.ON_OFF, "proof=off")] = meaning(
        "whether an overflow is followed by a rest and another burst, which tell a "
        "cache from a drive's own saturation, where rest asks for none: on or off",
        "on",
    )
    cache_bytes: Annotated[int | None, Knob(optional(forms.VOLUME), "cache=25GB")] = meaning(
        "what the cache is said to hold, for the model beside the measurement, or none", None
    )
    sample_ns: Annotated[int, Knob(forms.DURATION, "sample=100ms")] = meaning(
        "how long a sample of the series is", units.NS_PER_S
    )

    @property
    def purge(self) -> str:
        """The method of the purge, NONE for no purge."""
        return purge_of(self.purged)

    @property
    def workload(self) -> Workload:
        """The one stream, in the field's words."""
        content, percent = workload_words.parse_content(self.content)
        rate = self.rate_bytes_per_second
        stream = Stream(
            read_percent=0,
            block_size_bytes=self.block_size_bytes,
            access=Access.SEQUENTIAL if self.rw == "write" else Access.RANDOM,
            threads=self.threads,
            queue_depth=self.queue_depth,
            active_range=ActiveRange(share_percent=self.active_range_percent),
            content=content,
            content_percent=percent,
            rate=None if rate is None else Rate(ios_per_second=rate / self.block_size_bytes),
        )
        return Workload(streams=(stream,))

    def scaled_ns(self, nominal_ns: int, geometry: Geometry) -> int:
        """Return how long a time of the full-size device is on this one."""
        return max(1, round(nominal_ns / geometry.scale))

    def limit_bytes(self, geometry: Geometry) -> int:
        """Return what a burst writes at most, in bytes of the full-size device."""
        span = self.workload.streams[0].active_range.span_on(geometry)
        return self.volume_bytes or round(span * geometry.scale)

    @property
    def samples_most(self) -> int:
        """How many samples a burst has at most."""
        return max(1, math.ceil(self.most_ns / self.sample_ns))

    @property
    def flat_samples(self) -> int | None:
        """How many samples in a row must be level to end a burst."""
        if self.flat_ns is None:
            return None
        return max(FLAT_SAMPLES_LEAST, math.ceil(self.flat_ns / self.sample_ns))


def stimulus_name(settings: OverflowSettings) -> str:
    """Return the stimulus in one line: "write 128 KiB, 1 × 8, 110 MB/s"."""
    block = units.format_block_size(settings.block_size_bytes)
    rate = settings.rate_bytes_per_second
    source = "" if rate is None else f", {rate / units.MEGA:g} MB/s"
    return f"{settings.rw} {block}, {settings.threads} × {settings.queue_depth}{source}"
