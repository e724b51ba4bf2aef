"""How a person writes the value of a setting: each form reads a text and shows what it read."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from teijo import units
from teijo.terms.cell import mix_name

# Hostile input is refused before anything is made of it, so every list has a most.
LIST_MOST: Final = 256
SECTOR_BYTES: Final = 512
"""No device has smaller logical blocks."""

T = TypeVar("T")


@dataclass(frozen=True)
class Form(Generic[T]):
    """`parse` reads a text and raises ValueError with the reason it refuses; `show` writes it."""

    parse: Callable[[str], T]
    show: Callable[[T], str] = str


def whole(least: int, most: int) -> Form[int]:
    """Return the form of whole numbers within [least, most]."""

    def parse(text: str) -> int:
        try:
            # Of more than 4,300 digits Python makes no number, and raises this as well.
            value = int(text)
        except ValueError:
            raise ValueError("it is not a whole number") from None
        if not least <= value <= most:
            raise ValueError(f"it must lie between {least:,} and {most:,}")
        return value

    return Form(parse)


def whole_list(least: int, most: int, what: str) -> Form[tuple[int, ...]]:
    """Return the form of different whole numbers within [least, most], as in "5,10,15"."""
    one = whole(least, most)
    return _list_of(one.parse, what, one.show)


def percent(least: int, most: int) -> Form[int]:
    """Return the form of whole percents, written with or without the sign."""
    inner = whole(least, most)
    return Form(lambda text: inner.parse(text.strip().removesuffix("%").strip()))


def positive_number(text: str) -> float:
    """Return a number above zero."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError("it is not a number") from None
    # NaN fails both comparisons, so it is refused too.
    if not 0 < value < float("inf"):
        raise ValueError("it must be above zero")
    return value


def show_number(value: float) -> str:
    """Show a number without zeros at its end, so that it reads back as what it is."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value).removesuffix(".0")


def number(least: float, most: float) -> Form[float]:
    """Return the form of numbers within [least, most], which are above zero."""

    def parse(text: str) -> float:
        value = positive_number(text)
        if not least <= value <= most:
            raise ValueError(f"it must lie between {least:,g} and {most:,g}")
        return value

    return Form(parse, show_number)


def one_of(*words: str) -> Form[str]:
    """Return the form of one of these words."""

    def parse(text: str) -> str:
        word = text.strip().lower()
        if word not in words:
            raise ValueError(f"it is none of {', '.join(words)}")
        return word

    return Form(parse)


def optional(form: Form[T], nothing: Any = None) -> Form[Any]:
    """Return the form of a value that may be missing, written as "none"; it is `nothing` then."""
    return Form(
        lambda text: nothing if text.strip().lower() == "none" else form.parse(text),
        lambda value: "none" if value == nothing else form.show(value),
    )


def ascending(form: Form[tuple[int, ...]]) -> Form[tuple[int, ...]]:
    """Return the form of a list that is put in order."""
    return Form(lambda text: tuple(sorted(form.parse(text))), form.show)


def or_unset(form: Form[T]) -> Form[Any]:
    """Return the form of a value that may be missing by default, and can only be set."""
    return Form(form.parse, optional(form).show)


def _above_zero_ns(text: str) -> int:
    value = units.parse_duration(text)
    if value <= 0:
        raise ValueError("it must be longer than nothing")
    return value


def _show_duration(value: int) -> str:
    for unit, name in ((units.NS_PER_S, "s"), (units.NS_PER_MS, "ms"), (units.NS_PER_US, "us")):
        if value % unit == 0:
            return f"{value // unit}{name}"
    return f"{value}ns"


def _size(text: str) -> int:
    value = units.parse_size(text)
    if value <= 0:
        raise ValueError("it must be more than 0 bytes")
    return value


def _show_size(value: int) -> str:
    for unit, name in (
        (units.TIB, "TiB"),
        (units.GIB, "GiB"),
        (units.MIB, "MiB"),
        (units.KIB, "KiB"),
    ):
        # Whole units only: what is shown must read back as the same number of bytes.
        if value >= unit and value % unit == 0:
            return f"{value // unit}{name}"
    return str(value)


def _show_volume(value: int) -> str:
    for unit, name in ((units.TERA, "TB"), (units.GIGA, "GB"), (units.MEGA, "MB")):
        if value and value % unit == 0:
            return f"{value // unit}{name}"
    return _show_size(value)


def _block_size(text: str) -> int:
    value = _size(text)
    if value % SECTOR_BYTES:
        number = text.strip().rstrip("Bb").strip()
        small = number.isdecimal() and value < SECTOR_BYTES
        guess = f"; did you mean {number}KiB?" if small else ""
        raise ValueError(
            f"it is {value:,} bytes, and a block is a multiple of {SECTOR_BYTES} bytes{guess}"
        )
    return value


def _list_of(
    parse: Callable[[str], int], what: str, show: Callable[[int], str]
) -> Form[tuple[int, ...]]:
    """Return the form of a list of different values, with commas; `what` is the word for many."""

    def parse_all(text: str) -> tuple[int, ...]:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if len(parts) > LIST_MOST:
            raise ValueError(f"it names {len(parts):,}, and {LIST_MOST} are the most")
        values = tuple(map(parse, parts))
        if not values:
            raise ValueError(f"it names no {what}")
        if len(set(values)) < len(values):
            raise ValueError("it names one of them twice")
        return values

    return Form(parse_all, lambda values: ",".join(map(show, values)))


def _read_percent(text: str) -> int:
    read, slash, write = text.partition("/")
    if slash and read.isdecimal() and write.isdecimal() and int(read) + int(write) == 100:
        return int(read)
    raise ValueError(f"{text!r} is not read/write percents that add up to 100")


def _only_mix(text: str) -> int:
    mixes = MIXES.parse(text)
    if len(mixes) > 1:
        raise ValueError("it names more than one mix")
    return mixes[0]


DURATION: Final = Form(_above_zero_ns, _show_duration)
"""A time above zero, in ns."""
PAUSE: Final = Form(units.parse_duration, _show_duration)
"""A time that may be zero, in ns."""
SIZE: Final = Form(_size, _show_size)
"""Bytes above zero."""
VOLUME: Final = Form(_size, _show_volume)
"""Bytes above zero, shown in decimal units where they are whole."""
VOLUMES: Final = _list_of(_size, "sizes", _show_volume)
"""Different sizes that are no blocks, as in "16GB,32GB"."""
BLOCK_SIZE: Final = Form(_block_size, _show_size)
"""Bytes of a whole number of sectors."""
BLOCK_SIZES: Final = _list_of(
    # Six digits would show 1 GiB as 1.04858e+06KiB, which no form reads back.
    _block_size,
    "block sizes",
    lambda size: f"{size / units.KIB:.15g}KiB",
)
"""Different block sizes, as in "4KiB,0.5KiB": in KiB as the standard has them."""
MIXES: Final = _list_of(_read_percent, "mixes", mix_name)
"""Different R/W mixes as read percents, as in "100/0,65/35"."""
MIX: Final = Form(_only_mix, mix_name)
"""One R/W mix as its read percent."""
COMMAND: Final = optional(Form(lambda text: tuple(shlex.split(text)), shlex.join), ())
"""A program and its arguments, quoted as a shell has them."""
OnOff = Literal["on", "off"]
ON_OFF: Final = one_of("on", "off")
YesNo = Literal["yes", "no"]
YES_NO: Final = one_of("yes", "no")
