"""What a free workload may be asked for, in fio's words: one stream, or several by name."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from teijo import units
from teijo.errors import PlanError
from teijo.methods import forms
from teijo.methods.forms import Form, optional, or_unset
from teijo.methods.knobs import Knob, describe, meaning, parse_overrides
from teijo.methods.load import QUEUE_DEPTH_MOST
from teijo.methods.settings import Settings
from teijo.methods.workload import words as workload_words
from teijo.terms.cell import mix_name
from teijo.terms.workload import Access, ActiveRange, Rate, Schedule, Stream

Word = Literal["randread", "randwrite", "randrw", "read", "write", "rw"]

WORDS: dict[str, tuple[Access, int | None]] = {
    "randread": (Access.RANDOM, 100),
    "randwrite": (Access.RANDOM, 0),
    "randrw": (Access.RANDOM, None),
    "read": (Access.SEQUENTIAL, 100),
    "write": (Access.SEQUENTIAL, 0),
    "rw": (Access.SEQUENTIAL, None),
}
"""Order and read percent of fio's words; None where `read` says it."""

MIXED_READ_PERCENT = 50  # as in fio
RATES: Final = (1e-6, float(units.GIGA))
"""I/Os per second that the engine takes (crates/engine/src/check.rs)."""
THREADS_MOST: Final = 512
"""Of all streams together."""
DEFAULT_WORD: Final = "randread"
_SHORT_RATE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(k|M) ?(?:IOPS)?", re.IGNORECASE)
_SPEED: Final = re.compile(r"([0-9]{1,9} ?(?:[kMG]i?B|B))(?:/s|ps)?", re.IGNORECASE)
PREFIX: Final = "stream."
DURATION_NS = 10 * units.NS_PER_S


def rate_of_ios(text: str) -> float:
    """Return a rate of I/Os; the text of another one says how it is written as such."""
    if short := _SHORT_RATE.fullmatch(text.strip()):
        count = float(short[1]) * (units.KILO if short[2].lower() == "k" else units.MEGA)
        raise ValueError(f"it takes a plain number; did you mean {count:.0f}?")
    if speed := _SPEED.fullmatch(text.strip()):
        each = units.parse_size(speed[1]) / (4 * units.KIB)
        raise ValueError(
            "it counts I/Os each second, not bytes: divide by the block size; did you mean "
            f"{each:.0f}, for blocks of 4 KiB?"
        )
    return forms.number(*RATES).parse(text)


class StreamSettings(Settings, frozen=True):
    """One stimulus."""

    rw: Annotated[Word, Knob(forms.one_of(*WORDS), "rw=randrw", ("readwrite",))] = meaning(
        "order and direction: randread, randwrite, randrw, read, write or rw", DEFAULT_WORD
    )
    read_percent: Annotated[int, Knob(forms.percent(0, 100), "read=70", ("rwmixread",))] = meaning(
        "percent of the I/Os that read, for randrw and rw", 100
    )
    block_size_bytes: Annotated[
        int, Knob(forms.BLOCK_SIZE, "bs=4KiB", ("block_size", "blocksize"))
    ] = meaning("block size", 4 * units.KIB)
    block_mix: Annotated[
        tuple[tuple[int, int], ...],
        Knob(workload_words.BLOCK_MIX, "bssplit=4KiB:70,8KiB:30"),
    ] = meaning("block sizes and their weights instead of one size, or none", ())
    threads: Annotated[int, Knob(forms.whole(1, THREADS_MOST), "threads=4", ("tc", "numjobs"))] = (
        meaning("thread count", 1)
    )
    queue_depth: Annotated[int, Knob(forms.whole(1, QUEUE_DEPTH_MOST), "qd=32", ("iodepth",))] = (
        meaning("outstanding I/Os of each thread", 1)
    )
    active_range_percent: Annotated[
        int, Knob(forms.percent(1, 100), "range=50%", ("active_range", "ar"))
    ] = meaning("share of the device that is touched, from its start, in percent", 100)
    access: Annotated[
        str, Knob(workload_words.ACCESS, "access=zipf:1.1", ("random_distribution",))
    ] = meaning(
        "where random I/Os go: random, shuffled, zipf:THETA, pareto:H or zoned:50/5,…", "random"
    )
    content: workload_words.ContentText = "random"
    flush_every_writes: Annotated[
        int, Knob(forms.whole(0, units.MEGA), "fsync=32", ("fdatasync",))
    ] = meaning("a flush after so many writes of each thread, or 0", 0)
    discard_percent: Annotated[int, Knob(forms.percent(0, 100), "discard=10%", ("trim",))] = (
        meaning("percent of all I/Os that discard their block instead", 0)
    )
    verify: Annotated[
        Literal["on", "after", "off"], Knob(forms.one_of("on", "after", "off"), "verify=on")
    ] = meaning(
        "whether reads are held to what was written: on, after (read back too) or off", "off"
    )
    ios_per_second: Annotated[
        float | None,
        Knob(optional(Form(rate_of_ios, forms.show_number)), "rate=1000", ("rate_iops", "iops")),
    ] = meaning("I/Os due each second whether or not the device keeps up, or none", None)
    schedule: Annotated[Schedule, Knob(forms.one_of(*Schedule), "schedule=poisson")] = meaning(
        "arrivals at a rate: fixed or poisson", Schedule.FIXED
    )

    def stream(self, name: str) -> Stream:
        """Return the stimulus in the field's words."""
        rate = self.ios_per_second
        access, skew, zones = workload_words.parse_access(self.access)
        content, content_percent = workload_words.parse_content(self.content)
        order = WORDS[self.rw][0]
        return Stream(
            name=name,
            read_percent=self.read_percent,
            block_size_bytes=self.block_size_bytes,
            block_mix=self.block_mix,
            access=access if order is Access.RANDOM else order,
            skew=skew,
            zones=zones,
            threads=self.threads,
            queue_depth=self.queue_depth,
            active_range=ActiveRange(share_percent=self.active_range_percent),
            content=content,
            content_percent=content_percent,
            flush_every_writes=self.flush_every_writes,
            discard_percent=self.discard_percent,
            verified=self.verify != "off",
            rate=None if rate is None else Rate(ios_per_second=rate, schedule=self.schedule),
        )

    @property
    def block_name(self) -> str:
        """The block size, or the sizes of a mix with their weights."""
        if self.block_mix:
            return workload_words.BLOCK_MIX.show(self.block_mix)
        return units.format_block_size(self.block_size_bytes)

    @property
    def title(self) -> str:
        """The stimulus in one line: "randrw 70/30 4 KiB, 1 × 32"."""
        mix = f" {mix_name(self.read_percent)}" if WORDS[self.rw][1] is None else ""
        block = self.block_name
        rate = (
            "" if self.ios_per_second is None else f", {self.ios_per_second:,g}/s {self.schedule}"
        )
        discard = f", {self.discard_percent} % discard" if self.discard_percent else ""
        return f"{self.rw}{mix} {block}, {self.threads} × {self.queue_depth}{rate}{discard}"


class NamedStream(StreamSettings, frozen=True):
    """One of several streams."""

    name: str


def show_streams(value: tuple[NamedStream, ...]) -> str:
    """Show named streams as they are read back."""
    return "; ".join(f"{each.name}: {_words(each)}" for each in value) or "none"


def _words(stream: NamedStream) -> str:
    """Return the words that say a stream, those left at their default left out."""
    usual = {each.key: each.value for each in describe(StreamSettings())}
    return " ".join(
        f"{each.key}={each.value}"
        for each in describe(stream)
        if each.key in ("rw", "bs", "qd") or each.value != usual[each.key]
        if each.key != "bs" or not stream.block_mix
        if each.key != "read" or WORDS[stream.rw][1] is None
    )


def _split_streams(text: str) -> tuple[tuple[str, str], ...]:
    """Return (name, words) of each stream in "small: rw=… bs=…; large: rw=…"."""
    parts = [part.partition(":") for part in text.split(";") if part.strip()]
    if text.strip().lower() == "none":
        return ()
    named = {name.strip(): words for name, colon, words in parts if colon}
    if len(named) < len(parts) or not parts:
        raise ValueError("each stream is NAME: KEY=VALUE …, with a name of its own")
    return tuple(named.items())


class WorkloadSettings(StreamSettings, frozen=True):
    """The whole workload. Exactly one of `duration_ns` and `total_bytes` bounds it.

    Where there are `streams`, they are the workload, and the fields of one stream are no more
    than what those were told to have in common.
    """

    duration_ns: Annotated[
        int | None, Knob(or_unset(forms.DURATION), "seconds=10", ("duration", "runtime", "time"))
    ] = meaning("how long, unless bytes says how much", None)
    total_bytes: Annotated[
        int | None, Knob(or_unset(forms.SIZE), "bytes=1GiB", ("size", "io_size"))
    ] = meaning("how much to read and write in total, instead of how long", None)
    streams: Annotated[
        tuple[NamedStream, ...],
        Knob(
            Form(_split_streams, show_streams),
            "stream=small: rw=randread bs=4KiB qd=16; large: rw=read bs=1MiB qd=4",
        ),
    ] = meaning("several streams at once: NAME: rw=… bs=…; NAME: …, or stream.NAME='rw=… bs=…'", ())

    @property
    def stimuli(self) -> tuple[tuple[str, StreamSettings], ...]:
        """Every stream with its name; the only one of a plain workload is "main"."""
        named: tuple[tuple[str, StreamSettings], ...] = tuple(
            (each.name, each) for each in self.streams
        )
        return named or (("main", self),)

    @property
    def reads_back(self) -> bool:
        """Whether what was written is read back at the end."""
        return any(stimulus.verify == "after" for _, stimulus in self.stimuli)


def asked_in(overrides: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that `--set` asks for, and those that follow from them.

    Raises:
        PlanError: an unknown or repeated key, a bad value, two bounds, a name that is none.
    """
    plain = {key: text for key, text in overrides.items() if not key.startswith(PREFIX)}
    asked = parse_overrides(WorkloadSettings, _split_sizes(plain))
    named: dict[str, str] = dict(asked.pop("streams", ()))
    named |= {key.removeprefix(PREFIX): text for key, text in overrides.items() if key not in plain}
    shared = {name: value for name, value in asked.items() if name in StreamSettings.model_fields}
    streams = tuple(named_stream(name, text, shared) for name, text in named.items())
    if not streams:
        asked |= _mix(asked) | _largest(asked)
    return {**asked, **_bound(asked), "streams": streams}


def named_stream(name: str, text: str, shared: Mapping[str, object]) -> NamedStream:
    """Return the stream of this name that "rw=… bs=…" says; `shared` are fields all have.

    Raises:
        PlanError: it is no name, an unknown or repeated key, a bad value.
    """
    example = "For example: --set stream.small='rw=randread bs=4KiB qd=16'"
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", name):
        raise PlanError(
            f"{name!r} is no name of a stream: letters, digits, - and _, at most 32",
            remedy=example,
        )
    words: dict[str, str] = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not (key and equals and value) or key in words:
            raise PlanError(
                f"Stream {name}: {word!r} is no KEY=VALUE, or stands twice", remedy=example
            )
        words[key] = value
    own = parse_overrides(StreamSettings, _split_sizes(words))
    sizes = ("block_size_bytes", "block_mix")
    # Only one of bs and bssplit can hold, so a stream's own takes the place of a shared one.
    if any(size in own for size in sizes):
        shared = {field: value for field, value in shared.items() if field not in sizes}
    asked = {**shared, **own}
    if "read_percent" not in own and WORDS[str(asked.get("rw", DEFAULT_WORD))][1] is not None:
        asked.pop("read_percent", None)  # what mixed streams share is not said to the others
    return NamedStream.model_validate({**asked, **_mix(asked), **_largest(asked), "name": name})


def _bound(asked: Mapping[str, object]) -> dict[str, object]:
    if asked.keys() >= {"duration_ns", "total_bytes"}:
        raise PlanError(
            "The settings seconds and bytes are both given, and only one can end the workload",
            remedy="Set seconds for how long, or bytes for how much.",
        )
    return {} if asked.keys() & {"duration_ns", "total_bytes"} else {"duration_ns": DURATION_NS}


def _mix(asked: Mapping[str, object]) -> dict[str, object]:
    word = str(asked.get("rw", DEFAULT_WORD))
    _, fixed = WORDS[word]
    wanted = asked.get("read_percent")
    if fixed is None:
        return {"read_percent": MIXED_READ_PERCENT if wanted is None else wanted}
    if wanted not in (None, fixed):
        mixed = "randrw" if word.startswith("rand") else "rw"
        raise PlanError(
            f"read={wanted} does not go with rw={word}, which reads {fixed} %",
            remedy=f"Set rw={mixed} for a mix.",
        )
    return {"read_percent": fixed}


def _split_sizes(overrides: Mapping[str, str]) -> dict[str, str]:
    """Return the overrides with a bs that is a mix under the mix's own key."""
    return {
        "bssplit" if key in ("bs", "block_size", "blocksize") and ":" in text else key: text
        for key, text in overrides.items()
    }


def _largest(asked: Mapping[str, object]) -> dict[str, object]:
    mix = asked.get("block_mix")
    if not isinstance(mix, tuple) or not mix:
        return {}
    if "block_size_bytes" in asked:
        raise PlanError(
            "The settings bs and bssplit are both given, and only one can say how long a block is",
            remedy="Set bs for one size, or bssplit for several.",
        )
    # A stream of several sizes has the largest as its block size: that one must fit.
    return {"block_size_bytes": max(size for size, _ in mix)}


def check_stream(stimulus: StreamSettings) -> None:
    """Make sure that a stream's words go together.

    Raises:
        PlanError: they do not.
    """
    if WORDS[stimulus.rw][0] is not Access.RANDOM and stimulus.access != "random":
        raise PlanError(
            f"access={stimulus.access} is of random I/O, and rw={stimulus.rw} is sequential",
            remedy=f"Set rw=rand{stimulus.rw}, or leave access out.",
        )
    if stimulus.access == "shuffled" and stimulus.block_mix:
        raise PlanError(
            "A shuffle has every block once, so its blocks are of one size",
            remedy="Set bs to one size, or access=random.",
        )


def check_streams(stimuli: Sequence[StreamSettings]) -> None:
    """Make sure that each stream's words go together, and that all or none are verified.

    Raises:
        PlanError: they do not.
    """
    for stimulus in stimuli:
        check_stream(stimulus)
    words = {each.verify for each in stimuli}
    if words == {"off"}:
        return
    if len(words) > 1:
        raise PlanError(
            "Streams differ in verify, and what is not stamped cannot be judged",
            remedy="Set verify=on, or verify=after, for all of them.",
        )
    if all(each.read_percent == 100 for each in stimuli):
        raise PlanError(
            "The setting verify holds reads to what the same workload wrote, "
            "and this one writes nothing",
            remedy="Set rw=write, rw=randrw, or a stream that writes beside one that reads.",
        )
    if words == {"on"} and all(each.read_percent == 0 for each in stimuli):
        raise PlanError(
            "verify=on holds reads to what the same workload wrote, and this one reads nothing",
            remedy="Set verify=after to read back what was written, or rw=randrw or rw=rw.",
        )
    for each in stimuli:
        if each.discard_percent:
            raise PlanError(
                "Nobody can say what is read of a discarded block, so it cannot be verified",
                remedy="Leave discard out, or verify.",
            )
        if each.content.startswith(("zero", "dedupable")):
            raise PlanError(
                f"content={each.content} has no room for the stamps that verify checks",
                remedy="Set content=random, refill or compressible:PERCENT.",
            )
