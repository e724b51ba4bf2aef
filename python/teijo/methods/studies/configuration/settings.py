"""The settings of a configuration study: factors, how they are applied, what is measured."""

from collections.abc import Mapping
from typing import Annotated, Final

from teijo import units
from teijo.errors import PlanError
from teijo.methods import forms
from teijo.methods.drive_settings import purge_or
from teijo.methods.forms import Form, optional
from teijo.methods.knobs import Knob, meaning
from teijo.methods.settings import Settings
from teijo.methods.studies.configuration import words
from teijo.methods.workload import settings as workload_settings
from teijo.methods.workload.settings import NamedStream

PRESETS: Final[Mapping[str, str]] = {
    "seq-q32-read": "rw=read bs=128KiB qd=32",
    "seq-q32-write": "rw=write bs=128KiB qd=32",
    "4k-q32-read": "rw=randread bs=4KiB qd=32",
    "4k-q32-write": "rw=randwrite bs=4KiB qd=32",
    "seq-read": "rw=read bs=1MiB qd=1",
    "seq-write": "rw=write bs=1MiB qd=1",
    "4k-read": "rw=randread bs=4KiB qd=1",
    "4k-write": "rw=randwrite bs=4KiB qd=1",
}
"""The eight workloads of CrystalDiskMark 5, in its order, by names of our own."""
GROUPS: Final = {"cdm5": tuple(PRESETS)}
WORKLOADS_MOST: Final = 64


def parse_workloads(text: str) -> tuple[NamedStream, ...]:
    """Return the workloads of "4k-write; mine: rw=randrw read=70 bs=8KiB", presets by their name.

    Raises:
        ValueError: a part is no preset and no NAME: WORDS, or two have one name.
        teijo.errors.PlanError: a workload's words are refused.
    """
    found: list[NamedStream] = []
    for part in (each.strip() for each in text.split(";") if each.strip()):
        name, colon, said = (each.strip() for each in part.partition(":"))
        if colon:
            found.append(_workload(name, said))
            continue
        for preset in GROUPS.get(name, (name,)):
            if preset not in PRESETS:
                known = ", ".join((*GROUPS, *PRESETS))
                raise ValueError(f"{preset!r} is none of {known}, and no NAME: rw=… bs=…")
            found.append(_workload(preset, PRESETS[preset]))
    if not 1 <= len(found) <= WORKLOADS_MOST:
        raise ValueError(f"it names {len(found)} workloads, and 1 to {WORKLOADS_MOST} can be")
    if len({each.name for each in found}) < len(found):
        raise ValueError("two workloads have one name")
    return tuple(found)


def _workload(name: str, said: str) -> NamedStream:
    stream = workload_settings.named_stream(name, said, {})
    # Only the method workload has a step that reads back.
    if stream.verify == "after":
        raise PlanError(
            f"Workload {name}: verify=after reads back what was written, and a study does not",
            remedy="Set verify=on for a mix of reads and writes, or leave it out.",
        )
    workload_settings.check_stream(stream)
    return stream


FACTORS: Final = optional(Form(words.factors, words.show_factors), ())
WORKLOADS: Final = Form(parse_workloads, workload_settings.show_streams)


class ConfigurationSettings(Settings, frozen=True):
    """The whole study. A `device` or a `hook` applies the factors, never both."""

    title: Annotated[str, Knob(Form(str.strip), "title=Stripe sizes")] = meaning(
        "what the report is called", "Configurations compared"
    )
    factors: Annotated[words.Factors, Knob(FACTORS, "factors=chunk=16KiB,64KiB; cache=off,wb")] = (
        meaning("what varies: NAME=LEVEL,LEVEL; NAME=…, or JSON with a text for each level", ())
    )
    device: Annotated[
        str, Knob(optional(Form(words.device), ""), "device=sim:raid5(4×hdd-7200)?chunk={chunk}")
    ] = meaning("the simulated device of each configuration, {NAME} where a level stands", "")
    hook: Annotated[tuple[str, ...], Knob(forms.COMMAND, "hook=./apply.sh --quiet")] = meaning(
        "the program that applies a configuration to a real target", ()
    )
    timeout_ns: Annotated[int, Knob(forms.DURATION, "timeout=10min")] = meaning(
        "how long the hook may take", 600 * units.NS_PER_S
    )
    workloads: Annotated[
        tuple[NamedStream, ...],
        Knob(WORKLOADS, "workloads=4k-write; oltp: rw=randrw read=70 bs=8KiB qd=16", ("workload",)),
    ] = meaning(
        "what is measured in each: presets, or NAME: rw=… bs=…; cdm5 is eight of them",
        parse_workloads("seq-read; 4k-read"),
    )
    range_percent: Annotated[int, Knob(forms.percent(1, 100), "range=10%")] = meaning(
        "share of the device that each workload touches at most, from its start", 100
    )
    duration_ns: Annotated[int, Knob(forms.DURATION, "seconds=5", ("duration", "runtime"))] = (
        meaning("how long each workload is measured", 5 * units.NS_PER_S)
    )
    ramp_ns: Annotated[int, Knob(forms.PAUSE, "ramp=2s")] = meaning(
        "how long each workload runs before it is measured", 0
    )
    rest_ns: Annotated[int, Knob(forms.PAUSE, "rest=5s")] = meaning(
        "how long the device rests before each workload", 0
    )
    purge: Annotated[str, Knob(purge_or("on", "off"), "purge=on")] = meaning(
        "whether the device is purged in each configuration: on, off, or a method by its name",
        "off",
    )
    precondition_times: Annotated[
        float, Knob(Form(words.capacities, forms.show_number), "precondition=1", ("fill",))
    ] = meaning("user capacities written in each configuration before it is measured", 0.0)
    repeats: Annotated[int, Knob(forms.whole(2, 100), "repeats=5", ("blocks",))] = meaning(
        "how often every configuration is measured, each time in another order", 3
    )
    control: Annotated[str, Knob(Form(words.control), "control=chunk=64KiB, cache=wb")] = meaning(
        "the configuration measured under a second name: first, none or its levels", "first"
    )
    shuffle: Annotated[int, Knob(forms.whole(0, 2**53 - 1), "shuffle=7")] = meaning(
        "the seed of the order of measuring", 1
    )
