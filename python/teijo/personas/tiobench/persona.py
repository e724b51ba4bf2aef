"""tiobench.pl: its command line in; its report out."""

import os
import platform
from typing import Any, Final

from teijo.methods.classic.tiotest.found import TioFound
from teijo.methods.found import Found
from teijo.personas.persona import Call, Order, Refused, Said
from teijo.personas.tiobench.command import Line, read
from teijo.personas.tiobench.output import Row, report
from teijo.personas.tiotest.persona import timings_of
from teijo.terms.result import Answer
from teijo.terms.step import Step
from teijo.units import MIB

_LINE: Final = "line"


class TiobenchPersona:
    """Acts as the tiobench.pl of 0.4.2."""

    names = ("tiobench", "tiobench.pl")
    likes = ("0.4.2",)
    naming = "Name a directory: --target /mnt/disk."

    def order(self, name: str, call: Call) -> Order | Said:
        """Return the run that a command line asks for, or what tiobench.pl says instead."""
        memory_mib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MIB
        release = platform.release()
        try:
            line = read(name, call.words, call.folder, memory_mib=memory_mib, release=release)
        except Refused as refused:
            return refused.said
        return Order(
            method="classic.tiobench",
            target=f"dir:{line.folder}",
            settings=line.settings,
            name="tiobench",
            memory={_LINE: line},
        )

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Return nothing: tiobench.pl is silent until its end."""
        del order, step, answer
        return Said()

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        """Return the units and the four tables."""
        assert isinstance(found, TioFound)
        line = order.memory[_LINE]
        assert isinstance(line, Line)
        runs = range(1, found.settings.passes + 1)
        rows = [
            Row(
                size_mib=each.size_bytes // MIB,
                block_bytes=each.block_bytes,
                threads=each.threads,
                runs=[timings_of(found, found.cells_of(each), number) for number in runs],
            )
            for each in found.settings.combinations
        ]
        return Said(stdout=report(line.identifier, rows))
