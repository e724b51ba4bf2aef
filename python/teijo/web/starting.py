"""What may be started from the page, and the command line that starts it.

Whoever asks chooses among what the server offers. A file and a device are named by an id, and
what would be overwritten only after its name or its serial was typed. What the command line then
does with it (preflight, claim, consent) is the same as for whoever types it.
"""

import hashlib
import os
import re
import secrets
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

from teijo import api
from teijo.api.acting import Foretold
from teijo.device import inspect_target, list_devices, parse_target
from teijo.device.discover import FoundDevice
from teijo.device.target import BlockTarget, FileTarget, SimulatedTarget, Target
from teijo.engine import simulated_presets
from teijo.errors import PlanError, TargetError, TeijoError, UnsafeError
from teijo.methods.registry import CARDS, Card, card_named, loaded
from teijo.outside.text import unspeakable
from teijo.terms.record import Record
from teijo.units import format_capacity, parse_size
from teijo.web.serving import Serving

NAMED: Final = "sim:"
"""The key of a simulated device that is written out in `text`."""
FILES_MOST: Final = 200
"""Files of one folder that are offered."""
SETTINGS_MOST: Final = 100
_SETTING: Final = re.compile(r"[a-z][a-z0-9_-]*=.*", re.DOTALL)
_HOOK: Final = "hook"
_QUICK: Final = "quick"
_ID_BYTES: Final = 12


class Kind(StrEnum):
    """What a target is."""

    SIMULATED = "simulated"
    NEW_FILE = "new file"
    FILE = "file"
    DEVICE = "device"


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A target that a run may be started on.

    `key` is what a form says of it, `text` what the command line does, and `consent` what has to be
    typed before anything of it is overwritten, "" where nothing is lost.
    """

    key: str
    kind: Kind
    label: str
    text: str
    consent: str = ""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a form says: `text` is a simulated device's parameters, or all of it; `typed` is what a
    person typed by hand to give up what is on the target.
    """

    method: str = _QUICK
    spec: str = ""
    target: str = ""
    text: str = ""
    size: str = ""
    settings: str = ""
    typed: str = ""


@dataclass(frozen=True, kw_only=True)
class Order:
    """A run that may be started: what it is on, and the words after `teijo`, without the output.

    Two orders of one `place` would disturb each other.
    """

    method: str
    target: str
    place: str
    words: tuple[str, ...]

    def to(self, path: Path) -> tuple[str, ...]:
        """Return the words with the run file among them."""
        return (*self.words, "-o", str(path))


def asked_of(form: Mapping[str, str]) -> Asked:
    """Return what a form or an address asks for; what it does not say is as usual."""
    names = Asked.__dataclass_fields__
    return Asked(**{name: form[name].strip() for name in names if form.get(name)})


def methods() -> tuple[Card, ...]:
    """Return the methods that measure what is offered."""
    return _on_blocks()


@cache
def _on_blocks() -> tuple[Card, ...]:
    return tuple(card for card in CARDS if loaded(card).work == "blocks")


def offers(serving: Serving) -> tuple[Offer, ...]:
    """Return what there is to start on now. Devices are looked at only if some may be destroyed."""
    simulated = (
        Offer(
            key=f"{NAMED}{one.name}",
            kind=Kind.SIMULATED,
            label=f"{one.name}: {one.about}",
            text=f"{NAMED}{one.name}",
        )
        for one in simulated_presets()
    )
    return (*simulated, *_files(serving), *_devices(serving))


def order_of(asked: Asked, serving: Serving) -> Order:
    """Return what is to be started.

    Raises:
        PlanError: there is no such method here, or a setting is none.
        TargetError: there is no such target here.
        UnsafeError: what would be lost was not typed.
    """
    card, target = _card(asked.method), target_of(asked, serving)
    words = ["quick" if card.id == _QUICK else "run"]
    words += [] if card.id == _QUICK else [card.id]
    words += [target.text]
    if asked.spec:
        if asked.spec not in card.specs:
            raise PlanError(
                f"{card.id} has no version {asked.spec!r}",
                remedy=f"It has {', '.join(card.specs) or 'none'}.",
            )
        words += ["--spec", asked.spec]
    for name, value in settings_of(asked.settings).items():
        words += ["--set", f"{name}={value}"]
    words += _consent(target, asked.typed)
    words += ["--report", "none", "--progress", "none"]
    return Order(method=card.id, target=target.text, place=_place(target), words=tuple(words))


def resumed(record: Record, path: Path, typed: str, serving: Serving) -> Order:
    """Return what carries a run on, which a file in the folder says; nobody knows who wrote it.

    Raises:
        UnsafeError: its target is none that may be started on from here, or what would be lost
            was not typed.
    """
    target = offer_to_resume(record, serving)
    words = ["resume", str(path), *_consent(target, typed)]
    words += ["--report", "none", "--progress", "none"]
    method = record.run.method
    return Order(method=method, target=target.text, place=_place(target), words=tuple(words))


def offer_to_resume(record: Record, serving: Serving) -> Offer:
    """Return the target of a run that was left, as it is offered here.

    Raises:
        UnsafeError: it may not be started on from here.
    """
    text = record.identity.target
    refused = UnsafeError(
        f"The page may not start a run on {text}.",
        remedy="Resume it on the command line: teijo resume FILE",
    )
    try:
        target = None if _is_in_a_file(text) else parse_target(text)
    except TeijoError:
        raise refused from None
    match target:
        case SimulatedTarget(source=None):
            return Offer(key=text, kind=Kind.SIMULATED, label=text, text=text)
        case FileTarget(path=path) if _lies_in(path, serving.files):
            return Offer(key=text, kind=Kind.FILE, label=text, text=text, consent=path.name)
        case BlockTarget():
            found = next((one for one in _devices(serving) if _is_same(one, target)), None)
            if found is not None:
                return found
        case _:
            pass
    raise refused


def target_of(asked: Asked, serving: Serving) -> Offer:
    """Return the target that is asked for, with its parameters.

    Raises:
        TargetError: there is none such here, or its parameters are none.
    """
    if asked.target == NAMED:
        return _simulated(asked.text if asked.text.startswith(NAMED) else f"{NAMED}{asked.text}")
    found = next((one for one in offers(serving) if one.key == asked.target), None)
    if found is None:
        raise TargetError("Choose a target.", remedy="The list shows what there is now.")
    if found.kind is Kind.SIMULATED and asked.text:
        return _simulated(f"{found.text}?{asked.text.removeprefix('?')}")
    if found.kind is Kind.NEW_FILE:
        return _new_file(found, asked)
    return found


def settings_of(text: str) -> dict[str, str]:
    """Return the settings in "minute=1s rounds=10"; a value with blanks stands in quotes.

    Raises:
        PlanError: a word is no setting, or one that starts a program.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise PlanError(
            f"The settings cannot be read: {error}", remedy="Write settings as KEY=VALUE."
        ) from error
    found: dict[str, str] = {}
    for word in words[:SETTINGS_MOST]:
        name, _, value = word.partition("=")
        if not _SETTING.fullmatch(word) or unspeakable(word):
            raise PlanError(f"{word!r} is not a setting", remedy="Write settings as KEY=VALUE.")
        if name == _HOOK:
            raise PlanError(
                "A hook is a program, and the page starts none",
                remedy="Start this run on the command line.",
            )
        found[name] = value
    return found


def foreseen(asked: Asked, serving: Serving) -> Foretold:
    """Return what a run would take; see api.foretell. Nothing is written.

    Raises:
        TeijoError: as there, and as `order_of`.
    """
    card, target = _card(asked.method), target_of(asked, serving)
    return api.foretell(card.id, target.text, spec=asked.spec, settings=settings_of(asked.settings))


def command_line(words: tuple[str, ...]) -> str:
    """Return what a person types to start the same."""
    return shlex.join(("teijo", *words))


def _card(method: str) -> Card:
    card = card_named(method)
    if card not in methods():
        raise PlanError(
            f"{card.id} measures no blocks, and what is offered here has nothing else",
            remedy="Start this run on the command line.",
        )
    return card


def _simulated(text: str) -> Offer:
    if _is_in_a_file(text):
        raise TargetError(
            "The page reads no file that describes a device",
            remedy="Start this run on the command line.",
        )
    target = parse_target(text)
    assert isinstance(target, SimulatedTarget), "it begins with sim:"
    return Offer(key=NAMED, kind=Kind.SIMULATED, label=target.text, text=target.text)


def _is_in_a_file(text: str) -> bool:
    """Return whether a device is described in a file; no path comes from a page or a run file."""
    return text.partition("?")[0].endswith(".toml")


def _new_file(found: Offer, asked: Asked) -> Offer:
    try:
        parse_size(asked.size)
    except ValueError as error:
        raise TargetError(f"Size of the file: {error}", remedy="Write it like 8GiB.") from error
    keep = "&keep=no" if asked.method == _QUICK else ""
    name = f"teijo-{secrets.token_hex(4)}.dat"
    text = f"{found.text}/{name}?size={asked.size}{keep}"
    return Offer(key=found.key, kind=Kind.NEW_FILE, label=found.label, text=text)


def _files(serving: Serving) -> Iterator[Offer]:
    for number, folder in enumerate(serving.files):
        yield Offer(
            key=f"new:{number}",
            kind=Kind.NEW_FILE,
            label=str(folder),
            text=str(folder),
        )
        yield from _files_in(folder)


def _files_in(folder: Path) -> Iterator[Offer]:
    """Yield the plain files of a folder; a link leads anywhere, and is none."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(one.path for one in entries if one.is_file(follow_symlinks=False))
    except OSError:
        return
    for path in found[:FILES_MOST]:
        if unspeakable(path) or "?" in path:
            continue  # no command line names it
        name = Path(path).name
        yield Offer(key=f"file:{_id_of(path)}", kind=Kind.FILE, label=name, text=path, consent=name)


def _devices(serving: Serving) -> Iterator[Offer]:
    if not serving.destroy:
        return
    for one in list_devices():
        number = one.serial or _serial_of(one)
        if number in serving.destroy:
            size = format_capacity(one.capacity_bytes)
            yield Offer(
                key=f"device:{_id_of(one.target)}",
                kind=Kind.DEVICE,
                label=f"{one.model} {size} ({one.target})".strip(),
                text=one.target,
                consent=number,
            )


def _serial_of(device: FoundDevice) -> str:
    """Return what stands for the serial of a device that lists none, as a loop device."""
    try:
        return inspect_target(device.target).identity.serial
    except TeijoError:
        return ""


def _consent(target: Offer, typed: str) -> list[str]:
    """Return the words that give up what is on a target.

    Raises:
        UnsafeError: something else was typed than what it is called, or nothing for a device.
    """
    if target.kind is Kind.DEVICE and not typed:
        raise UnsafeError(
            "All data on this device would be lost.",
            remedy="Type its serial number by hand to agree to that.",
        )
    if not typed or not target.consent:
        return []
    if typed != target.consent:
        raise UnsafeError(
            f"{typed!r} was typed, and that is not what this target is called.",
            remedy="Nothing was started. Look once more at what would be lost.",
        )
    return [f"--destroy={typed}"] if target.kind is Kind.DEVICE else ["--overwrite"]


def _place(target: Offer) -> str:
    if target.kind is Kind.SIMULATED:
        return target.text
    return os.path.realpath(target.text.partition("?")[0])


def _is_same(offer: Offer, target: Target) -> bool:
    return isinstance(target, BlockTarget) and os.path.realpath(offer.text) == os.path.realpath(
        target.path
    )


def _lies_in(path: Path, folders: tuple[Path, ...]) -> bool:
    return Path(os.path.realpath(path)).parent in folders and not path.is_symlink()


def _id_of(text: str) -> str:
    return hashlib.blake2b(os.fsencode(text), digest_size=_ID_BYTES).hexdigest()
