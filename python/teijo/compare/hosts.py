"""The hosts of compared runs side by side: what they are, and whether one was the limit.

Of one drive on two hosts a difference may be the hosts'. The judgement is the header's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from teijo.analysis.headroom import Summary, floored, in_a_word, sentence, summary_of
from teijo.document import model
from teijo.document.phrase import Verbatim, say
from teijo.methods.pages import NOT_KNOWN
from teijo.terms.platform import cell_name
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind

FACTS: Final = (
    "host", "kernel", "cpu", "cpu count", "cpu governor", "cpu frequency", "memory",
    "virtualisation", "link to the device",
)  # fmt: skip
"""What of a run's environment is shown, by the names that it has there."""


@dataclass(frozen=True, kw_only=True)
class HostOfRun:
    """The host of one run: its facts by name, "" where one is not known.

    `told` says in whole sentences whether it was the limit, "" where no ceiling was recorded.
    """

    label: str
    facts: tuple[tuple[str, str], ...]
    found: Summary | None

    @property
    def may_limit(self) -> bool:
        """Whether it may have been the limit in a cell."""
        return self.found is not None and bool(self.found.may_be)

    @property
    def told(self) -> str:
        """What the run's own page of the platform says first."""
        return "" if self.found is None else sentence(self.found)

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """What stands in its column."""
        rows = [(name, Verbatim(value) if value else NOT_KNOWN) for name, value in self.facts]
        narrow = None if self.found is None else self.found.narrowest
        cell = ceiling = room = NOT_KNOWN
        if narrow is not None and narrow.times is not None:
            cell = Verbatim(cell_name(narrow.cell))
            low, high = narrow.low_iops or 0.0, narrow.high_iops or 0.0
            ceiling = say("{low:,.0f} to {high:,.0f} IOPS", low=low, high=high)
            room = say("×{times:.1f}", times=floored(narrow))
        rows += [
            ("Narrowest cell", cell),
            ("The host's ceiling there", ceiling),
            ("Headroom there", room),
            ("The host is", NOT_KNOWN if self.found is None else in_a_word(self.found)),
        ]
        return tuple(rows)


def hosts_of(runs: Sequence[tuple[str, Record]]) -> tuple[HostOfRun, ...]:
    """Return the host of each run; none where no run was on a device of a host."""
    real = [
        HostOfRun(
            label=label,
            facts=tuple((name, record.environment.get(name, "")) for name in FACTS),
            found=summary_of(record),
        )
        for label, record in runs
        if all(remark.kind is not RemarkKind.SIMULATED for remark in record.remarks)
    ]
    return tuple(real) if any(value for each in real for _, value in each.facts) else ()


def cautions(hosts: Sequence[HostOfRun]) -> tuple[str, ...]:
    """Return what a reader of the verdict must know of the hosts, a sentence each."""
    return tuple(
        say(
            "{label}: {told} What differs there may be the host's, and not the drive's.",
            label=Verbatim(each.label),
            told=each.told,
        )
        for each in hosts
        if each.may_limit
    )


def hosts_table(hosts: Sequence[HostOfRun]) -> model.Table:
    """Return hosts side by side, a column each."""
    names = [name for name, _ in hosts[0].rows]
    columns = [dict(each.rows) for each in hosts]
    return model.Table(
        columns=(model.Column(name=""), *(model.Column(name=each.label) for each in hosts)),
        rows=tuple((name, *(column[name] for column in columns)) for name in names),
        caption="The hosts, side by side",
    )
