"""One world from its seed: lives of the program, one after the other, until its run is sealed.

After each death the world does what a person would who reads the message: resume, run again, put
the right drive back. What must hold after each life is in oracles.py.
"""

import random
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from teijo.errors import RunFileError
from teijo.methods.parts import findings_of
from teijo.runfile import reader
from teijo.terms.finding import Findings
from teijo.terms.record import Record
from tests.world import oracles
from tests.world.drive import NAME, WANTED, Drive, Host
from tests.world.life import HOSTILE, Order, Story, adopt_orphans, live, strike_drive, warm_up
from tests.world.oracles import Broken
from tests.world.schedule import LIVES_MOST, Fault, Schedule, Where, draw
from tests.world.shapes import Shape
from tests.world.shim import Action, Disk

ERRNO: Final = {"EIO": 5, "ENOSPC": 28, "ENOMEM": 12, "EINTR": 4}
BY_SIGNAL: Final = {"SIGINT": 2, "SIGINT twice": 2, "SIGTERM": 15, "SIGHUP": 1}
ACTION_OF: Final[dict[str, Action]] = {
    "short write": "short", "lost fsync": "lie", "torn write": "tear", "kill": "kill",
    "power cut": "kill", "clock step": "step", "suspend": "suspend",
}  # fmt: skip
SLEEP_NS_SEEN: Final = 10_000_000
STEP_NS_SEEN: Final = 1_000_000_000
TARGET_BYTES: Final = 16 << 20


_FLAWS_OF: Final = reader.flaws_of


def _no_flaws(*_: object, **__: object) -> tuple[()]:
    return ()


@dataclass(kw_only=True)
class Reference:
    """A run that nothing disturbed: what it finds, and how many calls and events it takes."""

    record: Record
    findings: Findings
    calls: dict[Where, int]


@dataclass(kw_only=True)
class Played:
    """What came of one world. `broken` is what did not hold, "" where all did."""

    schedule: Schedule
    lives: int = 0
    ending: str = ""
    faults: Counter[str] = field(default_factory=Counter)
    codes: list[int] = field(default_factory=list)
    acknowledged: int = 0
    steps_lost: int = 0
    sealed: int = 0
    sealed_wrong: int = 0
    kind: str = ""
    broken: str = ""
    story: list[str] = field(default_factory=list)


class Stage:
    """Where worlds are played, one after the other, by one process."""

    def __init__(self, root: Path) -> None:
        """Make room in a folder, which must lie in memory (tmpfs)."""
        self.root = root
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        adopt_orphans()
        warm_up(root)
        self.disk = Disk(folder=root / "results", grave=root / "grave")
        self._known: dict[Shape, Reference] = {}

    def reference(self, shape: Shape) -> Reference:
        """Return the undisturbed run of a shape, made once."""
        if shape not in self._known:
            schedule = Schedule(
                seed=0, shape=shape, faults=(), tick_ns=1000, report="none", progress="plain"
            )
            world = World(self, schedule)
            story = world.life(1, resume=False)
            if story.crash or story.code not in (0, 5, 8):
                raise AssertionError(f"{schedule}\n{story.code} {story.crash}\n{story.text}")
            record = reader.read(world.sealed)
            self._known[shape] = Reference(
                record=record,
                findings=findings_of(record),
                calls={
                    "disk": int(self.disk.head.calls),
                    "event": story.events,
                    "drive": story.drive_calls,
                },
            )
        return self._known[shape]

    def play(self, seed: int) -> Played:
        """Play one world to its end and judge it."""
        schedule = draw(seed)
        played = Played(schedule=schedule)
        try:
            reference = self.reference(schedule.shape)
            World(self, schedule, reference, played).play()
        except Broken as broken:
            played.broken, played.kind = str(broken), broken.kind
        return played


class World:
    """One world under way."""

    def __init__(
        self,
        stage: Stage,
        schedule: Schedule,
        reference: Reference | None = None,
        played: Played | None = None,
    ) -> None:
        """Begin it: an empty disk, a fresh drive."""
        self.stage, self.schedule, self.reference = stage, schedule, reference
        # The made-up drive's sums and gaps are no engine's: its records contradict themselves.
        real = schedule.shape.kind == "simulated"
        reader.flaws_of = _FLAWS_OF if real else _no_flaws  # type: ignore[assignment]
        self.disk = stage.disk
        self.disk.new(schedule.tick_ns)
        self.played = played or Played(schedule=schedule)
        self.dice = random.Random(schedule.seed ^ 0x5EED)
        self.name = "run"
        self.past = oracles.Past()
        self.resumed = False
        self.slept = self.clock_set = self.warned = False
        self.drive = Drive(inner=schedule.shape.target, capacity_bytes=TARGET_BYTES)
        self.home = self.drive
        self.host_folder = stage.root / "host"
        shutil.rmtree(self.host_folder, ignore_errors=True)
        self.host_folder.mkdir()
        self.file = self.host_folder / "target.dat"

    @property
    def sealed(self) -> Path:
        """The run file when it is whole."""
        return self.disk.folder / f"{self.name}.teijo"

    @property
    def open(self) -> Path:
        """The run file while it grows."""
        return self.disk.folder / f"{self.name}.teijo.open"

    # ---- lives ----------------------------------------------------------------------------

    def play(self) -> None:
        """Live until the run is sealed.

        Raises:
            Broken: something did not hold.
        """
        resume, played = False, self.played
        for life in range(1, LIVES_MOST + 1):
            played.lives = life
            self.between(life, "before")
            story = self.life(life, resume=resume)
            self.resumed |= resume and bool(story.run_id)
            played.codes.append(story.code)
            played.story.append(self.retold(life, story, resume=resume))
            self.faults_of(life, story)
            lost_power = self.after(life, story)
            self.judge(story, lost_power=lost_power)
            if self.finished():
                played.ending = reader.read(self.sealed).run.ending
                return
            resume = self.decide(story)
        raise Broken("liveness", f"not sealed after {LIVES_MOST} lives; codes {played.codes}")

    def life(self, life: int, *, resume: bool) -> Story:
        """Carry one life out, with what befalls it."""
        before = self.drive
        self.disk.arm([tuple(rest) for _, *rest in self.triggers(life)])  # type: ignore[misc]
        story = live(
            self.disk,
            Order(
                arguments=self.arguments(resume=resume),
                host=None if self.schedule.shape.kind == "simulated" else self.host,
                is_block=self.schedule.shape.kind == "block",
                at_event=self.moments(life, "event"),
                at_call=self.moments(life, "drive"),
                target=self.file if self.schedule.shape.kind == "file" else None,
            ),
            self.stage.root / "said",
        )
        if not resume and self.open.exists():
            self.home = self.begun_on(before)
        if story.drive is not None:
            self.drive = story.drive
        return story

    def begun_on(self, drive: Drive) -> Drive:
        """Return the drive a run began on, as it called itself then, whoever it says it is now."""
        with suppress(RunFileError):
            record = reader.read(self.open)
            if record.identity.model != drive.model:
                drive = replace(drive, model=HOSTILE, firmware=HOSTILE)
            return replace(drive, capacity_bytes=record.geometry.capacity_bytes)
        return drive

    def host(self, tell: Callable[..., None]) -> Host:
        """Return the host as it is now."""
        return Host(self.host_folder, self.drive, tell, self.disk.advance)

    def moment(self, fault: Fault) -> int:
        """Return the so manieth call or event at which a fault strikes."""
        total = self.reference.calls[fault.where] if self.reference else 0
        return 1 + int(fault.share * total * 1.05)

    def moments(self, life: int, where: Where) -> dict[int, list[Fault]]:
        """Return the faults of one place by their moment."""
        found: dict[int, list[Fault]] = {}
        for fault in self.schedule.of(life, where):
            found.setdefault(self.moment(fault), []).append(fault)
        return found

    def triggers(self, life: int) -> list[tuple[Fault, int, Action, int, int]]:
        """Return what befalls the calls to the disk: fault, at which, what, value, how long."""
        found: list[tuple[Fault, int, Action, int, int]] = []
        for fault in self.schedule.of(life, "disk"):
            at, kind = self.moment(fault), fault.kind
            if kind in ERRNO:
                found.append((fault, at, "fail", ERRNO[kind], fault.lasts))
            elif kind in BY_SIGNAL:
                found.append((fault, at, "signal", BY_SIGNAL[kind], 1))
                if fault.value:
                    found.append((fault, at + fault.value, "signal", BY_SIGNAL[kind], 1))
            else:
                found.append((fault, at, ACTION_OF[kind], fault.value, fault.lasts))
        return found

    def arguments(self, *, resume: bool) -> list[str]:
        """Return the command line."""
        shape, schedule = self.schedule.shape, self.schedule
        common = ["--report", schedule.report, "--progress", schedule.progress]
        if shape.kind == "block":
            common += ["--destroy", WANTED]
        if resume:
            return ["resume", str(self.open), *common]
        target = {
            "simulated": shape.target,
            "block": str(self.host_folder / "dev" / NAME),
            "file": f"{self.file}?size={TARGET_BYTES}&direct=no&holes=allow",
        }[shape.kind]
        given = [part for pair in shape.settings for part in ("--set", "=".join(pair))]
        spec = ["--spec", shape.spec] if shape.spec else []
        seed = ["--seed", str(shape.run_seed), "-o", str(self.sealed)]
        return ["run", shape.method, target, *given, *spec, *seed, *common]

    # ---- between lives --------------------------------------------------------------------

    def between(self, life: int, where: Where) -> None:
        """Let happen what happens to the drive while the program does not run."""
        for fault in self.schedule.of(life, where):
            host = self.host(lambda *_: None)
            strike_drive(host, fault)
            self.drive = host.drive
            self.played.faults[fault.kind] += 1

    def after(self, life: int, story: Story) -> bool:
        """Cut the power where that was ordered; return whether anything may have been lost."""
        asked = {fault.kind for fault in self.schedule.of(life, "disk", "event")}
        dead = story.code == -9
        cut = bool(self.schedule.of(life, "after")) or (
            dead and ("power cut" in asked or "torn write" in asked)
        )
        if cut:
            lost = self.disk.cut_power(self.dice)
            self.played.faults["power cut"] += 1
            self.played.faults["changes lost with the power"] += lost
            self.played.story.append(f"  power cut: {lost} changes lost")
        return cut and self.disk.head.lying > 0

    def faults_of(self, life: int, story: Story) -> None:
        """Count what befell a life."""
        head = self.disk.head
        for place, (fault, *_) in enumerate(self.triggers(life)):
            story.faults += [fault.kind] * min(1000, int(head.trigger[place].done))
        self.played.faults.update(kind for kind in story.faults if kind != "power cut")
        since = story.warned_after
        self.warned |= since is not None and len(story.acknowledged) > since + 1
        looks = story.clocks[: 1 + len(story.acknowledged)]
        for (asleep_ns, set_ns), (asleep_after_ns, set_after_ns) in pairwise(looks):
            self.slept |= asleep_after_ns - asleep_ns > SLEEP_NS_SEEN
            self.clock_set |= abs(set_after_ns - set_ns) > STEP_NS_SEEN

    def finished(self) -> bool:
        """Return whether the run is sealed and the world may end."""
        return self.sealed.exists() and not self.open.exists()

    def decide(self, story: Story) -> bool:
        """Do what a person would who reads the message; return whether to resume."""
        if story.code in (2, 3, 4, 5, 6):
            self.drive = replace(self.home, sequence=self.drive.sequence + 1)
        if story.code in (2, 3, 4) and self.schedule.shape.kind == "file":
            self.begin_anew("the file is another")
        return self.open.exists()

    def forget(self, why: str) -> None:
        """Do what the remedy says of a file that a lying disk lost: put it away."""
        self.begin_anew(why)

    def begin_anew(self, why: str) -> None:
        """Begin a run under another name, on a fresh target."""
        self.played.story.append(f"  begun anew: {why}")
        self.file.unlink(missing_ok=True)
        self.name += "x"
        self.past = oracles.Past()
        self.resumed = self.slept = self.clock_set = self.warned = False

    # ---- judging --------------------------------------------------------------------------

    def judge(self, story: Story, *, lost_power: bool) -> None:
        """Hold what the life left behind against everything that must be so."""
        self.past.hear(story)
        self.played.acknowledged += len(story.acknowledged)
        oracles.judge_life(self, story, lost_power=lost_power)
        if self.sealed.exists():
            self.played.sealed += 1
            oracles.judge_sealed(self, story)

    def retold(self, life: int, story: Story, *, resume: bool) -> str:
        """Return one life in a line."""
        what = "resume" if resume else "run"
        faults = ", ".join(story.faults) or "-"
        return (
            f"  life {life}: {what} → {story.code}, {len(story.acknowledged)} steps acknowledged, "
            f"told faults: {faults}"
        )
