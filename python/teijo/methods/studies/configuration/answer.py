"""The answer in words: which factor matters most and by how much, what does not, what to trust,
and which setting is recommended.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from teijo import units
from teijo.analysis.difference import holm
from teijo.analysis.judged import LIMIT, WORTH_SHARE, Effect, Judged, effect_of
from teijo.document.model import Verdict
from teijo.document.phrase import Verbatim, capitalised, listed, say, sentences
from teijo.methods.scaled import with_full_size_word
from teijo.methods.studies.configuration.found import Cached, ConfigurationFound

PAIRS_NAMED = 3
SEEN_SHARE = 0.00005
"""From this difference on a percentage of two decimals is not 0.00."""


def verdict_of(found: ConfigurationFound) -> Verdict:
    """Return the answer in one line; it is bad where the control fails."""
    failed = any(each.control_failed for each in found.judged)
    return Verdict(text=_verdict(found), good=False if failed else None)


def _verdict(found: ConfigurationFound) -> str:
    """Name the largest difference; one that a cache makes is said to be one."""
    if not any(each.is_judged for each in found.judged):
        return "NOTHING TO JUDGE YET"
    if not found.settings.factors:
        noise = max(each.noise_percent for each in found.judged)
        return say("EQUAL CONFIGURATIONS DIFFER BY {percent:.1f} % AT MOST", percent=noise)
    if not found.effects:
        return "NO FACTOR MAKES A DIFFERENCE"
    first = found.effects[0]
    said = _values(found, first)
    if is_cached_at(found, first.judged, first.pair.factor, first.pair.second):
        return say(
            "A CACHE WAS MEASURED: {factor} {better} is {ratio:,g} × {worse} for {workload}, while "
            "all fits in it",
            **said,
        )
    return say("{factor} MATTERS MOST: {better} is {ratio:,g} × {worse} for {workload}", **said)


def answer_of(found: ConfigurationFound) -> list[str]:
    """Return the answer as sentences: what a cache answered first."""
    if not any(each.is_judged for each in found.judged):
        return [
            "Fewer than two blocks were measured from end to end, or nothing completed in one of "
            "them, so nothing is judged."
        ]
    said = cached_sentences(found, found.cached)
    for effect in found.effects:
        said += _effect_sentences(found, effect)
    said += [*_equal_sentences(found), *_together_sentences(found)]
    return [*said, _control_sentence(found.judged), _drift_sentence(found.judged)]


def advice_of(found: ConfigurationFound) -> str:
    """Return the setting that is recommended with its evidence, or that none is; nothing where
    there is nothing to choose from.
    """
    choice = found.choice
    if all(each.variance is None for each in found.judged):
        return ""
    if choice is None:
        return (
            "No setting is recommended: nothing makes a difference that can be told from noise, or "
            "the control failed."
        )
    levels = found.setups[choice.place].levels
    parts: list[str] = [
        say(
            "Recommended: {setting}. In the geometric mean over all {count} workloads it is "
            "{times:,g} × the slowest ({slowest}); in {first} of them nothing was faster by more "
            "than chance.",
            setting=listed(Verbatim("=".join(levels[factor])) for factor in choice.telling),
            count=len(choice.shares),
            times=_three_digits(choice.times),
            slowest=found.setups[choice.slowest].name,
            first=sum(not each.behind for each in choice.shares),
        )
    ]
    if behind := [each for each in choice.shares if each.behind]:
        worst = min(behind, key=lambda each: each.rate / each.best)
        parts.append(
            say(
                "It loses most for {workload}: {percent:.0f} % of the rate with {best}.",
                workload=worst.judged.rates.name,
                percent=100 * worst.rate / worst.best,
                best=found.setups[worst.best_place].name,
            )
        )
    if any(is_cached(found, each.judged) for each in choice.shares):
        parts.append("That holds for as much as the cache takes; beyond it nothing was measured.")
    if free := [name for at, (name, _) in enumerate(found.names) if at not in choice.telling]:
        parts.append(say("Of {factors} take any.", factors=listed(free)))
    return sentences(parts)


def is_cached(found: ConfigurationFound, judged: Judged) -> bool:
    """Return whether a cache answered a workload in the configuration that is chosen."""
    assert found.choice is not None
    levels = np.unravel_index(found.choice.place, judged.rates.values.shape[:-1])
    return any(is_cached_at(found, judged, factor, int(at)) for factor, at in enumerate(levels))


def is_cached_at(found: ConfigurationFound, judged: Judged, factor: int, level: int) -> bool:
    """Return whether a cache answered a workload at this level."""
    place = (judged.rates.name, factor, level)
    return any((each.workload, each.factor, each.level) == place for each in found.cached)


def cached_sentences(found: ConfigurationFound, cached: Sequence[Cached]) -> list[str]:
    """Say of each level at which a cache answered what tells so, and what would not fit it."""
    said: list[str] = []
    levels: dict[tuple[int, int], list[Cached]] = {}
    for each in cached:
        levels.setdefault((each.factor, each.level), []).append(each)
    for (factor, level), own in levels.items():
        name, words = found.names[factor]
        lead = say(
            "With {factor}={level} a cache answered {workloads}, not what lies behind it: ",
            factor=name,
            level=words[level],
            workloads=listed(Verbatim(each.workload) for each in own),
        )
        why = _why(own, len(found.setups) // len(words))
        said += [say("{told}{why}", told=lead, why=why), _beyond(found, own)]
    return said


def _why(cached: Sequence[Cached], count: int) -> str:
    """Say what shows that a cache answered at a level with so many settings behind it."""
    spread = max((each.spread for each in cached if each.spread is not None), default=None)
    if spread is None:
        return "all that a visit wrote fits it."
    if spread < SEEN_SHARE:
        return say("the rates are equal whatever is set behind it ({count} settings).", count=count)
    return say(
        "the rates differ by {percent:.2f} % at most, whatever is set behind it ({count} "
        "settings).",
        percent=100 * spread,
        count=count,
    )


def _beyond(found: ConfigurationFound, cached: Sequence[Cached]) -> str:
    """Say which range the cache would not answer."""
    geometry = found.record.geometry

    def volume(size_bytes: float) -> str:
        return with_full_size_word(units.format_capacity(round(size_bytes)), geometry)

    written = volume(max(each.written_bytes for each in cached))
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
        holds=volume(holds),
        percent=100 * holds / geometry.nominal_capacity_bytes,
        range=found.settings.range_percent,
        time=units.format_duration(fastest.fill_ns),
        rate=fastest.rate_mb_s,
        measured=units.format_duration(found.settings.duration_ns),
    )


def _effect_sentences(found: ConfigurationFound, effect: Effect) -> list[str]:
    """Say what a factor does, and where the same two levels differ the other way round."""
    factor, worse, better = effect.pair.factor, effect.pair.first, effect.pair.second
    source = effect.judged.source(factor)
    most = say(
        "{factor} matters most for {workload}: {better} is {ratio:,g} × {worse} (95 %: "
        "{low:,g} to {high:,g}), and {share:.0f} % of the variation there is its own.",
        share=0.0 if source is None else source.share * 100,
        **_values(found, effect),
    )
    shown = [
        effect_of(each, pair)
        for each in found.judged
        for pair in each.pairs
        if pair.shown and pair.factor == factor
    ]
    turned = [one for one in shown if (one.pair.first, one.pair.second) == (better, worse)]
    if not turned:
        return [capitalised(most)]
    other = say(
        "For {workload} it is the other way round: {better} is {ratio:,g} × {worse} (95 %: "
        "{low:,g} to {high:,g}).",
        **_values(found, max(turned, key=lambda one: one.pair.ratio)),
    )
    return [capitalised(most), other]


def _equal_sentences(found: ConfigurationFound) -> list[str]:
    """Return what makes no difference: whole factors, and pairs of levels of the others."""
    said: list[str] = []
    for factor, (name, levels) in enumerate(found.names):
        own = [pair for each in found.judged for pair in each.pairs if pair.factor == factor]
        shown = {(pair.first, pair.second) for pair in own if pair.shown}
        equal = [at for at in dict.fromkeys((p.first, p.second) for p in own) if at not in shown]
        if shown:
            said += [
                say(
                    "{factor} {first} and {second} do not differ for any workload.",
                    factor=name,
                    first=levels[first],
                    second=levels[second],
                )
                for first, second in equal[:PAIRS_NAMED]
            ]
        else:
            said.append(
                say(
                    "{factor} makes no difference that can be told from noise, for any workload.",
                    factor=name,
                )
            )
    return [capitalised(each) for each in said]


def _together_sentences(found: ConfigurationFound) -> list[str]:
    """Return the two factors that depend on each other most, if any two do."""
    pairs = [
        (each, source)
        for each in found.judged
        if each.variance is not None
        for source in each.variance.sources
        if len(source.factors) == 2
    ]
    # Among many pairs chance alone would make one in twenty look as if they mattered.
    counted = holm([source.p_value for _, source in pairs])
    worth = [
        both
        for both, p_value in zip(pairs, counted, strict=True)
        if p_value < LIMIT and both[1].share >= WORTH_SHARE
    ]
    if not worth:
        return []
    judged, source = max(worth, key=lambda both: both[1].share)
    first, second = (found.names[factor][0] for factor in source.factors)
    return [
        say(
            "What {first} does depends on {second}, most for {workload}, where {share:.0f} % of "
            "the variation is neither's alone.",
            first=first,
            second=second,
            workload=judged.rates.name,
            share=source.share * 100,
        )
    ]


def _control_sentence(judged: Sequence[Judged]) -> str:
    controlled = [each for each in judged if each.control is not None]
    if not controlled:
        return "There was no control: how far equal configurations differ is not known."
    worst = max(controlled, key=lambda each: each.noise_percent)
    failed = [each for each in controlled if each.control_failed]
    if failed:
        return say(
            "THE CONTROL FAILED: one configuration under two names differs for {workloads}, by "
            "up to {percent:.1f} %, which is more than chance; something else than the factors "
            "changes what is measured.",
            workloads=listed(each.rates.name for each in failed),
            percent=worst.noise_percent,
        )
    return say(
        "The control, one configuration under two names, differs by at most {percent:.1f} % "
        "({workload}), which is chance: that is the noise of one comparison.",
        percent=worst.noise_percent,
        workload=worst.rates.name,
    )


def _drift_sentence(judged: Sequence[Judged]) -> str:
    drifts = [(each.drift, each) for each in judged if each.drift is not None and each.drift.shown]
    if not drifts:
        return "The order of measuring made no difference."
    drift, worst = max(drifts, key=lambda both: both[0].percent)
    return say(
        "From the first to the last visit {workload} drifted by {percent:+.1f} % (95 %: "
        "{low:+.1f} to {high:+.1f}): the order was drawn by lot, so this is in no factor's "
        "difference, but it is in the scatter.",
        workload=worst.rates.name,
        percent=(drift.ratio - 1) * 100,
        low=(drift.low - 1) * 100,
        high=(drift.high - 1) * 100,
    )


def _values(found: ConfigurationFound, effect: Effect) -> dict[str, Any]:
    """Return what is said of an effect."""
    pair = effect.pair
    name, levels = found.names[pair.factor]
    return {
        "factor": name,
        "workload": effect.judged.rates.name,
        "better": levels[pair.second],
        "worse": levels[pair.first],
        "ratio": _three_digits(pair.ratio),
        "low": _three_digits(pair.low),
        "high": _three_digits(pair.high),
    }


def _three_digits(value: float) -> float:
    """Return a value with no more digits than can be trusted: 1.82, 2,660."""
    return float(f"{value:.3g}")
