"""The answer in words: which factor matters most and by how much, what does not, what to trust."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from teijo import units
from teijo.analysis.difference import holm
from teijo.document.model import Verdict
from teijo.document.phrase import Verbatim, capitalised, listed, say
from teijo.methods.scaled import with_full_size_word
from teijo.methods.studies.configuration.cached import Cached
from teijo.methods.studies.configuration.judged import LIMIT, WORTH_SHARE, Judged, Pair, Ratio
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.terms.geometry import Geometry

PAIRS_NAMED = 3
SEEN_SHARE = 0.00005
"""From this difference on a percentage of two decimals is not 0.00."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """The largest difference that a factor makes: its workload, the better level by the worse."""

    factor: int
    judged: Judged
    worse: int
    better: int
    ratio: float
    low: float
    high: float


def verdict_of(
    settings: ConfigurationSettings, found: Sequence[Judged], cached: Sequence[Cached] = ()
) -> Verdict:
    """Return the answer in one line; it is bad where the control fails.

    A difference that a cache makes is said to be one.
    """
    trusted = False if _failed([each.control for each in found]) else None
    if not any(each.drift or each.variance or each.control for each in found):
        return Verdict(text="NOTHING TO JUDGE YET", good=None)
    if not settings.factors:
        noise = max(each.noise_percent for each in found)
        text = say("EQUAL CONFIGURATIONS DIFFER BY {percent:.1f} % AT MOST", percent=noise)
        return Verdict(text=text, good=trusted)
    effects = effects_of(settings, found)
    if not effects:
        return Verdict(text="NO FACTOR MAKES A DIFFERENCE", good=trusted)
    first = effects[0]
    if _is_cached(first, found, cached):
        text = say(
            "A CACHE WAS MEASURED: {factor} {better} is {ratio:,g} × {worse} for {workload}, while "
            "all fits in it",
            factor=Verbatim(settings.factors[first.factor][0]),
            better=_level(settings, first.factor, first.better),
            worse=_level(settings, first.factor, first.worse),
            ratio=_three_digits(first.ratio),
            workload=_workload(first.judged),
        )
        return Verdict(text=text, good=trusted)
    text = say(
        "{factor} MATTERS MOST: {better} is {ratio:,g} × {worse} for {workload}",
        factor=Verbatim(settings.factors[first.factor][0]),
        better=_level(settings, first.factor, first.better),
        worse=_level(settings, first.factor, first.worse),
        ratio=_three_digits(first.ratio),
        workload=_workload(first.judged),
    )
    return Verdict(text=text, good=trusted)


def answer_of(
    settings: ConfigurationSettings,
    found: Sequence[Judged],
    cached: Sequence[Cached] = (),
    geometry: Geometry | None = None,
) -> list[str]:
    """Return the answer as sentences: what a cache answered first."""
    judged = [each for each in found if each.control or each.variance or each.drift]
    if not judged:
        return [
            "Fewer than two blocks were measured from end to end, or nothing completed in one of "
            "them, so nothing is judged."
        ]
    said = _cached_sentences(settings, cached, geometry)
    if settings.factors:
        effects = effects_of(settings, judged)
        for effect in effects:
            said.append(_effect_sentence(settings, effect))
            said += _turned_sentences(settings, judged, effect)
        said += _idle_sentences(settings, judged, effects)
        said += _together_sentences(settings, judged)
    return [*said, *_control_sentences(judged), *_drift_sentences(judged)]


def effects_of(settings: ConfigurationSettings, found: Sequence[Judged]) -> list[Effect]:
    """Return each factor's largest difference that is one, the largest of all first."""
    effects = []
    for factor in range(len(settings.factors)):
        shown = [
            (each, pair)
            for each in found
            for pair in each.pairs
            if pair.factor == factor and pair.shown
        ]
        if shown:
            effects.append(_effect(*max(shown, key=lambda both: abs(math.log(both[1].ratio)))))
    return sorted(effects, key=lambda effect: -effect.ratio)


def _is_cached(effect: Effect, found: Sequence[Judged], cached: Sequence[Cached]) -> bool:
    place = next(place for place, each in enumerate(found) if each is effect.judged)
    return any(
        (each.workload, each.factor, each.level) == (place, effect.factor, effect.better)
        for each in cached
    )


def _cached_sentences(
    settings: ConfigurationSettings, cached: Sequence[Cached], geometry: Geometry | None
) -> list[str]:
    """Say of each level at which a cache answered what tells so, and what would not fit it."""
    said: list[str] = []
    for factor, level in dict.fromkeys((each.factor, each.level) for each in cached):
        own = [each for each in cached if (each.factor, each.level) == (factor, level)]
        spreads = [each.spread for each in own if each.spread is not None]
        told = say(
            "With {factor}={level} a cache answered {workloads}, not what lies behind it: ",
            factor=Verbatim(settings.factors[factor][0]),
            level=_level(settings, factor, level),
            workloads=listed(Verbatim(settings.workloads[each.workload].name) for each in own),
        )
        if spreads and max(spreads) < SEEN_SHARE:
            why = say(
                "the rates are equal whatever is set behind it ({count} settings).",
                count=own[0].settings,
            )
        elif spreads:
            why = say(
                "the rates differ by {percent:.2f} % at most, whatever is set behind it ({count} "
                "settings).",
                percent=100 * max(spreads),
                count=own[0].settings,
            )
        else:
            why = say("all that a visit wrote fits it.")
        said += [say("{told}{why}", told=told, why=why), _beyond(settings, own, geometry)]
    return said


def _beyond(
    settings: ConfigurationSettings, cached: Sequence[Cached], geometry: Geometry | None
) -> str:
    """Say which range the cache would not answer."""
    written = max(each.written_bytes for each in cached)
    holds = next((each.holds_bytes for each in cached if each.holds_bytes), None)
    if holds is None or geometry is None:
        return say(
            "A visit wrote {written} at most, so a cache of that size is enough for it. Set a "
            "range, and seconds, with ten times as much to see what lies behind.",
            written=_volume(written, geometry),
        )
    fastest = max(cached, key=lambda each: each.rate_mb_s)
    return say(
        "A visit wrote {written} at most, and the cache holds {holds}. It cannot answer alone for "
        "a workload that writes more than that: a range of more than {percent:.2g} % of the device "
        "(here {range} %) for longer than {time} at {rate:,.0f} MB/s (here {measured}).",
        written=_volume(written, geometry),
        holds=_volume(holds, geometry),
        percent=100 * holds / geometry.nominal_capacity_bytes,
        range=settings.range_percent,
        time=units.format_duration(fastest.fill_ns),
        rate=fastest.rate_mb_s,
        measured=units.format_duration(settings.duration_ns),
    )


def _volume(size_bytes: float, geometry: Geometry | None) -> str:
    told = units.format_capacity(round(size_bytes))
    return told if geometry is None else with_full_size_word(told, geometry)


def _effect(judged: Judged, pair: Pair) -> Effect:
    if pair.ratio >= 1:
        worse, better, ends = pair.first, pair.second, (pair.ratio, pair.low, pair.high)
    else:
        worse, better = pair.second, pair.first
        ends = (1 / pair.ratio, 1 / pair.high, 1 / pair.low)
    ratio, low, high = ends
    return Effect(
        factor=pair.factor,
        judged=judged,
        worse=worse,
        better=better,
        ratio=ratio,
        low=low,
        high=high,
    )


def _effect_sentence(settings: ConfigurationSettings, effect: Effect) -> str:
    source = effect.judged.source(effect.factor)
    return capitalised(
        say(
            "{factor} matters most for {workload}: {better} is {ratio:,g} × {worse} (95 %: "
            "{low:,g} to {high:,g}), and {share:.0f} % of the variation there is its own.",
            factor=Verbatim(settings.factors[effect.factor][0]),
            workload=_workload(effect.judged),
            better=_level(settings, effect.factor, effect.better),
            worse=_level(settings, effect.factor, effect.worse),
            ratio=_three_digits(effect.ratio),
            low=_three_digits(effect.low),
            high=_three_digits(effect.high),
            share=0.0 if source is None else source.share * 100,
        )
    )


def _turned_sentences(
    settings: ConfigurationSettings, found: Sequence[Judged], effect: Effect
) -> list[str]:
    """Return where the same two levels differ the other way round, if they do anywhere."""
    levels = {effect.worse, effect.better}
    turned = [
        own
        for each in found
        for pair in each.pairs
        if pair.shown and pair.factor == effect.factor and {pair.first, pair.second} == levels
        if (own := _effect(each, pair)).better == effect.worse
    ]
    if not turned:
        return []
    most = max(turned, key=lambda each: each.ratio)
    return [
        say(
            "For {workload} it is the other way round: {better} is {ratio:,g} × {worse} (95 %: "
            "{low:,g} to {high:,g}).",
            workload=_workload(most.judged),
            better=_level(settings, most.factor, most.better),
            worse=_level(settings, most.factor, most.worse),
            ratio=_three_digits(most.ratio),
            low=_three_digits(most.low),
            high=_three_digits(most.high),
        )
    ]


def _idle_sentences(
    settings: ConfigurationSettings, found: Sequence[Judged], effects: Sequence[Effect]
) -> list[str]:
    """Return what makes no difference: whole factors, and pairs of levels of the others."""
    telling = {effect.factor for effect in effects}
    said: list[str] = []
    for factor, (name, _) in enumerate(settings.factors):
        if factor not in telling:
            said.append(
                capitalised(
                    say(
                        "{factor} makes no difference that can be told from noise, for any "
                        "workload.",
                        factor=Verbatim(name),
                    )
                )
            )
            continue
        pairs: dict[tuple[int, int], bool] = {}
        for pair in (pair for each in found for pair in each.pairs if pair.factor == factor):
            place = (pair.first, pair.second)
            pairs[place] = pairs.get(place, False) or pair.shown
        equal = [place for place, differs in pairs.items() if not differs]
        for first, second in equal[:PAIRS_NAMED]:
            said.append(
                capitalised(
                    say(
                        "{factor} {first} and {second} do not differ for any workload.",
                        factor=Verbatim(name),
                        first=_level(settings, factor, first),
                        second=_level(settings, factor, second),
                    )
                )
            )
    return said


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
            first=Verbatim(settings.factors[first][0]),
            second=Verbatim(settings.factors[second][0]),
            workload=_workload(judged),
            share=source.share * 100,
        )
    ]


def _control_sentences(found: Sequence[Judged]) -> list[str]:
    told = [each for each in found if each.control is not None]
    if not told:
        return ["There was no control: how far equal configurations differ is not known."]
    worst = max(told, key=lambda each: each.noise_percent)
    failed = [each for each in told if each.control is not None and each.control.shown]
    if failed:
        return [
            say(
                "THE CONTROL FAILED: one configuration under two names differs for {workloads}, by "
                "up to {percent:.1f} %, which is more than chance; something else than the factors "
                "changes what is measured.",
                workloads=listed(_workload(each) for each in failed),
                percent=worst.noise_percent,
            )
        ]
    return [
        say(
            "The control, one configuration under two names, differs by at most {percent:.1f} % "
            "({workload}), which is chance: that is the noise of one comparison.",
            percent=worst.noise_percent,
            workload=_workload(worst),
        )
    ]


def _drift_sentences(found: Sequence[Judged]) -> list[str]:
    drifted = [each for each in found if each.drift is not None and each.drift.shown]
    if not drifted:
        return ["The order of measuring made no difference."]
    worst = max(drifted, key=lambda each: each.drift.percent if each.drift else 0.0)
    drift = worst.drift
    assert drift is not None
    return [
        say(
            "From the first to the last visit {workload} drifted by {percent:+.1f} % (95 %: "
            "{low:+.1f} to {high:+.1f}): the order was drawn by lot, so this is in no factor's "
            "difference, but it is in the scatter.",
            workload=_workload(worst),
            percent=(drift.ratio - 1) * 100,
            low=(drift.low - 1) * 100,
            high=(drift.high - 1) * 100,
        )
    ]


def _three_digits(value: float) -> float:
    """Return a value of which no more is told than can be read: 1.82, 2,660."""
    return float(f"{value:.3g}")


def _failed(controls: Sequence[Ratio | None]) -> bool:
    return any(each is not None and each.shown for each in controls)


def _level(settings: ConfigurationSettings, factor: int, level: int) -> Verbatim:
    return Verbatim(settings.factors[factor][1][level][0])


def _workload(judged: Judged) -> Verbatim:
    return Verbatim(judged.rates.stream.name)
