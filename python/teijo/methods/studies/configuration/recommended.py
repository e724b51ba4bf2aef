"""The setting that is recommended, and its evidence: how it does in each workload beside the
configuration that is fastest there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from teijo.analysis.difference import difference_of
from teijo.document.model import Block, Column, Paragraph, Section, Table, Value
from teijo.document.phrase import Verbatim, listed, say, sentences
from teijo.methods.studies.configuration.answer import effects_of
from teijo.methods.studies.configuration.cached import ALIKE_SHARE, Cached
from teijo.methods.studies.configuration.design import Cell, cells_of
from teijo.methods.studies.configuration.judged import Judged
from teijo.methods.studies.configuration.settings import ConfigurationSettings


@dataclass(frozen=True, kw_only=True)
class Share:
    """One workload: the recommended configuration's mean rate, the fastest one's and its name.

    `behind` is whether the two differ by more than chance, by more than equal configurations do,
    and by so much that it is seen.
    """

    judged: Judged
    rate: float
    best: float
    best_name: str
    behind: bool
    cached: bool


@dataclass(frozen=True, kw_only=True)
class Recommended:
    """A configuration, by the factors that make a difference; and what it is by the slowest one,
    in the geometric mean over the workloads, each counted alike.
    """

    cell: Cell
    levels: tuple[tuple[str, str], ...]
    free: tuple[str, ...]
    """The factors of which no level can be told from another."""
    slowest: Cell
    times: float
    shares: tuple[Share, ...]


def recommended_of(
    settings: ConfigurationSettings, found: Sequence[Judged], cached: Sequence[Cached]
) -> Recommended | None:
    """Return the configuration with the highest geometric mean of its rates over all workloads;
    None where no factor makes a difference, a workload is not judged, or the control fails.
    """
    effects = effects_of(settings, found)
    failed = any(each.control is not None and each.control.shown for each in found)
    if not effects or failed or any(each.variance is None for each in found):
        return None
    telling = {effect.factor for effect in effects}
    means = [each.rates.values.mean(axis=-1) for each in found]
    idle = tuple(axis for axis in range(len(settings.factors)) if axis not in telling)
    scores = np.mean([np.log(each) for each in means], axis=0)
    told = scores.mean(axis=idle, keepdims=True) + np.zeros_like(scores)
    cells = cells_of(settings)
    best, worst = int(np.argmax(told)), int(np.argmin(told))
    cell = cells[best]
    names = [name for name, _ in settings.factors]
    return Recommended(
        cell=cell,
        levels=tuple(cell.levels[axis] for axis in sorted(telling)),
        free=tuple(names[axis] for axis in idle),
        slowest=cells[worst],
        times=float(np.exp(scores.reshape(-1)[best] - scores.reshape(-1)[worst])),
        shares=tuple(_share(each, cells, best, cached, place) for place, each in enumerate(found)),
    )


def _share(
    judged: Judged, cells: Sequence[Cell], at: int, cached: Sequence[Cached], place: int
) -> Share:
    values = judged.rates.values.reshape(len(cells), -1)
    means = values.mean(axis=-1)
    best = int(np.argmax(means))
    found = None if best == at else difference_of(values[at].tolist(), values[best].tolist())
    equal = max(ALIKE_SHARE, judged.noise_percent / 100)
    levels = [level for _, level in cells[at].levels]
    return Share(
        judged=judged,
        rate=float(means[at]),
        best=float(means[best]),
        best_name=cells[best].name,
        behind=found is not None and found.shown and means[best] > means[at] * (1 + equal),
        cached=any(
            each.workload == place and _level_place(judged, cells, at, each.factor) == each.level
            for each in cached
        )
        and bool(levels),
    )


def _level_place(judged: Judged, cells: Sequence[Cell], at: int, factor: int) -> int:
    """Return which level of a factor a cell has."""
    shape = judged.rates.values.shape[:-1]
    return int(np.unravel_index(cells[at].place, shape)[factor])


def sentence(found: Recommended | None) -> str:
    """Return the setting that is recommended with its evidence, or that none is."""
    if found is None:
        return (
            "No setting is recommended: nothing makes a difference that can be told from noise, or "
            "the control failed."
        )
    parts: list[str] = [
        say(
            "Recommended: {setting}. In the geometric mean over all {count} workloads it is "
            "{times:,g} × the slowest ({slowest}); in {first} of them nothing was faster by more "
            "than chance.",
            setting=listed(Verbatim(f"{name}={level}") for name, level in found.levels),
            count=len(found.shares),
            times=float(f"{found.times:.3g}"),
            slowest=Verbatim(found.slowest.name),
            first=sum(not each.behind for each in found.shares),
        )
    ]
    behind = [each for each in found.shares if each.behind]
    if behind:
        worst = min(behind, key=lambda each: each.rate / each.best)
        parts.append(
            say(
                "It loses most for {workload}: {percent:.0f} % of the rate with {best}.",
                workload=Verbatim(worst.judged.rates.stream.name),
                percent=100 * worst.rate / worst.best,
                best=Verbatim(worst.best_name),
            )
        )
    if any(each.cached for each in found.shares):
        parts.append("That holds for as much as the cache takes; beyond it nothing was measured.")
    if found.free:
        parts.append(
            say("Of {factors} take any.", factors=listed(Verbatim(name) for name in found.free))
        )
    return sentences(parts)


def section(found: Recommended | None) -> Section:
    """Return the last page of the study: the setting, and every workload as its evidence."""
    blocks: list[Block] = [Paragraph(text=sentence(found))]
    if found is not None:
        rows: list[tuple[Value, ...]] = [
            (
                Verbatim(each.judged.rates.stream.name),
                Verbatim(each.judged.rates.unit),
                each.rate,
                Verbatim(each.best_name),
                each.best,
                100 * each.rate / each.best,
                "slower" if each.behind else "not slower",
                "the cache" if each.cached else "the device",
            )
            for each in found.shares
        ]
        blocks.append(
            Table(
                columns=(
                    Column(name="Workload"),
                    Column(name="Unit"),
                    Column(name="Recommended", digits=1),
                    Column(name="Fastest configuration"),
                    Column(name="Its rate", digits=1),
                    Column(name="Recommended by it", unit="%", digits=1),
                    Column(name="Difference"),
                    Column(name="What was measured"),
                ),
                rows=tuple(rows),
                caption="The recommended setting in every workload",
            )
        )
    return Section(title="Recommended setting", blocks=tuple(blocks))
