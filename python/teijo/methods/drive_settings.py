"""Settings of what is done to a real drive around a test, and of how it is watched meanwhile.

A simulated drive purges as its model does, whatever the method is called, and its cache is a
parameter of it.
"""

from typing import Annotated, Final, Literal

from teijo.conformance.versions import version_of
from teijo.methods import forms
from teijo.methods.forms import Form
from teijo.methods.knobs import Knob, meaning
from teijo.methods.settings import Settings
from teijo.terms.purge import AUTO, METHODS, NONE
from teijo.units import NS_PER_S, format_duration

AS_STANDARD: Final = "as-standard"
LEAVE: Final = "leave"
CACHE: Final = forms.one_of(AS_STANDARD, "enabled", "disabled", LEAVE)
CACHE_MEANS: Final = (
    "the drive's write cache during the test, set back after it: as the version of the standard "
    "asks, enabled, disabled, or left as it is"
)
PURGE: Final = forms.one_of(AUTO, NONE, *METHODS)
PurgeMethod = Annotated[str, Knob(PURGE, "purge=nvme-format")]
PURGE_MEANS: Final = (
    "how the drive is purged: auto (the surest way that loses no more than the target), none, or "
    "a method by its name"
)
WATCH_NS: Final = 10 * NS_PER_S
WATCH_LEAST_NS: Final = NS_PER_S


def purge_or(yes: str, no: str) -> Form[str]:
    """Return the form of a purge that may also be switched on (auto) and off (none) by a word."""
    return forms.one_of(yes, no, AUTO, NONE, *METHODS)


def purge_of(word: str) -> str:
    """Return the method that a word of `purge_or` stands for."""
    return {"yes": AUTO, "on": AUTO, "no": NONE, "off": NONE}.get(word, word)


WatchInterval = int | Literal["auto"] | None
"""How often a drive is asked, in ns; "auto" is each 10 s of those whose work it does not stop."""


def _watch(text: str) -> WatchInterval:
    word = text.strip().lower()
    if word == "off":
        return None
    if word == AUTO:
        return AUTO
    value: int = forms.DURATION.parse(text)
    if value < WATCH_LEAST_NS:
        raise ValueError(f"a drive is asked once in {format_duration(WATCH_LEAST_NS)} at most")
    return value


def _shown(value: WatchInterval) -> str:
    if value is None:
        return "off"
    return forms.DURATION.show(value) if isinstance(value, int) else value


WATCH: Final[Form[WatchInterval]] = Form(_watch, _shown)
STOP: Final = forms.one_of("never", "warning")


class DriveSettings(Settings, frozen=True):
    """What every method that prepares a whole drive has."""

    purge: PurgeMethod = meaning(PURGE_MEANS, AUTO)
    cache: Annotated[str, Knob(CACHE, "cache=disabled")] = meaning(CACHE_MEANS, AS_STANDARD)
    watch_ns: Annotated[WatchInterval, Knob(WATCH, "watch=10s")] = meaning(
        "how often a real drive's log is read under load, or off; auto: each 10s, and never of a "
        "SATA drive, which stops its other work to answer",
        AUTO,
    )
    stop: Annotated[Literal["never", "warning"], Knob(STOP, "stop=warning")] = meaning(
        "whether a warning of the drive stops the run", "never"
    )

    @property
    def cache_asked(self) -> tuple[Literal["enabled", "disabled"], bool] | None:
        """The state the write cache is to have, and whether a person named it; None for any."""
        match self.cache:
            case "enabled":
                return "enabled", True
            case "disabled":
                return "disabled", True
            case "as-standard" if self.spec:
                return version_of(self.spec).write_cache, False
        return None


def watch_interval_of(settings: Settings) -> tuple[int, bool] | None:
    """Return how often settings have a drive asked, in ns, and whether a person named that.

    None where they have it never asked.
    """
    value: WatchInterval = getattr(settings, "watch_ns", None)
    if value is None:
        return None
    return (value, True) if isinstance(value, int) else (WATCH_NS, False)
