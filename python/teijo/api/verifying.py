"""Whether a run file proves itself: its content, its numbers, its conversation, its signature."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from teijo.api import reading
from teijo.api.signed import signature_on
from teijo.conformance.rescoring import heard
from teijo.device import parse_target
from teijo.device.simulated import make_simulated
from teijo.device.target import SimulatedTarget
from teijo.document.phrase import say
from teijo.errors import IdentityError, InvalidMeasurement, PlanError, RunFileError, UsageError
from teijo.methods.registry import method_named
from teijo.outside.text import shell_path
from teijo.runfile import program, reader, sealing, signature
from teijo.runfile.names import SEALED_SUFFIX
from teijo.runfile.proof.flaw import Check, Flaw, is_simulated
from teijo.runfile.signature import Signature
from teijo.runner.again import replayed
from teijo.runner.events import Observer, unobserved
from teijo.runner.interrupt import Interrupt
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What looking at a run file as closely as can be has shown.

    `version` is that of the file. `unsealed` says why no digest holds it together although one
    should, "" where all is in order. `unknown` is what this program would have done otherwise than
    the one that made the file, or cannot do again: it proves nothing. `replay_asked` and
    `signers_asked` say what was demanded.
    """

    path: Path
    record: Record
    version: int
    sealed: bool
    unsealed: str
    flaws: tuple[Flaw, ...]
    unknown: tuple[Flaw, ...]
    signature: Signature
    signers_asked: bool
    replay_asked: bool

    def of(self, check: Check) -> tuple[Flaw, ...]:
        """Return the flaws that one check found."""
        return tuple(flaw for flaw in self.flaws if flaw.check is check)

    def unknown_of(self, check: Check) -> tuple[Flaw, ...]:
        """Return what one check found and this program cannot decide."""
        return tuple(flaw for flaw in self.unknown if flaw.check is check)

    @property
    def signature_holds(self) -> bool:
        """Whether nothing speaks against the signature that there is, or should be."""
        if self.signers_asked:
            return bool(self.signature.signed and self.signature.signer)
        return self.signature.signed is not False

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the file."""
        return not self.flaws and not self.unsealed and self.signature_holds


def verify(
    path: Path | str,
    *,
    signers: Path | None = None,
    replay: bool = False,
    observer: Observer = unobserved,
    interrupt: Interrupt | None = None,
) -> Verified:
    """Look at all of a run file; what is wrong with it is in the answer, for an auditor to see.

    With `replay` a simulated run is carried out again, which takes as long as it took.

    Raises:
        RunFileError: it cannot be read as a run file at all. UsageError: the signers file cannot.
        HostError: ssh-keygen is needed and missing, or the disk fails.
        Interrupted: somebody stopped the replay.
    """
    place = reader.locate(path)
    signed = signature_on(place, signers)
    proved = reader.prove(place, whole=True)
    record = proved.record
    doubts = [one for one in record.remarks if one.kind is RemarkKind.RECORD_UNSEALED]
    again, not_again = _replay(record, observer, interrupt) if replay else ((), ())
    # These a program decides: where another one made the file, that they differ proves nothing.
    decided = (*_conversation_flaws(record), *again)
    own = not decided or program.made_here(record)
    return Verified(
        path=place,
        record=record,
        version=proved.version,
        sealed=proved.sealed,
        unsealed=doubts[0].text if doubts else "",
        flaws=(*proved.flaws, *(decided if own else ())),
        unknown=(*proved.unknown, *not_again, *(() if own else decided)),
        signature=signed,
        signers_asked=signers is not None,
        replay_asked=replay,
    )


def seal(path: Path | str, *, key: Path | None = None) -> tuple[Path, Path | None]:
    """Seal a run that has ended, sign it on demand, and return the paths of both.

    What does not prove itself is not signed.

    Raises:
        RunFileError: the run has not ended, or the file is damaged or has a signature.
        InvalidMeasurement: the record contradicts itself. Others: as `signature.sign`.
    """
    place = reader.locate(path)
    if not place.name.endswith(SEALED_SUFFIX):
        place = sealing.seal_ended(place)
    elif key is None:
        reader.prove(place)  # a damaged file is refused, not called sealed
    if key is None:
        return place, None
    found = verify(place)
    if found.flaws or found.unsealed:
        raise InvalidMeasurement(
            f"{place} is not signed: its record contradicts itself.",
            remedy=f"See how: teijo verify {shell_path(place)}",
        )
    return place, signature.sign(place, key)


_Flaws = tuple[Flaw, ...]


def _replay(
    record: Record, observer: Observer, interrupt: Interrupt | None
) -> tuple[_Flaws, _Flaws]:
    """Return what a run answers otherwise when it is carried out again, and why it cannot be."""
    target = record.identity.target
    if not is_simulated(record):
        return (), _of_replay("the device is real, and cannot be asked the same again")
    try:
        named = parse_target(target)
        if not isinstance(named, SimulatedTarget):
            return _of_replay(f"{target} is no simulated device"), ()
        with closing(make_simulated(named)) as device, reading.of_a_file(record):
            method = method_named(record.run.method)
            stop = interrupt or Interrupt()
            flaws = tuple(replayed(record, method, device, observer, stop))
            return flaws, () if flaws else _ended_early(record)
    except (UsageError, IdentityError) as error:
        flaws = _of_replay(say("it cannot be carried out again: {why}", why=error.message))
        # What a file describes may have changed, or lie elsewhere.
        return ((), flaws) if target.endswith(".toml") else (flaws, ())


def _ended_early(record: Record) -> _Flaws:
    """Return the step that was not carried out again, for somebody ended it when he liked."""
    text = "somebody ended it early, and nothing says at which moment: it was not carried out again"
    return tuple(
        Flaw(check=Check.REPLAY, text=text, step=each.seq)
        for each in record.steps
        if each.ended_early
    )[:1]


def _of_replay(text: str) -> _Flaws:
    return (Flaw(check=Check.REPLAY, text=text),)


def _conversation_flaws(record: Record) -> _Flaws:
    """Hold the conversation once more: other steps or another end are no run of this method."""
    try:
        with reading.of_a_file(record):
            method = method_named(record.run.method)
            told_so = heard(method, method.settings_from(record.run.settings), record)
    except (PlanError, RunFileError) as error:
        return (Flaw(check=Check.CONVERSATION, text=error.message),)
    if told_so.used < len(record.steps):
        seq = record.steps[told_so.used].seq
        text = "the method asks for another step, or for none"
        return (Flaw(check=Check.CONVERSATION, text=text, step=seq),)
    ended = record.run.ending in ("done", "steady", "not steady")
    if ended and told_so.ending != record.run.ending:
        text = say(
            "it is recorded as {recorded}, and with these answers the method ends {own}",
            recorded=record.run.ending,
            own=told_so.ending or "not yet",
        )
        return (Flaw(check=Check.CONVERSATION, text=text),)
    return ()
