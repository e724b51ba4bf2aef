"""Whether a run file proves itself: its content, its numbers, its conversation, its signature."""

from dataclasses import dataclass
from pathlib import Path

from teijo.api import reading
from teijo.api.signed import signature_on
from teijo.document.phrase import say
from teijo.errors import InvalidMeasurement, PlanError, RunFileError
from teijo.methods.conversation import heard
from teijo.methods.registry import method_named
from teijo.outside.text import shell_path
from teijo.runfile import reader, sealing, signature
from teijo.runfile.names import SEALED_SUFFIX
from teijo.runfile.proof.flaw import Check, Flaw
from teijo.runfile.signature import Signature
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What looking at a run file as closely as can be has shown.

    `version` is that of the file. `unsealed` says why no digest holds it together although one
    should, "" where all is in order. `signers_asked` says that a signature was demanded.
    """

    path: Path
    record: Record
    version: int
    sealed: bool
    unsealed: str
    flaws: tuple[Flaw, ...]
    signature: Signature
    signers_asked: bool

    def of(self, check: Check) -> tuple[Flaw, ...]:
        """Return the flaws that one check found."""
        return tuple(flaw for flaw in self.flaws if flaw.check is check)

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


def verify(path: Path | str, *, signers: Path | None = None) -> Verified:
    """Look at all of a run file; what is wrong with it is in the answer, for an auditor to see.

    Raises:
        RunFileError: it cannot be read as a run file at all. UsageError: the signers file cannot.
        HostError: ssh-keygen is needed and missing, or the disk fails.
    """
    place = reader.locate(path)
    signed = signature_on(place, signers)
    proved = reader.prove(place, whole=True)
    doubts = [one for one in proved.record.remarks if one.kind is RemarkKind.RECORD_UNSEALED]
    return Verified(
        path=place,
        record=proved.record,
        version=proved.version,
        sealed=proved.sealed,
        unsealed=doubts[0].text if doubts else "",
        flaws=(*proved.flaws, *_conversation_flaws(proved.record)),
        signature=signed,
        signers_asked=signers is not None,
    )


def seal(path: Path | str, *, key: Path | None = None) -> tuple[Path, Path | None]:
    """Seal a run that has ended, sign it on demand, and return the paths of both.

    What does not prove itself is not signed.

    Raises:
        RunFileError: the run has not ended, or the file has a signature.
        InvalidMeasurement: the record contradicts itself. Others: as `signature.sign`.
    """
    place = reader.locate(path)
    if not place.name.endswith(SEALED_SUFFIX):
        place = sealing.seal_ended(place)
    if key is None:
        return place, None
    found = verify(place)
    if found.flaws or found.unsealed:
        raise InvalidMeasurement(
            f"{place} is not signed: its record contradicts itself.",
            remedy=f"See how: teijo verify {shell_path(place)}",
        )
    return place, signature.sign(place, key)


def _conversation_flaws(record: Record) -> tuple[Flaw, ...]:
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
