"""How often `teijo fleet bottleneck` errs: measurements of drawn rates, whose truth is known.
Some minutes for 2,000 measurements of each kind.

    python benchmarks/bottleneck_rates.py                 # four drives, six rounds, 1 % a spell
    python benchmarks/bottleneck_rates.py --scatter 3

Each measurement has four drives behind one bridge, at two loads. Their spells scatter by --scatter
percent (one standard deviation): normally, with heavy tails (Student's t of 3 degrees of freedom),
skewed (an exponential tail of slow spells), or so that neighbours are alike (autocorrelation 0.5).
"""

import argparse
from collections import Counter
from collections.abc import Iterator

from benchmarks.fleet_outliers import Rate
from teijo.analysis.bottleneck import LOSS_LEAST, Bottlenecks, Verdict
from tests.analysis.drawn_spells import NOISES, measured

DRIVES = ("a", "b", "c", "d")
LOSSES = (0.0, LOSS_LEAST, 0.1, 0.5)


def verdicts(loss: float, noise: str, scatter: float, seed: int, rounds: int) -> Counter[Verdict]:
    """Return the verdicts of one measurement, of eight comparisons."""
    drawn = measured(
        [DRIVES], {DRIVES: loss}, scatter=scatter, noise=NOISES[noise], seed=seed, rounds=rounds
    )
    return Counter(one.verdict for each in Bottlenecks(drawn).shared for one in each.comparisons)


def is_false(loss: float, found: Counter[Verdict]) -> bool:
    """Tell whether a measurement has a verdict that is not true.

    A loss of just the least that counts is on neither side: either verdict of it is false.
    """
    if loss < LOSS_LEAST:
        return found[Verdict.SHARES] > 0
    if loss > LOSS_LEAST:
        return found[Verdict.NOT] > 0
    return found[Verdict.SHARES] + found[Verdict.NOT] > 0


def lines(count: int, scatter: float, rounds: int) -> Iterator[str]:
    """Yield the rates of each kind of scatter and each loss."""
    for noise in NOISES:
        for number, loss in enumerate(LOSSES):
            all_of_it = [
                verdicts(loss, noise, scatter, number * count + seed, rounds)
                for seed in range(count)
            ]
            false = Rate(count=sum(is_false(loss, each) for each in all_of_it), of=count)
            decided: Counter[Verdict] = Counter()
            for each in all_of_it:
                decided.update(each)
            right = decided[Verdict.SHARES if loss > LOSS_LEAST else Verdict.NOT]
            told = f"{100 * right / (8 * count):.1f} % of its verdicts are right"
            yield (
                f"{noise}, {100 * loss:g} % lost: a verdict is false in {false}"
                + ("" if loss == LOSS_LEAST else f"; {told}")
            )


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--scatter", type=float, default=1.0, metavar="PERCENT")
    parser.add_argument("--rounds", type=int, default=6)
    given = parser.parse_args()
    for line in lines(given.count, given.scatter / 100, given.rounds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
