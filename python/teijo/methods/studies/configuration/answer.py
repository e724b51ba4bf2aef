"""The answer in words: which factor matters most and by how much, what does not, what to trust,
and which setting is recommended.
"""

from collections.abc import Sequence
from typing import Any

from teijo import units
from teijo.analysis.difference import holm
from teijo.analysis.judged import LIMIT, WORTH_SHARE, Choice, Effect, Judged, effect_of
from teijo.document.model import Verdict
from teijo.document.phrase import Verbatim, capitalised, listed, say, sentences
from teijo.methods.scaled import with_full_size_word
from teijo.methods.studies.configuration.cached import Cached
from teijo.methods.studies.configuration.design import cells_of
from teijo.methods.studies.configuration.found import ConfigurationFound
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.terms.geometry import Geometry

PAIRS_NAMED = 3
SEEN_SHARE = 0.00005
"""From this difference on a percentage of two decimals is not 0.00."""


def verdict_of(found: ConfigurationFound) -> Verdict:
    """Return the answer in one line; it is bad where the control fails.

    A difference that a cache makes is said to be one.
    """
    trusted = False if any(_failed(each) for each in found.judged) else None
    if not any(each.is_judged for each in found.judged):
        return Verdict(text="NOTHING TO JUDGE YET", good=None)
    if not found.settings.factors:
        noise = max(each.noise_percent for each in found.judged)
        text = say("EQUAL CONFIGURATIONS DIFFER BY {percent:.1f} % AT MOST", percent=noise)
        return Verdict(text=text, good=trusted)
    if not found.effects:
        return Verdict(text="NO FACTOR MAKES A DIFFERENCE", good=trusted)
    first = found.effects[0]
    said = _values(found.settings, first)
    if cached_at(found, first.judged, first.factor, first.better):
        text = say(
            "A CACHE WAS MEASURED: {factor} {better} is {ratio:,g} × {worse} for {workload}, while "
            "all fits in it",
            **said,
        )
    else:
        text = say("{factor} MATTERS MOST: {better} is {ratio:,g} × {worse} for {workload}", **said)
    return Verdict(text=text, good=trusted)


def answer_of(found: ConfigurationFound) -> list[str]:
    """Return the answer as sentences: what a cache answered first."""
    settings, judged = found.settings, [each for each in found.judged if each.is_judged]
    if not judged:
        return [
            "Fewer than two blocks were measured from end to end, or nothing completed in one of "
            "them, so nothing is judged."
        ]
    said = cached_sentences(settings, found.cached, found.record.geometry)
    if settings.factors:
        for effect in found.effects:
            said += [_effect_sentence(settings, effect), *_turned(settings, judged, effect)]
        said += _idle_sentences(settings, judged, {effect.factor for effect in found.effects})
        said += _together_sentences(settings, judged)
    return [*said, _control_sentence(judged), _drift_sentence(judged)]


def advice_of(found: ConfigurationFound) -> str:
    """Return the setting that is recommended with its evidence, or that none is; nothing where
    there is nothing to choose from.
    """
    settings, choice = found.settings, found.choice
    if not settings.factors or all(each.variance is None for each in found.judged):
        return ""
    if choice is None:
        return (
            "No setting is recommended: nothing makes a difference that can be told from noise, or "
            "the control failed."
        )
    cells = cells_of(settings)
    levels = cells[choice.place].levels
    parts: list[str] = [
        say(
            "Recommended: {setting}. In the geometric mean over all {count} workloads it is "
            "{times:,g} × the slowest ({slowest}); in {first} of them nothing was faster by more "
            "than chance.",
            setting=listed(Verbatim("=".join(levels[factor])) for factor in choice.telling),
            count=len(choice.shares),
            times=_three_digits(choice.times),
            slowest=Verbatim(cells[choice.slowest].name),
            first=sum(not each.behind for each in choice.shares),
        )
    ]
    behind = [each for each in choice.shares if each.behind]
    if behind:
        worst = min(behind, key=lambda each: each.rate / each.best)
        parts.append(
            say(
                "It loses most for {workload}: {percent:.0f} % of the rate with {best}.",
                workload=_workload(worst.judged),
                percent=100 * worst.rate / worst.best,
                best=Verbatim(cells[worst.best_place].name),
            )
        )
    if any(is_cached(found, choice, each.judged) for each in choice.shares):
        parts.append("That holds for as much as the cache takes; beyond it nothing was measured.")
    free = [_factor(settings, at) for at in range(len(levels)) if at not in choice.telling]
    if free:
        parts.append(say("Of {factors} take any.", factors=listed(free)))
    return sentences(parts)


def is_cached(found: ConfigurationFound, choice: Choice, judged: Judged) -> bool:
    """Return whether a cache answered a workload in the configuration that is chosen."""
    cells = cells_of(found.settings)
    return any(
        cached_at(found, judged, factor, [name for name, _ in levels].index(level))
        for factor, ((_, levels), (_, level)) in enumerate(
            zip(found.settings.factors, cells[choice.place].levels, strict=True)
        )
    )


def cached_at(found: ConfigurationFound, judged: Judged, factor: int, level: int) -> bool:
    """Return whether a cache answered a workload at this level."""
    place = next(place for place, each in enumerate(found.judged) if each is judged)
    return any(
        (each.workload, each.factor, each.level) == (place, factor, level) for each in found.cached
    )


def cached_sentences(
    settings: ConfigurationSettings, cached: Sequence[Cached], geometry: Geometry
) -> list[str]:
    """Say of each level at which a cache answered what tells so, and what would not fit it."""
    said: list[str] = []
    for factor, level in dict.fromkeys((each.factor, each.level) for each in cached):
        own = [each for each in cached if (each.factor, each.level) == (factor, level)]
        spreads = [each.spread for each in own if each.spread is not None]
        lead = say(
            "With {factor}={level} a cache answered {workloads}, not what lies behind it: ",
            factor=_factor(settings, factor),
            level=_level(settings, factor, level),
            workloads=listed(Verbatim(settings.workloads[each.workload].name) for each in own),
        )
        count = own[0].settings
        if spreads and max(spreads) < SEEN_SHARE:
            why = say(
                "the rates are equal whatever is set behind it ({count} settings).", count=count
            )
        elif spreads:
            why = say(
                "the rates differ by {percent:.2f} % at most, whatever is set behind it ({count} "
                "settings).",
                percent=100 * max(spreads),
                count=count,
            )
        else:
            why = say("all that a visit wrote fits it.")
        said += [say("{told}{why}", told=lead, why=why), _beyond(settings, own, geometry)]
    return said


def _beyond(settings: ConfigurationSettings, cached: Sequence[Cached], geometry: Geometry) -> str:
    """Say which range the cache would not answer."""
    written = _volume(max(each.written_bytes for each in cached), geometry)
    holds = next((each.holds_bytes for each in cached if each.holds_bytes), None)
    if holds is None:
        return say(
            "A visit wrote {written} at most, so a cache of that size is enough for it. Set a "
            "range, and seconds, with ten times as much to see what lies behind.",
            written=written,
        )
    fastest = max(cached, key=lambda each: each.rate_mb_s)
    return say(
        "A visit wrote {written} at most, and the cache holds {holds}. It cannot answer alone for "
        "a workload that writes more than that: a range of more than {percent:.2g} % of the device "
        "(here {range} %) for longer than {time} at {rate:,.0f} MB/s (here {measured}).",
        written=written,
        holds=_volume(holds, geometry),
        percent=100 * holds / geometry.nominal_capacity_bytes,
        range=settings.range_percent,
        time=units.format_duration(fastest.fill_ns),
        rate=fastest.rate_mb_s,
        measured=units.format_duration(settings.duration_ns),
    )


def _volume(size_bytes: float, geometry: Geometry) -> str:
    return with_full_size_word(units.format_capacity(round(size_bytes)), geometry)


def _effect_sentence(settings: ConfigurationSettings, effect: Effect) -> str:
    source = effect.judged.source(effect.factor)
    return capitalised(
        say(
            "{factor} matters most for {workload}: {better} is {ratio:,g} × {worse} (95 %: "
            "{low:,g} to {high:,g}), and {share:.0f} % of the variation there is its own.",
            share=0.0 if source is None else source.share * 100,
            **_values(settings, effect),
        )
    )


def _turned(settings: ConfigurationSettings, found: Sequence[Judged], effect: Effect) -> list[str]:
    """Return where the same two levels differ the other way round, if they do anywhere."""
    turned = [
        own
        for each in found
        for pair in each.pairs
        if pair.shown
        and pair.factor == effect.factor
        and ((own := effect_of(each, pair)).better, own.worse) == (effect.worse, effect.better)
    ]
    if not turned:
        return []
    most = max(turned, key=lambda each: each.ratio)
    return [
        say(
            "For {workload} it is the other way round: {better} is {ratio:,g} × {worse} (95 %: "
            "{low:,g} to {high:,g}).",
            **_values(settings, most),
        )
    ]


def _idle_sentences(
    settings: ConfigurationSettings, found: Sequence[Judged], telling: set[int]
) -> list[str]:
    """Return what makes no difference: whole factors, and pairs of levels of the others."""
    said: list[str] = []
    for factor in range(len(settings.factors)):
        name = _factor(settings, factor)
        if factor not in telling:
            said.append(
                say(
                    "{factor} makes no difference that can be told from noise, for any workload.",
                    factor=name,
                )
            )
            continue
        own = [pair for each in found for pair in each.pairs if pair.factor == factor]
        shown = {(pair.first, pair.second) for pair in own if pair.shown}
        equal = [at for at in dict.fromkeys((p.first, p.second) for p in own) if at not in shown]
        said += [
            say(
                "{factor} {first} and {second} do not differ for any workload.",
                factor=name,
                first=_level(settings, factor, first),
                second=_level(settings, factor, second),
            )
            for first, second in equal[:PAIRS_NAMED]
        ]
    return [capitalised(each) for each in said]


def _together_sentences(settings: ConfigurationSettings, found: Sequence[Judged]) -> list[str]:
    """Return the two factors that depend on each other most, if any two do."""
    pairs = [
        (each, source)
        for each in found
        if each.variance is not None
        for source in each.variance.sources
        if len(source.factors) == 2
    ]
    counted = holm([source.p_value for _, source in pairs])
    worth = [
        both
        for both, p_value in zip(pairs, counted, strict=True)
        if p_value < LIMIT and both[1].share >= WORTH_SHARE
    ]
    if not worth:
        return []
    judged, source = max(worth, key=lambda both: both[1].share)
    first, second = source.factors
    return [
        say(
            "What {first} does depends on {second}, most for {workload}, where {share:.0f} % of "
            "the variation is neither's alone.",
            first=_factor(settings, first),
            second=_factor(settings, second),
            workload=_workload(judged),
            share=source.share * 100,
        )
    ]


def _control_sentence(found: Sequence[Judged]) -> str:
    controlled = [each for each in found if each.control is not None]
    if not controlled:
        return "There was no control: how far equal configurations differ is not known."
    worst = max(controlled, key=lambda each: each.noise_percent)
    failed = [each for each in controlled if _failed(each)]
    if failed:
        return say(
            "THE CONTROL FAILED: one configuration under two names differs for {workloads}, by "
            "up to {percent:.1f} %, which is more than chance; something else than the factors "
            "changes what is measured.",
            workloads=listed(_workload(each) for each in failed),
            percent=worst.noise_percent,
        )
    return say(
        "The control, one configuration under two names, differs by at most {percent:.1f} % "
        "({workload}), which is chance: that is the noise of one comparison.",
        percent=worst.noise_percent,
        workload=_workload(worst),
    )


def _drift_sentence(found: Sequence[Judged]) -> str:
    drifts = [(each.drift, each) for each in found if each.drift is not None and each.drift.shown]
    if not drifts:
        return "The order of measuring made no difference."
    drift, worst = max(drifts, key=lambda both: both[0].percent)
    return say(
        "From the first to the last visit {workload} drifted by {percent:+.1f} % (95 %: "
        "{low:+.1f} to {high:+.1f}): the order was drawn by lot, so this is in no factor's "
        "difference, but it is in the scatter.",
        workload=_workload(worst),
        percent=(drift.ratio - 1) * 100,
        low=(drift.low - 1) * 100,
        high=(drift.high - 1) * 100,
    )


def _values(settings: ConfigurationSettings, effect: Effect) -> dict[str, Any]:
    """Return what is said of an effect."""
    return {
        "factor": _factor(settings, effect.factor),
        "workload": _workload(effect.judged),
        "better": _level(settings, effect.factor, effect.better),
        "worse": _level(settings, effect.factor, effect.worse),
        "ratio": _three_digits(effect.ratio),
        "low": _three_digits(effect.low),
        "high": _three_digits(effect.high),
    }


def _three_digits(value: float) -> float:
    """Return a value with no more digits than can be trusted: 1.82, 2,660."""
    return float(f"{value:.3g}")


def _failed(judged: Judged) -> bool:
    return judged.control is not None and judged.control.shown


def _factor(settings: ConfigurationSettings, factor: int) -> Verbatim:
    return Verbatim(settings.factors[factor][0])


def _level(settings: ConfigurationSettings, factor: int, level: int) -> Verbatim:
    return Verbatim(settings.factors[factor][1][level][0])


def _workload(judged: Judged) -> Verbatim:
    return Verbatim(judged.rates.name)
