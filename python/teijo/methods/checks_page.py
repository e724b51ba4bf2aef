"""The page of figures that must agree: Little's law in every step, and a campaign's tests."""

from collections.abc import Sequence

from teijo.analysis.cross_check import LITTLE_BOUNDS, Check, Occupancy, occupancy_of, stimuli
from teijo.document.grid import Fields, listing
from teijo.document.model import Block, Facts, Paragraph, Section, Verdict
from teijo.document.phrase import say
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind

TITLE = "Cross-checks"
_WORDS = {True: "agree", False: "CONTRADICT", None: "not told"}
_STEPS_NAMED = 8
_FIELDS: Fields[Check] = (
    ("Figures", "", None, lambda check: check.name),
    ("First", "", 3, lambda check: check.left),
    ("Second", "", 3, lambda check: check.right),
    ("Unit", "", None, lambda check: check.unit),
    ("Quotient", "", 3, lambda check: check.quotient),
    ("At least", "", 2, lambda check: check.bounds[0]),
    ("At most", "", 2, lambda check: check.bounds[1]),
    ("Verdict", "", None, lambda check: _WORDS[check.holds]),
)


def checks_section(record: Record, checks: Sequence[Check] = ()) -> Section | None:
    """Return the page; None where nothing was measured that could be held to anything."""
    found = occupancies(record)
    if not found and not checks:
        return None
    strange = [number for number, each in found if not each.holds]
    bad = len(strange) + sum(check.holds is False for check in checks)
    blocks: list[Block] = []
    if checks:
        # None is "not told", which is no contradiction.
        apart = tuple((row, 7) for row, check in enumerate(checks) if check.holds is False)
        caption = "Between the tests of this device"
        blocks += [_verdict(bad), listing(checks, _FIELDS, caption=caption, marked=apart)]
        blocks += [
            Paragraph(text=say("{name}: not told, {reason}.", name=check.name, reason=check.reason))
            for check in checks
            if check.reason
        ]
    if found:
        blocks.append(_little(found, strange))
        blocks.append(Paragraph(text=_LITTLE_TEXT))
    return Section(title=TITLE, blocks=tuple(blocks))


_LITTLE_TEXT = (
    "Little's law: in a closed loop the sum of all latencies by the time is the depth that was "
    "asked for. Below it, the host was away between two I/Os, or waited for the last ones after it "
    "had issued them; above it, latencies or times are wrong. Bounds are this program's."
)


def occupancies(record: Record) -> list[tuple[int, Occupancy]]:
    """Return Little's law in every stimulus it is known of, by the number of its first step."""
    return [
        (each.seq, told)
        for each in stimuli(record.steps)
        if (told := occupancy_of(each)) is not None
    ]


def contradiction_remarks(record: Record, checks: Sequence[Check] = ()) -> tuple[Remark, ...]:
    """Return a remark for each step and each check whose figures contradict each other."""
    steps = [
        Remark(
            kind=RemarkKind.CONTRADICTION,
            text="Little's law does not hold: latencies, rate and depth do not agree",
            step=number,
        )
        for number, told in occupancies(record)
        if not told.holds
    ]
    between = [
        Remark(
            kind=RemarkKind.CONTRADICTION,
            text=say(
                "{name}: {left:,.4g} against {right:,.4g} {unit}",
                name=check.name,
                left=check.left,
                right=check.right,
                unit=check.unit,
            ),
        )
        for check in checks
        if check.holds is False
    ]
    return (*steps, *between)


def _verdict(bad: int) -> Verdict:
    if bad:
        return Verdict(text=say("CROSS-CHECKS: {bad} contradict each other", bad=bad), good=False)
    return Verdict(text="CROSS-CHECKS: no contradiction found", good=True)


def _little(found: Sequence[tuple[int, Occupancy]], strange: Sequence[int]) -> Facts:
    low = min(found, key=lambda each: each[1].quotient)
    high = max(found, key=lambda each: each[1].quotient)
    named = ", ".join(map(str, strange[:_STEPS_NAMED]))
    more = len(strange) - _STEPS_NAMED
    outside: str = "none"
    if more > 0:
        outside = say("{named} and {more} more", named=named, more=more)
    elif strange:
        outside = named
    return Facts(
        caption="Little's law, stimulus by stimulus",
        rows=(
            ("Stimuli held to it", str(len(found))),
            ("Lowest quotient", say("{q:.4f} (step {n})", q=low[1].quotient, n=low[0])),
            ("Highest quotient", say("{q:.4f} (step {n})", q=high[1].quotient, n=high[0])),
            (
                "Bounds",
                say(
                    "{low} to {high} while I/O is issued; a stimulus that goes on is told over all "
                    "its steps",
                    low=LITTLE_BOUNDS[0],
                    high=LITTLE_BOUNDS[1],
                ),
            ),
            ("First steps of those outside", outside),
        ),
    )
