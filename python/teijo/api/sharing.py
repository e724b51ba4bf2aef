"""The hosts that share a run: how a person names them, and whether they are those of the record."""

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from teijo.api.own_process import PROGRAM
from teijo.engine.hosts.party import SILENCE_NS, Guest, Sharing
from teijo.errors import PlanError
from teijo.outside.text import visible
from teijo.runfile import program
from teijo.terms.record import Record
from teijo.terms.shared import HERE, HOSTS_MOST, hosts_in

JOIN: Final = "join"
"""The verb that is a worker."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_EXAMPLE: Final = "Write --host here, and --host 'NAME=ssh NAME teijo' for another."


def sharing_from(hosts: Sequence[str], silence_ns: int = SILENCE_NS) -> Sharing | None:
    """Return the hosts in texts as "here" and "rack2=ssh rack2 teijo"; None of none.

    A command is split into words as a shell does it, and no shell sees it.

    Raises:
        PlanError: a text names no host, a name stands twice, or there are too many.
    """
    if not hosts:
        return None
    if len(hosts) > HOSTS_MOST:
        raise PlanError(
            f"{len(hosts)} hosts are named, and {HOSTS_MOST} are the most",
            remedy="Name fewer of them.",
        )
    guests = tuple(map(_guest, hosts))
    names = [guest.name for guest in guests]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise PlanError(f"The host {twice} is named twice", remedy="Name each host once.")
    return Sharing(
        guests=guests, teijo=program.version(), build=program.build(), silence_ns=silence_ns
    )


def _guest(text: str) -> Guest:
    if text == HERE:
        return Guest(name=HERE, words=(sys.executable, *PROGRAM, JOIN), is_here=True)
    name, equals, command = text.partition("=")
    if not equals or name == HERE or not _NAME.fullmatch(name):
        raise PlanError(f"{visible(text)!r} names no host", remedy=_EXAMPLE)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise PlanError(
            f"The command of host {name} has a quotation that does not end", remedy=_EXAMPLE
        ) from error
    if not words:
        raise PlanError(f"The host {name} has no command", remedy=_EXAMPLE)
    return Guest(name=name, words=(*words, JOIN))


def same_hosts(sharing: Sharing | None, record: Record) -> Sharing | None:
    """Return the hosts in the order of the record, which must be its own: none for one of none.

    Raises:
        PlanError: they are not.
    """
    was = [each.name for each in hosts_in(record.environment)]
    now = {} if sharing is None else {guest.name: guest for guest in sharing.guests}
    if set(was) != set(now):
        raise PlanError(
            f"The run was begun by the hosts {', '.join(was) or 'none'}, and not by "
            f"{', '.join(now) or 'none'}",
            remedy="Name the same hosts by --host, each with its command.",
        )
    return None if sharing is None else replace(sharing, guests=tuple(now[each] for each in was))
