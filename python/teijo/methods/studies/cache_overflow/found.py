"""What a record of the study shows: its bursts, why the first one's rate fell, what came back."""

from collections.abc import Sequence
from functools import cached_property

from teijo import units
from teijo.analysis.overflow import fluid_bytes
from teijo.analysis.overflow_proof import CameBack, Verdict, came_back, verdict_of
from teijo.document.phrase import say
from teijo.methods.found import Found
from teijo.methods.studies.cache_overflow.bursts import (
    BURST,
    REST,
    Burst,
    bursts_of,
    first_burst,
    rests_after,
)
from teijo.methods.studies.cache_overflow.settings import OverflowSettings, stimulus_name
from teijo.terms.finding import Cell, Scalar
from teijo.terms.purge import NONE
from teijo.terms.step import Purge
from teijo.terms.watch import Watch


class OverflowFound(Found[OverflowSettings]):
    """What a record of the study shows, from the last purge or gap on."""

    @cached_property
    def bursts(self) -> tuple[Burst, ...]:
        """The bursts, the one under way among them."""
        return bursts_of(self.settings, self.record.geometry, self.exchanges)

    @property
    def first(self) -> Burst:
        """The first burst, once it has begun."""
        return self.bursts[0]

    @property
    def later(self) -> tuple[Burst, ...]:
        """The bursts after a rest."""
        return self.bursts[1:]

    @property
    def rounds(self) -> int:
        """How many bursts were begun."""
        return len(self.bursts)

    @cached_property
    def is_purged(self) -> bool:
        """Whether the last purge left the device as new, by its own word."""
        # A purge of what cannot be purged, as a file, is a step too: its answer says "none".
        purges = self.record.taken(Purge)
        return bool(purges) and purges[-1][1].detail.get("method", "none") != "none"

    @cached_property
    def verdict(self) -> Verdict | None:
        """Why the first burst fell; None where it did not, or has not begun."""
        if not self.bursts:
            return None
        return verdict_of(
            self.first.overflow,
            [each.again for each in self.later],
            sample_s=self.settings.sample_ns / units.NS_PER_S,
            capacity_bytes=self.record.geometry.nominal_capacity_bytes,
            is_purged=self.is_purged,
        )

    @property
    def is_saturated(self) -> bool:
        """Whether it was the drive that fell, and no cache."""
        return self.verdict is not None and self.verdict.cause == "saturation"

    def came_back(self, burst: Burst) -> CameBack | None:
        """Return what the rest before a later burst brought back; None where that is not known."""
        return came_back(self.first.overflow, burst.again)

    def model_bytes(self, burst: Burst) -> float | None:
        """Return the fluid model's V* of the cache's stated size, at the rates of this burst."""
        cliff, cache_bytes = burst.overflow.cliff, self.settings.cache_bytes
        if cliff is None or cache_bytes is None:
            return None
        return fluid_bytes(cache_bytes, cliff.before.value, cliff.after.value)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """Each burst's fall, and what each rest brought back; of a saturated drive no cache."""
        return tuple(
            Scalar(
                name=say("burst {n}: {figure}", n=burst.number, figure=name), value=value, unit=unit
            )
            for burst in self.bursts
            for name, value, unit in self._rows(burst)
            if not (self.is_saturated and "cache" in name)
        )

    def _rows(self, burst: Burst) -> list[tuple[str, float | None, str]]:
        overflow, cliff = burst.overflow, burst.overflow.cliff
        rows: list[tuple[str, float | None, str]] = [
            ("overflows", float(len(overflow.cliffs)), ""),
            ("written", overflow.written_bytes / units.GIGA, "GB"),
            ("rate over all", overflow.rate.value / units.MEGA, "MB/s"),
        ]
        if cliff is not None:
            rows += [
                ("written until the overflow (V*)", cliff.at_bytes / units.GIGA, "GB"),
                ("time until the overflow", cliff.at_s, "s"),
                ("rate before", cliff.before.value / units.MEGA, "MB/s"),
                ("rate after", cliff.after.value / units.MEGA, "MB/s"),
                ("cache", cliff.held.value / units.GIGA, "GB"),
                ("cache, half width of 95 %", gigabytes(cliff.held.half_width), "GB"),
                ("V* of the model", gigabytes(self.model_bytes(burst)), "GB"),
            ]
        rows += [
            ("stalls", float(len(overflow.stalls)), ""),
            ("longest stall", burst.longest_stall_s or 0.0, "s"),
        ]
        if burst.number > 1:
            back = self.came_back(burst)
            held = None if back is None else back.held.value
            rows.append(("cache that came back", gigabytes(held), "GB"))
        return rows

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """A cell for each burst, over all of it."""
        stimulus = stimulus_name(self.settings)
        return tuple(
            Cell(
                labels=(("burst", str(burst.number)), ("stimulus", stimulus)),
                iops=burst.overflow.rate.value / self.settings.block_size_bytes,
                throughput_mb_s=burst.overflow.rate.value / units.MEGA,
                latency_ns_mean=burst.latency_ns_mean,
                latency_ns_max=burst.latency_ns_max,
            )
            for burst in self.bursts
        )

    @property
    def watch_running(self) -> Watch:
        """Which burst is under way, and what its bounds leave of it."""
        settings, scale = self.settings, self.record.geometry.scale
        burst = self.bursts[-1] if self.bursts else first_burst(settings, self.record.geometry)
        number, over, planned = burst.number, burst.stop is not None, settings.rests_ns
        # A proof's rest follows from the first burst, so it is not known before that has ended.
        if over or number > 1:
            planned, _ = rests_after(settings, self.first.overflow)
        rests, count = planned[number - 1 :], len(planned) + 1
        left = 0 if over else max(0, burst.samples_most - burst.samples)
        most_ns = left * settings.sample_ns + sum(rests) + len(rests) * settings.most_ns
        begun = bool(self.bursts) or settings.purge == NONE
        return Watch(
            phase=REST if over and number < count else BURST if begun else "purge",
            round_number=number if begun else None,
            rounds_least=count,
            rounds_most=count,
            cell=stimulus_name(settings),
            remaining_ns_least=round(sum(rests) / scale),  # a burst may end any moment
            remaining_ns_most=round(most_ns / scale),
        )


def gigabytes(size_bytes: float | None) -> float | None:
    """Return a volume in GB, None of none."""
    return None if size_bytes is None else size_bytes / units.GIGA
