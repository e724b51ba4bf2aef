"""What drives of a fleet share, as `teijo fleet check` says it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from teijo.cli import console
from teijo.speech.tongue import reported, tr

if TYPE_CHECKING:
    from teijo.terms.bottleneck import Seen


def put_groups(hosts: Mapping[str, Mapping[str, "Seen"]]) -> None:
    """Print what the drives of each host share, and of which it is not told."""
    from teijo.compare.fleet.sharing import drive_names, parts_words, unknown_words
    from teijo.terms.topology import groups_of, unknown_of

    for host, drives in hosts.items():
        ways = {name: seen.way for name, seen in drives.items()}
        for group in groups_of(host, ways):
            names, parts = reported(drive_names(group.drives)), reported(parts_words(group.parts))
            console.put(tr("{host}: {drives} share {parts}", host=host, drives=names, parts=parts))
        for kind, names_of in unknown_of(ways).items():
            console.put(f"{host}: {reported(unknown_words(kind, names_of))}")
