"""Acting as CrystalDiskMark: from the words to the run, from what was found to its text."""

import os
from datetime import datetime
from typing import Any, Final, cast

from teijo.methods.classic.crystaldiskmark.found import CrystalDiskMarkFound, transported_mb_s
from teijo.methods.classic.crystaldiskmark.rows import Like
from teijo.methods.classic.crystaldiskmark.settings import PASS
from teijo.methods.found import Found
from teijo.outside.text import visible
from teijo.personas.crystaldiskmark.command import USAGE, Wanted, size_word, wanted
from teijo.personas.crystaldiskmark.text import (
    VERSIONS,
    Drive,
    Sheet,
    Shown,
    drive_of_8,
    file_name,
    text_of,
)
from teijo.personas.crystaldiskmark.window import Window
from teijo.personas.persona import Call, Order, Said
from teijo.terms.record import Record
from teijo.terms.result import Answer, StepResult
from teijo.terms.step import Measure, Step

METHOD: Final = "classic.crystaldiskmark"
_MACHINES: Final = {"x86_64": "x64", "aarch64": "ARM64", "i686": "x86"}


class CrystalDiskMarkPersona:
    """CrystalDiskMark 3.0.2, 5.1.2 or 8.0.4."""

    names = ("crystaldiskmark",)
    likes = ("8", "5", "3")
    naming = "Name a folder, a file or a device: teijo as crystaldiskmark /mnt/disk"

    def order(self, name: str, call: Call) -> Order | Said:
        """Return the run that the words ask for, or how the command is used.

        Raises:
            teijo.errors.UsageError: an option that the version has not, a Windows path.
            teijo.errors.PlanError: an unknown option or a bad value.
        """
        del name
        like = cast("Like", call.like or self.likes[0])
        found = wanted(call.words, like, call.now, call.folder)
        if found is None:
            return Said(stdout=USAGE)
        window = _window(found, like) if call.screen else None
        memory = {"wanted": found, "window": window, "admin": os.geteuid() == 0}
        return Order(
            method=METHOD,
            target=found.target,
            settings=found.settings,
            name="crystaldiskmark",
            files_in=".",
            memory=memory,
        )

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Return the window, drawn anew as each pass begins and ends."""
        window = order.memory["window"]
        if not isinstance(window, Window):
            return Said()
        if answer is None:
            window.begin(step)
        elif isinstance(step, Measure) and step.phase == PASS and isinstance(answer, StepResult):
            like = order.memory["wanted"].asked.like
            window.told(step.cell or "", transported_mb_s(answer, like))
        return Said(stderr=window.drawn())

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        """Return the text, on stdout and as the file that the original saves."""
        assert isinstance(found, CrystalDiskMarkFound), "the run was of this method"
        asked: Wanted = order.memory["wanted"]
        date = datetime.fromisoformat(found.record.run.ended_at).astimezone()
        sheet = sheet_of(found, asked, date, admin=order.memory["admin"])
        text = text_of(sheet)
        window = order.memory["window"]
        if isinstance(window, Window):
            window.end()
        return Said(
            stdout=text if text.endswith("\n") else text + "\r\n",
            stderr=window.drawn() if isinstance(window, Window) else "",
            files=((file_name(date), text.encode()),),
        )


def sheet_of(found: CrystalDiskMarkFound, wanted: Wanted, date: datetime, *, admin: bool) -> Sheet:
    """Return all that the text says of a run. Times and sizes are those that were asked for: on a
    drive that is simulated at a scale they stand for these.
    """
    asked, record = wanted.asked, found.record
    comment = wanted.comment
    if comment is None:
        version = VERSIONS[asked.like][0]
        comment = f"Teijo {record.run.version}, acting as CrystalDiskMark {version}"
    return Sheet(
        like=asked.like,
        profile=asked.profile,
        mix=asked.mix,
        queues=asked.queues,
        threads=asked.threads,
        numbers={
            score.place: Shown(mb_s=score.score_mb_s, latency_us=score.latency_us or 0.0)
            for score in found.scores
        },
        runs=asked.runs,
        size_bytes=asked.size_bytes,
        interval_ns=asked.interval_ns,
        measure_ns=asked.measure_ns,
        zeros=asked.data == "0fill",
        admin=admin,
        drive=wanted.drive or _whole(record, wanted.name),
        date=date,
        system=system_of(record),
        machine=_machine(record),
        comment=comment,
    )


def _whole(record: Record, name: str) -> Drive:
    """Return a device without a file system as an empty drive."""
    total = record.geometry.nominal_capacity_bytes
    return Drive(name=name, used_bytes=0, total_bytes=total)


def system_of(record: Record) -> str:
    """Return the system in the original's form: "NAME [6.1 Build 6.1.0-18-amd64] (x64)"."""
    told = record.environment
    release = told.get("kernel", "").rpartition(" ")[2]
    version = ".".join(release.split(".")[:2])
    return visible(f"{told.get('os', 'Linux')} [{version} Build {release}] ({_machine(record)})")


def _machine(record: Record) -> str:
    machine = record.environment.get("machine", "x86_64")
    return visible(_MACHINES.get(machine, machine))


def _window(wanted: Wanted, like: Like) -> Window:
    asked = wanted.asked
    drive = wanted.name if wanted.drive is None else drive_of_8(wanted.drive)
    return Window(
        like=like,
        version=VERSIONS[like][0],
        places=asked.shown,
        top=f"{asked.runs}  {size_word(asked.size_bytes)}  {drive}",
        passes=asked.runs,
    )
