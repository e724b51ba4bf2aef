"""How a run file is named where nobody named it: after method, target and time."""

import os
from datetime import datetime
from pathlib import Path

from teijo.device.target import member_texts
from teijo.runfile.names import SEALED_SUFFIX


def run_file_for(method: str, target: str, output: str | Path | None, now: datetime) -> Path:
    """Return where a run is recorded: the path that was asked for, ending in ".teijo".

    Without one, or with a folder, which may end in "/" and not exist yet, the file is named after
    method, target and time.
    """
    name = f"{method}-{name_of(target)}-{now:%Y%m%d-%H%M%S}{SEALED_SUFFIX}"
    asked = str(output or "")
    if not asked:
        return Path(name)
    path = Path(asked)
    if asked.endswith("/") or os.path.isdir(path):  # noqa: PTH112 — False of a name too long
        return path / name
    return path if path.suffix == SEALED_SUFFIX else path.with_name(path.name + SEALED_SUFFIX)


def name_of(target: str) -> str:
    """Return a target as a part of a file name: "sim:mlc-a?seed=7" gives "mlc-a".

    Several as one give all their names: "stripe:/dev/sdb,/dev/sdc" gives "sdb-sdc".
    """
    places = (text.partition("?")[0].removeprefix("sim:") for text in member_texts(target))
    bare = "-".join(place.rstrip("/").rpartition("/")[2] for place in places)
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in bare)
    return kept.strip("-.")[:60] or "target"
