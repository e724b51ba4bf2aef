"""The classic tools on every simulated device that has a name: each ends, and no number is of more
than the device can carry. A new preset is in it by itself.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from teijo import api
from teijo.document.model import Facts
from teijo.engine.native import simulated_presets
from teijo.methods.classic.hidden import TITLE

EVERY: Final = [preset.name for preset in simulated_presets()]
LARGE: Final = ("raid50-36", "windows-tier")
"""Devices of hundreds of TB, of which a share is written first: smaller ones stand for them."""
QUICK: Final = ("s3700", "windows-tier")
MARGIN: Final = 1.01
"""What was in flight at an edge of the time counts wholly."""
_SHORT: Final = {"run": "advanced", "large_loads": "2", "small_loads": "1,8", "duration": "100ms"}
_MARK: Final = {"size": "64MiB", "measure": "100ms", "interval": "0s", "runs": "1"}
_SQLIO: Final = {"depth": "8", "seconds": "200ms", "pools": "1@0+256MiB"}
_DISKSPD: Final = {"seconds": "200ms", "warm_up": "50ms", "buffering": "u", "length": "256MiB"}
TESTS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "orion": ("classic.orion", {**_SHORT, "active_range": "10"}),
    "orion-write": ("classic.orion", {**_SHORT, "active_range": "10", "write": "100"}),
    "mark-5": ("classic.crystaldiskmark", {**_MARK, "like": "5"}),
    "mark-8": ("classic.crystaldiskmark", _MARK),
    "sqlio-read": ("classic.sqlio", {**_SQLIO, "factor": "sequential", "block": "1MiB"}),
    "sqlio-write": (
        "classic.sqlio", {**_SQLIO, "kind": "write", "factor": "random", "block": "4KiB"},
    ),
    "diskspd-read": (
        "classic.diskspd", {**_DISKSPD, "access": "random", "block": "4KiB", "outstanding": "32"},
    ),
    "diskspd-write": ("classic.diskspd", {**_DISKSPD, "block": "1MiB", "write": "100"}),
}  # fmt: skip
FILES: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "bonnie": (
        "classic.bonnie",
        {"size": "64MiB", "ram": "32MiB", "files": "64", "seeks": "256", "per_char": "none"},
    ),
    "tiotest": ("classic.tiotest", {"threads": "2", "size": "32MiB", "random": "500"}),
    "tiobench": ("classic.tiobench", {"size": "128MiB", "threads": "1,4", "random": "500"}),
}
MAY_BE_NAMED: Final = {
    "Loads that end while IOPS still rise": "few loads are asked for here",
    "A cache larger than the file": "the file is small here",
}
"""What a strict run of these short tests may name."""
READS_A_SECOND: Final = {
    # 4 KiB at random, 32 in flight, as docs/reference/presets.md has them; and within what share
    **dict.fromkeys(("s3700", "s3700-100", "s3700-400", "s3700-800", "s3500"), (75_000, 0.05)),
    "nvme-2tb": (450_000, 0.2),  # 64 in flight reach it
    "intel-530": (41_000, 0.1),
}


def carried_mb_s(facts: Mapping[str, str]) -> float:
    """Return MB/s of all links and all RAM of a device: nothing comes faster than by them."""
    whole = 0.0
    for key, text in facts.items():
        *places, name = key.split(".")
        if name not in ("link_mb_per_second", "ram_mb_per_second"):
            continue
        spans = (re.fullmatch(r"(\d+)-(\d+)", place) for place in places)
        alike = 1
        for each in spans:
            alike *= int(each[2]) - int(each[1]) + 1 if each else 1
        whole += alike * float(text.split()[0])
    return whole


def hidden(run: api.Run) -> list[str]:
    return [
        block.caption
        for section in run.document().sections
        if section.title == TITLE
        for block in section.blocks
        if isinstance(block, Facts)
    ]


def test_what_a_device_carries_is_that_of_all_its_parts() -> None:
    facts = {
        "0.link_mb_per_second": "3000 MB/s (10^6)",
        "1.0-5.0-5.link_mb_per_second": "270 MB/s (10^6)",
        "ram_mb_per_second": "4000 MB/s (10^6)",
        "bus_mb_per_second": "9000 MB/s (10^6)",
    }
    assert carried_mb_s(facts) == 3_000 + 36 * 270 + 4_000


def crossed() -> Iterator[object]:
    """Give each preset, strict and not; strict asks for more of it, and is long."""
    for strict, mark in (("off", pytest.mark.campaign), ("on", pytest.mark.long)):
        for preset in EVERY:
            yield pytest.param(preset, strict, marks=[mark] * (preset not in QUICK))


@pytest.mark.parametrize(("preset", "strict"), list(crossed()))
def test_each_block_test_ends_with_numbers_that_the_device_can_have(
    tmp_path: Path, preset: str, strict: str
) -> None:
    target = f"sim:{preset}{'?scale=600' if preset in LARGE else ''}"
    for name, (method, settings) in TESTS.items():
        asked = {**settings, "strict": strict}
        if method == "classic.orion" and strict == "on":
            asked |= {"deeper": "off", "ramp": "50ms", "active_range": "1"}
        run = api.run(method, target, output=tmp_path / name, settings=asked, seed=1)
        most = carried_mb_s(run.record.identity.facts) * MARGIN
        rates = [each.throughput_mb_s for each in run.findings.cells]
        assert rates, name
        assert all(rate is not None and 0 < rate <= most for rate in rates), (name, rates, most)
        if strict == "on":
            assert set(hidden(run)) <= set(MAY_BE_NAMED), name
        if name == "diskspd-read" and strict == "on" and preset in READS_A_SECOND:
            truth, share = READS_A_SECOND[preset]
            assert run.findings.cells[0].iops == pytest.approx(truth, rel=share)


@pytest.mark.parametrize(
    "preset",
    [each if each in QUICK[:1] else pytest.param(each, marks=pytest.mark.long) for each in EVERY],
)
def test_each_test_on_files_ends_with_numbers_of_the_device_or_of_memory(
    tmp_path: Path, preset: str
) -> None:
    for name, (method, settings) in FILES.items():
        target = f"sim:os({preset})?memory=16MiB"
        run = api.run(method, target, output=tmp_path / name, settings=settings, seed=1)
        rates = [each.throughput_mb_s or each.iops for each in run.findings.cells]
        assert rates, name
        assert all(rate is not None and rate > 0 for rate in rates), (name, rates)
        strict = api.run(
            method, target, output=tmp_path / f"{name}-strict",
            settings={**settings, "strict": "on"}, seed=1,
        )  # fmt: skip
        # Of what is read in order with nothing in memory, all comes from the device.
        most = carried_mb_s(strict.record.identity.facts) * MARGIN
        read = [
            each.throughput_mb_s
            for each in strict.findings.cells
            if re.search(r"\b(get_block|read)$", dict(each.labels)["test"])
        ]
        assert read, name
        assert all(rate is not None and 0 < rate <= most for rate in read), (name, read, most)
