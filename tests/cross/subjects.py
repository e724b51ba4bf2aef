"""Every method, as small as it can be, and each place where it runs: what the crossed tables share.

A method that is in the registry and not here fails `test_registry.py`, which says what is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from tests.world.shapes import FLASH
from tests.world.shapes import SETTINGS as BLOCKS

Place = Literal["simulated", "file", "directory", "database"]

FILES: Final = "sim:os(hdd-7200)?memory=16MiB"
KEPT: Final = "theirs"
"""A file of somebody else, in the directory of every real target."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One method, its settings, and where it runs.

    `strict` is what stands in place of settings where the method is asked to be strict; None of
    one that cannot be. `once` is what does all of it in one pass, where passes are costly.
    """

    method: str
    settings: Mapping[str, str]
    places: tuple[Place, ...]
    simulated: str = f"sim:{FLASH}"
    strict: Mapping[str, str] | None = None
    once: Mapping[str, str] = field(default_factory=dict)
    variant: str = ""

    @property
    def name(self) -> str:
        """What a test's id calls it."""
        return f"{self.method} {self.variant}".strip()

    @property
    def options(self) -> tuple[str, ...]:
        """The settings as words of a command line."""
        return tuple(f"{key}={value}" for key, value in self.settings.items())

    @property
    def strict_options(self) -> tuple[str, ...]:
        """The same of the strict run."""
        assert self.strict is not None
        settings = {**self.settings, **self.strict, "strict": "on"}
        return tuple(f"{key}={value}" for key, value in settings.items())

    def target(self, place: Place, home: Path) -> str:
        """Return the target of a place; `home` is the directory that a real one lies in."""
        match place:
            case "simulated":
                return self.simulated
            case "file":
                return f"{home / 'disk.img'}?size=8MiB&direct=no"
            case "directory":
                return f"dir:{home}"
            case "database":
                return f"sqlite:{home / 'x.db'}"


DRIVE_AND_FILE: Final = ("simulated", "file")
FOLDERS: Final = ("simulated", "directory")
_BONNIE: Final = {
    "ram": "none", "size": "300MiB", "chunk": "1MiB", "per_char": "64KiB", "seeks": "20",
    "seekers": "2", "files": "1024",
}  # fmt: skip

CLASSIC: Final = (
    Subject(
        method="classic.orion",
        settings={
            "run": "advanced",
            "matrix": "detailed",
            "type": "seq",
            "small_loads": "1",
            "large_loads": "1",
            "write": "50",
            "cache_size": "1MiB",
            "duration": "10ms",
            "passes": "2",
            "prepare": "yes",
            "ramp": "5ms",
        },
        places=DRIVE_AND_FILE,
        strict={},
        once={"passes": "1"},
    ),
    Subject(
        method="classic.crystaldiskmark",
        settings={
            "like": "5",
            "runs": "2",
            "size": "2MiB",
            "interval": "2ms",
            "measure": "5ms",
            "used": "20",
        },
        places=DRIVE_AND_FILE,
        strict={},
        once={"runs": "1"},
    ),
    Subject(
        method="classic.sqlio",
        settings={
            "kind": "write",
            "factor": "random",
            "seconds": "20ms",
            "passes": "2",
            "prepare": "random",
        },
        places=DRIVE_AND_FILE,
        strict={},
    ),
    Subject(
        method="classic.diskspd",
        settings={
            "write": "30",
            "warm_up": "5ms",
            "seconds": "20ms",
            "cool_down": "5ms",
            "passes": "2",
            "prepare": "random",
        },
        places=DRIVE_AND_FILE,
        strict={},
    ),
    Subject(
        method="classic.bonnie",
        settings=_BONNIE,
        places=("simulated",),
        simulated=FILES,
        strict={},
    ),
    Subject(
        method="classic.bonnie",
        variant="small files",
        settings={"size": "none", "files": "1024", "largest": "1KiB", "passes": "2"},
        places=("directory",),
        strict={},
    ),
    Subject(
        method="classic.tiotest",
        settings={"size": "1MiB", "threads": "2", "random": "20", "passes": "2"},
        places=FOLDERS,
        simulated=FILES,
        strict={},
    ),
    Subject(
        method="classic.tiobench",
        settings={"size": "2MiB", "threads": "1,2", "random": "20"},
        places=FOLDERS,
        simulated=FILES,
        strict={},
    ),
    Subject(
        method="classic.sql-bench",
        settings={"tests": "connect,create", "small": "on", "time_limit": "20ms"},
        places=("directory",),
        strict={},
    ),
    Subject(
        method="oltp",
        settings={"rows": "200", "passes": "2", "seconds": "50ms", "clients": "2"},
        places=("directory",),
    ),
)
"""The methods that came with the classic tools: each verb is crossed with each of them."""

LARGE: Final = Subject(
    method="classic.bonnie", variant="large file", settings=_BONNIE, places=("directory",)
)
"""What writes 300 MiB each time."""

OTHERS: Final = (
    Subject(
        method="quick",
        settings={"amount": "4MiB", "passes": "2", "seconds": "5ms", "rest": "1ms"},
        places=("simulated",),
    ),
    *(
        Subject(method=method, settings=settings, places=("simulated",))
        for method, settings in BLOCKS.items()
    ),
    Subject(method="files", settings={"count": "10", "passes": "2"}, places=("directory",)),
    Subject(method="sql", settings={"count": "10", "passes": "2"}, places=("database",)),
)
"""The others, whose verbs have tables of their own: they are killed and resumed here."""

SUBJECTS: Final = (*CLASSIC, *OTHERS)
