"""How a device is put back in the state "never written": the methods by name, and what came of one.

The names are what `--set purge=` and `teijo purge --method` take, and what a run file holds.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from pydantic import TypeAdapter, ValidationError

AUTO: Final = "auto"
NONE: Final = "none"
DISCARD: Final = "discard"
METHODS: Final = (
    "nvme-sanitize-block",
    "nvme-sanitize-crypto",
    "nvme-sanitize-overwrite",
    "nvme-format",
    "nvme-format-crypto",
    "ata-sanitize-block",
    "ata-sanitize-crypto",
    "ata-sanitize-overwrite",
    "ata-security-erase",
    "ata-security-erase-enhanced",
    "scsi-sanitize-block",
    "scsi-sanitize-crypto",
    "scsi-sanitize-overwrite",
    "scsi-format",
    DISCARD,
)
"""Every method of a real drive."""
CRYPTOGRAPHIC: Final = frozenset(name for name in METHODS if name.endswith("-crypto"))
"""They change a key. What is read then is not what was there, and not necessarily unwritten."""
SIMULATED: Final = "simulated"
SEVERAL: Final = "several"
"""What a record has where a model, or several devices together, were purged."""
DETAIL: Final = "purge"
"""In a step's detail: the `PurgeResult` as JSON."""
WORDS: Final = "method"
"""In a step's detail: the same in a line, for people."""


@dataclass(frozen=True, kw_only=True)
class PurgeResult:
    """How a device was purged, and what speaks for it.

    `method` is one of METHODS, SIMULATED or SEVERAL; `words` name it for people. `estimate_s` is
    what the drive said it would take, in seconds, None where it said nothing; `elapsed_ns` what it
    took. Of `stamps_written` random blocks of 4 KiB that stood on the device before, `stamps_gone`
    were not there after; of those places `zeros` read as 00h and `ones` as FFh throughout.
    `certificate` is what the drive itself says of the end ("" for nothing). `claimed`: the standard
    asks for more, this only should be equal. `earlier` says what became of an attempt before that
    was interrupted; where its result was taken over, what it took is not known (`elapsed_ns` is 0).
    """

    method: str
    words: str
    estimate_s: int | None = None
    elapsed_ns: int = 0
    stamps_written: int = 0
    stamps_gone: int = 0
    zeros: int = 0
    ones: int = 0
    certificate: str = ""
    claimed: bool = False
    warnings: tuple[str, ...] = ()
    earlier: str = ""

    @property
    def text(self) -> str:
        """All of it in a line, as a report has it."""
        if not self.stamps_written:
            return self.words
        said = "".join(f"; {each}" for each in (self.certificate, self.earlier) if each)
        return (
            f"{self.words}; {self.stamps_gone} of {self.stamps_written} stamps are gone, "
            f"{self.zeros} read as zeros{said}"
        )

    @property
    def is_cryptographic(self) -> bool:
        """Whether only a key was changed."""
        return self.method in CRYPTOGRAPHIC

    @property
    def is_proven(self) -> bool:
        """Whether stamps were written before, and none of them was found after."""
        return 0 < self.stamps_written == self.stamps_gone

    def detail(self) -> dict[str, str]:
        """Return it as the detail of a step."""
        if self.method == SIMULATED:
            return {WORDS: self.text}
        return {WORDS: self.text, DETAIL: json.dumps(asdict(self), sort_keys=True)}


_ADAPTER: TypeAdapter[PurgeResult] = TypeAdapter(PurgeResult)


def result_in(detail: Mapping[str, str]) -> PurgeResult | None:
    """Return what a step's detail holds of a purge; None of a file from before, or of nonsense."""
    text = detail.get(DETAIL)
    if text is None:
        return None
    try:
        return _ADAPTER.validate_json(text)
    except ValidationError:
        return None
