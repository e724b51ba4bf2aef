"""Who signed a run file, in words: what a report and `teijo verify` say of it."""

from dataclasses import replace
from pathlib import Path

from teijo.document.model import Document, Verdict
from teijo.document.phrase import say
from teijo.errors import HostError, RunFileError
from teijo.runfile import signature
from teijo.runfile.names import SEALED_SUFFIX
from teijo.runfile.signature import NOT_SIGNED, Signature
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind

ROW = "Signature"


def signature_on(path: Path, signers: Path | None) -> Signature:
    """Return the signature of a run file; one that still grows has none.

    Raises:
        As `signature.check`.
    """
    return signature.check(path, signers) if path.name.endswith(SEALED_SUFFIX) else NOT_SIGNED


def signature_words(found: Signature) -> str:
    """Return a signature in words."""
    if found.signed is None:
        return "not signed"
    if not found.signed:
        return say("WRONG: {why}", why=found.why)
    if found.signer:
        return say("signed by {name} with {key}", name=found.signer, key=found.key)
    if found.why:
        return say("signed by nobody known, with {key}: {why}", key=found.key, why=found.why)
    return say("signed with {key}, nobody was asked whose that is", key=found.key)


def signature_text(path: Path, signers: Path | None) -> str:
    """Return what a report says of who signed the file it is made of."""
    try:
        return signature_words(signature_on(path, signers))
    except (HostError, RunFileError) as error:
        return say("not checked: {why}", why=error.message)


def doubted(document: Document, record: Record) -> Document:
    """Return a report with the word on page one that its record cannot be true, where that is so.

    Nothing on the page comes first: it is above the method's own verdict.
    """
    flaws = [each for each in record.remarks if each.kind is RemarkKind.RECORD_INCONSISTENT]
    if not flaws or not document.sections:
        return document
    first, *rest = document.sections
    text = "THE RECORD CONTRADICTS ITSELF: trust nothing here"
    warning = Verdict(text=text, good=False)
    return replace(document, sections=(replace(first, blocks=(warning, *first.blocks)), *rest))


def signed(document: Document, text: str) -> Document:
    """Return a report whose header says who signed the run file."""
    header = document.header
    return replace(document, header=replace(header, top=(*header.top, (ROW, text))))
