"""What a fleet's report says in sentences: the answer, what would have been seen, and how drives
are judged.
"""

from collections.abc import Iterator

from teijo.analysis.drift import LEAST_PER_GROUP
from teijo.analysis.outliers import LEAST_DRIVES
from teijo.compare.fleet.factors import Factor, Verdict, percent_of
from teijo.compare.fleet.findings import Fleet
from teijo.compare.fleet.tables import chance_words, names_of, place_of
from teijo.document.model import Verdict as Answer
from teijo.document.phrase import say


def answer(fleet: Fleet) -> Answer:
    """Return which drives differ, in one line."""
    drives, named = fleet.drives, fleet.named_drives
    if not drives:
        return Answer(text="DRIVES THAT DIFFER: cannot be known, no run is whole", good=None)
    if not fleet.is_judged:
        text = say(
            "DRIVES THAT DIFFER: cannot be known of {count} drives, it takes {least}",
            count=len(drives),
            least=LEAST_DRIVES,
        )
    elif named:
        text = say(
            "DRIVES THAT DIFFER: {named} of {count} ({names})",
            named=len(named),
            count=len(drives),
            names=names_of(named),
        )
    else:
        text = say("DRIVES THAT DIFFER: none shown among {count}", count=len(drives))
    return Answer(text=text, good=None)


def limits_answer(fleet: Fleet) -> Answer:
    """Return how many drives meet all their limits, in one line; good if every one does."""
    runs = (*fleet.drives, *fleet.chosen.unfinished)
    asked = [each.limits for each in runs if each.limits]
    missed = sum(any(one.verdict == "not met" for one in limits) for limits in asked)
    met = sum(all(one.verdict == "met" for one in limits) for limits in asked)
    unread = sum(each.unreadable for each in fleet.chosen.left_out)
    unknown = len(asked) - missed - met + unread
    text = say(
        "LIMITS: {met} drives meet all, {missed} do not, {unknown} cannot be known",
        met=met,
        missed=missed,
        unknown=unknown,
    )
    return Answer(text=text, good=False if missed else None if unknown else True)


def seen_sentences(fleet: Fleet) -> Iterator[str]:
    """Return at which error rate drives are named, and what would have been."""
    if not fleet.is_judged:
        yield say(
            "How drives of this kind scatter is known from at least {least} of them. Fewer do "
            "not show whether one is out of the ordinary, so nothing is said of any.",
            least=LEAST_DRIVES,
        )
        return
    yield (
        "A score is made so that of fleets whose drives are all alike 5 of 100 at most have any "
        "drive named, were their scatter normal. Counted was 1 of 200 fleets of simulated drives "
        "(95 % interval: 0.0 to 2.8 %)."
    )
    level = fleet.outliers.level
    if level is not None:
        least = percent_of(level.least)
        yield say(
            "All figures together, drives scatter by {scale:.2f} % (one standard deviation). A "
            "drive that is {least:.1f} % off would have been named in 95 of 100 such fleets.",
            scale=percent_of(level.scale),
            least=least,
        )
    columns = [each for each in fleet.outliers.columns if each is not None]
    if columns:
        leasts = [percent_of(each.least) for each in columns]
        if f"{min(leasts):.1f}" == f"{max(leasts):.1f}":
            yield say(
                "{figures} single figures were judged. In one alone a drive must be {least:.1f} % "
                "off to be named in 95 of 100.",
                figures=len(columns),
                least=min(leasts),
            )
            return
        yield say(
            "{figures} single figures were judged. In one alone a drive must be {low:.1f} to "
            "{high:.1f} % off, by the figure, to be named in 95 of 100.",
            figures=len(columns),
            low=min(leasts),
            high=max(leasts),
        )


def factor_sentences(fleet: Fleet) -> Iterator[str]:
    """Return one sentence for each thing that drives have in common."""
    if not fleet.factors:
        yield say(
            "Whether drives differ by host, firmware, slot or temperature cannot be known of fewer "
            "than {least} drives.",
            least=LEAST_DRIVES,
        )
    for each in fleet.factors:
        if each.verdict is Verdict.GOES_WITH:
            yield _shown(each, fleet)


def _shown(factor: Factor, fleet: Fleet) -> str:
    assert factor.p_value is not None, "what is shown was judged"
    figures = factor.p_figure
    if figures is not None and factor.figure is not None and figures < factor.p_value:
        key = fleet.factor_keys[factor.figure]
        return say(
            "By {name} drives differ in {place}, {figure} (by chance: {chance}).",
            name=factor.name,
            place=place_of(key, fleet),
            figure=key.figure.name,
            chance=chance_words(figures),
        )
    chance = chance_words(factor.p_value)
    if factor.is_number:
        assert factor.correlation is not None, "a number has one"
        return say(
            "With {name} drives differ in all figures together: {slope:+.2f} % a degree, rank "
            "correlation {correlation:+.2f} (by chance: {chance}).",
            name=factor.name,
            slope=factor.percent_per_unit or 0.0,
            correlation=factor.correlation,
            chance=chance,
        )
    slow = min(factor.groups, key=lambda each: each.percent)
    fast = max(factor.groups, key=lambda each: each.percent)
    return say(
        "By {name} drives differ in all figures together: from {low:+.1f} % ({slow}) to "
        "{high:+.1f} % ({fast}) of all drives' median (by chance: {chance}).",
        name=factor.name,
        low=slow.percent,
        slow=slow.name,
        high=fast.percent,
        fast=fast.name,
        chance=chance,
    )


def method_sentences() -> Iterator[str]:
    """Return how a fleet is judged, from values to verdicts."""
    yield (
        "All figures together is how far a drive is off the fleet's median, as the geometric mean "
        "over all places of one figure; less is slower. In a campaign it is over all tests."
    )
    yield (
        "A score is how far a drive is off the mean of the others, in their standard deviations, "
        "both of logarithms. What lies farther from the median than three robust standard "
        "deviations is in neither, but never more than a quarter of the drives: so a few slow "
        "drives do not hide each other."
    )
    yield (
        "With few drives scores have long tails, longer than the normal distribution's. What "
        "scores come about among drives that are all alike is therefore computed from simulated "
        "fleets of as many drives: they scatter normally in all figures together, and in single "
        "figures as Student's t with 15 degrees of freedom, for a single figure may answer to a "
        "longer time with more than that."
    )
    yield (
        "Half of the 5 % is for all figures together, over all drives. The other half is for "
        "single figures, over all drives and figures, by Holm's procedure: it holds however "
        "figures depend on each other, and those of one drive do."
    )
    yield (
        "The error rate holds where logarithms of drives alike scatter so. Where all figures "
        "together have longer tails, drives are named more often: of drawn fleets of 40 drives in "
        "13 of 100, were it Student's t with 10 degrees of freedom. Where the fleet is of two "
        "kinds of drives, they are named less often."
    )
    yield (
        "Maximum latencies are not judged, for a single long I/O decides one. The throughput of a "
        "block size is not judged beside its IOPS, for it is the same figure."
    )
    yield say(
        "What drives have in common is judged by their ranks (Kruskal and Wallis; for a "
        "temperature Spearman's correlation), held against other arrangements of the same drives: "
        "all of them, or as many drawn ones as is said there. Groups of fewer than "
        "{least} drives are not compared. Single figures count together by the largest statistic "
        "of each arrangement (Westfall and Young), all questions together by Holm's procedure.",
        least=LEAST_PER_GROUP,
    )
    yield (
        "Where two things go together in a fleet (each host has one firmware), a difference may "
        "be due to either: it cannot be known which. Then move drives between hosts, or give some "
        "of a host's drives the other firmware."
    )
    yield "Quartiles are interpolated between the two drives beside them."
