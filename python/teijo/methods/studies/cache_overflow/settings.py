"""What the study `cache-overflow` may be asked for, and the stimulus it drives.

Volumes and times are those of the full-size device; a device simulated at a scale has them divided
by it. Rates are never scaled.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Final, Literal

from teijo import units
from teijo.errors import PlanError
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.pts import settings as shared
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
    return knobs.size(word)


def _show_rate(value: object) -> str:
    if value is None:
        return "none"
    assert isinstance(value, int)
    return f"{value / units.MEGA:g}MB/s"


def _show_volume(value: object) -> str:
    """Show bytes as `size` reads them back, in decimal units where they are whole."""
    assert value is None or isinstance(value, int)
    for unit, name in ((1000**4, "TB"), (1000**3, "GB"), (1000**2, "MB")):
        if value and value % unit == 0:
            return f"{value // unit}{name}"
    return knobs.show_size(value)


def _rests(text: str) -> tuple[int, ...]:
    if text.strip().lower() == "none":
        return ()
    rests = tuple(knobs.duration(part.strip()) for part in text.split(",") if part.strip())
    if not 1 <= len(rests) <= RESTS_MOST:
        raise ValueError(f"it names none, or more than {RESTS_MOST}")
    return rests


def _show_rests(value: object) -> str:
    assert isinstance(value, tuple)
    return ",".join(knobs.show_duration(each) for each in value) or "none"


volume_knob = partial(Knob, parse=knobs.optional(knobs.size), show=_show_volume)


class OverflowSettings(Settings, frozen=True):
    """The numbers of one run. `volume_bytes` None is the active range once over."""

    rw: Annotated[
        Literal["write", "randwrite"],
        Knob(
            key="rw",
            meaning="order of the writes: write (sequential, as a copy) or randwrite",
            example="randwrite",
            parse=knobs.one_of("write", "randwrite"),
        ),
    ] = "write"
    block_size_bytes: Annotated[
        int,
        Knob(
            key="bs",
            aliases=("block_size",),
            meaning="block size",
            example="1MiB",
            parse=knobs.block_size,
            show=knobs.show_size,
        ),
    ] = 128 * units.KIB
    threads: shared.Threads = 1
    queue_depth: shared.QueueDepth = 8
    rate_bytes_per_second: Annotated[
        int | None,
        Knob(
            key="rate",
            aliases=("source",),
            meaning="what the source of the data delivers, or none: as fast as the device takes it",
            example="110MB/s",
            parse=knobs.optional(_rate),
            show=_show_rate,
        ),
    ] = None
    content: Annotated[
        str,
        Knob(
            key="content",
            meaning="what is written: random, refill, compressible:PERCENT, dedup:PERCENT or zero",
            example="compressible:40",
            parse=workload_words.content,
        ),
    ] = "random"
    active_range_percent: shared.RangePercent = 100
    purged: Annotated[
        Literal["yes", "no"],
        Knob(
            key="purge",
            meaning="whether the device is purged first, so that the first burst finds it fresh",
            example="no",
            parse=knobs.one_of("yes", "no"),
        ),
    ] = "yes"
    volume_bytes: Annotated[
        int | None,
        volume_knob(
            key="volume",
            aliases=("bytes",),
            meaning="what a burst writes at most, or none: the active range once over",
            example="64GB",
        ),
    ] = None
    most_ns: Annotated[
        int,
        knobs.time_knob(
            key="seconds",
            aliases=("time", "duration"),
            meaning="how long a burst lasts at most",
            example="30min",
        ),
    ] = 3600 * units.NS_PER_S
    flat_ns: Annotated[
        int | None,
        knobs.time_knob(
            key="flat",
            meaning="a burst ends when the rate has been level for so long after its fall, or none",
            example="5min",
            parse=knobs.optional(knobs.duration),
            show=lambda value: "none" if value is None else knobs.show_duration(value),
        ),
    ] = 180 * units.NS_PER_S
    rests_ns: Annotated[
        tuple[int, ...],
        Knob(
            key="rest",
            aliases=("idle",),
            meaning="idle times, each followed by another burst, or none",
            example="1min,10min",
            parse=_rests,
            show=_show_rests,
        ),
    ] = ()
    proof: Annotated[
        Literal["on", "off"],
        Knob(
            key="proof",
            meaning="whether an overflow is followed by a rest and another burst, which tell a "
            "cache from a drive's own saturation, where rest asks for none: on or off",
            example="off",
            parse=knobs.one_of("on", "off"),
        ),
    ] = "on"
    cache_bytes: Annotated[
        int | None,
        volume_knob(
            key="cache",
            meaning="what the cache is said to hold, for the model beside the measurement, or none",
            example="25GB",
        ),
    ] = None
    sample_ns: Annotated[
        int,
        knobs.time_knob(
            key="sample", meaning="how long a sample of the series is", example="100ms"
        ),
    ] = units.NS_PER_S

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
        span = self.workload.streams[0].active_range.span_bytes(
            geometry.capacity_bytes, geometry.physical_block_bytes
        )
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


def settings_of(overrides: Mapping[str, str], geometry: Geometry) -> OverflowSettings:
    """Return the settings that `--set` asks for on this device.

    Raises:
        PlanError: an unknown key, a bad value, a block the device cannot serve, samples so short
            that they are nothing on a device of this scale.
    """
    asked = knobs.parse_overrides(OverflowSettings, overrides)
    settings = OverflowSettings.model_validate(asked)
    shared.check_blocks((settings.block_size_bytes,), geometry)
    span = settings.workload.streams[0].active_range.span_bytes(
        geometry.capacity_bytes, geometry.physical_block_bytes
    )
    if settings.block_size_bytes > span:
        raise PlanError(
            f"A block of {units.format_block_size(settings.block_size_bytes)} does not fit in "
            f"{settings.active_range_percent} % of {units.format_size(geometry.capacity_bytes)}",
            remedy="Set a smaller bs, a larger active_range, or take a larger device.",
        )
    if settings.scaled_ns(settings.sample_ns, geometry) < units.NS_PER_MS:
        raise PlanError(
            f"sample={knobs.show_duration(settings.sample_ns)}: at the device's scale of "
            f"1:{geometry.scale:.3g} that is less than a millisecond",
            remedy="Set a longer sample, or ?scale=1.",
        )
    return settings


def stimulus_name(settings: OverflowSettings) -> str:
    """Return the stimulus in one line: "write 128 KiB, 1 × 8, 110 MB/s"."""
    block = units.format_block_size(settings.block_size_bytes)
    rate = settings.rate_bytes_per_second
    source = "" if rate is None else f", {rate / units.MEGA:g} MB/s"
    return f"{settings.rw} {block}, {settings.threads} × {settings.queue_depth}{source}"
